// SPDX-License-Identifier: BSD-3-Clause
// The tables of lib/schema: a row for each member of an object.
//
// Thread rule: any; constants.
#pragma once

#include "errors.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hs_schema_kind {
	HS_SCHEMA_UINT,	   // an integer from min to max (both 0: any), stored in `size` bytes
	HS_SCHEMA_INT,	   // a signed integer: min and max are cast to int64_t
	HS_SCHEMA_REAL,	   // a number from least to most, stored in a double
	HS_SCHEMA_SECONDS, // a number of seconds from least to most, stored as int64_t nanoseconds
	HS_SCHEMA_NUMBER,  // any number, stored in a double, printed as an integer if it is whole
	HS_SCHEMA_BOOL,
	HS_SCHEMA_PARSED,  // a string that `text` reads and writes
	HS_SCHEMA_TEXT,	   // a string of min to max bytes, stored in a char array
	HS_SCHEMA_WORD,	   // one of `words`, stored as its value in `size` bytes
	HS_SCHEMA_NAME,	   // a name from `names` (or one of `words`), stored as an index in `size`
			   // bytes
	HS_SCHEMA_OBJECT,  // an object of its own, described by `fields`; offsets count from
			   // `offset`
	HS_SCHEMA_LIST,	   // a list, described by `list`
	HS_SCHEMA_MAP,	   // an object whose keys are names that the items of `list` have
	HS_SCHEMA_JSON,	   // any value, stored as a borrowed json_t *; `fields`, `items` or `list`
			   // describe it
	HS_SCHEMA_TAKEN,   // any value whose reference printing takes over, described as before
	HS_SCHEMA_KEPT,	   // any list, stored as a json_t * that owns a reference
	HS_SCHEMA_STRING,  // a `const char *`, for printing only; NULL leaves out the key
	HS_SCHEMA_MEMBERS, // the members of `fields` in this object itself, for printing only
	HS_SCHEMA_JSON_MEMBERS, // the members of a borrowed json_t *, which may be NULL
	HS_SCHEMA_CUSTOM,	// read and print functions
};

struct hs_schema_word {
	const char *text; // NULL ends the list
	uint64_t value;
};

#define HS_SCHEMA_TEXT_BYTES 128

// A kind of text, for example an address.
struct hs_schema_text {
	// Returns NULL, or what is wrong: "is not an IPv6 address". *code is "bad_value" before the
	// call. `text` is "" in place of a text that is too long or has a zero byte.
	const char *(*parse)(const char *text, void *at, const char **code);
	void (*write)(const void *at, char text[HS_SCHEMA_TEXT_BYTES]); // "": left out
	const char *shape; // JSON Schema, with ' in place of "
	bool hidden;	   // errors do not repeat the text
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
	bool nullable; // a null leaves the member as it is; the caller looks for the null
	bool demanded; // a check elsewhere requires the key, in its own words
	bool negated;  // of a boolean: the member is its opposite
	uint64_t min, max;
	double least, most;
	const struct hs_schema_word *words;
	// What is expected, in errors. NULL: what the kind, the bounds, the words or the names say.
	const char *expected;
	// Fields of requests: what is allowed, as errors and documents say it. Errors then begin
	// with the key.
	const char *allowed, *fallback, *help;
	const struct hs_schema_text *text;
	const struct hs_schema_field *fields;
	const void *fresh; // of an object: the member before its rows are read; NULL: as it is
	const struct hs_schema_field *items; // of a list in JSON: the fields of each item
	const struct hs_schema_names *names;
	const struct hs_schema_list *list;
	// Bits of the kinds of objects that may have the key, and `help` says which; 0: all. Bits
	// of those that need the key. The caller checks this, because it knows the kind.
	uint32_t kinds, needed;
	bool optional; // printing leaves out the key if the value is 0, false or empty
	bool behind;   // of an object or of members: a pointer to them is at `offset`
	size_t stride; // of members: from one row to the next, if rows are part of larger structs
	bool (*given)(const void *from); // false: printing leaves out the key
	uint32_t bits;	// printing leaves out the key unless the 32 bits at `bits_at` have one of
	size_t bits_at; // these; 0: always printed
	// Custom: `at` is the struct plus `offset`.
	int (*read)(json_t *value, const char *path, void *at, struct hs_error *err);
	json_t *(*print)(const void *at); // a NULL result leaves out the key
	// Kept, where all errors are read: keeps the errors of an item, with paths from it on; may
	// be NULL.
	void (*look)(json_t *item, struct hs_errors *errors);
	// JSON Schema of a value that no row describes, with ' in place of "; else that of
	// `fields`.
	const char *shape;
};

// An item of a list that was read.
struct hs_schema_item {
	void *read;
	json_t *value;
	const char *path;
	size_t index;
};

// A list of `min` to `max` items (of the row). The items stand in an array in the struct, or on the
// heap.
struct hs_schema_list {
	struct hs_schema_field item; // offsets count from the item; it has no key
	size_t item_bytes;
	size_t name, name_bytes; // of a map: where an item has its key, and its room
	bool counted; // an unsigned at `count` has the number of items; else the number is max
	size_t count;
	bool heap;	    // a pointer to the items is at the row's offset; the caller frees it
	const char *noun;   // "ports"; may be NULL
	const char *bounds; // NULL: "at most 32 ports", "1 to 32 ports"
	const void *fresh;  // an item before it is read; NULL: zeros
	// Called after each item whose values are right, with the struct that has the list; may be
	// NULL.
	int (*check)(json_t *item, const char *path, void *into, size_t index,
			struct hs_error *err);
	// The same, where an item may have several errors.
	void (*check_all)(json_t *item, const char *path, void *into, size_t index,
			struct hs_errors *errors);
	// In place of an array: takes each item, before the next item is read.
	int (*take)(void *into, const struct hs_schema_item *item, struct hs_error *err);
};

// Rows that print: HS_SCHEMA_ROW(struct ship, UINT, masts, "help", ...), under another key than the
// member's name HS_SCHEMA_ROW_AS(struct ship, UINT, "length_m", hull.length, "help", ...).
#define HS_SCHEMA_ROW(type, how, member, ...)                                                      \
	HS_SCHEMA_ROW_AS(type, how, #member, member, __VA_ARGS__)
#define HS_SCHEMA_ROW_AS(type, how, name, member, ...)                                             \
	{                                                                                          \
		.key = name, .kind = HS_SCHEMA_##how, .offset = offsetof(type, member),            \
		.size = sizeof(((type *)0)->member), .help = __VA_ARGS__                           \
	}
// The rest of a row that is printed if a member of 32 bits is not 0.
#define HS_SCHEMA_IF(type, member)                                                                 \
	.bits = UINT32_MAX,                                                                        \
	.bits_at = offsetof(type, member) +                                                        \
		   0 * sizeof(char[sizeof(((type *)0)->member) == sizeof(uint32_t) ? 1 : -1])
#define HS_SCHEMA_MEMBER(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define HS_SCHEMA_ITEMS(type, member)  .item_bytes = sizeof(*((type *)0)->member)
#define HS_SCHEMA_COUNT(type, member)                                                              \
	.counted = true,                                                                           \
	.count = offsetof(type, member) +                                                          \
		 0 * sizeof(char[__builtin_types_compatible_p(                                     \
						 __typeof__(((type *)0)->member), unsigned)        \
						     ? 1                                           \
						     : -1])
