// SPDX-License-Identifier: BSD-3-Clause
#include "control_page.h"
#include "control_parts.h"
#include "control_totals.h"

#include "metric_page.h"
#include "qos_lengths.h"
#include "qos_page.h"

static void add_path(struct hs_prometheus *page, const struct hs_qos_window *window,
		const struct hs_delay_buckets *delays, uint32_t ns_id)
{
	if (window)
		hs_qos_page_path(page, window);
	hs_delay_buckets_page_path(page, delays, ns_id);
}

static void add_hops(struct hs_prometheus *page, const struct hs_qos_window *window,
		const struct hs_delay_buckets *delays, uint32_t ns_id)
{
	if (window)
		hs_qos_page_hops(page, window);
	hs_delay_buckets_page_hops(page, delays, ns_id);
}

static void add_monitored(struct hs_control *control, struct hs_prometheus *page,
		void (*add)(struct hs_prometheus *page, const struct hs_qos_window *window,
				const struct hs_delay_buckets *delays, uint32_t ns_id))
{
	int64_t window_ns = hs_qos_lengths_usual(control->config.window_ns);
	const struct rule_note *note = NULL;
	uint32_t left = control->rules.n_monitored;

	while ((note = hs_control_next_monitored(&control->rules, note))) {
		if (!hs_prometheus_room(page))
			break;
		uint32_t ns_id = hs_control_noted_rule(&control->rules, note)->ns_id;
		add(page, hs_qos_latest(control->qos, ns_id, window_ns), &note->delays, ns_id);
		left--;
	}
	hs_prometheus_leave_out(page, left);
}

void hs_control_page(struct hs_control *control, struct hs_prometheus *page)
{
	struct hs_node_totals totals;

	hs_control_totals(control, &totals);
	hs_metric_page(page, control->node, &totals);
	add_monitored(control, page, add_path);
	add_monitored(control, page, add_hops);
}
