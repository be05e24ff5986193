// SPDX-License-Identifier: BSD-3-Clause
// Finds what a configuration names and this machine does not have.
#include "config.h"

#include "machine.h"

#include <stdio.h>

static void look_at_endpoints(
		const struct hs_endpoints *endpoints, const char *path, struct hs_errors *lacks)
{
	const char *list[HS_MAX_ENDPOINTS];

	hs_machine_endpoints(list, hs_endpoints_point(endpoints, list), path, lacks);
}

void hs_config_lacks(const struct hs_config *config, struct hs_errors *lacks)
{
	for (unsigned i = 0; i < config->n_ports; i++) {
		const struct hs_port_config *port = &config->ports[i];
		char at[48];
		snprintf(at, sizeof(at), "ports[%u].%s", i,
				port->kind == HS_PORT_PCI ? "pci" : "iface");
		if (port->kind == HS_PORT_IFACE)
			hs_machine_iface(port->device, at, lacks);
		if (port->kind == HS_PORT_PCI)
			hs_machine_pci(port->device, at, lacks);
	}
	look_at_endpoints(&config->bind, "control.bind", lacks);
	look_at_endpoints(&config->publish_bind, "control.publish_bind", lacks);
	if (config->state_file[0])
		hs_machine_folder(config->state_file, false, "state.file", lacks);
}
