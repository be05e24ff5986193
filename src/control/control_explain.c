// SPDX-License-Identifier: BSD-3-Clause
#include "control_explain.h"
#include "control_clock.h"
#include "control_mtu.h"
#include "control_parts.h"
#include "control_rule.h"
#include "control_shadow.h"

#include "rule_admission.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>

// A rule whose last telemetry is older has stopped, whatever it measured before.
#define STOPPED_NS INT64_C(60000000000)

// ---- the reply ----

struct reason {
	const char *word;
	char text[256];
	const char *port;
	uint64_t packets;
	uint32_t ns_id, mtu_needed;
};

#define REASON(...)    HS_SCHEMA_ROW(struct reason, __VA_ARGS__)
#define REASON_AS(...) HS_SCHEMA_ROW_AS(struct reason, __VA_ARGS__)
static const struct hs_schema_field reason_fields[] = {
		REASON_AS(STRING, "reason", word, "a word for scripts"),
		REASON(TEXT, text, "the reason as a sentence", .required = true),
		REASON(STRING, port, "the port that the reason is about", .optional = true),
		REASON(UINT, packets, "how many packets it concerned", .optional = true),
		REASON(UINT, ns_id, "the other rule", .optional = true),
		REASON_AS(UINT, "mtu_needed_bytes", mtu_needed, "the MTU that would be enough",
				.optional = true),
		{NULL},
};

struct explained {
	uint32_t ns_id, node_id;
	const char *name;
	bool source, transit, sink, measured;
	uint64_t packets, reports;
	json_t *reasons;
};

#define EXPLAINED(...) HS_SCHEMA_ROW(struct explained, __VA_ARGS__)
const struct hs_schema_field hs_control_explain_fields[] = {
		EXPLAINED(UINT, ns_id, "the rule", .min = 1, .max = UINT32_MAX),
		EXPLAINED(UINT, node_id, "the node's id", .max = UINT16_MAX),
		EXPLAINED(STRING, name, "the node's name"),
		EXPLAINED(BOOL, source, "packets were given telemetry here"),
		EXPLAINED(BOOL, transit, "packets were given this node's entry"),
		EXPLAINED(BOOL, sink, "telemetry was taken out here"),
		EXPLAINED(BOOL, measured, "this node computes the rule's metrics"),
		EXPLAINED(UINT, packets, "packets of the flow that came here"),
		EXPLAINED(UINT, reports, "reports made here"),
		EXPLAINED(TAKEN, reasons,
				"what keeps the rule from measuring here, or from measuring all",
				.items = reason_fields),
		{NULL},
};

// ---- what is known ----

struct look {
	struct hs_control *control;
	uint32_t slot;
	const struct hs_rule *rule;
	const struct rule_note *note; // may be NULL
	struct hs_flow_counters counts;
	bool has_host, has_network, has_method; // ports; the method on one of the network's
	// For a rule of method int: whether there is a mode of INT that takes values to the sink, a
	// carrier that the rule's protocol can be in, and a receiver of reports.
	bool has_values, has_carrier, has_receiver;
	const struct hs_int_settings *of; // of a network port; NULL: no port has the method
	uint64_t received;		  // by all ports
	json_t *reasons;
};

__attribute__((format(printf, 3, 4))) static void add(
		const struct look *look, struct reason reason, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason.text, sizeof(reason.text), format, args);
	va_end(args);
	json_array_append_new(look->reasons, hs_schema_print(reason_fields, &reason));
}

// Returns whether packets of a protocol can carry INT. Mode xd puts nothing into packets.
static bool can_carry(const struct hs_int_settings *settings, uint8_t protocol)
{
	bool by_port = settings->carrier == HS_INT_TCP_UDP &&
		       settings->mark == HS_INT_MARK_UDP_PORT && settings->version == HS_INT_2_1;

	if (protocol == HS_RULE_ANY_PROTOCOL || settings->mode == HS_INT_XD)
		return true;
	switch (settings->carrier) {
	case HS_INT_TCP_UDP: // version 2.1 adds a UDP header to other packets
		return protocol != IPPROTO_ICMPV6 || by_port;
	case HS_INT_GRE:
		return settings->gre_adds_tunnel;
	default:
		return protocol == IPPROTO_UDP;
	}
}

static void look_at_profile(struct look *look, const struct hs_int_settings *settings)
{
	look->of = settings;
	look->has_values |= settings->mode == HS_INT_MD;
	look->has_carrier |= can_carry(settings, look->rule->protocol);
}

static void look_at_exports(struct look *look)
{
	const struct hs_node_config *node = hs_node_config(look->control->node);

	for (unsigned i = 0; i < node->n_exports; i++)
		look->has_receiver |= node->exports[i].flows;
}

static void look_at_ports(struct look *look)
{
	struct hs_node *node = look->control->node;

	for (uint16_t i = 0; i < hs_node_port_count(node); i++) {
		const struct hs_profile *profile = &hs_node_config(node)->profiles[i];
		bool network = hs_node_port(node, i)->side == HS_SIDE_NETWORK;
		struct hs_port_counters counters;
		hs_node_port_counters(node, i, &counters);
		look->received += counters.rx_packets;
		look->has_host |= !network;
		look->has_network |= network;
		look->has_method |= hs_control_port_has_method(node, i, look->rule->method);
		if (network && look->rule->method == HS_RULE_INT && hs_profile_int(profile))
			look_at_profile(look, hs_profile_int(profile));
	}
}

// ---- reasons ----

static void explain_ports(const struct look *look)
{
	struct hs_node *node = look->control->node;

	for (uint16_t i = 0; i < hs_node_port_count(node); i++) {
		struct hs_port *port = hs_node_port(node, i);
		const char *name = port->config.name;
		struct hs_port_device_stats device;
		hs_port_device_stats(port, &device);
		uint64_t lost = device.rx_errors + device.rx_missed;
		if (!hs_port_link_up(port))
			add(look, (struct reason){.word = "link_down", .port = name},
					"port %s has no link", name);
		if (lost)
			add(look,
					(struct reason){.word = "lost_before",
							.port = name,
							.packets = lost},
					"%" PRIu64
					" packets were lost at port %s before the node could "
					"read them (rx_errors, rx_missed)",
					lost, name);
	}
}

// Explains that no packet of the flow came here.
static void explain_absence(const struct look *look)
{
	uint64_t taken;
	uint32_t by = hs_control_shadow_find(look->control->flows, look->slot, &taken);

	if (!look->received)
		add(look, (struct reason){.word = "nothing_received"},
				"no port of this node has received a packet");
	else if (by)
		add(look, (struct reason){.word = "shadowed", .ns_id = by, .packets = taken},
				"rule %" PRIu32 " takes the packets that match both rules: "
				"%" PRIu64 " packets came for it",
				by, taken);
	else
		add(look, (struct reason){.word = "no_packets"},
				"no packet of this flow came here since the rule was installed: "
				"none had the addresses, ports and protocol of the rule. Since the "
				"node started, %" PRIu64 " packets came",
				look->received);
	explain_ports(look);
}

// Names missing ports: packets get telemetry on their way from a host port to a network port.
static void explain_missing_ports(const struct look *look)
{
	const char *method = hs_rule_method_name(look->rule->method);

	if (!look->has_network)
		add(look, (struct reason){.word = "no_network_port"},
				"no port of this node has side network, so that telemetry leaves "
				"nowhere");
	else if (!look->has_method)
		add(look, (struct reason){.word = "other_method"},
				"the rule has method %s, and no network port of this node has it",
				method);
	else if (!look->has_host)
		add(look, (struct reason){.word = "no_host_port"},
				"no port of this node has side host: packets must bring telemetry, "
				"and none did");
}

static void explain_hop(const struct look *look)
{
	if (!look->rule->hop_enabled)
		add(look, (struct reason){.word = "hop_disabled"},
				"hop_enabled is false: this node adds no data of its own");
}

static void explain_sending(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;

	if (c->rx_packets && c->tx_packets == 0)
		add(look, (struct reason){.word = "not_sent", .packets = c->rx_packets},
				"%" PRIu64
				" packets of the flow came, and none was sent: drops_get "
				"says why",
				c->rx_packets);
}

static bool is_label(const struct look *look)
{
	return look->rule->method == HS_RULE_LABEL;
}

static void explain_room(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;

	if (c->no_room_mtu)
		add(look,
				(struct reason){.word = "no_room_mtu",
						.packets = c->no_room_mtu,
						.mtu_needed = c->mtu_needed},
				"%" PRIu64
				" packets went on without telemetry: they need an MTU of "
				"%" PRIu32 " bytes at the port that they leave by",
				c->no_room_mtu, c->mtu_needed);
	if (c->no_room_headroom)
		add(look,
				(struct reason){.word = "no_room_headroom",
						.packets = c->no_room_headroom},
				"%" PRIu64 " packets went on without telemetry: their buffers have "
				"no room",
				c->no_room_headroom);
	if (c->no_room_option && !look->of)
		add(look, (struct reason){.word = "no_room_option", .packets = c->no_room_option},
				"%" PRIu64 " packets went on without this node's data: %s",
				c->no_room_option,
				is_label(look) ? "they are fragments, or an item has no place "
						 "in them (unlabelled_* of the port)"
					       : "their option is full");
}

// Returns where in packets a profile puts INT.
static const char *carrier_text(const struct hs_int_settings *settings)
{
	static const char *const carriers[] = {
			[HS_INT_TCP_UDP] = "TCP and UDP",
			[HS_INT_GRE] = "GRE",
			[HS_INT_VXLAN_GPE] = "VXLAN-GPE",
			[HS_INT_GENEVE] = "Geneve, whose options must have room",
	};
	return carriers[settings->carrier];
}

// Explains, for a rule of method int, that its packets have no carrier for INT.
static void explain_carrier(const struct look *look)
{
	uint64_t packets = look->counts.no_room_option;

	if (look->of && packets)
		add(look, (struct reason){.word = "no_carrier", .packets = packets},
				"%" PRIu64 " packets went on without telemetry: INT is in %s here "
				"(profile of the port), and not in fragments",
				packets, carrier_text(look->of));
	else if (look->of && !look->has_carrier)
		add(look, (struct reason){.word = "no_carrier"},
				"packets of this protocol cannot carry telemetry: INT is in %s "
				"here (profile of the port)",
				carrier_text(look->of));
}

// Explains a rule of method int whose values are only in telemetry reports.
static void explain_reporting(const struct look *look)
{
	bool xd = look->of->mode == HS_INT_XD;

	add(look, (struct reason){.word = "no_metrics"},
			"INT has mode %s here: packets carry %s, each node %s sends its values to "
			"collectors in telemetry reports, and no node computes metrics",
			hs_int_mode_name(look->of->mode), xd ? "nothing" : "instructions alone",
			xd ? "that has the rule" : "of the path");
	explain_hop(look);
	explain_sending(look);
	if (!look->has_receiver)
		add(look, (struct reason){.word = "no_receiver"},
				"no entry of export here asks for reports of flows: this node "
				"sends none");
}

// Returns whether sampling alone explains that fewer than two packets were given telemetry, which
// metrics need; of a rule of method label, that none was. Mode count begins with the first packet.
// A packet that was due and had no room makes the next one due.
static bool is_sampled_out(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;
	double packets = (double)c->rx_packets, setting = look->rule->mode_setting;
	bool may = look->has_host && look->has_network && look->has_method;
	bool refused = c->no_room_mtu || c->no_room_headroom || c->no_room_option;

	if (!may || c->int_packets > !is_label(look) || (!c->int_packets && refused) ||
			(look->of && !look->has_carrier))
		return false;
	return (look->rule->mode == HS_MODE_COUNT && packets <= setting) ||
	       (look->rule->mode == HS_MODE_PROBABILITY && packets * setting < 200);
}

static void explain_sampling(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;
	struct reason reason = {.word = "sampled_out", .packets = c->rx_packets};

	if (!is_sampled_out(look))
		return;
	if (is_label(look))
		add(look, reason,
				"%" PRIu64 " packets came, and by mode and setting none of them "
				"became one of a specific flow here",
				c->rx_packets);
	else
		add(look, reason,
				"%" PRIu64 " packets came, and by mode and setting %" PRIu64
				" of them carried telemetry: metrics need two",
				c->rx_packets, c->int_packets);
}

// Explains that packets came, but none with telemetry.
static void explain_silence(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;
	struct hs_in_band_shown shown = hs_in_band_show(look->control->in_band, look->slot);
	size_t before = json_array_size(look->reasons);

	json_decref(shown.own);
	json_decref(shown.in_band);
	explain_missing_ports(look);
	explain_hop(look);
	explain_sending(look);
	if (shown.advertises && shown.request_waits)
		add(look, (struct reason){.word = "request_waits"},
				"telemetry waits until a packet of the flow can carry the request "
				"in band");
	else
		explain_sampling(look);
	if (json_array_size(look->reasons) == before && !c->no_room_mtu && !c->no_room_headroom &&
			!c->no_room_option && (!look->of || look->has_carrier))
		add(look, (struct reason){.word = "no_telemetry", .packets = c->rx_packets},
				"%" PRIu64 " packets came without telemetry, and none went from a "
				"host port to a network port here%s",
				c->rx_packets,
				is_label(look) ? ", or the port says why not (unlabelled_*)" : "");
}

static void explain_reports(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;

	if (c->reports_lost)
		add(look, (struct reason){.word = "reports_lost", .packets = c->reports_lost},
				"%" PRIu64 " reports were lost: the ring of a worker was full%s",
				c->reports_lost,
				look->of ? ", or the values in a packet had more than 255 bytes"
					 : "");
	if (look->note && look->note->unmonitored)
		add(look, (struct reason){.word = "not_monitored"},
				"there are more rules with reports than memory.monitored_rules and "
				"memory.monitor_mib allow");
	if (c->reports_made == 1)
		add(look, (struct reason){.word = "one_report"},
				"one report was made, which is the baseline: metrics begin with "
				"the "
				"second");
}

// Explains a rule of method label: its items go to receivers of `export`.
static void explain_label(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;
	uint64_t with = c->int_packets + c->hop_entries + c->sink_packets;

	if (!with)
		return;
	if (!c->sink_packets)
		explain_sampling(look);
	add(look, (struct reason){.word = "label", .packets = with},
			"%" PRIu64 " packets became those of a specific flow here, %" PRIu64
			" others were labelled here, and items of %" PRIu64
			" were taken out here: receivers of export with format label get the "
			"items, and a rule of method label has no metrics",
			c->int_packets, c->hop_entries, c->sink_packets);
}

// Explains that telemetry leaves this node and the sink is another node.
static void explain_elsewhere(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;
	uint64_t with = c->int_packets + c->hop_entries;
	int64_t age_ns = look->control->now_ns - c->last_int_ns;

	explain_sampling(look);
	explain_sending(look);
	if (c->tx_packets)
		add(look, (struct reason){.word = "sink_elsewhere", .packets = with},
				"%" PRIu64
				" packets left here with telemetry: metrics are made at the "
				"sink, and if the sink has no reports, the telemetry was lost "
				"behind this node",
				with);
	if (c->last_int_ns && age_ns > STOPPED_NS)
		add(look, (struct reason){.word = "stopped"},
				"the last packet was given telemetry %" PRId64 " s ago",
				age_ns / 1000000000);
}

static void explain_clock(const struct look *look)
{
	if (hs_control_clock_is_off(&look->control->clock))
		add(look, (struct reason){.word = "clock"},
				"this node's clock is not synchronised: delays between nodes are "
				"wrong by its error");
}

static void explain_measuring(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;

	if (c->rx_packets && !c->int_packets && !c->hop_entries && !c->sink_packets)
		explain_silence(look);
	if (is_label(look))
		explain_label(look);
	else if (c->sink_packets || c->reports_made)
		explain_reports(look);
	else if (c->int_packets || c->hop_entries)
		explain_elsewhere(look);
}

static void explain(const struct look *look)
{
	const struct hs_flow_counters *c = &look->counts;
	uint32_t by = hs_flow_table_shadowed_by(look->control->flows, look->slot);

	if (by)
		add(look, (struct reason){.word = "shadowed", .ns_id = by},
				"rule %" PRIu32 " takes packets of this rule", by);
	if (!c->rx_packets && !by)
		explain_absence(look);
	explain_room(look);
	explain_carrier(look);
	if (look->of && !look->has_values)
		explain_reporting(look);
	else
		explain_measuring(look);
	explain_clock(look);
}

int hs_control_explain(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	struct look look = {.control = control};

	if (hs_control_find_rule(&control->rules, args->ns_id, &look.slot, err) < 0)
		return -ENOENT;
	uint32_t slot = look.slot;
	look.rule = hs_flow_table_rule(control->flows, slot);
	look.note = hs_control_find_note(&control->rules, slot);
	look.reasons = json_array();
	hs_flow_table_counters(control->flows, slot, &look.counts);
	look_at_ports(&look);
	look_at_exports(&look);
	explain(&look);
	const struct explained explained = {
			.ns_id = args->ns_id,
			.node_id = hs_node_config(control->node)->id,
			.name = hs_node_config(control->node)->name,
			.source = look.counts.int_packets > 0,
			.transit = look.counts.hop_entries > 0,
			.sink = look.counts.sink_packets > 0,
			.measured = look.note && look.note->monitored,
			.packets = look.counts.rx_packets,
			.reports = look.counts.reports_made,
			.reasons = look.reasons,
	};
	*result = hs_schema_print(hs_control_explain_fields, &explained);
	return 0;
}
