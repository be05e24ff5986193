// SPDX-License-Identifier: BSD-3-Clause
// Stores a scalar of any format in a member of a struct, and loads it from there.
//
// Thread rule: any; values.
#pragma once

#include "schema_table.h"

// A scalar in no format: what a codec read, or is to write.
enum hs_schema_type {
	HS_SCHEMA_IS_INTEGER,
	HS_SCHEMA_IS_REAL,
	HS_SCHEMA_IS_TEXT,
	HS_SCHEMA_IS_BOOL,
	HS_SCHEMA_IS_OTHER, // to write: left out
};

struct hs_schema_value {
	enum hs_schema_type type;
	bool negative;	    // of an integer
	uint64_t magnitude; // of an integer
	double real;
	bool boolean;
	const char *text; // not terminated
	size_t len;
	const char *other; // "an object"
};

// Stores a scalar if its type and range are right. Returns 0, or -EINVAL with *err.
int hs_schema_store(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, void *into, struct hs_error *err);
// Loads a scalar, the inverse of storing. The result may point to `text`.
struct hs_schema_value hs_schema_load(const struct hs_schema_field *field, const void *from,
		char text[HS_SCHEMA_TEXT_BYTES]);

// Returns the type in JSON of what a row reads: "integer", "string", ...
const char *hs_schema_type_of(const struct hs_schema_field *field);

// ---- for lib/schema only ----

static inline const struct hs_schema_field *hs_schema_next(
		const struct hs_schema_field *field, size_t stride)
{
	return (const void *)((const char *)field + (stride ? stride : sizeof(*field)));
}

// Returns the words for the values that a row takes, or NULL if there are none.
const char *hs_schema_bounds(const struct hs_schema_field *field, char text[80]);
int hs_schema_refuse_type(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, const char *wanted, struct hs_error *err);

// Stores the value of a word of the field. Returns false if there is no such word.
bool hs_schema_find_word(
		const struct hs_schema_field *field, const char *text, size_t len, void *at);
const char *hs_schema_word_of(const struct hs_schema_field *field, uint64_t value); // or NULL

void hs_schema_store_bits(void *at, size_t size, uint64_t value);
uint64_t hs_schema_load_bits(const void *at, size_t size);
