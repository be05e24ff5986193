// SPDX-License-Identifier: BSD-3-Clause
// The requests that a node (and a controller) answers: one table of verbs drives parsing,
// checking, replies and help. What a verb does is the backend's; what it takes is here.
//
// Envelope (docs/api.md): one object with exactly one verb and optional "id", "dry_run" and
// "if_generation", or a list of such as a transaction (also {"transaction": [...], ...}); replies
// {"id", "ok": {...}, "generation"} or {"id", "error": {...}}.
// Thread rule: owner; one call at a time.
#pragma once

#include "error.h"
#include "route_book.h"
#include "rule.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_API_VERSION	     "1.0"
#define HS_API_MAX_BYTES     (1u << 20)
#define HS_API_MAX_DEPTH     16
#define HS_API_MAX_VERBS     10000 // in one transaction
#define HS_API_PAGE	     1000  // default `limit` of lists
#define HS_API_MAX_PAGE	     10000
#define HS_API_MAX_PORT_NAME 31
#define HS_API_WINDOWS	     4		// lengths of windows, at most
#define HS_API_MAX_VALUES    (1u << 16) // numbers, strings, lists and objects of one message
#define HS_API_MAX_QUESTIONS 1000	// in one list that changes nothing
#define HS_API_MAX_STRING    4096
// What one reply to requests that change nothing may have, and take. Lists are cut into smaller
// pages for it; a transaction that would have more is refused.
#define HS_API_MAX_REPLY    (288u << 10)
#define HS_API_MAX_REPLY_NS INT64_C(5000000)
// 15 digits: what a decimal of that many digits was is printed again, 0.1 as 0.1.
#define HS_API_DUMP	  (JSON_COMPACT | JSON_REAL_PRECISION(15))
#define HS_API_WINDOW_RUN (-1) // window_ns of qos_get: everything since the rule was installed

enum hs_api_verb {
	HS_VERB_HELLO,
	HS_VERB_INT_REQUEST,
	HS_VERB_INT_UPDATE,
	HS_VERB_INT_DELETE,
	HS_VERB_INT_LIST,
	HS_VERB_INT_GET,
	HS_VERB_QOS_GET,
	HS_VERB_ROUTE_ADD,
	HS_VERB_ROUTE_DELETE,
	HS_VERB_ROUTE_LIST,
	HS_VERB_NEIGHBOUR_ADD,
	HS_VERB_NEIGHBOUR_DELETE,
	HS_VERB_NEIGHBOUR_LIST,
	HS_VERB_NODE_GET,
	HS_VERB_PORTS_GET,
	HS_VERB_STATS_GET,
	HS_VERB_DROPS_GET,
	HS_VERB_EVENTS,
	HS_VERB_AUDIT,
	HS_VERB_COUNT
};

// One checked request.
struct hs_api_args {
	enum hs_api_verb verb;
	struct hs_rule rule;	      // int_request
	struct hs_rule_update update; // int_update
	bool has_ns_id;
	uint32_t ns_id;		     // int_update, int_delete, int_get; a filter in qos_get
	uint32_t app_id;	     // qos_get: this application's flows together; 0: none
	uint64_t offset, limit;	     // lists, qos_get
	int64_t window_ns;	     // qos_get: a length; 0: all of them; HS_API_WINDOW_RUN
	int64_t start_ns, end_ns;    // qos_get: a window of any place and length; end_ns 0: none
	uint64_t since;		     // events: those with a sequence number above
	struct hs_route_entry route; // route_* and neighbour_*; its port is known once planned
	char port[HS_API_MAX_PORT_NAME + 1];
	json_t *on; // int_request at a controller: the nodes it is for; borrowed from the message
	bool undo;  // takes back a change of the same list
	// Bytes that the entries of a list or page may have together, see hs_api_page_add.
	size_t room;
};

// What a node does with checked requests. `run` fills *result (a new reference, an object) or
// returns a negative errno with *err. A transaction is run in order; before it, the check has
// agreed to each of its changes given the ones before it, so that `run` has no reason to fail
// half-way; if it does, the changes before it are taken back by further calls of `run`.
struct hs_api_backend {
	void *context;
	int (*run)(void *context, const struct hs_api_args *args, json_t **result,
			struct hs_error *err);
	// Is this namespace installed now?
	bool (*ns_exists)(void *context, uint32_t ns_id);
	// Current rule, for checking an update before it runs; NULL if there is none.
	const struct hs_rule *(*rule_of)(void *context, uint32_t ns_id);
	// How many more there can be, where all give way that do.
	uint32_t (*rules_free)(void *context);
	// What the node's own settings say about a rule that is right by itself; 0 or a negative
	// errno with *err. May be NULL.
	int (*admits)(void *context, const struct hs_rule *rule, struct hs_error *err);
	// Does the rule of a namespace give way to an int_request, because nobody here asked for
	// it (it came in band)? `run` is then to replace it, and where the table is full to make
	// room of such. May be NULL: none does.
	bool (*gives_way)(void *context, uint32_t ns_id);
	// May this be asked about a namespace that has no rule here? May be NULL: nothing may.
	bool (*knows)(void *context, enum hs_api_verb verb, uint32_t ns_id);
	// Is `on` something that a rule can be aimed with? 0 or -EINVAL with *err (path "/on...").
	// NULL: int_request takes no "on".
	int (*check_on)(void *context, const json_t *on, struct hs_error *err);
	// The three that follow may be NULL. The routes of a node that routes; NULL: it does not.
	struct hs_route_book *(*routes)(void *context);
	// The index of a port, or -1.
	int (*port_of)(void *context, const char *name);
	// Puts into force what a list changed of the routes: called once, after the last request.
	// If it fails, all requests are taken back and it is called again.
	int (*commit_routes)(void *context, struct hs_error *err);
	// Keeps the changes of a message, in the form that hs_api_replay takes, where they outlive
	// the node. Called once, when all are agreed to and before the first is run: a change that
	// cannot be kept is not made, and nothing had to be taken back for it (a rule installed
	// again has lost its counters). 0 or a negative errno with *err ("not_saved"). May be NULL.
	int (*save)(void *context, const json_t *changes, struct hs_error *err);
	// What was saved last could not be run after all. NULL only where `save` is.
	void (*unsave)(void *context);
	// Raised by every change; replies carry it.
	uint64_t (*generation)(void *context);
	// Processor time that this thread has taken so far. May be NULL: only bytes are limited.
	int64_t (*spent_ns)(void);
};

// Handles one message; returns the reply as a string that the caller frees (never NULL except when
// memory is out). Nothing in the message can make it fail otherwise. Without `may_change`, what
// would change something is refused ("read_only"), as is a list or dry run that holds such.
char *hs_api_handle(const struct hs_api_backend *backend, const char *message, size_t len,
		bool may_change);

// The same for the "requests" list of a configuration file: all or nothing, *err with its path.
int hs_api_run_list(const struct hs_api_backend *backend, json_t *requests, struct hs_error *err);
// The same for what `save` was given: a request or a list. Only those that `wanted` agrees to are
// run (NULL: all); nothing is saved.
int hs_api_replay(const struct hs_api_backend *backend, json_t *changes,
		bool (*wanted)(void *context, const struct hs_api_args *args), void *context,
		struct hs_error *err);
// Only checks such a list (--check), against empty tables.
struct hs_api_check {
	uint32_t rules;		      // capacity
	struct hs_route_book *routes; // what there would be before the list; NULL: the node does
				      // not route
	int (*port_of)(void *context, const char *name);
	int (*admits)(void *context, const struct hs_rule *rule, struct hs_error *err); // or NULL
	void *context;
};
int hs_api_check_list(json_t *requests, const struct hs_api_check *check, struct hs_error *err);

// Adds the `neighbours` and `routes` of a configuration file (lists of what the verbs take; may be
// NULL) to check->routes. 0 or -EINVAL with *err, whose path is "neighbours[2].mac".
int hs_api_check_routes(json_t *neighbours, json_t *routes, const struct hs_api_check *check,
		struct hs_error *err);

// Appends an entry to a page and takes it over. False: there is no room for it, because the page
// has entries already and this one would be more than args->room has left (*used counts them); then
// the page ends before it and its `next` says so.
bool hs_api_page_add(const struct hs_api_args *args, json_t *page, json_t *entry, size_t *used);
// The same for several that stay together; there may be none.
bool hs_api_page_extend(
		const struct hs_api_args *args, json_t *page, json_t *entries, size_t *used);

// The answer of a node that has no routes. -EINVAL.
int hs_api_refuse_routes(struct hs_error *err);

// The lengths of windows that this process has (0 ends them), before the first message: what
// qos_get is checked against. 1, 10 and 60 s without it.
void hs_api_set_windows(const int64_t lengths_ns[HS_API_WINDOWS]);

const char *hs_api_verb_name(enum hs_api_verb verb);

// The table itself: {"version", "verbs": [{"verb", "help", "changes", "fields": [{"name", "type",
// "required", "default", "allowed", "help"}]}]}. A new reference; NULL when memory is out.
json_t *hs_api_describe(void);

// What `hello` says of the API: {"api_version", "verbs": [...], "limits": {...}}; the backend adds
// who it is. A new reference; NULL when memory is out.
json_t *hs_api_hello(void);
