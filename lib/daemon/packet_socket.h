// SPDX-License-Identifier: BSD-3-Clause
// A packet socket on an interface, which receives whole Ethernet frames.
//
// Thread rule: owner.
#pragma once

#include <linux/filter.h>

#include <stdbool.h>
#include <stdint.h>

struct hs_packet_socket_config {
	const char *iface;
	uint16_t ether_type;	  // ETH_P_ALL: any
	bool both_ways;		  // frames that leave, too; only of ETH_P_ALL
	struct sock_fprog filter; // what the kernel passes, and how much of it
	uint32_t buffer_kib;	  // see socket_buffer.h
};

// Opens a socket that never blocks, and makes the interface take frames to any address. Needs
// CAP_NET_RAW; the later use of the socket does not. Returns the socket, or a negative errno.
int hs_packet_socket_open(const struct hs_packet_socket_config *config);

// Returns whether the socket has an interface. If its interface is deleted, the socket has none.
bool hs_packet_socket_is_bound(int fd);
// Binds a socket without an interface to the interface that has the name now. Needs no capability.
// Returns 0, or a negative errno.
int hs_packet_socket_bind(int fd, const char *iface, uint16_t ether_type);

// Returns how many frames the kernel dropped since this was called last, because the buffer was
// full.
uint32_t hs_packet_socket_lost(int fd);
