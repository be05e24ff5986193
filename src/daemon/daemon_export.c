// SPDX-License-Identifier: BSD-3-Clause
// Sockets for the telemetry reports that control sends.
#include "daemon_parts.h"

#include "ip_address.h"
#include "log.h"
#include "os_clock.h"

#include <string.h>

static void open_one(struct hs_export_socket *socket, const struct hs_export_config *config)
{
	char to[HS_IP_PORT_TEXT];
	int rc = hs_export_socket_open(socket, config, hs_os_clock_ns(CLOCK_MONOTONIC));

	hs_ip_port_write(&config->to, to);
	if (rc < 0)
		hs_log(HS_LOG_WARNING, "daemon",
				"telemetry reports cannot be sent to %s yet: %s; trying again", to,
				strerror(-rc));
	else
		hs_log(HS_LOG_INFO, "daemon", "a socket sends telemetry reports to %s", to);
}

void hs_daemon_open_exports(struct hs_daemon *d)
{
	const struct hs_node_config *node = &d->config->node;

	for (unsigned i = 0; i < node->n_exports; i++) {
		if (node->exports[i].port == HS_EXPORT_NO_PORT)
			open_one(&d->export_sockets[i], &node->exports[i]);
	}
}

void hs_daemon_close_exports(struct hs_daemon *d)
{
	for (unsigned i = 0; i < d->config->node.n_exports; i++)
		hs_export_socket_close(&d->export_sockets[i]);
}

int hs_daemon_send_export(void *context, unsigned receiver, const uint8_t *datagram, size_t bytes)
{
	struct hs_daemon *d = context;

	return hs_export_socket_send(&d->export_sockets[receiver], hs_os_clock_ns(CLOCK_MONOTONIC),
			datagram, bytes);
}
