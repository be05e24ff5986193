// SPDX-License-Identifier: BSD-3-Clause
// The declarations that the files of src/controller share. For them only.
#pragma once

#include "controller.h"
#include "controller_reply.h"

#include "api.h"
#include "event_log.h"
#include "qos.h"
#include "rule.h"
#include "schema.h"

#include <sys/queue.h>

// Requests under way at one node. Clients' questions leave room for repairs, and both leave room
// for the hello that shows whether the node is there.
#define CALLS_AT_ONCE 64
#define CALLS_REPAIR  63
#define CALLS_RELAY   16
#define CALLS_HELLO   8
#define CALLS_LABEL   32 // beyond, nothing of INT-label is asked or told, and no route is told
// The most bytes that one question may collect. Nodes that answer later are named and must be asked
// directly.
#define CONTROLLER_GATHERED_BYTES (4u << 20)

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
	uint64_t of;	// number of the relay or audit; revision of the rule as it was sent; place
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

struct hs_controller {
	const struct hs_controller_config *config;
	struct hs_controller_output output;
	char boot_id[24];
	int64_t now_ns, start_ns;
	struct hs_api_backend backend;
	struct hs_event_log events;
	uint64_t seq; // number of published messages
	uint64_t publish_lost;
	uint64_t generation; // of the wanted rules
	uint64_t calls;	     // ids of calls
	uint64_t revision;   // the last one given
	uint16_t owner;	     // our name as the owner of rules

	struct controller_node *nodes;
	// The work that one step may do, so that clients need not wait: calls. An audit that begins
	// counts as many calls.
	int budget;
	unsigned first_node; // the node that has the next turn
	struct controller_rule_list rules;
	void *rules_by_ns;	  // a tree of tsearch(3)
	bool configuring;	  // while the configuration's requests are read
	bool starting;		  // what is wanted now comes from an earlier process
	bool restoring;		  // from the state
	struct hs_error left_out; // a name in it that the configuration no longer has
	unsigned n_rules;	  // without the deleted rules
	unsigned n_kept;	  // number of rules in a snapshot
	json_t *removed; // "on" of each rule that the current request removed, to restore it

	struct hs_qos *qos;
	void *flows_by_ns; // a tree of tsearch(3)
	TAILQ_HEAD(flow_list, controller_flow) flows;
	// Flows of rules that are not wanted here, in the order of their last report. The first
	// gives way.
	TAILQ_HEAD(unwanted_list, controller_flow) unwanted;
	unsigned n_flows;
	uint64_t window_bytes; // of the windows that are kept
	uint16_t *by_id;       // node_id -> index of a node, n_nodes: none
	struct controller_monitor_counters {
		uint64_t messages, bad, too_large, unknown_node;
		uint64_t reports, refused, ahead, replaced, windows, not_kept, formats_unknown;
	} monitored;
	struct hs_event_limit bad_limit; // of log lines about bad messages

	struct relay_list relays;
	uint64_t relay_ids;
	bool asks_nodes; // a request of the message that is being planned asks the nodes
	// The question for the nodes that hs_api_handle found, or HS_VERB_COUNT.
	enum hs_api_verb relay_wanted;
	struct hs_api_args relay_args; // of these, `labels` is owned

	struct controller_label *label;	    // NULL: the configuration has none
	struct controller_probing *probing; // the same
	struct controller_reroute *reroute; // the same
};

// Each part calls only the parts above it. controller.c calls all of them.

// ---- controller_output.c ----

// Sends {"id": ..., verb: content} if there is room and a connection. Takes ownership of content.
// Returns 0 or -EAGAIN.
int controller_call(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, const char *verb, json_t *content);

// Counts an answer that could not be read, and logs the member that was wrong: at once, then at
// most once a minute.
void controller_bad_reply(struct hs_controller *controller, struct controller_node *node,
		const char *verb, const struct hs_error *err);

// Adds seq and boot_id to the content, publishes the message and releases it. Returns 0 or -EAGAIN.
int controller_publish(struct hs_controller *controller, const char *topic, const char *key,
		json_t *content);

// ---- controller_rule.c ----

struct controller_rule *controller_find_rule(struct hs_controller *controller, uint32_t ns_id);
// Wants a rule at the nodes of `on` (checked and borrowed; NULL: all). It replaces what was wanted
// under this ns_id before and is not yet removed from its nodes. Returns 0 or -ENOMEM.
int controller_want(struct hs_controller *controller, const struct hs_rule *rule, const json_t *on);
void controller_change(struct hs_controller *controller, struct controller_rule *rule);
void controller_unwant(struct hs_controller *controller, struct controller_rule *rule);
// Removes the binding, because the node has removed the rule. The rule may end with it.
void controller_drop_binding(struct hs_controller *controller, struct binding *binding);
struct binding *controller_find_binding(
		struct hs_controller *controller, uint32_t ns_id, unsigned node);
void controller_forget_rules(struct hs_controller *controller);
void controller_set_state(struct hs_controller *controller, struct binding *binding,
		enum binding_state state);
// Returns whether `on` is a valid choice of nodes for a rule: 0, or -EINVAL with *err, path "on…".
// While the state is restored, unknown names are left out: see left_out.
int controller_check_on(struct hs_controller *controller, const json_t *on, struct hs_error *err);
json_t *controller_rule_json(
		const struct hs_controller *controller, const struct controller_rule *rule);
// Returns the int_update that brings a node's rule up to this one.
json_t *controller_update_json(const struct hs_rule *rule);
// Returns whether two rules are the same: in all fields but the labels, or, if `all` is false, in
// the fields that no update changes.
bool controller_same(const struct hs_rule *a, const struct hs_rule *b, bool all);
// Gives the rule's content a revision above all that were given and above this one.
void controller_raise_revision(
		struct hs_controller *controller, struct controller_rule *rule, uint64_t above);
// Queues a binding: what is wanted has changed, or differs from what is there.
void controller_queue(struct hs_controller *controller, struct binding *binding);

// ---- controller_audit.c ----

// Takes the node as another than the known one: what it has is not known.
void controller_found_anew(struct hs_controller *controller, struct controller_node *node);
// Plans an audit after a change that this controller did not make. Such audits take at most a tenth
// of the time.
void controller_suspect(struct hs_controller *controller, struct controller_node *node);
// Marks a binding so that an audit finds out what is there.
void controller_doubt(struct hs_controller *controller, struct binding *binding);
// Removes a binding from the queue of bindings that wait for a call.
void controller_unqueue(struct controller_node *node, struct binding *binding);
// Take what the node has: our rule of this revision, no rule, or the rule that an audit or
// CALL_LOOK found.
void controller_set_present(
		struct hs_controller *controller, struct binding *binding, uint64_t has);
void controller_set_missing(struct hs_controller *controller, struct binding *binding);
void controller_compare(struct hs_controller *controller, struct binding *binding,
		const struct hs_rule *found);
void controller_begin_audit(struct hs_controller *controller, struct controller_node *node);
// Handle a page of an audit, and one that did not come.
void controller_take_list(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok);
void controller_cut_audit_short(
		struct hs_controller *controller, struct controller_node *node, int64_t pause_ns);

// ---- controller_repair.c ----

// Sends the needed calls as far as the node accepts them.
void controller_repair(struct hs_controller *controller, struct controller_node *node);
// Handle calls of these kinds that were answered (`error` NULL: done), or whose answer did not come
// in time (_lost).
void controller_repaired(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error);
void controller_repair_lost(struct hs_controller *controller, struct controller_node *node,
		const struct call *call);

// ---- controller_label.c, controller_label_node.c, controller_label_verb.c ----

int controller_open_label(struct hs_controller *controller); // 0 or -ENOMEM
void controller_close_label(struct hs_controller *controller);
void controller_step_label(struct hs_controller *controller);
int64_t controller_label_next_ns(const struct hs_controller *controller);
// Excludes a time from all time limits, because the clock was set by it or nothing ran during it.
void controller_shift_label(struct hs_controller *controller, int64_t ns);
// Handle the answer to a call of these kinds (`ok` NULL: an error), and one that did not come.
void controller_label_answered(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok);
void controller_label_call_lost(struct hs_controller *controller, struct controller_node *node,
		const struct call *call);
// Note that a node answers for the first time or again, or that it no longer answers.
void controller_label_node_up(struct hs_controller *controller, const struct controller_node *node);
void controller_label_node_down(
		struct hs_controller *controller, const struct controller_node *node);
// Takes a node's answer to the label_set of a client.
void controller_label_was_set(
		struct hs_controller *controller, struct controller_node *node, json_t *ok);
extern const struct hs_schema_field controller_label_fields[];
int controller_label_get(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);

// ---- controller_probing.c, controller_probing_verb.c ----

int controller_open_probing(struct hs_controller *controller); // 0 or a negative errno
void controller_close_probing(struct hs_controller *controller);
void controller_step_probing(struct hs_controller *controller);
int64_t controller_probing_next_ns(const struct hs_controller *controller);
// Works as controller_shift_label does.
void controller_shift_probing(struct hs_controller *controller, int64_t ns);
// Begins a session. Returns false if one runs, or memory is out.
bool controller_run_probing(struct hs_controller *controller);
extern const struct hs_schema_field controller_probe_run_fields[];
extern const struct hs_schema_field controller_probe_status_fields[];
extern const struct hs_schema_field controller_probe_links_fields[];
int controller_probe_run(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
int controller_probe_status(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
int controller_probe_links(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);

// ---- controller_reroute.c, controller_reroute_verb.c ----

int controller_open_reroute(struct hs_controller *controller); // 0 or -ENOMEM
void controller_close_reroute(struct hs_controller *controller);
// Follows each session of probes that ended in this step, and tells nodes their routes.
void controller_step_reroute(struct hs_controller *controller);
int64_t controller_reroute_next_ns(const struct hs_controller *controller);
// Handle the answer to a call of these kinds (`ok` NULL: an error), and one that did not come.
void controller_reroute_answered(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error);
void controller_reroute_call_lost(struct hs_controller *controller,
		const struct controller_node *node, const struct call *call);
// Note that a node answers for the first time or again, or that it no longer answers.
void controller_reroute_node_up(struct hs_controller *controller,
		const struct controller_node *node, bool restarted);
void controller_reroute_node_down(struct hs_controller *controller);
extern const struct hs_schema_field controller_probe_routes_fields[];
int controller_probe_routes(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);

// ---- controller_relay.c ----

extern const struct hs_schema_field controller_gathered_fields[];

// Asks all reachable nodes, or the one that args->node names. Their answers replace `answer`, which
// is part of `reply` (taken over). The whole reply goes to `token`.
void controller_relay(struct hs_controller *controller, void *token, json_t *reply, json_t *answer,
		enum hs_api_verb verb, const struct hs_api_args *args);
// Works as controller_shift_label does.
void controller_shift_relays(struct hs_controller *controller, int64_t ns);
void controller_relayed(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error);
void controller_step_relays(struct hs_controller *controller);
int64_t controller_relays_next_ns(const struct hs_controller *controller);
void controller_close_relays(struct hs_controller *controller);

// ---- controller_node.c ----

int controller_open_nodes(struct hs_controller *controller);
void controller_close_nodes(struct hs_controller *controller);
void controller_step_node(struct hs_controller *controller, struct controller_node *node);
int64_t controller_node_next_ns(
		const struct hs_controller *controller, const struct controller_node *node);
// Asks the node now, because something was heard of it.
void controller_look_at_node(struct hs_controller *controller, struct controller_node *node);
// Sets the time. Time limits do not count a time in which nothing ran.
void controller_set_time(struct hs_controller *controller, int64_t now_ns);
// Finds who published a message. Returns false if the configuration has no such publisher. *found
// is NULL if it cannot be identified: end nodes without an id of their own are told apart by their
// boot id, and a new boot id must be asked for first.
bool controller_publisher(struct hs_controller *controller, const struct reply_origin *origin,
		struct controller_node **found);
// Counts what is missing between a node's messages: if nothing was lost, their numbers have no
// gaps.
void controller_follow(struct hs_controller *controller, struct controller_node *node,
		const struct reply_origin *origin);
extern const struct hs_schema_field controller_node_fields[];
json_t *controller_node_json(
		const struct hs_controller *controller, const struct controller_node *node);
// Handles a node's answer. NULL: it was no JSON, or had more values than any node sends.
void controller_answered(
		struct hs_controller *controller, struct controller_node *node, json_t *message);

// ---- controller_window.c ----

// Excludes a time from the age of windows, because the clock was set by it or nothing ran during
// it.
void controller_shift_windows(struct hs_controller *controller, int64_t ns);

// ---- controller_monitor.c ----

int controller_open_monitor(struct hs_controller *controller);
void controller_close_monitor(struct hs_controller *controller);
void controller_step_monitor(struct hs_controller *controller);
// Removes the metrics of a rule that is no longer wanted.
void controller_forget_flow(struct hs_controller *controller, uint32_t ns_id);
// Returns the family of a report of rule ns_id. Returns NULL with *err if the family is not known,
// or is not the rule's.
const struct hs_telemetry_family *controller_report_family(struct hs_controller *controller,
		const json_t *message, uint32_t ns_id, struct hs_error *err);
bool controller_has_flow(struct hs_controller *controller, uint32_t ns_id);
int controller_qos_get(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);

// ---- controller_verbs.c ----

void controller_open_verbs(struct hs_controller *controller);
