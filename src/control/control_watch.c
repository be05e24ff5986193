// SPDX-License-Identifier: BSD-3-Clause
#include "control_watch.h"
#include "control_event.h"
#include "control_rule.h"
#include "control_shadow.h"

#include "clock.h"
#include "log.h"
#include "metric.h"
#include "node.h"
#include "qos.h"

#include <inttypes.h>

#define REPEAT_NS INT64_C(60000000000)
// Rules that one tick checks during a walk, which takes well under a millisecond.
#define WALK_RULES 5000

// Starts another walk over the rules at this time, or as soon as there is something new to report.
static void walk_again(struct control_watch *watch, int64_t at_ns)
{
	if (at_ns < watch->untold_ns)
		watch->untold_ns = at_ns;
}

static void watch_room(struct control_watch *watch, uint32_t slot,
		const struct hs_flow_counters *counters, int64_t now_ns)
{
	if (counters->no_room_mtu == 0)
		return;
	struct rule_note *note = hs_control_note(watch->rules, slot);
	if (!note || counters->no_room_mtu == note->no_room_said)
		return;
	if (now_ns < note->no_room_next_ns) {
		walk_again(watch, note->no_room_next_ns);
		return;
	}

	// Workers count in 32 bits.
	uint32_t grown = (uint32_t)(counters->no_room_mtu - note->no_room_said);
	uint32_t ns_id = hs_control_noted_rule(watch->rules, note)->ns_id;
	note->no_room_said = counters->no_room_mtu;
	note->no_room_next_ns = now_ns + REPEAT_NS;
	hs_control_event(watch->events, "no_room_mtu",
			json_pack("{s:I, s:I, s:I}", "ns_id", (json_int_t)ns_id, "packets",
					(json_int_t)grown, "mtu_needed_bytes",
					(json_int_t)counters->mtu_needed),
			"rule %" PRIu32 ": %" PRIu32 " packets went on without telemetry; it would "
			"have needed an MTU of %" PRIu32,
			ns_id, grown, counters->mtu_needed);
}

static void watch_rule(struct control_watch *watch, uint32_t slot, int64_t now_ns)
{
	struct hs_flow_counters counters;

	hs_flow_table_counters(hs_node_flows(watch->node), slot, &counters);
	watch_room(watch, slot, &counters, now_ns);
	walk_again(watch, hs_control_shadow_watch(
					  watch->rules, slot, &counters, now_ns, watch->events));
}

void hs_control_continue_walk(struct control_watch *watch, int64_t now_ns)
{
	for (unsigned i = 0; i < WALK_RULES && watch->walking; i++) {
		uint32_t slot = hs_control_walk_rules(watch->rules);
		watch->walking = slot != HS_FLOW_NONE;
		if (watch->walking)
			watch_rule(watch, slot, now_ns);
	}
}

void hs_control_begin_walk(struct control_watch *watch, int64_t now_ns)
{
	uint64_t seen = hs_control_port_events(watch->node, HS_EVENT_NO_ROOM_MTU) +
			hs_control_port_events(watch->node, HS_EVENT_SHADOWED_NAMESPACE);
	if (watch->walking || (seen == watch->walk_seen && now_ns < watch->untold_ns))
		return;
	watch->walk_seen = seen;
	watch->untold_ns = INT64_MAX;
	watch->walking = true;
	hs_control_continue_walk(watch, now_ns);
}

static void watch_lost_reports(
		struct control_watch *watch, int64_t now_ns, const struct hs_node_totals *totals)
{
	uint64_t grown;
	if (!hs_event_limit(&watch->lost_limit, now_ns, totals->reports_lost, &grown))
		return;
	hs_control_event(watch->events, "reports_lost",
			json_pack("{s:I}", "reports", (json_int_t)grown),
			"%" PRIu64
			" reports were lost: a worker's ring had no place, or INT was too long",
			grown);
}

static void watch_lost_punts(
		struct control_watch *watch, int64_t now_ns, const struct hs_node_totals *totals)
{
	uint64_t grown;
	if (!hs_event_limit(&watch->punts_limit, now_ns, totals->signals_lost, &grown))
		return;
	hs_control_event(watch->events, "signals_lost",
			json_pack("{s:I}", "signals", (json_int_t)grown),
			"%" PRIu64 " in-band requests and reports were lost here: a worker's ring "
			"was full",
			grown);
}

static void watch_lost_lines(
		struct control_watch *watch, int64_t now_ns, const struct hs_node_totals *totals)
{
	uint64_t grown, lost = totals->influx_lines_queue_full + totals->influx_lines_refused;
	if (!hs_event_limit(&watch->influx_limit, now_ns, lost, &grown))
		return;
	hs_control_event(watch->events, "influx_lines_lost",
			json_pack("{s:I}", "lines", (json_int_t)grown),
			"%" PRIu64 " lines for databases were lost: a queue was full, or the "
			"database refused them",
			grown);
}

void hs_control_watch_losses(
		struct control_watch *watch, int64_t now_ns, const struct hs_node_totals *totals)
{
	watch_lost_reports(watch, now_ns, totals);
	watch_lost_punts(watch, now_ns, totals);
	watch_lost_lines(watch, now_ns, totals);
}

static void watch_cap(struct control_watch *watch, int64_t now_ns, uint32_t monitored_rules)
{
	uint32_t rules;
	uint64_t grown, refused = hs_control_refused(watch->rules, &rules);
	if (!hs_event_limit(&watch->cap_limit, now_ns, refused, &grown))
		return;
	hs_control_event(watch->events, "monitored_rules",
			json_pack("{s:I, s:I, s:I}", "limit", (json_int_t)monitored_rules, "rules",
					(json_int_t)rules, "reports", (json_int_t)grown),
			"%" PRIu32
			" rules are counted but not monitored: memory.monitored_rules is "
			"%" PRIu32,
			rules, monitored_rules);
}

static void watch_memory(struct control_watch *watch, int64_t now_ns)
{
	struct hs_qos_memory memory;
	uint64_t grown;
	hs_qos_memory(watch->qos, &memory);
	if (!hs_event_limit(&watch->memory_limit, now_ns, memory.evicted + memory.refused, &grown))
		return;
	hs_control_event(watch->events, "monitor_memory",
			json_pack("{s:I, s:I, s:I, s:I}", "limit_bytes",
					(json_int_t)memory.limit_bytes, "bytes",
					(json_int_t)memory.bytes, "monitors_evicted",
					(json_int_t)memory.evicted, "reports_refused",
					(json_int_t)memory.refused),
			"monitors take %" PRIu64 " MiB of memory.monitor_mib: %" PRIu64
			" of unusual size made room, %" PRIu64 " reports found none",
			memory.bytes >> 20, memory.evicted, memory.refused);
}

void hs_control_watch_monitor(struct control_watch *watch, int64_t now_ns, uint32_t monitored_rules)
{
	watch_cap(watch, now_ns, monitored_rules);
	watch_memory(watch, now_ns);
}

// Reports receive errors of an interface. A veth passes packets of any length that its other end
// sends. Without this event, a TCP connection would be slow and only a counter would say why.
static void watch_rx_errors(struct control_watch *watch, uint16_t index, int64_t now_ns)
{
	struct hs_port *port = hs_node_port(watch->node, index);
	struct hs_port_device_stats stats;
	uint64_t grown;

	if (port->config.kind != HS_PORT_IFACE)
		return;
	hs_port_device_stats(port, &stats);
	if (!hs_event_limit(&watch->rx_error_limits[index], now_ns, stats.rx_errors, &grown))
		return;
	static const char advice[] = "above its mtu, or large frames that no port cuts, such as "
				     "segments within a tunnel, and lost: raise the mtu, or switch "
				     "that segmentation off on the other end";
	hs_log(HS_LOG_WARNING, "control", "port '%s': %" PRIu64 " packets were %s",
			port->config.name, grown, advice);
	hs_control_event(watch->events, "port_rx_errors",
			json_pack("{s:s, s:I}", "port", port->config.name, "packets",
					(json_int_t)grown),
			"port \"%s\": %" PRIu64 " packets were %s", port->config.name, grown,
			advice);
}

void hs_control_watch_ports(struct control_watch *watch, int64_t now_ns)
{
	for (uint16_t i = 0; i < hs_node_port_count(watch->node); i++)
		watch_rx_errors(watch, i, now_ns);
}

void hs_control_shift_watch(struct control_watch *watch, int64_t by_ns)
{
	struct hs_event_limit *all[] = {&watch->lost_limit, &watch->cap_limit, &watch->memory_limit,
			&watch->punts_limit, &watch->influx_limit};

	hs_clock_shift(&watch->untold_ns, by_ns);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		hs_clock_shift(&all[i]->next_ns, by_ns);
	for (unsigned i = 0; i < HS_MAX_PORTS; i++)
		hs_clock_shift(&watch->rx_error_limits[i].next_ns, by_ns);
}
