// SPDX-License-Identifier: BSD-3-Clause
#include "bus_frames.h"

#include <string.h>

#define LONG	  0x02 // flag: the size has eight bytes
#define VERSION	  10   // place of the major version in the greeting
#define SIGNATURE 0xff

void hs_bus_frames_init(struct hs_bus_frames *frames, bool keys)
{
	*frames = (struct hs_bus_frames){
			.small_bytes = HS_BUS_SMALL_BYTES + (keys ? HS_BUS_CURVE_BYTES : 0)};
}

static size_t smaller(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

static size_t take_greeting(struct hs_bus_frames *f, const uint8_t *bytes, size_t len)
{
	size_t n = smaller(HS_BUS_GREETING_BYTES - f->greeting, len);

	if (f->greeting == 0)
		f->old |= bytes[0] != SIGNATURE;
	if (f->greeting <= VERSION && f->greeting + n > VERSION)
		f->old |= bytes[VERSION - f->greeting] < 3;
	f->greeting += (unsigned)n;
	return n;
}

static void begin_frame(struct hs_bus_frames *f)
{
	f->content = 0;
	for (unsigned i = 1; i < f->size; i++)
		f->content = f->content << 8 | f->header[i];
	f->left = f->content;
	f->frames++;
	f->small += f->content <= f->small_bytes;
	f->weight += HS_BUS_FRAME_WEIGHT;
}

static void end_frame(struct hs_bus_frames *f)
{
	f->ended++;
	f->n_header = 0;
}

static size_t take_header(struct hs_bus_frames *f, const uint8_t *bytes, size_t len)
{
	if (f->n_header == 0)
		f->size = bytes[0] & LONG ? 9 : 2;
	size_t n = smaller(f->size - f->n_header, len);
	memcpy(f->header + f->n_header, bytes, n);
	f->n_header += (unsigned)n;
	if (f->n_header == f->size) {
		begin_frame(f);
		if (f->left == 0)
			end_frame(f);
	}
	return n;
}

static size_t take_content(struct hs_bus_frames *f, const uint8_t *bytes, size_t len)
{
	size_t n = smaller(f->left, len);
	uint64_t at = f->content - f->left;

	for (size_t i = 0; i < n && at + i < HS_BUS_LEAD_BYTES; i++)
		f->lead[at + i] = bytes[i];
	if (f->content > f->small_bytes)
		f->weight += n;
	f->left -= n;
	if (f->left == 0)
		end_frame(f);
	return n;
}

size_t hs_bus_frames_feed(struct hs_bus_frames *f, const uint8_t *bytes, size_t len, uint64_t stop)
{
	size_t at = 0;

	while (at < len && f->ended < stop && !f->old) {
		if (f->greeting < HS_BUS_GREETING_BYTES)
			at += take_greeting(f, bytes + at, len - at);
		else if (f->n_header == 0 || f->n_header < f->size)
			at += take_header(f, bytes + at, len - at);
		else
			at += take_content(f, bytes + at, len - at);
	}
	return at;
}
