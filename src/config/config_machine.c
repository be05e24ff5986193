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

static void look_at_ports(const struct hs_config *config, enum hs_port_kind kind, const char *key,
		void (*look)(const char *device, const char *path, struct hs_errors *lacks),
		struct hs_errors *lacks)
{
	char at[48];

	for (unsigned i = 0; i < config->n_ports; i++) {
		snprintf(at, sizeof(at), "ports[%u].%s", i, key);
		if (config->ports[i].kind == kind)
			look(config->ports[i].device, at, lacks);
	}
}

static void look_at_interfaces(const struct hs_config *config, struct hs_errors *lacks)
{
	look_at_ports(config, HS_PORT_IFACE, "iface", hs_machine_iface, lacks);
}

int hs_config_find_interfaces(
		const struct hs_config *config, const char *module, struct hs_error *err)
{
	struct hs_errors lacks = {0};
	char text[HS_ERROR_TEXT];

	look_at_interfaces(config, &lacks);
	if (lacks.n == 0)
		return 0;
	unsigned last = (lacks.n < HS_ERRORS_MOST ? lacks.n : HS_ERRORS_MOST) - 1;
	for (unsigned i = 0; i < last; i++)
		hs_log(HS_LOG_ERROR, module, "%s", hs_error_text(&lacks.list[i], text));
	*err = lacks.list[last];
	return -ENODEV;
}

void hs_config_lacks(const struct hs_config *config, struct hs_errors *lacks)
{
	look_at_interfaces(config, lacks);
	look_at_ports(config, HS_PORT_PCI, "pci", hs_machine_pci, lacks);
	look_at_endpoints(&config->bind, "control.bind", lacks);
	look_at_endpoints(&config->publish_bind, "control.publish_bind", lacks);
	if (config->state_file[0])
		hs_machine_folder(config->state_file, false, "state.file", lacks);
}
