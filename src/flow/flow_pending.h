// SPDX-License-Identifier: BSD-3-Clause
// Options that control gives workers for the next packet of a flow that leaves for the network: an
// in-band request (options 0x32) or returning reports (0x33), as complete option bytes.
//
// Pending options are taken at most once. Control fills empty pending options and makes them ready.
// The worker that wins the exchange inserts them and records the time. Control reads the time and
// may fill them again. A rule has pending options for its request, and loads: further pending
// options for reports, so that a burst of packets takes several. While any of them are ready, the
// rule's config word has HS_FLOW_PENDING in its mode, and the flow's packets take the general path
// (hs_flow_due). Without pending options, packets pay nothing.
//
// Source: 000_616928c59136b059.txt sections III-B1 and III-D; docs/architecture.md. Thread rule:
// each field as stated; freed after a grace period, with its slot.
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_FLOW_PENDING_BYTES 2040 // of options: a Hop-by-Hop header has room for no more
#define HS_FLOW_LOADS	      64   // pending options of a rule for reports; of these,
#define HS_FLOW_LOADS_WIDE    8	   // the last ones take reports of any length
#define HS_FLOW_LOAD_BYTES    640  // and the others this many bytes of options

enum hs_flow_pending_state {
	HS_PENDING_EMPTY, // belongs to control
	HS_PENDING_READY, // belongs to any worker that has a packet for them
	HS_PENDING_TAKEN, // belongs to that worker
	HS_PENDING_SENT,  // belongs to control again
};

struct hs_flow_fields;

struct hs_flow_pending {
	_Atomic uint32_t state;	  // enum hs_flow_pending_state; acquire and release
	_Atomic uint32_t refused; // packets without room for them since they were made ready
	_Atomic int64_t sent_ns;  // receive time of the packet that took them
	_Atomic uint32_t serial;  // the lowest of those that are ready goes first
	// Control sets this: no telemetry of the rule before these pending options are sent.
	_Atomic bool holds_telemetry;
	bool stands;	  // true from publishing to clearing; control's
	uint16_t n_stand; // only the request's: number of the rule's ready pending options;
			  // control's
	uint16_t n_bytes; // of options, each with type and length
	uint32_t ns_id;	  // namespace of the owner; control's
	struct hs_flow_fields
			*_Atomic fields; // only the request's: the rule's own; NULL: the node's
	struct hs_flow_loads *of; // the loads that these belong to; NULL: these are the request's
	struct hs_flow_loads *_Atomic loads; // only the request's; NULL: not needed yet
	uint8_t bytes[];		     // HS_FLOW_PENDING_BYTES; fewer for most loads
};

// The loads of a rule. Each is created when it is first needed.
struct hs_flow_loads {
	_Atomic int32_t n_ready; // approximate; at 0 or less, no worker searches
	struct hs_flow_pending *_Atomic list[HS_FLOW_LOADS];
};

static inline unsigned hs_flow_load_bytes(unsigned i)
{
	return i < HS_FLOW_LOADS - HS_FLOW_LOADS_WIDE ? HS_FLOW_LOAD_BYTES : HS_FLOW_PENDING_BYTES;
}

// Returns whether the rule's telemetry must wait. Any thread.
static inline bool hs_flow_pending_holds(const struct hs_flow_pending *pending)
{
	return atomic_load_explicit(&pending->state, memory_order_acquire) != HS_PENDING_SENT &&
	       atomic_load_explicit(&pending->holds_telemetry, memory_order_relaxed);
}

// ---- control ----

// Returns the pending options of a place. Creates them empty, with `holds_telemetry`, if there are
// none. Returns NULL if memory is out.
struct hs_flow_pending *hs_flow_pending_at(
		struct hs_flow_pending *_Atomic *place, bool holds_telemetry);
// Does the same for load i (below HS_FLOW_LOADS) of a request's pending options.
struct hs_flow_pending *hs_flow_pending_load(struct hs_flow_pending *pending, unsigned i);
// Frees what a place has: the pending options, their loads and fields. No worker sees them any
// more.
void hs_flow_pending_free(struct hs_flow_pending *_Atomic *place);
