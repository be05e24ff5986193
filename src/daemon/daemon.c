// SPDX-License-Identifier: BSD-3-Clause
#include "daemon.h"

#include "daemon_parts.h"
#include "dpdk_telemetry.h"

#include "config_read.h"
#include "idle.h"
#include "interrupts.h"

#include "api.h"
#include "bus.h"
#include "bus_told_limits.h"
#include "log.h"
#include "os_clock.h"

#include <rte_mempool.h>
#include <rte_pdump.h>
#include <rte_version.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUESTS_PER_ROUND 16
#define BUSY_REPORTS	   64 // if a step took so many, more wait
#define BUSY_MS		   1
// The wait without reports; requests, signals and port events end it. This limits what a burst of
// reports after silence puts into a ring before the next look.
#define QUIET_MS	10
#define LAST_WINDOWS_NS INT64_C(1000000000)

// ---- opening ----

static int open_eal(struct hs_daemon *d, struct hs_error *err)
{
	int rc = hs_eal_init(&d->eal, err);
	d->eal_open = rc == 0;
	return rc;
}

static int open_clock(struct hs_daemon *d, struct hs_error *err)
{
	int rc = hs_clock_create(d->config->clock, &d->clock);
	if (rc < 0)
		hs_error_set(err, "clock", "telemetry.clock", "", "no clock: %s", strerror(-rc));
	else
		hs_clock_set_step(d->clock, d->config->clock_step_ms * INT64_C(1000000));
	return rc;
}

static int open_pool(struct hs_daemon *d, struct hs_error *err)
{
	uint16_t bytes = hs_config_mbuf_bytes(d->config);
	int rc = hs_pool_create("mbufs", hs_config_mbufs(d->config), bytes, &d->pool);
	if (rc < 0)
		hs_error_set(err, "no_memory", "memory.mbufs", "fewer, or more memory",
				"%" PRIu32 " buffers of %u bytes do not fit",
				hs_config_mbufs(d->config), bytes);
	return rc;
}

static int open_ports(struct hs_daemon *d, struct hs_error *err)
{
	int rc = hs_config_find_interfaces(d->config, "daemon", err);

	for (unsigned i = 0; rc == 0 && i < d->config->n_ports; i++) {
		rc = hs_port_open(&d->config->ports[i], (uint16_t)i,
				(uint16_t)d->config->node.n_workers, d->pool, &d->ports[i], err);
		if (rc < 0) {
			char prefix[32];
			snprintf(prefix, sizeof(prefix), "ports[%u]", i);
			hs_error_prefix(err, prefix);
		}
	}
	return rc;
}

static int open_node(struct hs_daemon *d, struct hs_error *err)
{
	int rc = hs_node_create(&d->config->node, d->clock, d->pool, &d->node, err);
	for (unsigned i = 0; rc == 0 && i < d->config->n_ports; i++) {
		rc = hs_node_add_port(d->node, d->ports[i]);
		if (rc < 0)
			hs_error_set(err, "ports", "ports", "", "port \"%s\": %s",
					d->config->ports[i].name, strerror(-rc));
	}
	return rc;
}

static int open_bus(struct hs_daemon *d, struct hs_error *err)
{
	return hs_config_open_bus(d->config, &d->bus, err);
}

static int open_influx(struct hs_daemon *d, struct hs_error *err)
{
	return hs_daemon_influx_open(&d->influx, &d->config->influx, d->node, err);
}

static int open_telemetry(struct hs_daemon *d, struct hs_error *err)
{
	(void)err;
	struct hs_dpdk_telemetry_config telemetry = {
			.node = d->node,
			.version = HS_VERSION,
			.boot_id = d->service.boot_id,
	};
	// A node without telemetry of DPDK works completely.
	int rc = hs_dpdk_telemetry_create(&telemetry, &d->telemetry);
	if (rc < 0)
		hs_log(HS_LOG_WARNING, "daemon", "no counters over DPDK's telemetry: %s",
				strerror(-rc));
	d->pdump = rte_pdump_init() == 0;
	if (!d->pdump)
		hs_log(HS_LOG_WARNING, "daemon",
				"dpdk-dumpcap will not work: rte_pdump_init failed");
	return 0;
}

// Returns the part of the configuration that node_get repeats.
static json_t *settings_of(const struct hs_daemon *d)
{
	static const char *const from_top[] = {"polling", "worker_scheduling", "cpu_latency_us",
			"workers_help_monitor", "control_core", "memory", "profiles", "export",
			"telemetry", "state"};
	static const char *const from_control[] = {"bind", "publish_to", "publish_bind"};
	json_t *all = hs_config_print(d->config);
	json_t *control = json_object_get(all, "control");
	json_t *pairs = json_object_get(json_object_get(all, "forwarding"), "pairs");
	json_t *settings = json_pack("{s:s, s:O}", "dpdk", rte_version(), "worker_cores",
			json_object_get(all, "workers"));

	for (size_t i = 0; i < sizeof(from_top) / sizeof(from_top[0]); i++)
		json_object_set(settings, from_top[i], json_object_get(all, from_top[i]));
	for (size_t i = 0; i < sizeof(from_control) / sizeof(from_control[0]); i++)
		json_object_set(settings, from_control[i],
				json_object_get(control, from_control[i]));
	if (pairs)
		json_object_set(settings, "pairs", pairs);
	json_decref(all);
	return settings;
}

static int publish(void *context, const char *topic, const char *json)
{
	return hs_bus_publish(((struct hs_daemon *)context)->bus, topic, json);
}

static void record(void *context, const char *key, const json_t *content)
{
	hs_daemon_influx_record(&((struct hs_daemon *)context)->influx, key, content);
}

static void add_totals(void *context, struct hs_node_totals *totals)
{
	hs_daemon_influx_totals(&((struct hs_daemon *)context)->influx, totals);
	struct hs_bus_counters bus;
	hs_bus_counters(((struct hs_daemon *)context)->bus, &bus);
	totals->requests_malformed = bus.requests_malformed;
	totals->requests_refused = bus.requests_refused;
	totals->replies_lost = bus.replies_lost;
	totals->connections = bus.connections;
	totals->disconnections = bus.disconnections;
	totals->handshakes_failed = bus.handshakes_failed;
	totals->connections_refused = bus.connections_refused;
	totals->connections_closed = bus.connections_closed;
}

static int install_list(
		struct hs_daemon *d, json_t *requests, const char *path, struct hs_error *err)
{
	int rc = requests ? hs_control_install(d->control, hs_clock_now(d->clock), requests,
					    HS_ORIGIN_CONFIG, err)
			  : 0;
	if (rc < 0)
		hs_error_prefix(err, path);
	return rc;
}

static void add_requests(json_t *requests, const char *verb, json_t *contents)
{
	size_t i;
	json_t *content;
	json_array_foreach (contents, i, content)
		json_array_append_new(requests, json_pack("{s:O}", verb, content));
}

// Installs the node's own routes first, then the requested rules and further routes.
static int install(struct hs_daemon *d, struct hs_error *err)
{
	json_t *routes = json_array();
	add_requests(routes, "neighbour_add", d->config->neighbours);
	add_requests(routes, "route_add", d->config->routes);
	int rc = install_list(d, routes, "forwarding", err);
	json_decref(routes);
	return rc < 0 ? rc : install_list(d, d->config->requests, "requests", err);
}

static int open_control(struct hs_daemon *d, struct hs_error *err)
{
	struct hs_control_output output = {.context = d,
			.publish = publish,
			.record = record,
			.send_export = hs_daemon_send_export,
			.totals = add_totals};
	hs_daemon_open_exports(d);
	d->settings = settings_of(d);
	struct hs_control_config control = {
			.monitored_rules = d->config->monitored_rules,
			.monitor_bytes = (uint64_t)d->config->monitor_mib << 20,
			.window_ns = {d->config->window_ns[0], d->config->window_ns[1],
					d->config->window_ns[2], d->config->window_ns[3]},
			.settings = d->settings,
			.telemetry = d->telemetry,
			.in_band = &d->config->in_band,
			.brief_steps = true,
			.workers_help = d->config->workers_help_monitor,
			.delay_buckets = d->config->prometheus.on,
			.spent_ns = hs_os_clock_spent_ns,
			.connection = &d->limits,
	};
	d->limits = hs_bus_told_limits(d->config->publish_queue);
	memcpy(control.boot_id, d->service.boot_id, sizeof(control.boot_id));
	hs_api_set_windows(d->config->window_ns);
	int rc = hs_control_create(
			&control, d->node, d->clock, &output, hs_clock_now(d->clock), &d->control);
	if (rc < 0) {
		hs_error_set(err, "no_memory", "memory", "", "control: %s", strerror(-rc));
		return rc;
	}
	return install(d, err);
}

static int open_state(struct hs_daemon *d, struct hs_error *err)
{
	const struct hs_state_config state = {
			.file = d->config->state_file,
			.sync = d->config->state_sync,
	};
	if (state.file[0])
		return hs_control_open_state(d->control, hs_clock_now(d->clock), &state, err);
	if (d->config->in_band.has_key && !d->config->in_band.max_age_s)
		hs_log(HS_LOG_WARNING, "in_band",
				"without `state`, and with telemetry.in_band.max_age_s 0, signed "
				"requests of before this start can be replayed");
	return 0;
}

static int open_watch(struct hs_daemon *d, struct hs_error *err)
{
	int rc = hs_port_watch_create(hs_daemon_on_port_event, d, &d->watch);
	for (unsigned i = 0; rc == 0 && i < d->config->n_ports; i++) {
		if (d->config->ports[i].kind == HS_PORT_IFACE)
			rc = hs_port_watch_add(d->watch, d->ports[i]);
	}
	if (rc < 0)
		hs_error_set(err, "watch", "ports", "", "interfaces cannot be watched: %s",
				strerror(-rc));
	return rc;
}

// Makes drivers do their interrupt work only while workers pause, from now on.
static int hold_interrupts(struct hs_daemon *d, struct hs_error *err)
{
	bool needed = false;
	for (unsigned i = 0; i < d->config->n_ports; i++)
		needed |= hs_port_frees_rings(d->ports[i]);
	int rc = needed ? hs_interrupts_hold() : 0;
	if (rc < 0)
		hs_error_set(err, "internal", "ports", "",
				"DPDK's interrupt thread cannot be held: %s", strerror(-rc));
	return rc;
}

static int open_workers(struct hs_daemon *d, struct hs_error *err)
{
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < d->config->node.n_workers; i++) {
		rc = hs_worker_thread_init(&d->workers[i], d->node, i, i + 1, d->config->adaptive,
				&d->config->worker_scheduling);
		if (rc == 0)
			rc = hs_worker_thread_start(&d->workers[i]);
	}
	if (rc == -EPERM)
		hs_error_set(err, "not_permitted", "worker_scheduling",
				"CAP_SYS_NICE, or a limit of the process (LimitRTPRIO, LimitNICE)",
				"the kernel refuses this scheduling to a worker");
	else if (rc < 0)
		hs_error_set(err, "workers", "workers", "", "a worker did not start: %s",
				strerror(-rc));
	return rc;
}

static int demand_cpu_latency(struct hs_daemon *d, struct hs_error *err)
{
	if (d->config->cpu_latency_us == HS_CPU_LATENCY_ANY_US)
		return 0;
	d->cpu_latency_fd = hs_cpu_latency_demand(d->config->cpu_latency_us, err);
	return d->cpu_latency_fd < 0 ? d->cpu_latency_fd : 0;
}

// The order matters: what the list of requests installs is in force before the first packet is
// received.
static int open_all(void *context, int *exit_code, struct hs_error *err)
{
	struct hs_daemon *d = context;

	return open_eal(d, err)
		?: open_clock(d, err)
		?: open_pool(d, err)
		?: hs_service_exit_with(HS_EXIT_PORTS, open_ports(d, err), exit_code)
		?: open_node(d, err)
		?: open_bus(d, err)
		?: open_telemetry(d, err)
		?: open_influx(d, err)
		?: hs_service_exit_with(HS_EXIT_USAGE, open_control(d, err), exit_code)
		?: open_state(d, err)
		?: open_watch(d, err)
		?: hs_daemon_open_scrape(d, err)
		?: demand_cpu_latency(d, err)
		?: hold_interrupts(d, err)
		?: open_workers(d, err);
}

// ---- closing ----

// Publishes the last windows for a second at most: the end does not wait for thousands of flows.
static void publish_last_windows(struct hs_daemon *d)
{
	int64_t end_ns = hs_os_clock_ns(CLOCK_MONOTONIC) + LAST_WINDOWS_NS;
	unsigned left;

	do {
		left = hs_control_finish(d->control, hs_clock_now(d->clock));
	} while (left && hs_os_clock_ns(CLOCK_MONOTONIC) < end_ns);
	if (left)
		hs_log(HS_LOG_WARNING, "daemon", "no time to publish the last windows of %u rules",
				left);
}

static void stop_traffic(struct hs_daemon *d)
{
	for (unsigned i = 0; i < d->config->node.n_workers; i++)
		hs_worker_thread_stop(&d->workers[i]);
	if (d->control)
		publish_last_windows(d);
	if (d->clock)
		hs_daemon_influx_close(&d->influx, d->control, hs_clock_now(d->clock));
}

static void close_all(void *context)
{
	struct hs_daemon *d = context;

	stop_traffic(d);
	for (unsigned i = 0; i < d->config->node.n_workers; i++)
		hs_worker_thread_fini(&d->workers[i]);
	hs_scrape_close(d->scrape);
	hs_port_watch_destroy(d->watch);
	hs_dpdk_telemetry_destroy(d->telemetry);
	hs_control_destroy(d->control);
	hs_daemon_close_exports(d);
	json_decref(d->settings);
	hs_bus_close(d->bus);
	if (d->pdump)
		rte_pdump_uninit();
	hs_node_destroy(d->node);
	for (unsigned i = 0; i < d->config->n_ports; i++)
		hs_port_close(d->ports[i]);
	rte_mempool_free(d->pool);
	hs_clock_destroy(d->clock);
	if (d->cpu_latency_fd >= 0)
		close(d->cpu_latency_fd);
	if (d->eal_open)
		hs_eal_fini();
}

static void let_interrupts_run(struct hs_daemon *d)
{
	hs_node_pause(d->node);
	hs_interrupts_pass();
	hs_node_resume(d->node);
}

// ---- the loop ----

static void answer_requests(struct hs_daemon *d)
{
	struct hs_bus_request request;
	int64_t end_ns = hs_os_clock_spent_ns() + HS_API_MAX_REPLY_NS;
	for (unsigned i = 0; i < REQUESTS_PER_ROUND && hs_os_clock_spent_ns() < end_ns; i++) {
		if (hs_bus_next_request(d->bus, &request) < 0)
			return;
		char *reply = hs_control_request(d->control, hs_clock_now(d->clock), request.body,
				request.len, request.may_change);
		if (reply)
			hs_bus_reply(d->bus, &request, reply);
		else
			hs_bus_drop_request(&request);
		free(reply);
	}
}

static void serve(void *context)
{
	struct hs_daemon *d = context;
	struct pollfd fds[] = {
			{.fd = d->service.signal_fd, .events = POLLIN},
			{.fd = hs_port_watch_fd(d->watch), .events = POLLIN},
			{.fd = hs_scrape_fd(d->scrape), .events = POLLIN},
			{.events = POLLIN},
	};
	struct pollfd *interrupts = &fds[d->scrape ? 3 : 2]; // the last, because there may be none
	int timeout_ms = BUSY_MS;

	// A link that is down from the start is reported; a link that is up is not.
	memset(d->link_up, true, sizeof(d->link_up));
	for (;;) {
		*interrupts = (struct pollfd){.fd = hs_interrupts_fd(), .events = POLLIN};
		unsigned n = (unsigned)(interrupts - fds) + (interrupts->fd >= 0);
		if (hs_bus_poll(d->bus, timeout_ms, fds, n))
			answer_requests(d);
		if (interrupts->revents & POLLIN)
			let_interrupts_run(d);
		if ((fds[0].revents & POLLIN) && hs_service_ends(&d->service))
			return;
		if (fds[1].revents)
			hs_port_watch_poll(d->watch);
		int64_t now_ns = hs_clock_now(d->clock);
		int64_t steady_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
		hs_daemon_retry_ports(d, steady_ns);
		hs_daemon_look_at_devices(d, steady_ns);
		hs_key_watch_look(&d->key_watch, d->bus, steady_ns, hs_control_event,
				hs_control_events(d->control));
		hs_daemon_serve_scrape(d, steady_ns);
		unsigned taken = hs_control_step(d->control, now_ns);
		bool due = hs_control_next_ns(d->control) <= now_ns;
		bool busy = hs_daemon_influx_step(&d->influx, d->control, now_ns) || taken > 0;
		timeout_ms = taken >= BUSY_REPORTS || due ? 0 : busy ? BUSY_MS : QUIET_MS;
	}
}

// ---- all of it ----

static void say_ready(void *context)
{
	struct hs_daemon *d = context;
	const struct hs_config *c = d->config;

	hs_daemon_show_sandbox(d);
	for (unsigned i = 0; i < c->node.n_workers; i++) {
		if (c->workers[i] == c->control_core)
			hs_log(HS_LOG_WARNING, "daemon",
					"worker %u shares core %u with control: requests make "
					"packets "
					"wait",
					i, c->control_core);
	}
	if (getenv("HS_GENERAL_PATH"))
		hs_log(HS_LOG_WARNING, "daemon",
				"HS_GENERAL_PATH is set: every packet takes the slower, "
				"general path");
	if (getenv("HS_REPORT_STORES"))
		hs_log(HS_LOG_WARNING, "daemon",
				"HS_REPORT_STORES is set: with \"cached\" or \"streamed\", "
				"workers do not measure how to write reports");
	hs_log(HS_LOG_NOTICE, "daemon",
			"monitors take up to %u MiB: %u rules, up to %" PRIu64 " MiB each",
			c->monitor_mib, c->monitored_rules, (hs_qos_most_bytes() >> 20) + 1);
	hs_log(HS_LOG_NOTICE, "daemon", "ready: node %u '%s', %u port%s, api %s", c->node.id,
			c->node.name, c->n_ports, c->n_ports == 1 ? "" : "s", c->bind.text[0]);
}

int hs_daemon_run(const struct hs_config *config, int argc, char **argv)
{
	struct hs_daemon *d = aligned_alloc(64, sizeof(*d));
	if (!d)
		return HS_EXIT_FAILED;
	*d = (struct hs_daemon){.config = config, .cpu_latency_fd = -1};
	hs_config_eal(config, &d->eal);
	d->eal.argc = argc;
	d->eal.argv = argv;
	d->service = (struct hs_service){.program = "hopsightd",
			.module = "daemon",
			.sandbox = config->sandbox,
			.open = open_all,
			.ready = say_ready,
			.serve = serve,
			.close = close_all,
			.context = d};
	hs_daemon_set_needs(d);
	int code = hs_service_run(&d->service);
	free(d);
	return code;
}
