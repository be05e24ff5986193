// SPDX-License-Identifier: BSD-3-Clause
#include "collector_daemon.h"

#include "collector_influx.h"
#include "collector_page.h"
#include "collector_ports.h"
#include "collector_publish.h"
#include "collector_shape.h"
#include "collector_state.h"
#include "collector_verbs.h"
#include "collector_watch.h"

#include "bus.h"
#include "log.h"
#include "os_clock.h"
#include "port_needs.h"
#include "privileges.h"
#include "scrape.h"
#include "socket_buffer.h"
#include "syscall_filter.h"

#include <linux/capability.h>
#include <netinet/in.h>

#include <rte_jhash.h>
#include <rte_version.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define REQUESTS_PER_ROUND 16
#define EVENTS_PER_ROUND   512
#define EVENTS_NS	   INT64_C(2000000) // of processor time
#define QUIET_MS	   10
#define LAST_EVENTS_NS	   INT64_C(1000000000)

struct daemon {
	struct hs_collector collector;
	struct hs_collector_ports *ports;
	struct hs_collector_state *state;
	struct hs_scrape *scrape; // NULL: the metrics are not served over HTTP
	struct hs_collector_watch watch;
	struct hs_key_watch key_watch;
	struct hs_service service;
	int argc;
	char **argv;
};

// ---- opening ----

// A hash of what each listener's number means. The number is part of an exporter's key.
static uint64_t listeners_of(const struct hs_collector_config *config)
{
	char text[HS_SCHEMA_TEXT_BYTES];
	uint32_t hash = 0;

	for (unsigned i = 0; i < config->n_listen + config->n_ports; i++) {
		const char *name = hs_collector_listener_name(config, i, text);
		hash = rte_jhash(name, (uint32_t)strlen(name) + 1, hash);
	}
	return hash;
}

static int open_state(struct daemon *d, struct hs_error *err)
{
	const struct hs_collector_config *config = d->collector.config;
	const char *file = config->base.state_file;
	bool anew = false;

	if (!file[0])
		return 0;
	int rc = hs_collector_state_open(file, hs_collect_exporter_bytes(&config->collect),
			listeners_of(config), &d->state, &anew, err);
	if (rc == 0)
		hs_log(HS_LOG_NOTICE, "collector", "%s: %s", file,
				anew ? "no exporters of before"
				     : "the exporters of before are known");
	return rc;
}

static int open_tables(struct daemon *d, struct hs_error *err)
{
	const struct hs_collector_config *config = d->collector.config;

	d->collector.boot_id = d->service.boot_id;
	d->collector.now_ns = hs_os_clock_wall_ns();
	d->collector.start_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	d->collector.worker.core = config->base.workers[0];
	d->collector.worker.longest_nap_ns = config->latency_us * INT64_C(1000);
	hs_event_log_init(&d->collector.events);
	hs_collector_open_verbs(&d->collector);
	struct hs_collect_config collect = config->collect;
	if (getrandom(collect.secret, sizeof(collect.secret), 0) != sizeof(collect.secret))
		return hs_error_set(
				err, "internal", "", "", "no random numbers: %s", strerror(errno));
	collect.exporter_memory = d->state ? hs_collector_state_memory(d->state) : NULL;
	int rc = hs_collector_worker_init(
			&d->collector.worker, &collect, config->base.adaptive, err);
	if (rc == 0) // an earlier process reported the missing ones before
		d->watch.missing.said =
				hs_collect_counters(d->collector.worker.collect)->reports_missing;
	return rc;
}

static int open_ports(struct daemon *d, struct hs_error *err)
{
	return hs_collector_ports_open(&d->collector, d->argc, d->argv, &d->ports, err);
}

static int open_sockets(struct daemon *d, struct hs_error *err)
{
	const struct hs_collector_config *config = d->collector.config;
	struct hs_collector_worker *worker = &d->collector.worker;
	char prefix[32];

	for (unsigned i = 0; i < config->n_listen; i++) {
		uint32_t *kib = &d->collector.buffer_kib[i];
		int rc = hs_collector_udp_open(
				&config->listen[i], (uint8_t)i, &worker->sockets[i], kib, err);
		snprintf(prefix, sizeof(prefix), "listen[%u]", i);
		if (rc < 0) {
			hs_error_prefix(err, prefix);
			return rc;
		}
		worker->n_sockets = i + 1;
		hs_socket_buffer_tell("collector", prefix, *kib, config->listen[i].buffer_kib);
	}
	return 0;
}

static int open_bus(struct daemon *d, struct hs_error *err)
{
	const struct hs_config *c = &d->collector.config->base;

	d->collector.publishes = c->publish_to.n + c->publish_bind.n > 0;
	return hs_config_open_bus(c, &d->collector.bus, err);
}

static int open_influx(struct daemon *d, struct hs_error *err)
{
	return hs_collector_influx_open(&d->collector, &d->collector.influx, err);
}

static void fill(void *context, struct hs_prometheus *page)
{
	hs_collector_page(context, page);
}

static int open_scrape(struct daemon *d, struct hs_error *err)
{
	const struct hs_scrape_config scrape = {
			.settings = &d->collector.config->prometheus,
			.program = "hopsight-collector",
			.version = HS_VERSION,
			.dpdk = d->ports ? rte_version() : NULL,
			.fill = fill,
			.context = &d->collector,
	};
	return hs_scrape_open(&scrape, &d->scrape, err);
}

static int start_worker(struct daemon *d, struct hs_error *err)
{
	int rc = hs_collector_ports_hold(d->ports, err);

	if (rc == 0)
		rc = hs_collector_worker_start(&d->collector.worker);
	if (rc < 0 && !hs_error_is_set(err))
		hs_error_set(err, "workers", "workers", "", "the collecting thread: %s",
				strerror(-rc));
	return rc;
}

static int open_all(void *context, int *exit_code, struct hs_error *err)
{
	struct daemon *d = context;

	return open_state(d, err)
		?: hs_service_exit_with(HS_EXIT_USAGE, open_tables(d, err), exit_code)
		?: hs_service_exit_with(HS_EXIT_PORTS, open_ports(d, err), exit_code)
		?: hs_service_exit_with(HS_EXIT_PORTS, open_sockets(d, err), exit_code)
		?: open_bus(d, err)
		?: open_influx(d, err)
		?: open_scrape(d, err)
		?: start_worker(d, err);
}

// Publishes the events that wait, for a second at most.
static void tell_last(struct daemon *d)
{
	int64_t end_ns = hs_os_clock_ns(CLOCK_MONOTONIC) + LAST_EVENTS_NS;

	while (hs_collector_take_events(&d->collector, EVENTS_PER_ROUND, EVENTS_NS) &&
			hs_os_clock_ns(CLOCK_MONOTONIC) < end_ns)
		;
}

static void close_all(void *context)
{
	struct daemon *d = context;

	hs_scrape_close(d->scrape);
	hs_collector_worker_stop(&d->collector.worker);
	if (d->collector.bus)
		tell_last(d);
	hs_collector_influx_close(d->collector.influx);
	d->collector.influx = NULL;
	for (unsigned i = 0; i < d->collector.worker.n_sockets; i++)
		hs_collector_udp_close(d->collector.worker.sockets[i]);
	hs_collector_ports_close(d->ports);
	hs_collector_worker_fini(&d->collector.worker);
	hs_collector_state_close(d->state);
	hs_bus_close(d->collector.bus);
	hs_collector_hops_fini(&d->collector.hops);
	hs_event_log_fini(&d->collector.events);
}

// ---- the loop ----

static void answer_requests(struct daemon *d)
{
	struct hs_bus_request request;
	int64_t end_ns = hs_os_clock_spent_ns() + HS_API_MAX_REPLY_NS;

	for (unsigned i = 0; i < REQUESTS_PER_ROUND && hs_os_clock_spent_ns() < end_ns; i++) {
		if (hs_bus_next_request(d->collector.bus, &request) < 0)
			return;
		char *reply = hs_collector_request(
				&d->collector, request.body, request.len, request.may_change);
		if (reply)
			hs_bus_reply(d->collector.bus, &request, reply);
		else
			hs_bus_drop_request(&request);
		free(reply);
	}
}

static void serve(void *context)
{
	struct daemon *d = context;
	unsigned taken = 0, n;

	hs_scrape_set_ready(d->scrape, NULL);
	for (;;) {
		struct pollfd fds[4] = {{.fd = d->service.signal_fd, .events = POLLIN}};
		hs_collector_ports_fds(d->ports, fds + 1, &n);
		if (d->scrape)
			fds[++n] = (struct pollfd){.fd = hs_scrape_fd(d->scrape), .events = POLLIN};
		if (hs_bus_poll(d->collector.bus, taken ? 0 : QUIET_MS, fds, n + 1))
			answer_requests(d);
		if ((fds[0].revents & POLLIN) && hs_service_ends(&d->service))
			return;
		int64_t steady_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
		taken = hs_collector_take_events(&d->collector, EVENTS_PER_ROUND, EVENTS_NS);
		d->collector.now_ns = hs_os_clock_wall_ns();
		hs_collector_ports_look(d->ports, steady_ns);
		hs_scrape_serve(d->scrape, steady_ns);
		hs_collector_influx_step(d->collector.influx, d->collector.now_ns);
		hs_collector_watch_look(&d->watch, &d->collector, steady_ns);
		hs_key_watch_look(&d->key_watch, d->collector.bus, steady_ns, hs_collector_event,
				&d->collector);
	}
}

// ---- all of it ----

static void set_needs(struct daemon *d)
{
	const struct hs_collector_config *config = d->collector.config;
	struct hs_port_needs needs = {0};
	bool low = hs_endpoints_any(&config->base.bind, hs_privileges_low_port) ||
		   hs_endpoints_any(&config->base.publish_bind, hs_privileges_low_port) ||
		   hs_scrape_low_port(&config->prometheus);

	if (config->n_ports)
		needs.syscalls = HS_SYSCALLS_NODE;
	for (unsigned i = 0; i < config->n_ports; i++)
		hs_port_needs_add(&needs, &config->base.ports[i]);
	if (d->argc > 0)
		hs_port_needs_add_all(&needs);
	for (unsigned i = 0; i < config->n_listen; i++)
		low |= config->listen[i].udp.port < IPPORT_RESERVED;
	d->service.privileges = needs.privileges | (low ? HS_PRIVILEGE(CAP_NET_BIND_SERVICE) : 0);
	d->service.syscalls = needs.syscalls;
}

static void say_ready(void *context)
{
	const struct hs_collector_config *c = ((struct daemon *)context)->collector.config;

	hs_log(HS_LOG_NOTICE, "collector", "tables take %" PRIu64 " MiB",
			(hs_collect_bytes(&c->collect) >> 20) + 1);
	hs_log(HS_LOG_NOTICE, "collector", "ready: '%s', %u sockets, %u ports, api %s",
			c->base.node.name, c->n_listen, c->n_ports, c->base.bind.text[0]);
}

int hs_collector_daemon_run(const struct hs_collector_config *config, int argc, char **argv)
{
	struct daemon *d = calloc(1, sizeof(*d));

	if (!d)
		return HS_EXIT_FAILED;
	d->collector.config = config;
	d->argc = argc;
	d->argv = argv;
	d->service = (struct hs_service){.program = "hopsight-collector",
			.module = "collector",
			.sandbox = config->base.sandbox,
			.open = open_all,
			.ready = say_ready,
			.serve = serve,
			.close = close_all,
			.context = d};
	set_needs(d);
	int code = hs_service_run(&d->service);
	free(d);
	return code;
}
