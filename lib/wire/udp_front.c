// SPDX-License-Identifier: BSD-3-Clause
#include "udp_front.h"

#include "bytes.h"
#include "ip.h"

#include <string.h>

enum {
	DF = 0x4000, // of IPv4
	UDP_BYTES = 8,
	UDP_DST = 2,
	UDP_LENGTH = 4,
	UDP_CHECKSUM = 6,
};

// Eight bytes at once, in the order of this machine: swapped, the sum is that of network order
// (RFC 1071 section 2).
uint32_t hs_udp_front_sum(const uint8_t *at, size_t bytes)
{
	uint64_t sum = 0, v;
	uint8_t two[2];

	for (; bytes >= 8; at += 8, bytes -= 8) {
		memcpy(&v, at, 8);
		sum += v;
		sum += sum < v;
	}
	if (bytes) {
		v = 0;
		memcpy(&v, at, bytes);
		sum += v;
		sum += sum < v;
	}
	sum = (sum >> 32) + (sum & UINT32_MAX);
	sum = (sum >> 32) + (sum & UINT32_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	uint16_t native = (uint16_t)((sum >> 16) + (sum & UINT16_MAX));
	memcpy(two, &native, 2);
	return hs_be16_load(two);
}

static uint16_t checksum_of(uint32_t sum)
{
	sum = (sum >> 16) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	return (uint16_t)~sum;
}

static void init_ipv4(struct hs_udp_front *front, const struct hs_udp_front_settings *settings)
{
	uint8_t *ip = front->bytes + HS_ETHER_BYTES;
	hs_be16_store(front->bytes + HS_ETHER_TYPE, HS_ETHERTYPE_IPV4);
	ip[0] = 0x45;
	ip[1] = (uint8_t)(settings->dscp << 2);
	hs_be16_store(ip + HS_IPV4_FRAGMENT, DF);
	ip[HS_IPV4_TTL] = settings->hop_limit;
	ip[HS_IPV4_PROTOCOL] = HS_IP_UDP;
	memcpy(ip + HS_IPV4_SRC, settings->src_ip, 4);
	memcpy(ip + HS_IPV4_SRC + 4, settings->dst_ip, 4);
	front->ip_sum = hs_udp_front_sum(ip, HS_IPV4_BYTES);
	front->udp_sum = hs_udp_front_sum(ip + HS_IPV4_SRC, 8);
	front->len = HS_ETHER_BYTES + HS_IPV4_BYTES + UDP_BYTES;
}

static void init_ipv6(struct hs_udp_front *front, const struct hs_udp_front_settings *settings)
{
	uint8_t *ip = front->bytes + HS_ETHER_BYTES;
	hs_be16_store(front->bytes + HS_ETHER_TYPE, HS_ETHERTYPE_IPV6);
	hs_be32_store(ip, 6u << 28 | (uint32_t)settings->dscp << 22);
	ip[HS_IPV6_NEXT] = HS_IP_UDP;
	ip[HS_IPV6_HOPS] = settings->hop_limit;
	memcpy(ip + HS_IPV6_SRC, settings->src_ip, 16);
	memcpy(ip + HS_IPV6_SRC + 16, settings->dst_ip, 16);
	front->udp_sum = hs_udp_front_sum(ip + HS_IPV6_SRC, 32);
	front->len = HS_ETHER_BYTES + HS_IPV6_BYTES + UDP_BYTES;
}

void hs_udp_front_init(struct hs_udp_front *front, const struct hs_udp_front_settings *settings)
{
	*front = (struct hs_udp_front){.ipv6 = settings->ipv6,
			.checksum = settings->ipv6 || settings->ipv4_checksum};
	memcpy(front->bytes, settings->dst_mac, 6);
	memcpy(front->bytes + 6, settings->src_mac, 6);
	if (settings->ipv6)
		init_ipv6(front, settings);
	else
		init_ipv4(front, settings);
	hs_be16_store(front->bytes + front->len - UDP_BYTES + UDP_DST, settings->dst_port);
	front->udp_sum += HS_IP_UDP + settings->dst_port;
}

void hs_udp_front_begin(const struct hs_udp_front *front, uint8_t *frame, size_t payload_bytes,
		uint16_t src_port)
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
		hs_be16_store(ip + HS_IPV4_CHECKSUM, checksum_of(front->ip_sum + ip_bytes));
	}
	hs_be16_store(udp, src_port);
	hs_be16_store(udp + UDP_LENGTH, udp_bytes);
}

void hs_udp_front_end(const struct hs_udp_front *front, uint8_t *frame, size_t payload_bytes,
		uint16_t src_port, uint32_t payload_sum)
{
	uint8_t *udp = frame + front->len - UDP_BYTES;

	if (!front->checksum)
		return;
	// The length counts twice: in the header and in the pseudo header.
	uint16_t checksum = checksum_of(front->udp_sum + src_port +
					2u * (uint16_t)(UDP_BYTES + payload_bytes) + payload_sum);
	hs_be16_store(udp + UDP_CHECKSUM, checksum ? checksum : UINT16_MAX);
}

void hs_udp_front_write(const struct hs_udp_front *front, uint8_t *frame, size_t payload_bytes,
		uint16_t src_port)
{
	hs_udp_front_begin(front, frame, payload_bytes, src_port);
	if (front->checksum)
		hs_udp_front_end(front, frame, payload_bytes, src_port,
				hs_udp_front_sum(frame + front->len, payload_bytes));
}
