// SPDX-License-Identifier: BSD-3-Clause
// A UDP socket for the telemetry reports of one receiver. A socket that cannot be opened, or that
// fails, is opened again, at most once a second: an address or a route may come later, or go.
//
// Thread rule: control.
#pragma once

#include "export_values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_export_socket {
	const struct hs_export_config *config; // NULL: never opened
	int fd;				       // -1: there is none
	int error;			       // why there is none
	bool doubtful;			       // the socket must be opened again
	int64_t retry_ns;		       // the socket is not opened again before
};

// Opens the socket. Returns 0, or a negative errno; sending then opens the socket. `config` is
// borrowed. Times are those of the monotonic clock.
int hs_export_socket_open(struct hs_export_socket *socket, const struct hs_export_config *config,
		int64_t now_ns);
void hs_export_socket_close(struct hs_export_socket *socket);
// Sends a datagram. Never blocks. Returns 0, -EAGAIN if the socket is full, or another negative
// errno: the datagram is lost.
int hs_export_socket_send(struct hs_export_socket *socket, int64_t now_ns, const uint8_t *datagram,
		size_t bytes);
