// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the daemon share. For src/daemon only.
//
// Thread rule: the main thread.
#pragma once

#include "api_limits.h"
#include "config.h"
#include "control.h"
#include "daemon_influx.h"
#include "export_socket.h"
#include "key_watch.h"
#include "worker_thread.h"

#include "port_watch.h"

#include "scrape.h"
#include "service.h"

struct hs_daemon {
	const struct hs_config *config;
	struct hs_eal_config eal;
	struct hs_service service;
	bool eal_open;
	struct hs_clock *clock;
	struct rte_mempool *pool;
	struct hs_port *ports[HS_MAX_PORTS];
	struct hs_node *node;
	struct hs_bus *bus;
	struct hs_api_connection_limits limits; // of the sockets of `bus`
	struct hs_port_watch *watch;
	struct hs_dpdk_telemetry *telemetry;
	json_t *settings;
	struct hs_control *control;
	struct hs_worker_thread workers[HS_MAX_WORKERS];
	bool pdump;
	int cpu_latency_fd; // holds the demand of cpu_latency_us; -1: none
	// Interfaces that exist again and could not be opened yet.
	bool coming[HS_MAX_PORTS];
	int64_t retry_ns;	    // on the monotonic clock, as is look_ns
	bool link_up[HS_MAX_PORTS]; // of ports that the kernel does not report
	int64_t look_ns;
	struct hs_key_watch key_watch;
	struct daemon_influx influx;
	struct hs_export_socket export_sockets[HS_MAX_EXPORTS]; // of receivers without a port
	struct hs_scrape *scrape; // NULL: the metrics are not served over HTTP
	int64_t ready_ns;	  // next look at what /-/ready is to say
};

// Opens the sockets for telemetry reports. A socket that cannot be opened now is opened later.
void hs_daemon_open_exports(struct hs_daemon *d);
void hs_daemon_close_exports(struct hs_daemon *d);
// Sends a telemetry report: a hs_export_send_fn, whose `context` is the daemon.
int hs_daemon_send_export(void *context, unsigned receiver, const uint8_t *datagram, size_t bytes);

// Fills in the privileges and system calls that the node needs, above all for its ports.
void hs_daemon_set_needs(struct hs_daemon *d);
// Adds to the settings which privileges and system calls were dropped.
void hs_daemon_show_sandbox(struct hs_daemon *d);

// Open and serve the metrics of the node over HTTP, if the configuration says so. The second
// function returns when to call it again, on the monotonic clock.
int hs_daemon_open_scrape(struct hs_daemon *d, struct hs_error *err);
int64_t hs_daemon_serve_scrape(struct hs_daemon *d, int64_t now_ns);

// Handles an event of a port, which the kernel reported or a look at the device found. `context` is
// the daemon.
void hs_daemon_on_port_event(void *context, struct hs_port *port, enum hs_port_event event);
// Opens interfaces that exist again and could not be opened when they came. Times are those of the
// monotonic clock, which no administrator sets.
void hs_daemon_retry_ports(struct hs_daemon *d, int64_t now_ns);
// Checks once a second the devices whose changes the kernel does not report.
void hs_daemon_look_at_devices(struct hs_daemon *d, int64_t now_ns);
