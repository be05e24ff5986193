// SPDX-License-Identifier: BSD-3-Clause
#include "int_draft.h"

#include "bytes.h"

#include <string.h>

uint32_t int_draft_below(struct int_draft *d, uint32_t bound)
{
	return hs_rng_u32(&d->rng) % bound;
}

static bool once_in(struct int_draft *d, uint32_t n)
{
	return int_draft_below(d, n) == 0;
}

static void put(struct int_draft *d, uint8_t byte)
{
	d->bytes[d->len++] = byte;
}

static void put_random(struct int_draft *d, size_t n)
{
	while (n--)
		put(d, (uint8_t)hs_rng_u32(&d->rng));
}

static void put_addresses(struct int_draft *d, size_t n)
{
	if (!d->one_flow) {
		put_random(d, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		put(d, i < n / 2 ? 0x11 : 0x22);
}

static void put_zero(struct int_draft *d, size_t n)
{
	while (n--)
		put(d, 0);
}

static void put16(struct int_draft *d, uint16_t v)
{
	hs_be16_store(d->bytes + d->len, v);
	d->len += 2;
}

// ---- sums ----

static uint32_t add(const struct int_draft *d, uint32_t sum, size_t at, size_t end)
{
	for (size_t i = at; i < end; i++)
		sum += (i - at) % 2 ? d->bytes[i] : (uint32_t)d->bytes[i] << 8;
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void finish_l4(struct int_draft *d, size_t ip, size_t l4, uint8_t proto)
{
	bool is_ipv4 = d->bytes[ip] >> 4 == 4;
	size_t field = proto == 6 ? l4 + 16 : l4 + 6;
	if (proto != 6 && proto != 17)
		return;
	if (proto == 17)
		hs_be16_store(d->bytes + l4 + 4, (uint16_t)(d->len - l4));
	if (proto == 17 && once_in(d, 4)) // none
		return;
	if (once_in(d, 8)) { // wrong, but none that nobody computes
		put_random(d, 1);
		d->bytes[field] = d->bytes[--d->len] & 0x7f;
		d->bytes[field + 1] |= proto == 17;
		return;
	}
	uint32_t pseudo = is_ipv4 ? add(d, 0, ip + 12, ip + 20) : add(d, 0, ip + 8, ip + 40);
	uint16_t sum = folded(add(d, pseudo + proto + (uint32_t)(d->len - l4), l4, d->len));
	hs_be16_store(d->bytes + field, !sum && proto == 17 ? 0xffff : sum);
}

static void finish_ip(struct int_draft *d, size_t ip)
{
	uint8_t *header = d->bytes + ip;
	if (header[0] >> 4 == 6) {
		hs_be16_store(header + 4, (uint16_t)(d->len - ip - 40));
		return;
	}
	hs_be16_store(header + 2, (uint16_t)(d->len - ip));
	hs_be16_store(header + 10, folded(add(d, 0, ip, ip + 4u * (header[0] & 15u))));
}

// ---- headers ----

static void put_ether(struct int_draft *d, bool ipv4, bool may_tag)
{
	d->len = 0;
	put_random(d, 12);
	for (uint32_t tags = may_tag && once_in(d, 4) ? 1 + int_draft_below(d, 2) : 0; tags;
			tags--) {
		put16(d, tags == 2 ? 0x88a8 : 0x8100);
		put_random(d, 2);
	}
	put16(d, ipv4 ? 0x0800 : 0x86dd);
}

static void put_extensions(struct int_draft *d, size_t ip, uint8_t proto)
{
	static const uint8_t kinds[] = {60, 43, 135, 44};
	size_t next = ip + 6;
	for (uint32_t n = int_draft_below(d, 3); n; n--) {
		uint8_t kind = kinds[int_draft_below(d, sizeof(kinds))];
		bool long_one = kind != 44 && once_in(d, 2);
		d->bytes[next] = kind;
		next = d->len;
		put(d, 0);
		put(d, long_one);
		put16(d, 0); // an atomic fragment
		put_random(d, long_one ? 12 : 4);
	}
	d->bytes[next] = proto;
}

// Returns where the header begins.
static size_t put_ip(struct int_draft *d, bool ipv4, uint8_t proto, bool plain)
{
	size_t ip = d->len;
	if (!ipv4) {
		put(d, 0x60 | (uint8_t)int_draft_below(d, 16));
		put_random(d, 5);
		put(d, proto);
		put_random(d, 1);
		put_addresses(d, 32);
		if (!plain && once_in(d, 3))
			put_extensions(d, ip, proto);
		return ip;
	}
	size_t options = !plain && once_in(d, 4) ? 4u * int_draft_below(d, 11) : 0;
	put(d, (uint8_t)(0x45 + options / 4));
	put_random(d, 1);
	put_zero(d, 2);
	put_random(d, 2);
	put16(d, once_in(d, 2) ? 0x4000 : 0);
	put_random(d, 1);
	put(d, proto);
	put_zero(d, 2);
	put_addresses(d, 8);
	for (size_t i = 0; i < options; i++)
		put(d, 1);
	return ip;
}

static size_t put_l4(struct int_draft *d, uint8_t proto, uint16_t dst)
{
	size_t at = d->len;
	put_random(d, 2);
	put16(d, dst);
	if (proto != 6) {
		put_zero(d, 4);
		return at;
	}
	size_t options = once_in(d, 2) ? 4u * int_draft_below(d, 11) : 0;
	put_random(d, 8);
	put(d, (uint8_t)((5 + options / 4) << 4));
	put_random(d, 3);
	put_zero(d, 2);
	put_random(d, 2 + options);
	return at;
}

// ---- carriers ----

static void put_payload(struct int_draft *d)
{
	put_random(d, once_in(d, 4) ? int_draft_below(d, 4) : int_draft_below(d, 300));
}

static void put_vxlan(struct int_draft *d, bool plain)
{
	put(d, plain ? 0x08 : 0x0c);
	put_zero(d, 2);
	put(d, plain ? 0 : 1 + (uint8_t)int_draft_below(d, 4));
	put_random(d, 4);
}

static void put_geneve(struct int_draft *d)
{
	size_t at = d->len;
	put(d, 0);
	put(d, (uint8_t)int_draft_below(d, 2) << 6);
	put16(d, 0x6558);
	put_random(d, 4);
	for (uint32_t n = once_in(d, 2) ? int_draft_below(d, 4) : 0; n; n--) {
		size_t words = int_draft_below(d, 6);
		put16(d, once_in(d, 4) ? 0x0103 : 0x0102);
		put(d, 0x80 | (uint8_t)int_draft_below(d, 128));
		put(d, (uint8_t)words);
		put_random(d, 4 * words);
	}
	d->bytes[at] = (uint8_t)((d->len - at - 8) / 4);
}

static void put_gre(struct int_draft *d)
{
	static const uint8_t flags[] = {0, 0, 0x20, 0x10, 0x30, 0x80, 0xb0};
	size_t at = d->len;
	uint8_t has = flags[int_draft_below(d, sizeof(flags))];
	put(d, has);
	put(d, 0);
	put16(d, once_in(d, 2) ? 0x0800 : 0x6558);
	if (has & 0x80)
		put_zero(d, 4);
	put_random(d, (has & 0x20 ? 4 : 0) + (has & 0x10 ? 4 : 0));
	put_payload(d);
	if (has & 0x80)
		hs_be16_store(d->bytes + at + 4, folded(add(d, 0, at, d->len)));
}

static uint8_t proto_for(struct int_draft *d, const struct hs_int_settings *settings, bool ipv4)
{
	if (settings->carrier == HS_INT_GRE && !settings->gre_adds_tunnel)
		return 47;
	if (settings->carrier == HS_INT_VXLAN_GPE || settings->carrier == HS_INT_GENEVE)
		return 17;
	if (once_in(d, 12))
		return ipv4 ? 1 : 58;
	return once_in(d, 2) ? 6 : 17;
}

struct frame int_draft_frame(struct int_draft *d, const struct hs_int_settings *settings)
{
	bool ipv4 = once_in(d, 2), plain = once_in(d, 2);
	uint8_t proto = proto_for(d, settings, ipv4);
	uint16_t dst = (uint16_t)(1024 + int_draft_below(d, 3000));

	put_ether(d, ipv4, true);
	size_t ip = put_ip(d, ipv4, proto, false), l4 = d->len;
	if (proto == 47) {
		put_gre(d);
	} else {
		dst = settings->carrier == HS_INT_VXLAN_GPE ? plain ? 4789 : 4790 : dst;
		dst = settings->carrier == HS_INT_GENEVE ? 6081 : dst;
		l4 = put_l4(d, proto, dst);
		if (settings->carrier == HS_INT_VXLAN_GPE)
			put_vxlan(d, plain);
		if (settings->carrier == HS_INT_GENEVE)
			put_geneve(d);
		put_payload(d);
	}
	finish_l4(d, ip, l4, proto);
	finish_ip(d, ip);
	if (once_in(d, 4))
		put_random(d, int_draft_below(d, 20)); // Ethernet's padding
	return frame_of(d->bytes, d->len);
}

struct frame int_draft_usual(struct int_draft *d)
{
	bool ipv4 = once_in(d, 2);
	uint8_t proto = once_in(d, 2) ? 6 : 17;

	put_ether(d, ipv4, false);
	size_t ip = put_ip(d, ipv4, proto, true);
	size_t l4 = put_l4(d, proto, (uint16_t)hs_rng_u32(&d->rng));
	put_payload(d);
	finish_l4(d, ip, l4, proto);
	finish_ip(d, ip);
	return frame_of(d->bytes, d->len);
}

// ---- telemetry ----

static uint64_t value(struct int_draft *d, uint64_t most)
{
	if (once_in(d, 8))
		return 0;
	if (once_in(d, 8))
		return most;
	return hs_rng_u64(&d->rng) & (once_in(d, 2) ? 0xff : most);
}

struct hs_int_values int_draft_values(struct int_draft *d)
{
	return (struct hs_int_values){
			.has = once_in(d, 4) ? hs_rng_u32(&d->rng) & 0x3fff : 0x3fff,
			.node_id = (uint32_t)value(d, UINT32_MAX),
			.ingress_port = (uint32_t)value(d, UINT32_MAX),
			.egress_port = (uint32_t)value(d, UINT32_MAX),
			.ingress_port_l2 = (uint32_t)value(d, UINT32_MAX),
			.egress_port_l2 = (uint32_t)value(d, UINT32_MAX),
			.queue_id = (uint32_t)value(d, UINT8_MAX),
			.queue_packets = (uint32_t)value(d, UINT32_MAX),
			.queue_congestion = (uint32_t)value(d, UINT32_MAX),
			.link_utilisation = (uint32_t)value(d, 10000),
			.buffer_id = (uint32_t)value(d, UINT8_MAX),
			.buffer_used = (uint32_t)value(d, UINT32_MAX),
			.hop_latency_ns = value(d, UINT64_MAX),
			.ingress_ns = value(d, UINT64_MAX),
			.egress_ns = value(d, UINT64_MAX),
	};
}

struct hs_int_request int_draft_request(struct int_draft *d, const struct hs_int_settings *settings)
{
	bool is_new = settings->version == HS_INT_2_1;
	struct hs_int_request request = {.bitmap = (uint16_t)hs_rng_u32(&d->rng)};

	if (settings->version < HS_INT_1_0 || !once_in(d, 4))
		request.bitmap &= hs_int_known(settings->version);
	if (settings->carrier == HS_INT_GENEVE)
		request.bitmap &= 0xb081;
	if (settings->version < HS_INT_1_0)
		request.bitmap &= (uint16_t)~1;
	if (is_new && once_in(d, 3)) {
		request.domain_id = 7;
		request.ds_instruction = 0x8000;
		request.ds_flags = (uint16_t)hs_rng_u32(&d->rng);
		request.ds_hop_words = (uint8_t)int_draft_below(d, 3);
		request.source_words = (uint8_t)int_draft_below(d, HS_INT_MAX_SOURCE_WORDS + 1);
		for (size_t i = 0; i < sizeof(request.source); i++)
			request.source[i] = (uint8_t)hs_rng_u32(&d->rng);
	}
	if (is_new && once_in(d, 8))
		request.flags = HS_INT_FLAG_D;
	if (!is_new)
		request.replication = (uint8_t)int_draft_below(d, 4);
	return request;
}

bool int_draft_settings(size_t i, struct hs_int_settings *settings)
{
	const char *allowed;
	const size_t all = HS_INT_N_VERSIONS * HS_INT_N_CARRIERS * HS_INT_N_MARKS * 2;

	for (size_t at = 0; at < all; at++) {
		size_t rest = at / 2;
		enum hs_int_mark mark = (enum hs_int_mark)(rest % HS_INT_N_MARKS);
		rest /= HS_INT_N_MARKS;
		hs_int_settings_init(settings, (enum hs_int_version)(rest / HS_INT_N_CARRIERS),
				(enum hs_int_carrier)(rest % HS_INT_N_CARRIERS));
		settings->mode = at % 2;
		settings->mark = (uint8_t)mark;
		settings->udp_port = 5000;
		settings->probe_marker = 0xaaaabbbbccccdddd;
		if (settings->carrier == HS_INT_GRE && mark) {
			settings->gre_adds_tunnel = true;
			settings->gre_ipv6 = mark == HS_INT_MARK_PROBE;
			settings->gre_src[0] = settings->gre_dst[0] = 0x20;
		}
		bool twice = settings->carrier >= HS_INT_VXLAN_GPE && mark;
		if (!twice && !hs_int_settings_wrong(settings, &allowed) && i-- == 0)
			return true;
	}
	return false;
}
