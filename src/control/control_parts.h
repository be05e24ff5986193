// SPDX-License-Identifier: BSD-3-Clause
// Control as a list of its parts, and what belongs to none of them. For the files of src/control
// that call many parts. A part whose struct is here cannot see this header.
#pragma once

#include "control_clock.h"
#include "control_config.h"
#include "control_event.h"
#include "control_export.h"
#include "control_list.h"
#include "control_route.h"
#include "control_rule.h"
#include "control_shadow.h"
#include "control_watch.h"
#include "in_band.h"

#include "api.h"
#include "node.h"
#include "qos.h"

struct hs_control {
	struct hs_control_config config;
	struct hs_control_output output;
	struct hs_node *node;
	struct hs_flow_table *flows; // of the node
	struct hs_qos *qos;
	struct hs_in_band *in_band;
	struct hs_api_backend backend;

	struct control_clock clock;
	struct control_events events;
	struct control_export exports;
	struct control_list list;
	struct control_routes routes;
	struct control_rules rules;
	struct control_shadow shadow;
	struct control_state *state; // NULL: nothing is restored after a restart
	struct control_watch watch;

	int64_t now_ns, start_ns;
	int64_t next_tick_ns, next_second_ns;
	struct hs_node_totals counts; // control's own counters

	// Number of reports to take before the due windows may close: those that waited when the
	// windows became due. 0: no window is due.
	uint64_t close_after_reports;
	bool request_drained;	    // the rings were emptied for the current request
	enum hs_rule_origin origin; // origin of the current requests
};
