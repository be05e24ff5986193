// SPDX-License-Identifier: BSD-3-Clause
#include "schema.h"

#include <errno.h>
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct thing {
	int64_t wide;
	int32_t narrow;
	double ratio;
	int64_t time_ns;
	uint64_t word;
	json_t *part;
};

#define THING(member) HS_SCHEMA_MEMBER(struct thing, member)
static const struct hs_schema_word words[] = {{"long", UINT64_C(60000000000)}, {NULL, 0}};
static const struct hs_schema_field fields[] = {
		{"wide", HS_SCHEMA_INT, THING(wide), .min = (uint64_t)INT64_C(-5000000000),
				.max = 7},
		{"narrow", HS_SCHEMA_INT, THING(narrow), .min = (uint64_t)INT64_C(-8), .max = 8},
		{"ratio", HS_SCHEMA_REAL, THING(ratio), .least = -0.5, .most = 1},
		{"time_s", HS_SCHEMA_SECONDS, THING(time_ns), .least = 0, .most = 1000},
		{"word", HS_SCHEMA_WORD, THING(word), .words = words},
		{"part", HS_SCHEMA_JSON, THING(part)},
		{NULL},
};
static const struct hs_schema_field strict[] = {
		{"ratio", HS_SCHEMA_REAL, THING(ratio), .most = 1, .required = true,
				.expected = "a share"},
		{NULL},
};

static int read_as(const struct hs_schema_field *table, const char *text, struct thing *thing,
		struct hs_error *err)
{
	json_t *object = json_loads(text, 0, NULL);
	assert_non_null(object);
	int rc = hs_schema_read(table, object, "at", thing, err);
	json_decref(object);
	return rc;
}

static void refused(const char *text, const char *code, const char *path, const char *expected)
{
	struct thing thing = {0};
	const struct thing before = thing;
	struct hs_error err = {0};
	assert_true(read_as(fields, text, &thing, &err) < 0);
	assert_string_equal(err.code, code);
	assert_string_equal(err.path, path);
	assert_string_equal(err.expected, expected);
	assert_memory_equal(&thing, &before, sizeof(thing));
}

static void integers_may_have_a_sign(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_int_equal(read_as(fields, "{\"wide\": -5000000000, \"narrow\": -8}", &thing, &err),
			0);
	assert_true(thing.wide == INT64_C(-5000000000));
	assert_int_equal(thing.narrow, -8);
	refused("{\"narrow\": -9}", "out_of_range", "at.narrow", "an integer from -8 to 8");
	refused("{\"narrow\": 9}", "out_of_range", "at.narrow", "an integer from -8 to 8");
	refused("{\"narrow\": 1.0}", "wrong_type", "at.narrow", "an integer from -8 to 8");
}

static void numbers_may_have_a_fraction_or_none(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_int_equal(read_as(fields, "{\"ratio\": -0.5}", &thing, &err), 0);
	assert_true(thing.ratio == -0.5);
	assert_int_equal(read_as(fields, "{\"ratio\": 1}", &thing, &err), 0);
	assert_true(thing.ratio == 1);
	refused("{\"ratio\": 1.001}", "out_of_range", "at.ratio", "a number from -0.5 to 1");
	refused("{\"ratio\": -0.501}", "out_of_range", "at.ratio", "a number from -0.5 to 1");
	refused("{\"ratio\": \"1\"}", "wrong_type", "at.ratio", "a number from -0.5 to 1");
}

static void seconds_are_kept_to_the_nearest_nanosecond(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_int_equal(read_as(fields, "{\"time_s\": 0.1}", &thing, &err), 0);
	assert_int_equal(thing.time_ns, 100000000);
	assert_int_equal(read_as(fields, "{\"time_s\": 999.999999999}", &thing, &err), 0);
	assert_true(thing.time_ns == INT64_C(999999999999));
	assert_int_equal(read_as(fields, "{\"time_s\": 3}", &thing, &err), 0);
	assert_true(thing.time_ns == INT64_C(3000000000));
	refused("{\"time_s\": -1}", "out_of_range", "at.time_s", "a number from 0 to 1000");
}

struct door {
	bool shut;
	struct lock {
		uint32_t keys, turns;
	} lock;
};

static void an_object_begins_with_its_defaults_and_a_boolean_may_be_negated(void **state)
{
	(void)state;
	static const struct hs_schema_field lock_fields[] = {
			{"turns", HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct lock, turns)}, {NULL}};
	static const struct lock new_lock = {.keys = 2, .turns = 1};
	static const struct hs_schema_field door_fields[] = {
			{"open", HS_SCHEMA_BOOL, HS_SCHEMA_MEMBER(struct door, shut),
					.negated = true},
			{"lock", HS_SCHEMA_OBJECT, HS_SCHEMA_MEMBER(struct door, lock),
					.fields = lock_fields, .fresh = &new_lock},
			{NULL},
	};
	struct door door = {.shut = true, .lock = {7, 8}};
	struct hs_error err = {0};
	json_t *open = json_pack("{s:b}", "open", 1),
	       *locked = json_pack("{s:{s:i}}", "lock", "turns", 3);

	assert_int_equal(hs_schema_read(door_fields, open, "", &door, &err), 0);
	assert_false(door.shut);
	assert_int_equal(door.lock.keys, 7); // there is no "lock"
	assert_int_equal(hs_schema_read(door_fields, locked, "", &door, &err), 0);
	assert_int_equal(door.lock.keys, 2);
	assert_int_equal(door.lock.turns, 3);
	json_t *printed = hs_schema_print(door_fields, &door);
	assert_true(json_is_true(json_object_get(printed, "open")));
	json_decref(printed);
	json_decref(open);
	json_decref(locked);
}

static void words_may_stand_for_what_takes_64_bits(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_int_equal(read_as(fields, "{\"word\": \"long\"}", &thing, &err), 0);
	assert_true(thing.word == UINT64_C(60000000000));
}

static void an_error_lists_the_words_that_are_expected(void **state)
{
	static const struct hs_schema_word all[] = {{"a", 1}, {"b", 2}, {"c", 3}, {NULL, 0}};
	static const char *const expected[] = {"c", "b or c", "a, b or c"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct hs_schema_field table[] = {
				{"word", HS_SCHEMA_WORD, THING(word), .words = &all[2 - i],
						.required = true},
				{NULL}};
		struct thing thing;
		struct hs_error wrong = {0}, missing = {0};
		assert_true(read_as(table, "{\"word\": \"d\"}", &thing, &wrong) < 0);
		assert_string_equal(wrong.expected, expected[i]);
		assert_true(read_as(table, "{}", &thing, &missing) < 0);
		assert_string_equal(missing.expected, expected[i]);
	}
}

static void a_required_key_that_is_absent_is_refused(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_true(read_as(strict, "{}", &thing, &err) < 0);
	assert_string_equal(err.code, "missing_field");
	assert_string_equal(err.path, "at.ratio");
	assert_string_equal(err.expected, "a share");
	assert_int_equal(read_as(strict, "{\"ratio\": 0}", &thing, &err), 0);
}

static void what_is_printed_is_what_was_read(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	json_t *object = json_loads("{\"wide\": -5, \"narrow\": -3, \"ratio\": 0.25,"
				    " \"time_s\": 1.5, \"word\": \"long\", \"part\": [1]}",
			0, NULL);
	assert_int_equal(hs_schema_read(fields, object, "", &thing, &err), 0);
	assert_ptr_equal(thing.part, json_object_get(object, "part"));
	json_t *printed = hs_schema_print(fields, &thing);
	assert_true(json_equal(printed, object));
	json_decref(printed);
	json_decref(object);
}

static void an_integer_that_is_too_great_is_left_out(void **state)
{
	static const struct hs_schema_field clock[] = {
			{"time_ns", HS_SCHEMA_UINT, 0, sizeof(uint64_t)}, {NULL}};
	const uint64_t times[] = {INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		json_t *printed = hs_schema_print(clock, &times[i]);
		json_t *time = json_object_get(printed, "time_ns");
		assert_int_equal(time != NULL, i == 0);
		assert_int_equal(json_integer_value(time), i == 0 ? INT64_MAX : 0);
		json_decref(printed);
	}
}

// ---- lists and names ----

struct stop {
	char name[8];
	uint8_t platform;
};

struct way {
	uint16_t *stops;
	unsigned n_stops;
	uint32_t last; // ALL: each of them
	char ends[2][8];
};

struct journey {
	unsigned n_stops, n_ways;
	struct stop stops[3];
	struct way *ways;
	json_t *notes;
	struct {
		bool quick;
	} mood;
};

#define ALL 77

static uint32_t find_stop(const void *root, const char *name)
{
	const struct journey *journey = root;

	for (uint32_t i = 0; i < journey->n_stops; i++)
		if (strcmp(journey->stops[i].name, name) == 0)
			return i;
	return HS_SCHEMA_NO_NAME;
}

static const char *stop_name(const void *root, uint32_t index)
{
	const struct journey *journey = root;
	return index < journey->n_stops ? journey->stops[index].name : NULL;
}

static int check_stop(
		json_t *item, const char *path, void *into, size_t index, struct hs_error *err)
{
	const struct journey *journey = into;

	(void)item;
	if (index > 0 && journey->stops[index].platform <= journey->stops[index - 1].platform)
		return hs_error_set(err, "bad_value", path, "ascending platforms", "it descends");
	return 0;
}

// Refuses ends of one letter, each by itself.
static void check_way(
		json_t *item, const char *path, void *into, size_t index, struct hs_errors *errors)
{
	const struct way *way = &((struct journey *)into)->ways[index];
	char at[64];

	(void)item;
	for (unsigned i = 0; i < 2; i++) {
		snprintf(at, sizeof(at), "%s.ends[%u]", path, i);
		if (strcmp(way->ends[i], "z") == 0)
			hs_errors_add(errors, "bad_value", at, "a to y", "it is z");
	}
}

static const struct hs_schema_names stop_names = {
		"unknown_name", "stop", "the name of a stop", find_stop, stop_name};
static const struct hs_schema_word all_words[] = {{"*", ALL}, {NULL, 0}};

#define STOP(member)	HS_SCHEMA_MEMBER(struct stop, member)
#define WAY(member)	HS_SCHEMA_MEMBER(struct way, member)
#define JOURNEY(member) HS_SCHEMA_MEMBER(struct journey, member)
static const struct hs_schema_field stop_fields[] = {
		{"name", HS_SCHEMA_TEXT, STOP(name), .required = true, .min = 1, .max = 7},
		{"platform", HS_SCHEMA_UINT, STOP(platform), .max = 9},
		{NULL},
};
static const struct hs_schema_list stop_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = stop_fields},
		HS_SCHEMA_ITEMS(struct journey, stops),
		HS_SCHEMA_COUNT(struct journey, n_stops),
		.noun = "stops",
		.fresh = &(const struct stop){.platform = 5},
		.check = check_stop,
};
static const struct hs_schema_list over_list = {
		.item = {.kind = HS_SCHEMA_NAME, .size = sizeof(uint16_t), .names = &stop_names},
		HS_SCHEMA_ITEMS(struct way, stops),
		HS_SCHEMA_COUNT(struct way, n_stops),
		.heap = true,
		.noun = "stops",
};
static const struct hs_schema_list ends_list = {
		.item = {.kind = HS_SCHEMA_TEXT, .size = 8, .min = 1, .max = 7},
		HS_SCHEMA_ITEMS(struct way, ends),
		.noun = "ends",
		.bounds = "two ends",
};
static const struct hs_schema_field way_fields[] = {
		{"over", HS_SCHEMA_LIST, WAY(stops), .min = 1, .max = 4, .list = &over_list,
				.expected = "a list of stops"},
		{"last", HS_SCHEMA_NAME, WAY(last), .names = &stop_names, .words = all_words},
		{"ends", HS_SCHEMA_LIST, WAY(ends), .min = 2, .max = 2, .list = &ends_list},
		{NULL},
};
static const struct hs_schema_list way_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = way_fields},
		HS_SCHEMA_ITEMS(struct journey, ways),
		HS_SCHEMA_COUNT(struct journey, n_ways),
		.heap = true,
		.noun = "ways",
		.check_all = check_way,
};
static const struct hs_schema_field mood_fields[] = {
		{"quick", HS_SCHEMA_BOOL, 0, 1},
		{NULL},
};
static const struct hs_schema_field journey_fields[] = {
		{"stops", HS_SCHEMA_LIST, JOURNEY(stops), .max = 3, .list = &stop_list},
		{"ways", HS_SCHEMA_LIST, JOURNEY(ways), .max = 2, .list = &way_list},
		{"notes", HS_SCHEMA_KEPT, JOURNEY(notes), .expected = "a list of notes"},
		{"mood", HS_SCHEMA_OBJECT, JOURNEY(mood), .fields = mood_fields},
		{NULL},
};

static void journey_fini(struct journey *journey)
{
	for (unsigned i = 0; i < journey->n_ways; i++)
		free(journey->ways[i].stops);
	free(journey->ways);
	json_decref(journey->notes);
}

static int read_journey(const char *text, struct journey *journey, struct hs_error *err)
{
	json_t *object = json_loads(text, 0, NULL);

	*journey = (struct journey){0};
	assert_non_null(object);
	int rc = hs_schema_read(journey_fields, object, "", journey, err);
	json_decref(object);
	return rc;
}

#define WHOLE                                                                                      \
	"{\"stops\": [{\"name\": \"a\", \"platform\": 1}, {\"name\": \"b\", \"platform\": 5}], "   \
	"\"ways\": [{\"over\": [\"b\", \"a\", \"b\"], \"last\": \"*\", \"ends\": [\"x\", "         \
	"\"y\"]}], "                                                                               \
	"\"notes\": [1, {}], \"mood\": {\"quick\": true}}"

static void lists_stand_in_the_struct_or_on_the_heap(void **state)
{
	(void)state;
	struct journey journey;
	struct hs_error err = {0};

	assert_int_equal(read_journey(WHOLE, &journey, &err), 0);
	assert_int_equal(journey.n_stops, 2);
	assert_string_equal(journey.stops[1].name, "b");
	assert_int_equal(journey.stops[1].platform, 5);
	assert_int_equal(journey.n_ways, 1);
	assert_int_equal(journey.ways[0].n_stops, 3);
	assert_int_equal(journey.ways[0].stops[0], 1);
	assert_int_equal(journey.ways[0].stops[1], 0);
	assert_int_equal(journey.ways[0].last, ALL);
	assert_string_equal(journey.ways[0].ends[1], "y");
	assert_int_equal(json_array_size(journey.notes), 2);
	assert_true(journey.mood.quick);
	journey_fini(&journey);
}

struct sum {
	unsigned platforms, items;
};

static int take_stop(void *into, const struct hs_schema_item *item, struct hs_error *err)
{
	const struct stop *stop = item->read;
	struct sum *sum = into;

	if (stop->platform == 9)
		return hs_error_set(err, "bad_value", item->path, "below 9", "nine");
	assert_int_equal(item->index, sum->items++);
	sum->platforms += stop->platform;
	return 0;
}

static void items_of_a_list_without_an_array_are_taken_one_by_one(void **state)
{
	(void)state;
	const struct hs_schema_list list = {
			.item = {.kind = HS_SCHEMA_OBJECT, .fields = stop_fields},
			.item_bytes = sizeof(struct stop),
			.fresh = &(const struct stop){.platform = 5},
			.take = take_stop,
	};
	const struct hs_schema_field row = {"stops", HS_SCHEMA_LIST, .max = 3, .list = &list};
	json_t *stops = json_loads("[{\"name\": \"a\", \"platform\": 1}, {\"name\": \"b\"},"
				   " {\"name\": \"c\", \"platform\": 9}]",
			0, NULL);
	struct hs_error err = {0};
	struct sum sum = {0};

	assert_int_equal(hs_schema_read_value(&row, stops, "x", &sum, &err), -EINVAL);
	assert_string_equal(err.path, "x[2]");
	assert_int_equal(sum.items, 2);
	assert_int_equal(sum.platforms, 6);
	json_array_append(stops, json_array_get(stops, 0));
	assert_int_equal(hs_schema_read_value(&row, stops, "x", &sum, &err), -EINVAL);
	assert_string_equal(err.expected, "at most 3");
	assert_string_equal(err.message, "the list has 4");
	json_decref(stops);
}

static void lists_and_names_are_printed_as_they_were_read(void **state)
{
	(void)state;
	struct journey journey;
	struct hs_error err = {0};
	json_t *whole = json_loads(WHOLE, 0, NULL);

	assert_int_equal(read_journey(WHOLE, &journey, &err), 0);
	json_t *printed = hs_schema_print(journey_fields, &journey);
	assert_true(json_equal(printed, whole));
	json_decref(printed);
	json_decref(whole);
	journey_fini(&journey);
}

// Names are found although they stand behind their use: the table's order counts.
static void names_may_stand_behind_their_use(void **state)
{
	(void)state;
	struct journey journey;
	struct hs_error err = {0};

	assert_int_equal(read_journey("{\"ways\": [{\"last\": \"a\"}], \"stops\": "
				      "[{\"name\": \"a\"}]}",
					 &journey, &err),
			0);
	assert_int_equal(journey.ways[0].last, 0);
	journey_fini(&journey);
}

static void each_error_in_a_list_has_its_path(void **state)
{
	(void)state;
	static const struct {
		const char *text, *code, *path, *expected;
	} cases[] = {
			{"{\"stops\": 1}", "wrong_type", "stops", "a list"},
			{"{\"stops\": [1, 2, 3, 4]}", "out_of_range", "stops", "at most 3 stops"},
			{"{\"stops\": [{}]}", "missing_field", "stops[0].name",
					"a string of 1 to 7 bytes"},
			{"{\"stops\": [{\"name\": \"a\"}, 7]}", "wrong_type", "stops[1]",
					"an object"},
			{"{\"stops\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}", "bad_value",
					"stops[1]", "ascending platforms"},
			{"{\"ways\": [{\"over\": 3}]}", "wrong_type", "ways[0].over",
					"a list of stops"},
			{"{\"ways\": [{\"over\": []}]}", "out_of_range", "ways[0].over",
					"1 to 4 stops"},
			{"{\"ways\": [{}, {\"over\": [\"a\"]}]}", "unknown_name", "ways[1].over[0]",
					"the name of a stop"},
			{"{\"ways\": [{\"last\": 1}]}", "wrong_type", "ways[0].last",
					"the name of a stop"},
			{"{\"ways\": [{\"ends\": [\"a\"]}]}", "out_of_range", "ways[0].ends",
					"two ends"},
			{"{\"ways\": [{\"ends\": [\"a\", \"12345678\"]}]}", "out_of_range",
					"ways[0].ends[1]", "a string of 1 to 7 bytes"},
			{"{\"ways\": [{\"over\": [\"a\"]}], \"stops\": [{\"name\": \"a\"}], "
			 "\"more\": 1}",
					"unknown_field", "more", "one of stops, ways, notes, mood"},
			{"{\"notes\": {}}", "wrong_type", "notes", "a list of notes"},
			{"{\"ways\": [{\"ends\": [\"z\", \"z\"]}]}", "bad_value", "ways[0].ends[0]",
					"a to y"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct journey journey;
		struct hs_error err = {0};
		assert_true(read_journey(cases[i].text, &journey, &err) < 0);
		assert_string_equal(err.code, cases[i].code);
		assert_string_equal(err.path, cases[i].path);
		assert_string_equal(err.expected, cases[i].expected);
		journey_fini(&journey);
	}
}

static void a_table_describes_itself_as_json_schema(void **state)
{
	(void)state;
	static const char expected[] =
			"{'type': 'object', 'required': [], 'additionalProperties': false, "
			"'properties': {"
			"'stops': {'type': 'array', 'maxItems': 3, 'items': "
			"{'type': 'object', 'required': ['name'], 'additionalProperties': false, "
			"'properties': {'name': {'type': 'string', 'minLength': 1, 'maxLength': "
			"7}, "
			"'platform': {'type': 'integer', 'minimum': 0, 'maximum': 9}}}}, "
			"'ways': {'type': 'array', 'maxItems': 2, 'items': "
			"{'type': 'object', 'required': [], 'additionalProperties': false, "
			"'properties': {'over': {'type': 'array', 'minItems': 1, 'maxItems': 4, "
			"'items': {'type': 'string', 'description': 'the name of a stop'}}, "
			"'last': {'type': 'string', 'description': 'the name of a stop'}, "
			"'ends': {'type': 'array', 'minItems': 2, 'maxItems': 2, "
			"'items': {'type': 'string', 'minLength': 1, 'maxLength': 7}}}}}, "
			"'notes': {'type': 'array'}, "
			"'mood': {'type': 'object', 'required': [], 'additionalProperties': false, "
			"'properties': {'quick': {'type': 'boolean'}}}}}";
	json_t *shape = hs_schema_shape(expected);
	json_t *described = hs_schema_describe(journey_fields);

	assert_non_null(shape);
	assert_true(json_equal(described, shape));
	json_decref(described);
	json_decref(shape);
}

static void numbers_and_words_have_their_bounds_in_the_json_schema(void **state)
{
	(void)state;
	json_t *described = hs_schema_describe(fields);
	json_t *shape = hs_schema_shape(
			"{'type': 'object', 'required': [], 'additionalProperties': false, "
			"'properties': {"
			"'wide': {'type': 'integer', 'minimum': -5000000000, 'maximum': 7}, "
			"'narrow': {'type': 'integer', 'minimum': -8, 'maximum': 8}, "
			"'ratio': {'type': 'number', 'minimum': -0.5, 'maximum': 1.0}, "
			"'time_s': {'type': 'number', 'minimum': 0.0, 'maximum': 1000.0}, "
			"'word': {'enum': ['long']}, 'part': {}}}");

	assert_non_null(shape);
	assert_true(json_equal(described, shape));
	json_decref(described);
	json_decref(shape);
}

static void a_file_that_never_ends_or_is_none_is_refused(void **state)
{
	static const struct {
		const char *file, *code;
		int rc;
	} wrong[] = {
			{"/nowhere/at/all.json", "not_readable", -ENOENT},
			{"/", "not_readable", -EISDIR},
			{"/dev/zero", "too_large", -EINVAL},
			{"/dev/null", "not_json", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct hs_error err = {0};
		json_t *root;
		assert_int_equal(hs_schema_load_file(wrong[i].file, &root, &err), wrong[i].rc);
		assert_string_equal(err.code, wrong[i].code);
	}
}

static void all_errors_are_told_and_what_is_right_is_read(void **state)
{
	static const char *const paths[] = {"at.colour", "at.size", "at.narrow", "at.word"};
	json_t *object = json_loads("{\"narrow\": 9, \"colour\": 1, \"wide\": 5, \"size\": 2,"
				    " \"word\": \"short\", \"ratio\": 0.25}",
			0, NULL);
	struct hs_errors errors = {0};
	struct thing thing = {0};

	(void)state;
	assert_int_equal(hs_schema_read_all(fields, object, "at", &thing, &errors), -EINVAL);
	assert_int_equal(errors.n, sizeof(paths) / sizeof(paths[0]));
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_string_equal(errors.list[i].path, paths[i]);
	assert_int_equal(thing.wide, 5);
	assert_true(thing.ratio == 0.25);
	json_object_del(object, "colour");
	json_object_del(object, "size");
	json_object_set_new(object, "narrow", json_integer(8));
	json_object_set_new(object, "word", json_string("long"));
	// Errors of before stay, and are none of this object.
	assert_int_equal(hs_schema_read_all(fields, object, "at", &thing, &errors), 0);
	assert_int_equal(errors.n, sizeof(paths) / sizeof(paths[0]));
	json_decref(object);
}

static void an_item_has_all_its_errors(void **state)
{
	static const char *const paths[] = {
			"more", "ways[0].ends[0]", "ways[0].ends[1]", "ways[1].last"};
	json_t *object = json_loads("{\"ways\": [{\"ends\": [\"z\", \"z\"]}, "
				    "{\"ends\": [\"z\", \"z\"], \"last\": 1}], \"more\": 1}",
			0, NULL);
	struct hs_errors errors = {0};
	struct journey journey = {0};

	(void)state;
	assert_int_equal(
			hs_schema_read_all(journey_fields, object, "", &journey, &errors), -EINVAL);
	assert_int_equal(errors.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(errors.list[i].path, paths[i]);
	journey_fini(&journey);
	json_decref(object);
}

static void of_many_errors_the_first_are_kept_and_all_are_counted(void **state)
{
	json_t *object = json_object();
	struct hs_errors errors = {0};
	struct thing thing = {0};
	char key[16];

	(void)state;
	for (int i = 0; i < 50; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		json_object_set_new(object, key, json_null());
	}
	assert_int_equal(hs_schema_read_all(fields, object, "", &thing, &errors), -EINVAL);
	assert_int_equal(errors.n, 50);
	assert_string_equal(errors.list[HS_ERRORS_MOST - 1].code, "unknown_field");
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(all_errors_are_told_and_what_is_right_is_read),
			cmocka_unit_test(of_many_errors_the_first_are_kept_and_all_are_counted),
			cmocka_unit_test(an_item_has_all_its_errors),
			cmocka_unit_test(integers_may_have_a_sign),
			cmocka_unit_test(numbers_may_have_a_fraction_or_none),
			cmocka_unit_test(seconds_are_kept_to_the_nearest_nanosecond),
			cmocka_unit_test(
					an_object_begins_with_its_defaults_and_a_boolean_may_be_negated),
			cmocka_unit_test(words_may_stand_for_what_takes_64_bits),
			cmocka_unit_test(an_error_lists_the_words_that_are_expected),
			cmocka_unit_test(a_required_key_that_is_absent_is_refused),
			cmocka_unit_test(what_is_printed_is_what_was_read),
			cmocka_unit_test(an_integer_that_is_too_great_is_left_out),
			cmocka_unit_test(lists_stand_in_the_struct_or_on_the_heap),
			cmocka_unit_test(items_of_a_list_without_an_array_are_taken_one_by_one),
			cmocka_unit_test(lists_and_names_are_printed_as_they_were_read),
			cmocka_unit_test(names_may_stand_behind_their_use),
			cmocka_unit_test(each_error_in_a_list_has_its_path),
			cmocka_unit_test(a_table_describes_itself_as_json_schema),
			cmocka_unit_test(a_file_that_never_ends_or_is_none_is_refused),
			cmocka_unit_test(numbers_and_words_have_their_bounds_in_the_json_schema),
	};
	return cmocka_run_group_tests_name("control-schema", tests, NULL, NULL);
}
