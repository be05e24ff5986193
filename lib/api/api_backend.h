// SPDX-License-Identifier: BSD-3-Clause
// What does the requests: a node, a controller or a collector.
//
// Thread rule: owner; one call at a time.
#pragma once

#include "api_args.h"
#include "error.h"

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

// The node that a configuration file is for, before there is one.
struct hs_api_check {
	uint32_t rules;		      // capacity of the rule table
	struct hs_route_book *routes; // the routes before the list; NULL: the node does not route
	int (*port_of)(void *context, const char *name);
	int (*admits)(void *context, const struct hs_rule *rule,
			struct hs_error *err); // may be NULL
	void *context;
	// Requests, or what they name, were refused before: requests that are wrong by themselves
	// are named already, and what others name may be missing for that reason.
	bool refused;
};
