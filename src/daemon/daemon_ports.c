// SPDX-License-Identifier: BSD-3-Clause
// Ports that come and go while the node runs.
#include "daemon_parts.h"

#include "log.h"
#include "os_clock.h"

#define RETRY_NS INT64_C(1000000000)

static void set_usable(struct hs_port *port, bool usable)
{
	__atomic_store_n(&port->usable, usable, __ATOMIC_RELEASE);
}

static json_t *port_details(const struct hs_port *port)
{
	return json_pack("{s:s}", "port", port->config.name);
}

static void port_gone(struct hs_daemon *d, struct hs_port *port)
{
	d->coming[port->index] = false;
	set_usable(port, false);
	hs_node_synchronise(d->node);
	for (unsigned i = 0; i < d->config->node.n_workers; i++)
		hs_worker_thread_remove_port(&d->workers[i], port);
	hs_port_detach(port);
	hs_log(HS_LOG_WARNING, "daemon", "port '%s': its interface is gone; going on without it",
			port->config.name);
	hs_control_event(hs_control_events(d->control), "port_gone", port_details(port),
			"port \"%s\": its interface is gone", port->config.name);
}

static void try_again(struct hs_daemon *d, struct hs_port *port)
{
	struct hs_error err = {0};
	int rc = hs_port_reopen(port, &err);
	for (unsigned i = 0; rc == 0 && i < d->config->node.n_workers; i++)
		rc = hs_worker_thread_add_port(&d->workers[i], port);
	d->coming[port->index] = rc < 0;
	if (rc < 0) {
		d->retry_ns = hs_os_clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
		hs_log(HS_LOG_INFO, "daemon", "port '%s' cannot be opened yet: %s",
				port->config.name, err.message);
		return;
	}
	hs_node_renew_address(d->node, port);
	set_usable(port, true);
	hs_log(HS_LOG_NOTICE, "daemon", "port '%s' is back", port->config.name);
	hs_control_event(hs_control_events(d->control), "port_back", port_details(port),
			"port \"%s\" is back", port->config.name);
}

void hs_daemon_on_port_event(void *context, struct hs_port *port, enum hs_port_event event)
{
	struct hs_daemon *d = context;

	switch (event) {
	case HS_PORT_GONE:
		port_gone(d, port);
		return;
	case HS_PORT_BACK:
		try_again(d, port);
		return;
	case HS_PORT_UP:
		hs_control_event(hs_control_events(d->control), "port_up", port_details(port),
				"port \"%s\": link is up", port->config.name);
		return;
	case HS_PORT_DOWN:
		hs_control_event(hs_control_events(d->control), "port_down", port_details(port),
				"port \"%s\": link is down", port->config.name);
		return;
	}
}

void hs_daemon_retry_ports(struct hs_daemon *d, int64_t now_ns)
{
	for (unsigned i = 0; i < d->config->n_ports; i++) {
		if (d->coming[i] && now_ns >= d->retry_ns)
			try_again(d, d->ports[i]);
	}
}

// Makes a memif client without a server connect again.
static void call_peer(struct hs_daemon *d, struct hs_port *port)
{
	hs_node_pause(d->node);
	hs_port_call_peer(port);
	hs_node_resume(d->node);
}

static void look_at_device(struct hs_daemon *d, struct hs_port *port)
{
	bool up = hs_port_look(port);

	if (up != d->link_up[port->index])
		hs_daemon_on_port_event(d, port, up ? HS_PORT_UP : HS_PORT_DOWN);
	d->link_up[port->index] = up;
	if (!up && hs_port_waits_for_peer(port))
		call_peer(d, port);
}

void hs_daemon_look_at_devices(struct hs_daemon *d, int64_t now_ns)
{
	if (now_ns < d->look_ns)
		return;
	d->look_ns = now_ns + RETRY_NS;
	for (unsigned i = 0; i < d->config->n_ports; i++) {
		if (d->config->ports[i].kind != HS_PORT_IFACE)
			look_at_device(d, d->ports[i]);
	}
}
