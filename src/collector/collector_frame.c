// SPDX-License-Identifier: BSD-3-Clause
#include "collector_frame.h"

#include "bytes.h"
#include "ip.h"
#include "packet_fast.h"

#include <string.h>

#define UDP_BYTES  8
#define UDP_LENGTH 4
#define NOT_WHOLE  (HS_PACKET_MALFORMED | HS_PACKET_SHORT)

static void read_source(const uint8_t *ip, struct hs_collect_datagram *datagram)
{
	memset(datagram->address, 0, sizeof(datagram->address));
	if (datagram->is_ipv4)
		memcpy(datagram->address, ip + HS_IPV4_SRC, 4);
	else
		memcpy(datagram->address, ip + HS_IPV6_SRC, 16);
}

enum hs_collector_frame hs_collector_frame_read(const uint8_t *frame, size_t len, uint16_t udp_port,
		struct hs_collect_datagram *datagram)
{
	struct hs_packet packet;

	if (!hs_packet_parse_fast_ipv4(frame, len, len, &packet))
		hs_packet_parse(frame, len, len, NULL, &packet);
	if (packet.flags & NOT_WHOLE)
		return HS_COLLECTOR_FRAME_MALFORMED;
	if (packet.flags & (HS_PACKET_FRAGMENT | HS_PACKET_LATER))
		return HS_COLLECTOR_FRAME_FRAGMENT;
	if (!(packet.flags & HS_PACKET_FLOW) || packet.l4_proto != HS_IP_UDP ||
			packet.dst_port != udp_port)
		return HS_COLLECTOR_FRAME_OTHER;

	const uint8_t *udp = frame + packet.l4_off;
	size_t left = packet.l3_off + packet.l3_bytes - packet.l4_off;
	size_t bytes = left < UDP_BYTES ? 0 : hs_be16_load(udp + UDP_LENGTH);
	if (bytes < UDP_BYTES || bytes > left)
		return HS_COLLECTOR_FRAME_MALFORMED;
	datagram->bytes = udp + UDP_BYTES;
	datagram->len = (uint32_t)(bytes - UDP_BYTES);
	datagram->is_ipv4 = packet.flags & HS_PACKET_IPV4;
	read_source(frame + packet.l3_off, datagram);
	return HS_COLLECTOR_FRAME_DATAGRAM;
}

static void keep(struct hs_collector_frame_like *last, const uint8_t *frame, uint32_t len,
		const struct hs_collect_datagram *datagram)
{
	bool is_plain = datagram->is_ipv4 && datagram->bytes == frame + HS_COLLECTOR_FRAME_PAYLOAD;

	if (!is_plain || len < sizeof(last->head))
		return;
	last->frame_bytes = len;
	memcpy(last->head, frame, sizeof(last->head));
	last->datagram = *datagram;
}

enum hs_collector_frame hs_collector_frame_read_anew(struct hs_collector_frame_like *last,
		const uint8_t *frame, uint32_t len, uint16_t udp_port,
		struct hs_collect_datagram *datagram)
{
	enum hs_collector_frame kind = hs_collector_frame_read(frame, len, udp_port, datagram);

	datagram->listener = last->datagram.listener;
	if (kind == HS_COLLECTOR_FRAME_DATAGRAM)
		keep(last, frame, len, datagram);
	return kind;
}
