// SPDX-License-Identifier: BSD-3-Clause
// Writes CBOR into a caller's bytes, with definite lengths and each number in its shortest form. A
// value that does not fit sets `failed` and stops the writing. The caller tests `failed` once, at
// the end.
//
// Source: RFC 8949 section 4.2.1. Thread rule: any; pure functions, no allocation.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_cbor_writer {
	uint8_t *at;
	size_t left;
	bool failed;
};

static inline struct hs_cbor_writer hs_cbor_writer_over(uint8_t *bytes, size_t size)
{
	return (struct hs_cbor_writer){bytes, size, false};
}

void hs_cbor_put_map(struct hs_cbor_writer *writer, size_t pairs);
void hs_cbor_put_array(struct hs_cbor_writer *writer, size_t items);
void hs_cbor_put_unsigned(struct hs_cbor_writer *writer, uint64_t value);
void hs_cbor_put_bool(struct hs_cbor_writer *writer, bool value);
// Writes a half, single or double: the shortest that is exact.
void hs_cbor_put_real(struct hs_cbor_writer *writer, double value);
void hs_cbor_put_text(struct hs_cbor_writer *writer, const char *text);
