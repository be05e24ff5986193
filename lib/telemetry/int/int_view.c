// SPDX-License-Identifier: BSD-3-Clause
#include "int_wire.h"

bool hs_int_has(const struct hs_int_view *view, size_t at, size_t n)
{
	if (at > view->end || n > view->end - at)
		return false;
	if (at + n > view->len) {
		view->packet->flags |= HS_PACKET_SHORT;
		return false;
	}
	return true;
}

bool hs_int_read_head(struct hs_int_view *view, unsigned type, size_t at, size_t bytes)
{
	unsigned version = view->settings->version;
	struct hs_packet *packet = view->packet;

	if (!hs_int_has(view, at, bytes))
		return false;
	const uint8_t *head = view->frame + at;
	if (!hs_int_is_well_formed(version, type, head, bytes))
		return false;
	if (type == HS_INT_TYPE_DESTINATION)
		return true;
	if (packet->trace_off) // there may be only one such header
		return false;
	packet->trace_off = (uint16_t)at;
	packet->trace_type = (uint32_t)hs_be16_load(head + HEAD_BITMAP) << 16 |
			     (type == HS_INT_TYPE_MX ? HS_INT_TRACE_MX : 0) |
			     (uint32_t)(bytes - hs_int_head_bytes(version)) / 4;
	if (version == HS_INT_2_1)
		packet->ns_id = hs_be32_load(head + HEAD_DOMAIN);
	return true;
}

size_t hs_int_pass_l4(struct hs_int_view *view)
{
	size_t at = view->l4.off;
	const uint8_t *header = view->frame + at;

	if (view->l4.proto == HS_IP_TCP) {
		if (!hs_int_has(view, at, TCP_BYTES))
			return 0;
		size_t bytes = 4u * (header[TCP_OFFSET] >> 4);
		return bytes >= TCP_BYTES && hs_int_has(view, at, bytes) ? at + bytes : 0;
	}
	if (view->l4.proto != HS_IP_UDP || !hs_int_has(view, at, UDP_BYTES))
		return 0;
	size_t length = hs_be16_load(header + UDP_LENGTH);
	if (length < UDP_BYTES || length > view->end - at)
		return 0;
	view->end = at + length;
	return at + UDP_BYTES;
}
