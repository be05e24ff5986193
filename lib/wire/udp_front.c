// SPDX-License-Identifier: BSD-3-Clause
#include "udp_front.h"

#include "bytes.h"
#include "ip.h"
#include "ip_header.h"

#include <string.h>

enum {
	UDP_BYTES = 8,
	UDP_DST = 2,
	UDP_LENGTH = 4,
	UDP_CHECKSUM = 6,
};

void hs_udp_front_init(struct hs_udp_front *front, const struct hs_udp_front_settings *settings)
{
	const struct hs_ip_header header = {.ipv4 = !settings->ipv6,
			.protocol = HS_IP_UDP,
			.dscp = settings->dscp,
			.hop_limit = settings->hop_limit,
			.src = settings->src_ip,
			.dst = settings->dst_ip};
	const size_t addresses = settings->ipv6 ? 32 : 8;
	uint8_t *ip = front->bytes + HS_ETHER_BYTES;

	*front = (struct hs_udp_front){.ipv6 = settings->ipv6,
			.checksum = settings->ipv6 || settings->ipv4_checksum};
	memcpy(front->bytes, settings->dst_mac, 6);
	memcpy(front->bytes + 6, settings->src_mac, 6);
	uint32_t end = hs_ip_header_write(&header, front->bytes);
	// The lengths are set for each datagram.
	if (!settings->ipv6) {
		hs_be16_store(ip + HS_IPV4_TOTAL, 0);
		hs_be16_store(ip + HS_IPV4_CHECKSUM, 0);
		front->ip_sum = hs_ip_sum(ip, HS_IPV4_BYTES);
	}
	front->len = (uint8_t)(end + UDP_BYTES);
	hs_be16_store(front->bytes + end + UDP_DST, settings->dst_port);
	front->udp_sum = hs_ip_sum(front->bytes + end - addresses, addresses) + HS_IP_UDP +
			 settings->dst_port;
}

void hs_udp_front_write_headers(const struct hs_udp_front *front, uint8_t *frame,
		size_t payload_bytes, uint16_t src_port)
{
	uint8_t *ip = frame + HS_ETHER_BYTES;
	uint8_t *udp = frame + front->len - UDP_BYTES;
	uint16_t udp_bytes = (uint16_t)(UDP_BYTES + payload_bytes);

	if (!front->len)
		return;
	memcpy(frame, front->bytes, front->len);
	if (front->ipv6) {
		hs_be16_store(ip + HS_IPV6_PAYLOAD, udp_bytes);
	} else {
		uint16_t ip_bytes = (uint16_t)(HS_IPV4_BYTES + udp_bytes);
		hs_be16_store(ip + HS_IPV4_TOTAL, ip_bytes);
		hs_be16_store(ip + HS_IPV4_CHECKSUM, hs_ip_checksum(front->ip_sum + ip_bytes));
	}
	hs_be16_store(udp, src_port);
	hs_be16_store(udp + UDP_LENGTH, udp_bytes);
}

void hs_udp_front_write_checksum(const struct hs_udp_front *front, uint8_t *frame,
		size_t payload_bytes, uint16_t src_port, uint32_t payload_sum)
{
	uint8_t *udp = frame + front->len - UDP_BYTES;

	if (!front->checksum)
		return;
	// The length counts twice: in the header and in the pseudo header.
	uint16_t checksum =
			hs_ip_checksum(front->udp_sum + src_port +
					2u * (uint16_t)(UDP_BYTES + payload_bytes) + payload_sum);
	hs_be16_store(udp + UDP_CHECKSUM, checksum ? checksum : UINT16_MAX);
}

void hs_udp_front_write(const struct hs_udp_front *front, uint8_t *frame, size_t payload_bytes,
		uint16_t src_port)
{
	hs_udp_front_write_headers(front, frame, payload_bytes, src_port);
	if (front->checksum)
		hs_udp_front_write_checksum(front, frame, payload_bytes, src_port,
				hs_ip_sum(frame + front->len, payload_bytes));
}
