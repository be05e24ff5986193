// SPDX-License-Identifier: BSD-3-Clause
// Reads packets of INTCollector's generator as INTCollector's parser reads them. They depart from
// the specifications (docs/wire-int-report.md).
#include "collect_lenient.h"

#include "collect_stack.h"

#include "ip.h"

#define BEYOND 0x20000

enum {
	SHIM = 4,
	HEAD = 8,
	UDP_BYTES = 8,
	TCP_BYTES = 20,
	TCP_OFFSET = 12,
	SHIM_LENGTH = 2,
};

// Returns where the shim is, even if it is cut off, or 0: there is none.
static size_t shim_at(const uint8_t *frame, size_t len, const struct hs_packet *packet)
{
	size_t at = packet->l4_off;

	if (!at || packet->flags & HS_PACKET_FRAGMENT)
		return 0;
	if (packet->l4_proto == HS_IP_UDP)
		return at + UDP_BYTES;
	if (packet->l4_proto != HS_IP_TCP)
		return 0;
	size_t bytes = at + TCP_BYTES > len ? 0 : 4u * (frame[at + TCP_OFFSET] >> 4);
	return at + (bytes < TCP_BYTES ? TCP_BYTES : bytes);
}

// Counts the hops, from the header of 0.5 or from the shim's length of 1.0. Returns false if the
// length or bitmap does not match the words of a hop.
static bool count_hops(const uint8_t *shim, struct hs_int_stack *stack)
{
	const uint8_t *head = shim + SHIM;

	stack->bitmap = hs_be16_load(head + 4);
	if (stack->version == HS_INT_0_5) {
		stack->hop_words = head[1] & 0x1f;
		stack->n_hops = head[3];
		return stack->hop_words == __builtin_popcount(stack->bitmap);
	}
	unsigned words = shim[SHIM_LENGTH], fixed = (SHIM + HEAD) / 4;
	stack->hop_words = head[2] & 0x1f;
	if (words < fixed || (words > fixed && !stack->hop_words))
		return false;
	stack->n_hops = words > fixed ? (uint8_t)((words - fixed) / stack->hop_words) : 0;
	return stack->n_hops * stack->hop_words == words - fixed;
}

int hs_collect_read_lenient(const struct hs_collect_dialect *dialect, const uint8_t *frame,
		size_t len, const uint8_t *origin, struct hs_collect_view *view)
{
	struct hs_int_stack stack = {.version = dialect->packet.version};
	struct hs_packet packet;

	hs_packet_parse(frame, len, BEYOND, NULL, &packet);
	if (hs_collect_is_malformed(frame, len, &packet))
		return HS_COLLECT_REFUSED_PACKET;
	view->has_flow = hs_collect_flow_of(frame, len, &packet, &view->key);
	size_t at = shim_at(frame, len, &packet);
	if (!at)
		return -1;
	if (at + SHIM + HEAD > len) {
		view->partial = true;
		return -1;
	}
	if (!count_hops(frame + at, &stack))
		return HS_COLLECT_REFUSED_STACK;
	bool narrow = stack.hop_words == __builtin_popcount(stack.bitmap);
	stack.hops = origin + at + SHIM + HEAD;
	return hs_collect_take_stack(dialect, &stack, narrow, len - at - SHIM - HEAD, view);
}
