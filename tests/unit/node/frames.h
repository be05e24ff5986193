// SPDX-License-Identifier: BSD-3-Clause
// Random frames of every shape that a host may send, without telemetry options.
#pragma once

#include "bytes.h"
#include "rng.h"

#include <stdint.h>
#include <string.h>

#define FRAME_MAX 9022

struct frame {
	uint8_t bytes[FRAME_MAX + 64];
	size_t len;
};

static inline uint32_t frame_below(struct hs_rng *rng, uint32_t n)
{
	return hs_rng_u32(rng) % n;
}

static inline void frame_u8(struct frame *f, uint8_t v)
{
	f->bytes[f->len++] = v;
}

static inline void frame_be16(struct frame *f, uint16_t v)
{
	hs_be16_store(f->bytes + f->len, v);
	f->len += 2;
}

static inline void frame_random(struct frame *f, struct hs_rng *rng, size_t n)
{
	for (size_t i = 0; i < n; i++)
		frame_u8(f, (uint8_t)hs_rng_u32(rng));
}

// Options of a Hop-by-Hop or Destination header until its end, none of them telemetry.
static inline void frame_options(struct frame *f, struct hs_rng *rng, size_t end)
{
	static const uint8_t kinds[] = {0x05, 0xC2, 0x1E, 0x3E, 0x63, 0x0F};
	while (f->len < end) {
		size_t left = end - f->len;
		if (left == 1 || frame_below(rng, 6) == 0) {
			frame_u8(f, 0); // Pad1
			continue;
		}
		size_t body = frame_below(rng, (uint32_t)(left - 1));
		bool pad = frame_below(rng, 2);
		if (body > 20)
			body = 20;
		frame_u8(f, pad ? 1 : kinds[frame_below(rng, sizeof(kinds))]);
		frame_u8(f, (uint8_t)body);
		for (size_t i = 0; i < body; i++)
			frame_u8(f, pad ? 0 : (uint8_t)hs_rng_u32(rng));
	}
}

static inline void frame_ext(struct frame *f, struct hs_rng *rng, uint8_t kind, uint8_t next)
{
	size_t start = f->len;
	switch (kind) {
	case 44: // fragment: first, later or atomic
		frame_u8(f, next);
		frame_u8(f, 0);
		static const uint16_t offsets[] = {0x0001, 0x00B8, 0x0000};
		frame_be16(f, offsets[frame_below(rng, 3)]);
		frame_random(f, rng, 4);
		return;
	case 51: // authentication: length in words, less two
		frame_u8(f, next);
		frame_u8(f, 4);
		frame_random(f, rng, 22);
		return;
	default: {
		uint8_t units = (uint8_t)frame_below(rng, 5);
		frame_u8(f, next);
		frame_u8(f, units);
		if (kind == 43) {
			frame_u8(f, 0);
			frame_u8(f, 0);
			frame_random(f, rng, 4u + 8u * units);
		} else {
			frame_options(f, rng, start + 8u + 8u * units);
		}
	}
	}
}

static inline void frame_ethernet(struct frame *f, struct hs_rng *rng, uint16_t type)
{
	f->len = 0;
	frame_random(f, rng, 12);
	f->bytes[0] &= 0xfe;
	f->bytes[6] &= 0xfe;
	unsigned tags = frame_below(rng, 4);
	for (unsigned i = 0; i < tags && i < 2; i++) {
		frame_be16(f, i == 0 && tags == 2 ? 0x88a8 : 0x8100);
		frame_be16(f, (uint16_t)hs_rng_u32(rng));
	}
	frame_be16(f, type);
}

// `host` becomes the last two bytes of the source address, so that rules can be told apart.
static inline void frame_ipv6(struct frame *f, struct hs_rng *rng, uint16_t host, size_t payload)
{
	static const uint8_t l4s[] = {6, 17, 58, 6, 17, 58, 50, 59, 132};
	static const uint8_t exts[] = {0, 60, 43, 44, 51};
	uint8_t l4 = l4s[frame_below(rng, sizeof(l4s))];
	uint8_t chain[6];
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(exts) && n < 3; i++) {
		if (frame_below(rng, 5) == 0)
			chain[n++] = exts[i];
	}
	chain[n] = l4;
	frame_ethernet(f, rng, 0x86dd);
	size_t ip = f->len;
	frame_u8(f, 0x60);
	frame_random(f, rng, 3);
	frame_be16(f, 0);
	frame_u8(f, chain[0]);
	frame_u8(f, (uint8_t)(1 + frame_below(rng, 255)));
	memset(f->bytes + f->len, 0, 32);
	f->bytes[f->len] = 0x20;
	hs_be16_store(f->bytes + f->len + 14, host);
	f->bytes[f->len + 16] = 0x20;
	f->len += 32;
	for (unsigned i = 0; i < n; i++)
		frame_ext(f, rng, chain[i], chain[i + 1]);
	if (f->len + payload > FRAME_MAX)
		payload = FRAME_MAX - f->len;
	frame_random(f, rng, payload);
	hs_be16_store(f->bytes + ip + 4, (uint16_t)(f->len - ip - 40));
}

// Lengths that lie, in a few ways.
static inline void frame_damage(struct frame *f, struct hs_rng *rng)
{
	switch (frame_below(rng, 4)) {
	case 0:
		f->len = 1 + frame_below(rng, (uint32_t)f->len);
		return;
	case 1:
		f->bytes[18] = (uint8_t)hs_rng_u32(rng);
		return;
	case 2: // trailer behind the packet, as Ethernet's padding
		frame_random(f, rng, frame_below(rng, 46));
		return;
	default:
		f->bytes[54 + frame_below(rng, 8)] ^= (uint8_t)hs_rng_u32(rng);
		return;
	}
}

static inline void frame_make(struct frame *f, struct hs_rng *rng, uint16_t host)
{
	uint32_t kind = frame_below(rng, 100);
	size_t payload = 8 +
			 (frame_below(rng, 10) ? frame_below(rng, 1400) : frame_below(rng, 8950));

	if (kind < 90) {
		frame_ipv6(f, rng, host, payload);
		if (kind < 5)
			frame_damage(f, rng);
	} else {
		static const uint16_t types[] = {0x0800, 0x0806, 0x88cc, 0x9000, 0x0026};
		frame_ethernet(f, rng, types[frame_below(rng, 5)]);
		frame_random(f, rng, payload);
	}
}
