// SPDX-License-Identifier: BSD-3-Clause
// Names for every end of a packet other than a wire, and for what is worth counting of the rest.
// One list each (drop.def, event.def) feeds enum, counter, name and text.
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

// Lower-case word for scripts ("tx_full") and a sentence for people.
const char *hs_drop_name(enum hs_drop drop);
const char *hs_drop_text(enum hs_drop drop);
// Counted at the port that should have sent; others where the packet came in.
bool hs_drop_is_at_transmit(enum hs_drop drop);
const char *hs_event_count_name(enum hs_event_count event);
