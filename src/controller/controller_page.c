// SPDX-License-Identifier: BSD-3-Clause
// What the controller knows, as a page for Prometheus.
#include "controller.h"

#include "controller_flow.h"
#include "controller_label.h"
#include "controller_probing.h"
#include "controller_reroute.h"
#include "controller_state.h"

#include "qos_lengths.h"
#include "qos_page.h"

// A number of the controller or of a node.
struct row {
	struct hs_prometheus_family family;
	size_t offset, size;
};

#define COUNTER(name, unit, help)                                                                  \
	{                                                                                          \
		"hopsight_controller_" name "_total", help, unit, HS_PROMETHEUS_COUNTER            \
	}
#define GAUGE(name, unit, help)                                                                    \
	{                                                                                          \
		"hopsight_controller_" name, help, unit, HS_PROMETHEUS_GAUGE                       \
	}
#define OF_CONTROLLER(member) HS_SCHEMA_MEMBER(struct hs_controller, member)
#define OF_NODE(member)	      HS_SCHEMA_MEMBER(struct controller_node, member)

static const struct row own_rows[] = {
		{GAUGE("rules", "rules", "Rules that are wanted"), OF_CONTROLLER(wanted.n)},
		{GAUGE("flows", "flows", "Flows with metrics"), OF_CONTROLLER(metrics.n)},
		{GAUGE("window_bytes", "bytes", "Memory of the windows that are kept"),
				OF_CONTROLLER(metrics.window_bytes)},
		{COUNTER("published", "messages", "Messages published"), OF_CONTROLLER(seq)},
		{COUNTER("publish_lost", "messages", "Messages that no listener took in time"),
				OF_CONTROLLER(publish_lost)},
#define MONITOR_ROW(member, name, unit, sentence)                                                  \
	{COUNTER(name, unit, sentence), OF_CONTROLLER(metrics.counters.member)},
#define HS_MONITOR_REPORT_COUNT(member, name, unit, sentence, help)                                \
	MONITOR_ROW(member, name, unit, sentence)
#include "controller_counter.def"
#define HS_MONITOR_WINDOW_COUNT(member, name, unit, sentence, help)                                \
	MONITOR_ROW(member, name, unit, sentence)
#include "controller_counter.def"
		{.family = {NULL}},
};

static const struct row node_rows[] = {
		{GAUGE("node_reachable", "boolean", "1 while the node answers"),
				OF_NODE(reachable)},
		{GAUGE("node_key_refused", "boolean", "1 where the node does not allow our key"),
				OF_NODE(refuses_key)},
		{GAUGE("node_rules_present", "rules", "Rules that are there"),
				OF_NODE(n_bindings[BINDING_PRESENT])},
		{GAUGE("node_rules_missing", "rules", "Rules that must be installed"),
				OF_NODE(n_bindings[BINDING_MISSING])},
		{GAUGE("node_rules_conflicting", "rules", "Rules whose place another rule has"),
				OF_NODE(n_bindings[BINDING_CONFLICT])},
		{GAUGE("node_rules_refused", "rules", "Rules that the node refused"),
				OF_NODE(n_bindings[BINDING_REFUSED])},
		{GAUGE("node_rules_removing", "rules", "Rules to be removed"),
				OF_NODE(n_bindings[BINDING_LEAVING])},
		{GAUGE("node_rules_in_band", "rules", "Wanted rules that came in band"),
				OF_NODE(in_band_rules)},
		{GAUGE("node_rules_foreign", "rules", "Rules that nobody here asked for"),
				OF_NODE(foreign_rules)},
		{COUNTER("node_requests", "requests", "Requests sent"), OF_NODE(requests)},
		{COUNTER("node_timeouts", "requests", "How often the node did not answer in time"),
				OF_NODE(timeouts)},
		{COUNTER("node_replies_bad", "replies", "Answers that made no sense"),
				OF_NODE(replies_bad)},
		{COUNTER("node_restarts", "restarts", "Restarts of the node that were seen"),
				OF_NODE(restarts)},
		{COUNTER("node_audits", "audits", "How often the node's rules were read"),
				OF_NODE(audits)},
		{COUNTER("node_repairs", "changes", "Changes that brought its rules up to date"),
				OF_NODE(repairs)},
		{COUNTER("node_published", "messages", "Messages of the node that came"),
				OF_NODE(published)},
		{COUNTER("node_publish_missed", "messages",
				 "Messages of the node that did not come"),
				OF_NODE(missed)},
		{.family = {NULL}},
};

#define OF_COVERAGE(member) HS_SCHEMA_MEMBER(struct hs_label_coverage, member)

static const struct row label_rows[] = {
#define HS_LABEL_COUNT(member, name, unit, sentence, help)                                         \
	{COUNTER(name, unit, sentence), HS_SCHEMA_MEMBER(struct controller_label_counters, member)},
#include "controller_counter.def"
		{.family = {NULL}},
};

static const struct row coverage_rows[] = {
		{COUNTER("label_intervals", "intervals", "Intervals that ended with active ports"),
				OF_COVERAGE(intervals)},
		{COUNTER("label_intervals_whole", "intervals",
				 "Of these, with an item of each active port"),
				OF_COVERAGE(whole)},
		{GAUGE("label_ports_active", "ports", "Active ports of the last interval"),
				OF_COVERAGE(last_ports)},
		{GAUGE("label_ports_seen", "ports", "Of these, those of which an item came"),
				OF_COVERAGE(last_seen)},
		{.family = {NULL}},
};

#define OF_SESSION(member) HS_SCHEMA_MEMBER(struct hs_gpint_session, member)

static const struct row probing_rows[] = {
#define HS_PROBING_COUNT(member, name, unit, sentence, help)                                       \
	{COUNTER(name, unit, sentence), HS_SCHEMA_MEMBER(struct probing_counters, member)},
#include "controller_counter.def"
		{.family = {NULL}},
};

static const struct row session_rows[] = {
		{GAUGE("probe_nodes_covered", "nodes", "Nodes that answered the last session"),
				OF_SESSION(covered)},
		{GAUGE("probe_nodes_unavailable", "nodes", "Nodes that did not"),
				OF_SESSION(unavailable)},
		{GAUGE("probe_links_unavailable", "links",
				 "Links that no probe of the last session crossed"),
				OF_SESSION(unavailable_links)},
		{GAUGE("probe_links_congested", "links",
				 "Links that lost probes and were crossed by others"),
				OF_SESSION(congested_links)},
		{.family = {NULL}},
};

#define OF_HEALTH(member) HS_SCHEMA_MEMBER(struct hs_gpint_damping, member)

static const struct row health_rows[] = {
		{COUNTER("reroute_changes", "sessions",
				 "Sessions after which routes used links otherwise"),
				OF_HEALTH(changes)},
		{COUNTER("reroute_held", "sessions",
				 "Sessions that changes_per_minute did not allow to"),
				OF_HEALTH(held)},
		{.family = {NULL}},
};
static const struct row told_rows[] = {
#define HS_REROUTE_COUNT(member, name, unit, sentence)                                             \
	{COUNTER(name, unit, sentence), HS_SCHEMA_MEMBER(struct reroute_counters, member)},
#include "controller_counter.def"
		{.family = {NULL}},
};
static const struct hs_prometheus_family links_avoided =
		GAUGE("reroute_links_avoided", "links", "Links that routes avoid");
static const struct hs_prometheus_family routes_pending = GAUGE("reroute_routes_pending", "routes",
		"Routes that nodes should have and did not confirm");

static const struct hs_prometheus_family session_time = GAUGE(
		"probe_session_seconds", "seconds", "How long the last session of probes took");
static const struct hs_prometheus_family label_items =
		COUNTER("label_items", "items", "Items of INT-label that were taken or refused");
static const struct hs_prometheus_family label_coverage = GAUGE("label_coverage_mean_ratio",
		"ratio", "The share of active ports that were seen, of all intervals");

static const struct hs_prometheus_family uptime = {"hopsight_uptime_seconds",
		"Time since the controller started", "seconds", HS_PROMETHEUS_GAUGE};

static void add_rows(struct hs_prometheus *page, const struct row *rows, const void *from,
		const struct hs_prometheus_labels *labels)
{
	for (; rows->family.name; rows++)
		hs_prometheus_uint(page, &rows->family, labels,
				hs_schema_load_bits((const char *)from + rows->offset, rows->size));
}

// Adds a window to the page. Releases the content, which may be NULL.
static void add_window(struct hs_prometheus *page, json_t *content,
		void (*add)(struct hs_prometheus *page, const struct hs_qos_window *window))
{
	struct hs_qos_window window = {0};

	if (content && hs_qos_window_read(content, &window) == 0)
		add(page, &window);
	hs_qos_window_free(&window);
	json_decref(content);
}

static void add_label(struct hs_prometheus *page, const struct controller_label *label)
{
	static const char *const results[HS_LABEL_N_TAKEN] = {
			[HS_LABEL_TAKEN_NEW] = "new",
			[HS_LABEL_TAKEN_NEWER] = "newer",
			[HS_LABEL_TAKEN_OLDER] = "older",
			[HS_LABEL_TAKEN_NO_ROOM] = "no_room",
	};
	const struct hs_label_coverage *coverage = hs_label_database_coverage(label->database);
	const uint64_t *taken = hs_label_database_taken(label->database);

	add_rows(page, label_rows, &label->counters, NULL);
	add_rows(page, coverage_rows, coverage, NULL);
	for (unsigned i = 0; i < HS_LABEL_N_TAKEN; i++)
		hs_prometheus_uint(page, &label_items, HS_PROMETHEUS_LABELS({"result", results[i]}),
				taken[i]);
	if (coverage->intervals)
		hs_prometheus_real(page, &label_coverage, NULL,
				coverage->sum / (double)coverage->intervals);
}

static void add_probing(struct hs_prometheus *page, const struct controller_probing *probing)
{
	const struct hs_gpint_session *told = &probing->last.told;

	add_rows(page, probing_rows, &probing->counters, NULL);
	if (!probing->counters.sessions)
		return;
	add_rows(page, session_rows, told, NULL);
	hs_prometheus_ns(page, &session_time, NULL, told->ended_ns - told->began_ns);
}

static void add_reroute(struct hs_prometheus *page, const struct hs_controller *controller)
{
	const struct hs_gpint_routes *routes = &controller->reroute->routes;
	uint64_t avoided = 0;

	for (size_t i = 0; i < routes->n_links; i++)
		avoided += routes->links[i].use != HS_GPINT_USED;
	add_rows(page, health_rows, &controller->reroute->health, NULL);
	add_rows(page, told_rows, &controller->reroute->counters, NULL);
	hs_prometheus_uint(page, &links_avoided, NULL, avoided);
	hs_prometheus_uint(page, &routes_pending, NULL, controller_reroute_pending(controller));
}

typedef void add_flow(
		struct hs_prometheus *page, const struct controller_flow *flow, json_t *window);

static void add_path(struct hs_prometheus *page, const struct controller_flow *flow, json_t *window)
{
	add_window(page, window, hs_qos_page_path);
	hs_delay_buckets_page_path(page, &flow->delays, flow->ns_id);
}

static void add_hops(struct hs_prometheus *page, const struct controller_flow *flow, json_t *window)
{
	add_window(page, window, hs_qos_page_hops);
	hs_delay_buckets_page_hops(page, &flow->delays, flow->ns_id);
}

static void add_flows(
		const struct hs_controller *controller, struct hs_prometheus *page, add_flow *add)
{
	const int64_t *lengths = controller->config->window_ns;
	int shown = hs_qos_lengths_find(lengths, hs_qos_lengths_shown(lengths));
	const struct controller_flow *flow;
	unsigned left = controller->metrics.n;

	TAILQ_FOREACH (flow, &controller->metrics.flows, order) {
		if (!hs_prometheus_room(page))
			break;
		add(page, flow,
				shown < 0 ? NULL
					  : controller_read_window(
							    controller, flow, (unsigned)shown));
		left--;
	}
	hs_prometheus_leave_out(page, left);
}

void hs_controller_page(const struct hs_controller *controller, struct hs_prometheus *page)
{
	hs_prometheus_ns(page, &uptime, NULL, controller->now_ns - controller->start_ns);
	add_rows(page, own_rows, controller, NULL);
	if (controller->label)
		add_label(page, controller->label);
	if (controller->probing)
		add_probing(page, controller->probing);
	if (controller->reroute)
		add_reroute(page, controller);
	for (unsigned i = 0; i < controller->config->n_nodes; i++)
		add_rows(page, node_rows, &controller->nodes[i],
				HS_PROMETHEUS_LABELS({"node", controller->nodes[i].config->name}));
	add_flows(controller, page, add_path);
	add_flows(controller, page, add_hops);
}
