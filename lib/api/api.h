// SPDX-License-Identifier: BSD-3-Clause
// The requests that a node (and a controller) answers. One table of verbs drives parsing, checking,
// replies and help. This module decides what a verb accepts; the backend does what the verb asks.
//
// Envelope (docs/api.md): one object with exactly one verb and optional "id", "dry_run" and
// "if_generation", or a list of such objects as a transaction (also {"transaction": [...], ...}).
// Replies are {"id", "ok": {...}, "generation"} or {"id", "error": {...}}. Thread rule: owner; one
// call at a time.
#pragma once

#include "api_args.h"
#include "api_backend.h"
#include "api_page.h"
#include "api_verbs.h"
#include "errors.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
int hs_api_check_list(json_t *requests, const struct hs_api_check *check, struct hs_errors *errors);

// These functions keep all errors of an item of a configuration file's lists that do not depend on
// other items (hs_schema_field).
void hs_api_look_at_request(json_t *request, struct hs_errors *errors);
void hs_api_look_at_route(json_t *route, struct hs_errors *errors);
void hs_api_look_at_neighbour(json_t *neighbour, struct hs_errors *errors);

// Adds the `neighbours` and `routes` of a configuration file (lists of the verbs' contents; may be
// NULL) to check->routes. Passes over those that are wrong by themselves, because looking at them
// named that. Keeps the errors of all others, with paths as "neighbours[2].mac".
void hs_api_check_routes(json_t *neighbours, json_t *routes, const struct hs_api_check *check,
		struct hs_errors *errors);
