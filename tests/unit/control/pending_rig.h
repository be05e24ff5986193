// SPDX-License-Identifier: BSD-3-Clause
// The data path's part played by hand: packets that take pending options, and what packets brought.
#pragma once

#include "control_rig.h"

#include "flow_pending.h"
#include "rule_auth.h"
#include "rule_cbor.h"
#include "punt_record.h"

#define SIGNALS 256

static struct {
	struct hs_punt list[SIGNALS];
	unsigned n, taken;
} brought;

unsigned __real_hs_node_take_punts(struct hs_node *node, struct hs_punt *punts, unsigned n);
unsigned __wrap_hs_node_take_punts(struct hs_node *node, struct hs_punt *punts, unsigned n);

// What a test brings by hand comes before what packets did.
unsigned __wrap_hs_node_take_punts(struct hs_node *node, struct hs_punt *punts, unsigned n)
{
	unsigned left = brought.n - brought.taken;
	if (!left)
		return __real_hs_node_take_punts(node, punts, n);
	if (n > left)
		n = left;
	memcpy(punts, &brought.list[brought.taken], n * sizeof(*punts));
	brought.taken += n;
	return n;
}

static inline struct hs_punt *bring(uint8_t type, uint8_t part, uint8_t parts, uint16_t port,
		const uint8_t *data, size_t len)
{
	if (brought.n == brought.taken)
		brought.n = brought.taken = 0;
	assert_true(brought.n < SIGNALS && len <= 255);
	struct hs_punt *punt = &brought.list[brought.n++];
	*punt = (struct hs_punt){.type = type,
			.part = part,
			.parts = parts,
			.port = port,
			.taken = 1,
			.len = (uint8_t)len};
	memcpy(punt->data, data, len);
	return punt;
}

static inline struct hs_flow_table *flows(struct rig *r)
{
	return hs_node_flows(r->t.node);
}

static inline uint32_t slot_of(struct rig *r, uint32_t ns_id)
{
	uint32_t slot = hs_flow_table_find(flows(r), ns_id);
	assert_int_not_equal(slot, HS_FLOW_NONE);
	return slot;
}

static inline struct hs_flow_pending *pending_at(struct rig *r, uint32_t slot)
{
	struct hs_flow_pending *pending = hs_flow_table_pending(flows(r), slot);
	assert_non_null(pending);
	return pending;
}

static inline struct hs_flow_pending *pending_of(struct rig *r, uint32_t ns_id)
{
	return pending_at(r, slot_of(r, ns_id));
}

static inline bool is_ready(const struct hs_flow_pending *pending)
{
	return atomic_load(&pending->state) == HS_PENDING_READY;
}

// A packet takes it now.
static inline void send_pending(struct rig *r, struct hs_flow_pending *pending)
{
	assert_true(is_ready(pending));
	atomic_store(&pending->sent_ns, r->now_ns);
	atomic_store(&pending->state, HS_PENDING_SENT);
}

static inline json_t *state_of_rule(struct rig *r, unsigned ns_id)
{
	char text[64];
	snprintf(text, sizeof(text), "{\"int_get\": {\"ns_id\": %u}}", ns_id);
	json_t *reply = ask(r, text), *state = json_incref(json_object_get(reply, "state"));
	json_decref(reply);
	return state;
}

static inline void assert_state(struct rig *r, unsigned ns_id, const char *key, json_int_t value)
{
	json_t *state = state_of_rule(r, ns_id);
	assert_number(state, key, value);
	json_decref(state);
}

static inline void assert_total(struct rig *r, const char *key, json_int_t value)
{
	json_t *t = totals(r);
	if (number(t, key) != value)
		fail_msg("%s is %lld, not %lld", key, (long long)number(t, key), (long long)value);
	json_decref(t);
}

static inline json_t *event(struct rig *r, const char *kind, unsigned nth)
{
	char topic[64];
	snprintf(topic, sizeof(topic), "event.%s", kind);
	return json_object_get(published(r, topic, nth), "event");
}

static inline void close_with_audit(struct rig *r)
{
	assert_audit_ok(r);
	rig_close(r);
}
