// SPDX-License-Identifier: BSD-3-Clause
#include "controller_config.h"

#include "api.h"
#include "machine.h"
#include "qos_lengths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG(member)	  HS_SCHEMA_MEMBER(struct hs_controller_config, member)
#define NODE(member)	  HS_SCHEMA_MEMBER(struct hs_controller_node_config, member)
#define ENDPOINTS(member) HS_ENDPOINTS(struct hs_controller_config, member, HS_ENDPOINT_BYTES - 1)

// ---- nodes ----

static const struct hs_schema_field node_fields[] = {
		{"name", HS_SCHEMA_TEXT, NODE(name), .required = true, .min = 1,
				.max = HS_CONTROLLER_NAME_BYTES - 1},
		{"id", HS_SCHEMA_UINT, NODE(id), .required = true, .min = 0, .max = 65535},
		{"api", HS_SCHEMA_TEXT, NODE(api), .required = true, .min = 1,
				.max = HS_CONTROLLER_TEXT_BYTES - 1},
		{"server_key", HS_SCHEMA_TEXT, NODE(server_key), .min = 0,
				.max = HS_CONTROLLER_TEXT_BYTES - 1},
		{NULL},
};

static void check_node(
		json_t *item, const char *at, void *into, size_t index, struct hs_errors *errors)
{
	const struct hs_controller_config *config = into;
	const struct hs_controller_node_config *node = &config->nodes[index];
	bool name = false, id = false; // another node has it, too
	char path[96];

	(void)item;
	for (size_t i = 0; i < index; i++) {
		name |= strcmp(config->nodes[i].name, node->name) == 0;
		// All end nodes without an id of their own have 0.
		id |= node->id && config->nodes[i].id == node->id;
	}
	snprintf(path, sizeof(path), "%s.name", at);
	if (name)
		hs_errors_add(errors, "bad_value", path, "each name once",
				"two nodes are called \"%s\"", node->name);
	snprintf(path, sizeof(path), "%s.id", at);
	if (id)
		hs_errors_add(errors, "bad_value", path, "each id but 0 once",
				"two nodes have the id %u", node->id);
}

static const struct hs_schema_list node_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = node_fields},
		HS_SCHEMA_ITEMS(struct hs_controller_config, nodes),
		HS_SCHEMA_COUNT(struct hs_controller_config, n_nodes),
		.heap = true,
		.noun = "nodes",
		.check_all = check_node,
};

int hs_controller_config_node(const struct hs_controller_config *config, const char *name)
{
	for (unsigned i = 0; i < config->n_nodes; i++)
		if (strcmp(config->nodes[i].name, name) == 0)
			return (int)i;
	return -1;
}

// ---- paths ----

static uint32_t find_node(const void *root, const char *name)
{
	int node = hs_controller_config_node(root, name);
	// A node whose name is missing or wrong may be the one that is meant.
	if (node < 0)
		node = hs_controller_config_node(root, "");
	return node < 0 ? HS_SCHEMA_NO_NAME : (uint32_t)node;
}

static const char *node_name(const void *root, uint32_t node)
{
	return ((const struct hs_controller_config *)root)->nodes[node].name;
}

static const struct hs_schema_names node_names = {
		"bad_value", "node", "the name of a node", find_node, node_name};

#define PATH(member) HS_SCHEMA_MEMBER(struct hs_controller_path, member)
static const struct hs_schema_list over_list = {
		.item = {.kind = HS_SCHEMA_NAME, .size = sizeof(uint16_t), .names = &node_names},
		HS_SCHEMA_ITEMS(struct hs_controller_path, nodes),
		HS_SCHEMA_COUNT(struct hs_controller_path, n),
		.heap = true,
		.noun = "nodes",
};
static const struct hs_schema_field path_fields[] = {
		{"name", HS_SCHEMA_TEXT, PATH(name), .required = true, .min = 1,
				.max = HS_CONTROLLER_NAME_BYTES - 1},
		{"nodes", HS_SCHEMA_LIST, PATH(nodes), .required = true, .min = 1,
				.max = HS_CONTROLLER_MAX_NODES,
				.expected = "a list of names of nodes", .list = &over_list},
		{NULL},
};

static int check_path(json_t *item, const char *at, void *into, size_t index, struct hs_error *err)
{
	const struct hs_controller_config *config = into;
	char path[96];

	(void)item;
	snprintf(path, sizeof(path), "%s.name", at);
	if (hs_controller_config_path(config, config->paths[index].name) != &config->paths[index])
		return hs_error_set(err, "bad_value", path, "each name once",
				"two paths are called \"%s\"", config->paths[index].name);
	return 0;
}

static const struct hs_schema_list path_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = path_fields},
		HS_SCHEMA_ITEMS(struct hs_controller_config, paths),
		HS_SCHEMA_COUNT(struct hs_controller_config, n_paths),
		.heap = true,
		.noun = "paths",
		.check = check_path,
};

const struct hs_controller_path *hs_controller_config_path(
		const struct hs_controller_config *config, const char *name)
{
	for (unsigned i = 0; i < config->n_paths; i++)
		if (strcmp(config->paths[i].name, name) == 0)
			return &config->paths[i];
	return NULL;
}

// ---- the whole ----

static bool has_keys(const void *from)
{
	const struct hs_controller_config *config = from;
	return config->secret_key[0] || config->allowed_keys[0];
}

static bool keeps_state(const void *from)
{
	return ((const struct hs_controller_config *)from)->state_file[0];
}

static bool is_scraped(const void *from)
{
	return ((const struct hs_controller_config *)from)->prometheus.on;
}

static bool has_label(const void *from)
{
	return ((const struct hs_controller_config *)from)->label.on;
}

static bool has_probing(const void *from)
{
	return ((const struct hs_controller_config *)from)->probing.on;
}

static const struct hs_schema_word metrics_words[] = {
		{"auto", HS_CONTROLLER_METRICS_AUTO},
		{"always", HS_CONTROLLER_METRICS_ALWAYS},
		{"never", HS_CONTROLLER_METRICS_NEVER},
		{NULL},
};

static const struct hs_schema_field controller_fields[] = {
		{"name", HS_SCHEMA_TEXT, CONFIG(name), .min = 1,
				.max = HS_CONTROLLER_NAME_BYTES - 1},
		{"metrics", HS_SCHEMA_WORD, CONFIG(metrics), .words = metrics_words},
		{"max_rules", HS_SCHEMA_UINT, CONFIG(max_rules), .min = 1, .max = 4194304},
		{"monitored_rules", HS_SCHEMA_UINT, CONFIG(monitored_rules), .min = 0,
				.max = 4194304},
		{"monitor_mib", HS_SCHEMA_UINT, CONFIG(monitor_mib), .min = 1, .max = 1048576},
		{"hello_ms", HS_SCHEMA_UINT, CONFIG(hello_ms), .min = 10, .max = 60000},
		{"timeout_ms", HS_SCHEMA_UINT, CONFIG(timeout_ms), .min = 10, .max = 60000},
		{"audit_s", HS_SCHEMA_UINT, CONFIG(audit_s), .min = 1, .max = 86400},
		{"windows_ms", HS_SCHEMA_CUSTOM, CONFIG(window_ns), .read = hs_qos_lengths_read,
				.print = hs_qos_lengths_print, .shape = HS_QOS_LENGTHS_SHAPE},
		{NULL},
};

static const struct hs_schema_field key_fields[] = {
		{"secret", HS_SCHEMA_TEXT, CONFIG(secret_key), .min = 1,
				.max = HS_CONTROLLER_TEXT_BYTES - 1},
		{"allowed", HS_SCHEMA_TEXT, CONFIG(allowed_keys), .min = 1,
				.max = HS_CONTROLLER_TEXT_BYTES - 1},
		{NULL},
};

static const struct hs_schema_field control_fields[] = {
		{"bind", HS_SCHEMA_LIST, ENDPOINTS(bind)},
		{"subscribe_bind", HS_SCHEMA_LIST, ENDPOINTS(subscribe_bind)},
		{"publish_bind", HS_SCHEMA_LIST, ENDPOINTS(publish_bind)},
		{"insecure", HS_SCHEMA_BOOL, CONFIG(insecure)},
		{"keys", HS_SCHEMA_OBJECT, .fields = key_fields, .given = has_keys},
		{NULL},
};

static const struct hs_schema_field state_fields[] = {
		{"file", HS_SCHEMA_TEXT, CONFIG(state_file), .required = true, .min = 1,
				.max = HS_CONTROLLER_TEXT_BYTES - 1},
		{"sync", HS_SCHEMA_BOOL, CONFIG(state_sync)},
		{NULL},
};

static const struct hs_schema_field fields[] = {
		{"controller", HS_SCHEMA_OBJECT, .fields = controller_fields},
		{"control", HS_SCHEMA_OBJECT, .fields = control_fields},
		{"nodes", HS_SCHEMA_LIST, CONFIG(nodes), .demanded = true,
				.max = HS_CONTROLLER_MAX_NODES, .expected = "a list of nodes",
				.list = &node_list},
		// Paths name nodes.
		{"paths", HS_SCHEMA_LIST, CONFIG(paths), .max = HS_CONTROLLER_MAX_PATHS,
				.expected = "a list of paths", .list = &path_list},
		{"influx", HS_SCHEMA_LIST, HS_INFLUX_LIST(struct hs_controller_config, influx)},
		{"state", HS_SCHEMA_OBJECT, .fields = state_fields, .given = keeps_state},
		{"prometheus", HS_SCHEMA_OBJECT, CONFIG(prometheus), .fields = hs_scrape_fields,
				.given = is_scraped},
		{"label", HS_SCHEMA_OBJECT, CONFIG(label), .fields = hs_controller_label_fields,
				.given = has_label},
		{"probing", HS_SCHEMA_OBJECT, CONFIG(probing), .fields = hs_probing_fields,
				.given = has_probing},
		{"sandbox", HS_SCHEMA_BOOL, CONFIG(sandbox)},
		// The controller checks what they mean with the validator of the API.
		{"requests", HS_SCHEMA_KEPT, CONFIG(requests), .expected = "a list of requests",
				.look = hs_api_look_at_request,
				.shape = "{'type': 'array', 'items': {'$ref': "
					 "'request.json#/$defs/change'}}"},
		{NULL},
};

static void set_defaults(struct hs_controller_config *config)
{
	*config = (struct hs_controller_config){
			.name = "controller",
			.bind = {.n = 1, .text = {"ipc:///run/hopsight/controller.api"}},
			.metrics = HS_CONTROLLER_METRICS_AUTO,
			.prometheus = HS_SCRAPE_SETTINGS(HS_SCRAPE_PORT_CONTROLLER),
			.sandbox = true,
			.max_rules = 65536,
			.monitored_rules = 65536,
			.monitor_mib = 4096,
			.window_ns = HS_QOS_DEFAULT_LENGTHS,
			.hello_ms = 500,
			.timeout_ms = 3000,
			.audit_s = 60,
			.requests = json_array(),
	};
	hs_controller_label_defaults(&config->label);
	hs_probing_defaults(&config->probing);
}

// Checks that each id of a probed node names one node of `nodes`, because routes are set by the API
// of that node.
static void check_reroute(const struct hs_controller_config *config, struct hs_errors *errors)
{
	const struct hs_probing_config *probing = &config->probing;
	char path[32];

	for (unsigned i = 0; i < probing->n_nodes && probing->reroute.on; i++) {
		unsigned found = 0;
		for (unsigned n = 0; n < config->n_nodes; n++)
			found += config->nodes[n].id == probing->nodes[i].id;
		snprintf(path, sizeof(path), "probing.nodes[%u].id", i);
		if (found != 1)
			hs_errors_add(errors, "bad_value", path, "the id of one of nodes",
					"reroute needs the API of node %u, and %u of nodes have "
					"this id",
					probing->nodes[i].id, found);
	}
}

static bool is_touched(const struct hs_errors *errors, unsigned n, const char *member)
{
	return hs_errors_touch(errors, n, (const char *const[]){member, NULL});
}

static int read_root(json_t *root, struct hs_controller_config *config, struct hs_errors *errors)
{
	hs_schema_read_all(fields, root, "", config, errors);
	unsigned n = errors->n;
	bool nodes = !is_touched(errors, n, "nodes");
	bool label = !is_touched(errors, n, "label");
	bool probed = !is_touched(errors, n, "probing.nodes");
	config->prometheus.on = json_object_get(root, "prometheus") != NULL;
	config->label.on = json_object_get(root, "label") != NULL;
	config->probing.on = json_object_get(root, "probing") != NULL;
	config->probing.reroute.on =
			json_object_get(json_object_get(root, "probing"), "reroute") != NULL;
	config->label.pro.on = json_object_get(json_object_get(root, "label"), "pro") != NULL;
	if (nodes && label && config->n_nodes == 0 && config->label.n_captures == 0)
		hs_errors_add(errors, "missing_field", "nodes", "at least one node",
				"there are no nodes to look after");
	hs_influx_check(&config->influx, errors);
	hs_controller_label_check(&config->label, errors);
	if (config->probing.on)
		hs_probing_check(&config->probing, errors);
	if (config->probing.on && nodes && probed)
		check_reroute(config, errors);
	return errors->n ? -EINVAL : 0;
}

// Reads the configuration from `root`, and releases it.
static int take_root(json_t *root, struct hs_controller_config *config, struct hs_errors *errors)
{
	set_defaults(config);
	int rc = read_root(root, config, errors);
	json_decref(root);
	if (rc < 0)
		hs_controller_config_fini(config);
	return rc;
}

int hs_controller_config_load(
		const char *file, struct hs_controller_config *config, struct hs_errors *errors)
{
	struct hs_error err = {0};
	json_t *root;
	int rc = hs_schema_load_file(file, &root, &err);

	if (rc < 0)
		hs_errors_keep(errors, &err);
	return rc < 0 ? rc : take_root(root, config, errors);
}

void hs_controller_config_fini(struct hs_controller_config *config)
{
	for (unsigned i = 0; i < config->n_paths; i++)
		free(config->paths[i].nodes);
	free(config->paths);
	free(config->nodes);
	hs_probing_config_fini(&config->probing);
	json_decref(config->requests);
	*config = (struct hs_controller_config){.n_nodes = 0};
}

void hs_controller_config_lacks(const struct hs_controller_config *config, struct hs_errors *lacks)
{
	const struct {
		const struct hs_endpoints *endpoints;
		const char *path;
	} lists[] = {{&config->bind, "control.bind"},
			{&config->subscribe_bind, "control.subscribe_bind"},
			{&config->publish_bind, "control.publish_bind"}};
	const char *list[HS_MAX_ENDPOINTS];

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		hs_machine_endpoints(list, hs_endpoints_point(lists[i].endpoints, list),
				lists[i].path, lacks);
	if (config->state_file[0])
		hs_machine_folder(config->state_file, false, "state.file", lacks);
	for (unsigned i = 0; i < config->label.n_captures; i++) {
		char at[48];
		snprintf(at, sizeof(at), "label.capture[%u].iface", i);
		hs_machine_iface(config->label.captures[i].iface, at, lacks);
	}
	if (config->probing.on)
		hs_machine_iface(config->probing.iface, "probing.iface", lacks);
}

json_t *hs_controller_config_print(const struct hs_controller_config *config)
{
	return hs_schema_print(fields, config);
}

json_t *hs_controller_config_schema(void)
{
	return hs_schema_describe(fields);
}
