// SPDX-License-Identifier: BSD-3-Clause
// The privileges and system calls that a node gives up before it communicates with anybody
// (docs/security.md has the reasons).
#include "daemon_parts.h"

#include "port_needs.h"
#include "privileges.h"
#include "syscall_filter.h"

#include <linux/capability.h>

void hs_daemon_set_needs(struct hs_daemon *d)
{
	const struct hs_config *c = d->config;
	struct hs_port_needs all = {0, HS_SYSCALLS_NODE};

	for (unsigned i = 0; i < c->n_ports; i++)
		hs_port_needs_add(&all, &c->ports[i]);
	if (d->eal.argc > 0)
		hs_port_needs_add_all(&all);
	if (hs_scheduling_needs_privilege(&c->worker_scheduling))
		all.privileges |= HS_PRIVILEGE(CAP_SYS_NICE);
	if (hs_endpoints_any(&c->bind, hs_privileges_low_port) ||
			hs_endpoints_any(&c->publish_bind, hs_privileges_low_port) ||
			hs_scrape_low_port(&c->prometheus))
		all.privileges |= HS_PRIVILEGE(CAP_NET_BIND_SERVICE);
	d->service.privileges = all.privileges;
	d->service.syscalls = all.syscalls;
}

static json_t *privileges_json(void)
{
	uint64_t held = hs_privileges_held();
	json_t *list = json_array();

	for (unsigned cap = 0; hs_privilege_name(cap); cap++) {
		if (held & HS_PRIVILEGE(cap))
			json_array_append_new(list, json_string(hs_privilege_name(cap)));
	}
	return list;
}

void hs_daemon_show_sandbox(struct hs_daemon *d)
{
	json_object_set_new(d->settings, "sandbox",
			json_pack("{s:b, s:b, s:o}", "enabled", d->config->sandbox, "filtered",
					d->service.filtered, "capabilities", privileges_json()));
}
