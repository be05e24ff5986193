// SPDX-License-Identifier: BSD-3-Clause
// What all parts of this folder share: the settings, the node, and a note for each rule. For this
// folder only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "in_band_host.h"
#include "in_band_settings.h"

#include <stdbool.h>
#include <stdint.h>

struct advertised;
struct learned;
struct backlog;

// What is kept for one rule. Each member is NULL if it does not apply to the rule.
struct in_band_note {
	struct advertised *advertised;
	struct learned *learned;
	struct backlog *backlog;
};

struct in_band_base {
	struct hs_in_band_settings settings;
	struct hs_in_band_host host;
	struct hs_flow_table *flows;
	struct in_band_note *notes; // indexed by slot
	// Saves a line of the state. NULL: there is no state.
	int (*save)(void *context, const json_t *line, struct hs_error *err);
};

static inline int64_t hs_in_band_now(const struct in_band_base *base)
{
	return *base->host.now_ns;
}

// Returns a slot's note, or NULL for HS_FLOW_NONE.
static inline struct in_band_note *hs_in_band_note(const struct in_band_base *base, uint32_t slot)
{
	return slot == HS_FLOW_NONE ? NULL : &base->notes[slot];
}

// Records and publishes an event; the arguments after the base are those of an hs_event_fn.
#define in_band_event(base, ...) (base)->host.event((base)->host.events, __VA_ARGS__)
