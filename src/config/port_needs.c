// SPDX-License-Identifier: BSD-3-Clause
#include "port_needs.h"

#include "privileges.h"
#include "syscall_filter.h"

#include <linux/capability.h>

#include <string.h>

#define PACKETS (HS_PRIVILEGE(CAP_NET_RAW) | HS_PRIVILEGE(CAP_NET_ADMIN))
// Programs and maps, pinned memory, and the limit of pinned memory (libbpf raises it). CAP_BPF
// would not do: libxdp opens programs by their ids, which the kernel allows with CAP_SYS_ADMIN
// only.
#define XDP                                                                                        \
	(PACKETS | HS_PRIVILEGE(CAP_SYS_ADMIN) | HS_PRIVILEGE(CAP_IPC_LOCK) |                      \
			HS_PRIVILEGE(CAP_SYS_RESOURCE))
// Physical addresses, I/O ports and pinned memory, and drivers that use the kernel's.
#define DEVICES                                                                                    \
	(PACKETS | HS_PRIVILEGE(CAP_SYS_ADMIN) | HS_PRIVILEGE(CAP_SYS_RAWIO) |                     \
			HS_PRIVILEGE(CAP_IPC_LOCK))

static const struct {
	const char *prefix;
	struct hs_port_needs needs;
} virtual_devices[] = {
		{"net_memif", {0}},
		{"net_ring", {0}},
		{"net_null", {0}},
		{"net_vhost", {0}},
		{"net_pcap", {PACKETS, HS_SYSCALLS_PACKETS}}, // some capture from an interface, not
							      // from a file
		{"net_tap", {PACKETS, HS_SYSCALLS_PACKETS}},
		{"net_af_packet", {PACKETS, HS_SYSCALLS_PACKETS}},
		{"net_af_xdp", {XDP, HS_SYSCALLS_XDP}},
};
#define N_VIRTUAL (sizeof(virtual_devices) / sizeof(virtual_devices[0]))

static bool pcap_is_file(const char *devargs)
{
	return strstr(devargs, "iface=") == NULL;
}

static struct hs_port_needs device_needs(const char *devargs)
{
	if (strncmp(devargs, "net_pcap", 8) == 0 && pcap_is_file(devargs))
		return (struct hs_port_needs){0};
	for (size_t i = 0; i < N_VIRTUAL; i++) {
		const char *prefix = virtual_devices[i].prefix;
		if (strncmp(devargs, prefix, strlen(prefix)) == 0)
			return virtual_devices[i].needs;
	}
	return (struct hs_port_needs){DEVICES, HS_SYSCALLS_DEVICES};
}

static struct hs_port_needs needs_of(const struct hs_port_config *port)
{
	switch (port->kind) {
	case HS_PORT_IFACE:
		return strcmp(port->driver, "af_xdp") == 0
				       ? (struct hs_port_needs){XDP, HS_SYSCALLS_XDP}
				       : (struct hs_port_needs){PACKETS, HS_SYSCALLS_PACKETS};
	case HS_PORT_DEVARGS:
		return device_needs(port->device);
	default:
		return (struct hs_port_needs){DEVICES, HS_SYSCALLS_DEVICES};
	}
}

void hs_port_needs_add(struct hs_port_needs *needs, const struct hs_port_config *port)
{
	struct hs_port_needs one = needs_of(port);

	needs->privileges |= one.privileges;
	needs->syscalls |= one.syscalls;
}

void hs_port_needs_add_all(struct hs_port_needs *needs)
{
	needs->privileges |= DEVICES;
	needs->syscalls |= HS_SYSCALLS_DEVICES;
}
