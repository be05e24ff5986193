// SPDX-License-Identifier: BSD-3-Clause
// The packet socket by which probes leave and come back. No function waits.
//
// Thread rule: owner.
#pragma once

#include "controller.h"

#include <poll.h>

struct controller_probing_socket;

// Opens the interface of `probing`; without it *socket is NULL, which all functions accept. Needs
// CAP_NET_RAW, later functions do not. Returns 0, or a negative errno with *err, whose path is that
// of the configuration.
int controller_probing_socket_open(const struct hs_controller_config *config,
		struct controller_probing_socket **socket, struct hs_error *err);
void controller_probing_socket_close(struct controller_probing_socket *socket);

// Fills what poll(2) needs. Returns how many, 0 or 1.
unsigned controller_probing_socket_fds(
		const struct controller_probing_socket *socket, struct pollfd *fds);
// Sends a frame. Returns 0 or a negative errno.
int controller_probing_socket_send(
		struct controller_probing_socket *socket, const uint8_t *frame, size_t len);
// Passes what has come to the controller, for a few milliseconds. Returns true if more may wait.
bool controller_probing_socket_take(
		struct controller_probing_socket *socket, struct hs_controller *controller);
