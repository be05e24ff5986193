// SPDX-License-Identifier: BSD-3-Clause
// The state that the parts share: the controller, its nodes, its rules, and a rule at a node. Parts
// with state of their own keep it in a struct of their own header.
//
// Thread rule: owner.
#pragma once

#include "api.h"
#include "controller_config.h"
#include "controller_output.h"
#include "controller_reply.h"
#include "event_log.h"
#include "qos.h"
#include "rule.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

// Requests under way at one node. Clients' questions leave room for repairs, and both leave room
// for the hello that shows whether the node is there.
#define CALLS_AT_ONCE 64
#define CALLS_REPAIR  63
#define CALLS_RELAY   16
#define CALLS_HELLO   8
#define CALLS_LABEL   32 // beyond, nothing of INT-label is asked or told, and no route is told

struct controller_rule;

// The state of a rule at one node.
enum binding_state {
	BINDING_MISSING,  // must be installed
	BINDING_UNKNOWN,  // an audit must find out; nothing is sent for it before
	BINDING_PRESENT,  // the node has the rule, perhaps with earlier content: see `has`
	BINDING_CONFLICT, // the node has another rule under this ns_id, not ours
	BINDING_REFUSED,  // the node refused it: see `code`
	BINDING_LEAVING,  // counted in place of the state if the rule must be removed
	BINDING_COUNTS
};

// A revision below all others: the node has the rule with another flow.
#define HAS_OTHER_FLOW 1

struct binding {
	struct controller_rule *rule;
	uint16_t node;
	uint8_t state;	  // enum binding_state
	bool queued;	  // waits for a call; never while the state is unknown
	bool calling;	  // a call is under way
	bool leaving;	  // the rule is wanted, but no longer here
	bool theirs;	  // the node's rule is as it is wanted, and another owner's
	bool force;	  // our content must replace a conflict
	bool told;	  // the conflict was reported as an event
	uint32_t touched; // number of the audit that read it, or during which it changed
	uint64_t has;	  // revision of the node's rule; 0: none; HAS_OTHER_FLOW
	char *code;	  // code of the node's refusal; owned
	TAILQ_ENTRY(binding) at_node, in_queue;
};
TAILQ_HEAD(binding_list, binding);

struct controller_rule {
	struct hs_rule rule; // the key is ns_id
	json_t *on;	     // where it belongs, as the client asked; owned; NULL: all nodes
	bool configured;     // from the configuration file, so not part of the state
	bool deleted;	     // kept until every node has removed it
	// Revisions: of the content, of its flow (always lower), and the first one. Nodes have none
	// below the first one from us. 0: an earlier process may have wanted the rule.
	uint64_t revision, flow_revision, since;
	unsigned n_bindings, n_leaving;
	struct binding **bindings; // sorted by node
	TAILQ_ENTRY(controller_rule) order;
};
TAILQ_HEAD(controller_rule_list, controller_rule);

enum call_kind {
	CALL_NONE,
	CALL_HELLO,
	CALL_LIST, // a page of an audit
	CALL_INSTALL,
	CALL_UPDATE,
	CALL_DELETE,
	CALL_LOOK, // int_get: finds the rule that the node has in place of ours
	CALL_RELAY,
	CALL_LABEL_PORTS, // of INT-label, from here on: which ports label
	CALL_LABEL_TRAFFIC,
	CALL_LABEL_SET,
	CALL_ROUTE_PORTS, // of routes around bad links: what the ports are called
	CALL_ROUTE_SET,
};

struct call {
	uint64_t id;
	const char *verb;
	enum call_kind kind;
	int64_t sent_ns;
	uint32_t ns_id; // of a rule; of a route: the arc
	uint64_t of;	// number of the relay or audit; revision of the rule as it was sent; index
			// of the route
};

struct controller_node {
	const struct hs_controller_node_config *config;
	unsigned index;
	bool reachable;
	bool other_id; // the node says another id than the configuration
	bool refuses_key;
	bool keeps_owner;	     // of a rule; nodes of earlier versions do not
	bool was_read;		     // by an audit of this process
	char boot_id[REPLY_BOOT_ID]; // "": the node has never answered
	uint64_t generation;	     // generation of its rules in its last answer
	int64_t next_hello_ns, last_answer_ns, next_audit_ns;
	int64_t down_since_ns;
	bool auditing;	  // true from the first page to the last
	bool audit_again; // a change came during the audit
	int64_t audit_start_ns, audit_pause_ns;
	uint64_t audit_offset;
	// A ring. A node answers in order, so a call before an answered call is lost.
	unsigned first_call, n_calls, n_relays, n_hellos;
	struct call calls[CALLS_AT_ONCE];
	struct binding_list bindings, queue;
	// foreign_rules: rules that the last audit found and that are not wanted here.
	// in_band_rules: wanted rules that the node learned in band.
	uint32_t foreign_rules, in_band_rules;
	uint32_t n_bindings[BINDING_COUNTS];
	uint32_t audits; // number of the audit under way, or of the last one
	uint64_t requests, timeouts, restarts, repairs, replies_bad;
	struct hs_event_limit bad_limit; // of log lines about bad replies
	// Boot id and sequence number of what the node publishes.
	char published_boot_id[REPLY_BOOT_ID];
	uint64_t published, last_seq, missed;
	uint16_t next_same_id; // index; n_nodes: none
};

// Returns whether the node answers and has the id by which ports and links of the configuration
// name it.
static inline bool controller_is_itself(const struct controller_node *node)
{
	return node->reachable && !node->other_id;
}

TAILQ_HEAD(relay_list, relay);

struct controller_flow;	   // controller_monitor.c: metrics of one namespace
struct controller_label;   // controller_label.h
struct controller_probing; // controller_probing.h
struct controller_reroute; // controller_reroute.h

// What is wanted. controller_rule.c changes it, and restoring it is the concern of controller.c and
// controller_verbs.c.
struct controller_wanted {
	struct controller_rule_list rules;
	void *by_ns;	     // a tree of tsearch(3)
	unsigned n;	     // without the deleted rules
	unsigned n_kept;     // number of rules in a snapshot
	uint64_t generation; // of the wanted rules
	uint64_t revision;   // the last one given
	json_t *removed;     // "on" of each rule that the current request removed, to restore it
	struct hs_error left_out; // a name in the state that the configuration no longer has
};

// What nodes publish. controller_monitor.c and controller_window.c change it.
struct controller_metrics {
	struct hs_qos *qos;
	void *by_ns; // a tree of tsearch(3)
	TAILQ_HEAD(flow_list, controller_flow) flows;
	// Flows of rules that are not wanted here, in the order of their last report. The first
	// gives way.
	TAILQ_HEAD(unwanted_list, controller_flow) unwanted;
	unsigned n;
	uint64_t window_bytes; // of the windows that are kept
	struct controller_monitor_counters {
#define HS_MONITOR_REPORT_COUNT(member, name, unit, sentence, help) uint64_t member;
#define HS_MONITOR_WINDOW_COUNT(member, name, unit, sentence, help) uint64_t member;
#include "controller_counter.def"
	} counters;
	struct hs_event_limit bad_limit; // of log lines about bad messages
};

// Questions that only nodes can answer. controller_relay.c has those under way, and
// controller_verbs.c finds the one of a message.
struct controller_questions {
	struct relay_list relays;
	uint64_t ids;
	bool asks_nodes; // a request of the message that is being planned asks the nodes
	// The question for the nodes that hs_api_handle found, or HS_VERB_COUNT.
	enum hs_api_verb verb;
	struct hs_api_args args; // of these, `labels` is owned
};

struct hs_controller {
	const struct hs_controller_config *config;
	struct hs_controller_output output;
	char boot_id[24];
	int64_t now_ns, start_ns;
	struct hs_api_backend backend;
	struct hs_event_log events;
	uint64_t seq; // number of published messages
	uint64_t publish_lost;
	uint64_t calls;	  // ids of calls
	uint16_t owner;	  // our name as the owner of rules
	bool configuring; // while the configuration's requests are read
	bool starting;	  // what is wanted now comes from an earlier process
	bool restoring;	  // from the state
	// The work that one step may do, so that clients need not wait: calls. An audit that begins
	// counts as many calls.
	int budget;
	unsigned first_node; // the node that has the next turn
	struct controller_node *nodes;
	uint16_t *by_id; // node_id -> index of a node, n_nodes: none
	// Each belongs to a part.
	struct controller_wanted wanted;
	struct controller_metrics metrics;
	struct controller_questions questions;
	struct controller_label *label;	    // NULL: the configuration has none
	struct controller_probing *probing; // the same
	struct controller_reroute *reroute; // the same
};
