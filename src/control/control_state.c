// SPDX-License-Identifier: BSD-3-Clause
// State that is kept over restarts. Changes of the API are written to a file before they are made,
// and repeated through the same checks when the node starts. What the configuration asks for is not
// kept and has priority. Rules that came in band are not kept, because they come again.
#include "control_state.h"
#include "control_event.h"
#include "control_kept.h"
#include "control_parts.h"
#include "control_rule.h"

#include "log.h"
#include "route_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_LINES 20 // logged lines that are refused or left out at the start; the rest is counted
#define PORTION	   64 // changes of a snapshot at a time, which take half a millisecond
#define TOGETHER   1024 // lines of routes

struct control_state {
	struct hs_state *file;
	struct control_kept kept;
	const char *name;
	uint64_t line;	   // line of the file while it is read
	unsigned told;	   // logged lines
	uint64_t left_out; // changes that the configuration already has
	uint64_t refused;  // refused lines
	// Lines of one route each, which are applied together, because the cost of a change of
	// routes depends on the number of routes.
	json_t *routes;
	uint64_t lines[TOGETHER];
	uint64_t n_kept;	       // changes that a snapshot would have had at the last count
	struct control_copy *snapshot; // NULL: no snapshot is under way
	bool written;		       // the snapshot, which waits for the disk
	char error[160];	       // text of the last error
	struct hs_event_limit limit;   // of events about errors
};

// ---- saving ----

static void count_error(struct hs_control *control, const char *text)
{
	control->counts.state_errors++;
	snprintf(control->state->error, sizeof(control->state->error), "%.150s", text);
}

static int save(void *context, const json_t *changes, struct hs_error *err)
{
	struct hs_control *control = context;
	int rc = hs_state_append(control->state->file, changes, err);

	if (rc < 0)
		count_error(control, err->message);
	return rc;
}

static void unsave(void *context)
{
	struct hs_control *control = context;

	if (hs_state_take_back(control->state->file) < 0)
		count_error(control,
				"a change that was not made is still in the file of the state");
}

// ---- loading ----

static bool may_tell(struct control_state *state)
{
	return state->told++ < TOLD_LINES;
}

static bool is_config_rule(const struct hs_control *control, uint32_t ns_id)
{
	uint32_t slot = hs_flow_table_find(control->flows, ns_id);
	return slot != HS_FLOW_NONE &&
	       hs_control_rule_origin(&control->rules, slot) == HS_ORIGIN_CONFIG;
}

// Logs a change that is left out, because the configuration, which has priority, has it already.
static void leave_out(struct control_state *state, const char *verb, const char *what)
{
	state->left_out++;
	if (may_tell(state))
		hs_log(HS_LOG_NOTICE, "state",
				"%s, line %" PRIu64 ": %s of %s is left out: the configuration has "
				"it",
				state->name, state->line, verb, what);
}

static bool wanted(void *context, const struct hs_api_args *args)
{
	struct hs_control *control = context;
	char text[HS_ROUTE_TEXT];

	if (args->has_ns_id) {
		if (!is_config_rule(control, args->ns_id))
			return true;
		snprintf(text, sizeof(text), "rule %" PRIu32, args->ns_id);
	} else {
		if (!hs_control_is_config_route(&control->state->kept, &args->route))
			return true;
		hs_route_prefix_text(args->route.prefix, args->route.depth, text);
	}
	leave_out(control->state, hs_api_verb_name(args->verb), text);
	return false;
}

static void refuse(struct control_state *state, uint64_t line, const struct hs_error *err)
{
	char text[HS_ERROR_TEXT];

	state->refused++;
	if (may_tell(state))
		hs_log(HS_LOG_WARNING, "state", "%s, line %" PRIu64 " is refused: %s", state->name,
				line, hs_error_text(err, text));
}

// Replays n lines of routes. If one is refused, tries the halves, so that the others are in force.
static void replay_routes(struct hs_control *control, size_t from, size_t n)
{
	struct control_state *state = control->state;
	struct hs_error err = {0};
	json_t *list = json_array();

	for (size_t i = from; i < from + n; i++)
		json_array_append(list, json_array_get(state->routes, i));
	int rc = hs_api_replay(&control->backend, n == 1 ? json_array_get(list, 0) : list, NULL,
			NULL, &err);
	json_decref(list);
	if (rc == 0)
		return;
	if (n == 1) {
		refuse(state, state->lines[from], &err);
		return;
	}
	replay_routes(control, from, n / 2);
	replay_routes(control, from + n / 2, n - n / 2);
}

static void replay_pending(struct hs_control *control)
{
	size_t n = json_array_size(control->state->routes);

	if (n)
		replay_routes(control, 0, n);
	json_array_clear(control->state->routes);
}

// Keeps a line of one route for later. Returns false if it is not such a line.
static bool put_off(struct hs_control *control, json_t *change)
{
	static const enum hs_api_verb verbs[] = {HS_VERB_ROUTE_ADD, HS_VERB_ROUTE_DELETE,
			HS_VERB_NEIGHBOUR_ADD, HS_VERB_NEIGHBOUR_DELETE};
	struct control_state *state = control->state;
	struct hs_route_entry route;
	json_t *content = NULL;
	const char *verb = "", *name;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && !content; i++) {
		verb = hs_api_verb_name(verbs[i]);
		content = json_object_get(change, verb);
	}
	if (!content)
		return false;
	name = json_string_value(json_object_get(content, "prefix"));
	name = name ? name : json_string_value(json_object_get(content, "addr"));
	if (name && !hs_route_read_prefix(name, route.prefix, &route.depth) &&
			hs_control_is_config_route(&state->kept, &route)) {
		leave_out(state, verb, name);
		return true;
	}
	if (json_array_size(state->routes) == TOGETHER)
		replay_pending(control);
	state->lines[json_array_size(state->routes)] = state->line;
	json_array_append(state->routes, change);
	return true;
}

// Replays a line. Counts refused lines itself, because some are refused only later.
static int replay(void *context, json_t *change)
{
	struct hs_control *control = context;
	struct hs_error err = {0};

	control->state->line++;
	if (put_off(control, change))
		return 0;
	replay_pending(control);
	json_t *rest;
	int rc = hs_in_band_replay(control->in_band, change, &rest, &err);
	if (rc == 0 && rest)
		rc = hs_api_replay_kept(&control->backend, rest, wanted, control, &err);
	json_decref(rest);
	if (rc < 0 || hs_error_is_set(&err))
		refuse(control->state, control->state->line, &err);
	return 0;
}

static void tell_set_aside(struct hs_control *control, const struct hs_state_load *load)
{
	if (!load->set_aside[0])
		return;
	hs_log(HS_LOG_ERROR, "state",
			"%s is damaged: %s. It was set aside as %s; what stood before the damage "
			"is "
			"in force: %" PRIu64 " lines",
			control->state->name, load->reason, load->set_aside, load->lines);
	hs_control_event(&control->events, "state_set_aside",
			json_pack("{s:s, s:s, s:s, s:I}", "file", control->state->name, "set_aside",
					load->set_aside, "reason", load->reason, "lines",
					(json_int_t)load->lines),
			"%.80s is damaged (%.60s): set aside, the lines before are in force",
			control->state->name, load->reason);
}

static void tell_loaded(struct hs_control *control, const struct hs_state_load *load)
{
	struct control_state *state = control->state;

	tell_set_aside(control, load);
	if (load->torn)
		hs_log(HS_LOG_NOTICE, "state",
				"%s: the last line was not whole; it was never confirmed",
				state->name);
	if (state->told > TOLD_LINES)
		hs_log(HS_LOG_WARNING, "state", "%s: %u more changes like these", state->name,
				state->told - TOLD_LINES);
	hs_log(HS_LOG_INFO, "state",
			"%s: %" PRIu64 " lines read, %" PRIu64 " refused, %" PRIu64
			" changes left out",
			state->name, load->lines, load->refused, state->left_out);
	hs_control_event(&control->events, "state_loaded",
			json_pack("{s:s, s:I, s:I, s:I}", "file", state->name, "lines",
					(json_int_t)load->lines, "refused",
					(json_int_t)load->refused, "left_out",
					(json_int_t)state->left_out),
			"%" PRIu64 " lines of state read, %" PRIu64 " refused; %" PRIu64
			" changes left out, because the configuration has them",
			load->lines, load->refused, state->left_out);
}

static int open_file(struct hs_control *control, const struct hs_state_config *config,
		struct hs_error *err)
{
	struct control_state *state = control->state;
	struct hs_state_load load;

	state->kept = (struct control_kept){.flows = control->flows,
			.rules = &control->rules,
			.routes = &control->routes,
			.in_band = control->in_band};
	if (control->routes.book) {
		state->kept.config_routes = hs_route_book_clone(control->routes.book);
		if (!state->kept.config_routes) {
			hs_error_set(err, "no_memory", "state", "", "memory is out");
			return -ENOMEM;
		}
	}
	state->name = config->file;
	state->line = 1; // the heading
	state->routes = json_array();
	int rc = hs_state_open(config, replay, control, &load, &state->file, err);
	if (rc < 0)
		return rc;
	replay_pending(control);
	load.refused = state->refused;
	load.lines -= state->refused;
	tell_loaded(control, &load);
	state->n_kept = hs_control_count_kept(&state->kept);
	control->backend.save = save;
	hs_in_band_keep(control->in_band, save);
	control->backend.unsave = unsave;
	return 0;
}

int hs_control_open_state(struct hs_control *control, int64_t now_ns,
		const struct hs_state_config *config, struct hs_error *err)
{
	struct hs_state_config at_now = *config;

	control->now_ns = at_now.now_ns = now_ns;
	control->state = calloc(1, sizeof(*control->state));
	if (!control->state) {
		hs_error_set(err, "no_memory", "state", "", "memory is out");
		return -ENOMEM;
	}
	control->origin = HS_ORIGIN_STATE;
	int rc = open_file(control, &at_now, err);
	control->origin = HS_ORIGIN_API;
	if (rc < 0)
		hs_control_close_state(control);
	return rc;
}

// ---- snapshots ----

static void free_snapshot(struct control_state *state)
{
	hs_control_free_copy(state->snapshot);
	state->snapshot = NULL;
	state->written = false;
}

static void fail_snapshot(struct hs_control *control, const char *text)
{
	hs_log(HS_LOG_WARNING, "state", "%s", text);
	count_error(control, text);
	free_snapshot(control->state);
}

static void begin_snapshot(struct hs_control *control)
{
	struct control_state *state = control->state;
	struct hs_error err;

	if (hs_state_snapshot_begin(state->file, &err) < 0)
		fail_snapshot(control, err.message);
	else if (!(state->snapshot = hs_control_copy_kept(&state->kept)))
		fail_snapshot(control, "no memory for a snapshot of the state");
}

static void end_snapshot(struct hs_control *control)
{
	struct control_state *state = control->state;
	uint64_t before = hs_state_bytes(state->file);
	struct hs_error err;
	int rc = hs_state_snapshot_end(state->file, &err);

	state->written = true;
	if (rc == -EAGAIN)
		return;
	if (rc < 0) {
		fail_snapshot(control, err.message);
		return;
	}
	hs_log(HS_LOG_INFO, "state", "%s: %" PRIu64 " bytes folded to %" PRIu64, state->name,
			before, hs_state_bytes(state->file));
	free_snapshot(state);
}

void hs_control_state_step(struct hs_control *control)
{
	struct control_state *state = control->state;
	struct hs_error err;
	json_t *change;

	if (!state)
		return;
	hs_in_band_save(control->in_band, false);
	if (!state->snapshot) {
		if (!hs_state_wants_snapshot(state->file, state->n_kept))
			return;
		// The count is repeated only here: for lines that were only added, this takes a few
		// walks in all.
		state->n_kept = hs_control_count_kept(&state->kept) +
				hs_in_band_count_lines(control->in_band);
		if (hs_state_wants_snapshot(state->file, state->n_kept))
			begin_snapshot(control);
		return;
	}
	for (unsigned i = 0; i < PORTION; i++) {
		change = hs_control_next_kept(&state->kept, state->snapshot);
		if (!change) {
			end_snapshot(control);
			return;
		}
		int rc = hs_state_snapshot_add(state->file, change, &err);
		json_decref(change);
		if (rc < 0) {
			fail_snapshot(control, err.message);
			return;
		}
	}
}

bool hs_control_state_is_busy(const struct hs_control *control)
{
	const struct control_state *state = control->state;
	return state && state->snapshot && !state->written;
}

void hs_control_state_totals(const struct hs_control *control, struct hs_node_totals *totals)
{
	if (!control->state)
		return;
	totals->state_lines = hs_state_lines(control->state->file);
	totals->state_bytes = hs_state_bytes(control->state->file);
}

void hs_control_watch_state(struct hs_control *control)
{
	struct control_state *state = control->state;
	uint64_t grown;

	if (!state || !hs_event_limit(&state->limit, control->now_ns, control->counts.state_errors,
				      &grown))
		return;
	hs_log(HS_LOG_ERROR, "state", "%" PRIu64 " errors; the last: %s", grown, state->error);
	hs_control_event(&control->events, "state_error",
			json_pack("{s:I}", "errors", (json_int_t)grown),
			"%" PRIu64 " errors in keeping the state; the last: %s", grown,
			state->error);
}

void hs_control_shift_state(struct hs_control *control, int64_t by_ns)
{
	if (control->state)
		hs_clock_shift(&control->state->limit.next_ns, by_ns);
}

void hs_control_close_state(struct hs_control *control)
{
	if (!control->state)
		return;
	hs_in_band_save(control->in_band, true);
	free_snapshot(control->state);
	hs_state_close(control->state->file);
	hs_route_book_destroy(control->state->kept.config_routes);
	json_decref(control->state->routes);
	free(control->state);
	control->state = NULL;
	control->backend.save = NULL;
	hs_in_band_keep(control->in_band, NULL);
}
