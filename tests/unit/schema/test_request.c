// SPDX-License-Identifier: BSD-3-Clause
// Tables of requests: errors that begin with the key, texts that are parsed, scalars in no format.
#include "schema.h"

#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct order {
	uint16_t amount;
	double price;
	uint8_t size;
	bool gift;
	char code;
	uint32_t known;
};

static const char *parse_code(const char *text, void *at, const char **code)
{
	if (strlen(text) == 1) {
		*(char *)at = text[0];
		return NULL;
	}
	if (strlen(text) == 2)
		*code = "too_new";
	return "is no code";
}

static void write_code(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	snprintf(text, HS_SCHEMA_TEXT_BYTES, "%c", *(const char *)at);
}

static const struct hs_schema_text code_text = {parse_code, write_code,
						   "{'type': 'string', 'minLength': 1}"},
				   secret_text = {parse_code, write_code, "{'type': 'string'}",
						   .hidden = true};
static const struct hs_schema_word sizes[] = {{"small", 1}, {"large", 2}, {NULL, 0}};

#define ORDER(member) HS_SCHEMA_MEMBER(struct order, member)
static const struct hs_schema_field fields[] = {
		{"amount", HS_SCHEMA_UINT, ORDER(amount), .min = 1, .max = 9, .required = true,
				.allowed = "1 to 9", .help = "how many"},
		{"price", HS_SCHEMA_NUMBER, ORDER(price), .nullable = true, .allowed = "a price"},
		{"size", HS_SCHEMA_WORD, ORDER(size), .words = sizes, .allowed = "small or large"},
		{"gift", HS_SCHEMA_BOOL, ORDER(gift), .allowed = "true or false", .bits = 2,
				.bits_at = offsetof(struct order, known)},
		{"code", HS_SCHEMA_PARSED, ORDER(code), .text = &code_text, .allowed = "a letter"},
		{"secret", HS_SCHEMA_PARSED, ORDER(code), .text = &secret_text,
				.allowed = "a letter", .bits = 1,
				.bits_at = offsetof(struct order, known)},
		{NULL},
};
static const struct hs_schema_style style = {" is missing", " is not ordered", " "};

static int read_order(const char *text, struct order *order, struct hs_error *err)
{
	json_t *object = json_loads(text, JSON_ALLOW_NUL, NULL);

	assert_non_null(object);
	int rc = hs_schema_read_as(&style, fields, object, "", order, err);
	json_decref(object);
	return rc;
}

static void errors_begin_with_the_key_and_say_what_is_allowed(void **state)
{
	static const struct {
		const char *text, *code, *path, *message, *expected;
	} cases[] = {
			{"{}", "missing_field", "amount", "amount is missing", "1 to 9"},
			{"{\"amount\": 10}", "out_of_range", "amount", "amount: 10 is out of range",
					"1 to 9"},
			{"{\"amount\": -3}", "out_of_range", "amount", "amount: -3 is out of range",
					"1 to 9"},
			{"{\"amount\": 1.5}", "wrong_type", "amount",
					"amount: 1.5 is not of type integer", "1 to 9"},
			{"{\"amount\": []}", "wrong_type", "amount",
					"amount: the value is not of type integer", "1 to 9"},
			{"{\"amount\": null}", "wrong_type", "amount",
					"amount: the value is not of type integer", "1 to 9"},
			{"{\"amount\": 1, \"price\": \"x\"}", "wrong_type", "price",
					"price: \"x\" is not of type number", "a price"},
			{"{\"amount\": 1, \"size\": \"huge\"}", "out_of_range", "size",
					"size: \"huge\" is not known", "small or large"},
			{"{\"amount\": 1, \"gift\": 1}", "wrong_type", "gift",
					"gift: 1 is not of type boolean", "true or false"},
			{"{\"amount\": 1, \"code\": \"abc\"}", "bad_value", "code",
					"code: \"abc\" is no code", "a letter"},
			{"{\"amount\": 1, \"code\": \"ab\"}", "too_new", "code",
					"code: \"ab\" is no code", "a letter"},
			{"{\"amount\": 1, \"secret\": \"abc\"}", "bad_value", "secret",
					"secret: is no code", "a letter"},
			{"{\"a\\nb\": 1}", "unknown_field", "a?b", "a?b is not ordered",
					"amount price size gift code secret"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct order order = {0};
		struct hs_error err = {0};
		assert_true(read_order(cases[i].text, &order, &err) < 0);
		assert_string_equal(err.code, cases[i].code);
		assert_string_equal(err.path, cases[i].path);
		assert_string_equal(err.message, cases[i].message);
		assert_string_equal(err.expected, cases[i].expected);
	}
}

// A cut text could be a right one.
static void a_text_that_is_too_long_or_has_a_zero_byte_is_parsed_as_an_empty_one(void **state)
{
	struct order order = {0};
	struct hs_error err = {0};
	char text[HS_SCHEMA_TEXT_BYTES + 64];

	(void)state;
	assert_true(read_order("{\"amount\": 1, \"code\": \"a\\u0000\"}", &order, &err) < 0);
	assert_string_equal(err.code, "bad_value");
	snprintf(text, sizeof(text), "{\"amount\": 1, \"code\": \"%0*d\"}", HS_SCHEMA_TEXT_BYTES,
			0);
	assert_true(read_order(text, &order, &err) < 0);
	assert_string_equal(err.code, "bad_value");
	assert_int_equal(order.code, 0);
}

static void a_null_changes_nothing_where_it_is_allowed(void **state)
{
	struct order order = {.price = 2};
	struct hs_error err = {0};

	(void)state;
	assert_int_equal(read_order("{\"amount\": 1, \"price\": null}", &order, &err), 0);
	assert_true(order.price == 2);
}

static void an_open_table_passes_over_what_it_does_not_know(void **state)
{
	static const struct hs_schema_style open = {.missing = " is missing", .open = true};
	struct order order = {0};
	struct hs_error err = {0};
	json_t *object = json_pack("{s:i, s:i}", "amount", 3, "other", 4);

	(void)state;
	assert_int_equal(hs_schema_read_as(&open, fields, object, "", &order, &err), 0);
	assert_int_equal(order.amount, 3);
	json_decref(object);
}

static void a_style_without_words_for_a_missing_key_uses_those_of_configurations(void **state)
{
	static const struct hs_schema_style open = {.open = true};
	struct order order = {0};
	struct hs_error styled = {0}, plain = {0};
	json_t *object = json_object();

	(void)state;
	assert_int_equal(hs_schema_read_as(&open, fields, object, "", &order, &styled), -EINVAL);
	assert_int_equal(hs_schema_read(fields, object, "", &order, &plain), -EINVAL);
	assert_string_equal(styled.code, "missing_field");
	assert_string_equal(styled.message, "there is no \"amount\"");
	assert_string_equal(styled.message, plain.message);
	assert_string_equal(styled.expected, plain.expected);
	json_decref(object);
}

static void whole_numbers_are_printed_as_integers_and_bits_leave_keys_out(void **state)
{
	static const struct {
		struct order order;
		const char *text;
	} cases[] = {
			{{9, 2, 2, true, 'x', 0}, "{\"amount\":9,\"price\":2,\"size\":\"large\","
						  "\"code\":\"x\"}"},
			{{1, -2, 1, true, 'y', 2}, "{\"amount\":1,\"price\":-2,\"size\":\"small\","
						   "\"gift\":true,\"code\":\"y\"}"},
			{{1, 0.5, 7, false, 'z', 3}, "{\"amount\":1,\"price\":0.5,\"gift\":false,"
						     "\"code\":\"z\",\"secret\":\"z\"}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *printed = hs_schema_print(fields, &cases[i].order);
		json_t *expected = json_loads(cases[i].text, 0, NULL);
		assert_true(json_equal(printed, expected));
		json_decref(printed);
		json_decref(expected);
	}
}

// What a codec without JSON does.
static void a_scalar_is_stored_and_loaded_in_no_format(void **state)
{
	static const struct hs_schema_value values[] = {
			{.type = HS_SCHEMA_IS_INTEGER, .magnitude = 7},
			{.type = HS_SCHEMA_IS_REAL, .real = 2.5},
			{.type = HS_SCHEMA_IS_TEXT, .text = "large, not", .len = 5},
			{.type = HS_SCHEMA_IS_BOOL, .boolean = true},
			{.type = HS_SCHEMA_IS_TEXT, .text = "qr", .len = 1},
	};
	struct order order = {0};
	struct hs_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char text[HS_SCHEMA_TEXT_BYTES];
		assert_int_equal(hs_schema_store(&fields[i], &values[i], "x", &order, &err), 0);
		const struct hs_schema_value value = hs_schema_load(&fields[i], &order, text);
		assert_int_equal(value.type, values[i].type);
		assert_true(value.magnitude == values[i].magnitude && value.real == values[i].real);
		assert_int_equal(value.boolean, values[i].boolean);
		assert_int_equal(value.len, values[i].len);
		if (value.len)
			assert_memory_equal(value.text, values[i].text, value.len);
	}
	assert_true(hs_schema_store(&fields[0], &values[1], "at.amount", &order, &err) < 0);
	assert_string_equal(err.path, "at.amount");
}

static void help_nulls_and_shapes_are_in_the_json_schema(void **state)
{
	json_t *described = hs_schema_describe(fields);
	json_t *shape = hs_schema_shape(
			"{'type': 'object', 'required': ['amount'], 'additionalProperties': false, "
			"'properties': {'amount': {'type': 'integer', 'minimum': 1, 'maximum': 9, "
			"'description': 'how many'}, "
			"'price': {'anyOf': [{'type': 'number'}, {'type': 'null'}]}, "
			"'size': {'enum': ['small', 'large']}, 'gift': {'type': 'boolean'}, "
			"'code': {'type': 'string', 'minLength': 1}, 'secret': {'type': "
			"'string'}}}");

	(void)state;
	assert_non_null(shape);
	assert_true(json_equal(described, shape));
	assert_string_equal(hs_schema_type_of(&fields[0]), "integer");
	assert_string_equal(hs_schema_type_of(&fields[4]), "string");
	json_decref(described);
	json_decref(shape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(errors_begin_with_the_key_and_say_what_is_allowed),
			cmocka_unit_test(
					a_text_that_is_too_long_or_has_a_zero_byte_is_parsed_as_an_empty_one),
			cmocka_unit_test(a_null_changes_nothing_where_it_is_allowed),
			cmocka_unit_test(an_open_table_passes_over_what_it_does_not_know),
			cmocka_unit_test(
					a_style_without_words_for_a_missing_key_uses_those_of_configurations),
			cmocka_unit_test(
					whole_numbers_are_printed_as_integers_and_bits_leave_keys_out),
			cmocka_unit_test(a_scalar_is_stored_and_loaded_in_no_format),
			cmocka_unit_test(help_nulls_and_shapes_are_in_the_json_schema),
	};
	return cmocka_run_group_tests_name("schema-request", tests, NULL, NULL);
}
