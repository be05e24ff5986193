// SPDX-License-Identifier: BSD-3-Clause
// Any frame is parsed within its bytes, with the same result from its first segment and by
// templates of headers, and has no telemetry after strip. The first byte of the input says where
// the first segment ends. What is read as a TCP header announces no MSS above a limit once this was
// lowered.
#include "fuzz.h"

#include "flexint.h"
#include "mss.h"
#include "packet.h"
#include "telemetry_packed.h"
#include "flexint_parse_fast.h"

#include <string.h>

static const uint8_t telemetry_types[] = {HS_OPT_TRACE, HS_OPT_E2E, HS_OPT_REQUEST, HS_OPT_REPORT};

static uint8_t *copy_of(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	HOLDS(copy);
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

static void within_ipv4(const struct hs_packet *packet, size_t len)
{
	const uint16_t of_ipv4 = HS_PACKET_IPV4 | HS_PACKET_FLOW | HS_PACKET_FRAGMENT |
				 HS_PACKET_LATER | HS_PACKET_MALFORMED;
	const uint16_t may = HS_PACKET_SHORT | HS_PACKET_HIDDEN;
	HOLDS(!packet->telemetry_bytes && !packet->hbh_bytes);
	if (!(packet->flags & HS_PACKET_IPV4)) {
		HOLDS(!(packet->flags & ~may) && !packet->l3_bytes);
		return;
	}
	HOLDS(!(packet->flags & ~(of_ipv4 | may)));
	HOLDS(packet->flags & HS_PACKET_SHORT || packet->l3_off + 20u <= len);
	HOLDS(!(packet->flags & HS_PACKET_FLOW) ||
			(packet->l4_off >= packet->l3_off + 20u && packet->l4_off + 4u <= len));
}

static void within_the_frame(const struct hs_packet *packet, size_t len)
{
	const uint16_t ip = HS_PACKET_IPV4 | HS_PACKET_IPV6;
	size_t options = packet->l3_off + 40u;
	HOLDS((packet->flags & ip) != ip);
	if (!(packet->flags & HS_PACKET_IPV6)) {
		within_ipv4(packet, len);
		return;
	}
	HOLDS(options <= len);
	HOLDS(options + packet->hbh_bytes <= len);
	HOLDS(packet->telemetry_bytes <= packet->hbh_bytes && packet->telemetry_bytes % 8 == 0);
	HOLDS(!(packet->flags & HS_PACKET_FLOW) || packet->l4_off + 4u <= len);
	HOLDS(!packet->telemetry_bytes || packet->flags & HS_PACKET_ANY_TELEMETRY);
	if (packet->flags & HS_PACKET_TELEMETRY) {
		HOLDS(packet->trace_off >= options + 2 && packet->e2e_off >= options + 2);
		HOLDS(packet->trace_off + 10u <= options + packet->hbh_bytes);
		HOLDS(packet->e2e_off + 4u <= options + packet->hbh_bytes);
	}
}

static void a_segment_tells_the_same(
		const uint8_t *frame, size_t cut, size_t len, const struct hs_packet *whole)
{
	uint8_t *segment = copy_of(frame, cut);
	struct hs_packet packet;
	hs_flexint_parse(segment, cut, len, &packet);
	free(segment);
	within_the_frame(&packet, cut);
	if (!(packet.flags & HS_PACKET_SHORT))
		HOLDS(!memcmp(&packet, whole, sizeof(packet)));
}

static void parses_fast_alike(struct hs_flexint_templates *templates, const uint8_t *frame,
		size_t len, size_t frame_len)
{
	struct hs_packet packet, fast;
	hs_flexint_parse(frame, len, frame_len, &packet);
	if (hs_flexint_parse_fast(templates, frame, len, frame_len, &fast))
		HOLDS(!memcmp(&fast, &packet, sizeof(packet)));
}

// A template may be made of the frame, or of the frame with one byte changed.
static void templates_tell_the_same(const uint8_t *frame, size_t cut, size_t len)
{
	struct hs_flexint_templates templates = {0};
	uint8_t *segment = copy_of(frame, cut), *changed = copy_of(frame, len);
	if (cut < len)
		changed[cut] ^= (uint8_t)(1u << len % 8);
	parses_fast_alike(&templates, changed, len, len);
	parses_fast_alike(&templates, frame, len, len);
	parses_fast_alike(&templates, changed, len, len);
	parses_fast_alike(&templates, segment, cut, len);
	free(segment);
	free(changed);
}

static void options_are_within(const uint8_t *frame, const struct hs_packet *packet)
{
	const uint8_t *end = frame + packet->l3_off + 40 + packet->hbh_bytes;
	for (size_t i = 0; i < sizeof(telemetry_types); i++) {
		const uint8_t *data;
		size_t len;
		size_t cursor = 0;
		while (hs_flexint_option_next(
				frame, packet, telemetry_types[i], &cursor, &data, &len)) {
			HOLDS(data >= frame && len <= (size_t)(end - data));
			HOLDS(packet->flags & HS_PACKET_ANY_TELEMETRY);
		}
	}
}

// Finds the next option that is neither padding nor of `type`, from offset *at of a header of
// `bytes`.
static const uint8_t *next_other(
		const uint8_t *hbh, size_t bytes, uint8_t type, size_t *at, size_t *len)
{
	while (*at < bytes) {
		const uint8_t *option = hbh + *at;
		*len = option[0] == 0 ? 1 : 2u + option[1];
		*at += *len;
		if (option[0] > 1 && option[0] != type)
			return option;
	}
	return NULL;
}

// After one type is removed, all other options are left, in order and at their offset modulo eight;
// telemetry modulo four, because it may lead the header then.
static void takes_one_type(
		const uint8_t *frame, size_t len, const struct hs_packet *packet, uint8_t type)
{
	uint8_t *copy = copy_of(frame, len);
	struct hs_packet after;
	size_t taken = hs_flexint_take_type(copy, packet, type);
	size_t at = 2, at_after = 2, n, n_after;
	HOLDS(taken % 8 == 0 && taken <= packet->hbh_bytes);
	hs_flexint_parse(copy + taken, len - taken, len - taken, &after);
	HOLDS(!(after.flags & HS_PACKET_MALFORMED) && after.hbh_bytes + taken == packet->hbh_bytes);
	HOLDS(after.l4_proto == packet->l4_proto && after.src_port == packet->src_port);
	const uint8_t *hbh = frame + packet->l3_off + 40;
	const uint8_t *hbh_after = copy + taken + packet->l3_off + 40;
	for (;;) {
		const uint8_t *is = next_other(hbh_after, after.hbh_bytes, 0, &at_after, &n_after);
		const uint8_t *was = next_other(hbh, packet->hbh_bytes, type, &at, &n);
		HOLDS(!is == !was);
		if (!is)
			break;
		bool telemetry = memchr(telemetry_types, was[0], sizeof(telemetry_types));
		size_t align = telemetry ? 4 : 8;
		HOLDS(n == n_after && at % align == at_after % align && !memcmp(is, was, n));
	}
	free(copy);
}

// What is packed is what is decoded.
static void packs(const uint8_t *trace, const uint8_t *e2e, const struct hs_decoded *told)
{
	static uint64_t room[48];
	struct hs_packed *packed = (struct hs_packed *)room;
	const struct hs_packed_hop *hops = hs_packed_hops(packed);
	if (!hs_flexint_pack(trace + 2, trace[1], e2e + 2, e2e[1], sizeof(room), packed))
		return;
	HOLDS(packed->n_hops == told->n_hops && packed->trace_type == told->trace_type);
	HOLDS(packed->e2e_bitmap == told->e2e.bitmap && packed->ts_ns == told->e2e.ts_ns &&
			packed->tx_packets == told->e2e.tx_packets &&
			packed->tx_bytes == told->e2e.tx_bytes);
	for (unsigned i = 0; i < told->n_hops; i++) {
		const struct hs_hop *hop = &told->hops[i];
		HOLDS(hops[i].id == hs_packed_pair(hop->node_id, hop->bitmap));
		HOLDS(hops[i].packets == hs_packed_pair(hop->tx_packets, hop->rx_packets));
		HOLDS(hops[i].ts_ns == hop->ts_ns && hops[i].tx_bytes == hop->tx_bytes &&
				hops[i].rx_bytes == hop->rx_bytes);
	}
}

static size_t hop_bytes(uint16_t bitmap)
{
	size_t bytes = 0;
	for (size_t i = 0; i < hs_flexint_n_fields; i++)
		if (hs_flexint_fields[i].hop && bitmap & hs_flexint_fields[i].bit)
			bytes += hs_flexint_fields[i].bytes;
	return bytes;
}

static void decodes_or_not(const uint8_t *frame, const struct hs_packet *packet)
{
	static struct hs_decoded told;
	if (!(packet->flags & HS_PACKET_TELEMETRY))
		return;
	const uint8_t *trace = frame + packet->trace_off;
	const uint8_t *e2e = frame + packet->e2e_off;
	if (hs_flexint_decode(trace + 2, trace[1], e2e + 2, e2e[1], &told))
		return;
	HOLDS(told.ns_id == packet->ns_id && told.trace_type == packet->trace_type);
	size_t bytes = 8;
	for (size_t i = 0; i < told.n_hops; i++)
		bytes += 4 + hop_bytes(told.hops[i].bitmap);
	HOLDS(bytes == trace[1]);
	packs(trace, e2e, &told);
}

static void strips(uint8_t *frame, size_t len, const struct hs_packet *packet)
{
	const uint16_t l4 = HS_PACKET_FLOW | HS_PACKET_FRAGMENT | HS_PACKET_LATER;
	struct hs_packet after;
	size_t taken = hs_flexint_strip(frame, packet);
	HOLDS(taken == packet->telemetry_bytes);
	hs_flexint_parse(frame + taken, len - taken, len - taken, &after);
	HOLDS(!(after.flags & HS_PACKET_ANY_TELEMETRY) && !after.telemetry_bytes);
	HOLDS(hs_packet_counted_bytes(&after) == hs_packet_counted_bytes(packet));
	// A chain of nine headers may become one of eight, and two Hop-by-Hop headers one.
	if (packet->flags & HS_PACKET_MALFORMED)
		return;
	HOLDS((after.flags & l4) == (packet->flags & l4) && !(after.flags & HS_PACKET_MALFORMED));
	HOLDS(after.src_port == packet->src_port && after.dst_port == packet->dst_port);
	HOLDS(after.l4_proto == packet->l4_proto);
	HOLDS(after.l4_off == (packet->l4_off ? packet->l4_off - taken : 0));
}

static uint16_t sum_of(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;
	for (size_t i = 0; i < len; i++)
		sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)(sum % 0xffff); // 0xffff is 0, too
}

static void announces_no_more(const uint8_t *bytes, size_t len)
{
	uint16_t limit = (uint16_t)(536 + 7 * len);
	uint8_t *tcp = copy_of(bytes, len);
	bool above = hs_mss_is_above(tcp, len, limit);
	if (above) {
		hs_mss_lower(tcp, limit);
		HOLDS(memcmp(tcp, bytes, 16) == 0 && memcmp(tcp, bytes, len) != 0);
		HOLDS(!hs_mss_is_above(tcp, len, limit) && hs_mss_is_above(tcp, len, limit - 1));
		HOLDS(sum_of(tcp, len) == sum_of(bytes, len)); // its checksum balances the change
	}
	free(tcp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	size_t len = size - 1;
	size_t cut = data[0] < len ? data[0] : len;
	uint8_t *frame = copy_of(data + 1, len);
	struct hs_packet packet;
	hs_flexint_parse(frame, len, len, &packet);
	within_the_frame(&packet, len);
	announces_no_more(frame, len);
	announces_no_more(frame + packet.l4_off, len - packet.l4_off);
	HOLDS(!(packet.flags & HS_PACKET_SHORT));
	a_segment_tells_the_same(frame, cut, len, &packet);
	templates_tell_the_same(frame, cut, len);
	if (packet.flags & HS_PACKET_IPV6) {
		options_are_within(frame, &packet);
		decodes_or_not(frame, &packet);
		if (!(packet.flags & HS_PACKET_MALFORMED)) {
			takes_one_type(frame, len, &packet, HS_OPT_REQUEST);
			takes_one_type(frame, len, &packet, HS_OPT_REPORT);
		}
		// Options that cannot be walked stay, because their content is unknown.
		bool walked = !(packet.flags & HS_PACKET_MALFORMED) || packet.telemetry_bytes;
		if (walked)
			strips(frame, len, &packet);
	}
	free(frame);
	return 0;
}
