// SPDX-License-Identifier: BSD-3-Clause
// What the controller keeps of INT-label: the database, what nodes say of their ports that label,
// and the control loop of S. For controller_label*.c, which change it, and controller_page.c.
//
// Times are those of a separate clock: the controller's clock without the times by which it was set
// or in which nothing ran. A port is active if it is up, has sent a packet between the last two
// answers of its node, and has sent one packet for each interval, on average, in the last second or
// two.
//
// Thread rule: owner.
#pragma once

#include "api.h"
#include "controller_state.h"
#include "event_log.h"
#include "label_pro.h"

#include <jansson.h>

#define MS_NS	      INT64_C(1000000)
#define PROTOTYPE_IDS 256 // its devices have ids of 8 bits

// A port that labels, as its node says.
struct label_port {
	uint32_t id;
	uint8_t key;   // the bits of the id that items have; ports of one key are one port here
	uint8_t shift; // S that is in force
	bool up;
	bool counted; // the members that follow are there
	// Of the last answer; of one at most a second ago; of one a second or two ago, or the
	// first.
	uint64_t tx_packets, mid_packets, from_packets;
	int64_t mid_ns, from_ns;
	char name[HS_API_MAX_PORT_NAME + 1];
};

struct label_node {
	bool known; // the node has told its ports
	unsigned n_ports;
	struct label_port *ports; // owned
	unsigned asked;		  // questions under way
	int64_t next_poll_ns;
	json_t *batch; // what this step tells it; NULL: nothing
	bool setting;  // a label_set is under way since set_ns
	int64_t set_ns;
};

struct controller_label_counters {
#define HS_LABEL_COUNT(member, name, unit, sentence, help) uint64_t member;
#define HS_LABEL_REPLY_COUNT(member, help)		   uint64_t member;
#include "controller_counter.def"
};

struct controller_label {
	const struct hs_controller_label_config *config;
	struct hs_label_database *database;
	struct hs_label_pro pro;
	struct label_node *nodes; // as the configuration has them; owned
	unsigned n_nodes;
	bool devices[PROTOTYPE_IDS]; // that sent items, and are no nodes of the configuration
	int64_t skew_ns;	     // of the controller's clock
	int64_t next_ns;	     // when the next step is due
	int64_t step_ns;
	int64_t poll_ns;    // between two questions to a node
	uint64_t intervals; // of the coverage, that were looked at
	struct hs_event_limit limit;
	struct controller_label_counters counters;
};

// ---- controller_label.c ----

int64_t controller_label_ns(const struct hs_controller *controller);
// Returns the index of the one node that has this id, or -1.
int controller_label_owner(const struct hs_controller *controller, uint16_t node_id);
// Returns whether the id is that of a device of the prototype. Such a device has no API.
bool controller_label_is_device(const struct hs_controller *controller, uint16_t id);
// Returns what the node says of a port, or NULL. Of several ports with this key, returns the first.
struct label_port *controller_label_port(const struct label_node *node, uint8_t key);

// Gives a port that is new to the database the S that its node has, so that a controller that
// starts again continues with what it told nodes before.
void controller_label_adopt(struct hs_controller *controller, uint16_t node_id, uint8_t port);
// Reports ports that were not seen, at once and then once a minute.
void controller_label_look_at_coverage(struct hs_controller *controller);

// ---- for other parts ----

int controller_open_label(struct hs_controller *controller); // 0 or -ENOMEM
void controller_close_label(struct hs_controller *controller);
void controller_step_label(struct hs_controller *controller);
int64_t controller_label_next_ns(const struct hs_controller *controller);
// Excludes a time from all time limits, because the clock was set by it or nothing ran during it.
void controller_shift_label(struct hs_controller *controller, int64_t ns);
// The first function handles the answer to a call of these kinds (`ok` NULL: an error). The second
// handles an answer that did not come.
void controller_label_answered(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok);
void controller_label_call_lost(struct hs_controller *controller, struct controller_node *node,
		const struct call *call);
// These functions note that a node answers for the first time or again, or that it no longer
// answers.
void controller_label_node_up(struct hs_controller *controller, const struct controller_node *node);
void controller_label_node_down(
		struct hs_controller *controller, const struct controller_node *node);
// Takes a node's answer to the label_set of a client.
void controller_label_was_set(
		struct hs_controller *controller, struct controller_node *node, json_t *ok);
extern const struct hs_schema_field controller_label_fields[];
int controller_label_get(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
// Handles a datagram of INT-label. `cut`: its end is missing.
void controller_label_take(
		struct hs_controller *controller, const uint8_t *payload, size_t len, bool cut);
// Handles a frame of the prototype of INT-label.
void controller_label_frame(struct hs_controller *controller, const uint8_t *frame, size_t len);
