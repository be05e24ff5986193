// SPDX-License-Identifier: BSD-3-Clause
// What a port is: where packets enter and leave. The data path sees rx_burst and tx_burst (one
// indirect call per burst). Behind them is a DPDK ethdev or, in the lab, an in-process link.
//
// Thread rule: rx_burst and tx_burst by the worker that owns the queue; counters are readable by
// any; the rest control.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

#define HS_PORT_NAME_MAX 32
#define HS_MAX_PORTS	 32 // DPDK's compiled-in limit for one process
#define HS_MAX_WORKERS	 16
#ifndef HS_BURST // the build has an option of it
#define HS_BURST 32
#endif

// Limits of hs_port_config.mtu: IPv6's minimum, and the largest value that network cards commonly
// support.
#define HS_PORT_MTU_DEFAULT 1500
#define HS_PORT_MTU_MIN	    1280
#define HS_PORT_MTU_MAX	    9216
// af_xdp: with a greater MTU, a buffer of the pool takes more than a page.
#define HS_PORT_XDP_MTU_MAX 3434

// Limits of hs_port_config.rate_bps and queue_packets.
#define HS_PORT_RATE_MIN  1000
#define HS_PORT_RATE_MAX  INT64_C(1000000000000)
#define HS_PORT_QUEUE_MAX 1000000

enum hs_port_side {
	HS_SIDE_HOST,	 // outside the telemetry domain: hostile
	HS_SIDE_NETWORK, // inside
};

enum hs_port_kind {
	HS_PORT_IFACE,	 // a kernel interface by name, on packet sockets or af_xdp
	HS_PORT_DEVARGS, // any DPDK virtual device
	HS_PORT_PCI,
	HS_PORT_CUSTOM, // in-process (lab, tests): the creator supplies the functions
};

struct hs_port_config {
	char name[HS_PORT_NAME_MAX];
	enum hs_port_kind kind;
	enum hs_port_side side;
	char profile[HS_PORT_NAME_MAX]; // the name of a telemetry profile; "": the node's
	char device[256];		// interface name, devargs or PCI address
	char driver[16];		// iface only: "" (packet sockets), "af_packet" or "af_xdp"
	uint16_t mtu;			// the node's own limit for IPv6 packets, default 1500
	uint16_t rx_queues;		// default 1
	uint32_t id;			// the port's id in telemetry; 0: index + 1
	uint64_t rate_bps;		// of an egress queue of the node's own; 0: none
	uint32_t rate_pps;		// the same in packets, in place of rate_bps; 0: none
	bool rate_of_node;	 // rate_pps and queue_packets are those of all these ports together
	uint32_t queue_packets;	 // packets that may wait in the egress queue; 0: none
	uint16_t rx_descriptors; // of each receive queue of a DPDK device; 0: 1,024
};

struct hs_port;

// Receives or sends up to n mbufs on a queue. Returns how many. The port owns sent mbufs; the
// caller still owns the rest.
typedef uint16_t (*hs_port_rx_fn)(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
typedef uint16_t (*hs_port_tx_fn)(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);

struct hs_port {
	hs_port_rx_fn rx_burst;
	hs_port_tx_fn tx_burst;
	// Sends as tx_burst does, but the port may keep the last packets until the queue's next
	// tx_burst, to send later packets together with them. That tx_burst may have no packets.
	// NULL: the port keeps none.
	hs_port_tx_fn tx_keep;
	void *driver_data;     // depends on the kind: ethdev id, link, ...
	uint16_t ethdev_id;    // DPDK port id, or RTE_MAX_ETHPORTS if it is no DPDK device
	uint16_t index;	       // index in the node's list of ports
	uint16_t mtu;	       // from the configuration, or less if the interface has less
	uint16_t rx_queues;    // all of them must be polled
	uint16_t tx_queues;    // one for each worker (the device may have fewer, under a lock)
	uint8_t side;	       // enum hs_port_side
	bool tx_multi_seg;     // accepts chains; otherwise the tx stage makes packets linear
	bool needs_timed_poll; // nothing always wakes a sleeper: memif, TAP, ring, pcap
	bool usable;	       // written by control (atomic): false while the device is gone
	bool link_down;	       // also written by control: explains a refused burst
	uint32_t rx_room;      // packets that may wait in each receive queue; 0: not known
	uint8_t mac[6];	       // of the interface or device; the creator sets a custom port's
	struct hs_port_config config;
	char driver_name[24]; // "af_packet", "net_af_xdp", "net_memif", ...
	void *private_data;   // private to src/platform (rtnetlink state, saved settings, wake
			      // socket)
};

static inline uint32_t hs_port_id(const struct hs_port *port)
{
	return port->config.id ? port->config.id : port->index + 1u;
}

// The device's own counters. They are never reset and continue when the device is opened again.
// rx_missed: packets lost because the device's ring had no room. rx_errors: packets that were too
// long or broken; a large frame counts once. tx_errors: packets that tx_burst accepted and that
// were not sent.
struct hs_port_device_stats {
	uint64_t rx_packets, tx_packets, rx_missed, rx_errors, tx_errors, rx_nombuf;
};
