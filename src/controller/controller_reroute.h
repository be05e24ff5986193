// SPDX-License-Identifier: BSD-3-Clause
// What the controller keeps of routes around bad links: which links are avoided, and of each
// destination the route of each node. For controller_reroute*.c, which change it, and
// controller_page.c.
//
// The controller sets the routes of a destination at all nodes but the one where it is: the
// cheapest ways over links that are not avoided. What it wants follows from the links and what
// nodes confirmed, so that nothing has to be kept across a restart of the controller.
//
// Thread rule: owner.
#pragma once

#include "api.h"
#include "controller_probing.h"
#include "controller_state.h"
#include "gpint_damping.h"
#include "gpint_routes.h"

// The port and the MAC address that route_add needs for an arc. "": ports_get has not told it yet.
struct reroute_arc {
	char port[HS_API_MAX_PORT_NAME + 1]; // that it leaves by
	char mac[18];			     // of the port that it leads to
};

struct reroute_node {
	unsigned owner; // index of the node in `nodes` of the controller
	bool asked;	// for its ports, or has told them
	bool refused;	// to tell them, until it is asked again
	bool unsent;	// a request could not be sent in this step
};

// The route of a node to a destination, beside its struct hs_gpint_route.
struct reroute_row {
	bool calling; // an answer is due
	bool again;   // and what the node was told has changed since
	bool refused; // until it is tried again
	bool told;    // an event said so; until the node takes the route
};

struct reroute_counters {
#define HS_REROUTE_COUNT(member, name, unit, sentence) uint64_t member;
#include "controller_counter.def"
};

struct controller_reroute {
	const struct hs_probing_reroute *config;
	struct hs_gpint_damping health;
	struct hs_gpint_routes routes;
	size_t n_routes;   // destinations times nodes
	uint64_t seen;	   // sessions that ended
	uint32_t sessions; // that said something, up to bad_sessions: before, no route is set
	bool dirty;	   // there may be something to tell
	int64_t retry_ns;  // when refused routes are tried again; INT64_MAX: there are none
	struct hs_gpint_route_link *links; // owned, from here on
	struct reroute_arc *arcs;	   // as controller_probing.arcs
	struct reroute_node *nodes;
	struct hs_gpint_route *of; // of each destination those of all nodes
	struct reroute_row *rows;  // the same
	bool *stale;		   // of each destination: its ways must be found again
	uint8_t *states;	   // of each link, in the session that ends
	uint64_t *costs;
	struct reroute_counters counters;
};

// ---- for controller_reroute_answer.c ----

// Reports a decision as an event and in the log. Takes over the details.
void controller_reroute_decide(struct hs_controller *controller, const char *kind, json_t *details,
		const char *format, ...) __attribute__((format(printf, 4, 5)));
// Sets how routes use the links. A link whose ports ports_get did not describe is avoided.
void controller_reroute_use_links(struct hs_controller *controller);
// Makes the next step find all ways anew.
void controller_reroute_find_again(struct controller_reroute *reroute);

// ---- for other parts ----

// Counts the routes that nodes should have and have not confirmed.
unsigned controller_reroute_pending(const struct hs_controller *controller);

int controller_open_reroute(struct hs_controller *controller); // 0 or -ENOMEM
void controller_close_reroute(struct hs_controller *controller);
// Follows each session of probes that ended in this step, and tells nodes their routes.
void controller_step_reroute(struct hs_controller *controller);
int64_t controller_reroute_next_ns(const struct hs_controller *controller);
extern const struct hs_schema_field controller_probe_routes_fields[];
int controller_probe_routes(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
