// SPDX-License-Identifier: BSD-3-Clause
// An address and a port as the kernel's sockets take them.
//
// Thread rule: any; pure functions.
#pragma once

#include "ip_address.h"

#include <sys/socket.h>

// Fills *to, whose family is the version of the address. Returns the length of the address in *to.
socklen_t hs_socket_address_of(const struct hs_ip_port *at, struct sockaddr_storage *to);
// The inverse, without the port: copies the address of an IPv4 or IPv6 socket.
void hs_socket_address_read(const struct sockaddr *from, uint8_t address[16]);
