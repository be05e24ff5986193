// SPDX-License-Identifier: BSD-3-Clause
// Packets of probes, built without lib/telemetry: headers by hand, checksums byte by byte.
#pragma once

#include "hex.h"

#include <stdbool.h>

enum {
	PROBE_L3 = 14,
	PROBE_L4 = 34,
	PROBE_PAYLOAD = 42,
	PROBE_ROOM = 9600,
};

struct probe_bytes {
	uint8_t at[PROBE_ROOM];
	size_t len;
};

static inline uint32_t probe_sum(uint32_t sum, const uint8_t *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static inline void probe_put16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

// Lengths and checksums anew, of a header without options.
static inline void probe_mend(struct probe_bytes *bytes)
{
	uint8_t *ip = bytes->at + PROBE_L3, *udp = bytes->at + PROBE_L4;
	size_t n = bytes->len - PROBE_L4;

	probe_put16(ip + 2, bytes->len - PROBE_L3);
	probe_put16(udp + 4, n);
	probe_put16(ip + 10, 0);
	probe_put16(ip + 10, ~probe_sum(0, ip, 20) & 0xffff);
	probe_put16(udp + 6, 0);
	probe_put16(udp + 6,
			~probe_sum(17 + (uint32_t)n + probe_sum(0, ip + 12, 8), udp, n) & 0xffff);
}

// Hexadecimal digits, with spaces between bytes. Returns how many bytes.
static inline size_t probe_unhex(const char *hex, uint8_t *bytes)
{
	size_t n = 0;

	for (; *hex; hex += 2) {
		hex += strspn(hex, " ");
		if (*hex)
			n += unhex((const char[]){hex[0], hex[1], '\0'}, bytes + n);
	}
	return n;
}

// A packet with the payload in hex. `back`: as feedback, with Ethernet's addresses exchanged.
static inline struct probe_bytes probe_made(unsigned dscp, const char *payload, bool back)
{
	struct probe_bytes bytes;

	bytes.len = unhex("0200000000020200000000010800"
			  "450000000001000040110000"
			  "0a0000640a000001"
			  "9c401e6100000000",
			bytes.at);
	if (back)
		unhex("020000000001020000000002", bytes.at);
	bytes.at[PROBE_L3 + 1] = (uint8_t)(dscp << 2);
	bytes.len += probe_unhex(payload, bytes.at + bytes.len);
	probe_mend(&bytes);
	return bytes;
}
