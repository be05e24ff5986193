// SPDX-License-Identifier: BSD-3-Clause
// What `hopsight top` shows of the answers of one round: rows, and rates between two rounds.
//
// A round is an object: for each verb that was asked, {"ok": answer, "at_ns": time}, or {"error":
// text}. "hello" says who answers. "int_get" has such an object for each rule, by its ns_id. A row
// is an object whose members are shown as in tables; null is a value that is not known now. Members
// that begin with a dot are not shown.
//
// Thread rule: any; pure functions.
#pragma once

#include "hopsight_cli.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_AT ".at_ns" // in a row: the time at which its counters were read

enum top_view {
	TOP_PORTS,
	TOP_RULES,
	TOP_HOPS,
	TOP_FLOWS,
	TOP_QUEUES,
	TOP_LINKS,
	TOP_EXPORTERS,
	TOP_VIEWS,
};

struct top_columns {
	const char *name; // of the view, and of its list in JSON
	const char *none; // for people, in place of a table without rows
	const struct hs_cli_column *columns;
	size_t n;
	size_t n_names; // the first columns, which name a row and are no measured values
};
extern const struct top_columns top_columns[TOP_VIEWS];

// Returns what a verb was answered in a round (borrowed), or NULL.
const json_t *top_answer(const json_t *round, const char *verb);
// Returns whether a member of an object is true.
bool top_is_true(const json_t *object, const char *key);

// Returns whether a round's node, controller or collector has this view.
bool top_has_view(const json_t *round, enum top_view view);

// Returns the rows of a view; a new reference. `before` are the rows of the round before, or NULL.
// A rate is the difference of a counter over the time between both answers, in units per second. A
// rate is null if there is no earlier row of the same process of the same node, or if its counter
// went back. Numbers of stale windows are null. `wall_ns` is the time of day, for ages.
json_t *top_rows(enum top_view view, const json_t *round, const json_t *before, int64_t wall_ns);

// Sorts rows by a member. Rows without a value come last. Equal rows keep their order.
void top_sort(json_t *rows, const char *path, bool descending);

// Makes the values of rows null, except for those that name the rows, because the values are no
// longer known. Rates begin anew after these rows.
void top_forget(enum top_view view, json_t *rows);

// Returns whether a row says that something is lost, down or congested.
bool top_is_alarm(const json_t *row);

// Writes what is missing from a round, or "": errors, nodes that do not answer, lists that are
// longer than what is shown.
void top_note(const json_t *round, char text[HS_CLI_TEXT]);

// Writes "node 2 sw1", "controller c", "collector c1".
void top_who(const json_t *round, char text[HS_CLI_TEXT]);
