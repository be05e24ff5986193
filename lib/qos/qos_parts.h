// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the monitor share: qos.c (reports), qos_close.c (windows that end),
// qos_answer.c (questions). For lib/qos only.
//
// Thread rule: owner.
#pragma once

#include "qos.h"

#include "qos_build.h"
#include "qos_flow.h"
#include "qos_sum.h"

#include <stdint.h>

struct hs_qos_entry {
	uint32_t ns_id;
	struct hs_qos_flow *flow; // NULL: free
};

struct hs_qos {
	struct hs_qos_config config;
	struct hs_qos_clock clock;
	int n_windows;
	int64_t ratio[HS_QOS_WINDOWS]; // window length in shortest windows
	struct hs_qos_entry *table;    // open addressing, linear, at most half full
	uint32_t table_mask;
	struct hs_qos_flow *active; // flows with windows to close
	int64_t next_ns;
	struct hs_qos_flow *cursor; // where hs_qos_advance goes on; NULL: at the front
	int64_t round_next_ns;	    // next_ns, once it is through
	struct hs_qos_counters counters;
	struct hs_qos_memory memory;
	uint32_t n_large; // flows that make room
	struct hs_qos_columns columns;
	struct hs_qos_step step;   // scratch
	struct hs_qos_slot answer; // of hs_qos_latest for the run, of hs_qos_slide
};

static inline uint32_t hs_qos_slot_of(const struct hs_qos *qos, uint32_t ns_id)
{
	return (uint32_t)((ns_id * 0x9e3779b97f4a7c15u) >> 32) & qos->table_mask;
}

static inline struct hs_qos_entry *hs_qos_find_entry(const struct hs_qos *qos, uint32_t ns_id)
{
	uint32_t i = hs_qos_slot_of(qos, ns_id);
	while (qos->table[i].flow && qos->table[i].ns_id != ns_id)
		i = (i + 1) & qos->table_mask;
	return &qos->table[i];
}

// Counts and adds up the reports that were only placed.
void hs_qos_settle(struct hs_qos *qos, struct hs_qos_flow *flow);

// Whether one more flow fits under the limit; one with many paths makes room.
bool hs_qos_has_room(struct hs_qos *qos);
// Of what grew beyond the limit the largest goes.
void hs_qos_keep_to_limit(struct hs_qos *qos);
// What a flow takes is added up where it may have grown.
void hs_qos_charge(struct hs_qos *qos, struct hs_qos_flow *flow);
// The same when a window has ended.
void hs_qos_charge_all(struct hs_qos *qos, struct hs_qos_flow *flow);
void hs_qos_discharge(struct hs_qos *qos, struct hs_qos_flow *flow);

// A flow with a window to close, the next one that of this tag; and one without.
void hs_qos_activate(struct hs_qos *qos, struct hs_qos_flow *flow, int64_t tag);
void hs_qos_deactivate(struct hs_qos *qos, struct hs_qos_flow *flow);
// Closes the windows that end where the flow's next shortest window does.
void hs_qos_close_next(struct hs_qos *qos, struct hs_qos_flow *flow);
// Hands out whatever is open, ended or not.
void hs_qos_flush_flow(struct hs_qos *qos, struct hs_qos_flow *flow);
// What is known of the clocks of a window.
void hs_qos_fill_clock(const struct hs_qos *qos, struct hs_qos_window *window, bool stepped);
