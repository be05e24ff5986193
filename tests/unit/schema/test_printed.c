// SPDX-License-Identifier: BSD-3-Clause
// Tables that only print: members are left out, come from another table, or stand behind a pointer.
#include "schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct engine {
	uint64_t turns, hot;
};

struct car {
	const char *name, *nickname;
	uint32_t seats;
	uint64_t locked;
	const struct engine *engine;
	struct engine spare;
	unsigned n_doors;
	uint16_t doors[4];
	json_t *notes;
};

// A row is part of a larger one, as in a table of counters.
struct gauge {
	struct hs_schema_field field;
	const char *unit;
};

#define ENGINE(member) HS_SCHEMA_MEMBER(struct engine, member)
static const struct gauge gauges[] = {
		{{"turns", HS_SCHEMA_UINT, ENGINE(turns), .help = "turns so far"}, "turns"},
		{{"hot", HS_SCHEMA_BOOL, ENGINE(hot)}, ""},
		{{NULL}, ""},
};
static const struct hs_schema_list door_list = {
		.item = {.kind = HS_SCHEMA_UINT, .size = sizeof(uint16_t)},
		HS_SCHEMA_ITEMS(struct car, doors),
		HS_SCHEMA_COUNT(struct car, n_doors),
};

#define CAR(member) HS_SCHEMA_MEMBER(struct car, member)
#define GAUGES	    .fields = &gauges[0].field, .stride = sizeof(gauges[0])
static const struct hs_schema_field engine_fields[] = {
		{"", HS_SCHEMA_MEMBERS, GAUGES},
		{NULL},
};
static const struct hs_schema_field car_fields[] = {
		{"name", HS_SCHEMA_STRING, CAR(name)},
		{"nickname", HS_SCHEMA_STRING, CAR(nickname), .optional = true},
		{"seats", HS_SCHEMA_UINT, CAR(seats), .optional = true, .help = "if there are any"},
		{"locked", HS_SCHEMA_BOOL, CAR(locked), .optional = true},
		{"", HS_SCHEMA_MEMBERS, CAR(spare), GAUGES},
		{"engine", HS_SCHEMA_OBJECT, CAR(engine), .behind = true, .optional = true,
				.fields = engine_fields},
		{"doors", HS_SCHEMA_LIST, CAR(doors), .list = &door_list, .optional = true},
		{"notes", HS_SCHEMA_JSON, CAR(notes), .optional = true},
		{NULL},
};

static void prints(const struct car *car, const char *wanted)
{
	json_t *json = hs_schema_print(car_fields, car);
	char *text = json_dumps(json, JSON_COMPACT);

	assert_string_equal(text, wanted);
	free(text);
	json_decref(json);
}

static void what_is_empty_is_left_out(void **state)
{
	(void)state;
	json_t *none = json_array();

	prints(&(struct car){.name = "", .notes = none},
			"{\"name\":\"\",\"turns\":0,\"hot\":false}");
	json_decref(none);
}

static void members_of_another_table_stand_in_place(void **state)
{
	(void)state;
	const struct engine engine = {.turns = 5};

	prints(&(struct car){.name = "a",
			       .nickname = "b",
			       .seats = 2,
			       .locked = UINT64_C(1) << 40,
			       .engine = &engine,
			       .spare = {7, 1},
			       .n_doors = 2,
			       .doors = {3, 4}},
			"{\"name\":\"a\",\"nickname\":\"b\",\"seats\":2,\"locked\":true,"
			"\"turns\":7,\"hot\":true,\"engine\":{\"turns\":5,\"hot\":false},"
			"\"doors\":[3,4]}");
}

static void what_is_always_printed_is_required(void **state)
{
	(void)state;
	json_t *schema = hs_schema_describe_printed(car_fields);
	json_t *properties = json_object_get(schema, "properties");
	char *required = json_dumps(json_object_get(schema, "required"), JSON_COMPACT);
	char *locked = json_dumps(json_object_get(properties, "locked"), JSON_COMPACT);

	assert_string_equal(required, "[\"name\",\"turns\",\"hot\"]");
	assert_string_equal(locked, "{\"const\":true}");
	assert_int_equal(json_object_size(properties), 9);
	assert_string_equal(json_string_value(json_object_get(
					    json_object_get(properties, "turns"), "description")),
			"turns so far");
	free(locked);
	free(required);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_is_empty_is_left_out),
			cmocka_unit_test(members_of_another_table_stand_in_place),
			cmocka_unit_test(what_is_always_printed_is_required),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
