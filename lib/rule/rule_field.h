// SPDX-License-Identifier: BSD-3-Clause
// The one table of a rule's fields: names, types, bounds, defaults and help. It drives both codecs,
// updates, the API's help and its documentation.
//
// Source: 000_616928c59136b059.txt listing 1 (the fields of the in-band request) and section III-B2
// (the switches). Thread rule: any.
#pragma once

#include "rule.h"
#include "schema.h"

#include <stddef.h>

enum hs_rule_kind {
	HS_RULE_NUMBER,	  // unsigned integer
	HS_RULE_SETTING,  // number, decimals allowed
	HS_RULE_ADDRESS,  // an IPv6 address as text
	HS_RULE_PROTOCOL, // word
	HS_RULE_MODE,	  // word
	HS_RULE_TRACE,	  // hex text
	HS_RULE_SWITCH,	  // boolean
	HS_RULE_FIELDS,	  // an object, in JSON only; left out if not given
	HS_RULE_OWNER,	  // a short text
};

struct hs_rule_field {
	const char *name;
	enum hs_rule_kind kind;
	uint8_t offset, bytes; // place and size in struct hs_rule
	uint8_t update,
			update_has; // offsets in struct hs_rule_update; update_has 0: not
				    // changeable
	bool required;		    // in an int_request
	bool in_band;	   // travels in the request; a switch only if it differs from its default
	bool label;	   // every update sets it, to none if the update leaves it out
	uint64_t min, max; // HS_RULE_NUMBER
	const char *type;  // for messages
	const char *allowed;
	const char *fallback; // the default as text; NULL if required
	const char *help;
};

extern const struct hs_rule_field hs_rule_fields[];
extern const size_t hs_rule_n_fields;

// The type of a value as a codec read it. A type that the codec does not know is HS_VALUE_OTHER.
enum hs_rule_value_type {
	HS_VALUE_INTEGER,
	HS_VALUE_REAL,
	HS_VALUE_TEXT,
	HS_VALUE_BOOL,
	HS_VALUE_OTHER,
};

struct hs_rule_value {
	enum hs_rule_value_type type;
	bool negative;	    // of an integer
	uint64_t magnitude; // of an integer
	double real;
	bool boolean;
	const char *text; // not terminated
	size_t len;
};

// Rows of the table as bits, bit i is row i: the rows that an update changes, and copies of them.
uint32_t hs_rule_update_rows(const struct hs_rule_update *update);
void hs_rule_update_take(struct hs_rule_update *update, const struct hs_rule *rule, uint32_t rows);
void hs_rule_copy_rows(struct hs_rule *to, const struct hs_rule *from, uint32_t rows);
uint32_t hs_rule_row(const char *name); // its bit; 0: there is no such row

// Returns the row of a name (not terminated), or NULL.
const struct hs_rule_field *hs_rule_field_find(const char *name, size_t len);

// Sets one field from a value if its type and range are right. hs_rule_check checks relations
// between fields. Returns 0, or -EINVAL with *err, path "<name>".
int hs_rule_field_set(const struct hs_rule_field *field, const struct hs_rule_value *value,
		struct hs_rule *rule, struct hs_error *err);

// Returns the words of a field of kind PROTOCOL or MODE.
const struct hs_schema_word *hs_rule_field_words(const struct hs_rule_field *field);
// Returns the JSON Schema of a field's value. New reference.
json_t *hs_rule_field_schema(const struct hs_rule_field *field);

// Writes a field of kind ADDRESS, PROTOCOL, MODE, TRACE or OWNER as text.
#define HS_RULE_TEXT_BYTES 46
void hs_rule_field_text(const struct hs_rule_field *field, const struct hs_rule *rule,
		char text[HS_RULE_TEXT_BYTES]);
// Returns the number in a field of kind NUMBER.
uint64_t hs_rule_field_number(const struct hs_rule_field *field, const struct hs_rule *rule);
// Returns the boolean in a field of kind SWITCH.
bool hs_rule_field_switch(const struct hs_rule_field *field, const struct hs_rule *rule);
