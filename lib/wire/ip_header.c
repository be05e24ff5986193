// SPDX-License-Identifier: BSD-3-Clause
#include "ip_header.h"

#include "bytes.h"
#include "ip.h"
#include "ip_sum.h"

#include <string.h>

#define DF 0x4000

uint32_t hs_ip_sum(const uint8_t *at, size_t bytes)
{
	uint32_t sum = hs_ip_sum_even(at, bytes);

	return bytes % 2 ? sum + ((uint32_t)at[bytes - 1] << 8) : sum;
}

static uint32_t write_ipv4(const struct hs_ip_header *header, uint8_t *ip)
{
	memset(ip, 0, HS_IPV4_BYTES);
	ip[0] = 0x45;
	ip[1] = (uint8_t)(header->dscp << 2);
	hs_be16_store(ip + HS_IPV4_TOTAL, (uint16_t)(HS_IPV4_BYTES + header->bytes));
	hs_be16_store(ip + HS_IPV4_FRAGMENT, DF);
	ip[HS_IPV4_TTL] = header->hop_limit;
	ip[HS_IPV4_PROTOCOL] = header->protocol;
	memcpy(ip + HS_IPV4_SRC, header->src, 4);
	memcpy(ip + HS_IPV4_SRC + 4, header->dst, 4);
	hs_be16_store(ip + HS_IPV4_CHECKSUM, hs_ip_checksum(hs_ip_sum(ip, HS_IPV4_BYTES)));
	return HS_IPV4_BYTES;
}

static uint32_t write_ipv6(const struct hs_ip_header *header, uint8_t *ip)
{
	hs_be32_store(ip, 6u << 28 | (uint32_t)header->dscp << 22);
	hs_be16_store(ip + HS_IPV6_PAYLOAD, header->bytes);
	ip[HS_IPV6_NEXT] = header->protocol;
	ip[HS_IPV6_HOPS] = header->hop_limit;
	memcpy(ip + HS_IPV6_SRC, header->src, 16);
	memcpy(ip + HS_IPV6_SRC + 16, header->dst, 16);
	return HS_IPV6_BYTES;
}

uint32_t hs_ip_header_write(const struct hs_ip_header *header, uint8_t *frame)
{
	hs_be16_store(frame + HS_ETHER_TYPE, header->ipv4 ? HS_ETHERTYPE_IPV4 : HS_ETHERTYPE_IPV6);
	return HS_ETHER_BYTES +
	       (header->ipv4 ? write_ipv4 : write_ipv6)(header, frame + HS_ETHER_BYTES);
}
