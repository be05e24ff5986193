// SPDX-License-Identifier: BSD-3-Clause
// The monitor as its parts see it: qos.c (reports), qos_close.c (windows that end), qos_answer.c
// (questions), qos_clock.c, qos_memory.c. For lib/qos only.
//
// Thread rule: owner.
#pragma once

#include "qos_build.h"
#include "qos_config.h"
#include "qos_flow.h"

#include "u32_map.h"

#include <stdint.h>

struct hs_qos {
	struct hs_qos_config config;
	struct hs_qos_clock clock;
	int n_windows;
	int64_t ratio[HS_QOS_WINDOWS]; // window length in shortest windows
	struct hs_qos_flow **flows;    // counters.flows of them
	struct hs_u32_map by_ns;       // ns_id -> flows[]
	struct hs_qos_flow *active;    // flows with windows to close
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

// Returns NULL if the namespace has no flow.
static inline struct hs_qos_flow *hs_qos_find(const struct hs_qos *qos, uint32_t ns_id)
{
	uint32_t at = hs_u32_map_find(&qos->by_ns, ns_id);

	return at == HS_U32_MAP_NONE ? NULL : qos->flows[at];
}
