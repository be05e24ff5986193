// SPDX-License-Identifier: BSD-3-Clause
// What the files of this folder know of a port beyond port.h. Not for users of the folder.
#pragma once

#include "port.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include <rte_ethdev.h>
#include <rte_spinlock.h>

#define PORT_MAX_QUEUES 16

// Ethernet, two tags. What a frame may have beyond the MTU.
#define PORT_FRAME_OVERHEAD 22

// What was found on an interface before it was changed; -1: not changed, nothing to undo.
struct iface_saved {
	int disable_ipv6;
	int gro, lro, rx_vlan;
	int was_down;
};

struct iface {
	char name[16];
	unsigned index; // the kernel's; 0 while the interface is gone
	uint16_t mtu;
	bool up;
	int promiscuous_fd; // a packet socket whose membership ends with it
	struct iface_saved saved;
};

// One worker's side of transmission: counters that it alone writes.
struct port_tx {
	alignas(64) _Atomic uint64_t oversize; // longer than the interface takes: freed and counted
};

struct port_private {
	struct rte_mempool *pool;
	uint16_t n_workers;
	bool attached; // a device is behind the port
	uint16_t device_tx_queues;
	rte_spinlock_t tx_locks[PORT_MAX_QUEUES];
	struct port_tx tx[HS_MAX_WORKERS];
	_Atomic uint32_t max_frame; // UINT32_MAX: no limit known

	struct iface iface;
	_Atomic bool link_up;
	_Atomic int wake_fds[PORT_MAX_QUEUES]; // readable when queue i has packets; -1: none
	int oversize_fd; // counts frames that were too long to be received, or -1

	pthread_mutex_t stats_lock;
	struct hs_port_device_stats device_last; // as the device said them last
	struct hs_port_device_stats total;	 // grows over re-opening
	uint64_t kernel_dropped_last;
};

static inline struct port_private *port_private(const struct hs_port *port)
{
	return port->private_data;
}

// ---- port.c ----

// The interface's MTU has changed: the port's limit follows.
void port_follow_mtu(struct hs_port *port, uint32_t mtu);

// ---- port_iface.c: an interface as the kernel has it ----

// Fills index, mtu and up by name. 0 or -ENODEV.
int iface_find(struct iface *iface);
// Makes the interface fit to be switched through; what cannot be changed is said, not fatal.
void iface_prepare(struct iface *iface);
// Undoes what iface_prepare did. The interface may be gone.
void iface_restore(struct iface *iface);
// Receive channels that deliver packets, 1 where the driver does not say.
unsigned iface_rx_channels(const struct iface *iface);
// Packets that the kernel took for this interface and did not send. 0 if it is gone.
uint64_t iface_tx_dropped(const struct iface *iface);

// Remembers which descriptors are open, to tell afterwards what a driver opened.
struct fd_set_snapshot;
struct fd_set_snapshot *fd_snapshot_take(void);
// Sockets of this family and interface that were not open then, ascending; returns how many. Frees
// the snapshot.
unsigned fd_snapshot_new_sockets(struct fd_set_snapshot *before, int family, unsigned ifindex,
		int *fds, unsigned max);

// Sets up an af_packet device's sockets: no outgoing packets, nothing longer than a frame holds.
void packet_sockets_setup(struct hs_port *port, unsigned max_frame);
// Takes the overruns of the sockets' rings since the last call.
uint64_t packet_sockets_drops(struct hs_port *port);
// Takes the number of frames since the last call that were too long to be received.
uint64_t packet_oversize_count(struct hs_port *port);
