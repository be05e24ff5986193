// SPDX-License-Identifier: BSD-3-Clause
// What the files of this folder know about a port beyond port_types.h. Private to src/platform.
#pragma once

#include "error.h"
#include "port_types.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#define PORT_MAX_QUEUES 16

// The distance between data of different writing threads: two cache lines, which some machines
// fetch together.
#define PORT_APART 128

// Ethernet and two tags: the bytes that a frame may have beyond the MTU.
#define PORT_FRAME_OVERHEAD 22

struct port_private;

// The functions that move a port's packets. A driver is attached and detached as often as the
// device comes and goes.
struct port_driver {
	// Sets the port's bursts and capabilities. Returns 0, or a negative errno with *err.
	int (*attach)(struct hs_port *port, struct hs_error *err);
	void (*detach)(struct hs_port *port);
	// Returns the counts since attach.
	void (*stats)(struct hs_port *port, struct hs_port_device_stats *stats);
	bool (*link_up)(const struct hs_port *port);
	// Looks at the device about once a second while the link is up. NULL: there is nothing to
	// do.
	void (*look)(struct hs_port *port);
	// Returns whether the port waits for its peer. NULL: there is no peer to wait for.
	bool (*waits_for_peer)(const struct hs_port *port);
	int (*call_peer)(struct hs_port *port);
};

extern const struct port_driver port_ethdev_driver; // any DPDK device, by devargs or PCI address
extern const struct port_driver port_iface_driver;  // an interface; selects one of the two below
extern const struct port_driver port_packet_driver; // ... on packet sockets of our own
extern const struct port_driver port_xdp_driver;    // ... on DPDK's af_xdp

// The settings of an interface before they were changed; -1: not changed, so nothing has to be
// undone.
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
	unsigned index; // the kernel's index; 0 while the interface is gone
	uint16_t mtu;
	bool up;
	int promiscuous_fd; // a packet socket whose membership ends with it
	int claim_fd;	    // tells other nodes that the interface is taken
	struct iface_saved saved;
	struct iface_drops drops_before; // the kernel's counters at attach
	struct iface_drops drops;	 // since then, as last read
};

// For whom a port joins TCP packets to a frame.
enum port_joins {
	PORT_JOINS_NOTHING,
	PORT_JOINS_FOR_INTERFACE, // the interface gets the frame
	PORT_JOINS_FOR_KERNEL,	  // the kernel cuts the frame: the interface gets the packets
};

struct port_private {
	const struct port_driver *driver;
	struct rte_mempool *pool;
	uint16_t n_workers;
	bool attached;
	void *device; // data of the driver: queues, locks

	struct iface iface;
	const struct port_driver *iface_driver; // the selected driver
	_Atomic uint32_t max_frame; // the longest frame that the interface sends, without tags
	_Atomic bool link_up;
	_Atomic enum port_joins joins;
	_Atomic uint32_t join_bytes; // the most bytes of a frame of several packets
	// Readable when queue i has packets; -1: none. On a port with needs_timed_poll and without
	// interrupts, this is a bell.
	_Atomic int wake_fds[PORT_MAX_QUEUES];
	bool interrupts; // wake_fds are those of port_interrupt.c
	// The other end has rung the bell since the last packet that came without it.
	_Atomic bool rung;

	pthread_mutex_t stats_lock;
	struct hs_port_device_stats last;  // the device's last counters
	struct hs_port_device_stats total; // sums over re-opening
};

static inline struct port_private *port_private(const struct hs_port *port)
{
	return port->private_data;
}

// ---- port.c ----

// Installs bursts that receive and send nothing.
void port_silence(struct hs_port *port);
// Returns the key of hs_port_config.device in a configuration: "iface", "devargs" or "pci".
const char *port_device_key(const struct hs_port *port);
// Sets the interface's link state for hs_port_link_up and for workers.
void port_set_link(struct hs_port *port, bool up);
// Adapts the port's limit to the interface's present MTU.
void port_follow_mtu(struct hs_port *port, uint32_t mtu);

// ---- iface_offloads.c ----

// Adapts what the port sends at once to the interface's present offloads.
void port_follow_offloads(struct hs_port *port);

// ---- port_packet.c ----

// Sets whether packets bypass the interface's queueing discipline. Without the bypass, the kernel
// cuts frames that the interface does not take. Only for a port of port_packet_driver.
void port_packet_bypass(struct hs_port *port, bool on);

uint16_t port_packet_mbuf_bytes(uint16_t mtu);

// ---- port_ethdev.c ----

uint16_t port_xdp_mbuf_bytes(uint16_t mtu);
// Probes and starts the device of these devargs. For port_ethdev_driver and port_xdp_driver.
int port_ethdev_open(struct hs_port *port, const char *devargs, struct hs_error *err);

// ---- port_interrupt.c ----

// Returns whether to set up a device of this driver with receive interrupts.
bool port_interrupt_suits(const struct hs_port *port, const char *driver_name);
// Makes packets of a started device wake sleeping workers, if its driver can.
void port_interrupt_open(struct hs_port *port);
void port_interrupt_close(struct hs_port *port);
// The first function switches the interrupt of a queue on before the last round ahead of a sleep,
// and the second switches it off after the sleep. The worker of the queue calls them.
void port_interrupt_arm(struct hs_port *port, uint16_t queue);
void port_interrupt_quiet(struct hs_port *port, uint16_t queue);

// ---- port_memif.c ----

bool port_is_memif(const struct hs_port *port);
bool port_memif_is_client(const char *devargs);
// Creates the directory of a server's socket, and removes the file that a killed server left.
void port_memif_prepare(const char *devargs);
// Calls rte_dev_probe. The socket of a memif server gets mode 0660 with any umask.
int port_memif_probe(const char *devargs);

// ---- port_iface.c: an interface in the kernel ----

// Does an ioctl on a socket of its own. Returns 0 or a negative errno.
struct ifreq;
int iface_ioctl(const char *name, unsigned long request, struct ifreq *ifr);
int iface_ethtool(const char *name, void *command);
// Returns whether flags of rtnetlink mean that packets can pass.
bool iface_flags_say_up(unsigned flags);
// Fills index, mtu and up by name. Returns 0 or -ENODEV.
int iface_find(struct iface *iface);

// ---- iface_settings.c: what is changed on an interface ----

// Prepares the interface for switching. Logs each setting that cannot be changed, which is no
// error.
void iface_prepare(struct iface *iface);
// Ensures that tags stay in the packets that af_xdp sees.
void iface_keep_tags(struct iface *iface);
// Undoes what iface_prepare did. The interface may be gone.
void iface_restore(struct iface *iface);

// ---- iface_kept.c: the original settings, in a file that outlives a killed node ----

// Reads the original settings. Returns false if there is no file for this interface.
bool iface_kept_read(const struct iface *iface, struct iface_saved *saved);
// Writes iface->saved to the file. Logs a failure, which is no error.
void iface_kept_write(const struct iface *iface);
void iface_kept_remove(const struct iface *iface);

// ---- port_iface.c again ----

// Returns the number of receive channels that deliver packets, or 1 if the driver does not report
// the number.
unsigned iface_rx_channels(const struct iface *iface);
// Returns the packets that the kernel received and did not deliver, or took and did not send, since
// attach. If the interface is gone, returns the last known numbers.
struct iface_drops iface_drops(struct iface *iface);
// The frames of several packets that an interface takes.
struct iface_gso {
	uint32_t bytes; // of a frame that the interface gets whole, at most; 0: too few
	bool queue;	// the interface has a queueing discipline
	bool up;	// packets can pass
};
struct iface_gso iface_gso(const struct iface *iface);

// Lists the open descriptors, so that those that a driver opens later can be found.
struct fd_list;
struct fd_list *fd_list_take(void);
// Returns the XDP sockets that were not open then, in ascending order, and how many. Frees the
// list.
unsigned fd_list_new_xdp_sockets(struct fd_list *before, int *fds, unsigned max);
