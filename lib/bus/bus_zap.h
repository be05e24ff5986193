// SPDX-License-Identifier: BSD-3-Clause
// Decides who may connect: the handler that ZeroMQ asks about each handshake
// (rfc.zeromq.org/spec/27). The handler has no thread; its owner serves it. For lib/bus only.
#pragma once

#include "bus_allowed.h"
#include "bus_keys.h"

#include <stdint.h>

struct hs_bus_zap {
	void *socket;
	struct hs_bus_allowed allowed;
	int64_t look_ms;		  // when the directory is read next
	char public_key[HS_BUS_KEY_TEXT]; // of the last refused client
};

// Open this before the first socket of the context is bound, because without a handler ZeroMQ
// accepts everyone. Returns 0, or a negative errno with *err.
int hs_bus_zap_open(void *context, const char *allowed_dir, struct hs_bus_zap *zap,
		struct hs_error *err);
void hs_bus_zap_close(struct hs_bus_zap *zap);

// Answers a few handshakes at a time, so that a flood of them leaves time for requests.
void hs_bus_zap_serve(struct hs_bus_zap *zap);

enum hs_bus_zap_news {
	HS_BUS_ZAP_SAME,
	HS_BUS_ZAP_CHANGED, // the keys or the problem have changed
	HS_BUS_ZAP_FEWER,   // a key has been removed
};

// Reads the directory, at most twice a second.
enum hs_bus_zap_news hs_bus_zap_look(struct hs_bus_zap *zap);

// Makes a socket that is not yet bound ask the handler. Returns 0, or a negative errno with *err.
int hs_bus_zap_guard(void *socket, const struct hs_bus_keys *keys, struct hs_error *err);

// Returns the key that a message (a zmq_msg_t) belongs to, or NULL if that key is no longer
// allowed.
const struct hs_bus_allowed_key *hs_bus_zap_user(const struct hs_bus_zap *zap, void *message);
