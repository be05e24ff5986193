// SPDX-License-Identifier: BSD-3-Clause
// A port, from its opening to its end. port_types.h says what a port is.
//
// Thread rule: control; counters are readable by any.
#pragma once

#include "error.h"
#include "port_types.h"

#include <stdbool.h>
#include <stdint.h>

// Opens a port with the creator's own functions (a link of the lab, a test). Its kind is
// HS_PORT_CUSTOM, it accepts chains, and nothing wakes a sleeping worker. The creator owns
// driver_data, which must outlive the port with all that it points to.
int hs_port_open_custom(hs_port_rx_fn rx_burst, hs_port_tx_fn tx_burst, void *driver_data,
		const struct hs_port_config *config, uint16_t index, uint16_t n_workers,
		struct hs_port **port);

// Opens a port: prepares the interface (IPv6 off, GRO and LRO off, logged, and undone by close),
// probes the device, sets up queues with this pool, and starts the device with n_workers transmit
// queues. Returns 0, or -EINVAL/-ENODEV with *err (path relative to the port: "iface", "mtu").
int hs_port_open(const struct hs_port_config *config, uint16_t index, uint16_t n_workers,
		struct rte_mempool *pool, struct hs_port **port, struct hs_error *err);
// Closes a port. Accepts NULL. No worker may still use the port.
void hs_port_close(struct hs_port *port);

// Stop and close the device behind a port whose interface is gone, and open the device again when
// the interface is back. The struct hs_port stays, and its counters continue. Before either call,
// the caller must make workers stop using the port (usable false and a grace period).
int hs_port_detach(struct hs_port *port);
int hs_port_reopen(struct hs_port *port, struct hs_error *err);

// Returns the data room that mbufs need for this port (headroom included), from its MTU and driver.
// A pool that several ports share takes the largest.
uint16_t hs_port_mbuf_bytes(const struct hs_port_config *config);

void hs_port_device_stats(struct hs_port *port, struct hs_port_device_stats *stats);

// Returns the operational state: of interfaces from rtnetlink, of others from the device.
bool hs_port_link_up(const struct hs_port *port);
// Does the same and tells workers through link_down. For interfaces, a report of the kernel does
// this. Call this about once a second for other devices.
bool hs_port_look(struct hs_port *port);

// Returns whether the port's driver (net_memif) unmaps rings in DPDK's interrupt thread when the
// peer leaves, even if a worker processes a burst on them. That thread must be held then, see
// interrupts.h.
bool hs_port_frees_rings(const struct hs_port *port);

// hs_port_waits_for_peer returns whether the port must call its absent peer: a memif client whose
// server has not started or has gone. hs_port_call_peer calls the peer. Call it about once a
// second, with no worker inside a burst, because the interrupt thread runs meanwhile. It returns 0
// if the other end answers; the link then comes up shortly.
bool hs_port_waits_for_peer(const struct hs_port *port);
int hs_port_call_peer(struct hs_port *port);
