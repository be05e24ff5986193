// SPDX-License-Identifier: BSD-3-Clause
// The replies that nodes and controllers have in common: a struct and a table each. The table of a
// reply prints it and makes its JSON Schema.
//
// Thread rule: any; the tables are constant.
#pragma once

#include "api_args.h"
#include "api_limits.h"
#include "event_schema.h"
#include "schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_API_RULE_SHAPE "{'$ref': 'request.json#/$defs/rule'}"

// The verbs that nodes answer, and those that controllers answer: bits 1 << enum hs_api_verb.
#define HS_API_NODE_VERBS	((1u << HS_VERB_OF_CONTROLLERS) - 1)
#define HS_API_CONTROLLER_VERBS ((1u << HS_VERB_OF_COLLECTORS) - 1)

struct hs_api_hello {
	const char *version, *name, *boot_id;
	uint32_t node_id;
	bool controller, collector;
	uint32_t verbs; // the verbs that are answered: bits 1 << enum hs_api_verb
	unsigned n_features;
	const char *const *features;
	uint32_t rules, monitored_rules, routes; // limits; rules or routes 0: there is none
	uint32_t node_questions, gathered_bytes; // limits of a controller; 0: there is none
	const struct hs_api_connection_limits *connection; // NULL: there are no sockets
};
extern const struct hs_schema_field hs_api_hello_fields[];
// Prints the members of `hello` and those that are the same in each program with this API. Returns
// a new reference, or NULL if memory is out.
json_t *hs_api_hello(const struct hs_api_hello *hello);

// The MTU that telemetry needs between nodes. Printing takes over the list.
struct hs_api_mtu_need {
	uint32_t mtu_needed_bytes; // 0: the node has no host port or no network port
	json_t *ports_below_mtu;   // names of network ports; NULL: none
};
extern const struct hs_schema_field hs_api_mtu_need_fields[];

// The reply to a change of a rule. Printing takes over `not_told`, `rule` and what `mtu` has.
struct hs_api_changed {
	uint32_t ns_id, shadowed_by, at_controller;
	unsigned nodes;
	bool no_port_of_method;
	json_t *not_told, *rule;
	struct hs_api_mtu_need mtu;
};
extern const struct hs_schema_field hs_api_request_fields[], hs_api_update_fields[],
		hs_api_delete_fields[];

// A page of rules. Printing takes over the lists.
struct hs_api_rules {
	json_t *rules, *in_band, *config, *state, *shadowed;
	uint64_t count, next; // next 0: this is the last page
};
extern const struct hs_schema_field hs_api_rules_fields[];

// A rule of a page whose packets another rule takes.
struct hs_api_shadowed {
	uint32_t ns_id, shadowed_by;
};
extern const struct hs_schema_field hs_api_shadowed_fields[];

// The metrics of rules, or of an application. Printing takes over the list.
struct hs_api_metrics {
	json_t *qos, *applications;
	uint64_t next;
};
extern const struct hs_schema_field hs_api_metrics_fields[];

// An equation of an audit. Printing takes over `terms`.
struct hs_api_equation {
	const char *name, *text, *port; // port NULL: of the whole program
	uint64_t left, right;
	bool ok; // filled in
	json_t *terms;
};
extern const struct hs_schema_field hs_api_equation_fields[];
// Adds an equation to the list. Returns whether it holds.
bool hs_api_equation(json_t *list, const struct hs_api_equation *equation);

extern const struct hs_schema_field hs_api_refusal_fields[];
// Returns the text of a refusal, which the caller frees. `id` may be NULL.
char *hs_api_refusal(json_t *id, const struct hs_error *err);
