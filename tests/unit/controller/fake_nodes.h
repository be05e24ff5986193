// SPDX-License-Identifier: BSD-3-Clause
// A controller in virtual time over fake nodes: each a real table of verbs (lib/api) over a list of
// rules, reached by messages that take a millisecond each way, or do not arrive.
#pragma once

#include "controller.h"

#include "api.h"
#include "route_book.h"

#define FAKE_NODES    4
#define FAKE_RULES    4096
#define FAKE_MESSAGES 8192
#define FAKE_LABELS   256

// A port that labels.
struct fake_label {
	uint32_t id;
	uint8_t shift;
	bool is_down;
	uint64_t tx_packets;
	uint64_t pps; // packets that it sends, in multiples of 1000
	int64_t labelled_ns;
};

struct fake_node {
	uint16_t id;
	char boot_id[24];
	unsigned boots;
	bool connected;	     // else nothing can be sent to it
	bool deaf;	     // takes requests and does not answer
	bool mute;	     // does what it is asked and does not answer
	const char *refusal; // its error to everything but hello; NULL: none
	const char *said;    // what it answers to `refused` in place of the truth; NULL: the truth
	const char *refused; // the one verb that these are for; NULL: all
	bool is_old;	     // of a version that knows no owner
	uint64_t generation;
	unsigned n_rules, capacity;
	struct hs_rule rules[FAKE_RULES];
	uint32_t in_band_ns; // learned from packets, if it has such a rule
	unsigned n_in_band;  // so many ids that no rule has beside it, in each page
	bool invents_owners; // each rule that it lists has another
	unsigned n_invented;
	unsigned n_labels;
	struct fake_label labels[FAKE_LABELS]; // named "p" and the id
	struct hs_route_book
			*routes; // of a node that routes, by its ports "p1" and "p2"; else NULL
	unsigned n_ports;	 // of these, that it tells
	char port_prefix;	 // of their names
	uint8_t macs;		 // a byte of the addresses of these ports
	unsigned n_requests[HS_VERB_COUNT];
	struct hs_api_backend backend;
};

struct fake_message {
	int64_t due_ns;
	bool to_node;
	unsigned node;
	unsigned life; // of the controller that asked
	char *text;
};

#define FAKE_FRAMES 32

struct fake_frame {
	size_t len;
	uint8_t bytes[2048];
};

struct fake_nodes {
	int64_t now_ns;
	struct hs_controller_config config;
	struct fake_node nodes[FAKE_NODES];
	struct hs_controller *controller;
	unsigned life; // a controller that starts again has new connections
	struct fake_message messages[FAKE_MESSAGES]; // a ring, in order of time
	unsigned head, n_messages;
	json_t *reply; // to the last request of a client
	unsigned n_replies;
	json_t *saved; // changes, in order
	bool cannot_save;
	unsigned lose_percent; // of the messages, either way
	uint32_t lost;	       // state of the generator that says which
	unsigned n_frames;     // of probes, those without room among them
	struct fake_frame frames[FAKE_FRAMES];
	json_t *published; // all messages: {"topic", "message"}
};

// Opens a controller with the configuration's text; fails the test where that is refused.
void fake_open(struct fake_nodes *fake, const char *config);
// Reads another configuration, for the next fake_reopen.
void fake_configure(struct fake_nodes *fake, const char *config);
void fake_close(struct fake_nodes *fake);
// A new controller over the same nodes and what was saved, as after a restart of the controller.
void fake_reopen(struct fake_nodes *fake);

// What was saved becomes what a snapshot has.
void fake_snapshot(struct fake_nodes *fake);

void fake_run(struct fake_nodes *fake, int64_t ns);
// As an operator asks; the answer is in fake->reply once it came (NULL before).
void fake_ask(struct fake_nodes *fake, const char *request);
// The answer's "ok" after at most five seconds; fails the test on an error.
json_t *fake_ok(struct fake_nodes *fake, const char *request);
// The code of the error, which must be one.
const char *fake_error(struct fake_nodes *fake, const char *request);

void fake_restart(struct fake_nodes *fake, unsigned node);
// From now on, the node routes; its routes before are gone.
void fake_route(struct fake_nodes *fake, unsigned node);
const struct hs_rule *fake_rule(const struct fake_nodes *fake, unsigned node, uint32_t ns_id);
// At a node's own API, past the controller.
void fake_at_node(struct fake_nodes *fake, unsigned node, const char *request);
// What the controller says of a rule at a node: "present", ...
const char *fake_state(struct fake_nodes *fake, uint32_t ns_id, const char *node);
// How many events of this kind were published.
unsigned fake_events(const struct fake_nodes *fake, const char *kind);
