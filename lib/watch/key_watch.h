// SPDX-License-Identifier: BSD-3-Clause
// Reports as events what lib/bus notices about peers: failed handshakes, refused connections, and
// changes of the directory of allowed keys.
//
// Thread rule: owner (the control thread).
#pragma once

#include "event_log.h"

#include <stdint.h>

struct hs_bus;

struct hs_key_watch { // zeroed at first
	struct hs_event_limit failed, away;
	uint64_t changes_said;
	int64_t look_ns;
};

// Checks ten times a second. Reports the first failure at once, then once a minute the failures
// since the last report.
void hs_key_watch_look(struct hs_key_watch *watch, const struct hs_bus *bus, int64_t now_ns,
		hs_event_fn *tell, void *owner);
