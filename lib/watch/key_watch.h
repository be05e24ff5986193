// SPDX-License-Identifier: BSD-3-Clause
// Reports as events what lib/bus notices about peers: failed handshakes, refused connections, and
// changes of the directory of allowed keys.
//
// Thread rule: owner (the control thread).
#pragma once

#include <jansson.h>
#include <stdint.h>

struct hs_bus;

// Records an event and takes ownership of `details`.
typedef void (*hs_key_watch_tell)(
		void *context, const char *kind, json_t *details, const char *text);

struct hs_key_watch { // zeroed at first
	uint64_t failed_said, away_said, changes_said;
	int64_t look_ns, failed_next_ns, away_next_ns;
};

// Checks ten times a second. Reports the first failure at once, then once a minute what came
// together since.
void hs_key_watch_look(struct hs_key_watch *watch, const struct hs_bus *bus, int64_t now_ns,
		hs_key_watch_tell tell, void *context);
