// SPDX-License-Identifier: BSD-3-Clause
// Big-endian integers at any alignment, and bounded reading of bytes that a peer chose.
//
// Thread rule: any; this module has no state of its own.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t hs_be16_load(const void *from)
{
	uint16_t v;
	memcpy(&v, from, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t hs_be32_load(const void *from)
{
	uint32_t v;
	memcpy(&v, from, sizeof(v));
	return __builtin_bswap32(v);
}

static inline uint64_t hs_be64_load(const void *from)
{
	uint64_t v;
	memcpy(&v, from, sizeof(v));
	return __builtin_bswap64(v);
}

static inline void hs_be16_store(void *to, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(to, &v, sizeof(v));
}

static inline void hs_be32_store(void *to, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(to, &v, sizeof(v));
}

static inline void hs_be64_store(void *to, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(to, &v, sizeof(v));
}

// A reading position that never passes its end. A read that does not fit sets `failed`, returns
// zero (or NULL) and does not move the position. The caller tests `failed` once per header.
struct hs_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline struct hs_reader hs_reader_over(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	return (struct hs_reader){.at = at, .end = at + len, .failed = false};
}

static inline size_t hs_reader_left(const struct hs_reader *r)
{
	return (size_t)(r->end - r->at);
}

// Returns the next n bytes in place, or NULL with the failure bit set.
static inline const uint8_t *hs_reader_take(struct hs_reader *r, size_t n)
{
	if (r->failed || hs_reader_left(r) < n) {
		r->failed = true;
		return NULL;
	}
	const uint8_t *bytes = r->at;
	r->at += n;
	return bytes;
}

static inline uint16_t hs_reader_be16(struct hs_reader *r)
{
	const uint8_t *b = hs_reader_take(r, 2);
	return b ? hs_be16_load(b) : (uint16_t)0;
}

static inline uint32_t hs_reader_be32(struct hs_reader *r)
{
	const uint8_t *b = hs_reader_take(r, 4);
	return b ? hs_be32_load(b) : 0;
}
