// SPDX-License-Identifier: BSD-3-Clause
// Checks of several configuration values together: names, pairs, cores and endpoints.
#include "config_check.h"

#include "config_parts.h"

#include "api.h"
#include "bus.h"
#include "rule_admission.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// Prints cores as "0 to 3, 8".
static void print_cores(const cpu_set_t *cores, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int core = 0, last; core < CPU_SETSIZE && used < size; core = last + 1) {
		last = core;
		if (!CPU_ISSET(core, cores))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cores))
			last++;
		used += (size_t)snprintf(text + used, size - used,
				last > core ? "%s%d to %d" : "%s%d", used ? ", " : "", core, last);
	}
}

static void check_core(
		unsigned core, const cpu_set_t *cores, const char *path, struct hs_errors *errors)
{
	char bounds[128];

	if (core < CPU_SETSIZE && CPU_ISSET(core, cores))
		return;
	print_cores(cores, bounds, sizeof(bounds));
	hs_errors_add(errors, "out_of_range", path, bounds, "this process has no core %u to run on",
			core);
}

void hs_config_check_cores(
		const struct hs_config *config, const cpu_set_t *cores, struct hs_errors *errors)
{
	check_core(config->control_core, cores, "control_core", errors);
	for (unsigned i = 0; i < config->node.n_workers; i++) {
		unsigned core = config->workers[i], j = 0;
		char at[32];
		snprintf(at, sizeof(at), "workers[%u]", i);
		while (config->workers[j] != core)
			j++;
		if (j < i)
			hs_errors_add(errors, "duplicate", at, "each core once",
					"core %u already has a worker", core);
		else
			check_core(core, cores, at, errors);
	}
}

static int check_class(const struct hs_config *config, struct hs_error *err)
{
	if (!config->adaptive)
		return hs_error_set(err, "conflict", "worker_scheduling.class",
				"normal, or polling adaptive",
				"a real-time worker that never sleeps would keep the kernel's own "
				"threads from its core");
	for (unsigned i = 0; i < config->node.n_workers; i++) {
		if (config->workers[i] == config->control_core)
			return hs_error_set(err, "conflict", "worker_scheduling.class",
					"normal, or another control_core",
					"a real-time worker on core %u would keep control from it",
					config->control_core);
	}
	return 0;
}

static void check_scheduling(struct hs_config *config, struct hs_errors *errors)
{
	struct hs_scheduling *scheduling = &config->worker_scheduling;
	bool normal = scheduling->class == HS_SCHEDULING_NORMAL;
	struct hs_error err;

	if (normal && scheduling->priority)
		hs_errors_add(errors, "conflict", "worker_scheduling.priority",
				"only with class rr or fifo", "class normal has no priorities");
	if (!normal && scheduling->nice)
		hs_errors_add(errors, "conflict", "worker_scheduling.nice",
				"only with class normal", "class rr and fifo have no nice");
	if (!normal && !scheduling->priority)
		scheduling->priority = HS_SCHEDULING_PRIORITY;
	if (!normal && check_class(config, &err) < 0)
		hs_errors_keep(errors, &err);
}

// Sets the ids of ports on the wire. A port without an id gets its index plus 1.
static void resolve_ids(struct hs_config *config, struct hs_errors *errors)
{
	bool given[HS_MAX_PORTS];

	for (unsigned i = 0; i < config->n_ports; i++) {
		given[i] = config->ports[i].id;
		if (!given[i])
			config->ports[i].id = i + 1;
	}
	for (unsigned i = 0; i < config->n_ports; i++) {
		for (unsigned j = 0; j < config->n_ports; j++) {
			char at[32];
			bool told = given[j] && j < i; // at that port
			if (!given[i] || i == j || told ||
					config->ports[i].id != config->ports[j].id)
				continue;
			snprintf(at, sizeof(at), "ports[%u].id", i);
			hs_errors_add(errors, "duplicate", at, "an id of its own",
					"port \"%s\" has the id %u too%s", config->ports[j].name,
					config->ports[j].id, given[j] ? "" : ", its index plus 1");
			break;
		}
	}
}

static int resolve_end(struct hs_config *config, unsigned pair, unsigned side, bool *used,
		struct hs_error *err)
{
	const char *name = config->pairs[pair].side[side];
	int index = hs_config_port_index(config, name);
	char at[48];

	snprintf(at, sizeof(at), "forwarding.pairs[%u][%u]", pair, side);
	if (index < 0)
		return hs_error_set(err, "unknown_port", at, "the name of a port",
				"no port is called \"%s\"", name);
	if (used[index])
		return hs_error_set(err, "duplicate", at, "each port once",
				"port \"%s\" is in a pair already", name);
	used[index] = true;
	config->node.pairs[pair][side] = (uint16_t)index;
	return 0;
}

static void resolve_pairs(struct hs_config *config, struct hs_errors *errors)
{
	bool used[HS_MAX_PORTS] = {false};
	struct hs_error err;
	char at[48];

	if (config->node.forwarding != HS_FORWARD_PATCH)
		return;
	for (unsigned i = 0; i < config->n_pairs; i++) {
		snprintf(at, sizeof(at), "forwarding.pairs[%u]", i);
		bool readable = !hs_errors_touch_one(errors, at);
		for (unsigned side = 0; readable && side < 2; side++)
			if (resolve_end(config, i, side, used, &err) < 0)
				hs_errors_keep(errors, &err);
	}
	config->node.n_pairs = (uint16_t)config->n_pairs;
}

static void refuse_beside(const struct hs_config *config, const char *key, const char *mode,
		struct hs_errors *errors)
{
	static const char *const names[] = {
			[HS_FORWARD_PATCH] = "patch",
			[HS_FORWARD_BRIDGE] = "bridge",
			[HS_FORWARD_ROUTE] = "route",
	};
	char at[48], only[48];

	snprintf(at, sizeof(at), "forwarding.%s", key);
	snprintf(only, sizeof(only), "only with mode %s", mode);
	hs_errors_add(errors, "conflict", at, only, "mode %s has no %s",
			names[config->node.forwarding], key);
}

static void check_mode(struct hs_config *config, struct hs_errors *errors)
{
	enum hs_forwarding_mode mode = config->node.forwarding;

	if (mode != HS_FORWARD_PATCH && config->n_pairs > 0)
		refuse_beside(config, "pairs", "patch", errors);
	if (mode != HS_FORWARD_ROUTE && config->routes)
		refuse_beside(config, "routes", "route", errors);
	if (mode != HS_FORWARD_ROUTE && config->neighbours)
		refuse_beside(config, "neighbours", "route", errors);
	// Without ports, the lack of pairs is no further error.
	if (mode == HS_FORWARD_PATCH && config->n_ports > 0 && config->n_pairs == 0 &&
			!hs_errors_touch_one(errors, "forwarding.pairs"))
		hs_errors_add(errors, "missing_field", "forwarding.pairs",
				"at least one pair of port names",
				"mode patch needs to know which ports belong together");
}

static int find_port(void *context, const char *name)
{
	return hs_config_port_index(context, name);
}

// Finds a port whose name could not be read.
static int find_any_port(void *context, const char *name)
{
	int index = hs_config_port_index(context, name);
	return index < 0 ? 0 : index;
}

static int admits(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	const struct hs_config *config = context;
	int rc = hs_in_band_check_rule(&config->in_band, rule, err);

	return rc ? rc : hs_rule_admission(&config->node, rule, err);
}

static void check_tables(
		struct hs_config *config, struct hs_api_check *check, struct hs_errors *errors)
{
	static const char *const of_requests[] = {"forwarding", "requests", NULL};
	unsigned before = errors->n;
	bool known = config->neighbours || !hs_errors_touch_one(errors, "forwarding.neighbours");

	if (check->routes && known)
		hs_api_check_routes(config->neighbours, config->routes, check, errors);
	hs_errors_prefix(errors, before, "forwarding");
	before = errors->n;
	check->refused = hs_errors_touch(errors, before, of_requests);
	hs_api_check_list(config->requests, check, errors);
	hs_errors_prefix(errors, before, "requests");
}

// Checks routes, neighbours and requests against tables that are made for this check. What could
// not be read refuses none of them. `n`: number of errors of values.
static void check_requests(struct hs_config *config, unsigned n, struct hs_errors *errors)
{
	static const char *const of_names[] = {"ports[].name", NULL};
	static const char *const of_rules[] = {"ports[].side", "ports[].profile", "profiles",
			"telemetry.in_band.key_file", NULL};
	struct hs_api_check check = {.rules = config->node.rules,
			.port_of = hs_errors_touch(errors, n, of_names) ? find_any_port : find_port,
			.admits = hs_errors_touch(errors, errors->n, of_rules) ? NULL : admits,
			.context = config};

	if (hs_errors_touch_one(errors, "memory.rules"))
		check.rules = HS_CONFIG_MOST_RULES;
	if (hs_errors_touch_one(errors, "memory.routes"))
		config->node.routes = HS_CONFIG_MOST_ROUTES;
	if (config->node.forwarding == HS_FORWARD_ROUTE ||
			hs_errors_touch_one(errors, "forwarding.mode")) {
		check.routes = hs_route_book_create(config->node.routes);
		if (!check.routes) {
			hs_errors_add(errors, "no_memory", "memory.routes", "fewer",
					"no memory for %u routes", config->node.routes);
			return;
		}
	}
	check_tables(config, &check, errors);
	hs_route_book_destroy(check.routes);
}

static void resolve_in_band_ports(struct hs_config *config, struct hs_errors *errors)
{
	for (unsigned i = 0; i < config->n_in_band_ports; i++) {
		const char *name = config->in_band_ports[i];
		int index = hs_config_port_index(config, name);
		char at[48];
		snprintf(at, sizeof(at), "telemetry.in_band.ports[%u]", i);
		if (hs_errors_touch_one(errors, at))
			continue;
		if (index < 0)
			hs_errors_add(errors, "unknown_port", at, "the name of a port",
					"no port is called \"%s\"", name);
		else if (config->ports[index].side != HS_SIDE_NETWORK)
			hs_errors_add(errors, "conflict", at, "ports of side network",
					"port \"%s\" has side host: nothing that hosts send is "
					"believed",
					name);
		else
			config->in_band.ports |= 1u << index;
	}
}

static int read_key(struct hs_config *config, struct hs_error *err)
{
	static const char at[] = "telemetry.in_band.key_file";
	char text[256];
	struct stat status;
	FILE *file = config->key_file[0] ? fopen(config->key_file, "re") : NULL;

	if (!config->key_file[0])
		return 0;
	if (!file)
		return hs_error_set(err, "not_readable", at, "", "\"%.128s\": %s", config->key_file,
				strerror(errno));
	size_t len = fread(text, 1, sizeof(text), file);
	bool open_to_all = fstat(fileno(file), &status) < 0 || status.st_mode & (S_IROTH | S_IWOTH);
	fclose(file);
	int rc = open_to_all ? hs_error_set(err, "bad_value", at, "a file with mode 0600",
					       "\"%.128s\" can be read or written by everybody",
					       config->key_file)
			     : hs_rule_key_from_hex(text, len, &config->in_band.key, err);
	memset(text, 0, sizeof(text));
	if (rc < 0) {
		hs_error_prefix(err, err->path[0] ? "" : at);
		return rc;
	}
	config->in_band.has_key = true;
	return 0;
}

static void check_endpoints(const struct hs_endpoints *endpoints, const char *path, bool insecure,
		struct hs_errors *errors)
{
	struct hs_error err;

	for (unsigned i = 0; i < endpoints->n; i++) {
		char at[64];
		snprintf(at, sizeof(at), "%s[%u]", path, i);
		if (!hs_errors_touch_one(errors, at) &&
				hs_bus_check_endpoint(endpoints->text[i], insecure, at, &err) < 0)
			hs_errors_keep(errors, &err);
	}
}

void hs_config_check_control(const struct hs_config *config, struct hs_errors *errors)
{
	static const char *const of_bound[] = {"control.bind", "control.publish_bind", NULL};
	const struct hs_endpoints_named bound[] = {
			{"bind", &config->bind}, {"publish_bind", &config->publish_bind}};
	struct hs_bus_keys keys;
	bool used = hs_config_keys(config, &keys), open = config->insecure;
	struct hs_error err;

	if (config->bind.n == 0 && !hs_errors_touch_one(errors, "control.bind"))
		hs_errors_add(errors, "missing_field", "control.bind", "at least one endpoint",
				"the node could not be asked anything");
	if (used && hs_bus_check_keys(&keys, config->publish_to.n > 0, open, &err) < 0) {
		hs_error_prefix(&err, "control.keys");
		hs_errors_keep(errors, &err);
	}
	check_endpoints(&config->bind, "control.bind", open || used, errors);
	check_endpoints(&config->publish_to, "control.publish_to", open || keys.server_file,
			errors);
	check_endpoints(&config->publish_bind, "control.publish_bind", open || used, errors);
	if (!hs_errors_touch(errors, errors->n, of_bound) &&
			hs_endpoints_check_once(bound, 2, &err) < 0)
		hs_errors_keep(errors, &err);
}

// ---- all of it ----

static int check_name(struct hs_config *config, struct hs_error *err)
{
	return hs_schema_check_name(config->node.name, "node.name", err);
}

static void check_influx(struct hs_config *config, struct hs_errors *errors)
{
	hs_influx_check(&config->influx, errors);
}

static void check_control(struct hs_config *config, struct hs_errors *errors)
{
	hs_config_check_control(config, errors);
}

static void check_ports(struct hs_config *config, struct hs_errors *errors)
{
	static const char *const of_ports[] = {"ports", NULL};

	if (config->n_ports == 0 && !hs_errors_touch(errors, errors->n, of_ports))
		hs_errors_add(errors, "missing_field", "ports", "at least one port",
				"the node has no ports");
	hs_config_check_ports(config, errors);
}

// A check of members of the configuration, each of which is right by itself.
static const struct part {
	const char *of[6]; // NULL ends them
	int (*one)(struct hs_config *, struct hs_error *);
	void (*all)(struct hs_config *, struct hs_errors *);
} parts[] = {
		{{"node.name"}, .one = check_name},
		{{"worker_scheduling", "polling", "workers", "control_core"},
				.all = check_scheduling},
		{{"control.insecure", "control.keys"}, .all = check_control},
		// These look at the members of each database and port by themselves.
		{{NULL}, .all = check_influx},
		{{NULL}, .all = check_ports},
		{{"ports[].id"}, .all = resolve_ids},
		{{"ports[].side", "ports[].profile"}, .all = hs_config_resolve_profiles},
		{{"ports[].name", "ports[].rate_bps", "ports[].queue_packets"},
				.all = hs_config_resolve_exports},
		{{"ports[].id", "ports[].side", "ports[].profile", "profiles", "export"},
				.all = hs_config_check_labels},
		{{"ports[].id", "ports[].side", "ports[].profile", "profiles", "node.id"},
				.all = hs_config_check_probes},
		{{"forwarding.mode"}, .all = check_mode},
		{{"ports[].name"}, .all = resolve_pairs},
		{{"ports[].name", "ports[].side"}, .all = resolve_in_band_ports},
		{{"telemetry.in_band.key_file"}, .one = read_key},
};

static void check_part(const struct part *part, struct hs_config *config, struct hs_errors *errors)
{
	struct hs_error err;

	if (part->all)
		part->all(config, errors);
	else if (part->one(config, &err) < 0)
		hs_errors_keep(errors, &err);
}

int hs_config_check(struct hs_config *config, const cpu_set_t *cores, struct hs_errors *errors)
{
	static const char *const of_cores[] = {"workers", "control_core", NULL};
	unsigned n = errors->n; // found before

	if (!hs_errors_touch(errors, n, of_cores))
		hs_config_check_cores(config, cores, errors);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		// Without ports, a pair that names one is no further error.
		if (!hs_errors_touch(errors, config->n_ports ? n : errors->n, parts[i].of))
			check_part(&parts[i], config, errors);
	}
	check_requests(config, config->n_ports ? n : errors->n, errors);
	return errors->n ? -EINVAL : 0;
}
