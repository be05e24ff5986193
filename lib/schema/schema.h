// SPDX-License-Identifier: BSD-3-Clause
// One table describes an object and a C struct. Reading, errors, printing and JSON Schema come from
// the same rows, so that they cannot disagree. Objects are JSON here; a row of a scalar also serves
// other formats (CBOR) by struct hs_schema_value.
//
// Thread rule: any; the tables are constant, the struct belongs to the caller.
#pragma once

#include "errors.h"
#include "schema_value.h"

// Reads an object into a struct, in the order of the table. Members whose keys are absent do not
// change. Returns 0, -ENOMEM, or -EINVAL with *err: "wrong_type", "unknown_field", "out_of_range",
// "bad_value", "missing_field".
int hs_schema_read(const struct hs_schema_field *fields, json_t *object, const char *path,
		void *into, struct hs_error *err);

// Does the same and goes on after each error: *errors has all errors of all members and items.
int hs_schema_read_all(const struct hs_schema_field *fields, json_t *object, const char *path,
		void *into, struct hs_errors *errors);

// The words of errors of an object and of the objects in it. `missing` and `unknown` follow the
// key. A style without `missing` words this as hs_schema_read does.
struct hs_schema_style {
	const char *missing, *unknown; // " is missing", " is not a known field"
	const char *between;	       // the names of the known keys
	bool open;		       // unknown keys are passed over
	bool loose;		       // unknown keys are removed, and required ones may be absent
};
int hs_schema_read_as(const struct hs_schema_style *style, const struct hs_schema_field *fields,
		json_t *object, const char *path, void *into, struct hs_error *err);
// Does the same and goes on after each error, as hs_schema_read_all.
int hs_schema_read_all_as(const struct hs_schema_style *style, const struct hs_schema_field *fields,
		json_t *object, const char *path, void *into, struct hs_errors *errors);
// Lists the keys, for `expected`.
void hs_schema_list_keys(const struct hs_schema_style *style, const struct hs_schema_field *fields,
		char *text, size_t size);
// Reads the value of one row.
int hs_schema_read_value(const struct hs_schema_field *field, json_t *value, const char *path,
		void *into, struct hs_error *err);
// Does the same and goes on after each error. Returns 0 whatever *errors got, or -ENOMEM.
int hs_schema_read_value_all(const struct hs_schema_field *field, json_t *value, const char *path,
		void *into, struct hs_errors *errors);

// Prints a struct as JSON, the inverse of reading. Leaves out integers that are greater than
// INT64_MAX. Returns a new reference, or NULL if memory is out.
json_t *hs_schema_print(const struct hs_schema_field *fields, const void *from);
// Adds the members to an object. Returns 0, or -1 if memory is out.
int hs_schema_print_into(json_t *object, const struct hs_schema_field *fields, const void *from);
// Prints the value of one row. Returns NULL if the row leaves the key out.
json_t *hs_schema_print_value(const struct hs_schema_field *field, const void *from);

// Returns the JSON Schema (draft 2020-12) of what the table reads, without "$schema". New
// reference, or NULL if memory is out.
json_t *hs_schema_describe(const struct hs_schema_field *fields);
// Does the same for what is printed: a member is required if it is always printed.
json_t *hs_schema_describe_printed(const struct hs_schema_field *fields);
// Returns the JSON Schema of the value of one row.
json_t *hs_schema_describe_value(const struct hs_schema_field *field);
// Returns a JSON Schema that is written with ' in place of ". New reference.
json_t *hs_schema_shape(const char *text);

// Allows letters, digits, '_', '-', '.' (not at the beginning), because names are part of topics,
// files and tables. Returns 0, or -EINVAL with *err.
int hs_schema_check_name(const char *name, const char *path, struct hs_error *err);

// Writes a key that a peer chose for an error, truncated and with control bytes replaced.
void hs_schema_clean_key(char *to, size_t size, const char *key);

// Fills *err with "wrong_type" and what was found. Returns -EINVAL.
int hs_schema_wrong_type(
		const json_t *value, const char *path, const char *wanted, struct hs_error *err);

// Reads a file of JSON, of at most 64 MiB and with each key once. Returns 0 with a new reference,
// or a negative errno with *err: "not_readable", "too_large", or as hs_schema_syntax_error.
int hs_schema_load_file(const char *file, json_t **root, struct hs_error *err);

// Fills *err with the reason why a text is not JSON; the path is "line:column". Returns -EINVAL.
int hs_schema_syntax_error(const json_error_t *syntax, struct hs_error *err);
