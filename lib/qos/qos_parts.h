// SPDX-License-Identifier: BSD-3-Clause
// The monitor as its parts see it: qos.c (reports), qos_close.c (windows that end), qos_answer.c
// (questions), qos_clock.c, qos_memory.c. For lib/qos only.
//
// Thread rule: owner.
#pragma once

#include "qos_build.h"
#include "qos_config.h"
#include "qos_flow.h"

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
