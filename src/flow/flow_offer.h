// SPDX-License-Identifier: BSD-3-Clause
// What control gives workers to put into the next packet of a flow that leaves for the network: an
// in-band request (options 0x32) or reports on their way back (0x33), as ready option bytes.
//
// An offer is taken at most once: control fills an empty one and makes it ready; the worker that
// wins the exchange puts it in and says when; control reads that and may fill it anew. A rule has
// one for its request, and behind it some for reports, so that a burst of packets takes several.
// While one stands, the rule's config word has HS_FLOW_OFFERED in its mode, which sends the flow's
// packets the long way (hs_flow_due); without it packets pay nothing.
//
// Source: 000_616928c59136b059.txt sections III-B1 and III-D; docs/architecture.md.
// Thread rule: each field as said; freed after a grace period, with its slot.
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_FLOW_OFFER_BYTES 2040 // of options: a Hop-by-Hop header has no room for more
#define HS_FLOW_LOADS	    64	 // offers of reports; of them
#define HS_FLOW_LOADS_WIDE  8	 // ... the last take reports of any length
#define HS_FLOW_LOAD_BYTES  640	 // ... and the others so many bytes of options

enum hs_flow_offer_state {
	HS_OFFER_EMPTY, // control's
	HS_OFFER_READY, // whichever worker has a packet for it
	HS_OFFER_TAKEN, // that worker's
	HS_OFFER_SENT,	// control's again
};

struct hs_flow_fields;

struct hs_flow_offer {
	_Atomic uint32_t state;	  // enum hs_flow_offer_state; acquire and release
	_Atomic uint32_t refused; // packets that had no room for it since it was made ready
	_Atomic int64_t sent_ns;  // receive time of the packet that took it
	_Atomic uint32_t serial;  // of those that are ready the lowest goes first
	// No telemetry of the rule before this is sent; control's.
	_Atomic bool holds_telemetry;
	bool stands;	  // since control published it and until it cleared it; control's
	uint16_t n_stand; // of the request's: how many of the rule's stand; control's
	uint16_t n_bytes; // of options, each with type and length
	uint32_t ns_id;	  // whose they are; control's
	struct hs_flow_fields *_Atomic fields; // of the request's: the rule's own; NULL: the node's
	struct hs_flow_loads *of;	       // of one of them; NULL: the request's
	struct hs_flow_loads *_Atomic loads;   // of the request's; NULL: none was needed yet
	uint8_t bytes[];		       // HS_FLOW_OFFER_BYTES, of most loads fewer
};

// Offers of reports, made one after the other as they are needed.
struct hs_flow_loads {
	_Atomic int32_t n_ready; // about: nobody looks for one where there is none
	struct hs_flow_offer *_Atomic list[HS_FLOW_LOADS];
};

static inline unsigned hs_flow_load_bytes(unsigned i)
{
	return i < HS_FLOW_LOADS - HS_FLOW_LOADS_WIDE ? HS_FLOW_LOAD_BYTES : HS_FLOW_OFFER_BYTES;
}

// Whether the rule's telemetry is to wait. Any thread.
static inline bool hs_flow_offer_holds(const struct hs_flow_offer *offer)
{
	return atomic_load_explicit(&offer->state, memory_order_acquire) != HS_OFFER_SENT &&
	       atomic_load_explicit(&offer->holds_telemetry, memory_order_relaxed);
}
