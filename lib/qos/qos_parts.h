// SPDX-License-Identifier: BSD-3-Clause
// The monitor's state, shared by qos.c (reports), qos_close.c (windows that end), qos_answer.c
// (queries), qos_own_clock.c and qos_memory.c. For lib/qos only.
//
// Thread rule: owner.
#pragma once

#include "qos_config.h"
#include "qos_flow.h"
#include "qos_metrics.h"
#include "qos_offer.h"

#include "u32_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The least memory that a flow is charged with: a thousand reports of five nodes, and their links.
// So all accepted flows fit under the limit, unless one of them takes more.
#define HS_QOS_SHARE_BYTES (256u << 10)

struct hs_qos {
	struct hs_qos_config config;
	struct hs_qos_clock clock;
	int n_windows;
	int64_t ratio[HS_QOS_WINDOWS]; // window length in shortest windows
	struct hs_qos_flow **flows;    // counters.flows of them
	struct hs_qos_place *places;   // of the flows, in the same order
	struct hs_u32_map by_ns;       // ns_id -> flows[]
	struct hs_qos_flow *active;    // flows with windows to close
	int64_t next_ns;
	int64_t now_ns;	  // the newest time of hs_qos_tell_time; 0: not known
	int64_t since_ns; // the first time after the node's clock last stepped; 0: not known
	bool new_time;	  // it stepped, and no time is known since
	int64_t cut_ns;	  // no window ends later: INT64_MAX but in hs_qos_cut_flow
	struct hs_qos_flow *cursor; // where hs_qos_advance continues; NULL: at the front
	int64_t round_next_ns;	    // next_ns after the current round over all flows
	struct hs_qos_counters counters;
	struct hs_qos_memory memory;
	uint32_t n_large; // flows that may be removed to make room
	struct hs_qos_columns columns;
	struct hs_qos_offers offers;
	struct hs_qos_step step;   // scratch
	struct hs_qos_slot answer; // result of hs_qos_latest for the run, and of hs_qos_slide
};

// Returns the flow of a namespace, or NULL if there is none.
static inline struct hs_qos_flow *hs_qos_find(const struct hs_qos *qos, uint32_t ns_id)
{
	uint32_t at = hs_u32_map_find(&qos->by_ns, ns_id);

	return at == HS_U32_MAP_NONE ? NULL : qos->flows[at];
}

// ---- reports that were placed ----

// Tells the ring of a flow that is not offered of the reports that were placed.
static inline void hs_qos_gather_own(struct hs_qos_flow *flow)
{
	flow->ring.ahead += flow->place->placed;
	flow->place->placed = 0;
}

// Does the same for any flow. Afterwards the flow is not offered.
static inline void hs_qos_gather(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	if (flow->place->offered)
		hs_qos_take_back(&qos->offers, flow);
	hs_qos_gather_own(flow);
}

// ---- windows that end (qos_close.c) ----

// Adds up the reports that were only placed in the ring. Counts the ones lost for lack of memory.
void hs_qos_settle(struct hs_qos *qos, struct hs_qos_flow *flow);

// Adds a flow to the list of flows with windows to close; the next one to close is the one of this
// tag. hs_qos_deactivate removes a flow from this list.
void hs_qos_activate(struct hs_qos *qos, struct hs_qos_flow *flow, int64_t tag);
void hs_qos_deactivate(struct hs_qos *qos, struct hs_qos_flow *flow);
// Closes the flow's next shortest window, and the longer windows that end at the same time.
void hs_qos_close_next(struct hs_qos *qos, struct hs_qos_flow *flow);
// Hands out the flow's open windows, ended or not.
void hs_qos_flush_flow(struct hs_qos *qos, struct hs_qos_flow *flow);
// Does the same, and ends windows that have not ended at the newest time that is known, of
// hs_qos_tell_time or of a report.
void hs_qos_cut_flow(struct hs_qos *qos, struct hs_qos_flow *flow);
// Fills in what is known of the clocks in a window.
void hs_qos_fill_clock(const struct hs_qos *qos, struct hs_qos_window *window, bool stepped);

// ---- memory (qos_memory.c) ----

size_t hs_qos_flow_bytes(const struct hs_qos_flow *flow);

// Updates the bytes charged for a flow. Call it where the flow may have grown.
void hs_qos_charge(struct hs_qos *qos, struct hs_qos_flow *flow);
// Does the same with the bytes of histograms and finished windows. Call it when a window has ended.
void hs_qos_charge_all(struct hs_qos *qos, struct hs_qos_flow *flow);
void hs_qos_discharge(struct hs_qos *qos, struct hs_qos_flow *flow);
