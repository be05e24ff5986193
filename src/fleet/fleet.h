// SPDX-License-Identifier: BSD-3-Clause
// The controller of many nodes as a step function: time, requests, replies and published messages
// in; requests to nodes, replies and messages out. A daemon gives it sockets, a test a clock of its
// own. It keeps what is wanted (rules and where they belong) and repairs what differs: at nodes
// that restarted, that were cut off, or that somebody else changed.
//
// The parts, one file pair each: fleet_node (a node: reachable or not, calls under way),
// fleet_rule (what is wanted, and its state at each node), fleet_repair (what differs, and the
// calls that mend it), fleet_monitor (reports and metrics that nodes publish), fleet_verbs (what a
// client may ask), fleet_relay (questions that only the nodes can answer).
// What comes later finds its place beside them: closed-loop sampling reads fleet_monitor's windows
// and changes rules through fleet_rule like a client; clock offsets and a ranking of hops are
// further readers of the windows; storage and a live view are further outputs.
//
// Source: 000_616928c59136b059.txt section III-G; docs/controller.md.
// Thread rule: owner; one call at a time.
#pragma once

#include "error.h"
#include "fleet_config.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_fleet;

struct hs_fleet_output {
	void *context;
	// Sends a request to node `node` (index in the configuration). 0, or -EAGAIN where it is
	// not connected or its queue is full.
	int (*send)(void *context, unsigned node, const char *text, size_t len);
	// Answers the client that `token` stands for, exactly once for each hs_fleet_request.
	void (*reply)(void *context, void *token, const char *text);
	// Publishes topic and JSON. 0, or -EAGAIN where a subscriber missed it. May be NULL.
	int (*publish)(void *context, const char *topic, const char *json);
	// Keep changes where they outlive the process, and take the last ones out again: as those
	// of struct hs_api_backend. May be NULL.
	int (*save)(void *context, const json_t *changes, struct hs_error *err);
	void (*unsave)(void *context);
	// As that of struct hs_api_backend.
	int64_t (*spent_ns)(void);
};

// `config` is borrowed for the life of the fleet. Its requests are wanted from the start: an error
// in them is told with its path. 0 or a negative errno with *err.
int hs_fleet_create(const struct hs_fleet_config *config, const char *boot_id,
		const struct hs_fleet_output *output, int64_t now_ns, struct hs_fleet **fleet,
		struct hs_error *err);
// Answers what is still asked. NULL is allowed.
void hs_fleet_destroy(struct hs_fleet *fleet);

// What `save` was given by a process before this one, in order, before the first step. Rules that
// the configuration has stay as it has them. 0 or a negative errno with *err.
int hs_fleet_restore(struct hs_fleet *fleet, json_t *change, struct hs_error *err);
// What is wanted, as changes for hs_fleet_restore, removals that some node has not heard of among
// them: copied in one go, so that it can be written in portions while the fleet goes on.
struct hs_fleet_snapshot;
struct hs_fleet_snapshot *hs_fleet_snapshot(struct hs_fleet *fleet); // NULL: memory is out
// A new reference, NULL at the end.
json_t *hs_fleet_snapshot_next(struct hs_fleet_snapshot *snapshot);
void hs_fleet_snapshot_free(struct hs_fleet_snapshot *snapshot); // NULL is allowed
uint64_t hs_fleet_changes(const struct hs_fleet *fleet);	 // about how many those are

// A client's message. The answer may come at once or, where nodes have to be asked, later.
void hs_fleet_request(struct hs_fleet *fleet, int64_t now_ns, void *token, const char *message,
		size_t len, bool may_change);
// What a node answered.
void hs_fleet_reply(struct hs_fleet *fleet, int64_t now_ns, unsigned node, const char *text,
		size_t len);
// What a node published.
void hs_fleet_message(struct hs_fleet *fleet, int64_t now_ns, const char *topic, const char *json,
		size_t len);

// Whether the node refuses our key, however often it is said.
void hs_fleet_node_refuses(struct hs_fleet *fleet, unsigned node, bool refuses);

// Looks after nodes, rules, windows and questions; never waits.
void hs_fleet_step(struct hs_fleet *fleet, int64_t now_ns);
// When the next step has something to do.
int64_t hs_fleet_next_ns(const struct hs_fleet *fleet);

// Records and publishes an event; `details` as for a node's (NULL or taken over).
void hs_fleet_event(struct hs_fleet *fleet, const char *kind, json_t *details, const char *format,
		...) __attribute__((format(printf, 4, 5)));
