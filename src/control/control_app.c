// SPDX-License-Identifier: BSD-3-Clause
// The metrics of one application: of those of its rules whose reports come to this node, either
// because the node is their sink or because they are sent back to it.
#include "control_app.h"
#include "control_config.h"
#include "control_rule.h"

#include "qos_app.h"
#include "qos_lengths.h"

#include <stdlib.h>

struct flows {
	struct hs_qos_app_flow *items;
	size_t n, left_out;
};

// Returns the newest window of a rule. If a young flow has no window of `window_ns`, falls back to
// the shortest length, then to the time since the rule was installed. `shortest_ns` 0: does not.
static json_t *window_of(struct hs_qos *qos, uint32_t ns_id, int64_t window_ns, int64_t shortest_ns)
{
	const struct hs_qos_window *window = hs_qos_latest(qos, ns_id, window_ns);
	if (!window && shortest_ns)
		window = hs_qos_latest(qos, ns_id, shortest_ns);
	if (!window && shortest_ns)
		window = hs_qos_latest(qos, ns_id, 0);
	json_t *message = window ? hs_qos_window_json(window, NULL) : NULL;
	json_t *content = json_incref(json_object_get(message, "qos_report"));
	json_decref(message);
	return content;
}

static struct flows collect(const struct control_rules *rules, struct hs_qos *qos,
		const struct hs_api_args *args, int64_t window_ns, int64_t shortest_ns)
{
	size_t most = args->limit < HS_QOS_APP_FLOWS ? args->limit : HS_QOS_APP_FLOWS;
	struct flows flows = {.items = calloc(most, sizeof(*flows.items))};
	const struct rule_note *note = NULL;

	while ((note = hs_control_next_monitored(rules, note))) {
		const struct hs_rule *rule = hs_control_noted_rule(rules, note);
		if (!flows.items || rule->app_id != args->app_id)
			continue;
		if (flows.n == most) {
			flows.left_out++;
			continue;
		}
		flows.items[flows.n++] = (struct hs_qos_app_flow){
				rule, window_of(qos, rule->ns_id, window_ns, shortest_ns)};
	}
	return flows;
}

json_t *hs_control_application(const struct control_rules *rules, struct hs_qos *qos,
		const struct hs_control_config *config, const struct hs_api_args *args)
{
	bool run = args->window_ns == HS_API_WINDOW_RUN;
	int64_t window_ns = run		      ? 0
			    : args->window_ns ? args->window_ns
					      : hs_qos_lengths_shown(config->window_ns);
	// A request that names a length gets no other.
	int64_t shortest_ns = args->window_ns ? 0 : config->window_ns[0];
	struct flows flows = collect(rules, qos, args, window_ns, shortest_ns);
	json_t *list = json_array();

	if (flows.n)
		json_array_append_new(list, hs_qos_app_json(qos, args->app_id, flows.items, flows.n,
							    flows.left_out, window_ns));
	for (size_t i = 0; i < flows.n; i++)
		json_decref((json_t *)flows.items[i].window);
	free(flows.items);
	return list;
}
