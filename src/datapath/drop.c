// SPDX-License-Identifier: BSD-3-Clause
#include "drop.h"

struct entry {
	const char *word;
	const char *text;
	bool at_transmit;
};

static const struct entry drops[] = {
#define HS_DROP(name, word, at_transmit, text) {#word, text, at_transmit},
#include "drop.def"
#undef HS_DROP
};

static const struct entry events[] = {
#define HS_EVENT(name, word, text) {#word, text, false},
#include "event.def"
#undef HS_EVENT
};

const char *hs_drop_name(enum hs_drop drop)
{
	return drops[drop].word;
}

const char *hs_drop_text(enum hs_drop drop)
{
	return drops[drop].text;
}

bool hs_drop_is_at_transmit(enum hs_drop drop)
{
	return drops[drop].at_transmit;
}

const char *hs_event_count_name(enum hs_event_count event)
{
	return events[event].word;
}
