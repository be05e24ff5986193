// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_telemetry.h"

#include <rte_telemetry.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A reply of rte_telemetry is truncated at 16 KiB; this many rules fit.
#define RULES_PER_PAGE 32

struct hs_dpdk_telemetry {
	struct hs_node *node;
	char version[32];
	char boot_id[32];
	pthread_mutex_t lock; // protects rules and totals
	struct hs_node_totals totals;
};

// Only one node can be shown, because commands carry no context.
static pthread_mutex_t shown_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hs_dpdk_telemetry *shown;

// Names in replies may contain only letters, digits, '_' and '/'.
static void copy_name(char *to, size_t size, const char *name)
{
	size_t i = 0;
	for (; name[i] && i + 1 < size; i++) {
		char c = name[i];
		bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '_';
		to[i] = c;
		if (!fine)
			to[i] = '_';
	}
	to[i] = '\0';
}

static void add_scope(struct rte_tel_data *dict, enum hs_metric_scope scope,
		const struct hs_metric_view *view)
{
	for (const struct hs_metric *metric = hs_metrics[scope]; metric->field.key; metric++) {
		int64_t value = hs_metric_value(metric, view);
		rte_tel_data_add_dict_u64(dict, metric->field.key, value < 0 ? 0 : (uint64_t)value);
	}
}

static struct rte_tel_data *add_dict(struct rte_tel_data *parent, const char *name)
{
	char key[64];
	copy_name(key, sizeof(key), name);
	struct rte_tel_data *dict = rte_tel_data_alloc();
	if (!dict)
		return NULL;
	rte_tel_data_start_dict(dict);
	if (rte_tel_data_add_dict_container(parent, key, dict, 0) < 0) {
		rte_tel_data_free(dict);
		return NULL;
	}
	return dict;
}

static int show_info(struct hs_dpdk_telemetry *t, const char *params, struct rte_tel_data *reply)
{
	(void)params;
	const struct hs_node_config *config = hs_node_config(t->node);
	struct hs_metric_view view = {.node = t->totals};

	rte_tel_data_add_dict_string(reply, "name", config->name);
	rte_tel_data_add_dict_string(reply, "version", t->version);
	rte_tel_data_add_dict_string(reply, "boot_id", t->boot_id);
	rte_tel_data_add_dict_u64(reply, "node_id", config->id);
	add_scope(reply, HS_SCOPE_NODE, &view);
	return 0;
}

static int show_clock(struct hs_dpdk_telemetry *t, const char *params, struct rte_tel_data *reply)
{
	(void)params;
	struct hs_metric_view view = {.node = t->totals};
	add_scope(reply, HS_SCOPE_CLOCK, &view);
	// The other numbers are unsigned. The sign of this number matters.
	char offset[32];
	snprintf(offset, sizeof(offset), "%lld", (long long)t->totals.clock_offset_ns);
	rte_tel_data_add_dict_string(reply, "signed_offset_ns", offset);
	return 0;
}

static int show_ports(struct hs_dpdk_telemetry *t, const char *params, struct rte_tel_data *reply)
{
	(void)params;
	struct hs_port_counters ports[HS_MAX_PORTS];
	hs_node_snapshot(t->node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(t->node); i++) {
		struct hs_metric_view view;
		struct rte_tel_data *dict = add_dict(reply, hs_node_port(t->node, i)->config.name);
		if (!dict)
			return -ENOMEM;
		hs_metric_view_port(t->node, i, &ports[i], &view);
		add_scope(dict, HS_SCOPE_PORT, &view);
	}
	return 0;
}

static int show_drops(struct hs_dpdk_telemetry *t, const char *params, struct rte_tel_data *reply)
{
	(void)params;
	struct hs_port_counters ports[HS_MAX_PORTS];
	hs_node_snapshot(t->node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(t->node); i++) {
		struct rte_tel_data *dict = add_dict(reply, hs_node_port(t->node, i)->config.name);
		if (!dict)
			return -ENOMEM;
		for (unsigned drop = 0; drop < HS_DROP_COUNT; drop++)
			rte_tel_data_add_dict_u64(dict, hs_drop_name(drop), ports[i].drops[drop]);
	}
	return 0;
}

static int show_lcores(struct hs_dpdk_telemetry *t, const char *params, struct rte_tel_data *reply)
{
	(void)params;
	for (unsigned i = 0; i < hs_node_config(t->node)->n_workers; i++) {
		char name[24];
		snprintf(name, sizeof(name), "worker%u", i);
		struct hs_metric_view view;
		struct rte_tel_data *dict = add_dict(reply, name);
		if (!dict)
			return -ENOMEM;
		hs_node_worker_counters(t->node, i, &view.worker);
		add_scope(dict, HS_SCOPE_WORKER, &view);
	}
	return 0;
}

static int show_rules(struct hs_dpdk_telemetry *t, const char *params, struct rte_tel_data *reply)
{
	struct hs_flow_table *flows = hs_node_flows(t->node);
	unsigned long offset = params ? strtoul(params, NULL, 10) : 0;
	unsigned long at = 0;
	uint32_t slot = HS_FLOW_NONE;
	bool more = false;

	rte_tel_data_add_dict_u64(reply, "count", hs_flow_table_count(flows));
	while (hs_flow_table_next(flows, &slot)) {
		if (at++ < offset)
			continue;
		more = at > offset + RULES_PER_PAGE;
		if (more)
			break;
		char name[16];
		snprintf(name, sizeof(name), "ns_%u", hs_flow_table_rule(flows, slot)->ns_id);
		struct hs_metric_view view;
		struct rte_tel_data *dict = add_dict(reply, name);
		if (!dict)
			return -ENOMEM;
		hs_flow_table_counters(flows, slot, &view.rule);
		add_scope(dict, HS_SCOPE_RULE, &view);
	}
	if (more)
		rte_tel_data_add_dict_u64(reply, "next", offset + RULES_PER_PAGE);
	return 0;
}

static const struct command {
	const char *name;
	const char *help;
	int (*show)(struct hs_dpdk_telemetry *t, const char *params, struct rte_tel_data *reply);
} commands[] = {
		{"/hopsight/info", "The node: name, version, totals. No parameters", show_info},
		{"/hopsight/ports", "Counters of every port. No parameters", show_ports},
		{"/hopsight/rules", "Counters of 32 rules. Parameter: how many to skip",
				show_rules},
		{"/hopsight/drops", "Dropped packets by port and reason. No parameters",
				show_drops},
		{"/hopsight/lcores", "Counters of every worker. No parameters", show_lcores},
		{"/hopsight/clock", "State of the clock. No parameters", show_clock},
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int answer(const char *name, const char *params, struct rte_tel_data *reply)
{
	int rc = -ENODEV;
	rte_tel_data_start_dict(reply);
	pthread_mutex_lock(&shown_lock);
	for (size_t i = 0; shown && i < N_COMMANDS; i++) {
		if (strcmp(commands[i].name, name) != 0)
			continue;
		pthread_mutex_lock(&shown->lock);
		rc = commands[i].show(shown, params, reply);
		pthread_mutex_unlock(&shown->lock);
	}
	pthread_mutex_unlock(&shown_lock);
	return rc;
}

static int register_commands(void)
{
	static bool registered;
	for (size_t i = 0; !registered && i < N_COMMANDS; i++) {
		int rc = rte_telemetry_register_cmd(commands[i].name, answer, commands[i].help);
		if (rc < 0)
			return rc;
	}
	registered = true;
	return 0;
}

int hs_dpdk_telemetry_create(
		const struct hs_dpdk_telemetry_config *config, struct hs_dpdk_telemetry **telemetry)
{
	struct hs_dpdk_telemetry *t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->node = config->node;
	snprintf(t->version, sizeof(t->version), "%s", config->version);
	snprintf(t->boot_id, sizeof(t->boot_id), "%s", config->boot_id);
	pthread_mutex_init(&t->lock, NULL);

	pthread_mutex_lock(&shown_lock);
	int rc = shown ? -EBUSY : register_commands();
	if (rc == 0)
		shown = t;
	pthread_mutex_unlock(&shown_lock);
	if (rc < 0) {
		pthread_mutex_destroy(&t->lock);
		free(t);
		return rc;
	}
	*telemetry = t;
	return 0;
}

void hs_dpdk_telemetry_destroy(struct hs_dpdk_telemetry *telemetry)
{
	if (!telemetry)
		return;
	pthread_mutex_lock(&shown_lock);
	shown = NULL;
	pthread_mutex_unlock(&shown_lock);
	pthread_mutex_destroy(&telemetry->lock);
	free(telemetry);
}

void hs_dpdk_telemetry_update(
		struct hs_dpdk_telemetry *telemetry, const struct hs_node_totals *totals)
{
	if (!telemetry)
		return;
	pthread_mutex_lock(&telemetry->lock);
	telemetry->totals = *totals;
	pthread_mutex_unlock(&telemetry->lock);
}

void hs_dpdk_telemetry_lock(struct hs_dpdk_telemetry *telemetry)
{
	if (telemetry)
		pthread_mutex_lock(&telemetry->lock);
}

void hs_dpdk_telemetry_unlock(struct hs_dpdk_telemetry *telemetry)
{
	if (telemetry)
		pthread_mutex_unlock(&telemetry->lock);
}
