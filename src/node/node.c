// SPDX-License-Identifier: BSD-3-Clause
#include "node.h"
#include "fdb.h"
#include "fib_cache.h"
#include "flexint_steps.h"
#include "forward.h"
#include "node_parts.h"
#include "ring.h"
#include "worker_poll.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek.h>
#include <rte_ring_peek_zc.h>

#define REPORT_RING_DEFAULT 16384
#define PUNT_RING_DEFAULT   512
#define FDB_PLACES	    65536
#define ROUTES_DEFAULT	    1024
#define NO_PORT		    UINT16_MAX

// ---- making ----

static int make_qsbr(struct hs_node *node)
{
	uint32_t readers = hs_node_reader(node->config.n_workers);
	size_t bytes = rte_rcu_qsbr_get_memsize(readers);

	node->qsbr = rte_zmalloc("node qsbr", bytes, RTE_CACHE_LINE_SIZE);
	if (!node->qsbr)
		return -ENOMEM;
	if (rte_rcu_qsbr_init(node->qsbr, readers))
		return -EINVAL;
	for (unsigned w = 0; w < node->config.n_workers; w++)
		rte_rcu_qsbr_thread_register(node->qsbr, hs_node_reader(w));
	return 0;
}

static int make_flows(struct hs_node *node)
{
	// DPDK objects have names. The address distinguishes nodes of one process.
	char name[24];
	snprintf(name, sizeof(name), "%lx", (unsigned long)(uintptr_t)node);
	struct hs_flow_table_config config = {
			.name = name,
			.capacity = node->config.rules,
			.n_workers = node->config.n_workers,
			.qsbr = node->qsbr,
			.partial = node->config.partial,
	};
	return hs_flow_table_create(&config, &node->flows);
}

static int make_fib(struct hs_node *node)
{
	struct hs_fib_config config = {.capacity = node->config.routes, .qsbr = node->qsbr};

	return hs_fib_create(&config, &node->fib);
}

static const enum hs_forward_kind forward_kinds[] = {
		[HS_FORWARD_PATCH] = HS_FORWARD_KIND_PATCH,
		[HS_FORWARD_BRIDGE] = HS_FORWARD_KIND_BRIDGE,
		[HS_FORWARD_ROUTE] = HS_FORWARD_KIND_ROUTE,
};

// HS_REPORT_STORES is "cached" or "streamed" where tests and counts of instructions need one of
// them. Only x86 has stores past the caches.
static struct hs_report_reader make_reader(void)
{
#ifdef __x86_64__
	const char *stores = getenv("HS_REPORT_STORES");
	bool is_far = stores && !strcmp(stores, "streamed");

	return (struct hs_report_reader){.is_far = is_far,
			.is_fixed = is_far || (stores && !strcmp(stores, "cached"))};
#else
	return (struct hs_report_reader){.is_fixed = true};
#endif
}

static void setup_worker(struct hs_node *node, struct hs_worker *worker, unsigned index,
		struct rte_mempool *pool)
{
	const struct hs_node_config *config = &node->config;

	worker->index = index;
	worker->node_id = config->id;
	worker->drop_host_telemetry = config->host_side_policy == HS_HOST_DROP;
	worker->forward = config->mss_clamp ? hs_forward_and_clamp : hs_forward;
	worker->forward_kind = forward_kinds[config->forwarding];
	worker->fdb = node->fdb;
	worker->fib = node->fib;
	worker->pool = pool;
	worker->clock = node->clock;
	for (unsigned p = 0; p < HS_MAX_PORTS; p++)
		worker->patch[p] = NO_PORT;
	for (unsigned p = 0; p < config->n_pairs; p++) {
		worker->patch[config->pairs[p][0]] = config->pairs[p][1];
		worker->patch[config->pairs[p][1]] = config->pairs[p][0];
	}
	hs_rng_init(&worker->rng, config->seed + index);
	hs_flow_table_view(node->flows, index, &worker->flows);
	worker->report_reader = make_reader();
	worker->general = getenv("HS_GENERAL_PATH") != NULL;
	if (worker->general)
		worker->flows.index.buckets = NULL;
}

static int make_seat(struct hs_node *node, unsigned index, struct rte_mempool *pool)
{
	struct seat *seat = rte_zmalloc("worker", sizeof(*seat), RTE_CACHE_LINE_SIZE);

	if (!seat)
		return -ENOMEM;
	node->seats[index] = seat;
	setup_worker(node, &seat->worker, index, pool);
	seat->worker.templates = &seat->templates;
	seat->worker.reports = hs_ring_create(
			"reports", node->config.report_ring, sizeof(struct hs_report_record));
	seat->worker.punts =
			hs_ring_create("punts", node->config.punt_ring, sizeof(struct hs_punt));
	if (!seat->worker.reports || !seat->worker.punts)
		return -ENOMEM;
	if (node->config.n_exports) {
		seat->worker.exporter = hs_exporter_create(node->config.exports,
				node->config.n_exports, index, node->config.n_workers);
		if (!seat->worker.exporter)
			return -ENOMEM;
	}
	if (node->fib && hs_fib_cache_create(node->config.rules, &seat->worker.fib_cache))
		return -ENOMEM;
	return hs_partial_create(&node->config.partial, node->config.rules, &seat->worker.partial);
}

static int make_parts(struct hs_node *node, struct rte_mempool *pool)
{
	int rc = make_qsbr(node);

	if (!rc)
		rc = make_flows(node);
	if (!rc && node->config.forwarding == HS_FORWARD_BRIDGE)
		rc = hs_fdb_create(FDB_PLACES, node->config.mac_age_s, &node->fdb);
	if (!rc && node->config.forwarding == HS_FORWARD_ROUTE)
		rc = make_fib(node);
	for (unsigned w = 0; !rc && w < node->config.n_workers; w++)
		rc = make_seat(node, w, pool);
	return rc;
}

int hs_node_create(const struct hs_node_config *config, struct hs_clock *clock,
		struct rte_mempool *pool, struct hs_node **out, struct hs_error *err)
{
	if (!config->n_workers || config->n_workers > HS_MAX_WORKERS || !config->rules)
		return hs_error_set(err, "out_of_range", "node", "1 to 16 workers, 1 or more rules",
				"%u workers, %u rules", config->n_workers, config->rules);
	for (unsigned p = 0; p < config->n_pairs; p++) {
		if (config->pairs[p][0] >= HS_MAX_PORTS || config->pairs[p][1] >= HS_MAX_PORTS)
			return hs_error_set(err, "out_of_range", "forwarding.pairs", "port 0 to 31",
					"pair %u joins ports %u and %u", p, config->pairs[p][0],
					config->pairs[p][1]);
	}
	struct hs_node *node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->config = *config;
	node->clock = clock;
	if (!node->config.family)
		node->config.family = &hs_flexint_steps;
	if (!node->config.report_ring)
		node->config.report_ring = REPORT_RING_DEFAULT;
	if (!node->config.punt_ring)
		node->config.punt_ring = PUNT_RING_DEFAULT;
	if (!node->config.mac_age_s)
		node->config.mac_age_s = 300;
	if (!node->config.max_hops)
		node->config.max_hops = HS_NODE_MAX_HOPS;
	if (!node->config.routes)
		node->config.routes = ROUTES_DEFAULT;
	int rc = make_parts(node, pool);
	if (rc) {
		hs_error_set(err, "no_memory", "memory",
				"smaller memory.rules or routes, or more memory",
				"tables for %u rules and %u workers do not fit", config->rules,
				config->n_workers);
		hs_node_destroy(node);
		return rc;
	}
	*out = node;
	return 0;
}

void hs_node_destroy(struct hs_node *node)
{
	if (!node)
		return;
	hs_node_free_egress(node);
	hs_node_free_probes(node);
	hs_node_free_labels(node);
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		if (!node->seats[w])
			continue;
		hs_ring_destroy(node->seats[w]->worker.reports);
		hs_ring_destroy(node->seats[w]->worker.punts);
		hs_partial_destroy(node->seats[w]->worker.partial);
		hs_exporter_destroy(node->seats[w]->worker.exporter);
		hs_fib_cache_destroy(node->seats[w]->worker.fib_cache);
		rte_free(node->seats[w]);
	}
	hs_fdb_destroy(node->fdb);
	hs_fib_destroy(node->fib);
	hs_flow_table_destroy(node->flows);
	rte_free(node->qsbr);
	free(node);
}

uint64_t hs_node_bytes(const struct hs_node_config *config)
{
	uint64_t reports = config->report_ring ? config->report_ring : REPORT_RING_DEFAULT;
	uint64_t punts = config->punt_ring ? config->punt_ring : PUNT_RING_DEFAULT;
	uint64_t bytes = hs_flow_table_bytes(config->rules, config->n_workers);

	bytes += config->n_workers *
		 (sizeof(struct seat) + reports * sizeof(struct hs_report_record) +
				 punts * sizeof(struct hs_punt) +
				 hs_partial_bytes(&config->partial, config->rules) + (64u << 10));
	bytes += config->n_workers * hs_exporter_bytes(config->exports, config->n_exports);
	bytes += hs_node_label_bytes(config);
	if (config->forwarding == HS_FORWARD_BRIDGE)
		bytes += hs_fdb_bytes(FDB_PLACES);
	if (config->forwarding == HS_FORWARD_ROUTE)
		bytes += hs_fib_bytes(config->routes ? config->routes : ROUTES_DEFAULT) +
			 config->n_workers * (hs_fib_cache_bytes(config->rules) + 128);
	return bytes;
}

// ---- ports and queues ----

static int give_queue(struct seat *seat, struct hs_port *port, uint16_t queue)
{
	if (seat->n_queues == RTE_DIM(seat->queues))
		return -ENOSPC;
	seat->queues[seat->n_queues++] = (struct rx_queue){.port = port, .queue = queue};
	return 0;
}

static struct hs_profile profile_of(const struct hs_node *node, uint16_t port)
{
	const struct hs_node_config *config = &node->config;
	struct hs_profile profile = {.family = config->family, .layout = config->layout};

	if (node->ports[port]->side == HS_SIDE_NETWORK && config->profiles[port].family)
		profile = config->profiles[port];
	profile.max_hops = config->max_hops;
	profile.path_bytes = hs_profile_path_bytes(&profile, profile.family->every_field);
	return profile;
}

// Returns a host port's profile: that of the first network port, or none if the network ports do
// not read the same telemetry.
static struct hs_profile host_profile(const struct hs_node *node, uint16_t port)
{
	struct hs_profile only = {.family = NULL};

	for (uint16_t p = 0; p < node->n_ports; p++) {
		struct hs_profile profile = profile_of(node, p);
		if (node->ports[p]->side != HS_SIDE_NETWORK)
			continue;
		if (only.family && !hs_profile_reads_same(&only, &profile))
			return (struct hs_profile){.family = &hs_no_family};
		if (!only.family)
			only = profile;
	}
	return only.family ? only : profile_of(node, port);
}

static void set_profiles(struct hs_node *node)
{
	for (uint16_t p = 0; p < node->n_ports; p++) {
		struct hs_profile profile = profile_of(node, p);
		if (node->ports[p]->side == HS_SIDE_HOST)
			profile = host_profile(node, p);
		for (unsigned w = 0; w < node->config.n_workers; w++)
			node->seats[w]->worker.profiles[p] = profile;
	}
}

void hs_node_renew_address(struct hs_node *node, struct hs_port *port)
{
	hs_node_pause(node);
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		struct hs_worker *worker = &node->seats[w]->worker;
		if (worker->exporter)
			hs_exporter_add_port(worker->exporter, port);
	}
	hs_node_resume(node);
}

int hs_node_add_port(struct hs_node *node, struct hs_port *port)
{
	unsigned n_workers = node->config.n_workers;

	if (node->n_ports == HS_MAX_PORTS || port->index != node->n_ports)
		return -EINVAL;
	node->ports[node->n_ports++] = port;
	for (unsigned w = 0; w < n_workers; w++) {
		struct hs_worker *worker = &node->seats[w]->worker;
		worker->ports[port->index] = port;
		worker->n_ports = node->n_ports;
		if (worker->exporter)
			hs_exporter_add_port(worker->exporter, port);
	}
	set_profiles(node);
	int rc = hs_node_set_labels(node);
	if (!rc)
		rc = hs_node_set_probes(node);
	if (!rc)
		rc = hs_node_add_egress(node, port);
	if (rc)
		return rc;
	if (port->rx_queues == 1)
		return give_queue(node->seats[node->next_seat++ % n_workers], port, 0);
	for (uint16_t q = 0; q < port->rx_queues; q++) {
		rc = give_queue(node->seats[q % n_workers], port, q);
		if (rc)
			return rc;
	}
	return 0;
}

unsigned hs_node_worker_ports(
		const struct hs_node *node, unsigned worker, struct hs_port *ports[HS_MAX_PORTS])
{
	const struct seat *seat = node->seats[worker];
	unsigned n = 0;

	for (unsigned q = 0; q < seat->n_queues; q++) {
		struct hs_port *port = seat->queues[q].port;
		if (!n || ports[n - 1] != port)
			ports[n++] = port;
	}
	return n;
}

struct hs_port *hs_node_port(const struct hs_node *node, uint16_t port)
{
	return port < node->n_ports ? node->ports[port] : NULL;
}

const struct hs_profile *hs_node_profile(const struct hs_node *node, uint16_t port)
{
	return &node->seats[0]->worker.profiles[port];
}

uint16_t hs_node_port_count(const struct hs_node *node)
{
	return node->n_ports;
}

// ---- running ----

static unsigned poll_queues(struct seat *seat)
{
	unsigned received = 0;

	for (unsigned q = 0; q < seat->n_queues; q++) {
		struct hs_port *port = seat->queues[q].port;
		if (likely(__atomic_load_n(&port->usable, __ATOMIC_RELAXED)))
			received += hs_worker_poll_queue(
					&seat->worker, port, seat->queues[q].queue);
	}
	return received;
}

unsigned hs_node_worker_poll(struct hs_node *node, unsigned worker)
{
	struct seat *seat = node->seats[worker];
	bool bracketed = !seat->online;

	if (unlikely(bracketed))
		rte_rcu_qsbr_thread_online(node->qsbr, hs_node_reader(worker));
	unsigned received = 0;
	if (likely(!__atomic_load_n(&node->paused, __ATOMIC_ACQUIRE))) {
		if (unlikely(seat->worker.serves))
			hs_node_serve(&seat->worker);
		received = poll_queues(seat);
		hs_worker_end_round(&seat->worker);
	}
	if (unlikely(bracketed))
		rte_rcu_qsbr_thread_offline(node->qsbr, hs_node_reader(worker));
	else
		rte_rcu_qsbr_quiescent(node->qsbr, hs_node_reader(worker));
	hs_flow_add(&seat->worker.rounds, 1);
	if (!received)
		hs_flow_add(&seat->worker.idle_rounds, 1);
	return received;
}

void hs_node_worker_online(struct hs_node *node, unsigned worker)
{
	rte_rcu_qsbr_thread_online(node->qsbr, hs_node_reader(worker));
	node->seats[worker]->online = true;
}

void hs_node_worker_offline(struct hs_node *node, unsigned worker)
{
	node->seats[worker]->online = false;
	rte_rcu_qsbr_thread_offline(node->qsbr, hs_node_reader(worker));
}

void hs_node_synchronise(struct hs_node *node)
{
	uint64_t token = rte_rcu_qsbr_start(node->qsbr);

	while (rte_rcu_qsbr_check(node->qsbr, token, false) != 1)
		sched_yield(); // the worker may wait for this core
}

void hs_node_pause(struct hs_node *node)
{
	__atomic_store_n(&node->paused, true, __ATOMIC_SEQ_CST);
	hs_node_synchronise(node);
}

void hs_node_resume(struct hs_node *node)
{
	__atomic_store_n(&node->paused, false, __ATOMIC_RELEASE);
}

const struct hs_telemetry_family *hs_node_format(
		const struct hs_node *node, const struct hs_report_record *record)
{
	const struct hs_profile *profiles = node->seats[0]->worker.profiles;

	for (uint16_t p = 0; p < node->n_ports; p++) {
		const struct hs_telemetry_family *format = profiles[p].family->format;
		if (format && format->number == record->family)
			return format;
	}
	return NULL;
}

struct hs_flow_table *hs_node_flows(struct hs_node *node)
{
	return node->flows;
}

struct hs_fdb *hs_node_fdb(struct hs_node *node)
{
	return node->fdb;
}

struct hs_fib *hs_node_fib(struct hs_node *node)
{
	return node->fib;
}

const struct hs_node_config *hs_node_config(const struct hs_node *node)
{
	return &node->config;
}

static unsigned visit_ring(
		struct rte_ring *ring, unsigned n, hs_node_visit_reports_fn visit, void *context)
{
	struct rte_ring_zc_data at;
	unsigned got = rte_ring_dequeue_zc_burst_elem_start(
			ring, sizeof(struct hs_report_record), n, &at, NULL);

	if (!got)
		return 0;
	unsigned first = at.n1 < got ? at.n1 : got;
	visit(context, at.ptr1, first);
	if (got > first)
		visit(context, at.ptr2, got - first);
	rte_ring_dequeue_zc_elem_finish(ring, got);
	return got;
}

unsigned hs_node_visit_reports(
		struct hs_node *node, unsigned n, hs_node_visit_reports_fn visit, void *context)
{
	unsigned n_workers = node->config.n_workers;
	unsigned taken = 0;

	// Each call begins with another worker, so that a busy worker's ring does not starve the
	// others.
	unsigned first = node->next_ring++ % n_workers;
	for (unsigned i = 0; i < n_workers && taken < n; i++) {
		unsigned w = (first + i) % n_workers;
		taken += visit_ring(node->seats[w]->worker.reports, n - taken, visit, context);
	}
	return taken;
}

void hs_node_set_help(struct hs_node *node, unsigned (*help)(void *context), void *context)
{
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		struct hs_worker *worker = &node->seats[w]->worker;
		worker->help = help;
		worker->help_context = context;
		worker->serves = hs_worker_always_serves(worker);
	}
}

bool hs_node_reports_pile_up(const struct hs_node *node)
{
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		if (hs_node_is_behind(&node->seats[w]->worker))
			return true;
	}
	return false;
}

// Returns how many of n punts form whole groups. A group is the options of one packet and type.
static unsigned whole_groups(const struct hs_punt *punts, unsigned n)
{
	const struct hs_punt *last = &punts[n - 1];
	unsigned cut = last->part + 1u;

	if (cut == last->parts)
		return n;
	return n > cut ? n - cut : 0;
}

static unsigned take_punts(struct rte_ring *ring, struct hs_punt *punts, unsigned n, bool may_part)
{
	unsigned got = rte_ring_dequeue_burst_elem_start(ring, punts, sizeof(*punts), n, NULL);

	if (!got)
		return 0;
	unsigned whole = whole_groups(punts, got);
	if (!whole && may_part)
		whole = got;
	rte_ring_dequeue_elem_finish(ring, whole);
	return whole;
}

unsigned hs_node_take_punts(struct hs_node *node, struct hs_punt *punts, unsigned n)
{
	unsigned n_workers = node->config.n_workers;
	unsigned first = node->next_punt_ring++ % n_workers;
	unsigned taken = 0;

	for (unsigned i = 0; i < n_workers && taken < n; i++) {
		unsigned w = (first + i) % n_workers;
		taken += take_punts(
				node->seats[w]->worker.punts, &punts[taken], n - taken, taken == 0);
	}
	return taken;
}
