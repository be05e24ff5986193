// SPDX-License-Identifier: BSD-3-Clause
#include "schema_value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- members ----

void hs_schema_store_bits(void *at, size_t size, uint64_t value)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;
	const void *from = size == 1   ? (void *)&u8
			   : size == 2 ? (void *)&u16
			   : size == 4 ? (void *)&u32
				       : &value;
	memcpy(at, from, size);
}

uint64_t hs_schema_load_bits(const void *at, size_t size)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

// ---- errors ----

const char *hs_schema_type_of(const struct hs_schema_field *field)
{
	switch (field->kind) {
	case HS_SCHEMA_UINT:
	case HS_SCHEMA_INT:
		return "integer";
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
	case HS_SCHEMA_NUMBER:
		return "number";
	case HS_SCHEMA_BOOL:
		return "boolean";
	case HS_SCHEMA_PARSED:
	case HS_SCHEMA_TEXT:
	case HS_SCHEMA_WORD:
	case HS_SCHEMA_NAME:
	case HS_SCHEMA_STRING:
		return "string";
	case HS_SCHEMA_LIST:
	case HS_SCHEMA_KEPT:
		return "array";
	default: // of a custom row, its shape says what it reads
		return field->shape && strstr(field->shape, "'array'") ? "array" : "object";
	}
}

static void show(const struct hs_schema_value *value, char text[80])
{
	switch (value->type) {
	case HS_SCHEMA_IS_INTEGER:
		snprintf(text, 80, "%s%" PRIu64, value->negative ? "-" : "", value->magnitude);
		break;
	case HS_SCHEMA_IS_REAL:
		snprintf(text, 80, "%.15g", value->real);
		break;
	case HS_SCHEMA_IS_TEXT:
		snprintf(text, 80, "\"%.*s\"", (int)(value->len < 64 ? value->len : 64),
				value->text);
		break;
	case HS_SCHEMA_IS_BOOL:
		snprintf(text, 80, "%s", value->boolean ? "true" : "false");
		break;
	case HS_SCHEMA_IS_OTHER:
		snprintf(text, 80, "the value");
		break;
	}
}

// Writes the words as "a", "a or b" or "a, b or c". Returns text.
static const char *list_words(const struct hs_schema_word *word, char text[80])
{
	size_t used = 0;

	for (bool first = true; word && word->text && used < 80; word++, first = false)
		used += (size_t)snprintf(text + used, 80 - used, "%s%s",
				first	       ? ""
				: word[1].text ? ", "
					       : " or ",
				word->text);
	return text;
}

const char *hs_schema_bounds(const struct hs_schema_field *field, char text[80])
{
	switch (field->kind) {
	case HS_SCHEMA_UINT:
		snprintf(text, 80, "an integer from %" PRIu64 " to %" PRIu64, field->min,
				field->max);
		return text;
	case HS_SCHEMA_INT:
		snprintf(text, 80, "an integer from %" PRId64 " to %" PRId64, (int64_t)field->min,
				(int64_t)field->max);
		return text;
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
		snprintf(text, 80, "a number from %.12g to %.12g", field->least, field->most);
		return text;
	case HS_SCHEMA_TEXT:
		snprintf(text, 80, "a string of %" PRIu64 " to %" PRIu64 " bytes", field->min,
				field->max);
		return text;
	case HS_SCHEMA_BOOL:
		return "true or false";
	case HS_SCHEMA_WORD:
		return field->expected ? field->expected : list_words(field->words, text);
	case HS_SCHEMA_NAME:
		return field->expected ? field->expected : field->names->expected;
	default:
		return field->expected			 ? field->expected
		       : field->kind == HS_SCHEMA_OBJECT ? "an object"
							 : NULL;
	}
}

// Refuses a value. In the message, `what` follows the value.
static int refuse(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, const char *code, const char *what, struct hs_error *err)
{
	char shown[80], bounds[80];

	show(value, shown);
	if (field->allowed)
		return hs_error_set(err, code, path, field->allowed, "%s: %s %s", field->key, shown,
				what);
	return hs_error_set(err, code, path, hs_schema_bounds(field, bounds), "%s %s", shown, what);
}

int hs_schema_refuse_type(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, const char *wanted, struct hs_error *err)
{
	static const char *const names[] = {
			[HS_SCHEMA_IS_INTEGER] = "an integer",
			[HS_SCHEMA_IS_REAL] = "a number with a fraction",
			[HS_SCHEMA_IS_TEXT] = "a string",
			[HS_SCHEMA_IS_BOOL] = "a boolean",
	};
	char what[40];

	if (!field->allowed)
		return hs_error_set(err, "wrong_type", path, wanted, "this is %s",
				value->type == HS_SCHEMA_IS_OTHER ? value->other
								  : names[value->type]);
	snprintf(what, sizeof(what), "is not of type %s", hs_schema_type_of(field));
	return refuse(field, value, path, "wrong_type", what, err);
}

static int wrong_type(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, struct hs_error *err)
{
	char bounds[80];
	return hs_schema_refuse_type(field, value, path, hs_schema_bounds(field, bounds), err);
}

// ---- storing ----

static int store_integer(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, void *at, struct hs_error *err)
{
	uint64_t number = value->magnitude;
	bool bounded = field->min || field->max, fits;

	if (value->type != HS_SCHEMA_IS_INTEGER)
		return wrong_type(field, value, path, err);
	if (field->kind == HS_SCHEMA_INT) {
		number = value->negative ? 0 - number : number;
		fits = value->magnitude <= INT64_MAX &&
		       (!bounded || ((int64_t)number >= (int64_t)field->min &&
						    (int64_t)number <= (int64_t)field->max));
	} else {
		fits = !(value->negative && number) &&
		       (!bounded || (number >= field->min && number <= field->max));
	}
	if (!fits)
		return refuse(field, value, path, "out_of_range", "is out of range", err);
	hs_schema_store_bits(at, field->size, number);
	return 0;
}

static int store_real(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, void *at, struct hs_error *err)
{
	double number = value->real;
	int64_t ns;

	if (value->type == HS_SCHEMA_IS_INTEGER)
		number = value->negative ? -(double)value->magnitude : (double)value->magnitude;
	else if (value->type != HS_SCHEMA_IS_REAL)
		return wrong_type(field, value, path, err);
	if (field->kind != HS_SCHEMA_NUMBER && !(number >= field->least && number <= field->most))
		return refuse(field, value, path, "out_of_range", "is out of range", err);
	if (field->kind == HS_SCHEMA_SECONDS) {
		ns = llround(number * 1e9);
		memcpy(at, &ns, sizeof(ns));
	} else {
		memcpy(at, &number, sizeof(number));
	}
	return 0;
}

static int store_text(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, char *at, struct hs_error *err)
{
	char bounds[80];

	if (memchr(value->text, 0, value->len))
		return hs_error_set(err, "bad_value", path, hs_schema_bounds(field, bounds),
				"the string has a zero byte in it");
	if (value->len < field->min || value->len > field->max || value->len >= field->size)
		return hs_error_set(err, "out_of_range", path, hs_schema_bounds(field, bounds),
				"the string has %zu bytes", value->len);
	memcpy(at, value->text, value->len);
	at[value->len] = '\0';
	return 0;
}

bool hs_schema_find_word(
		const struct hs_schema_field *field, const char *text, size_t len, void *at)
{
	for (const struct hs_schema_word *word = field->words; word && word->text; word++) {
		if (strlen(word->text) == len && memcmp(word->text, text, len) == 0) {
			hs_schema_store_bits(at, field->size, word->value);
			return true;
		}
	}
	return false;
}

static int store_parsed(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, void *at, struct hs_error *err)
{
	char text[HS_SCHEMA_TEXT_BYTES] = "";
	const char *code = "bad_value";

	if (value->len < sizeof(text) && !memchr(value->text, 0, value->len))
		memcpy(text, value->text, value->len);
	const char *what = field->text->parse(text, at, &code);
	if (!what)
		return 0;
	if (field->text->hidden && field->allowed)
		return hs_error_set(err, code, path, field->allowed, "%s: %s", field->key, what);
	if (field->text->hidden)
		return hs_error_set(err, code, path, field->expected, "the text %s", what);
	return refuse(field, value, path, code, what, err);
}

static int store_string(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, void *at, struct hs_error *err)
{
	if (value->type != HS_SCHEMA_IS_TEXT)
		return wrong_type(field, value, path, err);
	if (field->kind == HS_SCHEMA_TEXT)
		return store_text(field, value, path, at, err);
	if (field->kind == HS_SCHEMA_PARSED)
		return store_parsed(field, value, path, at, err);
	if (hs_schema_find_word(field, value->text, value->len, at))
		return 0;
	return refuse(field, value, path, field->allowed ? "out_of_range" : "bad_value",
			"is not known", err);
}

int hs_schema_store(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, void *into, struct hs_error *err)
{
	char *at = (char *)into + field->offset;

	switch (field->kind) {
	case HS_SCHEMA_UINT:
	case HS_SCHEMA_INT:
		return store_integer(field, value, path, at, err);
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
	case HS_SCHEMA_NUMBER:
		return store_real(field, value, path, at, err);
	case HS_SCHEMA_BOOL:
		if (value->type != HS_SCHEMA_IS_BOOL)
			return wrong_type(field, value, path, err);
		*(bool *)at = value->boolean != field->negated;
		return 0;
	case HS_SCHEMA_PARSED:
	case HS_SCHEMA_TEXT:
	case HS_SCHEMA_WORD:
		return store_string(field, value, path, at, err);
	default:
		return wrong_type(field, value, path, err);
	}
}

// ---- loading ----

static struct hs_schema_value integer(uint64_t magnitude, bool negative)
{
	return (struct hs_schema_value){.type = HS_SCHEMA_IS_INTEGER,
			.negative = negative && magnitude,
			.magnitude = magnitude};
}

static struct hs_schema_value load_signed(const struct hs_schema_field *field, const char *at)
{
	unsigned unused = 64 - 8 * (unsigned)field->size; // above the sign
	int64_t number = (int64_t)(hs_schema_load_bits(at, field->size) << unused) >> unused;
	return integer(number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0);
}

static struct hs_schema_value load_real(const struct hs_schema_field *field, const char *at)
{
	double real;
	int64_t ns;

	memcpy(&real, at, sizeof(real));
	memcpy(&ns, at, sizeof(ns));
	if (field->kind == HS_SCHEMA_SECONDS)
		real = (double)ns / 1e9;
	if (field->kind == HS_SCHEMA_NUMBER && floor(real) == real && fabs(real) < 9e15)
		return integer((uint64_t)fabs(real), real < 0);
	return (struct hs_schema_value){.type = HS_SCHEMA_IS_REAL, .real = real};
}

const char *hs_schema_word_of(const struct hs_schema_field *field, uint64_t value)
{
	for (const struct hs_schema_word *word = field->words; word && word->text; word++) {
		if (word->value == value)
			return word->text;
	}
	return NULL;
}

static struct hs_schema_value text_value(const char *text)
{
	if (!text || !text[0])
		return (struct hs_schema_value){.type = HS_SCHEMA_IS_OTHER};
	return (struct hs_schema_value){
			.type = HS_SCHEMA_IS_TEXT, .text = text, .len = strlen(text)};
}

struct hs_schema_value hs_schema_load(const struct hs_schema_field *field, const void *from,
		char text[HS_SCHEMA_TEXT_BYTES])
{
	static const struct hs_schema_value empty = {.type = HS_SCHEMA_IS_TEXT, .text = ""};
	const char *at = (const char *)from + field->offset;

	switch (field->kind) {
	case HS_SCHEMA_UINT:
		return integer(hs_schema_load_bits(at, field->size), false);
	case HS_SCHEMA_INT:
		return load_signed(field, at);
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
	case HS_SCHEMA_NUMBER:
		return load_real(field, at);
	case HS_SCHEMA_BOOL:
		return (struct hs_schema_value){.type = HS_SCHEMA_IS_BOOL,
				.boolean = (hs_schema_load_bits(at, field->size) != 0) !=
					   field->negated};
	case HS_SCHEMA_TEXT:
		return at[0] || !field->required ? text_value(at) : empty;
	case HS_SCHEMA_WORD:
		return text_value(hs_schema_word_of(field, hs_schema_load_bits(at, field->size)));
	case HS_SCHEMA_PARSED:
		field->text->write(at, text);
		return text_value(text);
	default:
		return text_value(NULL);
	}
}
