// SPDX-License-Identifier: BSD-3-Clause
// Probes: sessions one after the other, what they say of nodes and links, and the reply to
// probe_run.
#include "controller_probing.h"

#include "controller_call.h"
#include "controller_state.h"

#include "udp_front.h"

#include <errno.h>
#include <stdlib.h>

#define US_NS 1000
#define FRAME_BYTES(n_hops)                                                                        \
	(HS_UDP_FRONT_MAX_BYTES + HS_PROBE_BYTES + HS_PROBE_ENTRY_BYTES * (size_t)(n_hops))

// ---- life ----

static void fill_arcs(struct controller_probing *probing)
{
	const struct hs_probing_config *config = probing->config;

	for (unsigned i = 0; i < config->n_links; i++) {
		const struct hs_probing_link *link = &config->links[i];
		uint8_t node = (uint8_t)hs_probing_node(config, link->node);
		uint8_t peer = (uint8_t)hs_probing_node(config, link->peer);
		probing->arcs[2 * (size_t)i] = (struct probing_arc){.from = node,
				.to = peer,
				.port = link->port,
				.peer_port = link->peer_port};
		probing->arcs[2 * (size_t)i + 1] = (struct probing_arc){.from = peer,
				.to = node,
				.port = link->peer_port,
				.peer_port = link->port};
	}
}

static void mark_planned(struct controller_probing *probing)
{
	for (unsigned i = 0; i < probing->n_arcs; i++)
		probing->arcs[i].planned = false;
	for (uint32_t p = 0; p < probing->plan.n_paths; p++)
		for (uint32_t i = 1; i < probing->plan.paths[p].n_hops; i++) {
			const struct hs_gpint_hop *hops = probing->plan.paths[p].hops;
			probing_find_arc(probing, hops[i - 1].at, hops[i - 1].next_port)->planned =
					true;
		}
	// The last state of a link that no probe crosses any more says nothing of its present
	// state.
	for (unsigned i = 0; i < probing->n_arcs; i++)
		if (!probing->arcs[i].planned)
			probing->arcs[i].state = HS_GPINT_UNKNOWN;
}

static void close_plan(struct controller_probing *probing)
{
	hs_gpint_plan_fini(&probing->plan);
	free(probing->hops);
	free(probing->entries);
	free(probing->frame);
}

// Plans that many paths, and makes room for their packets. Returns 0, or a negative errno; the
// earlier plan then stays.
static int take_plan(struct controller_probing *probing, uint32_t paths)
{
	const struct hs_probing_config *config = probing->config;
	struct hs_gpint_plan plan;
	struct hs_error err;
	int rc = hs_probing_make_plan(config, paths, &plan, &err);

	if (rc < 0)
		return rc;
	size_t n = plan.max_hops + 2 * (size_t)config->n_nodes;
	struct hs_gpint_hop *hops = calloc(n, sizeof(*hops));
	struct hs_probe_entry *entries = calloc(n, sizeof(*entries));
	uint8_t *frame = malloc(FRAME_BYTES(n));
	if (!hops || !entries || !frame) {
		free(hops);
		free(entries);
		free(frame);
		hs_gpint_plan_fini(&plan);
		return -ENOMEM;
	}
	close_plan(probing);
	probing->plan = plan;
	probing->paths = paths;
	probing->hops = hops;
	probing->entries = entries;
	probing->frame = frame;
	mark_planned(probing);
	return 0;
}

static int open_nodes(struct controller_probing *probing)
{
	const struct hs_probing_config *config = probing->config;

	probing->nodes = calloc(config->n_nodes, sizeof(*probing->nodes));
	if (!probing->nodes)
		return -ENOMEM;
	probing->n_nodes = config->n_nodes;
	for (unsigned i = 0; i < config->n_nodes; i++) {
		probing->nodes[i].values = calloc(1 + (size_t)config->nodes[i].end,
				sizeof(*probing->nodes[i].values));
		if (!probing->nodes[i].values)
			return -ENOMEM;
	}
	return 0;
}

static int open_probing(struct controller_probing *probing)
{
	const struct hs_probing_config *config = probing->config;
	const struct hs_gpint_prober_config prober = {
			.feedback_ns = config->feedback_ms * PROBING_MS_NS,
			.resolution_ns = config->resolution_ms * PROBING_MS_NS,
			.attempts = config->attempts,
			.concurrent = config->concurrent,
			.adaptive = config->adaptive,
			.fixed_feedback = true,
			.switch_feedback_ns = config->node_timeout_ms * PROBING_MS_NS,
	};

	probing->way_room = hs_probing_way_room(config);
	probing->n_arcs = 2 * config->n_links;
	probing->arcs = calloc(probing->n_arcs + 1, sizeof(*probing->arcs));
	if (!probing->arcs)
		return -ENOMEM;
	fill_arcs(probing);
	return take_plan(probing, config->paths) ?: open_nodes(probing)
			       ?: hs_gpint_prober_create(&prober, &probing->prober);
}

// Returns the first request ID. Nodes remember the IDs of an earlier process for seconds, and
// copies of its probes may still come.
static uint16_t first_id(int64_t now_ns)
{
	return (uint16_t)((uint64_t)now_ns / US_NS % PROBING_IDS);
}

int controller_open_probing(struct hs_controller *controller)
{
	const struct hs_probing_config *config = &controller->config->probing;

	if (!config->on)
		return 0;
	controller->probing = calloc(1, sizeof(*controller->probing));
	if (!controller->probing)
		return -ENOMEM;
	controller->probing->config = config;
	controller->probing->next_ns = config->period_ms ? controller->now_ns : INT64_MAX;
	controller->probing->next_id = first_id(controller->now_ns);
	return open_probing(controller->probing);
}

void controller_close_probing(struct hs_controller *controller)
{
	struct controller_probing *probing = controller->probing;

	if (!probing)
		return;
	hs_gpint_prober_destroy(probing->prober);
	close_plan(probing);
	probing_forget_packets(probing);
	for (unsigned i = 0; i < probing->n_nodes; i++)
		free(probing->nodes[i].values);
	free(probing->nodes);
	free(probing->arcs);
	free(probing);
	controller->probing = NULL;
}

// ---- time ----

void controller_shift_probing(struct hs_controller *controller, int64_t ns)
{
	if (controller->probing)
		controller->probing->skew_ns += ns;
}

int64_t controller_probing_next_ns(const struct hs_controller *controller)
{
	const struct controller_probing *probing = controller->probing;

	if (!probing)
		return INT64_MAX;
	int64_t next_ns = probing->running ? hs_gpint_prober_next_ns(probing->prober)
					   : probing->next_ns;
	return next_ns == INT64_MAX ? next_ns : next_ns + probing->skew_ns;
}

// ---- what a session says ----

// Reports that a link became unavailable or available. The links of an unavailable node get no
// events of their own. A session that says nothing of a link is no sign that the link works.
static void tell_arc(struct hs_controller *controller, struct probing_arc *arc)
{
	const struct controller_probing *probing = controller->probing;
	bool lost = arc->state == HS_GPINT_UNAVAILABLE;
	bool alone = probing->nodes[arc->from].state != HS_GPINT_UNAVAILABLE &&
		     probing->nodes[arc->to].state != HS_GPINT_UNAVAILABLE;
	int from = probing->config->nodes[arc->from].id, to = probing->config->nodes[arc->to].id;

	if (arc->state < HS_GPINT_AVAILABLE || lost == arc->told || (lost && !alone))
		return;
	arc->told = lost;
	json_t *details = controller_probing_arc_details(controller, arc);
	if (lost)
		hs_controller_event(controller, "probe_link_unavailable", details,
				"no probe crosses the link from node %d, port %u, to node %d", from,
				arc->port, to);
	else
		hs_controller_event(controller, "probe_link_available", details,
				"probes cross the link from node %d, port %u, to node %d again",
				from, arc->port, to);
}

static void tell_node(struct hs_controller *controller, unsigned i)
{
	struct probing_node *node = &controller->probing->nodes[i];
	unsigned id = controller->probing->config->nodes[i].id;
	bool lost = node->state == HS_GPINT_UNAVAILABLE;

	if (node->state < HS_GPINT_AVAILABLE || lost == node->told)
		return;
	node->told = lost;
	json_t *details = json_pack("{s:s, s:i}", "node", controller_probing_name(controller, i),
			"node_id", (int)id);
	if (lost)
		hs_controller_event(controller, "probe_node_unavailable", details,
				"node %u answers no probe", id);
	else
		hs_controller_event(controller, "probe_node_available", details,
				"node %u answers probes again", id);
}

static void take_states(struct hs_controller *controller)
{
	struct controller_probing *probing = controller->probing;
	int64_t now_ns = controller_probing_ns(controller);
	size_t n;
	const struct hs_gpint_crossing *links = hs_gpint_prober_links(probing->prober, &n);

	for (unsigned i = 0; i < probing->n_nodes; i++) {
		enum hs_gpint_state state = hs_gpint_prober_switch(probing->prober, i);
		if (state != probing->nodes[i].state)
			probing->nodes[i].since_ns = now_ns;
		probing->nodes[i].state = (uint8_t)state;
		tell_node(controller, i);
	}
	for (size_t i = 0; i < n; i++) {
		struct probing_arc *arc = probing_find_arc(probing, links[i].from, links[i].port);
		if (links[i].state == HS_GPINT_UNKNOWN)
			continue;
		if (links[i].state != arc->state)
			arc->since_ns = now_ns;
		arc->state = (uint8_t)links[i].state;
		tell_arc(controller, arc);
	}
}

// ---- sessions ----

static void end_session(struct hs_controller *controller)
{
	struct controller_probing *probing = controller->probing;
	struct probing_counters *counters = &probing->counters;

	probing->running = false;
	probing->last = (struct probing_session){*hs_gpint_prober_session(probing->prober),
			probing->began_wall_ns, probing->knocks};
	const struct hs_gpint_session *told = &probing->last.told;
	counters->sessions++;
	counters->failed += told->failed;
	counters->sent += told->sent;
	counters->recovery += told->recovery;
	counters->checks += told->checks;
	counters->lost += told->lost;
	counters->knocks += probing->knocks;
	counters->strange += told->strange;
	probing_forget_packets(probing);
	for (unsigned i = 0; i < probing->n_arcs; i++)
		probing->arcs[i].debt /= 2;
	take_states(controller);
	controller_publish(controller, "probe.session", "probe_session",
			controller_probing_message(controller));
}

// Plans more and shorter paths if links lose probes. The paths become longer again only if half as
// many would do, so that the plan changes seldom.
static void adapt_paths(struct controller_probing *probing)
{
	const struct hs_probing_config *config = probing->config;
	uint32_t paths = hs_gpint_measure_paths(
			hs_gpint_prober_measure(probing->prober), config->n_nodes, config->paths);

	if (!config->adaptive || !config->max_paths || config->plan == HS_PROBING_EULER)
		return;
	if (paths > config->max_paths)
		paths = config->max_paths;
	if (paths > probing->paths || 2 * paths <= probing->paths)
		take_plan(probing, paths);
}

// Begins a session. Sessions whose time passed during a long session are left out.
static void begin_session(struct hs_controller *controller)
{
	struct controller_probing *probing = controller->probing;
	int64_t now_ns = controller_probing_ns(controller);
	int64_t period_ns = probing->config->period_ms * PROBING_MS_NS;

	if (!period_ns)
		probing->next_ns = INT64_MAX;
	else if (probing->next_ns <= now_ns)
		probing->next_ns += ((now_ns - probing->next_ns) / period_ns + 1) * period_ns;
	adapt_paths(probing);
	probing->knocks = 0;
	probing->began_wall_ns = controller->now_ns;
	probing->running = hs_gpint_prober_begin(probing->prober, now_ns, &probing->plan) == 0;
}

static bool run_probing(struct hs_controller *controller)
{
	if (controller->probing->running)
		return false;
	begin_session(controller);
	return controller->probing->running;
}

void controller_step_probing(struct hs_controller *controller)
{
	struct controller_probing *probing = controller->probing;

	if (!probing)
		return;
	int64_t now_ns = controller_probing_ns(controller);
	if (!probing->running && now_ns >= probing->next_ns)
		begin_session(controller);
	if (probing->running &&
			!hs_gpint_prober_step(probing->prober, now_ns, probing_send, controller))
		end_session(controller);
}

// ---- probe_run ----

struct shown_run {
	uint64_t session;
};

const struct hs_schema_field controller_probe_run_fields[] = {
		HS_SCHEMA_ROW(struct shown_run, UINT, session,
				"the number of the session that began"),
		{NULL},
};

int controller_probe_run(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	(void)args;
	if (controller_need_probing(controller, err) < 0)
		return -EINVAL;
	if (!run_probing(controller))
		return hs_error_set(err, "busy", "", "a request after the session",
				"session %llu is not over",
				(unsigned long long)controller->probing->counters.sessions + 1);
	const struct shown_run shown = {controller->probing->counters.sessions + 1};
	*result = hs_schema_print(controller_probe_run_fields, &shown);
	return 0;
}
