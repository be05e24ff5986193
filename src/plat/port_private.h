// SPDX-License-Identifier: BSD-3-Clause
// What the files of this folder know of a port beyond port.h. Not for users of the folder.
#pragma once

#include "port.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#define PORT_MAX_QUEUES 16

// Bytes between what different threads write: two cache lines, which some machines fetch together.
#define PORT_APART 128

// Ethernet and two tags: what a frame may have beyond the MTU.
#define PORT_FRAME_OVERHEAD 22

struct port_private;

// What moves a port's packets. Attached and detached as often as the device comes and goes.
struct port_driver {
	// Sets the port's bursts and capabilities. 0 or negative errno with *err.
	int (*attach)(struct hs_port *port, struct hs_error *err);
	void (*detach)(struct hs_port *port);
	// Counts since attach.
	void (*stats)(struct hs_port *port, struct hs_port_device_stats *stats);
	bool (*link_up)(const struct hs_port *port);
	// NULL: nobody to wait for.
	bool (*waits_for_peer)(const struct hs_port *port);
	int (*call_peer)(struct hs_port *port);
};

extern const struct port_driver port_ethdev_driver; // any DPDK device, by devargs or PCI address
extern const struct port_driver port_iface_driver;  // an interface; picks one of the two below
extern const struct port_driver port_packet_driver; // ... on packet sockets of our own
extern const struct port_driver port_xdp_driver;    // ... on DPDK's af_xdp

// What was found on an interface before it was changed; -1: not changed, nothing to undo.
struct iface_saved {
	int disable_ipv6;
	int gro, lro, rx_vlan;
	int was_down;
};

struct iface_drops {
	uint64_t rx, tx;
};

struct iface {
	char name[16];
	unsigned index; // the kernel's; 0 while the interface is gone
	uint16_t mtu;
	bool up;
	int promiscuous_fd; // a packet socket whose membership ends with it
	int claim_fd;	    // says to other nodes that the interface is taken
	struct iface_saved saved;
	struct iface_drops drops_before; // the kernel's counters at attachment
};

struct port_private {
	const struct port_driver *driver;
	struct rte_mempool *pool;
	uint16_t n_workers;
	bool attached;
	void *device; // the driver's own: queues, locks

	struct iface iface;
	const struct port_driver *iface_driver; // the one that was picked
	_Atomic uint32_t max_frame;		// the longest that the interface sends, tag apart
	_Atomic bool link_up;
	_Atomic int wake_fds[PORT_MAX_QUEUES]; // readable when queue i has packets; -1: none

	pthread_mutex_t stats_lock;
	struct hs_port_device_stats last;  // as the device said them last
	struct hs_port_device_stats total; // grows over re-opening
};

static inline struct port_private *port_private(const struct hs_port *port)
{
	return port->private_data;
}

// ---- port.c ----

// Bursts that receive and send nothing.
void port_silence(struct hs_port *port);
// The key of hs_port_config.device in a configuration: "iface", "devargs" or "pci".
const char *port_device_key(const struct hs_port *port);
// The interface's link: for hs_port_link_up and for workers.
void port_set_link(struct hs_port *port, bool up);
// The interface's MTU is this now: the port's limit follows.
void port_follow_mtu(struct hs_port *port, uint32_t mtu);

// ---- port_packet.c ----

uint16_t port_packet_mbuf_bytes(uint16_t mtu);

// ---- port_ethdev.c ----

#define PORT_XDP_MTU_MAX 3500
uint16_t port_xdp_mbuf_bytes(uint16_t mtu);
// Probes and starts what these devargs name. For port_ethdev_driver and port_xdp_driver.
int port_ethdev_open(struct hs_port *port, const char *devargs, struct hs_error *err);

// ---- port_memif.c ----

bool port_memif_is_client(const char *devargs);
// Makes the directory of a server's socket, and removes the file that a killed server left.
void port_memif_prepare(const char *devargs);
// rte_dev_probe; the socket of a memif server has mode 0660, whatever the umask is.
int port_memif_probe(const char *devargs);

// ---- port_iface.c: an interface as the kernel has it ----

// On a socket of their own. 0 or a negative errno.
struct ifreq;
int iface_ioctl(const char *name, unsigned long request, struct ifreq *ifr);
int iface_ethtool(const char *name, void *command);
// Whether flags of rtnetlink say that packets can pass.
bool iface_flags_say_up(unsigned flags);
// Fills index, mtu and up by name. 0 or -ENODEV.
int iface_find(struct iface *iface);

// ---- iface_settings.c: what is changed on an interface ----

// Makes the interface fit to be switched through; what cannot be changed is said, not fatal.
void iface_prepare(struct iface *iface);
// Takes care that tags stay in the packets that af_xdp sees.
void iface_keep_tags(struct iface *iface);
// Undoes what iface_prepare did. The interface may be gone.
void iface_restore(struct iface *iface);

// ---- iface_kept.c: what it was before, in a file that outlives a node that is killed ----

// False where there is none of this interface.
bool iface_kept_read(const struct iface *iface, struct iface_saved *saved);
// What iface->saved has. Where that fails it is said, not fatal.
void iface_kept_write(const struct iface *iface);
void iface_kept_remove(const struct iface *iface);

// ---- port_iface.c again ----

// Receive channels that deliver packets, 1 where the driver does not say.
unsigned iface_rx_channels(const struct iface *iface);
// Packets that the kernel received and did not deliver, or took and did not send. 0 if it is gone.
struct iface_drops iface_drops(const struct iface *iface);

// Which descriptors are open: to tell afterwards which of them a driver opened.
struct fd_list;
struct fd_list *fd_list_take(void);
// XDP sockets that were not open then, ascending; returns how many. Frees the list.
unsigned fd_list_new_xdp_sockets(struct fd_list *before, int *fds, unsigned max);
