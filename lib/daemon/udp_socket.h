// SPDX-License-Identifier: BSD-3-Clause
// A UDP socket that receives what other machines send without being asked.
//
// Thread rule: owner.
#pragma once

#include "ip_address.h"

struct hs_udp_socket {
	int fd;
	uint32_t buffer_kib; // what the kernel gave
	uint32_t seen_lost;  // as the kernel counts, modulo 2^32
	uint64_t lost;
};

// Binds a socket that never blocks. The kernel gives less than `buffer_kib` where
// net.core.rmem_max is smaller. Returns 0, or a negative errno with nothing open.
int hs_udp_socket_open(
		struct hs_udp_socket *socket, const struct hs_ip_port *at, uint32_t buffer_kib);
void hs_udp_socket_close(struct hs_udp_socket *socket); // also of one that is not open: fd -1

// Returns how many datagrams the kernel dropped for this socket since it was opened, above all
// because its buffer was full. The count is right if the function is called at least once in
// 2^31 of them.
uint64_t hs_udp_socket_lost(struct hs_udp_socket *socket);
