// SPDX-License-Identifier: BSD-3-Clause
#include "collect_fast.h"

#include "ip.h"

enum {
	UDP_BYTES = 8,
	TCP_BYTES = 20,
	TCP_OFFSET = 12,
	UDP_LENGTH = 4,
	SHIM = 4,
	TAIL = 4,
	PORTS = 4,
	BITMAP = 4,
	DOMAIN = 6,
};

// How a packet goes on. Positions are bytes from its beginning; `end` is of what holds INT.
struct way {
	const uint8_t *packet;
	size_t bytes; // that came
	size_t at;
	size_t end;
	uint8_t protocol;
	uint8_t dscp;
};

// ---- the flow ----

// The members behind the addresses, as they lie in memory.
static uint64_t key_word(uint32_t ports, uint16_t vlan, uint8_t protocol, bool is_ipv4)
{
	return (uint64_t)(ports >> 16) | (uint64_t)(ports & 0xffff) << 16 | (uint64_t)vlan << 32 |
	       (uint64_t)protocol << 48 | (uint64_t)is_ipv4 << 56;
}

static bool pass_ether(struct way *way, uint16_t *type, uint16_t *vlan)
{
	*vlan = 0;
	if (way->bytes < HS_ETHER_BYTES + HS_VLAN_BYTES)
		return false;
	*type = hs_be16_load(way->packet + HS_ETHER_TYPE);
	way->at = HS_ETHER_BYTES;
	if (*type != HS_ETHERTYPE_VLAN)
		return true;
	*vlan = hs_be16_load(way->packet + HS_ETHER_BYTES) & 0xfff;
	*type = hs_be16_load(way->packet + HS_ETHER_TYPE + HS_VLAN_BYTES);
	way->at += HS_VLAN_BYTES;
	return true;
}

static bool pass_ipv4(struct way *way, uint64_t words[4])
{
	const uint8_t *ip = way->packet + way->at;
	uint32_t src, dst;

	if (way->bytes < way->at + HS_IPV4_BYTES + UDP_BYTES || ip[0] != 0x45 ||
			hs_be16_load(ip + HS_IPV4_FRAGMENT) & (HS_IPV4_MORE | HS_IPV4_OFFSET))
		return false;
	memcpy(&src, ip + HS_IPV4_SRC, sizeof(src));
	memcpy(&dst, ip + HS_IPV4_SRC + sizeof(src), sizeof(dst));
	words[0] = src;
	words[2] = dst;
	words[1] = words[3] = 0;
	way->dscp = ip[1] >> 2;
	way->protocol = ip[HS_IPV4_PROTOCOL];
	way->end = way->at + hs_be16_load(ip + HS_IPV4_TOTAL);
	way->at += HS_IPV4_BYTES;
	return true;
}

static bool pass_ipv6(struct way *way, uint64_t words[4])
{
	const uint8_t *ip = way->packet + way->at;

	if (way->bytes < way->at + HS_IPV6_BYTES + UDP_BYTES || ip[0] >> 4 != 6)
		return false;
	memcpy(words, ip + HS_IPV6_SRC, 32);
	way->dscp = hs_be16_load(ip) >> 6 & 0x3f;
	way->protocol = ip[HS_IPV6_NEXT];
	way->at += HS_IPV6_BYTES;
	way->end = way->at + hs_be16_load(ip + HS_IPV6_PAYLOAD);
	return true;
}

// Passes TCP or UDP, as take_stack_of returns.
static int pass_l4(struct way *way)
{
	const uint8_t *l4 = way->packet + way->at;
	size_t left = way->end - way->at, bytes = UDP_BYTES;

	if (way->end < way->at + UDP_BYTES)
		return HS_COLLECT_FAST_NOT;
	if (way->protocol == HS_IP_UDP) {
		size_t length = hs_be16_load(l4 + UDP_LENGTH);
		if (length < UDP_BYTES || length > left)
			return HS_COLLECT_REFUSED_STACK; // the DSCP says that there is one
		way->end = way->at + length;
	} else {
		if (way->bytes < way->at + TCP_BYTES)
			return HS_COLLECT_FAST_NOT;
		bytes = 4u * (l4[TCP_OFFSET] >> 4);
		if (bytes < TCP_BYTES || bytes > left || way->at + bytes > way->bytes)
			return HS_COLLECT_FAST_NOT;
	}
	way->at += bytes;
	return -1;
}

// ---- the stack ----

// 65536 / words, rounded up: exact for stacks of at most 255 words.
static inline __attribute__((always_inline)) uint32_t share_of(unsigned words)
{
	static const uint32_t shares[32] = {0, 65536, 32768, 21846, 16384, 13108, 10923, 9363, 8192,
			7282, 6554, 5958, 5462, 5042, 4682, 4370, 4096, 3856, 3641, 3450, 3277,
			3121, 2979, 2850, 2731, 2622, 2521, 2428, 2341, 2260, 2185, 2115};

	return shares[words];
}

static inline bool has_domain(unsigned version, const uint8_t *head)
{
	return version == HS_INT_2_1 && hs_be16_load(head + DOMAIN);
}

// How many hops the stack has, or -1 where it is left to the general path.
static inline __attribute__((always_inline)) int count_hops(
		unsigned version, const uint8_t *head, unsigned words, unsigned *hop_words)
{
	if (version == HS_INT_0_5) {
		*hop_words = head[1] & 0x1f;
		if (!*hop_words && head[3])
			return -1;
		bool fits = *hop_words == (unsigned)__builtin_popcount(
							  hs_be16_load(head + BITMAP)) &&
			    head[3] <= head[2] && words == *hop_words * head[3];
		return fits ? head[3] : -1;
	}
	*hop_words = head[2] & 0x1f;
	unsigned n = words * share_of(*hop_words) >> 16;
	return n * *hop_words == words && !has_domain(version, head) ? (int)n : -1;
}

// Words of header and stack, or 0.
static inline __attribute__((always_inline)) unsigned words_of(
		unsigned version, const uint8_t *shim)
{
	if (version == HS_INT_2_1)
		return (shim[0] & 0xfc) == 0x10 ? shim[1] : 0;
	unsigned tail = version == HS_INT_0_5 ? TAIL / 4 : 0, front = SHIM / 4 + tail;
	return shim[0] == 1 && shim[2] > front ? shim[2] - front : 0;
}

static inline __attribute__((always_inline)) bool is_version(unsigned version, uint8_t first)
{
	static const uint8_t masks[] = {0xc0, 0xf0, 0xf0, 0xf0};
	static const uint8_t values[] = {0, 0, 0x10, 0x20};

	return (first & masks[version]) == values[version];
}

// With a constant version, most of it goes away. Returns -1, why the stack is refused, or
// HS_COLLECT_FAST_NOT.
static inline __attribute__((always_inline)) int take_stack_of(unsigned version,
		const struct hs_collect_dialect *dialect, const struct way *way,
		struct hs_collect_view *view)
{
	size_t fixed = hs_int_head_bytes(version), tail = version == HS_INT_0_5 ? TAIL : 0;
	const uint8_t *shim = way->packet + way->at, *head = shim + SHIM;
	size_t begin = way->at + SHIM + fixed; // of the hops
	unsigned hop_words;

	if (begin > way->end)
		return HS_COLLECT_FAST_NOT;
	if (way->at + SHIM > way->bytes) {
		view->partial = true;
		return -1;
	}
	unsigned words = words_of(version, shim);
	size_t whole = way->at + SHIM + 4 * words + tail;
	if (4u * words < fixed)
		return HS_COLLECT_FAST_NOT;
	if (whole > way->end)
		return HS_COLLECT_REFUSED_STACK;
	if (begin > way->bytes) {
		view->partial = true;
		return -1;
	}
	// What is cut is not refused for what its header says.
	int wrong = whole > way->bytes ? HS_COLLECT_FAST_NOT : HS_COLLECT_REFUSED_STACK;
	if (!is_version(version, head[0]))
		return wrong;
	uint16_t bitmap = hs_be16_load(head + BITMAP);
	const struct hs_collect_layout *layout = &dialect->layouts[0][bitmap >> 8];
	words -= (unsigned)fixed / 4;
	int n = count_hops(version, head, words, &hop_words);
	size_t end = begin + 4 * words;
	if (n < 0 || n > HS_COLLECT_MAX_HOPS ||
			(tail && end < way->bytes && way->packet[end] != way->protocol))
		return has_domain(version, head) || n >= 0 ? HS_COLLECT_FAST_NOT : wrong;
	if (n && hs_collect_layout_bytes(layout, bitmap) != 4 * hop_words)
		return HS_COLLECT_REFUSED_STACK;
	if (end > way->bytes) {
		n = (int)((way->bytes - begin) / 4 * share_of(hop_words) >> 16);
		view->partial = true;
	}
	view->has_stack = n || !view->partial;
	view->n_hops = (uint8_t)n;
	view->hop_bytes = (uint8_t)(4 * hop_words);
	view->hops = way->packet + begin;
	view->layout = layout;
	return -1;
}

static int take_stack(const struct hs_collect_dialect *dialect, const struct way *way,
		struct hs_collect_view *view)
{
	switch (dialect->packet.version) {
	case HS_INT_0_5:
		return take_stack_of(HS_INT_0_5, dialect, way, view);
	case HS_INT_1_0:
		return take_stack_of(HS_INT_1_0, dialect, way, view);
	default:
		return take_stack_of(HS_INT_2_1, dialect, way, view);
	}
}

// ---- the packet ----

static bool pass_ip(struct way *way, uint8_t inner, uint16_t type, uint64_t words[4])
{
	if (inner == HS_INT_INNER_IPV4 || type == HS_ETHERTYPE_IPV4)
		return pass_ipv4(way, words);
	if (inner == HS_INT_INNER_IPV6 || type == HS_ETHERTYPE_IPV6)
		return pass_ipv6(way, words);
	return false;
}

static int pass_headers(const struct hs_collect_dialect *dialect, bool is_marked, struct way *way,
		struct hs_collect_view *view)
{
	if (!is_marked)
		return way->end < way->at + PORTS ? HS_COLLECT_FAST_NOT : -1;
	int rc = pass_l4(way);
	return rc == -1 ? take_stack(dialect, way, view) : rc;
}

int hs_collect_fast_packet(const struct hs_collect_dialect *dialect, uint8_t inner, bool tracked,
		const uint8_t *packet, size_t bytes, struct hs_collect_view *view)
{
	struct way way = {.packet = packet, .bytes = bytes};
	const struct hs_int_settings *settings = &dialect->packet;
	uint16_t type = 0, vlan = 0;
	uint64_t words[5];

	if (!dialect->fast || (inner == HS_INT_INNER_ETHERNET && !pass_ether(&way, &type, &vlan)) ||
			!pass_ip(&way, inner, type, words) ||
			(way.protocol != HS_IP_UDP && way.protocol != HS_IP_TCP))
		return HS_COLLECT_FAST_NOT;
	uint32_t ports = hs_be32_load(packet + way.at);
	bool is_marked = tracked && !((way.dscp ^ settings->dscp) & settings->dscp_mask);
	int rc = pass_headers(dialect, is_marked, &way, view);
	if (rc != -1)
		return rc;
	words[4] = key_word(ports, vlan, way.protocol,
			inner == HS_INT_INNER_IPV4 || type == HS_ETHERTYPE_IPV4);
	memcpy(&view->key, words, sizeof(words));
	view->has_flow = true;
	return -1;
}
