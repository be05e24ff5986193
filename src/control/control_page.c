// SPDX-License-Identifier: BSD-3-Clause
#include "control_page.h"
#include "control_rule.h"

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

static void add_monitored(struct hs_prometheus *page, const struct control_rules *rules,
		struct hs_qos *qos, int64_t window_ns,
		void (*add)(struct hs_prometheus *page, const struct hs_qos_window *window,
				const struct hs_delay_buckets *delays, uint32_t ns_id))
{
	const struct rule_note *note = NULL;
	uint32_t left = hs_control_monitored(rules);

	while ((note = hs_control_next_monitored(rules, note))) {
		if (!hs_prometheus_room(page))
			break;
		uint32_t ns_id = hs_control_noted_rule(rules, note)->ns_id;
		add(page, hs_qos_latest(qos, ns_id, window_ns), &note->delays, ns_id);
		left--;
	}
	hs_prometheus_leave_out(page, left);
}

void hs_control_page_rules(struct hs_prometheus *page, const struct control_rules *rules,
		struct hs_qos *qos, int64_t window_ns)
{
	add_monitored(page, rules, qos, window_ns, add_path);
	add_monitored(page, rules, qos, window_ns, add_hops);
}
