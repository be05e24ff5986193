// SPDX-License-Identifier: BSD-3-Clause
// Names of every end of a packet other than a wire, and of the events that are counted of other
// packets. One list each (drop.def, event.def) makes the enum, the counters, the names and the
// texts.
//
// Thread rule: any.
#pragma once

#include <stdbool.h>

enum hs_drop {
#define HS_DROP(name, word, at_transmit, text) HS_DROP_##name,
#include "drop.def"
#undef HS_DROP
	HS_DROP_COUNT
};

enum hs_event_count {
#define HS_EVENT(name, word, text) HS_EVENT_##name,
#include "event.def"
#undef HS_EVENT
	HS_EVENT_COUNT
};

// Return the lower-case word for scripts ("tx_full") and a sentence for people.
const char *hs_drop_name(enum hs_drop drop);
const char *hs_drop_text(enum hs_drop drop);
// Returns whether a drop is counted at the port that should have sent the packet. Other drops are
// counted at the port where the packet came in.
bool hs_drop_is_at_transmit(enum hs_drop drop);
const char *hs_event_count_name(enum hs_event_count event);
