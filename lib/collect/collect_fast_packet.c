// SPDX-License-Identifier: BSD-3-Clause
#include "collect_fast_packet.h"

#include "extension.h"
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

#define CUT	(-3)
#define NO_FLOW (-4) // the copy ends before the IP header does

// Position in a packet, in bytes from its beginning. `end` is the end of the part that holds INT.
struct cursor {
	const uint8_t *packet;
	size_t bytes; // of the copy
	size_t at;
	size_t end;
	uint8_t protocol;
	uint8_t dscp;
};

// ---- the flow ----

// Returns the key's members after the addresses, as in memory.
static uint64_t key_word(uint32_t ports, uint16_t vlan, uint8_t protocol, bool is_ipv4)
{
	return (uint64_t)(ports >> 16) | (uint64_t)(ports & 0xffff) << 16 | (uint64_t)vlan << 32 |
	       (uint64_t)protocol << 48 | (uint64_t)is_ipv4 << 56;
}

static bool pass_ether(struct cursor *cursor, uint16_t *type, uint16_t *vlan)
{
	*vlan = 0;
	if (cursor->bytes < HS_ETHER_BYTES)
		return false;
	*type = hs_be16_load(cursor->packet + HS_ETHER_TYPE);
	cursor->at = HS_ETHER_BYTES;
	if (*type != HS_ETHERTYPE_VLAN)
		return true;
	if (cursor->bytes < HS_ETHER_BYTES + HS_VLAN_BYTES)
		return false;
	*vlan = hs_be16_load(cursor->packet + HS_ETHER_BYTES) & 0xfff;
	*type = hs_be16_load(cursor->packet + HS_ETHER_TYPE + HS_VLAN_BYTES);
	cursor->at += HS_VLAN_BYTES;
	return true;
}

// Returns whether the options of IPv4 are complete.
static bool are_options(const uint8_t *options, size_t bytes)
{
	for (size_t at = 0; at < bytes && options[at] != HS_IPV4_OPTIONS_END;) {
		size_t left = bytes - at, option = 1;
		if (options[at] != HS_IPV4_NO_OPERATION)
			option = left < 2 || options[at + 1] < 2 ? left + 1 : options[at + 1];
		if (option > left)
			return false;
		at += option;
	}
	return true;
}

// The functions pass_* return what take_stack_of returns, or NO_FLOW.
static int pass_ipv4(struct cursor *cursor, uint64_t words[4])
{
	const uint8_t *ip = cursor->packet + cursor->at;
	uint32_t src, dst;

	if (cursor->bytes < cursor->at + HS_IPV4_BYTES)
		return NO_FLOW;
	if (ip[0] >> 4 != 4)
		return HS_COLLECT_FAST_NOT;
	size_t header = 4 * (ip[0] & 0xfu), total = hs_be16_load(ip + HS_IPV4_TOTAL);
	if (header < HS_IPV4_BYTES || total < header)
		return HS_COLLECT_REFUSED_PACKET;
	if (cursor->bytes < cursor->at + header + PORTS ||
			hs_be16_load(ip + HS_IPV4_FRAGMENT) & (HS_IPV4_MORE | HS_IPV4_OFFSET))
		return HS_COLLECT_FAST_NOT;
	if (header > HS_IPV4_BYTES && !are_options(ip + HS_IPV4_BYTES, header - HS_IPV4_BYTES))
		return HS_COLLECT_REFUSED_PACKET;
	memcpy(&src, ip + HS_IPV4_SRC, sizeof(src));
	memcpy(&dst, ip + HS_IPV4_SRC + sizeof(src), sizeof(dst));
	words[0] = src;
	words[2] = dst;
	words[1] = words[3] = 0;
	cursor->dscp = ip[1] >> 2;
	cursor->protocol = ip[HS_IPV4_PROTOCOL];
	cursor->end = cursor->at + total;
	cursor->at += header;
	return -1;
}

// Passes the extension headers before TCP or UDP, except Hop-by-Hop and fragment headers.
static int pass_extensions(struct cursor *cursor)
{
	for (unsigned n = 0; hs_extension_is_followed(cursor->protocol); n++) {
		const uint8_t *header = cursor->packet + cursor->at;
		size_t left = cursor->end < cursor->bytes ? cursor->end : cursor->bytes;
		if (n == HS_IPV6_MAX_EXTENSIONS)
			return HS_COLLECT_REFUSED_PACKET;
		if (cursor->protocol == HS_IP_FRAGMENT || cursor->at + 8 > left)
			return HS_COLLECT_FAST_NOT;
		size_t bytes = hs_extension_bytes(header, cursor->protocol);
		if (cursor->at + bytes + PORTS > left)
			return HS_COLLECT_FAST_NOT;
		cursor->protocol = header[0];
		cursor->at += bytes;
	}
	return -1;
}

static int pass_ipv6(struct cursor *cursor, uint64_t words[4])
{
	const uint8_t *ip = cursor->packet + cursor->at;

	if (cursor->bytes < cursor->at + HS_IPV6_BYTES)
		return NO_FLOW;
	if (cursor->bytes < cursor->at + HS_IPV6_BYTES + PORTS || ip[0] >> 4 != 6)
		return HS_COLLECT_FAST_NOT;
	memcpy(words, ip + HS_IPV6_SRC, 32);
	cursor->dscp = hs_be16_load(ip) >> 6 & 0x3f;
	cursor->protocol = ip[HS_IPV6_NEXT];
	cursor->at += HS_IPV6_BYTES;
	cursor->end = cursor->at + hs_be16_load(ip + HS_IPV6_PAYLOAD);
	return pass_extensions(cursor);
}

// Passes TCP or UDP. Returns what take_stack_of returns, or CUT if the copy ends in the header.
static int pass_l4(struct cursor *cursor)
{
	const uint8_t *l4 = cursor->packet + cursor->at;
	size_t bytes = cursor->protocol == HS_IP_UDP ? UDP_BYTES : TCP_BYTES;

	if (cursor->end < cursor->at + bytes + SHIM)
		return HS_COLLECT_FAST_NOT;
	if (cursor->bytes < cursor->at + bytes)
		return CUT;
	if (cursor->protocol == HS_IP_UDP) {
		size_t length = hs_be16_load(l4 + UDP_LENGTH);
		if (length < UDP_BYTES || cursor->at + length > cursor->end)
			return HS_COLLECT_REFUSED_STACK; // the DSCP says that there is a stack
		cursor->end = cursor->at + length;
	} else {
		bytes = 4u * (l4[TCP_OFFSET] >> 4);
		if (bytes < TCP_BYTES || cursor->at + bytes + SHIM > cursor->end)
			return HS_COLLECT_FAST_NOT;
		if (cursor->at + bytes > cursor->bytes)
			return CUT;
	}
	cursor->at += bytes;
	return -1;
}

// ---- the stack ----

// Returns 65536 / words, rounded up. This is exact for stacks of at most 255 words.
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

// Returns how many hops the stack has, or -1 if take_stack_of must not take it.
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

static inline __attribute__((always_inline)) bool is_md(unsigned version, const uint8_t *shim)
{
	return version == HS_INT_2_1 ? (shim[0] & 0xfc) == 0x10 : shim[0] == 1;
}

// Returns the words of header and stack, or 0.
static inline __attribute__((always_inline)) unsigned words_of(
		unsigned version, const uint8_t *shim)
{
	if (version == HS_INT_2_1)
		return is_md(version, shim) ? shim[1] : 0;
	unsigned tail = version == HS_INT_0_5 ? TAIL / 4 : 0, front = SHIM / 4 + tail;
	return is_md(version, shim) && shim[2] > front ? shim[2] - front : 0;
}

static inline __attribute__((always_inline)) bool is_version(unsigned version, uint8_t first)
{
	static const uint8_t masks[] = {0xc0, 0xf0, 0xf0, 0xf0};
	static const uint8_t values[] = {0, 0, 0x10, 0x20};

	return (first & masks[version]) == values[version];
}

// Returns whether E or M says that nodes added nothing.
static inline __attribute__((always_inline)) bool lacks_hops(unsigned version, const uint8_t *head)
{
	return hs_be16_load(head) & (hs_int_bit_e[version] | hs_int_bit_m[version]);
}

// The copy ends before the hops.
static inline int take_cut(struct hs_collect_view *view)
{
	view->partial = true;
	return -1;
}

// Reads a stack. For a constant version, the compiler removes most of the code. Returns -1, why the
// stack is refused, or HS_COLLECT_FAST_NOT.
static inline __attribute__((always_inline)) int take_stack_of(unsigned version,
		const struct hs_collect_dialect *dialect, const struct cursor *cursor,
		struct hs_collect_view *view)
{
	size_t fixed = hs_int_head_bytes(version), tail = version == HS_INT_0_5 ? TAIL : 0;
	const uint8_t *shim = cursor->packet + cursor->at, *head = shim + SHIM;
	size_t begin = cursor->at + SHIM + fixed; // of the hops
	unsigned hop_words;

	if (begin > cursor->end)
		return HS_COLLECT_FAST_NOT;
	if (cursor->at + SHIM > cursor->bytes)
		return take_cut(view);
	unsigned words = words_of(version, shim);
	size_t whole = cursor->at + SHIM + 4 * words + tail;
	if (4u * words < fixed)
		return is_md(version, shim) && begin + tail <= cursor->bytes
				       ? HS_COLLECT_REFUSED_STACK
				       : HS_COLLECT_FAST_NOT;
	if (whole > cursor->end)
		return HS_COLLECT_REFUSED_STACK;
	if (begin > cursor->bytes)
		return take_cut(view);
	// A stack that is cut is not refused because of its header.
	int wrong = whole > cursor->bytes ? HS_COLLECT_FAST_NOT : HS_COLLECT_REFUSED_STACK;
	if (!is_version(version, head[0]))
		return wrong;
	uint16_t bitmap = hs_be16_load(head + BITMAP);
	const struct hs_collect_layout *layout = &dialect->layouts[0][bitmap >> 8];
	words -= (unsigned)fixed / 4;
	int n = count_hops(version, head, words, &hop_words);
	size_t end = begin + 4 * words;
	if (n < 0 || n > HS_COLLECT_MAX_HOPS || lacks_hops(version, head) ||
			(tail && end < cursor->bytes && cursor->packet[end] != cursor->protocol))
		return has_domain(version, head) || n >= 0 ? HS_COLLECT_FAST_NOT : wrong;
	if (n && hs_collect_layout_bytes(layout, bitmap) != 4 * hop_words)
		return HS_COLLECT_REFUSED_STACK;
	if (end > cursor->bytes) {
		n = (int)((cursor->bytes - begin) / 4 * share_of(hop_words) >> 16);
		view->partial = true;
	}
	view->has_stack = n || !view->partial;
	view->n_hops = (uint8_t)n;
	view->hop_bytes = (uint8_t)(4 * hop_words);
	view->hops = cursor->packet + begin;
	view->layout = layout;
	return -1;
}

static int take_stack(const struct hs_collect_dialect *dialect, const struct cursor *cursor,
		struct hs_collect_view *view)
{
	switch (dialect->packet.version) {
	case HS_INT_0_5:
		return take_stack_of(HS_INT_0_5, dialect, cursor, view);
	case HS_INT_1_0:
		return take_stack_of(HS_INT_1_0, dialect, cursor, view);
	default:
		return take_stack_of(HS_INT_2_1, dialect, cursor, view);
	}
}

// ---- the packet ----

static int pass_ip(struct cursor *cursor, uint8_t inner, uint16_t type, uint64_t words[4])
{
	if (inner == HS_INT_INNER_IPV4 || type == HS_ETHERTYPE_IPV4)
		return pass_ipv4(cursor, words);
	if (inner == HS_INT_INNER_IPV6 || type == HS_ETHERTYPE_IPV6)
		return pass_ipv6(cursor, words);
	return HS_COLLECT_FAST_NOT;
}

static int pass_headers(const struct hs_collect_dialect *dialect, bool is_marked,
		struct cursor *cursor, struct hs_collect_view *view)
{
	if (!is_marked)
		return cursor->end < cursor->at + PORTS ? HS_COLLECT_FAST_NOT : -1;
	int rc = pass_l4(cursor);
	if (rc == -1)
		return take_stack(dialect, cursor, view);
	return rc == CUT ? take_cut(view) : rc;
}

int hs_collect_fast_packet(const struct hs_collect_dialect *dialect, uint8_t inner, bool tracked,
		const uint8_t *packet, size_t bytes, struct hs_collect_view *view)
{
	struct cursor cursor = {.packet = packet, .bytes = bytes};
	const struct hs_int_settings *settings = &dialect->packet;
	uint16_t type = 0, vlan = 0;
	uint64_t words[5];

	if (!dialect->fast ||
			(inner == HS_INT_INNER_ETHERNET && !pass_ether(&cursor, &type, &vlan)))
		return HS_COLLECT_FAST_NOT;
	int rc = pass_ip(&cursor, inner, type, words);
	if (rc != -1)
		return rc == NO_FLOW ? -1 : rc;
	if (cursor.protocol != HS_IP_UDP && cursor.protocol != HS_IP_TCP)
		return HS_COLLECT_FAST_NOT;
	uint32_t ports = hs_be32_load(packet + cursor.at);
	bool is_marked = tracked && !((cursor.dscp ^ settings->dscp) & settings->dscp_mask);
	rc = pass_headers(dialect, is_marked, &cursor, view);
	if (rc != -1)
		return rc;
	words[4] = key_word(ports, vlan, cursor.protocol,
			inner == HS_INT_INNER_IPV4 || type == HS_ETHERTYPE_IPV4);
	memcpy(&view->key, words, sizeof(words));
	view->has_flow = true;
	return -1;
}
