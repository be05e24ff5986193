// SPDX-License-Identifier: BSD-3-Clause
// INT-label: datagrams in, the database, and which ports were not seen.
#include "controller_label.h"

#include "controller_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS	     8 // in the shortest time that something waits for
#define STEP_MIN_NS  MS_NS
#define STEP_MAX_NS  (50 * MS_NS)
#define POLL_NODE_MS INT64_C(2)
#define POLL_MIN_MS  INT64_C(10)
#define POLL_MAX_MS  INT64_C(1000)

// ---- life ----

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// Returns the time between two polls of a node. By default, a node is polled once in an interval of
// coverage, unless there are very many nodes.
static int64_t poll_of(const struct hs_controller_label_config *config, unsigned n_nodes)
{
	int64_t ms = n_nodes * POLL_NODE_MS;

	if (config->poll_ms)
		return config->poll_ms * MS_NS;
	ms = ms > config->interval_ms ? ms : config->interval_ms;
	return (ms < POLL_MIN_MS ? POLL_MIN_MS : least(ms, POLL_MAX_MS)) * MS_NS;
}

static int64_t step_of(const struct controller_label *label)
{
	const struct hs_controller_label_config *config = label->config;
	int64_t ns = least(config->interval_ms * MS_NS, label->poll_ns);

	if (config->pro.on)
		ns = least(ns, least(label->pro.patience_ns, label->pro.repeat_ns));
	ns = least(ns / STEPS, STEP_MAX_NS);
	return ns > STEP_MIN_NS ? ns : STEP_MIN_NS;
}

static int open_label(struct controller_label *label, unsigned n_nodes)
{
	const struct hs_controller_label_config *config = label->config;
	const struct hs_label_database_config database = {
			.ports = config->ports,
			.series = config->series,
			.interval_ns = config->interval_ms * MS_NS,
			.age_ns = config->age_ms * MS_NS,
	};

	label->pro = (struct hs_label_pro){
			.patience_ns = (int64_t)(config->pro.k * config->pro.interval_ms * MS_NS),
			.repeat_ns = config->pro.repeat_ms * MS_NS,
			.max_shift = (uint8_t)config->pro.max_shift,
	};
	label->poll_ns = poll_of(config, n_nodes);
	label->step_ns = step_of(label);
	label->nodes = calloc(n_nodes + 1, sizeof(*label->nodes));
	if (!label->nodes)
		return -ENOMEM;
	label->n_nodes = n_nodes;
	return hs_label_database_create(&database, &label->database);
}

int controller_open_label(struct hs_controller *controller)
{
	const struct hs_controller_config *config = controller->config;

	if (!config->label.on)
		return 0;
	controller->label = calloc(1, sizeof(*controller->label));
	if (!controller->label)
		return -ENOMEM;
	controller->label->config = &config->label;
	controller->label->next_ns = controller->now_ns;
	int rc = open_label(controller->label, config->n_nodes);
	// The first polls of the nodes are spread over the time between two polls.
	for (unsigned i = 0; rc == 0 && i < config->n_nodes; i++)
		controller->label->nodes[i].next_poll_ns =
				controller->now_ns +
				controller->label->poll_ns * i / config->n_nodes;
	return rc;
}

void controller_close_label(struct hs_controller *controller)
{
	struct controller_label *label = controller->label;

	if (!label)
		return;
	for (unsigned i = 0; i < label->n_nodes; i++) {
		json_decref(label->nodes[i].batch);
		free(label->nodes[i].ports);
	}
	free(label->nodes);
	hs_label_database_destroy(label->database);
	free(label);
	controller->label = NULL;
}

// ---- time ----

int64_t controller_label_ns(const struct hs_controller *controller)
{
	return controller->now_ns - controller->label->skew_ns;
}

void controller_shift_label(struct hs_controller *controller, int64_t ns)
{
	if (controller->label)
		controller->label->skew_ns += ns;
}

int64_t controller_label_next_ns(const struct hs_controller *controller)
{
	const struct controller_label *label = controller->label;
	return label ? label->next_ns + label->skew_ns : INT64_MAX;
}

// ---- datagrams ----

int controller_label_owner(const struct hs_controller *controller, uint16_t node_id)
{
	unsigned none = controller->config->n_nodes, i = controller->by_id[node_id];

	return i == none || controller->nodes[i].next_same_id != none ? -1 : (int)i;
}

bool controller_label_is_device(const struct hs_controller *controller, uint16_t id)
{
	return id < PROTOTYPE_IDS && controller->label->devices[id];
}

struct label_port *controller_label_port(const struct label_node *node, uint8_t key)
{
	for (unsigned i = 0; i < node->n_ports; i++)
		if (node->ports[i].key == key)
			return &node->ports[i];
	return NULL;
}

void controller_label_adopt(struct hs_controller *controller, uint16_t node_id, uint8_t key)
{
	struct controller_label *label = controller->label;
	int owner = controller_label_owner(controller, node_id);
	const struct label_node *node = owner < 0 ? NULL : &label->nodes[owner];
	const struct label_port *port =
			node && node->known ? controller_label_port(node, key) : NULL;
	const struct hs_label_entry *entry = hs_label_database_find(label->database, node_id, key);

	if (port && entry && !entry->wish.shift && !entry->wish.sent && !entry->wish.confirmed)
		hs_label_pro_set(label->database, controller_label_ns(controller), node_id, key,
				port->shift);
}

// Takes an item of a known port. If items of unknown ports were taken, any sender could fill the
// database with ports that no node has.
static void take_item(
		struct hs_controller *controller, const struct hs_label_item *item, bool is_device)
{
	struct controller_label *label = controller->label;
	int owner = controller_label_owner(controller, item->node_id);
	const struct label_node *node = owner < 0 ? NULL : &label->nodes[owner];

	if (!node && !is_device)
		label->counters.unknown_node++;
	else if (node && node->known && !controller_label_port(node, item->egress_port))
		label->counters.unknown_port++;
	else if (hs_label_database_take(label->database, controller_label_ns(controller), item) ==
			HS_LABEL_TAKEN_NEW)
		controller_label_adopt(controller, item->node_id, item->egress_port);
}

void controller_label_take(
		struct hs_controller *controller, const uint8_t *payload, size_t len, bool cut)
{
	struct controller_label *label = controller->label;
	struct hs_label_export export;
	struct hs_label_item item;

	label->counters.datagrams++;
	int rc = cut ? 0 : hs_label_export_read(payload, len, &export);
	if (cut)
		label->counters.too_long++;
	else if (rc == -EMSGSIZE)
		label->counters.bad_length++;
	else if (rc < 0)
		label->counters.bad_flags++;
	else if (!export.n_items)
		label->counters.empty++;
	else // the newest is first
		for (unsigned i = export.n_items; i > 0; i--) {
			hs_label_item_read(export.items + (i - 1) * HS_LABEL_ITEM_BYTES, &item);
			take_item(controller, &item, false);
		}
}

// ---- frames of the prototype ----

// Takes an item of the prototype. Byte 3 of such an item is reserved. A program that may write to
// the interface may also add devices.
static void take_prototype(struct hs_controller *controller, const uint8_t *bytes)
{
	struct hs_label_item item;

	hs_label_item_read(bytes, &item);
	item.node_id %= PROTOTYPE_IDS;
	bool is_device = controller->by_id[item.node_id] == controller->config->n_nodes;
	controller->label->devices[item.node_id] |= is_device;
	take_item(controller, &item, is_device);
}

void controller_label_frame(struct hs_controller *controller, const uint8_t *frame, size_t len)
{
	struct controller_label *label = controller->label;
	struct hs_label_stack stack;

	label->counters.frames++;
	int rc = hs_label_prototype_open(frame, len, &stack);
	if (rc == -EMSGSIZE)
		label->counters.frames_short++;
	else if (rc < 0)
		label->counters.frames_foreign++;
	else if (!stack.n_items)
		label->counters.frames_empty++;
	else // the newest is first
		for (unsigned i = stack.n_items; i > 0; i--)
			take_prototype(controller, stack.items + (i - 1) * HS_LABEL_ITEM_BYTES);
}

// ---- what is not seen ----

static void tell_not_seen(struct hs_controller *controller, const struct hs_label_entry *longest,
		unsigned ports)
{
	const struct controller_label *label = controller->label;
	int owner = controller_label_owner(controller, longest->node_id);
	const char *node = owner < 0 ? "" : controller->config->nodes[owner].name;
	const struct label_port *port =
			owner < 0 ? NULL
				  : controller_label_port(&label->nodes[owner], longest->port);
	const char *name = port ? port->name : "";
	char id[8];

	snprintf(id, sizeof(id), "%u", longest->node_id);
	hs_controller_event(controller, "ports_not_seen",
			json_pack("{s:s, s:i, s:s, s:i, s:I}", "node", node, "node_id",
					longest->node_id, "port", name, "ports", (int)ports,
					"intervals", (json_int_t)longest->missed),
			"%u active ports were not seen in the last interval; port %u (%s) of node "
			"\"%s\" not for %" PRIu64 " intervals",
			ports, longest->port, name, owner < 0 ? id : node, longest->missed);
}

void controller_label_look_at_coverage(struct hs_controller *controller)
{
	struct controller_label *label = controller->label;
	const struct hs_label_entry *longest = NULL;
	unsigned ports = 0;
	uint64_t intervals = hs_label_database_coverage(label->database)->intervals, grown;
	uint64_t passed = intervals - label->intervals;

	label->intervals = intervals;
	if (!passed)
		return;
	for (uint32_t i = 0; i < hs_label_database_count(label->database); i++) {
		const struct hs_label_entry *entry = hs_label_database_entry(label->database, i);
		if (!entry->missed)
			continue;
		ports++;
		label->counters.not_seen += entry->missed < passed ? entry->missed : passed;
		if (!longest || entry->missed > longest->missed)
			longest = entry;
	}
	if (longest && hs_event_limit(&label->limit, controller_label_ns(controller),
				       label->counters.not_seen, &grown))
		tell_not_seen(controller, longest, ports);
}
