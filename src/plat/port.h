// SPDX-License-Identifier: BSD-3-Clause
// A port: where packets come and go. The data path sees rx_burst and tx_burst (one indirect call
// per burst); behind them is a DPDK ethdev or, in the lab, an in-process link.
//
// Thread rule: rx_burst and tx_burst by the worker that owns the queue; counters are readable by
// any; the rest control.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

#define HS_PORT_NAME_MAX 32
#define HS_MAX_PORTS	 32 // DPDK's compiled-in limit for one process
#define HS_MAX_WORKERS	 16
#define HS_BURST	 32

// Limits of hs_port_config.mtu: IPv6's minimum, and the largest that network cards commonly take.
#define HS_PORT_MTU_DEFAULT 1500
#define HS_PORT_MTU_MIN	    1280
#define HS_PORT_MTU_MAX	    9216

enum hs_port_side {
	HS_SIDE_HOST,	 // outside the telemetry domain: hostile
	HS_SIDE_NETWORK, // inside
};

enum hs_port_kind {
	HS_PORT_IFACE,	 // a kernel interface by name, on packet sockets or af_xdp
	HS_PORT_DEVARGS, // any DPDK virtual device
	HS_PORT_PCI,
	HS_PORT_CUSTOM, // in-process (lab, tests): ops given by the maker
};

struct hs_port_config {
	char name[HS_PORT_NAME_MAX];
	enum hs_port_kind kind;
	enum hs_port_side side;
	char device[256];   // interface name, devargs or PCI address
	char driver[16];    // iface only: "" (packet sockets), "af_packet" or "af_xdp"
	uint16_t mtu;	    // the node's own limit for IPv6 packets, default 1500
	uint16_t rx_queues; // default 1
};

struct hs_port;

// Receives or sends up to n mbufs on a queue; returns how many. Sent mbufs are the port's, the
// rest stay the caller's.
typedef uint16_t (*hs_port_rx_fn)(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
typedef uint16_t (*hs_port_tx_fn)(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);

struct hs_port {
	hs_port_rx_fn rx_burst;
	hs_port_tx_fn tx_burst;
	void *driver_data;     // of the kind: ethdev id, link, ...
	uint16_t ethdev_id;    // DPDK port id, RTE_MAX_ETHPORTS where it is no DPDK device
	uint16_t index;	       // in the node's list of ports
	uint16_t mtu;	       // of the configuration, or less where the interface itself has less
	uint16_t rx_queues;    // all of them must be polled
	uint16_t tx_queues;    // one for each worker (behind them may be fewer, under a lock)
	uint8_t mac[6];	       // of the interface or device; a custom port's maker sets it
	uint8_t side;	       // enum hs_port_side
	bool tx_multi_seg;     // takes chains; else the tx stage makes packets linear
	bool needs_timed_poll; // nothing wakes a sleeper: memif, ring, pcap
	bool usable;	       // control's word to workers (atomic): false while the device is gone
	bool link_down;	       // likewise: why a burst is refused, where it is
	struct hs_port_config config;
	char driver_name[24]; // "af_packet", "net_af_xdp", "net_memif", ...
	void *private_data;   // src/plat's own (rtnetlink state, saved settings, wake socket)
};

// What the device itself says; reset-free and monotonic over re-opening. rx_missed: lost for want
// of room in its ring; rx_errors: too long or broken; tx_errors: accepted by tx_burst, then not
// sent.
struct hs_port_device_stats {
	uint64_t rx_packets, tx_packets, rx_missed, rx_errors, tx_errors, rx_nombuf;
};

// Opens a port whose packets come from the maker's own functions (a link of the lab, a test): kind
// is HS_PORT_CUSTOM, takes chains, nothing wakes a sleeper. driver_data is the maker's; it and what
// it points to outlive the port.
int hs_port_open_custom(hs_port_rx_fn rx_burst, hs_port_tx_fn tx_burst, void *driver_data,
		const struct hs_port_config *config, uint16_t index, uint16_t n_workers,
		struct hs_port **port);

// Opens a port: prepares the interface (IPv6 off, GRO and LRO off, said in the log and undone by
// close), probes the device, sets up queues with this pool, starts it. n_workers transmit queues.
// 0, or -EINVAL/-ENODEV with *err (path relative to the port: "iface", "mtu").
int hs_port_open(const struct hs_port_config *config, uint16_t index, uint16_t n_workers,
		struct rte_mempool *pool, struct hs_port **port, struct hs_error *err);
// Accepts NULL. No worker may still use the port.
void hs_port_close(struct hs_port *port);

// Data room that mbufs need for this port (headroom included), from its MTU and driver. A pool
// that several ports share takes the largest.
uint16_t hs_port_mbuf_bytes(const struct hs_port_config *config);

void hs_port_device_stats(struct hs_port *port, struct hs_port_device_stats *stats);

// Operational state: interfaces from rtnetlink, others from the device.
bool hs_port_link_up(const struct hs_port *port);
// The same, said to workers as link_down. Interfaces say it themselves as the kernel tells; call
// it about once a second for other devices.
bool hs_port_look(struct hs_port *port);

// Whether the port's driver (net_memif) unmaps rings in DPDK's interrupt thread when the peer
// leaves, though a worker may be inside a burst on them: that thread is to be held, see
// interrupts.h.
bool hs_port_frees_rings(const struct hs_port *port);

// A port whose other end is not there and that must call it itself: a memif client whose server has
// not started, or has gone. Call about once a second, with no worker inside a burst: the interrupt
// thread runs meanwhile. 0: the other end answers, the link comes up in a moment.
bool hs_port_waits_for_peer(const struct hs_port *port);
int hs_port_call_peer(struct hs_port *port);
