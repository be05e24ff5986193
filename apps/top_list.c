// SPDX-License-Identifier: BSD-3-Clause
// Sorts and clears the rows of `hopsight top`, and writes its texts about a round.
#include "top_rows.h"

#include <stdlib.h>
#include <string.h>

// ---- what is done with rows ----

void top_forget(enum top_view view, json_t *rows)
{
	const struct top_columns *of = &top_columns[view];
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		json_object_del(row, TOP_AT);
		for (size_t c = of->n_names; c < of->n; c++) {
			char member[64];
			snprintf(member, sizeof(member), "%.*s",
					(int)strcspn(of->columns[c].path, "."),
					of->columns[c].path);
			if (json_object_get(row, member))
				json_object_set_new(row, member, json_null());
		}
	}
}

struct order {
	json_t *row;
	const json_t *value;
	size_t at;
};

static int compare_values(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b)) {
		double left = json_number_value(a), right = json_number_value(b);
		return (left > right) - (left < right);
	}
	if (json_is_string(a) && json_is_string(b))
		return strcmp(json_string_value(a), json_string_value(b));
	return (json_typeof(a) > json_typeof(b)) - (json_typeof(a) < json_typeof(b));
}

static int by_value(const void *a, const void *b, void *descending)
{
	const struct order *left = a, *right = b;
	bool no_left = !left->value || json_is_null(left->value),
	     no_right = !right->value || json_is_null(right->value);
	int order = no_left || no_right ? 0 : compare_values(left->value, right->value);

	if (no_left != no_right)
		return no_left ? 1 : -1;
	if (order)
		return *(bool *)descending ? -order : order;
	return (left->at > right->at) - (left->at < right->at);
}

void top_sort(json_t *rows, const char *path, bool descending)
{
	size_t n = json_array_size(rows), i;
	struct order *order = calloc(n + 1, sizeof(*order));
	char hidden[64];
	json_t *row;

	if (!order)
		return;
	snprintf(hidden, sizeof(hidden), ".%s", path); // the number of a text with a unit
	json_array_foreach (rows, i, row) {
		const json_t *value = json_object_get(row, hidden);
		order[i] = (struct order){
				json_incref(row), value ? value : hs_cli_at_path(row, path), i};
	}
	qsort_r(order, n, sizeof(*order), by_value, &descending);
	json_array_clear(rows);
	for (i = 0; i < n; i++)
		json_array_append_new(rows, order[i].row);
	free(order);
}

bool top_is_alarm(const json_t *row)
{
	static const char *const bad[] = {"drop_pps", "lost_pps", "loss_ratio", "missing_pps"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (json_number_value(json_object_get(row, bad[i])) > 0)
			return true;
	return json_is_false(json_object_get(row, "link_up")) ||
	       json_is_false(json_object_get(row, "usable")) || top_is_true(row, "congested");
}

// ---- words ----

static void add_text(char text[HS_CLI_TEXT], const char *one, const char *two, const char *three)
{
	size_t used = strlen(text);

	snprintf(text + used, HS_CLI_TEXT - used, "%s%s%s%s", used ? "; " : "", one, two, three);
}

void top_note(const json_t *round, char text[HS_CLI_TEXT])
{
	char names[HS_CLI_TEXT];
	const char *verb;
	json_t *one;

	text[0] = '\0';
	json_object_foreach ((json_t *)round, verb, one) {
		const json_t *error = json_object_get(one, "error");
		if (error)
			add_text(text, verb, ": ", json_string_value(error));
		if (top_is_true(one, "more"))
			add_text(text, verb, ": there is more than is shown", "");
	}
	hs_cli_format("", json_object_get(top_answer(round, "ports_get"), "unreachable"), names);
	if (names[0])
		add_text(text, "these nodes do not answer: ", names, "");
}

void top_who(const json_t *round, char text[HS_CLI_TEXT])
{
	const json_t *hello = top_answer(round, "hello"), *id = json_object_get(hello, "node_id");
	char name[HS_CLI_TEXT];

	hs_cli_format("", json_object_get(hello, "name"), name);
	if (top_is_true(hello, "controller"))
		snprintf(text, HS_CLI_TEXT, "controller %.63s", name);
	else if (top_is_true(hello, "collector"))
		snprintf(text, HS_CLI_TEXT, "collector %.63s", name);
	else if (id)
		snprintf(text, HS_CLI_TEXT, "node %" JSON_INTEGER_FORMAT " %.63s",
				json_integer_value(id), name);
	else
		snprintf(text, HS_CLI_TEXT, "node %.63s", name);
}
