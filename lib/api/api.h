// SPDX-License-Identifier: BSD-3-Clause
// The requests that a node (and a controller) answers. One table of verbs drives parsing, checking,
// replies and help. This module decides what a verb accepts; the backend does what the verb asks.
//
// Envelope (docs/api.md): one object with exactly one verb and optional "id", "dry_run" and
// "if_generation", or a list of such objects as a transaction (also {"transaction": [...], ...}).
// Replies are {"id", "ok": {...}, "generation"} or {"id", "error": {...}}. Thread rule: owner; one
// call at a time.
#pragma once

#include "errors.h"
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
#define HS_API_MAX_NODE_NAME 31
#define HS_API_WINDOWS	     4		// the highest number of lengths of windows
#define HS_API_MAX_VALUES    (1u << 16) // commas of one message, outside strings
#define HS_API_MAX_QUESTIONS 1000	// in one list that changes nothing
#define HS_API_MAX_STRING    4096
#define HS_API_MAX_ID	     256 // bytes of an id that is a string
// The price that the questions of a list that changes something may have together. A question with
// a small answer costs 1, any other question HS_API_LARGE_PRICE.
#define HS_API_MAX_PRICE   256
#define HS_API_LARGE_PRICE 16
// Limits of one reply to requests that change nothing: bytes and processor time. Lists are cut into
// smaller pages to stay within them; a transaction that would exceed them is refused.
#define HS_API_MAX_REPLY    (288u << 10)
#define HS_API_MAX_REPLY_NS INT64_C(5000000)
// 15 digits print a decimal of that many digits unchanged: 0.1 as 0.1.
#define HS_API_DUMP	  (JSON_COMPACT | JSON_REAL_PRECISION(15))
#define HS_API_WINDOW_RUN (-1) // window_ns of qos_get: the time since the rule was installed

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
	HS_VERB_EXPLAIN,
	HS_VERB_LABEL_SET,
	HS_VERB_LABEL_GET,
	HS_VERB_OF_CONTROLLERS, // from here on, no node answers
	HS_VERB_PROBE_RUN = HS_VERB_OF_CONTROLLERS,
	HS_VERB_PROBE_STATUS,
	HS_VERB_PROBE_LINKS,
	HS_VERB_PROBE_ROUTES,
	HS_VERB_OF_COLLECTORS, // from here on, only collectors answer
	HS_VERB_FLOW_GET = HS_VERB_OF_COLLECTORS,
	HS_VERB_QUEUE_GET,
	HS_VERB_LINK_GET,
	HS_VERB_EXPORTER_GET,
	HS_VERB_REFUSED_GET,
	HS_VERB_COUNT
};

// A filter of flow_get. Addresses are as in ip_address.h; each member that is 0 takes all flows.
struct hs_api_flow {
	uint8_t src_ip[16], dst_ip[16];
	uint16_t src_port, dst_port;
	uint8_t protocol;
};

// One checked request.
struct hs_api_args {
	enum hs_api_verb verb;
	struct hs_rule rule;	      // int_request
	struct hs_rule_update update; // int_update
	bool has_ns_id;
	uint32_t ns_id;		     // int_update, int_delete, int_get; a filter in qos_get
	uint32_t app_id;	     // qos_get: this application's flows together; 0: none
	uint64_t offset, limit;	     // for lists and qos_get
	int64_t window_ns;	     // qos_get: a length; 0: all lengths; HS_API_WINDOW_RUN
	int64_t start_ns, end_ns;    // qos_get: a window of any place and length; end_ns 0: none
	uint64_t since;		     // events: those with a greater sequence number
	struct hs_route_entry route; // route_* and neighbour_*; planning fills in the port
	char port[HS_API_MAX_PORT_NAME + 1];
	struct hs_api_flow flow; // flow_get: a filter
	json_t *labels; // label_set: a list as api_label.h reads it; borrowed from the message
	char node[HS_API_MAX_NODE_NAME + 1]; // label_* at a controller: a node; "": not given
	uint32_t label_id;		     // label_get: only this port of the node; 0: all
	json_t *on; // int_request at a controller: the nodes of the rule; borrowed from the message
	bool undo;  // reverts a change of the same list
	// Bytes that the entries of a list or page may have together, see hs_api_page_add.
	size_t room;
};

// Declares a table of what `run` of a backend calls for each request, with the fields of the reply:
// `run`, or `show` where a request has no fields and cannot fail.
struct hs_schema_field;
#define HS_API_VERBS(owner, table)                                                                 \
	static const struct {                                                                      \
		const struct hs_schema_field *fields;                                              \
		int (*run)(owner *, const struct hs_api_args *args, json_t **result,               \
				struct hs_error *err);                                             \
		json_t *(*show)(owner *);                                                          \
	} table[HS_VERB_COUNT]

struct hs_rule_masks;

// What a node does with checked requests. `run` fills *result (a new reference, an object) or
// returns a negative errno with *err. A transaction runs in order. The check has accepted each of
// its changes before, given the changes before it, so that `run` has no reason to fail half-way. If
// `run` fails, further calls of `run` revert the earlier changes.
struct hs_api_backend {
	void *context;
	int (*run)(void *context, const struct hs_api_args *args, json_t **result,
			struct hs_error *err);
	// Returns whether this namespace is installed now.
	bool (*ns_exists)(void *context, uint32_t ns_id);
	// Returns the current rule, to check an update before it runs, or NULL if there is none.
	const struct hs_rule *(*rule_of)(void *context, uint32_t ns_id);
	// Returns how many more rules can be installed, with the places of rules that give way.
	uint32_t (*rules_free)(void *context);
	// Tells the masks of the rules that are installed. May be NULL: their number has no limit.
	void (*masks)(void *context, struct hs_rule_masks *masks);
	// Checks a rule, which is right by itself, against the node's own settings. Returns 0, or a
	// negative errno with *err. May be NULL.
	int (*admits)(void *context, const struct hs_rule *rule, struct hs_error *err);
	// Returns whether the rule of a namespace gives way to an int_request, because nobody here
	// asked for it (it came in band). `run` must then replace it, and must make room among such
	// rules if the table is full. May be NULL: no rule gives way.
	bool (*gives_way)(void *context, uint32_t ns_id);
	// Returns whether updates of a rule that gives way are saved. The deletion of such a rule
	// must be saved, too. May be NULL: no updates are saved.
	bool (*has_settings)(void *context, uint32_t ns_id);
	// Returns whether a request with this verb may ask about a namespace that has no rule here.
	// May be NULL: no request may.
	bool (*knows)(void *context, enum hs_api_verb verb, uint32_t ns_id);
	// Checks, before anything runs, that `run` has an answer to a request of this kind. A list
	// that it refuses changes nothing. Returns 0, or a negative errno with *err. May be NULL.
	int (*answers)(void *context, const struct hs_api_args *args, struct hs_error *err);
	// Returns whether `on` is a valid choice of nodes for a rule: 0, or -EINVAL with *err (path
	// "on..."). NULL: int_request takes no "on".
	int (*check_on)(void *context, const json_t *on, struct hs_error *err);
	// Returns the current state of the ports in `labels`, as the content of the label_set that
	// restores this state: a new reference. Returns NULL with *err if one of these ports does
	// not label packets. May be NULL: label_set is refused.
	json_t *(*labels_now)(void *context, const json_t *labels, struct hs_error *err);
	// The next three may be NULL. Returns the routes of a node that routes, or NULL.
	struct hs_route_book *(*routes)(void *context);
	// Returns the index of a port, or -1.
	int (*port_of)(void *context, const char *name);
	// Applies the changes of routes of a list. It is called once, after all changes of routes
	// and before any other request of the list, so that no rule loses its counters if it fails.
	// If it fails, the requests that ran are reverted and it is called again.
	int (*commit_routes)(void *context, struct hs_error *err);
	// Saves the changes of a message, in the form that hs_api_replay takes, so that the node
	// can make them again after a restart. It is called once, when all changes are accepted and
	// before the first one runs. A change that cannot be saved is not made, so that nothing has
	// to be reverted (a rule that is installed again has lost its counters). Returns 0, or a
	// negative errno with *err ("not_saved"). May be NULL.
	int (*save)(void *context, const json_t *changes, struct hs_error *err);
	// Reverts the last save, because its changes could not run. NULL only if `save` is NULL.
	void (*unsave)(void *context);
	// Every change raises the generation. Replies contain it.
	uint64_t (*generation)(void *context);
	// Returns the processor time of this thread so far. May be NULL: only bytes are limited
	// then.
	int64_t (*spent_ns)(void);
};

// Handles one message. Returns the reply as a string that the caller frees. Returns NULL only if
// memory is out; nothing in the message can cause this. Without `may_change`, a request that
// changes something is refused ("read_only"), as is a list or dry run that contains one.
char *hs_api_handle(const struct hs_api_backend *backend, const char *message, size_t len,
		bool may_change);

// Does the same for the "requests" list of a configuration file: all or nothing. *err has the path
// in the file.
int hs_api_run_list(const struct hs_api_backend *backend, json_t *requests, struct hs_error *err);
// Does the same for what `save` was given: a request or a list. Runs only those that `wanted`
// accepts (NULL: all). Passes over entries of the list that are null. Saves nothing.
int hs_api_replay(const struct hs_api_backend *backend, json_t *changes,
		bool (*wanted)(void *context, const struct hs_api_args *args), void *context,
		struct hs_error *err);
// Does the same, but each change of a list that is refused is replayed alone: all of them were in
// force, and a newer version may refuse one. Returns 0 if any is in force; *err then says which was
// refused last.
int hs_api_replay_kept(const struct hs_api_backend *backend, json_t *changes,
		bool (*wanted)(void *context, const struct hs_api_args *args), void *context,
		struct hs_error *err);
// Checks such a list against empty tables and runs nothing (--check). Keeps the errors of all
// requests, with paths as "[2].int_request.ns_id". Returns 0 or a negative errno.
struct hs_api_check {
	uint32_t rules;		      // capacity of the rule table
	struct hs_route_book *routes; // the routes before the list; NULL: the node does not route
	int (*port_of)(void *context, const char *name);
	int (*admits)(void *context, const struct hs_rule *rule,
			struct hs_error *err); // may be NULL
	void *context;
};
int hs_api_check_list(json_t *requests, const struct hs_api_check *check, struct hs_errors *errors);

// Keep all errors of an item of a configuration file's lists that do not depend on other items
// (hs_schema_field).
void hs_api_look_at_request(json_t *request, struct hs_errors *errors);
void hs_api_look_at_route(json_t *route, struct hs_errors *errors);
void hs_api_look_at_neighbour(json_t *neighbour, struct hs_errors *errors);

// Adds the `neighbours` and `routes` of a configuration file (lists of the verbs' contents; may be
// NULL) to check->routes. Returns 0, or -EINVAL with *err, whose path is "neighbours[2].mac".
int hs_api_check_routes(json_t *neighbours, json_t *routes, const struct hs_api_check *check,
		struct hs_error *err);

// Appends an entry to a page and takes ownership. Returns false if there is no room: the page
// already has entries, and with this entry it would exceed args->room (*used counts the bytes). The
// page then ends before the entry, and its `next` says so.
bool hs_api_page_add(const struct hs_api_args *args, json_t *page, json_t *entry, size_t *used);
// Does the same for several entries that stay together; there may be none.
bool hs_api_page_extend(
		const struct hs_api_args *args, json_t *page, json_t *entries, size_t *used);

// Fills the answer of a node that has no routes. Returns -EINVAL.
int hs_api_refuse_routes(struct hs_error *err);
// Fills the answer of a program that does not answer this verb. Returns -EINVAL.
int hs_api_refuse_verb(enum hs_api_verb verb, struct hs_error *err);

// Sets the lengths of windows that this process has (0 ends them). Call it before the first
// message; qos_get is checked against them. The default is 1, 10 and 60 s.
void hs_api_set_windows(const int64_t lengths_ns[HS_API_WINDOWS]);

const char *hs_api_verb_name(enum hs_api_verb verb);

// Returns the table: {"version", "verbs": [{"verb", "help", "changes", "counts", "fields":
// [{"name", "type", "required", "default", "allowed", "help"}]}]}; a verb counts if it raises the
// generation. A new reference, or NULL if memory is out.
json_t *hs_api_describe(void);
