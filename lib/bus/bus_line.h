// SPDX-License-Identifier: BSD-3-Clause
// A socket with its monitor. A socket that dials is kept connected. For lib/bus only.
#pragma once

#include "bus_keys.h"

#include <stdint.h>

enum hs_bus_failure {
	HS_BUS_NO_FAILURE,
	HS_BUS_REFUSED,	   // the other side does not allow the key, or the handler here refused it
	HS_BUS_MISMATCH,   // one side uses keys and the other does not
	HS_BUS_WRONG_KEY,  // the handshake is not encrypted for our key
	HS_BUS_UNFINISHED, // the connection was closed, or silent for too long, before the
			   // handshake ended
};

struct hs_bus_line {
	void *socket;
	void *monitor;
	char *dialled;	   // the endpoint of an outgoing connection; NULL if the socket is bound
	bool reached;	   // a connection was made or failed at least once
	bool connected;	   // true after the handshake
	int64_t redial_ms; // when to reconnect; 0: ZeroMQ reconnects by itself
	enum hs_bus_failure failure; // the last failure; for outgoing connections: until the next
				     // attempt
	uint64_t connections, disconnections, handshakes, handshakes_failed;
	uint64_t with_reason; // failures with a reason: all except unfinished incoming handshakes
};

// Fills a zeroed struct. Returns 0 or -errno. Call hs_bus_line_close in any case.
int hs_bus_line_open(struct hs_bus_line *line, void *context, int type, int linger_ms);
void hs_bus_line_close(struct hs_bus_line *line);

// `keys` may be NULL (no encryption); only secret_file and server_file are used. Errors of the keys
// have the path "secret" or "controller".
int hs_bus_line_dial(struct hs_bus_line *line, const char *endpoint, const char *path,
		const struct hs_bus_keys *keys, struct hs_error *err);
// Waits, after a dial, until an ipc endpoint with a file has accepted the connection. Returns 0, or
// -EHOSTUNREACH with *err if nobody is there. For other endpoints, returns 0 at once: the first
// call reports that nobody is there.
int hs_bus_line_reach(struct hs_bus_line *line, struct hs_error *err);

// Processes events. ZeroMQ never reconnects after a refused handshake or a message above the limit;
// this function does so after a second.
void hs_bus_line_look(struct hs_bus_line *line);
