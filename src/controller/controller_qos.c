// SPDX-License-Identifier: BSD-3-Clause
// Answers qos_get from the windows that the monitor keeps: those of one rule, of all rules page by
// page, or of an application.
#include "controller_qos.h"

#include "controller_flow.h"
#include "controller_monitor.h"
#include "controller_rule.h"

#include "api_reply.h"
#include "qos_app.h"
#include "qos_lengths.h"
#include "qos_window.h"

#include <stdlib.h>

static void add_window(struct hs_controller *controller, const struct controller_flow *flow,
		const struct hs_api_args *args, json_t *list)
{
	const struct hs_qos_window *window =
			args->end_ns ? hs_qos_slide(controller->metrics.qos, flow->ns_id,
						       args->start_ns, args->end_ns)
				     : hs_qos_latest(controller->metrics.qos, flow->ns_id, 0);
	json_t *message = window ? hs_qos_window_json(window, NULL) : NULL;

	if (message)
		json_array_append(list, json_object_get(message, "qos_report"));
	json_decref(message);
}

static json_t *windows_of(struct hs_controller *controller, const struct controller_flow *flow,
		const struct hs_api_args *args)
{
	json_t *list = json_array();

	if (args->end_ns || args->window_ns == HS_API_WINDOW_RUN) {
		add_window(controller, flow, args, list);
		return list;
	}
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		if (args->window_ns == 0 || args->window_ns == controller->config->window_ns[i])
			json_array_append_new(list, controller_read_window(controller, flow, i));
	return list;
}

// Returns the newest window of a length. Without a length, the window is of the length
// hs_qos_lengths_shown or, for a young flow, of the shortest.
static json_t *read_window(const struct hs_controller *controller,
		const struct controller_flow *flow, int64_t window_ns)
{
	const int64_t *lengths = controller->config->window_ns;
	int i = hs_qos_lengths_find(lengths, window_ns ? window_ns : hs_qos_lengths_shown(lengths));
	json_t *window = i >= 0 ? controller_read_window(controller, flow, (unsigned)i) : NULL;

	return window || window_ns ? window : controller_read_window(controller, flow, 0);
}

static int64_t longest_ns(const struct hs_controller *controller)
{
	int64_t longest = 0;

	for (unsigned i = 0; i < HS_QOS_WINDOWS && controller->config->window_ns[i]; i++)
		longest = controller->config->window_ns[i];
	return longest;
}

// Returns the metrics of an application. Its flows are those whose rules are wanted here, because
// their addresses tell the directions. Nodes publish nothing about the whole run, so the longest
// window stands for it.
static json_t *application(struct hs_controller *controller, const struct hs_api_args *args)
{
	size_t most = args->limit < HS_QOS_APP_FLOWS ? args->limit : HS_QOS_APP_FLOWS;
	struct hs_qos_app_flow *flows = calloc(most, sizeof(*flows));
	int64_t window_ns = args->window_ns == HS_API_WINDOW_RUN ? longest_ns(controller)
								 : args->window_ns;
	json_t *list = json_array();
	struct controller_flow *flow;
	size_t n = 0, left_out = 0;

	TAILQ_FOREACH (flow, &controller->metrics.flows, order) {
		struct controller_rule *rule = controller_find_rule(controller, flow->ns_id);
		if (!flows || !rule || rule->deleted || rule->rule.app_id != args->app_id)
			continue;
		if (n == most)
			left_out++;
		else
			flows[n++] = (struct hs_qos_app_flow){&rule->rule,
					read_window(controller, flow, window_ns), &flow->trips};
	}
	if (!window_ns)
		window_ns = hs_qos_lengths_shown(controller->config->window_ns);
	if (n)
		json_array_append_new(list, hs_qos_app_json(controller->metrics.qos, args->app_id,
							    flows, n, left_out, window_ns));
	for (size_t i = 0; i < n; i++)
		json_decref((json_t *)flows[i].window);
	free(flows);
	return list;
}

static struct hs_api_metrics page_of_windows(
		struct hs_controller *controller, const struct hs_api_args *args)
{
	struct hs_api_metrics page = {.qos = json_array()};
	uint64_t at = 0, end = args->offset + args->limit;
	struct controller_flow *flow;
	size_t used = 0;

	TAILQ_FOREACH (flow, &controller->metrics.flows, order) {
		bool wanted = at >= args->offset;
		if (at == end || (wanted && !hs_api_page_extend(args, page.qos,
							    windows_of(controller, flow, args),
							    &used))) {
			page.next = at;
			break;
		}
		at++;
	}
	return page;
}

int controller_qos_get(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	struct controller_flow *flow =
			args->has_ns_id ? controller_find_flow(controller, args->ns_id) : NULL;
	struct hs_api_metrics metrics = {0};

	(void)err;
	if (args->app_id)
		metrics.applications = application(controller, args);
	else if (args->has_ns_id)
		metrics.qos = flow ? windows_of(controller, flow, args) : json_array();
	else
		metrics = page_of_windows(controller, args);
	*result = hs_schema_print(hs_api_metrics_fields, &metrics);
	return 0;
}
