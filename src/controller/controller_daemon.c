// SPDX-License-Identifier: BSD-3-Clause
#include "controller_daemon.h"

#include "controller.h"
#include "controller_connections.h"
#include "controller_influx.h"
#include "controller_label_capture.h"
#include "controller_label_udp.h"
#include "controller_probing_socket.h"

#include "api.h"
#include "bus.h"
#include "bus_told_limits.h"
#include "key_watch.h"
#include "log.h"
#include "os_clock.h"
#include "privileges.h"
#include "scrape.h"
#include "service.h"
#include "state.h"

#include <linux/capability.h>
#include <netinet/in.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS_PER_ROUND 64
#define CHANGES_PER_ROUND  64
#define LONGEST_WAIT_MS	   50
#define LEAST_STEP_NS	   INT64_C(10000000) // of the clock
#define TOLD_LINES	   20		     // lines of the state that the log complains about

struct daemon {
	const struct hs_controller_config *config;
	struct hs_bus *bus;
	struct hs_api_connection_limits limits; // of its sockets
	struct hs_controller_connections *links;
	struct controller_label_udp *label;	   // NULL: no socket listens
	struct controller_label_capture *capture;  // NULL: no interface is read
	struct controller_probing_socket *probing; // NULL: no probes
	struct hs_key_watch key_watch;
	struct hs_controller *controller;
	struct hs_state *state;			 // NULL: nothing survives the process
	struct hs_controller_snapshot *snapshot; // NULL: no snapshot is being written
	struct hs_scrape *scrape;		 // NULL: the metrics are not served over HTTP
	struct hs_service service;
	uint64_t state_line; // that was read last
	unsigned told;
	int64_t clock_offset_ns; // from the monotonic clock to the wall clock; 0: not known yet
	struct controller_influx influx;
};

// ---- the controller's ways out ----

static int send_to(void *context, unsigned node, const char *text, size_t len)
{
	struct daemon *d = context;
	return hs_controller_connections_send(d->links, node, text, len);
}

static void reply(void *context, void *token, const char *text)
{
	struct daemon *d = context;
	struct hs_bus_request *request = token;

	if (text)
		hs_bus_reply(d->bus, request, text);
	else
		hs_bus_drop_request(request);
	free(request);
}

static int publish(void *context, const char *topic, const char *json)
{
	return hs_bus_publish(((struct daemon *)context)->bus, topic, json);
}

static void record(void *context, const char *key, const json_t *content)
{
	controller_influx_record(&((struct daemon *)context)->influx, key, content);
}

static void count_lines(void *context, struct hs_influx_counters *counters)
{
	hs_influx_counters(((struct daemon *)context)->influx.client, HS_INFLUX_ALL, counters);
}

static int save(void *context, const json_t *changes, struct hs_error *err)
{
	struct daemon *d = context;
	return d->state ? hs_state_append(d->state, changes, err) : 0;
}

static void unsave(void *context)
{
	struct daemon *d = context;
	if (d->state)
		hs_state_take_back(d->state);
}

static int send_probe(void *context, const uint8_t *frame, size_t len)
{
	return controller_probing_socket_send(((struct daemon *)context)->probing, frame, len);
}

// ---- opening ----

static int open_bus(struct daemon *d, struct hs_error *err)
{
	const struct hs_controller_config *c = d->config;
	struct hs_bus_keys keys;
	bool used = hs_controller_connections_keys(c, &keys);
	const char *bind[HS_MAX_ENDPOINTS], *publish_bind[HS_MAX_ENDPOINTS];

	struct hs_bus_config bus = {
			.bind = bind,
			.n_bind = hs_endpoints_point(&c->bind, bind),
			.publish_bind = publish_bind,
			.n_publish_bind = hs_endpoints_point(&c->publish_bind, publish_bind),
			.insecure = c->insecure,
			.keys = used ? &keys : NULL,
	};
	int rc = hs_bus_open(&bus, &d->bus, err);
	if (rc < 0)
		hs_error_prefix(err, "control");
	return rc;
}

static int open_links(struct daemon *d, struct hs_error *err)
{
	return hs_controller_connections_open(d->config, &d->links, err);
}

static int open_label(struct daemon *d, struct hs_error *err)
{
	return controller_label_udp_open(d->config, &d->label, err);
}

static int open_influx(struct daemon *d, struct hs_error *err)
{
	return controller_influx_open(&d->influx, d->config, err);
}

static int restore(void *context, json_t *change)
{
	struct daemon *d = context;
	struct hs_error err = {0};
	char text[HS_ERROR_TEXT];
	int rc = hs_controller_restore(d->controller, change, &err);

	d->state_line++;
	if (hs_error_is_set(&err) && d->told++ < TOLD_LINES)
		hs_log(HS_LOG_WARNING, "state", "%s, line %" PRIu64 "%s: %s", d->config->state_file,
				d->state_line, rc < 0 ? " is refused" : "",
				hs_error_text(&err, text));
	return rc;
}

static int open_state(struct daemon *d, struct hs_error *err)
{
	struct hs_state_config config = {.file = d->config->state_file,
			.sync = d->config->state_sync,
			.now_ns = hs_os_clock_wall_ns()};
	struct hs_state_load load = {0};
	if (!config.file[0])
		return 0;
	d->state_line = 1; // the heading
	int rc = hs_state_open(&config, restore, d, &load, &d->state, err);

	if (rc < 0)
		return rc;
	if (d->told > TOLD_LINES)
		hs_log(HS_LOG_WARNING, "state", "%s: %u more lines like these", config.file,
				d->told - TOLD_LINES);
	if (load.set_aside[0])
		hs_controller_event(d->controller, "state_set_aside", NULL, "%s: %s; it is now %s",
				config.file, load.reason, load.set_aside);
	hs_log(HS_LOG_NOTICE, "state", "%s: %" PRIu64 " changes, %" PRIu64 " refused%s",
			config.file, load.lines, load.refused,
			load.torn ? ", the last one was not whole and never confirmed" : "");
	return 0;
}

static int open_controller(struct daemon *d, struct hs_error *err)
{
	d->limits = hs_bus_told_limits(0);
	struct hs_controller_output output = {.context = d,
			.send = send_to,
			.reply = reply,
			.publish = publish,
			.record = record,
			.lines = d->config->influx.n ? count_lines : NULL,
			.save = save,
			.unsave = unsave,
			.spent_ns = hs_os_clock_spent_ns,
			.probe = d->probing ? send_probe : NULL,
			.connection = &d->limits};
	return hs_controller_create(d->config, d->service.boot_id, &output, hs_os_clock_wall_ns(),
			&d->controller, err);
}

static void fill(void *context, struct hs_prometheus *page)
{
	hs_controller_page(((struct daemon *)context)->controller, page);
}

static int open_scrape(struct daemon *d, struct hs_error *err)
{
	const struct hs_scrape_config scrape = {
			.settings = &d->config->prometheus,
			.program = "hopsight-controller",
			.version = HS_VERSION,
			.fill = fill,
			.context = d,
	};
	return hs_scrape_open(&scrape, &d->scrape, err);
}

// Returns whether a socket has a privileged port. Sockets are bound again when keys change, so that
// the program needs the capability later, too.
static bool binds_low_port(const struct hs_controller_config *c)
{
	return hs_endpoints_any(&c->bind, hs_privileges_low_port) ||
	       hs_endpoints_any(&c->subscribe_bind, hs_privileges_low_port) ||
	       hs_endpoints_any(&c->publish_bind, hs_privileges_low_port) ||
	       hs_scrape_low_port(&c->prometheus);
}

static bool listens_low(const struct hs_controller_label_config *label)
{
	for (unsigned i = 0; i < label->n_listen; i++)
		if (label->listen[i].port < IPPORT_RESERVED)
			return true;
	return false;
}

static int open_all(void *context, int *exit_code, struct hs_error *err)
{
	struct daemon *d = context;

	return open_bus(d, err)
		?: open_links(d, err)
		?: open_label(d, err)
		?: open_influx(d, err)
		?: hs_service_exit_with(HS_EXIT_USAGE, open_controller(d, err), exit_code)
		?: open_state(d, err)
		?: open_scrape(d, err);
}

static void close_all(void *context)
{
	struct daemon *d = context;

	hs_scrape_close(d->scrape);
	hs_controller_snapshot_free(d->snapshot);
	controller_influx_close(&d->influx, d->controller, hs_os_clock_wall_ns());
	hs_controller_destroy(d->controller);
	hs_state_close(d->state);
	controller_label_udp_close(d->label);
	controller_label_capture_close(d->capture);
	controller_probing_socket_close(d->probing);
	hs_controller_connections_close(d->links);
	hs_bus_close(d->bus);
}

// ---- the loop ----

static void take_requests(struct daemon *d)
{
	int64_t end_ns = hs_os_clock_spent_ns() + HS_API_MAX_REPLY_NS;

	for (unsigned i = 0; i < REQUESTS_PER_ROUND && hs_os_clock_spent_ns() < end_ns; i++) {
		struct hs_bus_request *request = malloc(sizeof(*request));
		if (!request || hs_bus_next_request(d->bus, request) < 0) {
			free(request);
			return;
		}
		hs_controller_request(d->controller, hs_os_clock_wall_ns(), request, request->body,
				request->len, request->may_change);
	}
}

// Begins a snapshot. After a failure, the old file remains in force, and the next change tries
// again.
static int begin_snapshot(struct daemon *d, struct hs_error *err)
{
	d->snapshot = hs_controller_snapshot(d->controller);
	return d->snapshot ? hs_state_snapshot_begin(d->state, err)
			   : hs_error_set(err, "internal", "", "", "memory is out");
}

// Writes the next portion of the snapshot. Portions are small, so that no client waits for the
// disk.
static int go_on_with_snapshot(struct daemon *d, struct hs_error *err)
{
	for (unsigned i = 0; i < CHANGES_PER_ROUND; i++) {
		json_t *change = hs_controller_snapshot_next(d->snapshot);
		if (!change)
			return hs_state_snapshot_end(d->state, err);
		int rc = hs_state_snapshot_add(d->state, change, err);
		json_decref(change);
		if (rc < 0)
			return rc;
	}
	return -EAGAIN;
}

static void look_at_state(struct daemon *d)
{
	struct hs_error err = {0};
	int rc;

	if (d->snapshot)
		rc = go_on_with_snapshot(d, &err);
	else if (d->state &&
			hs_state_wants_snapshot(d->state, hs_controller_changes(d->controller)))
		rc = begin_snapshot(d, &err) < 0 ? -EIO : -EAGAIN;
	else
		return;
	if (rc == -EAGAIN)
		return;
	if (rc < 0)
		hs_service_say_error(&d->service, &err);
	hs_controller_snapshot_free(d->snapshot);
	d->snapshot = NULL;
}

static int wait_ms(const struct daemon *d, bool more)
{
	int64_t left_ns = hs_controller_next_ns(d->controller) - hs_os_clock_wall_ns();

	if (more || left_ns <= 0)
		return 0;
	if (left_ns > LONGEST_WAIT_MS * INT64_C(1000000))
		return LONGEST_WAIT_MS;
	return (int)(left_ns / 1000000) + 1;
}

// Tells the controller by how much the clock was set since the last call.
static void follow_clock(struct daemon *d)
{
	int64_t before_ns = hs_os_clock_ns(CLOCK_MONOTONIC), wall_ns = hs_os_clock_wall_ns(),
		after_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	int64_t by_ns = wall_ns - after_ns - d->clock_offset_ns;

	if (llabs(by_ns) < LEAST_STEP_NS + after_ns - before_ns)
		return;
	if (d->clock_offset_ns)
		hs_controller_clock_step(d->controller, wall_ns, by_ns);
	d->clock_offset_ns += by_ns;
}

static void serve(void *context)
{
	struct daemon *d = context;
	struct pollfd fds[4 + HS_CONTROLLER_MAX_LISTEN + HS_CONTROLLER_MAX_CAPTURES] = {
			{.fd = d->service.signal_fd, .events = POLLIN},
			{.fd = hs_controller_connections_fd(d->links), .events = POLLIN},
	};
	unsigned n = 2 + controller_label_udp_fds(d->label, fds + 2);
	n += controller_label_capture_fds(d->capture, fds + n);
	n += controller_probing_socket_fds(d->probing, fds + n);
	bool more = true;

	if (d->scrape)
		fds[n++] = (struct pollfd){.fd = hs_scrape_fd(d->scrape), .events = POLLIN};

	hs_scrape_set_ready(d->scrape, NULL);

	for (;;) {
		bool asked = hs_bus_poll(d->bus, wait_ms(d, more), fds, n);
		follow_clock(d);
		if (asked)
			take_requests(d);
		if ((fds[0].revents & POLLIN) && hs_service_ends(&d->service))
			return;
		more = controller_label_udp_take(d->label, d->controller);
		more |= controller_label_capture_take(d->capture, d->controller);
		more |= controller_probing_socket_take(d->probing, d->controller);
		more |= hs_controller_connections_take(d->links, d->controller);
		int64_t steady_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
		hs_key_watch_look(&d->key_watch, d->bus, steady_ns, hs_controller_event,
				d->controller);
		hs_scrape_serve(d->scrape, steady_ns);
		follow_clock(d);
		hs_controller_step(d->controller, hs_os_clock_wall_ns());
		controller_influx_step(&d->influx, d->controller, hs_os_clock_wall_ns());
		look_at_state(d);
	}
}

// ---- all of it ----

void hs_controller_daemon_check(const struct hs_controller_config *config, struct hs_errors *errors)
{
	hs_controller_connections_check(config, errors);
}

static void say_ready(void *context)
{
	const struct hs_controller_config *config = ((struct daemon *)context)->config;

	hs_log(HS_LOG_NOTICE, "controller", "ready: '%s', %u nodes, api %s", config->name,
			config->n_nodes, config->bind.n ? config->bind.text[0] : "none");
}

int hs_controller_daemon_run(const struct hs_controller_config *config)
{
	struct daemon d = {.config = config};
	struct hs_error err = {0};

	// The daemon starts with the access that its files and sockets need. None of that is a
	// capability.
	d.service = (struct hs_service){.program = "hopsight-controller",
			.module = "controller",
			.sandbox = config->sandbox,
			.privileges = binds_low_port(config) || listens_low(&config->label)
						      ? HS_PRIVILEGE(CAP_NET_BIND_SERVICE)
						      : 0,
			.open = open_all,
			.ready = say_ready,
			.serve = serve,
			.close = close_all,
			.context = &d};
	// Packet sockets are open when capabilities are given up, so that none is kept for them.
	if (controller_label_capture_open(config, &d.capture, &err) < 0 ||
			controller_probing_socket_open(config, &d.probing, &err) < 0) {
		controller_label_capture_close(d.capture);
		hs_service_say_error(&d.service, &err);
		return HS_EXIT_FAILED;
	}
	return hs_service_run(&d.service);
}
