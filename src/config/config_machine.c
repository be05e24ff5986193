// SPDX-License-Identifier: BSD-3-Clause
// Finds what a configuration names and this machine does not have.
#include "config.h"

#include "log.h"
#include "machine.h"

#include <errno.h>
#include <stdio.h>

static void look_at_endpoints(
		const struct hs_endpoints *endpoints, const char *path, struct hs_errors *lacks)
{
	const char *list[HS_MAX_ENDPOINTS];

	hs_machine_endpoints(list, hs_endpoints_point(endpoints, list), path, lacks);
}

static void look_at_port(const struct hs_config *config, unsigned index, struct hs_errors *lacks)
{
	const struct hs_port_config *port = &config->ports[index];
	char at[48];

	snprintf(at, sizeof(at), "ports[%u].%s", index,
			port->kind == HS_PORT_PCI ? "pci" : "iface");
	if (port->kind == HS_PORT_IFACE)
		hs_machine_iface(port->device, at, lacks);
	if (port->kind == HS_PORT_PCI)
		hs_machine_pci(port->device, at, lacks);
}

int hs_config_find_interfaces(
		const struct hs_config *config, const char *module, struct hs_error *err)
{
	struct hs_errors lacks; // of one port: a list of all ports may have no room for some
	char text[HS_ERROR_TEXT];
	int rc = 0;

	for (unsigned i = 0; i < config->n_ports; i++) {
		lacks.n = 0;
		if (config->ports[i].kind == HS_PORT_IFACE)
			look_at_port(config, i, &lacks);
		if (lacks.n == 0)
			continue;
		if (rc < 0)
			hs_log(HS_LOG_ERROR, module, "%s", hs_error_text(err, text));
		*err = lacks.list[0];
		rc = -ENODEV;
	}
	return rc;
}

void hs_config_lacks(const struct hs_config *config, struct hs_errors *lacks)
{
	for (unsigned i = 0; i < config->n_ports; i++)
		look_at_port(config, i, lacks);
	look_at_endpoints(&config->bind, "control.bind", lacks);
	look_at_endpoints(&config->publish_bind, "control.publish_bind", lacks);
	if (config->state_file[0])
		hs_machine_folder(config->state_file, false, "state.file", lacks);
}
