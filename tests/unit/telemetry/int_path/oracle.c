// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.h"

#include <string.h>

static unsigned word(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

// Returns where IP begins, 0 without.
static size_t find_ip(const uint8_t *frame, size_t len, bool *ipv4)
{
	size_t at = 12;

	for (unsigned tags = 0; tags < 2 && at + 2 <= len; tags++, at += 4)
		if (word(frame + at) != 0x8100 && word(frame + at) != 0x88a8)
			break;
	if (at + 2 > len)
		return 0;
	unsigned type = word(frame + at);
	at += 2;
	*ipv4 = type == 0x0800;
	if (type != 0x0800 && type != 0x86dd)
		return 0;
	if (at + (*ipv4 ? 20 : 40) > len || frame[at] >> 4 != (*ipv4 ? 4 : 6))
		return 0;
	return at;
}

// No host takes a packet whose options are not.
static bool are_options_whole(const uint8_t *options, size_t bytes)
{
	for (size_t at = 0; at < bytes && options[at] != 0;) {
		if (options[at] == 1) {
			at++;
			continue;
		}
		if (at + 2 > bytes || options[at + 1] < 2 || at + options[at + 1] > bytes)
			return false;
		at += options[at + 1];
	}
	return true;
}

static bool find_in_ipv4(const uint8_t *frame, size_t len, struct oracle_l4 *l4)
{
	const uint8_t *ip = frame + l4->ip;
	size_t header = 4u * (ip[0] & 15u), total = word(ip + 2);

	if (header < 20 || total < header || l4->ip + total > len || word(ip + 6) & 0x1fff ||
			!are_options_whole(ip + 20, header - 20))
		return false;
	l4->fragment = word(ip + 6) & 0x2000;
	l4->proto = ip[9];
	l4->at = l4->ip + header;
	l4->end = l4->ip + total;
	return true;
}

static bool find_in_ipv6(const uint8_t *frame, size_t len, struct oracle_l4 *l4)
{
	const uint8_t *ip = frame + l4->ip;

	l4->proto = ip[6];
	l4->at = l4->ip + 40;
	l4->end = l4->at + word(ip + 4);
	if (l4->end > len)
		return false;
	for (;;) {
		const uint8_t *header = frame + l4->at;
		size_t bytes;
		switch (l4->proto) {
		case 0:
		case 43:
		case 60:
		case 135:
			bytes = l4->at + 2 <= l4->end ? 8u + 8u * header[1] : 8;
			break;
		case 44:
			bytes = 8;
			break;
		default:
			return true;
		}
		if (l4->at + bytes > l4->end)
			return false;
		if (l4->proto == 44 && word(header + 2) & 0xfff8)
			return false;
		l4->fragment |= l4->proto == 44 && word(header + 2) & 1;
		l4->proto = header[0];
		l4->at += bytes;
	}
}

bool oracle_find(const uint8_t *frame, size_t len, struct oracle_l4 *l4)
{
	*l4 = (struct oracle_l4){0};
	l4->ip = find_ip(frame, len, &l4->ipv4);
	if (!l4->ip)
		return false;
	return l4->ipv4 ? find_in_ipv4(frame, len, l4) : find_in_ipv6(frame, len, l4);
}

// ---- sums ----

static int fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (int)sum;
}

static uint32_t add(uint32_t sum, const uint8_t *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	return sum;
}

struct oracle_sums oracle_sum(const uint8_t *frame, size_t len)
{
	struct oracle_sums sums = {-1, -1};
	struct oracle_l4 l4;

	if (!oracle_find(frame, len, &l4))
		return sums;
	const uint8_t *ip = frame + l4.ip, *at = frame + l4.at;
	size_t bytes = l4.end - l4.at;
	if (l4.ipv4)
		sums.ip = fold(add(0, ip, 4u * (ip[0] & 15u)));
	bool udp = l4.proto == 17 && bytes >= 8 && word(at + 4) == bytes && word(at + 6);
	bool tcp = l4.proto == 6 && bytes >= 20;
	if (l4.fragment || (!udp && !tcp))
		return sums;
	uint32_t sum = add(l4.proto + (uint32_t)bytes, ip + (l4.ipv4 ? 12 : 8), l4.ipv4 ? 8 : 32);
	sums.l4 = fold(add(sum, at, bytes));
	return sums;
}

// ---- claims ----

// Behind the header of TCP or UDP, of which the lengths must be possible. 0 where they are not.
static size_t payload_of(const uint8_t *frame, const struct oracle_l4 *l4, size_t *end)
{
	const uint8_t *at = frame + l4->at;
	size_t bytes = l4->end - l4->at;

	*end = l4->end;
	if (l4->proto == 6)
		return bytes >= 20 && at[12] >> 4 >= 5 && 4u * (at[12] >> 4) <= bytes
				       ? l4->at + 4u * (at[12] >> 4)
				       : 0;
	if (l4->proto != 17 || bytes < 8 || word(at + 4) < 8 || word(at + 4) > bytes)
		return 0;
	*end = l4->at + word(at + 4);
	return l4->at + 8;
}

static bool claims_in_tcp_udp(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct oracle_l4 *l4)
{
	size_t end, at = payload_of(frame, l4, &end);

	if (settings->mark == HS_INT_MARK_UDP_PORT)
		return (l4->proto == 17 || (l4->proto == 6 && settings->version == HS_INT_0_5)) &&
		       l4->at + 4 <= l4->end && word(frame + l4->at + 2) == settings->udp_port;
	if (!at || at + 8 > end)
		return false;
	for (unsigned i = 0; i < 8; i++)
		if (frame[at + i] != (uint8_t)(settings->probe_marker >> (56 - 8 * i)))
			return false;
	return true;
}

static bool claims_in_geneve(
		const struct hs_int_settings *settings, const uint8_t *at, size_t bytes)
{
	size_t end = bytes < 8 ? 0 : 8 + 4u * (at[0] & 0x3f);

	if (bytes < 8 || at[0] >> 6 || end > bytes)
		return false;
	unsigned types = settings->version == HS_INT_2_1 ? 3 : 2;
	for (size_t o = 8; o < end; o += 4 + 4u * (at[o + 3] & 0x1f)) {
		unsigned type = at[o + 2] - (unsigned)settings->geneve_type;
		if (word(at + o) == settings->geneve_class && type < types)
			return true;
	}
	return false;
}

bool oracle_claims(const struct hs_int_settings *settings, const uint8_t *frame, size_t len)
{
	struct oracle_l4 l4;
	bool ipv4;
	size_t end, ip = find_ip(frame, len, &ipv4);

	if (ip && settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP) {
		unsigned dscp = ipv4 ? frame[ip + 1] >> 2 : word(frame + ip) >> 6 & 0x3f;
		return !((dscp ^ settings->dscp) & settings->dscp_mask);
	}
	if (!oracle_find(frame, len, &l4))
		return false;
	const uint8_t *at = frame + l4.at;
	size_t bytes = l4.end - l4.at, tunnel;
	switch (settings->carrier) {
	case HS_INT_TCP_UDP:
		return claims_in_tcp_udp(settings, frame, &l4);
	case HS_INT_GRE:
		return l4.proto == 47 && bytes >= 4 && !(at[1] & 7) &&
		       bytes >= 4u + 4u * (!!(at[0] & 0x80) + !!(at[0] & 0x20) +
							  !!(at[0] & 0x10)) &&
		       word(at + 2) == settings->gre_protocol;
	default:
		tunnel = l4.proto == 17 ? payload_of(frame, &l4, &end) : 0;
	}
	if (!tunnel)
		return false;
	if (settings->carrier == HS_INT_GENEVE)
		return word(at + 2) == 6081 &&
		       claims_in_geneve(settings, frame + tunnel, end - tunnel);
	return word(at + 2) == 4790 && tunnel + 8 <= end && frame[tunnel] & 4 &&
	       frame[tunnel + 3] == settings->gpe_protocol;
}
