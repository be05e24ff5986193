// SPDX-License-Identifier: BSD-3-Clause
// Moves the front of a frame, at least 16 bytes, by wide loads and stores. Every byte is read
// before it is overwritten.
//
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Moves the front to a lower address. `to` may also be any place that does not overlap `from`.
static inline void hs_front_move_down(uint8_t *to, const uint8_t *from, size_t bytes)
{
	typedef uint64_t vector __attribute__((vector_size(16)));
	vector v, tail;

	memcpy(&tail, from + bytes - 16, 16);
	for (size_t i = 0; i + 16 < bytes; i += 16) {
		memcpy(&v, from + i, 16);
		memcpy(to + i, &v, 16);
	}
	memcpy(to + bytes - 16, &tail, 16);
}

// Moves the front to a higher address.
static inline void hs_front_move_up(uint8_t *to, const uint8_t *from, size_t bytes)
{
	typedef uint64_t vector __attribute__((vector_size(16)));
	vector v, head;

	memcpy(&head, from, 16);
	for (size_t i = bytes; i > 16; i -= 16) {
		memcpy(&v, from + i - 16, 16);
		memcpy(to + i - 16, &v, 16);
	}
	memcpy(to, &head, 16);
}
