// SPDX-License-Identifier: BSD-3-Clause
// The monitoring host: it plans probes over the scenario's network, begins a session each period,
// and compares what it says of links with the truth. With recovery, the prober of
// lib/gpint runs the session. Without recovery, a session ends when each probe is back or its
// waiting time has passed.
#include "lab_probing.h"

#include <rte_common.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_scenario_probing *config_of(const struct hs_lab *lab)
{
	return &lab->scenario->probing;
}

// ---- the truth of links ----

static bool is_dead(const struct lab_port *port)
{
	if (!port->node->node)
		return true;
	return port->out && (hs_link_config(port->out)->down || !port->peer->node->node);
}

static bool was_dead(const struct lab_port *port)
{
	return port->node->lab->probing->was_dead[port - port->node->lab->ports];
}

static void note_dead(struct hs_lab *lab)
{
	for (size_t p = 0; p < lab_ports(lab->scenario); p++)
		lab->probing->was_dead[p] = is_dead(&lab->ports[p]);
}

static enum hs_gpint_state state_of(const struct lab_probing *probing, const struct lab_port *port)
{
	size_t n;
	const struct hs_gpint_crossing *links = hs_gpint_prober_links(probing->prober, &n);

	for (size_t i = 0; i < n; i++)
		if (links[i].from == port->node->index &&
				port == &port->node->ports[links[i].port - 1])
			return links[i].state;
	return HS_GPINT_UNKNOWN;
}

static void count_false(struct hs_lab *lab)
{
	struct hs_probing_counts *counts = &lab->probing->counts;
	size_t n;
	const struct hs_gpint_crossing *links = hs_gpint_prober_links(lab->probing->prober, &n);

	for (size_t i = 0; i < n; i++) {
		const struct lab_port *port = &lab->nodes[links[i].from].ports[links[i].port - 1];
		bool named = links[i].state == HS_GPINT_UNAVAILABLE;
		counts->unavailable_links += named;
		counts->congested_links += links[i].state == HS_GPINT_CONGESTED;
		counts->false_unavailable += named && !is_dead(port) && !was_dead(port);
	}
	for (uint32_t i = 0; i < lab->scenario->n_nodes; i++) {
		const struct lab_port *port = &lab->nodes[i].ports[lab->nodes[i].n_ports - 1];
		counts->false_unavailable += hs_gpint_prober_switch(lab->probing->prober, i) ==
							     HS_GPINT_UNAVAILABLE &&
					     !is_dead(port) && !was_dead(port);
	}
}

static void count_missed(struct hs_lab *lab)
{
	struct lab_probing *probing = lab->probing;

	for (uint32_t p = 0; p < probing->plan.n_paths; p++) {
		const struct hs_gpint_path *path = &probing->plan.paths[p];
		for (uint32_t i = 0; i + 1 < path->n_hops; i++) {
			const struct hs_gpint_hop *hop = &path->hops[i];
			const struct lab_port *port =
					&lab->nodes[hop->at].ports[hop->next_port - 1];
			if (is_dead(port) && was_dead(port))
				probing->counts.missed_unavailable +=
						state_of(probing, port) != HS_GPINT_UNAVAILABLE;
		}
	}
}

// ---- sessions ----

static void send_probe(void *context, uint16_t request_id, const struct hs_gpint_hop *hops,
		uint32_t n_hops)
{
	struct hs_lab *lab = context;

	lab->probing->sent++;
	lab->probing->returned[request_id] = false;
	lab_probe_send(lab, request_id, hops, n_hops);
}

static void count_recovery(struct hs_lab *lab)
{
	struct lab_probing *probing = lab->probing;
	const struct hs_gpint_session *session = hs_gpint_prober_session(probing->prober);

	probing->counts.sessions_failed += session->failed;
	probing->counts.recovery_probes += session->recovery;
	probing->counts.check_probes += session->checks;
	count_false(lab);
	count_missed(lab);
}

static void end_session(struct hs_lab *lab)
{
	struct lab_probing *probing = lab->probing;
	struct hs_probing_counts *counts = &probing->counts;
	int64_t ended_ns = probing->newest_ns, collected_ns = ended_ns;
	uint64_t covered = 0;

	if (probing->prober) {
		ended_ns = lab->now_ns;
		collected_ns = hs_gpint_prober_session(probing->prober)->collected_ns;
	}
	int64_t elapsed_ns = ended_ns - probing->began_ns;
	collected_ns -= probing->began_ns;

	for (uint32_t i = 0; i < lab->scenario->n_nodes; i++)
		covered += probing->covered[i];
	counts->sessions++;
	counts->probes_sent += probing->sent;
	counts->probes_lost += probing->sent - probing->back;
	counts->switches_covered = RTE_MIN(counts->switches_covered, covered);
	counts->elapsed_sum_ns += elapsed_ns;
	counts->elapsed_max_ns = RTE_MAX(counts->elapsed_max_ns, elapsed_ns);
	counts->collected_sum_ns += collected_ns;
	counts->collected_max_ns = RTE_MAX(counts->collected_max_ns, collected_ns);
	if (probing->prober)
		count_recovery(lab);
	else
		counts->sessions_failed += probing->back < probing->sent;
	probing->running = false;
	if (counts->sessions == config_of(lab)->sessions)
		lab_end_now(lab);
}

// ---- sessions without recovery ----

static uint16_t id_of(const struct lab_probing *probing, uint32_t path)
{
	return (uint16_t)((probing->first_id + path) % LAB_PROBE_IDS);
}

// Counts the probes that the host waits for. *until_ns gets the end of the waiting time of the
// oldest of these probes.
static uint32_t count_awaited(const struct hs_lab *lab, int64_t *until_ns)
{
	const struct lab_probing *probing = lab->probing;
	uint32_t n = 0;

	for (uint32_t p = probing->sent; p-- > 0;) {
		int64_t late_ns = probing->sent_ns[p] + config_of(lab)->wait_ns;
		if (probing->returned[id_of(probing, p)] || late_ns <= lab->now_ns)
			continue;
		*until_ns = late_ns;
		n++;
	}
	return n;
}

// Sends as many probes as may be under way. Returns whether the session goes on.
static bool send_paths(struct hs_lab *lab, int64_t *until_ns)
{
	struct lab_probing *probing = lab->probing;
	uint32_t n = count_awaited(lab, until_ns);

	for (; n < config_of(lab)->tuning.concurrent && probing->sent < probing->plan.n_paths;
			n++) {
		const struct hs_gpint_path *path = &probing->plan.paths[probing->sent];
		probing->sent_ns[probing->sent] = lab->now_ns;
		*until_ns = n ? *until_ns : lab->now_ns + config_of(lab)->wait_ns;
		send_probe(lab, id_of(probing, probing->sent), path->hops, path->n_hops);
	}
	return n > 0;
}

// ---- steps ----

static void begin_session(struct hs_lab *lab)
{
	struct lab_probing *probing = lab->probing;

	memset(probing->returned, true, sizeof(probing->returned));
	memset(probing->covered, 0, lab->scenario->n_nodes * sizeof(*probing->covered));
	note_dead(lab);
	probing->running = true;
	probing->began_ns = probing->newest_ns = lab->now_ns;
	probing->first_id = (uint16_t)((probing->first_id + probing->sent) % LAB_PROBE_IDS);
	probing->sent = probing->back = 0;
	if (probing->prober &&
			hs_gpint_prober_begin(probing->prober, lab->now_ns, &probing->plan) < 0)
		lab_fail(lab, -ENOMEM, "no_memory", "", "", "no memory for a session");
}

static int64_t next_session_ns(const struct hs_lab *lab)
{
	const struct hs_scenario_probing *config = config_of(lab);
	int64_t first_ns = lab->run.start_ns + config->start_ns;
	int64_t periods = (lab->now_ns - first_ns) / config->period_ns + 1;
	int64_t next_ns = first_ns + periods * config->period_ns;

	return next_ns < lab->run.end_ns ? next_ns : HS_EVENT_NEVER;
}

// Does what is due, and sets the time of the next step.
static void step(struct hs_lab *lab)
{
	struct lab_probing *probing = lab->probing;
	int64_t next_ns = 0;
	bool goes_on = probing->prober ? hs_gpint_prober_step(probing->prober, lab->now_ns,
							 send_probe, lab)
				       : send_paths(lab, &next_ns);

	if (goes_on && probing->prober)
		next_ns = hs_gpint_prober_next_ns(probing->prober);
	if (!goes_on)
		end_session(lab);
	hs_event_set_timer(&lab->queue, lab_monitor_timer(lab),
			goes_on ? next_ns : next_session_ns(lab));
}

static void due(struct hs_lab *lab, const struct hs_lab_event *event)
{
	(void)event;
	if (!lab->probing->running)
		begin_session(lab);
	step(lab);
}

// ---- answers ----

// Returns the hops of a request of this session, or NULL.
static const struct hs_gpint_hop *hops_of(
		const struct lab_probing *probing, uint16_t request_id, uint32_t *n)
{
	const struct hs_gpint_plan *plan = &probing->plan;
	uint32_t path = (uint32_t)(request_id - probing->first_id) % LAB_PROBE_IDS;

	if (probing->prober)
		return hs_gpint_prober_attempt_hops(probing->prober, request_id, n);
	*n = path < plan->n_paths ? plan->paths[path].n_hops : 0;
	return *n ? plan->paths[path].hops : NULL;
}

// Notes the nodes that an answer covers. Their ids have only 8 bits on the wire, so that each node
// is identified by its place on the request's path.
static void cover(
		struct hs_lab *lab, const struct hs_gpint_hop *hops, const uint8_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] != (uint8_t)lab->nodes[hops[i].at].scenario->id)
			lab_fail(lab, -EBADMSG, "internal", "", "", "a hop is of another node");
		lab->probing->covered[hops[i].at] = true;
	}
}

void lab_monitor_take(struct hs_lab *lab, enum hs_gpint_answer answer, uint16_t request_id,
		const uint8_t *ids, uint32_t n)
{
	struct lab_probing *probing = lab->probing;
	uint32_t n_hops = 0;
	const struct hs_gpint_hop *hops =
			probing->running ? hops_of(probing, request_id, &n_hops) : NULL;

	// An answer of an earlier session is ignored, and so is a copy that the network made of an
	// answer.
	if (!hops || n > n_hops || (answer == HS_GPINT_DONE && probing->returned[request_id]))
		return;
	cover(lab, hops, ids, n);
	if (answer == HS_GPINT_DONE) {
		probing->returned[request_id] = true;
		probing->newest_ns = lab->now_ns;
		probing->back++;
	}
	if (probing->prober)
		hs_gpint_prober_take(probing->prober, lab->now_ns, answer, request_id, n);
	step(lab);
}

void lab_monitor_end(struct hs_lab *lab)
{
	const double duration_s = (double)(lab->run.end_ns - lab->run.start_ns) / 1e9;
	struct hs_probing_counts *counts = &lab->probing->counts;

	for (uint32_t i = 0; i < lab->scenario->n_nodes; i++) {
		const struct lab_node *node = &lab->nodes[i];
		double pps = (double)node->received / duration_s;
		counts->busiest_pps = RTE_MAX(counts->busiest_pps, pps);
		counts->switches_overloaded +=
				node->scenario->rate_of_node && pps > node->scenario->rate_pps;
	}
}

bool lab_monitor_runs(const struct hs_lab *lab)
{
	return lab->probing && lab->probing->running;
}

// ---- making ----

static int make_plan(struct hs_lab *lab, struct hs_error *err)
{
	const struct hs_scenario_probing *config = config_of(lab);
	struct lab_probing *probing = lab->probing;
	const struct hs_gpint_wish wish = {
			.paths = config->paths ? config->paths
					       : hs_scenario_graph_paths(lab->scenario),
			.mtu = config->mtu ? config->mtu : lab->scenario->mtu,
			.seed = lab->scenario->seed,
	};

	int rc = (config->planner == HS_LAB_EULER ? hs_gpint_euler : hs_gpint_plan)(
			&probing->network.graph, &wish, &probing->plan, err);
	if (rc == -EINVAL)
		hs_error_prefix(err, "probing");
	return rc;
}

static void describe_plan(struct lab_probing *probing)
{
	const struct hs_gpint_plan *plan = &probing->plan;
	struct hs_probing_counts *counts = &probing->counts;

	counts->paths = plan->n_paths;
	counts->switches = counts->switches_covered = plan->n_switches;
	counts->min_hops = plan->min_hops;
	counts->max_hops = plan->max_hops;
	counts->mean_hops = (double)plan->sum_hops / plan->n_paths;
}

static int make(struct hs_lab *lab, struct hs_error *err)
{
	const struct hs_scenario_probing *config = config_of(lab);
	struct lab_probing *probing = lab->probing;
	int rc = hs_scenario_graph_init(&probing->network, lab->scenario) ?: make_plan(lab, err);
	if (rc == 0 && config->recovery)
		rc = hs_gpint_prober_create(&config->tuning, &probing->prober);
	if (rc == 0)
		rc = hs_event_add_timer(&lab->queue, due, 0);
	return rc;
}

int lab_make_probing(struct hs_lab *lab, struct hs_error *err)
{
	const struct hs_scenario *s = lab->scenario;
	size_t n = s->n_nodes;

	if (!s->probing.given)
		return 0;
	struct lab_probing *probing = lab->probing = calloc(1, sizeof(*probing));
	int rc = probing ? make(lab, err) : -ENOMEM;
	if (rc < 0)
		return rc;
	probing->profiles = calloc(n, sizeof(*probing->profiles));
	probing->covered = calloc(n, sizeof(*probing->covered));
	probing->was_dead = calloc(lab_ports(s), sizeof(*probing->was_dead));
	probing->sent_ns = calloc(probing->plan.n_paths, sizeof(*probing->sent_ns));
	if (!probing->profiles || !probing->covered || !probing->was_dead || !probing->sent_ns)
		return -ENOMEM;
	describe_plan(probing);
	lab->run.probing = &probing->counts;
	if (s->probing.start_ns < s->duration_ns)
		hs_event_set_timer(&lab->queue, lab_monitor_timer(lab),
				lab->run.start_ns + s->probing.start_ns);
	return 0;
}

void lab_free_probing(struct hs_lab *lab)
{
	struct lab_probing *probing = lab->probing;

	if (!probing)
		return;
	hs_gpint_prober_destroy(probing->prober);
	hs_gpint_plan_fini(&probing->plan);
	hs_scenario_graph_fini(&probing->network);
	free(probing->profiles);
	free(probing->covered);
	free(probing->was_dead);
	free(probing->sent_ns);
	free(probing);
}
