// SPDX-License-Identifier: BSD-3-Clause
#include "label.h"

#include "bytes.h"
#include "checksum_change.h"
#include "front.h"
#include "hop_by_hop.h"
#include "ip.h"

#include <string.h>

enum {
	NH = 0, // of the INT OPTION
	INT_NUM = 1,
	OPTION_LEN = 1, // in the option of IPv6, which begins after its header's first two bytes
	OPTION_NUM = 2,
	OPTION_FLAGS = 3,
	OPTION_ZERO = 4,
	OPTION_ITEMS = 6,
	ITEM_ZERO = 20, // bytes of an item without a field
	ITEM_ZERO_TOO = 28,
	IN_HOST_HEADER = 0x80, // flag: the host's Hop-by-Hop header
	IPV4_MAX_BYTES = 65535,
	NO_CHECKSUM = 0xffff, // no host computes this checksum
};

// Returns whether there are items, and their bytes without a field are 0, as nodes write them.
static bool are_written(const uint8_t *items, unsigned n)
{
	uint8_t reserved = 0;

	for (unsigned i = 0; i < n; i++, items += HS_LABEL_ITEM_BYTES)
		reserved |= items[ITEM_ZERO] | items[ITEM_ZERO_TOO];
	return n && !reserved;
}

// ---- parsing: IPv6 ----

// Reads the option, which begins after the first two bytes of its header. Returns false if it is
// not as our nodes write it. INT_num is not checked.
static bool read_option(const uint8_t *hbh, struct hs_packet *packet)
{
	const uint8_t *option = hbh + HS_HBH_OPTIONS;
	size_t bytes = HS_HBH_OPTIONS + 2u + option[OPTION_LEN]; // of the header, up to its end
	bool in_host = option[OPTION_FLAGS] & IN_HOST_HEADER;

	if (bytes < HS_LABEL_IPV6_BYTES || (bytes - HS_LABEL_IPV6_BYTES) % HS_LABEL_ITEM_BYTES ||
			option[OPTION_FLAGS] & ~IN_HOST_HEADER ||
			hs_be16_load(option + OPTION_ZERO))
		return false;
	if (in_host ? bytes >= packet->hbh_bytes || hs_be16_load(hbh + bytes) != HS_OPT_PADN << 8
		    : bytes != packet->hbh_bytes)
		return false;
	packet->trace_off = (uint16_t)(packet->l3_off + HS_IPV6_BYTES + HS_HBH_OPTIONS);
	packet->trace_type = option[OPTION_NUM];
	packet->telemetry_bytes = (uint16_t)bytes;
	return true;
}

static bool parse_options(const uint8_t *hbh, struct hs_packet *packet)
{
	unsigned found = 0;

	for (size_t at = HS_HBH_OPTIONS; at < packet->hbh_bytes;) {
		size_t n = hs_hbh_option_bytes(hbh, packet->hbh_bytes, at);
		found += hbh[at] == HS_LABEL_IPV6_OPTION;
		if (found)
			packet->flags |= HS_PACKET_ANY_TELEMETRY;
		if (!n) {
			packet->flags |= HS_PACKET_MALFORMED;
			return false;
		}
		at += n;
	}
	if (found == 1 && hbh[HS_HBH_OPTIONS] == HS_LABEL_IPV6_OPTION && read_option(hbh, packet))
		packet->flags |= HS_PACKET_TELEMETRY;
	return true;
}

static bool are_options_there(const uint8_t *hbh, size_t bytes)
{
	for (size_t at = HS_HBH_OPTIONS, n; at < bytes; at += n) {
		if (hbh[at] == HS_LABEL_IPV6_OPTION)
			return true;
		n = hs_hbh_option_bytes(hbh, bytes, at);
		if (!n)
			return false;
	}
	return false;
}

static const struct hs_packet_options options = {parse_options, are_options_there};

static void check_option(const struct hs_label_settings *settings, const uint8_t *frame,
		struct hs_packet *packet)
{
	unsigned n = (packet->telemetry_bytes - HS_LABEL_IPV6_BYTES) / HS_LABEL_ITEM_BYTES;

	if (hs_label_items(settings, packet->trace_type) == n &&
			!(packet->flags & HS_PACKET_SHORT) &&
			are_written(frame + packet->trace_off + OPTION_ITEMS, n))
		return;
	packet->flags &= (uint16_t)~HS_PACKET_TELEMETRY;
	packet->trace_off = packet->telemetry_bytes = 0;
	packet->trace_type = 0;
}

// ---- parsing: IPv4 ----

static size_t ipv4_end(const uint8_t *frame, const struct hs_packet *packet)
{
	return packet->l3_off + 4u * (frame[packet->l3_off] & 0xfu);
}

// Returns whether the `bytes` at `at` are in the packet. Sets HS_PACKET_SHORT if they are in the
// packet but cut off.
static bool is_whole(size_t at, size_t bytes, size_t len, struct hs_packet *packet)
{
	if (at + bytes > packet->l3_off + (size_t)packet->l3_bytes)
		return false;
	if (at + bytes <= len)
		return true;
	packet->flags |= HS_PACKET_SHORT;
	return false;
}

static void read_ipv4(const struct hs_label_settings *settings, const uint8_t *frame, size_t len,
		struct hs_packet *packet)
{
	const uint16_t no = HS_PACKET_MALFORMED | HS_PACKET_SHORT | HS_PACKET_FRAGMENT;

	packet->flags |= HS_PACKET_ANY_TELEMETRY;
	if (packet->flags & no)
		return; // only the first fragment has the items, but all fragments have INT_TYPE
	size_t at = ipv4_end(frame, packet);
	if (!is_whole(at, HS_LABEL_OPTION_BYTES, len, packet))
		return;
	uint8_t proto = frame[at + NH];
	unsigned n = hs_label_items(settings, frame[at + INT_NUM]);
	size_t bytes = HS_LABEL_OPTION_BYTES + (size_t)HS_LABEL_ITEM_BYTES * n;
	if (proto == settings->ip_protocol || !is_whole(at, bytes, len, packet) ||
			!are_written(frame + at + HS_LABEL_OPTION_BYTES, n))
		return;
	hs_packet_parse_l4(frame, len, at + bytes, proto, packet);
	if (packet->flags & HS_PACKET_SHORT)
		return;
	packet->flags |= HS_PACKET_TELEMETRY;
	packet->trace_off = (uint16_t)at;
	packet->trace_type = frame[at + INT_NUM];
	packet->telemetry_bytes = (uint16_t)bytes;
}

void hs_label_parse(const struct hs_label_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	hs_packet_parse(frame, len, frame_len, &options, packet);
	if (packet->flags & HS_PACKET_TELEMETRY)
		check_option(settings, frame, packet);
	else if (packet->flags & HS_PACKET_IPV4 && packet->l3_off &&
			frame[packet->l3_off + HS_IPV4_PROTOCOL] == settings->ip_protocol)
		read_ipv4(settings, frame, len, packet);
}

// ---- adding ----

static int first_growth(const uint8_t *frame, const struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;

	if (packet->flags & HS_PACKET_IPV4) {
		if (hs_be16_load(ip + HS_IPV4_CHECKSUM) == NO_CHECKSUM)
			return HS_LABEL_NO_CARRIER; // 0xffff could not be told from 0 afterwards
		return HS_LABEL_OPTION_BYTES + HS_LABEL_ITEM_BYTES;
	}
	return HS_LABEL_IPV6_BYTES + HS_LABEL_ITEM_BYTES;
}

static bool has_room(const struct hs_packet *packet, unsigned growth)
{
	size_t bytes = (size_t)packet->l3_bytes + growth;

	if (packet->flags & HS_PACKET_IPV4)
		return bytes <= IPV4_MAX_BYTES;
	return bytes <= HS_IPV6_MAX_BYTES && packet->hbh_bytes + growth <= HS_HBH_MAX_BYTES;
}

int hs_label_growth(const struct hs_label_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet)
{
	const uint16_t no = HS_PACKET_MALFORMED | HS_PACKET_SHORT | HS_PACKET_HIDDEN |
			    HS_PACKET_FRAGMENT | HS_PACKET_LATER;
	int growth = HS_LABEL_ITEM_BYTES;

	if (packet->flags & no || !(packet->flags & (HS_PACKET_IPV4 | HS_PACKET_IPV6)))
		return HS_LABEL_NO_CARRIER;
	if (packet->flags & HS_PACKET_TELEMETRY) {
		if (packet->trace_type == settings->max_hops || packet->trace_type == UINT8_MAX)
			return HS_LABEL_FULL;
		if (packet->flags & HS_PACKET_IPV6 &&
				hs_label_items(settings, packet->trace_type) == HS_LABEL_IPV6_ITEMS)
			return HS_LABEL_NO_ROOM;
	} else {
		if (packet->flags & HS_PACKET_ANY_TELEMETRY)
			return HS_LABEL_FOREIGN;
		growth = first_growth(frame, packet);
	}
	return growth < 0 || has_room(packet, (unsigned)growth) ? growth : HS_LABEL_NO_ROOM;
}

// Changes the header's length by `growth` and its protocol to `proto`.
static inline void change_ipv4(uint8_t *ip, int growth, uint8_t proto)
{
	uint16_t total = hs_be16_load(ip + HS_IPV4_TOTAL), now = (uint16_t)(total + growth);
	uint32_t change = hs_sum_change(total, now) + hs_sum_change(ip[HS_IPV4_PROTOCOL], proto);

	hs_be16_store(ip + HS_IPV4_TOTAL, now);
	ip[HS_IPV4_PROTOCOL] = proto;
	hs_be16_store(ip + HS_IPV4_CHECKSUM,
			hs_checksum_changed(hs_be16_load(ip + HS_IPV4_CHECKSUM), change));
}

static void change_ipv6(uint8_t *ip, int growth)
{
	hs_be16_store(ip + HS_IPV6_PAYLOAD,
			(uint16_t)(hs_be16_load(ip + HS_IPV6_PAYLOAD) + growth));
}

static uint8_t *insert_ipv4(const struct hs_label_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, size_t growth, uint8_t num)
{
	uint8_t *ip = frame + packet->l3_off;
	size_t at = packet->trace_off;

	if (at) {
		hs_front_move_down(frame, frame + growth, at + HS_LABEL_OPTION_BYTES);
	} else {
		at = ipv4_end(frame + growth, packet);
		hs_front_move_down(frame, frame + growth, at);
		frame[at + NH] = ip[HS_IPV4_PROTOCOL];
	}
	frame[at + INT_NUM] = num;
	change_ipv4(ip, (int)growth, settings->ip_protocol);
	return frame + at + HS_LABEL_OPTION_BYTES;
}

static __attribute__((noinline)) uint8_t *insert_ipv6(
		uint8_t *frame, const struct hs_packet *packet, size_t growth, uint8_t num)
{
	size_t at = packet->l3_off + (size_t)HS_IPV6_BYTES;
	uint8_t *hbh = frame + at, *option = hbh + HS_HBH_OPTIONS;
	bool labelled = packet->trace_off, has_header = packet->hbh_bytes;

	hs_front_move_down(frame, frame + growth,
			at + (labelled			  ? HS_LABEL_IPV6_BYTES
					     : has_header ? HS_HBH_OPTIONS
							  : 0));
	change_ipv6(frame + packet->l3_off, (int)growth);
	if (labelled) {
		hbh[1] = (uint8_t)(hbh[1] + growth / 8);
		option[OPTION_LEN] = (uint8_t)(option[OPTION_LEN] + growth);
	} else {
		if (!has_header) {
			hbh[0] = frame[packet->l3_off + HS_IPV6_NEXT];
			frame[packet->l3_off + HS_IPV6_NEXT] = HS_IP_HOP_BY_HOP;
		}
		hbh[1] = (uint8_t)((packet->hbh_bytes + growth) / 8 - 1);
		memset(option, 0, OPTION_ITEMS);
		option[0] = HS_LABEL_IPV6_OPTION;
		option[OPTION_LEN] = OPTION_ITEMS - 2 + HS_LABEL_ITEM_BYTES;
		option[OPTION_FLAGS] = has_header ? IN_HOST_HEADER : 0;
	}
	if (!labelled && has_header)
		hs_be16_store(hbh + growth, HS_OPT_PADN << 8);
	option[OPTION_NUM] = num;
	return option + OPTION_ITEMS;
}

uint8_t *hs_label_insert(const struct hs_label_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, size_t growth, bool specific)
{
	bool first = !(packet->flags & HS_PACKET_TELEMETRY);
	uint8_t num = (uint8_t)(packet->trace_type + 1u +
				(first && specific ? settings->max_hops : 0u));

	return packet->flags & HS_PACKET_IPV4 ? insert_ipv4(settings, frame, packet, growth, num)
					      : insert_ipv6(frame, packet, growth, num);
}

// ---- removing ----

static void strip_ipv6(uint8_t *frame, const struct hs_packet *packet)
{
	size_t at = packet->l3_off + (size_t)HS_IPV6_BYTES, taken = packet->telemetry_bytes;
	uint8_t next = frame[at], words = (uint8_t)(frame[at + 1] - taken / 8);
	bool in_host = frame[packet->trace_off + OPTION_FLAGS] & IN_HOST_HEADER;

	hs_front_move_up(frame + taken, frame, at + (in_host ? HS_HBH_OPTIONS : 0));
	frame += taken;
	change_ipv6(frame + packet->l3_off, -(int)taken);
	if (in_host)
		frame[at + 1] = words;
	else
		frame[packet->l3_off + HS_IPV6_NEXT] = next;
}

size_t hs_label_strip(uint8_t *frame, const struct hs_packet *packet)
{
	size_t taken = packet->telemetry_bytes;

	if (!(packet->flags & HS_PACKET_TELEMETRY))
		return 0;
	if (packet->flags & HS_PACKET_IPV6) {
		strip_ipv6(frame, packet);
		return taken;
	}
	uint8_t proto = frame[packet->trace_off + NH];
	hs_front_move_up(frame + taken, frame, packet->trace_off);
	change_ipv4(frame + taken + packet->l3_off, -(int)taken, proto);
	return taken;
}

// ---- decoding ----

struct hs_label_stack hs_label_stack_of(const struct hs_label_settings *settings,
		const uint8_t *frame, const struct hs_packet *packet)
{
	size_t head = packet->flags & HS_PACKET_IPV4 ? HS_LABEL_OPTION_BYTES : OPTION_ITEMS;
	uint8_t num = (uint8_t)packet->trace_type;

	return (struct hs_label_stack){
			.int_num = num,
			.specific = hs_label_is_specific(settings, num),
			.n_items = (uint8_t)hs_label_items(settings, num),
			.items = frame + packet->trace_off + head,
	};
}
