// SPDX-License-Identifier: BSD-3-Clause
#include "collector_ports.h"

#include "collector_publish.h"

#include "eal.h"
#include "idle.h"
#include "interrupts.h"
#include "log.h"
#include "port_watch.h"

#include <rte_mempool.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS INT64_C(1000000000)

struct hs_collector_ports {
	struct hs_collector *collector;
	bool eal_open;
	struct rte_mempool *pool;
	struct hs_port_watch *watch;
	// Interfaces that exist again and could not be opened yet.
	bool coming[HS_COLLECT_MAX_LISTENERS];
	bool link_up[HS_COLLECT_MAX_LISTENERS];
	int64_t look_ns;
};

// ---- ports that come and go ----

static void set_usable(struct hs_port *port, bool usable)
{
	__atomic_store_n(&port->usable, usable, __ATOMIC_RELEASE);
}

static void tell(struct hs_collector_ports *ports, const struct hs_port *port, const char *kind,
		const char *what)
{
	hs_log(HS_LOG_NOTICE, "collector", "port '%s' %s", port->config.name, what);
	hs_collector_event(ports->collector, kind, json_pack("{s:s}", "port", port->config.name),
			"port \"%s\" %s", port->config.name, what);
}

// Does nothing. When this job has run, no earlier burst is under way.
static void pass(void *context, struct hs_collect *collect)
{
	(void)context, (void)collect;
}

static void port_gone(struct hs_collector_ports *ports, struct hs_port *port)
{
	struct hs_collector_worker *worker = &ports->collector->worker;

	ports->coming[port->index] = false;
	set_usable(port, false);
	hs_collector_worker_run(worker, pass, NULL);
	hs_idle_remove_port(worker->idle, port);
	hs_port_detach(port);
	tell(ports, port, "port_gone", "has lost its interface");
}

static void try_again(struct hs_collector_ports *ports, struct hs_port *port)
{
	struct hs_error err = {0};
	int rc = hs_port_reopen(port, &err);

	if (rc == 0)
		rc = hs_idle_add_port(ports->collector->worker.idle, port);
	ports->coming[port->index] = rc < 0;
	if (rc < 0) {
		hs_log(HS_LOG_INFO, "collector", "port '%s' cannot be opened yet: %s",
				port->config.name, err.message);
		return;
	}
	set_usable(port, true);
	tell(ports, port, "port_back", "has its interface again");
}

static void on_event(void *context, struct hs_port *port, enum hs_port_event event)
{
	switch (event) {
	case HS_PORT_GONE:
		port_gone(context, port);
		return;
	case HS_PORT_BACK:
		try_again(context, port);
		return;
	case HS_PORT_UP:
		tell(context, port, "port_up", "has its link up");
		return;
	case HS_PORT_DOWN:
		tell(context, port, "port_down", "has its link down");
		return;
	}
}

// This job and the next one run on the collecting thread, which then is not in a burst.
static void run_interrupts(void *context, struct hs_collect *collect)
{
	(void)context, (void)collect;
	hs_interrupts_pass();
}

static void call_peer(void *port, struct hs_collect *collect)
{
	(void)collect;
	hs_port_call_peer(port);
}

static void look_at_device(struct hs_collector_ports *ports, struct hs_port *port)
{
	bool up = hs_port_look(port);

	if (up != ports->link_up[port->index])
		on_event(ports, port, up ? HS_PORT_UP : HS_PORT_DOWN);
	ports->link_up[port->index] = up;
	if (!up && hs_port_waits_for_peer(port))
		hs_collector_worker_run(&ports->collector->worker, call_peer, port);
}

void hs_collector_ports_fds(const struct hs_collector_ports *ports, struct pollfd *fds, unsigned *n)
{
	*n = 0;
	if (!ports)
		return;
	fds[(*n)++] = (struct pollfd){.fd = hs_port_watch_fd(ports->watch), .events = POLLIN};
	if (hs_interrupts_fd() >= 0)
		fds[(*n)++] = (struct pollfd){.fd = hs_interrupts_fd(), .events = POLLIN};
}

void hs_collector_ports_look(struct hs_collector_ports *ports, int64_t steady_ns)
{
	struct pollfd ready = {.fd = hs_interrupts_fd(), .events = POLLIN};

	if (!ports)
		return;
	hs_port_watch_poll(ports->watch);
	if (ready.fd >= 0 && poll(&ready, 1, 0) > 0)
		hs_collector_worker_run(&ports->collector->worker, run_interrupts, NULL);
	if (steady_ns < ports->look_ns)
		return;
	ports->look_ns = steady_ns + LOOK_NS;
	for (unsigned i = 0; i < ports->collector->worker.n_ports; i++) {
		struct hs_port *port = ports->collector->worker.ports[i];
		if (ports->coming[i])
			try_again(ports, port);
		if (port->config.kind != HS_PORT_IFACE)
			look_at_device(ports, port);
	}
}

// ---- opening ----

static int open_eal(struct hs_collector_ports *ports, int argc, char **argv, struct hs_error *err)
{
	struct hs_eal_config eal;

	hs_collector_config_eal(ports->collector->config, &eal);
	eal.argc = argc;
	eal.argv = argv;
	int rc = hs_eal_init(&eal, err);
	ports->eal_open = rc == 0;
	return rc;
}

static int open_pool(struct hs_collector_ports *ports, struct hs_error *err)
{
	const struct hs_config *base = &ports->collector->config->base;
	uint16_t bytes = hs_config_mbuf_bytes(base);
	int rc = hs_pool_create("mbufs", hs_config_mbufs(base), bytes, &ports->pool);

	if (rc < 0)
		hs_error_set(err, "no_memory", "memory.mbufs", "fewer, or more memory",
				"%" PRIu32 " buffers of %u bytes do not fit", hs_config_mbufs(base),
				bytes);
	return rc;
}

static int open_ports(struct hs_collector_ports *ports, struct hs_error *err)
{
	const struct hs_collector_config *config = ports->collector->config;
	struct hs_collector_worker *worker = &ports->collector->worker;
	char prefix[32];
	int rc = hs_config_find_interfaces(&config->base, "collector", err);

	for (unsigned i = 0; rc == 0 && i < config->n_ports; i++) {
		rc = hs_port_open(&config->base.ports[i], (uint16_t)i, 1, ports->pool,
				&worker->ports[i], err);
		snprintf(prefix, sizeof(prefix), "ports[%u]", i);
		if (rc < 0) {
			hs_error_prefix(err, prefix);
			return rc;
		}
		worker->udp_ports[i] = config->ports[i].udp_port;
		worker->n_ports = i + 1;
		ports->link_up[i] = true; // a link that is down from the start is reported
	}
	return rc;
}

static int open_watch(struct hs_collector_ports *ports, struct hs_error *err)
{
	const struct hs_collector_worker *worker = &ports->collector->worker;
	int rc = hs_port_watch_create(on_event, ports, &ports->watch);

	for (unsigned i = 0; rc == 0 && i < worker->n_ports; i++) {
		if (worker->ports[i]->config.kind == HS_PORT_IFACE)
			rc = hs_port_watch_add(ports->watch, worker->ports[i]);
	}
	if (rc < 0)
		hs_error_set(err, "watch", "ports", "", "interfaces cannot be watched: %s",
				strerror(-rc));
	return rc;
}

int hs_collector_ports_hold(struct hs_collector_ports *ports, struct hs_error *err)
{
	bool needed = false;

	if (!ports)
		return 0;
	for (unsigned i = 0; i < ports->collector->worker.n_ports; i++)
		needed |= hs_port_frees_rings(ports->collector->worker.ports[i]);
	int rc = needed ? hs_interrupts_hold() : 0;
	if (rc < 0)
		hs_error_set(err, "internal", "ports", "",
				"DPDK's interrupt thread cannot be held: %s", strerror(-rc));
	return rc;
}

int hs_collector_ports_open(struct hs_collector *collector, int argc, char **argv,
		struct hs_collector_ports **out, struct hs_error *err)
{
	*out = NULL;
	if (collector->config->n_ports == 0)
		return 0;
	struct hs_collector_ports *ports = calloc(1, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	ports->collector = collector;
	*out = ports;
	int rc = open_eal(ports, argc, argv, err);
	if (rc == 0)
		rc = open_pool(ports, err);
	if (rc == 0)
		rc = open_ports(ports, err);
	if (rc == 0)
		rc = open_watch(ports, err);
	collector->worker.by_eal = rc == 0;
	return rc;
}

void hs_collector_ports_close(struct hs_collector_ports *ports)
{
	if (!ports)
		return;
	hs_port_watch_destroy(ports->watch);
	for (unsigned i = 0; i < ports->collector->worker.n_ports; i++)
		hs_port_close(ports->collector->worker.ports[i]);
	rte_mempool_free(ports->pool);
	if (ports->eal_open)
		hs_eal_fini();
	free(ports);
}
