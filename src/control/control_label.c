// SPDX-License-Identifier: BSD-3-Clause
#include "control_label.h"

#include "api_label.h"
#include "label_steps.h"
#include "node.h"
#include "rule_admission.h"

#include <assert.h>
#include <stdio.h>

static_assert(HS_API_LABEL_SHIFT == HS_LABEL_MAX_SHIFT, "a port takes each S that label_set takes");

// ---- label_set ----

struct shown_set {
	json_t *ports;
};

const struct hs_schema_field hs_control_label_set_fields[] = {
		HS_SCHEMA_ROW(struct shown_set, TAKEN, ports, "the ports as they are now",
				.items = hs_api_label_fields),
		{NULL},
};

// Returns the state of the port that has this number in items, or NULL if it does not label.
static struct hs_label_port *find(const struct hs_node *node, uint32_t id)
{
	for (uint16_t p = 0; p < hs_node_port_count(node); p++)
		if (hs_port_id(hs_node_port(node, p)) == id)
			return hs_node_label(node, p);
	return NULL;
}

static uint32_t shift_of(const struct hs_label_port *port)
{
	return __atomic_load_n(&port->shift, __ATOMIC_RELAXED);
}

json_t *hs_control_labels_now(
		const struct hs_node *node, const json_t *labels, struct hs_error *err)
{
	json_t *now = json_array();

	for (size_t i = 0; i < json_array_size(labels); i++) {
		struct hs_api_label label = hs_api_label_at(labels, i);
		const struct hs_label_port *port = find(node, label.id);
		char at[32];
		snprintf(at, sizeof(at), "ports[%zu].id", i);
		if (!port) {
			hs_error_set(err, "unknown_port", at, "the id of a port with INT-label",
					"%s: no port with the id %u labels packets", at, label.id);
			json_decref(now);
			return NULL;
		}
		label.shift = shift_of(port);
		json_array_append_new(now, hs_schema_print(hs_api_label_fields, &label));
	}
	return now;
}

json_t *hs_control_set_labels(struct hs_node *node, const json_t *labels, struct hs_error *err)
{
	for (size_t i = 0; i < json_array_size(labels); i++) {
		struct hs_api_label label = hs_api_label_at(labels, i);
		struct hs_label_port *port = find(node, label.id);
		if (port) // the plan has found all of them
			hs_label_port_set_shift(port, label.shift);
	}
	const struct shown_set shown = {hs_control_labels_now(node, labels, err)};
	return hs_schema_print(hs_control_label_set_fields, &shown);
}

// ---- label_get ----

struct shown_label {
	const char *name;
	uint32_t id, shift, ip_protocol, max_hops;
	int64_t interval_ns, rest_ns;
	uint64_t labels_by_interval, labels_by_chance, labels_by_flow;
	uint64_t unlabelled_mtu, unlabelled_carrier, unlabelled_foreign, unlabelled_full,
			unlabelled_room, unlabelled_claim;
};

#define LABEL(...) HS_SCHEMA_ROW(struct shown_label, __VA_ARGS__)
static const struct hs_schema_field shown_label_fields[] = {
		LABEL(STRING, name, "the port's name"),
		LABEL(UINT, id, "the port's number in items"),
		LABEL(UINT, shift, "S: the interval in force is interval_ns / 2^S"),
		LABEL(UINT, interval_ns,
				"T: how long after a label the port labels the next packet"),
		LABEL(UINT, rest_ns, "T1: how long after a label no packet is labelled by chance"),
		LABEL(UINT, ip_protocol, "the IPv4 protocol of labelled packets"),
		LABEL(UINT, max_hops, "the most items of an ordinary packet"),
		LABEL(UINT, labels_by_interval, "packets labelled because the interval was over"),
		LABEL(UINT, labels_by_chance,
				"packets labelled before that, because they had items"),
		LABEL(UINT, labels_by_flow, "packets labelled before that, of specific flows"),
		LABEL(UINT, unlabelled_mtu, "packets to label that would exceed the port's MTU"),
		LABEL(UINT, unlabelled_carrier,
				"packets to label that take no item: fragments, and what is not "
				"IP"),
		LABEL(UINT, unlabelled_foreign,
				"packets to label that claim INT-label and are not well formed"),
		LABEL(UINT, unlabelled_full, "packets to label that have all items they may have"),
		LABEL(UINT, unlabelled_room, "packets to label whose buffer has no room"),
		LABEL(UINT, unlabelled_claim,
				"packets to label that another worker was faster than"),
		{NULL},
};
const struct hs_schema_field hs_control_label_fields[] = {
		HS_SCHEMA_ROW(struct shown_set, TAKEN, ports, "each port that labels",
				.items = shown_label_fields),
		{NULL},
};

static json_t *show(const struct hs_node *node, uint16_t p, const uint64_t *events)
{
	const struct hs_label_profile *profile = hs_profile_label(hs_node_profile(node, p));
	const struct hs_port *port = hs_node_port(node, p);
	const struct shown_label shown = {
			.name = port->config.name,
			.id = hs_port_id(port),
			.shift = shift_of(hs_node_label(node, p)),
			.ip_protocol = profile->wire.ip_protocol,
			.max_hops = profile->wire.max_hops,
			.interval_ns = profile->rule.interval_ns,
			.rest_ns = profile->rule.rest_ns,
			.labels_by_interval = events[HS_EVENT_LABELLED_INTERVAL],
			.labels_by_chance = events[HS_EVENT_LABELLED_CHANCE],
			.labels_by_flow = events[HS_EVENT_LABELLED_FLOW],
			.unlabelled_mtu = events[HS_EVENT_UNLABELLED_MTU],
			.unlabelled_carrier = events[HS_EVENT_UNLABELLED_CARRIER],
			.unlabelled_foreign = events[HS_EVENT_UNLABELLED_FOREIGN],
			.unlabelled_full = events[HS_EVENT_UNLABELLED_FULL],
			.unlabelled_room = events[HS_EVENT_UNLABELLED_ROOM],
			.unlabelled_claim = events[HS_EVENT_UNLABELLED_CLAIM],
	};

	return hs_schema_print(shown_label_fields, &shown);
}

json_t *hs_control_labels(const struct hs_node *node)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	struct shown_set shown = {json_array()};

	hs_node_snapshot(node, ports);
	for (uint16_t p = 0; p < hs_node_port_count(node); p++)
		if (hs_node_label(node, p))
			json_array_append_new(shown.ports, show(node, p, ports[p].events));
	return hs_schema_print(hs_control_label_fields, &shown);
}
