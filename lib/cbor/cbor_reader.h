// SPDX-License-Identifier: BSD-3-Clause
// Reads a peer's CBOR item by item. libcbor's tree builder allocates what a length field asks for;
// its streaming decoder allocates nothing. Indefinite lengths are refused.
//
// Source: RFC 8949. Thread rule: any; pure functions without allocation, whatever a peer sends.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_CBOR_MAX_DEPTH 8 // of skipped items

enum hs_cbor_type {
	HS_CBOR_UNSIGNED, // number
	HS_CBOR_NEGATIVE, // number: the magnitude
	HS_CBOR_TEXT,	  // bytes, len
	HS_CBOR_BYTES,	  // bytes, len
	HS_CBOR_BOOL,	  // boolean
	HS_CBOR_REAL,	  // real
	HS_CBOR_OTHER,	  // null and the like
	HS_CBOR_MAP,	  // number of pairs that follow
	HS_CBOR_ARRAY,	  // number of items that follow
	HS_CBOR_TAG,	  // one item follows
};

struct hs_cbor_item {
	enum hs_cbor_type type;
	bool boolean;
	uint64_t number;
	double real;
	const uint8_t *bytes; // in the input, not terminated
	size_t len;
};

struct hs_cbor_reader {
	const uint8_t *at;
	size_t left;
	const char *noun;     // the name of the input for messages: "request"
	const char *expected; // for hs_error.expected
	struct hs_error *err; // may be NULL
};

static inline struct hs_cbor_reader hs_cbor_reader_over(const uint8_t *bytes, size_t len,
		const char *noun, const char *expected, struct hs_error *err)
{
	return (struct hs_cbor_reader){bytes, len, noun, expected, err};
}

// Fills the error not_cbor with "the <noun> <what>" and returns -EINVAL.
int hs_cbor_fail(const struct hs_cbor_reader *reader, const char *what);

// Reads the next item. Returns 0, or -EINVAL with the error not_cbor. A map or array is accepted
// only if its items could fit into the remaining bytes (each takes at least one byte).
int hs_cbor_next(struct hs_cbor_reader *reader, struct hs_cbor_item *item);

// Skips everything below an item that was just read. Returns 0, or -EINVAL with the error not_cbor.
int hs_cbor_skip(struct hs_cbor_reader *reader, const struct hs_cbor_item *item);

// Checks that nothing follows. Returns 0, or -EINVAL with the error not_cbor.
int hs_cbor_end(const struct hs_cbor_reader *reader);
