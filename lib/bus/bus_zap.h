// SPDX-License-Identifier: BSD-3-Clause
// Who may connect: the handler that ZeroMQ asks about each handshake (rfc.zeromq.org/spec/27). It
// has no thread; its owner serves it. For lib/bus only.
#pragma once

#include "bus_allowed.h"
#include "bus_keys.h"

#include <stdint.h>

struct hs_bus_zap {
	void *socket;
	struct hs_bus_allowed allowed;
	int64_t look_ms;		  // when the directory is looked at next
	char public_key[HS_BUS_KEY_TEXT]; // of the last one refused
};

// To be opened before the first socket of the context is bound: without a handler ZeroMQ lets
// everyone in. 0 or a negative errno with *err.
int hs_bus_zap_open(void *context, const char *allowed_dir, struct hs_bus_zap *zap,
		struct hs_error *err);
void hs_bus_zap_close(struct hs_bus_zap *zap);

// Answers a handful of handshakes, so that a flood of them leaves time for requests.
void hs_bus_zap_serve(struct hs_bus_zap *zap);

enum hs_bus_zap_news {
	HS_BUS_ZAP_SAME,
	HS_BUS_ZAP_CHANGED, // other keys than before, or another that is wrong
	HS_BUS_ZAP_FEWER,   // and one of those that were allowed no longer is
};

// Looks after the directory, at most twice a second.
enum hs_bus_zap_news hs_bus_zap_look(struct hs_bus_zap *zap);

// Makes a socket, not yet bound, one that asks the handler. 0 or a negative errno with *err.
int hs_bus_zap_guard(void *socket, const struct hs_bus_keys *keys, struct hs_error *err);

// Whose message (a zmq_msg_t) it is; NULL where its key is allowed no longer.
const struct hs_bus_allowed_key *hs_bus_zap_user(const struct hs_bus_zap *zap, void *message);
