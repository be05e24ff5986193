// SPDX-License-Identifier: BSD-3-Clause
// The newest window of each length of a flow. Of a flow whose windows no longer come, an answer
// says what its sink would say: stale for a minute, and then nothing.
#include "controller_flow.h"

#include "controller_state.h"

#include <stdlib.h>
#include <string.h>

#define GRACE_NS INT64_C(3000000000) // a window may be so late

static void drop_window(struct hs_controller *controller, struct controller_flow *flow, unsigned i)
{
	if (flow->windows[i].text)
		controller->metrics.window_bytes -= strlen(flow->windows[i].text) + 1;
	free(flow->windows[i].text);
	flow->windows[i].text = NULL;
}

void controller_drop_windows(struct hs_controller *controller, struct controller_flow *flow)
{
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		drop_window(controller, flow, i);
}

void controller_keep_window(struct hs_controller *controller, struct controller_flow *flow,
		unsigned i, const json_t *content)
{
	uint64_t most = (uint64_t)controller->config->monitor_mib << 20;
	char *text = json_dumps(content, JSON_COMPACT | JSON_REAL_PRECISION(15));
	size_t bytes = text ? strlen(text) + 1 : 0;

	drop_window(controller, flow, i);
	if (!text || controller->metrics.window_bytes + bytes > most) {
		controller->metrics.counters.not_kept++;
		free(text);
		return;
	}
	controller->metrics.window_bytes += bytes;
	flow->windows[i].text = text;
	flow->windows[i].taken_ns = controller->now_ns;
}

static void add_to(json_t *window, const char *key, int64_t ns)
{
	const json_t *value = json_object_get(window, key);

	if (value)
		json_object_set_new(window, key, json_integer(json_integer_value(value) + ns));
}

json_t *controller_read_window(const struct hs_controller *controller,
		const struct controller_flow *flow, unsigned i)
{
	int64_t length = controller->config->window_ns[i];
	int64_t late_ns = controller->now_ns - flow->windows[i].taken_ns - GRACE_NS;
	json_t *window = flow->windows[i].text ? json_loads(flow->windows[i].text, 0, NULL) : NULL;

	if (!window || late_ns < length)
		return window;
	int64_t missing_ns = late_ns / length * length;
	int64_t age_ns = json_integer_value(json_object_get(window, "age_ns")) + missing_ns;
	if (age_ns > HS_QOS_STALE_NS) {
		json_decref(window);
		return NULL;
	}
	add_to(window, "start_ns", missing_ns);
	add_to(window, "end_ns", missing_ns);
	json_object_set_new(window, "reports", json_integer(0));
	json_object_set_new(window, "stale", json_true());
	json_object_set_new(window, "age_ns", json_integer(age_ns));
	return window;
}

void controller_shift_windows(struct hs_controller *controller, int64_t ns)
{
	struct controller_flow *flow;

	TAILQ_FOREACH (flow, &controller->metrics.flows, order) {
		flow->published_ns += ns;
		flow->heard_ns += ns;
		for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
			flow->windows[i].taken_ns += ns;
	}
}
