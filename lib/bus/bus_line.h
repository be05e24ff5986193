// SPDX-License-Identifier: BSD-3-Clause
// A socket with what watches it, kept connected where it dials. For lib/bus only.
#pragma once

#include "bus_keys.h"

#include <stdint.h>

enum hs_bus_failure {
	HS_BUS_NO_FAILURE,
	HS_BUS_REFUSED,	   // the other side does not allow the key, or the handler here said so
	HS_BUS_MISMATCH,   // one side uses keys and the other does not
	HS_BUS_WRONG_KEY,  // what was sent is not sealed for the key that we have
	HS_BUS_UNFINISHED, // closed, or silent for too long, before the handshake ended
};

struct hs_bus_line {
	void *socket;
	void *monitor;
	char *dialled;		     // the endpoint connected to; NULL where the socket is bound
	bool reached;		     // a connection was made, or failed to be, at least once
	bool connected;		     // handshake included
	int64_t redial_ms;	     // when to connect anew; 0: ZeroMQ does it by itself
	enum hs_bus_failure failure; // the last; of what is dialled: until it is tried again
	uint64_t connections, disconnections, handshakes, handshakes_failed;
	uint64_t with_reason; // of those that failed: all but unfinished ones of who came
};

// Fills a zeroed struct. 0 or -errno; hs_bus_line_close in any case.
int hs_bus_line_open(struct hs_bus_line *line, void *context, int type, int linger_ms);
void hs_bus_line_close(struct hs_bus_line *line);

// `keys`: NULL: in clear; only secret_file and server_file are used. Errors of theirs have the path
// "secret" or "controller".
int hs_bus_line_dial(struct hs_bus_line *line, const char *endpoint, const char *path,
		const struct hs_bus_keys *keys, struct hs_error *err);
// Behind a dial: waits until an ipc endpoint has accepted. -EHOSTUNREACH where nobody is there; for
// other schemes the first call will tell.
int hs_bus_line_reach(struct hs_bus_line *line, struct hs_error *err);

// Takes in what happened. ZeroMQ never tries again after a handshake that was refused: this does,
// once that is a second ago.
void hs_bus_line_look(struct hs_bus_line *line);
