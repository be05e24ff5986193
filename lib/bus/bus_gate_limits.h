// SPDX-License-Identifier: BSD-3-Clause
// The kinds of connections behind the gate, what each of them may cost, and what the gate counts.
// For lib/bus only.
//
// Thread rule: values.
#pragma once

#include <stdint.h>

// Connections to one gate, and connections to it from one process or address.
#define HS_BUS_GATE_PLACES 1024
#define HS_BUS_GATE_OF_ONE 512
// Descriptors that are left to the rest of the process.
#define HS_BUS_GATE_RESERVE 48
// Replies that a client has not taken. Beyond this, the client's requests wait.
#define HS_BUS_GATE_BACKLOG (128 << 10)
// Requests and subscriptions of a connection that nobody has taken, in the weights of bus_frames.h.
#define HS_BUS_GATE_REQUEST_BYTES      ((4 << 20) + (64 << 10))
#define HS_BUS_GATE_SUBSCRIPTION_BYTES (256 << 10)

enum hs_bus_gate_kind {
	HS_BUS_GATE_REQUESTS,	 // clients send requests and get replies
	HS_BUS_GATE_SUBSCRIBERS, // clients send subscriptions, which the owner never takes, and get
				 // messages
	HS_BUS_GATE_FEEDS,	 // clients send messages
	HS_BUS_GATE_KINDS,
};

struct hs_bus_gate_counters {
	uint64_t refused; // there was no place or no descriptor
	uint64_t closed;  // they cost more than a connection may
	uint64_t denied;  // handshakes that ZeroMQ refused because of a key
	char refused_peer[64], refused_reason[96]; // peer and reason of the last refused or closed
						   // connection
	char denied_peer[64];
};
