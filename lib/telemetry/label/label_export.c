// SPDX-License-Identifier: BSD-3-Clause
#include "label_export.h"

#include "bytes.h"
#include "ip.h"

#include <errno.h>
#include <string.h>

enum {
	SPECIFIC = 0x80,
	IPV6 = 0x40,
	BEHIND_ADDRESSES = 8, // ports, protocol, number, flags, 0
};

// Returns the protocol of the packet as the host sent it.
static uint8_t protocol_of(const uint8_t *frame, const struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;

	if (packet->flags & HS_PACKET_FLOW)
		return packet->l4_proto;
	if (packet->flags & HS_PACKET_IPV4) // a protocol that the parser does not know
		return packet->trace_off ? frame[packet->trace_off] : ip[HS_IPV4_PROTOCOL];
	return packet->hbh_bytes ? ip[HS_IPV6_BYTES] : ip[HS_IPV6_NEXT];
}

void hs_label_export_of(const struct hs_label_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet, struct hs_label_export *out)
{
	struct hs_label_stack stack = {.n_items = 0};
	const uint8_t *ip = frame + packet->l3_off;

	if (packet->flags & HS_PACKET_TELEMETRY)
		stack = hs_label_stack_of(settings, frame, packet);
	*out = (struct hs_label_export){
			.ipv6 = packet->flags & HS_PACKET_IPV6,
			.src_port = packet->src_port,
			.dst_port = packet->dst_port,
			.proto = protocol_of(frame, packet),
			.specific = stack.specific,
			.n_items = stack.n_items,
			.items = stack.items,
	};
	size_t n = out->ipv6 ? 16 : 4;
	const uint8_t *addresses = ip + (out->ipv6 ? HS_IPV6_SRC : HS_IPV4_SRC);
	memcpy(out->src_ip, addresses, n);
	memcpy(out->dst_ip, addresses + n, n);
}

void hs_label_export_write(const struct hs_label_export *export, uint8_t *payload)
{
	size_t n = export->ipv6 ? 16 : 4;
	uint8_t *at = payload + 2 * n;

	memcpy(payload, export->src_ip, n);
	memcpy(payload + n, export->dst_ip, n);
	hs_be16_store(at, export->src_port);
	hs_be16_store(at + 2, export->dst_port);
	at[4] = export->proto;
	at[5] = export->n_items;
	at[6] = (uint8_t)((export->specific ? SPECIFIC : 0) | (export->ipv6 ? IPV6 : 0));
	at[7] = 0;
	memcpy(at + BEHIND_ADDRESSES, export->items, (size_t)HS_LABEL_ITEM_BYTES * export->n_items);
}

int hs_label_export_read(const uint8_t *payload, size_t len, struct hs_label_export *out)
{
	struct hs_reader in = hs_reader_over(payload, len);
	bool ipv6 = len % HS_LABEL_ITEM_BYTES ==
		    HS_LABEL_EXPORT_HEAD_BYTES(true) % HS_LABEL_ITEM_BYTES;
	size_t n = ipv6 ? 16 : 4;
	const uint8_t *addresses = hs_reader_take(&in, 2 * n);
	const uint8_t *at = hs_reader_take(&in, BEHIND_ADDRESSES);

	if (!at || hs_reader_left(&in) != (size_t)HS_LABEL_ITEM_BYTES * at[5])
		return -EMSGSIZE;
	if (at[7] || (at[6] & ~SPECIFIC) != (ipv6 ? IPV6 : 0))
		return -EBADMSG;
	*out = (struct hs_label_export){
			.ipv6 = ipv6,
			.src_port = hs_be16_load(at),
			.dst_port = hs_be16_load(at + 2),
			.proto = at[4],
			.specific = at[6] & SPECIFIC,
			.n_items = at[5],
			.items = in.at,
	};
	memcpy(out->src_ip, addresses, n);
	memcpy(out->dst_ip, addresses + n, n);
	return 0;
}
