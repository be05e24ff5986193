// SPDX-License-Identifier: BSD-3-Clause
// Tells as events what lib/bus notices of those who come: handshakes that failed, connections that
// were turned away, changes of the directory of keys that are allowed.
//
// Thread rule: owner (the control thread).
#pragma once

#include <jansson.h>
#include <stdint.h>

struct hs_bus;

// Records an event; `details` are taken over.
typedef void (*hs_key_watch_tell)(
		void *context, const char *kind, json_t *details, const char *text);

struct hs_key_watch { // zeroed at first
	uint64_t failed_said, away_said, changes_said;
	int64_t look_ns, failed_next_ns, away_next_ns;
};

// Looks ten times a second; failures are told at once, then once a minute with what came together
// since.
void hs_key_watch_look(struct hs_key_watch *watch, const struct hs_bus *bus, int64_t now_ns,
		hs_key_watch_tell tell, void *context);
