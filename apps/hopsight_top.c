// SPDX-License-Identifier: BSD-3-Clause
// `hopsight top`: shows the rates of a node, controller or collector, round after round, until it
// is interrupted.
#include "hopsight_cli.h"
#include "top_feed.h"
#include "top_rows.h"
#include "top_screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIN_INTERVAL_S 0.1

struct top {
	struct hs_cli *cli;
	double interval_s;
	struct top_feed *feed;
	bool on_screen;
	const char *told; // the trouble that is shown
	char who[HS_CLI_TEXT];
	char head[HS_CLI_TEXT], note[HS_CLI_TEXT], trouble[HS_CLI_TEXT];
	struct top_shown shown;
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// ---- a round ----

static void take_round(struct top *top, const json_t *round)
{
	int64_t wall_ns = now_ns(CLOCK_REALTIME);

	for (enum top_view view = 0; view < TOP_VIEWS; view++) {
		json_t *before = top->shown.rows[view];
		top->shown.rows[view] = top_has_view(round, view)
							? top_rows(view, round, before, wall_ns)
							: NULL;
		json_decref(before);
	}
	top_note(round, top->note);
	top_who(round, top->who);
}

// Shows that there is no answer. No value is known until the next answer, after which rates begin
// anew.
static void take_trouble(struct top *top)
{
	char time[HS_CLI_TEXT];

	for (enum top_view view = 0; view < TOP_VIEWS; view++)
		if (top->shown.rows[view])
			top_forget(view, top->shown.rows[view]);
	hs_cli_now_text(time);
	snprintf(top->trouble, sizeof(top->trouble), "%s, since %.19sZ; asking again", top->told,
			time);
	if (!top->on_screen)
		fprintf(stderr, "hopsight: %s: %s\n", top->cli->endpoint, top->trouble);
}

// ---- output that is no screen ----

static void print_text(const struct top *top)
{
	printf("%s\n", top->head);
	for (enum top_view view = 0; view < TOP_VIEWS; view++) {
		const struct top_columns *of = &top_columns[view];
		json_t *rows = top->shown.rows[view];
		if (!rows)
			continue;
		printf("\n%s\n", json_array_size(rows) ? of->name : of->none);
		hs_cli_print_table(rows, of->columns, of->n, false);
	}
	printf("%s%s\n", top->note, top->note[0] ? "\n" : "");
}

// Returns a row as it was before it got members to sort by and texts with units.
static json_t *public_row(const json_t *row)
{
	json_t *copy = json_copy((json_t *)row), *value;
	const char *key;
	void *next;

	json_object_foreach_safe (copy, next, key, value) {
		if (key[0] != '.')
			continue;
		if (json_is_number(value) && json_object_get(row, key + 1))
			json_object_set(copy, key + 1, value);
		json_object_del(copy, key);
	}
	return copy;
}

static void print_json(const struct top *top)
{
	json_t *round = json_pack(
			"{s:I, s:s}", "ts_ns", (json_int_t)now_ns(CLOCK_REALTIME), "who", top->who);

	if (top->note[0])
		json_object_set_new(round, "note", json_string(top->note));
	for (enum top_view view = 0; view < TOP_VIEWS; view++) {
		json_t *list = top->shown.rows[view] ? json_array() : NULL, *row;
		size_t i;
		json_array_foreach (top->shown.rows[view], i, row)
			json_array_append_new(list, public_row(row));
		json_object_set_new(round, top_columns[view].name, list);
	}
	hs_cli_print_line(round);
	json_decref(round);
}

// ---- the loop ----

static void show(struct top *top)
{
	char time[HS_CLI_TEXT];

	hs_cli_now_text(time);
	if (!top->on_screen)
		snprintf(top->head, sizeof(top->head), "%s", time);
	else
		snprintf(top->head, sizeof(top->head), "hopsight top  %.79s  %.19sZ  every %g s",
				top->who, time, top->interval_s);
	if (top->on_screen)
		top_screen_draw(&top->shown);
	else if (top->cli->values[HS_CLI_JSON])
		print_json(top);
	else
		print_text(top);
}

// Takes replies that came. Returns whether there is something new to show.
static bool step(struct top *top)
{
	json_t *round = top_feed_step(top->feed, now_ns(CLOCK_MONOTONIC));
	const char *trouble = top_feed_trouble(top->feed);
	bool changed = round || (trouble && trouble != top->told);

	if (round)
		take_round(top, round);
	if (trouble != top->told) {
		top->told = trouble;
		if (trouble)
			take_trouble(top);
	}
	top->shown.trouble = trouble ? top->trouble : NULL;
	json_decref(round);
	return changed && (round || top->on_screen);
}

// Waits for replies and keys. Signals are blocked between the check for a stop and ppoll(), so that
// none is missed. At other times, a signal may end a wait for output that no process reads
// (hs_cli_catch_signals). A new size of the terminal also ends the wait.
static int wait_for(struct top *top, struct pollfd fds[2], const sigset_t *caught)
{
	int64_t now = now_ns(CLOCK_MONOTONIC);
	int64_t left = top_feed_next_ns(top->feed, now) - now;
	struct timespec pause = {0};
	sigset_t usual;
	int rc = 0;

	if (left > 0)
		pause = (struct timespec){left / 1000000000, left % 1000000000};
	fds[0].revents = fds[1].revents = 0;
	sigprocmask(SIG_BLOCK, caught, &usual);
	if (!hs_cli_is_stopped() && ppoll(fds, 2, &pause, &usual) < 0 && errno != EINTR)
		rc = -errno;
	sigprocmask(SIG_SETMASK, &usual, NULL);
	return rc;
}

static int loop(struct top *top, const sigset_t *caught)
{
	struct pollfd fds[] = {{.fd = top_feed_fd(top->feed), .events = POLLIN},
			{.fd = top->on_screen ? STDIN_FILENO : -1, .events = POLLIN}};

	while (!hs_cli_is_stopped() && !ferror(stdout)) {
		if (step(top))
			show(top);
		if (!top->on_screen)
			fflush(stdout);
		if (wait_for(top, fds, caught))
			return HS_CLI_REFUSED;
		if (!top->on_screen || hs_cli_is_stopped())
			continue;
		if (!top_screen_keys(&top->shown) ||
				fds[1].revents & (POLLHUP | POLLERR | POLLNVAL))
			return HS_CLI_DONE;
	}
	return HS_CLI_DONE;
}

// Asks once, as every verb does, so that errors at the start are printed before the program takes
// over the screen.
static int first_contact(struct hs_cli *cli)
{
	const char *window = cli->values[HS_CLI_WINDOW];
	json_t *ok = NULL;
	int rc = hs_cli_ask(cli, json_pack("{s:{}}", "hello"), &ok);

	json_decref(ok);
	if (rc || !window)
		return rc;
	rc = hs_cli_ask(cli, json_pack("{s:{s:s, s:i}}", "qos_get", "window", window, "limit", 1),
			&ok);
	if (rc == HS_CLI_DONE)
		json_decref(ok);
	return rc;
}

int hs_cli_top(struct hs_cli *cli)
{
	struct top top = {.cli = cli, .interval_s = 1, .who = ""};
	const char *interval = cli->values[HS_CLI_INTERVAL];
	sigset_t caught;

	if (interval && (!hs_cli_read_seconds(interval, &top.interval_s) ||
					top.interval_s < MIN_INTERVAL_S))
		return hs_cli_usage("--interval: %s is no number of seconds from %g to 86400",
				interval, MIN_INTERVAL_S);
	int rc = first_contact(cli);
	if (rc)
		return rc;
	hs_bus_client_close(cli->client);
	cli->client = NULL;
	hs_cli_catch_signals(top_screen_abandon, &caught);
	rc = top_feed_create(cli, (int64_t)(top.interval_s * 1e9), cli->values[HS_CLI_WINDOW],
			&top.feed);
	if (rc)
		return rc;
	top.shown.head = top.head;
	top.shown.note = top.note;
	top.on_screen = !cli->values[HS_CLI_JSON] && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	if (top.on_screen && top_screen_open()) {
		const char *term = getenv("TERM");
		rc = hs_cli_usage("TERM: %s is no terminal that top can draw on; --json and output "
				  "to "
				  "a file need none",
				term ? term : "nothing");
	} else {
		rc = loop(&top, &caught);
		top_screen_close();
	}
	for (enum top_view view = 0; view < TOP_VIEWS; view++)
		json_decref(top.shown.rows[view]);
	top_feed_destroy(top.feed);
	return rc;
}
