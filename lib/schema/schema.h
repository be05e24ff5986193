// SPDX-License-Identifier: BSD-3-Clause
// One table describes a JSON object and a C struct. Reading, errors and printing come from the same
// rows, so that they cannot disagree.
//
// Thread rule: any; the tables are constant, the struct belongs to the caller.
#pragma once

#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hs_schema_kind {
	HS_SCHEMA_UINT,	   // an integer from min to max, stored in `size` bytes
	HS_SCHEMA_INT,	   // a signed integer: min and max are cast to int64_t
	HS_SCHEMA_REAL,	   // a number from least to most, stored in a double
	HS_SCHEMA_SECONDS, // a number of seconds from least to most, stored as int64_t nanoseconds
	HS_SCHEMA_BOOL,
	HS_SCHEMA_TEXT,	  // a string of min to max bytes, stored in a char array
	HS_SCHEMA_WORD,	  // one of `words`, stored as its value in `size` bytes
	HS_SCHEMA_OBJECT, // an object of its own, described by `fields`, at the same struct
	HS_SCHEMA_JSON,	  // any value, stored as a borrowed json_t *
	HS_SCHEMA_CUSTOM, // read and print functions
};

struct hs_schema_word {
	const char *text; // NULL ends the list
	uint64_t value;
};

struct hs_schema_field {
	const char *key; // NULL ends the table
	enum hs_schema_kind kind;
	size_t offset, size; // offset and size of the member in the struct
	bool required;
	uint64_t min, max;
	double least, most;
	const struct hs_schema_word *words;
	const char *expected; // for words: all words in one text
	const struct hs_schema_field *fields;
	int (*read)(json_t *value, const char *path, void *into, struct hs_error *err);
	json_t *(*print)(const void *from); // a NULL result leaves out the key
};

#define HS_SCHEMA_MEMBER(type, member) offsetof(type, member), sizeof(((type *)0)->member)

// Reads an object into a struct. Members whose keys are absent do not change. Returns 0, or -EINVAL
// with *err: "wrong_type", "unknown_field", "out_of_range", "bad_value", "missing_field".
int hs_schema_read(const struct hs_schema_field *fields, json_t *object, const char *path,
		void *into, struct hs_error *err);

// The inverse of reading. Returns a new reference, or NULL if memory is out.
json_t *hs_schema_print(const struct hs_schema_field *fields, const void *from);

// Fills *err with "wrong_type" and what was found. Returns -EINVAL.
int hs_schema_wrong_type(
		const json_t *value, const char *path, const char *wanted, struct hs_error *err);

// Reads an integer within bounds. Returns -EINVAL with *err otherwise.
int hs_schema_uint(json_t *value, const char *path, uint64_t min, uint64_t max, uint64_t *out,
		struct hs_error *err);

// Fills *err with the reason why a text is not JSON; the path is "line:column". Returns -EINVAL.
int hs_schema_syntax_error(const json_error_t *syntax, struct hs_error *err);
