// SPDX-License-Identifier: BSD-3-Clause
// Control of a node as a step function: time and requests in, replies and messages out. A daemon
// gives it a thread and sockets; a lab steps it in virtual time. It depends on neither.
//
// Thread rule: owner (the control thread); one call at a time.
#pragma once

#include "clock.h"
#include "error.h"
#include "in_band_settings.h"
#include "metric.h"
#include "node.h"
#include "qos.h"
#include "state.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct hs_control;
struct hs_telemetry;

// The destinations of messages. Both may be NULL.
struct hs_control_output {
	void *context;
	// Publishes a topic and a JSON text, which are valid during the call. Returns 0, or -EAGAIN
	// if a subscriber missed the message.
	int (*publish)(void *context, const char *topic, const char *json);
	// Adds the transport's counts: requests, replies, connections.
	void (*totals)(void *context, struct hs_node_totals *totals);
};

// Who asked for a rule.
enum hs_rule_origin {
	HS_ORIGIN_API,
	HS_ORIGIN_CONFIG,
	HS_ORIGIN_IN_BAND,
	HS_ORIGIN_STATE,
};

struct hs_control_config {
	char boot_id[24];		   // hexadecimal digits that change with every start
	uint32_t monitored_rules;	   // number of rules that can have a monitor at once
	uint64_t monitor_bytes;		   // memory of all monitors; 0: no limit
	int64_t window_ns[HS_QOS_WINDOWS]; // 0 ends them; without any: 1, 10 and 60 s
	// Members that node_get repeats, among them "polling" and the endpoints. May be NULL;
	// borrowed for the life of the control.
	json_t *settings;
	struct hs_telemetry *telemetry;		   // may be NULL; borrowed
	const struct hs_in_band_settings *in_band; // NULL: the defaults; copied
	// A step takes well under a millisecond, however many reports wait, because requests wait
	// for it.
	bool brief_steps;
	// Returns the owner's processor time so far, which limits what a list of requests may ask
	// for. May be NULL.
	int64_t (*spent_ns)(void);
};

// `now_ns` is the node's own clock in all functions. Returns 0 or a negative errno.
int hs_control_create(const struct hs_control_config *config, struct hs_node *node,
		struct hs_clock *clock, const struct hs_control_output *output, int64_t now_ns,
		struct hs_control **control);
void hs_control_destroy(struct hs_control *control);

// Installs a list of requests, all or nothing. Returns 0, or a negative errno with *err.
int hs_control_install(struct hs_control *control, int64_t now_ns, json_t *requests,
		enum hs_rule_origin origin, struct hs_error *err);

// Restores what the API had changed before the last start of the node, and saves what it changes
// from now on, in a file. The file's name is borrowed for the life of the control; now_ns of the
// configuration is not used. Call this after installing what the configuration asks for, which has
// priority. Lines that are left out or refused are logged. Returns 0, or a negative errno with
// *err.
int hs_control_open_state(struct hs_control *control, int64_t now_ns,
		const struct hs_state_config *config, struct hs_error *err);

// Answers one message; the caller frees the text. Returns NULL only if memory is out. `may_change`
// as for hs_api_handle.
char *hs_control_request(struct hs_control *control, int64_t now_ns, const char *message,
		size_t len, bool may_change);

// Takes reports, closes windows, and checks the node. Returns the number of reports taken. The
// number is limited, so that requests have their turn; call again at once if more wait.
unsigned hs_control_step(struct hs_control *control, int64_t now_ns);

// Returns when the next step has something to do, except for reports and requests.
int64_t hs_control_next_ns(const struct hs_control *control);

// Takes all waiting reports and publishes the open windows of some flows at a time. Call this after
// the workers stopped, until it returns 0 or the time is over. Returns the number of flows left.
unsigned hs_control_finish(struct hs_control *control, int64_t now_ns);

// Records and publishes an event. `details` has further members: NULL, or a reference that is taken
// over.
void hs_control_event(struct hs_control *control, const char *kind, json_t *details,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

void hs_control_totals(const struct hs_control *control, struct hs_node_totals *totals);
