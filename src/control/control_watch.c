// SPDX-License-Identifier: BSD-3-Clause
// What control checks at intervals and reports as events. The cost does not grow with the number of
// installed rules, unless their telemetry does not fit.
#include "control_watch.h"
#include "control_clock.h"
#include "control_event.h"
#include "control_export.h"
#include "control_parts.h"
#include "control_rule.h"
#include "control_shadow.h"
#include "control_totals.h"
#include "telemetry.h"

#include "log.h"

#include <inttypes.h>

#define REPEAT_NS INT64_C(60000000000)
// Rules that one tick checks during a walk, which takes well under a millisecond.
#define WALK_RULES 5000

// Starts another walk over the rules at this time, or as soon as there is something new to report.
static void walk_again(struct hs_control *control, int64_t at_ns)
{
	if (at_ns < control->untold_ns)
		control->untold_ns = at_ns;
}

static void watch_room(
		struct hs_control *control, uint32_t slot, const struct hs_flow_counters *counters)
{
	if (counters->no_room_mtu == 0)
		return;
	struct rule_note *note = hs_control_note(&control->rules, slot);
	if (!note || counters->no_room_mtu == note->no_room_said)
		return;
	if (control->now_ns < note->no_room_next_ns) {
		walk_again(control, note->no_room_next_ns);
		return;
	}

	uint64_t grown = counters->no_room_mtu - note->no_room_said;
	uint32_t ns_id = hs_flow_table_rule(control->flows, slot)->ns_id;
	note->no_room_said = counters->no_room_mtu;
	note->no_room_next_ns = control->now_ns + REPEAT_NS;
	hs_control_event(&control->events, "no_room_mtu",
			json_pack("{s:I, s:I, s:I}", "ns_id", (json_int_t)ns_id, "packets",
					(json_int_t)grown, "mtu_needed_bytes",
					(json_int_t)counters->mtu_needed),
			"rule %" PRIu32 ": %" PRIu64 " packets went on without telemetry; it would "
			"have needed an MTU of %" PRIu32,
			ns_id, grown, counters->mtu_needed);
}

static void watch_rule(struct hs_control *control, uint32_t slot)
{
	struct hs_flow_counters counters;

	hs_flow_table_counters(control->flows, slot, &counters);
	watch_room(control, slot, &counters);
	walk_again(control, hs_control_shadow_watch(&control->rules, slot, &counters,
					    control->now_ns, &control->events));
}

static void walk_rules(struct hs_control *control)
{
	for (unsigned i = 0; i < WALK_RULES && control->walking; i++) {
		uint32_t slot = hs_control_walk_rules(&control->rules);
		control->walking = slot != HS_FLOW_NONE;
		if (control->walking)
			watch_rule(control, slot);
	}
}

void hs_control_tick(struct hs_control *control)
{
	hs_control_correct_clock(&control->clock);
	hs_control_reclaim_rules(&control->rules);
	if (control->walking)
		walk_rules(control);
	hs_in_band_expire(control->in_band);
}

// Begins a walk over the rules, because the ports' counters show that something grew, but not for
// which rule. A rule that was limited to one event a minute is checked again when the minute is
// over.
static void begin_walk(struct hs_control *control)
{
	uint64_t seen = hs_control_port_events(control->node, HS_EVENT_NO_ROOM_MTU) +
			hs_control_port_events(control->node, HS_EVENT_SHADOWED_NAMESPACE);
	if (control->walking ||
			(seen == control->walk_seen && control->now_ns < control->untold_ns))
		return;
	control->walk_seen = seen;
	control->untold_ns = INT64_MAX;
	control->walking = true;
	walk_rules(control);
}

static void watch_lost_reports(struct hs_control *control, const struct hs_node_totals *totals)
{
	uint64_t grown;
	if (!hs_event_limit(&control->lost_limit, control->now_ns, totals->reports_lost, &grown))
		return;
	hs_control_event(&control->events, "reports_lost",
			json_pack("{s:I}", "reports", (json_int_t)grown),
			"%" PRIu64 " reports were lost: a worker's ring was full", grown);
}

static void watch_lost_signals(struct hs_control *control, const struct hs_node_totals *totals)
{
	uint64_t grown;
	if (!hs_event_limit(&control->signals_limit, control->now_ns, totals->signals_lost, &grown))
		return;
	hs_control_event(&control->events, "signals_lost",
			json_pack("{s:I}", "signals", (json_int_t)grown),
			"%" PRIu64 " in-band requests and reports were lost here: a worker's ring "
			"was full",
			grown);
}

static void watch_lost_lines(struct hs_control *control, const struct hs_node_totals *totals)
{
	uint64_t grown, lost = totals->influx_lines_queue_full + totals->influx_lines_refused;
	if (!hs_event_limit(&control->influx_limit, control->now_ns, lost, &grown))
		return;
	hs_control_event(&control->events, "influx_lines_lost",
			json_pack("{s:I}", "lines", (json_int_t)grown),
			"%" PRIu64 " lines for databases were lost: a queue was full, or the "
			"database refused them",
			grown);
}

static void watch_cap(struct hs_control *control)
{
	uint64_t grown;
	if (!hs_event_limit(&control->cap_limit, control->now_ns, control->cap_refused, &grown))
		return;
	hs_control_event(&control->events, "monitored_rules",
			json_pack("{s:I, s:I, s:I}", "limit",
					(json_int_t)control->config.monitored_rules, "rules",
					(json_int_t)control->rules.n_unmonitored, "reports",
					(json_int_t)grown),
			"%" PRIu32
			" rules are counted but not monitored: memory.monitored_rules is "
			"%" PRIu32,
			control->rules.n_unmonitored, control->config.monitored_rules);
}

static void watch_memory(struct hs_control *control)
{
	struct hs_qos_memory memory;
	uint64_t grown;
	hs_qos_memory(control->qos, &memory);
	if (!hs_event_limit(&control->memory_limit, control->now_ns,
			    memory.evicted + memory.refused, &grown))
		return;
	hs_control_event(&control->events, "monitor_memory",
			json_pack("{s:I, s:I, s:I, s:I}", "limit_bytes",
					(json_int_t)memory.limit_bytes, "bytes",
					(json_int_t)memory.bytes, "monitors_evicted",
					(json_int_t)memory.evicted, "reports_refused",
					(json_int_t)memory.refused),
			"monitors take %" PRIu64 " MiB of memory.monitor_mib: %" PRIu64
			" of unusual size made room, %" PRIu64 " reports found none",
			memory.bytes >> 20, memory.evicted, memory.refused);
}

static void watch_state(struct hs_control *control)
{
	uint64_t grown;
	if (!hs_event_limit(&control->state_limit, control->now_ns, control->counts.state_errors,
			    &grown))
		return;
	hs_log(HS_LOG_ERROR, "state", "%" PRIu64 " errors; the last: %s", grown,
			control->state_error);
	hs_control_event(&control->events, "state_error",
			json_pack("{s:I}", "errors", (json_int_t)grown),
			"%" PRIu64 " errors in keeping the state; the last: %s", grown,
			control->state_error);
}

// Reports receive errors of an interface. A veth passes packets of any length that its other end
// sends. Without this event, a TCP connection would be slow and only a counter would say why.
static void watch_rx_errors(struct hs_control *control, uint16_t index)
{
	struct hs_port *port = hs_node_port(control->node, index);
	struct hs_port_device_stats stats;
	uint64_t grown;

	if (port->config.kind != HS_PORT_IFACE)
		return;
	hs_port_device_stats(port, &stats);
	if (!hs_event_limit(&control->rx_error_limits[index], control->now_ns, stats.rx_errors,
			    &grown))
		return;
	static const char advice[] = "above its mtu, or large frames that no port cuts, such as "
				     "segments within a tunnel, and lost: raise the mtu, or switch "
				     "that segmentation off on the other end";
	hs_log(HS_LOG_WARNING, "control", "port '%s': %" PRIu64 " packets were %s",
			port->config.name, grown, advice);
	hs_control_event(&control->events, "port_rx_errors",
			json_pack("{s:s, s:I}", "port", port->config.name, "packets",
					(json_int_t)grown),
			"port \"%s\": %" PRIu64 " packets were %s", port->config.name, grown,
			advice);
}

void hs_control_second(struct hs_control *control)
{
	struct hs_node_totals totals;

	hs_node_reconcile_tx(control->node);
	hs_control_watch_clock(&control->clock, &control->events);
	begin_walk(control);
	hs_control_totals(control, &totals);
	watch_lost_reports(control, &totals);
	watch_lost_signals(control, &totals);
	watch_lost_lines(control, &totals);
	hs_control_watch_exports(&control->exports, control->now_ns, totals.exports_lost_ring_full,
			&control->events);
	watch_cap(control);
	watch_memory(control);
	watch_state(control);
	for (uint16_t i = 0; i < hs_node_port_count(control->node); i++)
		watch_rx_errors(control, i);
	hs_telemetry_update(control->config.telemetry, &totals);
}
