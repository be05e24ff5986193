// SPDX-License-Identifier: BSD-3-Clause
// What a node gives up before it communicates with anybody (docs/security.md has the reasons).
#include "daemon_parts.h"

#include "privileges.h"
#include "syscall_filter.h"

#include <linux/capability.h>

#include <string.h>

#define PACKETS (HS_PRIVILEGE(CAP_NET_RAW) | HS_PRIVILEGE(CAP_NET_ADMIN))
// Programs and maps, pinned memory, and the limit of pinned memory (libbpf raises it).
#define XDP                                                                                        \
	(PACKETS | HS_PRIVILEGE(CAP_BPF) | HS_PRIVILEGE(CAP_IPC_LOCK) |                            \
			HS_PRIVILEGE(CAP_SYS_RESOURCE))
// Physical addresses, I/O ports and pinned memory, and drivers that use the kernel's.
#define DEVICES                                                                                    \
	(PACKETS | HS_PRIVILEGE(CAP_SYS_ADMIN) | HS_PRIVILEGE(CAP_SYS_RAWIO) |                     \
			HS_PRIVILEGE(CAP_IPC_LOCK))

struct needs {
	uint64_t privileges;
	unsigned groups;
};

static const struct {
	const char *prefix;
	struct needs needs;
} virtual_devices[] = {
		{"net_memif", {0}},
		{"net_ring", {0}},
		{"net_null", {0}},
		{"net_vhost", {0}},
		{"net_pcap", {PACKETS, HS_SYSCALLS_PACKETS}}, // not all of them are files
		{"net_tap", {PACKETS, HS_SYSCALLS_PACKETS}},
		{"net_af_packet", {PACKETS, HS_SYSCALLS_PACKETS}},
		{"net_af_xdp", {XDP, HS_SYSCALLS_XDP}},
};
#define N_VIRTUAL (sizeof(virtual_devices) / sizeof(virtual_devices[0]))

static bool pcap_is_file(const char *devargs)
{
	return strstr(devargs, "iface=") == NULL;
}

static struct needs device_needs(const char *devargs)
{
	if (strncmp(devargs, "net_pcap", 8) == 0 && pcap_is_file(devargs))
		return (struct needs){0};
	for (size_t i = 0; i < N_VIRTUAL; i++) {
		const char *prefix = virtual_devices[i].prefix;
		if (strncmp(devargs, prefix, strlen(prefix)) == 0)
			return virtual_devices[i].needs;
	}
	return (struct needs){DEVICES, HS_SYSCALLS_DEVICES};
}

static struct needs port_needs(const struct hs_port_config *port)
{
	switch (port->kind) {
	case HS_PORT_IFACE:
		return strcmp(port->driver, "af_xdp") == 0
				       ? (struct needs){XDP, HS_SYSCALLS_XDP}
				       : (struct needs){PACKETS, HS_SYSCALLS_PACKETS};
	case HS_PORT_DEVARGS:
		return device_needs(port->device);
	default:
		return (struct needs){DEVICES, HS_SYSCALLS_DEVICES};
	}
}

void hs_daemon_set_needs(struct hs_daemon *d)
{
	const struct hs_config *c = d->config;
	struct needs all = {0, HS_SYSCALLS_NODE};

	for (unsigned i = 0; i < c->n_ports; i++) {
		struct needs one = port_needs(&c->ports[i]);
		all.privileges |= one.privileges;
		all.groups |= one.groups;
	}
	if (d->eal.argc > 0) { // words for EAL may name any device
		all.privileges |= DEVICES;
		all.groups |= HS_SYSCALLS_DEVICES;
	}
	if (hs_endpoints_any(&c->bind, hs_privileges_low_port) ||
			hs_endpoints_any(&c->publish_bind, hs_privileges_low_port) ||
			hs_scrape_low_port(&c->prometheus))
		all.privileges |= HS_PRIVILEGE(CAP_NET_BIND_SERVICE);
	d->service.privileges = all.privileges;
	d->service.syscalls = all.groups;
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
