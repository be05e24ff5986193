// SPDX-License-Identifier: BSD-3-Clause
// What control checks at intervals and reports as events. The cost does not grow with the number of
// installed rules, unless their telemetry does not fit.
#include "ctl_parts.h"
#include "telemetry.h"

#include "log.h"

#include <inttypes.h>

#define REPEAT_NS INT64_C(60000000000)
// Rules that one tick checks during a walk, which takes well under a millisecond.
#define WALK_RULES 5000

bool hs_ctl_limit(struct hs_ctl *ctl, struct limiter *limiter, uint64_t now, uint64_t *grown)
{
	if (now == limiter->said || ctl->now_ns < limiter->next_ns)
		return false;
	*grown = now - limiter->said;
	limiter->said = now;
	limiter->next_ns = ctl->now_ns + REPEAT_NS;
	return true;
}

void hs_ctl_walk_again(struct hs_ctl *ctl, int64_t at_ns)
{
	if (at_ns < ctl->untold_ns)
		ctl->untold_ns = at_ns;
}

static void watch_room(struct hs_ctl *ctl, uint32_t slot, const struct hs_flow_counters *counters)
{
	if (counters->no_room_mtu == 0)
		return;
	struct rule_note *note = hs_ctl_note(ctl, slot);
	if (!note || counters->no_room_mtu == note->no_room_said)
		return;
	if (ctl->now_ns < note->no_room_next_ns) {
		hs_ctl_walk_again(ctl, note->no_room_next_ns);
		return;
	}

	uint64_t grown = counters->no_room_mtu - note->no_room_said;
	uint32_t ns_id = hs_flow_table_rule(ctl->flows, slot)->ns_id;
	note->no_room_said = counters->no_room_mtu;
	note->no_room_next_ns = ctl->now_ns + REPEAT_NS;
	hs_ctl_event(ctl, "no_room_mtu",
			json_pack("{s:I, s:I, s:I}", "ns_id", (json_int_t)ns_id, "packets",
					(json_int_t)grown, "mtu_needed_bytes",
					(json_int_t)counters->mtu_needed),
			"rule %" PRIu32 ": %" PRIu64 " packets went on without telemetry; it would "
			"have needed an MTU of %" PRIu32,
			ns_id, grown, counters->mtu_needed);
}

static void watch_rule(struct hs_ctl *ctl, uint32_t slot)
{
	struct hs_flow_counters counters;

	hs_flow_table_counters(ctl->flows, slot, &counters);
	watch_room(ctl, slot, &counters);
	hs_ctl_shadow_watch(ctl, slot, &counters);
}

static void walk_rules(struct hs_ctl *ctl)
{
	for (unsigned i = 0; i < WALK_RULES && ctl->walking; i++) {
		ctl->walking = hs_flow_table_next(ctl->flows, &ctl->walk_slot);
		if (ctl->walking)
			watch_rule(ctl, ctl->walk_slot);
	}
	if (!ctl->walking)
		ctl->walk_slot = HS_FLOW_NONE;
}

void hs_ctl_tick(struct hs_ctl *ctl)
{
	hs_clock_correct(ctl->clock);
	hs_telemetry_lock(ctl->config.telemetry);
	hs_flow_table_reclaim(ctl->flows);
	hs_telemetry_unlock(ctl->config.telemetry);
	if (ctl->walking)
		walk_rules(ctl);
	hs_ctl_guests_expire(ctl);
}

// The ports' counters show that something grew, but not for which rule. A rule that was limited to
// one event a minute is checked again when the minute is over.
static void begin_walk(struct hs_ctl *ctl)
{
	uint64_t seen = hs_ctl_port_events(ctl, HS_EVENT_NO_ROOM_MTU) +
			hs_ctl_port_events(ctl, HS_EVENT_SHADOWED_NAMESPACE);
	if (ctl->walking || (seen == ctl->walk_seen && ctl->now_ns < ctl->untold_ns))
		return;
	ctl->walk_seen = seen;
	ctl->untold_ns = INT64_MAX;
	ctl->walking = true;
	walk_rules(ctl);
}

static void watch_lost_reports(struct hs_ctl *ctl, const struct hs_node_totals *totals)
{
	uint64_t grown;
	if (!hs_ctl_limit(ctl, &ctl->lost_limit, totals->reports_lost, &grown))
		return;
	hs_ctl_event(ctl, "reports_lost", json_pack("{s:I}", "reports", (json_int_t)grown),
			"%" PRIu64 " reports were lost: a worker's ring was full", grown);
}

static void watch_lost_signals(struct hs_ctl *ctl, const struct hs_node_totals *totals)
{
	uint64_t grown;
	if (!hs_ctl_limit(ctl, &ctl->signals_limit, totals->signals_lost, &grown))
		return;
	hs_ctl_event(ctl, "signals_lost", json_pack("{s:I}", "signals", (json_int_t)grown),
			"%" PRIu64 " in-band requests and reports were lost here: a worker's ring "
			"was full",
			grown);
}

static void watch_cap(struct hs_ctl *ctl)
{
	uint64_t grown;
	if (!hs_ctl_limit(ctl, &ctl->cap_limit, ctl->cap_refused, &grown))
		return;
	hs_ctl_event(ctl, "monitored_rules",
			json_pack("{s:I, s:I, s:I}", "limit",
					(json_int_t)ctl->config.monitored_rules, "rules",
					(json_int_t)ctl->n_unmonitored, "reports",
					(json_int_t)grown),
			"%" PRIu32
			" rules are counted but not monitored: memory.monitored_rules is "
			"%" PRIu32,
			ctl->n_unmonitored, ctl->config.monitored_rules);
}

static void watch_memory(struct hs_ctl *ctl)
{
	struct hs_qos_memory memory;
	uint64_t grown;
	hs_qos_memory(ctl->qos, &memory);
	if (!hs_ctl_limit(ctl, &ctl->memory_limit, memory.evicted + memory.refused, &grown))
		return;
	hs_ctl_event(ctl, "monitor_memory",
			json_pack("{s:I, s:I, s:I, s:I}", "limit_bytes",
					(json_int_t)memory.limit_bytes, "bytes",
					(json_int_t)memory.bytes, "monitors_evicted",
					(json_int_t)memory.evicted, "reports_refused",
					(json_int_t)memory.refused),
			"monitors take %" PRIu64 " MiB of memory.monitor_mib: %" PRIu64
			" of unusual size made room, %" PRIu64 " reports found none",
			memory.bytes >> 20, memory.evicted, memory.refused);
}

static void watch_state(struct hs_ctl *ctl)
{
	uint64_t grown;
	if (!hs_ctl_limit(ctl, &ctl->state_limit, ctl->counts.state_errors, &grown))
		return;
	hs_log(HS_LOG_ERROR, "state", "%" PRIu64 " errors; the last: %s", grown, ctl->state_error);
	hs_ctl_event(ctl, "state_error", json_pack("{s:I}", "errors", (json_int_t)grown),
			"%" PRIu64 " errors in keeping the state; the last: %s", grown,
			ctl->state_error);
}

// A veth passes whatever its other end sends, and that end assumes that hardware segments 64 KiB.
// Without this event, a TCP connection is slow and no counter of the node says why.
static void watch_rx_errors(struct hs_ctl *ctl, uint16_t index)
{
	struct hs_port *port = hs_node_port(ctl->node, index);
	struct hs_port_device_stats stats;
	uint64_t grown;

	if (port->config.kind != HS_PORT_IFACE)
		return;
	hs_port_device_stats(port, &stats);
	if (!hs_ctl_limit(ctl, &ctl->rx_error_limits[index], stats.rx_errors, &grown))
		return;
	static const char advice[] = "larger than its buffers and lost; a host that leaves "
				     "segmentation to hardware sends such: ethtool -K <interface "
				     "on the other end> tso off gso off";
	hs_log(HS_LOG_WARNING, "ctl", "port '%s': %" PRIu64 " packets were %s", port->config.name,
			grown, advice);
	hs_ctl_event(ctl, "port_rx_errors",
			json_pack("{s:s, s:I}", "port", port->config.name, "packets",
					(json_int_t)grown),
			"port \"%s\": %" PRIu64 " packets were %s", port->config.name, grown,
			advice);
}

void hs_ctl_second(struct hs_ctl *ctl)
{
	struct hs_node_totals totals;

	hs_node_reconcile_tx(ctl->node);
	hs_ctl_watch_clock(ctl);
	begin_walk(ctl);
	hs_ctl_totals(ctl, &totals);
	watch_lost_reports(ctl, &totals);
	watch_lost_signals(ctl, &totals);
	watch_cap(ctl);
	watch_memory(ctl);
	watch_state(ctl);
	for (uint16_t i = 0; i < hs_node_port_count(ctl->node); i++)
		watch_rx_errors(ctl, i);
	hs_telemetry_update(ctl->config.telemetry, &totals);
}
