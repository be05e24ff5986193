// SPDX-License-Identifier: BSD-3-Clause
#include "bench_garbage.h"

#include "bytes.h"

#include <string.h>

#define HOP_BYTES 36

// ---- the report ----

static uint32_t unknown_version(uint8_t *bytes, uint32_t len, uint32_t i)
{
	bytes[0] = (uint8_t)(0xf0 | (i & 15));
	return len;
}

static uint32_t cut_header(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)bytes, (void)len;
	return 1 + i % 15;
}

static uint32_t length_beyond(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)len, (void)i;
	bytes[0] = 0x1f;
	return 44;
}

static uint32_t wrong_bits(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)i;
	hs_be16_store(bytes, (uint16_t)(hs_be16_load(bytes) | 0x1f));
	return len;
}

static uint32_t reserved_kind(uint8_t *bytes, uint32_t len, uint32_t i)
{
	bytes[1] = (uint8_t)(bytes[1] | (3 + i % 5) << 5);
	return len;
}

// ---- the packet ----

static uint32_t wrong_ip_header(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)i;
	bytes[HS_BENCH_INNER_IP] = 0x44;
	return len;
}

static uint32_t wrong_udp_length(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)i;
	bytes[HS_BENCH_INNER_UDP + 4] = 0xff;
	return len;
}

static uint32_t cut_ip(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)bytes, (void)len;
	return HS_BENCH_INNER_IP + i % 20;
}

static uint32_t cut_udp(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)bytes, (void)len;
	return HS_BENCH_INNER_UDP + 4 + i % 4;
}

// Makes the packet IPv6 with as many extension headers as fit.
static uint32_t extension_headers(uint8_t *bytes, uint32_t len, uint32_t i)
{
	uint8_t *ip = bytes + HS_BENCH_INNER_IP, *end = bytes + len;

	(void)i;
	hs_be16_store(ip - 2, 0x86dd);
	memset(ip, 0, (size_t)(end - ip));
	ip[0] = 0x60;
	hs_be16_store(ip + 4, (uint16_t)(end - ip - 40));
	for (uint8_t *next = ip + 6, *at = ip + 40; at + 8 <= end; next = at, at += 8)
		*next = 60; // destination options
	return len;
}

// ---- the stack ----

static uint32_t cut_shim(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)bytes, (void)len;
	return HS_BENCH_INNER_SHIM + i % 4;
}

static uint32_t cut_int_header(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)bytes, (void)len;
	return HS_BENCH_INNER_HEAD + i % 8;
}

static uint32_t cut_stack(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)bytes, (void)len, (void)i;
	return HS_BENCH_INNER_HOPS + 5 * HOP_BYTES + 32;
}

static uint32_t no_hop_length(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)i;
	bytes[HS_BENCH_INNER_HEAD + 2] = 0;
	return len;
}

static uint32_t odd_hop_length(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)i;
	bytes[HS_BENCH_INNER_HEAD + 2] = 11;
	return len;
}

static uint32_t short_hops(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)i;
	bytes[HS_BENCH_INNER_HEAD + 2] = 6; // 9 words in each of 9 hops do not go into 6
	return len;
}

static uint32_t short_shim(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)i;
	bytes[HS_BENCH_INNER_SHIM + 2] = 2;
	return len;
}

static uint32_t long_shim(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)i;
	bytes[HS_BENCH_INNER_SHIM + 2] = 0xff;
	return len;
}

static uint32_t nothing(uint8_t *bytes, uint32_t len, uint32_t i)
{
	(void)bytes, (void)i;
	return len;
}

const struct hs_bench_garbage hs_bench_garbage[] = {
		{"unknown version", HS_COLLECT_REFUSED_VERSION, unknown_version},
		{"cut header", HS_COLLECT_REFUSED_SHORT, cut_header},
		{"length beyond the datagram", HS_COLLECT_REFUSED_LENGTH, length_beyond},
		{"wrong bits", HS_COLLECT_REFUSED_BITS, wrong_bits},
		{"reserved kind", HS_COLLECT_REFUSED_KIND, reserved_kind},
		{"wrong IP header", HS_COLLECT_REFUSED_PACKET, wrong_ip_header},
		{"wrong UDP length", HS_COLLECT_REFUSED_STACK, wrong_udp_length},
		{"cut IP header", HS_COLLECT_REFUSALS, cut_ip},
		{"cut UDP header", HS_COLLECT_REFUSALS, cut_udp},
		{"extension headers", HS_COLLECT_REFUSED_PACKET, extension_headers},
		{"cut shim", HS_COLLECT_REFUSALS, cut_shim},
		{"cut INT header", HS_COLLECT_REFUSALS, cut_int_header},
		{"cut stack", HS_COLLECT_REFUSALS, cut_stack},
		{"no length of hops", HS_COLLECT_REFUSED_STACK, no_hop_length},
		{"odd length of hops", HS_COLLECT_REFUSED_STACK, odd_hop_length},
		{"short hops", HS_COLLECT_REFUSED_STACK, short_hops},
		{"short shim", HS_COLLECT_REFUSED_STACK, short_shim},
		{"long shim", HS_COLLECT_REFUSED_STACK, long_shim},
		{"no room for its flow", HS_COLLECT_REFUSALS, nothing, true},
};
const size_t hs_bench_n_garbage = sizeof(hs_bench_garbage) / sizeof(hs_bench_garbage[0]);
