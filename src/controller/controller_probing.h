// SPDX-License-Identifier: BSD-3-Clause
// What the controller keeps of probes: the network, the session that runs, what the last ones told.
// For controller_probing*.c, which change it, and controller_page.c.
//
// A node takes the first entry of each probe that comes to it. A probe therefore has entries for
// its way, too: the way leads to the first node of the path, over nodes that are asked for no
// values. Feedback then comes from the first node of the way, and says nothing of the path. A knock
// replaces this feedback: a knock is a probe over the way and the path's first node only. If the
// knock comes back, the path's first node is there. From the last node of its path, a probe goes
// back to the first node by entries, too, so that a link that fails on one way back does not look
// like a node that fails.
//
// Times are those of a separate clock: the controller's clock without the times by which it was set
// or in which nothing ran.
//
// Thread rule: owner.
#pragma once

#include "api.h"
#include "controller_state.h"
#include "gpint_prober.h"

#include <jansson.h>

#define PROBING_MS_NS INT64_C(1000000)

// A link in one direction; nodes by their indices in the configuration.
struct probing_arc {
	uint8_t from, to;
	uint8_t port, peer_port; // of both ends
	bool planned;		 // a path crosses it
	bool told;		 // an event said that it is unavailable
	uint8_t state;		 // enum hs_gpint_state
	const char *use;	 // by routes: "used", "spare", "avoided"; NULL: nothing reroutes
	uint32_t debt; // probes whose ways crossed it and that did not come back yet; a session
		       // counts those of the ones before by half
	int64_t since_ns;
};

struct probing_node {
	bool told;
	uint8_t state; // enum hs_gpint_state
	uint8_t depth;
	uint16_t n_values;
	uint32_t *values;	// owned
	uint64_t session;	// that brought the values; 0: none
	int64_t since_ns;	// of the state
	int64_t sent_ns, at_ns; // when the probe that brought the values was sent, and came
};

// A packet that was sent in this session.
struct probing_packet {
	uint16_t attempt; // of the prober
	bool knock;
	uint16_t n_way, n_end, n; // nodes of the way; with those of the path; with the way back
	int64_t sent_ns;
	struct {
		uint8_t node, port; // index of the node; the port by which it sends, except for the
				    // last one
	} hops[];
};

struct probing_counters {
#define HS_PROBING_COUNT(member, name, unit, sentence, help) uint64_t member;
#include "controller_counter.def"
};

// A session that ended.
struct probing_session {
	struct hs_gpint_session told;
	int64_t began_wall_ns;
	uint64_t knocks;
};

#define PROBING_IDS (HS_PROBE_MAX_ID + 1)

struct controller_probing {
	const struct hs_probing_config *config;
	struct hs_gpint_plan plan;
	uint32_t paths; // k of the plan
	struct hs_gpint_prober *prober;
	unsigned n_arcs, n_nodes;
	struct probing_arc *arcs;		     // owned, two of each link
	struct probing_node *nodes;		     // owned, as the configuration has them
	uint32_t way_room;			     // hops of a way there or back, at most
	struct hs_gpint_hop *hops;		     // owned: of the packet that is made
	struct hs_probe_entry *entries;		     // owned: the same as they are sent
	uint8_t *frame;				     // owned
	struct probing_packet *packets[PROBING_IDS]; // owned; by request ID
	uint16_t next_id;
	bool running;
	int64_t skew_ns; // of the controller's clock
	int64_t next_ns; // when the next session is due
	int64_t began_wall_ns;
	uint64_t knocks; // of the session that runs
	struct probing_session last;
	struct probing_counters counters;
};

// ---- controller_probing_way.c: packets out and in ----

int64_t controller_probing_ns(const struct hs_controller *controller);
// Returns the name of a node in `nodes` of the controller's configuration, or "" if none or several
// have its id.
const char *controller_probing_name(const struct hs_controller *controller, unsigned node);
// Returns what events say of a link in one direction. New reference.
json_t *controller_probing_arc_details(
		const struct hs_controller *controller, const struct probing_arc *arc);
// Returns the arc that leaves a node by a port, or NULL.
struct probing_arc *probing_find_arc(
		const struct controller_probing *probing, uint32_t from, uint8_t port);
// Sends an attempt of the prober; the context is the controller (hs_gpint_send_fn).
void probing_send(
		void *context, uint16_t attempt, const struct hs_gpint_hop *hops, uint32_t n_hops);
void probing_forget_packets(struct controller_probing *probing);

// ---- controller_probing_verb.c ----

// Refuses a request if the configuration has no probing. Returns 0, or -EINVAL with *err.
int controller_need_probing(const struct hs_controller *controller, struct hs_error *err);
// Appends the rows of a page of `known` rows. Returns the offset of the next page, or 0.
typedef json_t *controller_row_fn(const struct hs_controller *controller, uint64_t at);
uint64_t controller_probing_page(const struct hs_controller *controller,
		const struct hs_api_args *args, unsigned known, controller_row_fn *show,
		json_t *rows);
// Returns the message about the session that ended last: the session, its nodes, and its links that
// do not work. New reference.
json_t *controller_probing_message(const struct hs_controller *controller);

// ---- for other parts ----

int controller_open_probing(struct hs_controller *controller); // 0 or a negative errno
void controller_close_probing(struct hs_controller *controller);
void controller_step_probing(struct hs_controller *controller);
int64_t controller_probing_next_ns(const struct hs_controller *controller);
// Works as controller_shift_label does.
void controller_shift_probing(struct hs_controller *controller, int64_t ns);
// Handles a frame that came where probes come back.
void controller_probe_take(struct hs_controller *controller, const uint8_t *frame, size_t len);
// As hs_controller_probe_schema.
json_t *controller_probe_schema(void);
extern const struct hs_schema_field controller_probe_run_fields[];
extern const struct hs_schema_field controller_probe_status_fields[];
extern const struct hs_schema_field controller_probe_links_fields[];
int controller_probe_run(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
int controller_probe_status(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
int controller_probe_links(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
