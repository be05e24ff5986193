// SPDX-License-Identifier: BSD-3-Clause
// Byte order as a type, and bounded reading and writing of bytes that a peer chose.
//
// Thread rule: any; nothing here has state of its own.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Big-endian integers as they lie on the wire. Structs, so that mixing them with host integers
// does not compile; byte arrays, so that they need no alignment.
struct hs_be16 {
	uint8_t b[2];
};
struct hs_be32 {
	uint8_t b[4];
};
struct hs_be64 {
	uint8_t b[8];
};

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

static inline uint16_t hs_be16_get(struct hs_be16 v)
{
	return hs_be16_load(v.b);
}

static inline uint32_t hs_be32_get(struct hs_be32 v)
{
	return hs_be32_load(v.b);
}

static inline uint64_t hs_be64_get(struct hs_be64 v)
{
	return hs_be64_load(v.b);
}

static inline struct hs_be16 hs_be16_of(uint16_t v)
{
	struct hs_be16 be;
	hs_be16_store(be.b, v);
	return be;
}

static inline struct hs_be32 hs_be32_of(uint32_t v)
{
	struct hs_be32 be;
	hs_be32_store(be.b, v);
	return be;
}

static inline struct hs_be64 hs_be64_of(uint64_t v)
{
	struct hs_be64 be;
	hs_be64_store(be.b, v);
	return be;
}

// A reading position that never passes its end. A read that does not fit sets `failed`, returns
// zero (or NULL) and moves nothing; the caller tests `failed` once per header.
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

// The next n bytes in place, or NULL with the failure bit set.
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

static inline uint8_t hs_reader_u8(struct hs_reader *r)
{
	const uint8_t *b = hs_reader_take(r, 1);
	return b ? b[0] : 0;
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

static inline uint64_t hs_reader_be64(struct hs_reader *r)
{
	const uint8_t *b = hs_reader_take(r, 8);
	return b ? hs_be64_load(b) : 0;
}

// A writing position that never passes its end; same failure rule as the reader.
struct hs_writer {
	uint8_t *at;
	uint8_t *end;
	bool failed;
};

static inline struct hs_writer hs_writer_over(void *bytes, size_t len)
{
	uint8_t *at = bytes;
	return (struct hs_writer){.at = at, .end = at + len, .failed = false};
}

static inline uint8_t *hs_writer_take(struct hs_writer *w, size_t n)
{
	if (w->failed || (size_t)(w->end - w->at) < n) {
		w->failed = true;
		return NULL;
	}
	uint8_t *bytes = w->at;
	w->at += n;
	return bytes;
}

static inline void hs_writer_u8(struct hs_writer *w, uint8_t v)
{
	uint8_t *b = hs_writer_take(w, 1);
	if (b)
		b[0] = v;
}

static inline void hs_writer_be16(struct hs_writer *w, uint16_t v)
{
	uint8_t *b = hs_writer_take(w, 2);
	if (b)
		hs_be16_store(b, v);
}

static inline void hs_writer_be32(struct hs_writer *w, uint32_t v)
{
	uint8_t *b = hs_writer_take(w, 4);
	if (b)
		hs_be32_store(b, v);
}

static inline void hs_writer_be64(struct hs_writer *w, uint64_t v)
{
	uint8_t *b = hs_writer_take(w, 8);
	if (b)
		hs_be64_store(b, v);
}
