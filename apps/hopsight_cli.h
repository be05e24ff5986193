// SPDX-License-Identifier: BSD-3-Clause
// The parts of the command line `hopsight`: verbs, requests, views.
//
// Functions that can end the program's work return its exit code. Thread rule: the one thread of
// the program.
#pragma once

#include "api.h"
#include "bus.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum hs_cli_exit {
	HS_CLI_DONE = 0,
	HS_CLI_REFUSED = 1,	// the node refused the request, or no node of a controller answered
	HS_CLI_USAGE = 2,	// the words are not understood
	HS_CLI_UNREACHABLE = 3, // there is no node, or no answer
};

enum hs_cli_option {
	HS_CLI_ENDPOINT,
	HS_CLI_JSON,
	HS_CLI_WATCH,
	HS_CLI_TIMEOUT,
	HS_CLI_KEY,
	HS_CLI_SERVER_KEY,
	HS_CLI_HELP,
	HS_CLI_VERSION,
	HS_CLI_WIDE, // the last option that every verb takes
	HS_CLI_DRY_RUN,
	HS_CLI_WINDOW,
	HS_CLI_SINCE,
	HS_CLI_FROM,
	HS_CLI_PORT,
	HS_CLI_MAC,
	HS_CLI_VIA,
	HS_CLI_ON_PATH,
	HS_CLI_ON,
	HS_CLI_AT,
	HS_CLI_DIR,
	HS_CLI_READ_ONLY,
	HS_CLI_EVERY,
	HS_CLI_PERCENT,
	HS_CLI_INTERVAL,
	HS_CLI_PROMETHEUS,
	HS_CLI_RULE,			    // the first option that is a field of a rule
	HS_CLI_RULE_END = HS_CLI_RULE + 22, // in a verb's options, the first stands for all
	HS_CLI_OPTIONS = HS_CLI_RULE_END,
	HS_CLI_APP = HS_CLI_RULE + 1, // also an option of `qos`
	HS_CLI_TRACE = HS_CLI_RULE + 7,
};

// For getopt, a long option without a letter is HS_CLI_LONG + its number.
#define HS_CLI_LONG 256
// Returns all options by number, as getopt_long gets them.
const struct option *hs_cli_longs(void);

struct hs_cli {
	const char *values[HS_CLI_OPTIONS]; // NULL: not given
	char **args;			    // words after the verb
	int n_args;
	const char *endpoint;
	int timeout_ms;
	bool use_keys;
	struct hs_bus_keys keys;
	struct hs_bus_client *client;
};

struct hs_cli_verb {
	const char *name; // one or two words
	const char *args; // for the usage text
	const char *help;
	int min_args, max_args;
	const enum hs_cli_option *options; // the verb's own; ends with HS_CLI_OPTIONS
	bool watch;			   // --watch may repeat it
	int (*run)(struct hs_cli *cli);
};

extern const struct hs_cli_verb hs_cli_verbs[];
extern const size_t hs_cli_n_verbs;
bool hs_cli_takes(const struct hs_cli_verb *verb, enum hs_cli_option option);

// The options from HS_CLI_RULE on.
struct hs_cli_rule_option {
	const char *name;
	char letter;	      // 0: none
	const char *value;    // the name of its value in the help
	const char *field;    // of the rule
	bool is_text;	      // in JSON
	const char *fallback; // what `rule add` takes without it; NULL: the default of the field
	const char *allowed;  // NULL: what the field allows
};
extern const struct hs_cli_rule_option hs_cli_rule_options[HS_CLI_RULE_END - HS_CLI_RULE];

// ---- requests ----

// Sends a request (taken over). Returns HS_CLI_DONE with the reply's "ok" in *ok (a new reference),
// or another code after an error message.
int hs_cli_ask(struct hs_cli *cli, json_t *request, json_t **ok);
// Does the same without reading the reply.
int hs_cli_send(struct hs_cli *cli, const char *text, size_t len, char **reply);
// Asks page after page and shows all pages as one list. Takes ownership of the content.
int hs_cli_list(struct hs_cli *cli, enum hs_api_verb verb, json_t *content,
		void (*view)(const json_t *ok));
// Sends a change and prints that it was made ("route ::/0 added"). Without a name, the printed name
// is the ns_id in the answer. Takes ownership of the content.
int hs_cli_change(struct hs_cli *cli, enum hs_api_verb verb, json_t *content, const char *noun,
		const char *name, const char *done);

// Shows an answer as JSON, or with `view`. If a controller answered, shows each node's answer.
// Returns HS_CLI_DONE, or HS_CLI_REFUSED if a controller has no node that could answer.
int hs_cli_show(const struct hs_cli *cli, const json_t *ok, void (*view)(const json_t *ok));
// Asks {verb: content}, and shows the answer. Takes ownership of the content.
int hs_cli_ask_and_show(struct hs_cli *cli, enum hs_api_verb verb, json_t *content,
		void (*view)(const json_t *ok));

// ---- values ----

// Returns an integer of the command line, or the text itself, which the node then names in its
// refusal.
json_t *hs_cli_number_or_text(const char *text);
// Does the same, and also reads null, objects, and true and false (or yes and no, as tables show
// them).
json_t *hs_cli_value(const char *text);
// Reads a namespace id. Returns false after a usage error.
bool hs_cli_read_ns(const char *text, json_t **ns_id);
#define HS_CLI_TRACE_NAMES "all, or names of packets, time, bytes, telemetry, or "
// Refuses a text that is neither names nor hex.
int hs_cli_trace_check(const char *text);
// Returns the trace type of "packets,time,bytes" or "all" as hex, valid until the next call;
// returns other texts unchanged.
const char *hs_cli_trace_hex(const char *text);
// Returns the names of a trace type, or its hex if the trace type asks for a value only at the
// source or only at hops. New reference.
json_t *hs_cli_trace_names(const char *hex);
// Returns what to add to --trace to get these missing bits: names, or the bits themselves if the
// user wrote hex. New reference.
json_t *hs_cli_trace_needs(const struct hs_cli *cli, const char *hex);

// ---- verbs ----

#define HS_CLI_RULE_WORDS                                                                          \
	"--src ADDRESS --dst ADDRESS [--proto NAME] [--sport PORT] [--dport PORT] [--ns N] "       \
	"[--every N|TIME] [--trace NAME,...]"
int hs_cli_rule_add(struct hs_cli *cli);
int hs_cli_rule_list(struct hs_cli *cli);
int hs_cli_rule_show(struct hs_cli *cli);
int hs_cli_rule_set(struct hs_cli *cli);
int hs_cli_rule_del(struct hs_cli *cli);

int hs_cli_route_list(struct hs_cli *cli);
int hs_cli_route_add(struct hs_cli *cli);
int hs_cli_route_del(struct hs_cli *cli);
int hs_cli_neighbour_list(struct hs_cli *cli);
int hs_cli_neighbour_add(struct hs_cli *cli);
int hs_cli_neighbour_del(struct hs_cli *cli);

// Verbs of INT-label.
int hs_cli_label(struct hs_cli *cli);
int hs_cli_label_set(struct hs_cli *cli);

// Verbs of probes.
int hs_cli_probe_run(struct hs_cli *cli);
int hs_cli_probe_status(struct hs_cli *cli);
int hs_cli_probe_links(struct hs_cli *cli);
int hs_cli_probe_routes(struct hs_cli *cli);

// Verbs of a collector.
int hs_cli_flow(struct hs_cli *cli);
int hs_cli_queue(struct hs_cli *cli);
int hs_cli_link(struct hs_cli *cli);
int hs_cli_exporter(struct hs_cli *cli);
int hs_cli_refused(struct hs_cli *cli);

int hs_cli_stats(struct hs_cli *cli);
int hs_cli_top(struct hs_cli *cli);

// ---- output ----

// Prints a reply's "error" to stderr (with --json, also as JSON to stdout).
void hs_cli_print_error(const struct hs_cli *cli, const json_t *error);
// Prints a JSON value and a line end: indented on a terminal, otherwise on one line. In a round of
// --watch, an object also has the time of the round, `ts_ns`.
void hs_cli_print_json(const json_t *value);
// Does the same, always on one line.
void hs_cli_print_line(const json_t *value);
// Escapes everything in a value's strings and keys that controls a terminal or breaks a line,
// before a node's answer is shown to people. Takes ownership of the value. Returns a new reference;
// NULL for NULL, and if memory is out.
json_t *hs_cli_clean(json_t *value);
__attribute__((format(printf, 1, 2))) int hs_cli_usage(const char *format, ...);
// Reads a number of seconds of the command line: above 0, and at most a day.
bool hs_cli_read_seconds(const char *text, double *seconds);

// ---- unknown words ----

// Says what is wrong with the option that getopt refused, and which option may be meant
// (option_refusal). The verb is NULL if it is not known. Returns HS_CLI_USAGE.
int hs_cli_refuse_option(const struct hs_cli_verb *verb, int code, int option, const char *word);
// Says that the verb does not take this option, and which of its options may be meant. Returns
// HS_CLI_USAGE.
int hs_cli_refuse_other_option(const struct hs_cli_verb *verb, enum hs_cli_option option);
// Says that the arguments name no verb, and which verb may be meant. Returns HS_CLI_USAGE.
int hs_cli_refuse_words(const struct hs_cli *cli);

// ---- tables ----

struct hs_cli_column {
	const char *path;   // member, or member.member
	const char *header; // NULL: derived from the path
	// On a terminal that is too narrow, columns of the highest rank are left out first. Of
	// columns with the same rank, the last one is left out first. With rank HS_TEXT_CUT
	// (text_table.h), the column's texts are cut instead.
	uint8_t rank;
};

// Writes a value as text for people, by the unit in its key: rates in bit/s or /s, times, percent.
// null is "–": a number that is not known now.
#define HS_CLI_TEXT 4096
void hs_cli_format(const char *path, const json_t *value, char text[HS_CLI_TEXT]);
// Writes the time of day by UTC, and returns it in ns since 1970.
int64_t hs_cli_now_text(char text[HS_CLI_TEXT]);

// Writes "0 → 1 → 9", or "" without a path.
void hs_cli_path_text(const json_t *path, char text[HS_CLI_TEXT]);
// Writes "2 → 3"; ? is a node that did not say its id.
void hs_cli_hop_name(const json_t *hop, char *text, size_t size);
// Returns "1 → 2 (400) → 9": the nodes of a collector's flow, with the latencies that they
// reported.
json_t *hs_cli_told_path(const json_t *flow);
// Replaces a number by text with the unit of its row, "400 ns".
void hs_cli_add_unit(json_t *row, const char *key);
// Returns a copy of an object of numbers, or if they are stale, the same with null for each.
json_t *hs_cli_unless_stale(const json_t *numbers, bool stale);
// Finds a member, or a member of a member ("delay_ns.mean"). Returns NULL if there is none.
const json_t *hs_cli_at_path(const json_t *object, const char *path);

// Makes later tables fit the terminal behind stdout. The width is COLUMNS, or what the terminal
// says. With `wide`, and if stdout is no terminal, tables have all columns.
void hs_cli_fit_tables(bool wide);
// Returns in how many columns tables have to fit; 0: no limit.
size_t hs_cli_line_width(void);
// Prints words behind `*used` columns of a line. Where a line is full, the next one begins at
// column `indent`. *used is `indent` in the beginning of a text.
void hs_cli_print_words(size_t indent, const char *text, size_t *used);
// Prints the rest of a line, which has `indent` columns already.
void hs_cli_print_text(size_t indent, const char *text);

// Prints a list of objects, one line for each. Columns that no row has are left out. `rest` adds
// the members that no column names. A last line names the columns that did not fit.
void hs_cli_print_table(
		const json_t *rows, const struct hs_cli_column *columns, size_t n, bool rest);
// Returns the text of such a table; the caller frees it. Returns NULL if memory is out. `width` 0:
// all columns. *left_out has the names of the columns that did not fit, or is NULL; the caller
// frees it.
char *hs_cli_table_text(const json_t *rows, const struct hs_cli_column *columns, size_t n,
		bool rest, size_t width, char **left_out);
// Prints an object: values line by line, lists of objects as tables.
void hs_cli_print_object(const json_t *object);

// ---- views ----

void hs_cli_view_rules(const json_t *ok);
void hs_cli_view_applications(const json_t *ok);
void hs_cli_view_routes(const json_t *ok);
void hs_cli_view_neighbours(const json_t *ok);
void hs_cli_view_qos(const json_t *ok);
void hs_cli_view_run(const json_t *ok); // of window `run`
void hs_cli_view_ports(const json_t *ok);
void hs_cli_view_drops(const json_t *ok);
void hs_cli_view_stats(const json_t *ok);
void hs_cli_view_events(const json_t *ok);
void hs_cli_view_audit(const json_t *ok);
void hs_cli_view_explain(const json_t *ok);
void hs_cli_view_report(const json_t *message);

// ---- what a controller answers ----

// Returns whether these are the answers of several nodes, {"nodes": {name: answer}}.
bool hs_cli_is_controller(const json_t *ok);
// Returns HS_CLI_REFUSED if a controller asked nodes and all of them refused or did not answer, and
// HS_CLI_DONE otherwise.
int hs_cli_answered(const json_t *ok);
// Shows each node's answer with `view`.
void hs_cli_view_answers(const json_t *ok, void (*view)(const json_t *ok));
// Shows a controller's node_get.
void hs_cli_view_controller(const json_t *ok);
// Adds a member "at" to each rule that has states at nodes: a text that summarises the states.
void hs_cli_add_where(json_t *rules);
// Returns the nodes of a rule as the options give them (a new reference), or NULL if no option
// does.
json_t *hs_cli_on(const struct hs_cli *cli);
// Refuses options that name nodes in two ways, or name an empty list. Returns 0 or the exit code.
int hs_cli_check_where(const struct hs_cli *cli);
// Refuses names in `on` that no node of the controller has. The nodes are those that answered, and
// those that the controller named as unreachable. Returns 0 or the exit code.
int hs_cli_check_names(const json_t *answer, const json_t *on);

// hopsight_watch.c
// Repeats a verb until it ends with HS_CLI_USAGE or HS_CLI_UNREACHABLE, which is returned. Each
// round begins with its time. On a terminal, each round replaces the round before, and is cut at
// the end of the terminal.
int hs_cli_watch(const struct hs_cli_verb *verb, struct hs_cli *cli, double seconds);

// hopsight_end.c
// Makes SIGINT, SIGTERM, SIGHUP and SIGQUIT end the verb (hs_cli_is_stopped), and puts them into
// *caught. The program may not end within two seconds, because no process reads its output. The
// program then calls `restore` (may be NULL), which must be safe in a signal handler, and exits
// with HS_CLI_REFUSED.
void hs_cli_catch_signals(void (*restore)(void), sigset_t *caught);
bool hs_cli_is_stopped(void);

// hopsight_keys.c
int hs_cli_keygen(struct hs_cli *cli);
// Reads the keys of options and environment. Returns 0 or the exit code.
int hs_cli_find_keys(struct hs_cli *cli);
// Returns the keys for lib/bus, or NULL.
const struct hs_bus_keys *hs_cli_keys(const struct hs_cli *cli);
