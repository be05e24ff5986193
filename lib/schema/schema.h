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
	HS_SCHEMA_NAME,	  // a name from `names` (or one of `words`), stored as an index in `size`
			  // bytes
	HS_SCHEMA_OBJECT, // an object of its own, described by `fields`; offsets count from
			  // `offset`
	HS_SCHEMA_LIST,	  // a list, described by `list`
	HS_SCHEMA_JSON, // any value, stored as a borrowed json_t *; `fields` or `list` describe it
	HS_SCHEMA_KEPT, // any list, stored as a json_t * that owns a reference
	HS_SCHEMA_CUSTOM, // read and print functions
};

struct hs_schema_word {
	const char *text; // NULL ends the list
	uint64_t value;
};

// Names that another part of the same value gave. `root` is the struct of the outermost read.
struct hs_schema_names {
	const char *code, *what, *expected; // "unknown_name", "node", "the name of a node"
	uint32_t (*find)(const void *root, const char *name); // HS_SCHEMA_NO_NAME: there is none
	const char *(*name_of)(const void *root, uint32_t index); // for printing
};

#define HS_SCHEMA_NO_NAME UINT32_MAX

struct hs_schema_list;

struct hs_schema_field {
	const char *key; // NULL ends the table
	enum hs_schema_kind kind;
	size_t offset, size; // offset and size of the member in the struct
	bool required;
	bool demanded; // as if required, by a check elsewhere that has words of its own
	uint64_t min, max;
	double least, most;
	const struct hs_schema_word *words;
	const char *expected; // for words: all words in one text
	const struct hs_schema_field *fields;
	const struct hs_schema_names *names;
	const struct hs_schema_list *list;
	bool (*given)(const void *from); // false: printing leaves out the key
	// Custom: `at` is the struct plus `offset`.
	int (*read)(json_t *value, const char *path, void *at, struct hs_error *err);
	json_t *(*print)(const void *at); // a NULL result leaves out the key
	// JSON Schema of a value that no row describes, with ' in place of "; else that of
	// `fields`.
	const char *shape;
};

// A list of `min` to `max` items (of the row). The items stand in an array in the struct, or on the
// heap.
struct hs_schema_list {
	struct hs_schema_field item; // offsets count from the item; it has no key
	size_t item_bytes;
	bool counted; // an unsigned at `count` has the number of items; else the number is max
	size_t count;
	bool heap;	    // a pointer to the items is at the row's offset; the caller frees it
	const char *noun;   // "ports"
	const char *bounds; // NULL: "at most 32 ports", "1 to 32 ports"
	const void *fresh;  // an item before it is read; NULL: zeros
	// Called after each item, with the struct that has the list; may be NULL.
	int (*check)(json_t *item, const char *path, void *into, size_t index,
			struct hs_error *err);
};

#define HS_SCHEMA_MEMBER(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define HS_SCHEMA_ITEMS(type, member)  .item_bytes = sizeof(*((type *)0)->member)
#define HS_SCHEMA_COUNT(type, member)                                                              \
	.counted = true,                                                                           \
	.count = offsetof(type, member) +                                                          \
		 0 * sizeof(char[__builtin_types_compatible_p(                                     \
						 __typeof__(((type *)0)->member), unsigned)        \
						     ? 1                                           \
						     : -1])

// Reads an object into a struct, in the order of the table. Members whose keys are absent do not
// change. Returns 0, -ENOMEM, or -EINVAL with *err: "wrong_type", "unknown_field", "out_of_range",
// "bad_value", "missing_field".
int hs_schema_read(const struct hs_schema_field *fields, json_t *object, const char *path,
		void *into, struct hs_error *err);

// The inverse of reading. Returns a new reference, or NULL if memory is out.
json_t *hs_schema_print(const struct hs_schema_field *fields, const void *from);

// Returns the JSON Schema (draft 2020-12) of what the table reads, without "$schema". New
// reference, or NULL if memory is out.
json_t *hs_schema_describe(const struct hs_schema_field *fields);
json_t *hs_schema_describe_words(const struct hs_schema_word *words);
// Returns a JSON Schema that is written with ' in place of ". New reference.
json_t *hs_schema_shape(const char *text);

// Allows letters, digits, '_', '-', '.' (not at the beginning), because names are part of topics,
// files and tables. Returns 0, or -EINVAL with *err.
int hs_schema_check_name(const char *name, const char *path, struct hs_error *err);

// Fills *err with "wrong_type" and what was found. Returns -EINVAL.
int hs_schema_wrong_type(
		const json_t *value, const char *path, const char *wanted, struct hs_error *err);

// Reads an integer within bounds. Returns -EINVAL with *err otherwise.
int hs_schema_uint(json_t *value, const char *path, uint64_t min, uint64_t max, uint64_t *out,
		struct hs_error *err);

// Fills *err with the reason why a text is not JSON; the path is "line:column". Returns -EINVAL.
int hs_schema_syntax_error(const json_error_t *syntax, struct hs_error *err);
