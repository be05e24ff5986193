// SPDX-License-Identifier: BSD-3-Clause
// What the in-band part of control needs from control: the time, the node, and callbacks for all
// that concerns rules, reports and events in general.
//
// Thread rule: owner (the control thread).
#pragma once

#include "error.h"
#include "event_log.h"
#include "metric.h"
#include "node.h"
#include "report.h"
#include "report_cbor.h"
#include "rule.h"

#include <jansson.h>
#include <stdint.h>

struct hs_in_band_host {
	void *context; // of all callbacks but `event`
	struct hs_node *node;
	const int64_t *now_ns;	       // control's present time
	struct hs_node_totals *counts; // counters of in-band requests and reports go here

	// Change the rules of the node. Return 0, or a negative errno with *err. `remove` calls
	// hs_in_band_slot_goes and hs_in_band_forget before the slot is free.
	int (*install)(void *context, const struct hs_rule *rule, struct hs_error *err);
	int (*update)(void *context, uint32_t ns_id, const struct hs_rule_update *update,
			struct hs_error *err);
	int (*remove)(void *context, uint32_t ns_id, struct hs_error *err);

	// Takes a report that came back in a packet.
	void (*report)(void *context, const struct hs_report *report,
			const struct hs_report_sender *sender);
	hs_event_fn *event;
	void *events; // the owner of events
};
