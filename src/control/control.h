// SPDX-License-Identifier: BSD-3-Clause
// Control of a node as a step function: time and requests in, replies and messages out. A daemon
// gives it a thread and sockets; a lab steps it in virtual time. Control depends on neither.
//
// Thread rule: owner (the control thread); one call at a time.
#pragma once

#include "control_config.h"
#include "control_event.h"
#include "control_state.h"
#include "control_totals.h"

#include "clock.h"
#include "error.h"
#include "node.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct hs_control;
struct hs_prometheus;

// `now_ns` is the node's own clock in all functions. Returns 0 or a negative errno.
int hs_control_create(const struct hs_control_config *config, struct hs_node *node,
		struct hs_clock *clock, const struct hs_control_output *output, int64_t now_ns,
		struct hs_control **control);
void hs_control_destroy(struct hs_control *control);

// Installs a list of requests, all or nothing. Returns 0, or a negative errno with *err.
int hs_control_install(struct hs_control *control, int64_t now_ns, json_t *requests,
		enum hs_rule_origin origin, struct hs_error *err);

// Returns what hs_control_event publishes with.
struct control_events *hs_control_events(struct hs_control *control);

// Answers one message; the caller frees the text. Returns NULL only if memory is out. `may_change`
// as for hs_api_handle.
char *hs_control_request(struct hs_control *control, int64_t now_ns, const char *message,
		size_t len, bool may_change);

// Adds the counters of the node and of its rules, and the metrics of the monitored rules
// (hs_control_page_rules) in windows of the length hs_qos_lengths_shown.
void hs_control_page(struct hs_control *control, struct hs_prometheus *page);

// Takes reports, sends telemetry reports, closes windows, and checks the node. Returns the number
// of reports taken and sent. The number is limited, so that requests have their turn; call again at
// once if more wait.
unsigned hs_control_step(struct hs_control *control, int64_t now_ns);

// Returns when the next step has something to do, except for reports and requests.
int64_t hs_control_next_ns(const struct hs_control *control);

// Takes all waiting reports, sends all waiting telemetry reports, and publishes the open windows of
// some flows at a time. Call this after the workers stopped, until it returns 0 or the time is
// over. Returns the number of flows left.
unsigned hs_control_finish(struct hs_control *control, int64_t now_ns);
