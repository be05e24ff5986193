// SPDX-License-Identifier: BSD-3-Clause
#include "controller_config.h"

#include "qos_lengths.h"
#include "schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG(member) HS_SCHEMA_MEMBER(struct hs_controller_config, member)
#define NODE(member)   HS_SCHEMA_MEMBER(struct hs_controller_node_config, member)

// ---- endpoints ----

static int read_endpoints(json_t *list, const char *path, struct hs_controller_endpoints *into,
		struct hs_error *err)
{
	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list of endpoints", err);
	if (json_array_size(list) > HS_CONTROLLER_MAX_ENDPOINTS)
		return hs_error_set(err, "out_of_range", path, "at most 8 endpoints",
				"the list has %zu endpoints", json_array_size(list));
	into->n = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *item = json_array_get(list, i);
		char at[64];
		snprintf(at, sizeof(at), "%s[%zu]", path, i);
		if (!json_is_string(item))
			return hs_schema_wrong_type(item, at, "an endpoint", err);
		if (json_string_length(item) >= HS_CONTROLLER_TEXT_BYTES)
			return hs_error_set(err, "out_of_range", at, "at most 255 bytes",
					"the endpoint has %zu bytes", json_string_length(item));
		snprintf(into->text[into->n++], HS_CONTROLLER_TEXT_BYTES, "%s",
				json_string_value(item));
	}
	return 0;
}

static json_t *print_endpoints(const struct hs_controller_endpoints *from)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < from->n; i++)
		json_array_append_new(list, json_string(from->text[i]));
	return list;
}

static int read_bind(json_t *list, const char *path, void *into, struct hs_error *err)
{
	return read_endpoints(list, path, &((struct hs_controller_config *)into)->bind, err);
}

static int read_subscribe(json_t *list, const char *path, void *into, struct hs_error *err)
{
	return read_endpoints(
			list, path, &((struct hs_controller_config *)into)->subscribe_bind, err);
}

static int read_publish(json_t *list, const char *path, void *into, struct hs_error *err)
{
	return read_endpoints(
			list, path, &((struct hs_controller_config *)into)->publish_bind, err);
}

static json_t *print_bind(const void *from)
{
	return print_endpoints(&((const struct hs_controller_config *)from)->bind);
}

static json_t *print_subscribe(const void *from)
{
	return print_endpoints(&((const struct hs_controller_config *)from)->subscribe_bind);
}

static json_t *print_publish(const void *from)
{
	return print_endpoints(&((const struct hs_controller_config *)from)->publish_bind);
}

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

static int check_new_node(const struct hs_controller_config *config, const char *at,
		const struct hs_controller_node_config *node, struct hs_error *err)
{
	char path[96];

	for (unsigned i = 0; i < config->n_nodes; i++) {
		snprintf(path, sizeof(path), "%s.%s", at, "name");
		if (strcmp(config->nodes[i].name, node->name) == 0)
			return hs_error_set(err, "bad_value", path, "each name once",
					"two nodes are called \"%s\"", node->name);
		// All end nodes without an id of their own have 0.
		snprintf(path, sizeof(path), "%s.%s", at, "id");
		if (node->id && config->nodes[i].id == node->id)
			return hs_error_set(err, "bad_value", path, "each id but 0 once",
					"two nodes have the id %u", node->id);
	}
	return 0;
}

static int read_nodes(json_t *list, const char *path, void *into, struct hs_error *err)
{
	struct hs_controller_config *config = into;

	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list of nodes", err);
	size_t n = json_array_size(list);
	if (n > HS_CONTROLLER_MAX_NODES)
		return hs_error_set(err, "out_of_range", path, "at most 1024 nodes",
				"the list has %zu nodes", n);
	config->nodes = calloc(n ? n : 1, sizeof(*config->nodes));
	if (!config->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct hs_controller_node_config *node = &config->nodes[i];
		char at[64];
		snprintf(at, sizeof(at), "%s[%zu]", path, i);
		int rc = hs_schema_read(node_fields, json_array_get(list, i), at, node, err);
		if (rc == 0)
			rc = check_new_node(config, at, node, err);
		if (rc < 0)
			return rc;
		config->n_nodes++;
	}
	return 0;
}

static json_t *print_nodes(const void *from)
{
	const struct hs_controller_config *config = from;
	json_t *list = json_array();
	for (unsigned i = 0; i < config->n_nodes; i++) {
		json_t *node = hs_schema_print(node_fields, &config->nodes[i]);
		if (!config->nodes[i].server_key[0])
			json_object_del(node, "server_key");
		json_array_append_new(list, node);
	}
	return list;
}

int hs_controller_config_node(const struct hs_controller_config *config, const char *name)
{
	for (unsigned i = 0; i < config->n_nodes; i++)
		if (strcmp(config->nodes[i].name, name) == 0)
			return (int)i;
	return -1;
}

// ---- paths ----

// Paths name nodes, so they are kept until all nodes have been read: see resolve_paths.
static int read_paths(json_t *list, const char *path, void *into, struct hs_error *err)
{
	(void)into;
	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list of paths", err);
	if (json_array_size(list) > HS_CONTROLLER_MAX_PATHS)
		return hs_error_set(err, "out_of_range", path, "at most 1024 paths",
				"the list has %zu paths", json_array_size(list));
	return 0;
}

static int resolve_nodes(const struct hs_controller_config *config, json_t *names, const char *at,
		struct hs_controller_path *path, struct hs_error *err)
{
	char where[96];
	size_t n = json_array_size(names);

	snprintf(where, sizeof(where), "%s.nodes", at);
	if (!json_is_array(names))
		return hs_schema_wrong_type(names, where, "a list of names of nodes", err);
	if (n < 1 || n > HS_CONTROLLER_MAX_NODES)
		return hs_error_set(err, "out_of_range", where, "1 to 1024 nodes",
				"the path has %zu nodes", n);
	path->nodes = calloc(n, sizeof(*path->nodes));
	if (!path->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		int node = name ? hs_controller_config_node(config, name) : -1;
		snprintf(where, sizeof(where), "%s.nodes[%zu]", at, i);
		if (!name)
			return hs_schema_wrong_type(
					json_array_get(names, i), where, "the name of a node", err);
		if (node < 0)
			return hs_error_set(err, "bad_value", where, "the name of a node",
					"no node is called \"%.64s\"", name);
		path->nodes[path->n++] = (uint16_t)node;
	}
	return 0;
}

static int read_path(struct hs_controller_config *config, json_t *object, const char *at,
		struct hs_error *err)
{
	struct hs_controller_path *path = &config->paths[config->n_paths];
	struct {
		char name[HS_CONTROLLER_NAME_BYTES];
		json_t *nodes;
	} read = {{0}, NULL};
	const struct hs_schema_field path_fields[] = {
			{"name", HS_SCHEMA_TEXT, 0, sizeof(read.name), .required = true, .min = 1,
					.max = HS_CONTROLLER_NAME_BYTES - 1},
			{"nodes", HS_SCHEMA_JSON, offsetof(__typeof__(read), nodes),
					sizeof(read.nodes), .required = true},
			{NULL},
	};

	int rc = hs_schema_read(path_fields, object, at, &read, err);
	if (rc < 0)
		return rc;
	if (hs_controller_config_path(config, read.name)) {
		char where[96];
		snprintf(where, sizeof(where), "%s.name", at);
		return hs_error_set(err, "bad_value", where, "each name once",
				"two paths are called \"%s\"", read.name);
	}
	memcpy(path->name, read.name, sizeof(path->name));
	config->n_paths++;
	return resolve_nodes(config, read.nodes, at, path, err);
}

static int resolve_paths(struct hs_controller_config *config, json_t *list, struct hs_error *err)
{
	size_t n = json_array_size(list);

	config->paths = calloc(n ? n : 1, sizeof(*config->paths));
	if (!config->paths)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		char at[64];
		snprintf(at, sizeof(at), "paths[%zu]", i);
		int rc = read_path(config, json_array_get(list, i), at, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static json_t *print_paths(const void *from)
{
	const struct hs_controller_config *config = from;
	json_t *list = json_array();
	for (unsigned i = 0; i < config->n_paths; i++) {
		json_t *nodes = json_array();
		for (unsigned k = 0; k < config->paths[i].n; k++)
			json_array_append_new(nodes,
					json_string(config->nodes[config->paths[i].nodes[k]].name));
		json_array_append_new(list, json_pack("{s:s, s:o}", "name", config->paths[i].name,
							    "nodes", nodes));
	}
	return list;
}

const struct hs_controller_path *hs_controller_config_path(
		const struct hs_controller_config *config, const char *name)
{
	for (unsigned i = 0; i < config->n_paths; i++)
		if (strcmp(config->paths[i].name, name) == 0)
			return &config->paths[i];
	return NULL;
}

// ---- the whole ----

// The controller checks the content of the requests, with the validator of the API.
static int read_requests(json_t *list, const char *path, void *into, struct hs_error *err)
{
	struct hs_controller_config *config = into;

	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list of requests", err);
	json_decref(config->requests);
	config->requests = json_incref(list);
	return 0;
}

static json_t *print_requests(const void *from)
{
	return json_incref(((const struct hs_controller_config *)from)->requests);
}

static const struct hs_schema_word metrics_words[] = {
		{"auto", HS_CONTROLLER_METRICS_AUTO},
		{"always", HS_CONTROLLER_METRICS_ALWAYS},
		{"never", HS_CONTROLLER_METRICS_NEVER},
		{NULL},
};

static int read_windows(json_t *list, const char *path, void *into, struct hs_error *err)
{
	return hs_qos_lengths_read(
			list, path, ((struct hs_controller_config *)into)->window_ns, err);
}

static json_t *print_windows(const void *from)
{
	return hs_qos_lengths_print(((const struct hs_controller_config *)from)->window_ns);
}

static const struct hs_schema_field controller_fields[] = {
		{"name", HS_SCHEMA_TEXT, CONFIG(name), .min = 1,
				.max = HS_CONTROLLER_NAME_BYTES - 1},
		{"metrics", HS_SCHEMA_WORD, CONFIG(metrics), .words = metrics_words,
				.expected = "auto, always or never"},
		{"max_rules", HS_SCHEMA_UINT, CONFIG(max_rules), .min = 1, .max = 4194304},
		{"monitored_rules", HS_SCHEMA_UINT, CONFIG(monitored_rules), .min = 0,
				.max = 4194304},
		{"monitor_mib", HS_SCHEMA_UINT, CONFIG(monitor_mib), .min = 1, .max = 1048576},
		{"hello_ms", HS_SCHEMA_UINT, CONFIG(hello_ms), .min = 10, .max = 60000},
		{"timeout_ms", HS_SCHEMA_UINT, CONFIG(timeout_ms), .min = 10, .max = 60000},
		{"audit_s", HS_SCHEMA_UINT, CONFIG(audit_s), .min = 1, .max = 86400},
		{"windows_ms", HS_SCHEMA_CUSTOM, .read = read_windows, .print = print_windows},
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
		{"bind", HS_SCHEMA_CUSTOM, .read = read_bind, .print = print_bind},
		{"subscribe_bind", HS_SCHEMA_CUSTOM, .read = read_subscribe,
				.print = print_subscribe},
		{"publish_bind", HS_SCHEMA_CUSTOM, .read = read_publish, .print = print_publish},
		{"insecure", HS_SCHEMA_BOOL, CONFIG(insecure)},
		{"keys", HS_SCHEMA_OBJECT, .fields = key_fields},
		{NULL},
};

static const struct hs_schema_field state_fields[] = {
		{"file", HS_SCHEMA_TEXT, CONFIG(state_file), .min = 1,
				.max = HS_CONTROLLER_TEXT_BYTES - 1},
		{"sync", HS_SCHEMA_BOOL, CONFIG(state_sync)},
		{NULL},
};

static const struct hs_schema_field fields[] = {
		{"controller", HS_SCHEMA_OBJECT, .fields = controller_fields},
		{"control", HS_SCHEMA_OBJECT, .fields = control_fields},
		{"nodes", HS_SCHEMA_CUSTOM, .read = read_nodes, .print = print_nodes},
		{"paths", HS_SCHEMA_CUSTOM, .read = read_paths, .print = print_paths},
		{"state", HS_SCHEMA_OBJECT, .fields = state_fields},
		{"sandbox", HS_SCHEMA_BOOL, CONFIG(sandbox)},
		{"requests", HS_SCHEMA_CUSTOM, .read = read_requests, .print = print_requests},
		{NULL},
};

static void set_defaults(struct hs_controller_config *config)
{
	*config = (struct hs_controller_config){
			.name = "controller",
			.bind = {.n = 1, .text = {"ipc:///run/hopsight/controller.api"}},
			.metrics = HS_CONTROLLER_METRICS_AUTO,
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
}

static int read_root(json_t *root, struct hs_controller_config *config, struct hs_error *err)
{
	if (!json_is_object(root))
		return hs_schema_wrong_type(root, "", "an object", err);
	int rc = hs_schema_read(fields, root, "", config, err);
	if (rc == 0)
		rc = resolve_paths(config, json_object_get(root, "paths"), err);
	if (rc == 0 && config->n_nodes == 0)
		rc = hs_error_set(err, "missing_field", "nodes", "at least one node",
				"there are no nodes to look after");
	return rc;
}

static int take_root(json_t *root, const json_error_t *syntax, struct hs_controller_config *config,
		struct hs_error *err)
{
	if (!root)
		return hs_schema_syntax_error(syntax, err);
	set_defaults(config);
	int rc = read_root(root, config, err);
	json_decref(root);
	if (rc == -ENOMEM)
		hs_error_set(err, "internal", "", "", "memory is out");
	if (rc < 0)
		hs_controller_config_fini(config);
	return rc;
}

int hs_controller_config_load(
		const char *file, struct hs_controller_config *config, struct hs_error *err)
{
	json_error_t syntax;
	FILE *from = fopen(file, "re");

	if (!from) {
		int rc = -errno;
		hs_error_set(err, "unreadable", "", "a file that can be read", "%s", strerror(-rc));
		return rc;
	}
	json_t *root = json_loadf(from, JSON_REJECT_DUPLICATES, &syntax);
	fclose(from);
	return take_root(root, &syntax, config, err);
}

int hs_controller_config_parse(const char *text, size_t len, struct hs_controller_config *config,
		struct hs_error *err)
{
	json_error_t syntax;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &syntax);

	return take_root(root, &syntax, config, err);
}

void hs_controller_config_fini(struct hs_controller_config *config)
{
	for (unsigned i = 0; i < config->n_paths; i++)
		free(config->paths[i].nodes);
	free(config->paths);
	free(config->nodes);
	json_decref(config->requests);
	*config = (struct hs_controller_config){.n_nodes = 0};
}

json_t *hs_controller_config_print(const struct hs_controller_config *config)
{
	json_t *all = hs_schema_print(fields, config);
	json_t *keys = json_object_get(json_object_get(all, "control"), "keys");

	// An empty name means no file.
	if (!config->secret_key[0])
		json_object_del(keys, "secret");
	if (!config->allowed_keys[0])
		json_object_del(keys, "allowed");
	if (json_object_size(keys) == 0)
		json_object_del(json_object_get(all, "control"), "keys");
	if (!config->state_file[0])
		json_object_del(all, "state");
	return all;
}
