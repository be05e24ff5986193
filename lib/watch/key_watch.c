// SPDX-License-Identifier: BSD-3-Clause
#include "key_watch.h"

#include "bus.h"

#include "log.h"

#include <inttypes.h>

#define LOOK_NS INT64_C(100000000)

struct telling {
	hs_event_fn *tell;
	void *owner;
};

static void tell_failures(struct hs_key_watch *watch, const struct hs_bus *bus,
		const struct telling *to, int64_t now_ns)
{
	struct hs_bus_refusal last;
	uint64_t grown;

	hs_bus_last_refusal(bus, &last);
	if (!hs_event_limit(&watch->failed, now_ns, last.count, &grown))
		return;

	const char *peer = last.peer[0] ? last.peer : NULL;
	const char *key = last.public_key[0] ? last.public_key : NULL;
	json_t *details = json_pack("{s:I, s:s, s:s*, s:s*}", "handshakes", (json_int_t)grown,
			"reason", last.reason, "peer", peer, "public_key", key);
	to->tell(to->owner, "handshake_failed", details,
			"%" PRIu64 " handshakes failed, the last with %s: %s", grown,
			peer ? peer : "an unknown peer", last.reason);
}

static void tell_turned_away(struct hs_key_watch *watch, const struct hs_bus *bus,
		const struct telling *to, int64_t now_ns)
{
	struct hs_bus_turned_away last;
	uint64_t grown;

	hs_bus_last_turned_away(bus, &last);
	if (!hs_event_limit(&watch->away, now_ns, last.count, &grown))
		return;

	json_t *details = json_pack("{s:I, s:s, s:s*}", "connections", (json_int_t)grown, "reason",
			last.reason, "peer", last.peer[0] ? last.peer : NULL);
	to->tell(to->owner, "connection_refused", details,
			"%" PRIu64 " connections were turned away, the last of %s: %s", grown,
			last.peer[0] ? last.peer : "an unknown peer", last.reason);
}

static void tell_changes(
		struct hs_key_watch *watch, const struct hs_bus *bus, const struct telling *to)
{
	struct hs_bus_keys_state keys;

	hs_bus_keys_state(bus, &keys);
	if (keys.changes == watch->changes_said)
		return;
	watch->changes_said = keys.changes;
	bool wrong = hs_error_is_set(&keys.problem);
	if (wrong)
		hs_log(HS_LOG_WARNING, "keys", "a key is not allowed: %s", keys.problem.message);
	json_t *details = json_pack("{s:I, s:s*}", "keys", (json_int_t)keys.allowed, "problem",
			wrong ? keys.problem.message : NULL);
	to->tell(to->owner, "keys_changed", details, "%zu keys are allowed now%s%s", keys.allowed,
			wrong ? "; not among them: " : "", wrong ? keys.problem.message : "");
}

void hs_key_watch_look(struct hs_key_watch *watch, const struct hs_bus *bus, int64_t now_ns,
		hs_event_fn *tell, void *owner)
{
	const struct telling to = {tell, owner};

	if (now_ns < watch->look_ns)
		return;
	watch->look_ns = now_ns + LOOK_NS;
	tell_failures(watch, bus, &to, now_ns);
	tell_turned_away(watch, bus, &to, now_ns);
	tell_changes(watch, bus, &to);
}
