// SPDX-License-Identifier: BSD-3-Clause
// The clock of the node itself.
#include "qos_own_clock.h"

#include "qos_parts.h"

// Marks the open windows: a clock stepped, and this may have changed their lengths.
static void mark_open(struct hs_qos *qos, struct hs_qos_flow *flow, bool changes_length)
{
	hs_qos_settle(qos, flow); // may begin a window
	for (unsigned i = 0; i < flow->n_sums; i++) {
		struct hs_qos_sum *sum = &flow->sums[i];
		if (i == HS_QOS_RUN)
			continue;
		sum->clock_stepped |= sum->open;
		sum->odd_length |= sum->open && changes_length;
	}
}

void hs_qos_set_clock(struct hs_qos *qos, const struct hs_qos_clock *clock)
{
	if (clock->steps != qos->clock.steps && qos->clock.known)
		for (struct hs_qos_flow *flow = qos->active; flow; flow = flow->next)
			mark_open(qos, flow, false);
	qos->clock = *clock;
}

// Ends the time before a step of this node's clock. The run continues, because it is the sum of the
// windows. No edge, report or later window mixes the time before the step with the time after it.
static void begin_new_time(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	mark_open(qos, flow, true);
	hs_qos_flush_flow(qos, flow);
	hs_qos_deactivate(qos, flow);
	flow->ring.count = 0;
	flow->unfolded = flow->ring.next;
	flow->close_tag = 0;
	flow->newest_ts_ns = 0;
	flow->met_ns = 0; // all windows from now on begin after the first report
	flow->new_time = flow->has_edge;
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		flow->latest[i].filled = false;
}

void hs_qos_clock_step(struct hs_qos *qos)
{
	for (uint32_t i = 0; i < qos->counters.flows; i++)
		begin_new_time(qos, qos->flows[i]);
	qos->next_ns = qos->round_next_ns = INT64_MAX;
	qos->now_ns = qos->since_ns = 0;
	qos->new_time = true;
	qos->cursor = NULL;
}
