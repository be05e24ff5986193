// SPDX-License-Identifier: BSD-3-Clause
// The controller of many nodes as a step function: time, requests, replies and published messages
// in; requests to nodes, replies and messages out. A daemon gives it sockets, a test a clock of its
// own. The controller keeps what is wanted (rules and the nodes of each rule). It repairs
// differences at nodes that restarted, were unreachable, or were changed by somebody else.
//
// The parts have a header each, and each calls only those before it: controller_reply (what nodes
// say, as tables), controller_state (what the parts share), controller_call (requests to nodes,
// publications, events), controller_rule (what is wanted, and its state at each node),
// controller_audit (differences), controller_repair (the calls that repair them), controller_label
// (INT-label: coverage and S), controller_probing (probes: sessions), controller_reroute (routes
// around links that probes find bad), controller_relay (questions that only the nodes can answer),
// controller_flow (windows that become stale), controller_node (a node: its reachability and its
// calls under way), controller_format (the format of a report), controller_monitor (reports and
// metrics that nodes publish), controller_verbs (what a client may ask), controller.c (the entries
// below, and the time). Later parts fit beside them: closed-loop sampling can read
// controller_monitor's windows and change rules through controller_rule like a client. Clock
// offsets and a ranking of hops are further readers of the windows. Storage and a live view are
// further outputs.
//
// Source: 000_616928c59136b059.txt section III-G; docs/controller.md. Thread rule: owner; one call
// at a time.
#pragma once

#include "api.h"
#include "controller_config.h"
#include "controller_output.h"
#include "error.h"
#include "prometheus.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_controller;

// Creates a controller. `config` is borrowed for the controller's life. The rules of its requests
// are wanted from the start. An error in a request has the request's path. Returns 0, or a negative
// errno with *err.
int hs_controller_create(const struct hs_controller_config *config, const char *boot_id,
		const struct hs_controller_output *output, int64_t now_ns,
		struct hs_controller **controller, struct hs_error *err);
// Answers open requests. Accepts NULL.
void hs_controller_destroy(struct hs_controller *controller);

// Restores what an earlier process passed to `save`, in order, before the first step. Rules of the
// configuration keep the configuration's content. Returns 0, or a negative errno with *err. *err
// is also set after 0 if the change names a node or path that the configuration does not have: the
// rule is then wanted at its other nodes.
int hs_controller_restore(struct hs_controller *controller, json_t *change, struct hs_error *err);
// A copy of what is wanted, as changes for hs_controller_restore, including removals that some node
// has not received. The copy is made at once, so that the daemon can write it in portions while the
// controller continues.
struct hs_controller_snapshot;
struct hs_controller_snapshot *hs_controller_snapshot(
		struct hs_controller *controller); // NULL if memory is out
// Returns a new reference, NULL at the end.
json_t *hs_controller_snapshot_next(struct hs_controller_snapshot *snapshot);
void hs_controller_snapshot_free(struct hs_controller_snapshot *snapshot); // accepts NULL
uint64_t hs_controller_changes(
		const struct hs_controller *controller); // the approximate number of these changes

// Handles a client's message. The answer comes at once, or later if nodes have to be asked.
void hs_controller_request(struct hs_controller *controller, int64_t now_ns, void *token,
		const char *message, size_t len, bool may_change);
// Handles a node's answer.
void hs_controller_reply(struct hs_controller *controller, int64_t now_ns, unsigned node,
		const char *text, size_t len);
// Handles a message that a node published.
void hs_controller_message(struct hs_controller *controller, int64_t now_ns, const char *topic,
		const char *json, size_t len);

// Handles a datagram of INT-label. `cut`: its end is missing.
void hs_controller_label_take(struct hs_controller *controller, int64_t now_ns,
		const uint8_t *payload, size_t len, bool cut);
// Sets how many datagrams of INT-label the kernel has dropped so far.
void hs_controller_label_lost(struct hs_controller *controller, uint64_t lost);
// Handles a frame of the prototype of INT-label. Its end may be missing behind
// HS_LABEL_PROTOTYPE_MAX_BYTES.
void hs_controller_label_frame(
		struct hs_controller *controller, int64_t now_ns, const uint8_t *frame, size_t len);
// Adds the number of frames that the kernel dropped since the last call.
void hs_controller_label_frames_lost(struct hs_controller *controller, uint64_t lost);

// Handles a frame that came where probes come back.
void hs_controller_probe_take(
		struct hs_controller *controller, int64_t now_ns, const uint8_t *frame, size_t len);

// Sets whether the node refuses the controller's key. Repeated calls are allowed.
void hs_controller_node_refuses(struct hs_controller *controller, unsigned node, bool refuses);

// Says once by how much the clock of all now_ns was set, soon after the step. A step that nobody
// says is noticed if the clock is back, or a second ahead.
void hs_controller_clock_step(struct hs_controller *controller, int64_t now_ns, int64_t by_ns);
// Advances nodes, rules, windows and questions. Never waits.
void hs_controller_step(struct hs_controller *controller, int64_t now_ns);
// Returns when the next step has something to do.
int64_t hs_controller_next_ns(const struct hs_controller *controller);

// Returns the reply to node_get, whose rows hs_controller_reply_fields has. New reference.
json_t *hs_controller_show(struct hs_controller *controller);
// Adds what the controller knows: itself, its nodes, and of each flow the newest window of the
// length hs_qos_lengths_shown and the delays of the raw reports that came here.
void hs_controller_page(const struct hs_controller *controller, struct hs_prometheus *page);

// Returns the JSON Schema of the message of a session of probes. New reference.
json_t *hs_controller_probe_schema(void);
// Returns the fields of a reply, or NULL if the controller has no such verb.
const struct hs_schema_field *hs_controller_reply_fields(enum hs_api_verb verb);
