// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_read.h"

#include "scenario_draft.h"

#include "config.h"
#include "config_parts.h"
#include "duration.h"
#include "label_decision.h"
#include "port.h"
#include "qos_lengths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS INT64_C(1000000)

static const struct hs_schema_word forwarding_words[] = {{"patch", HS_LAB_PATCH},
		{"bridge", HS_LAB_BRIDGE}, {"shortest_path", HS_LAB_SHORTEST_PATH}, {NULL, 0}};

#define DRAFT(member) HS_SCHEMA_MEMBER(struct hs_draft, member)
#define HEAD(member)  DRAFT(scenario.member)
// A list is read after the head (see read_lists).
#define LIST(kind, most)                                                                           \
	HS_SCHEMA_JSON, DRAFT(ignored), .list = &hs_draft_##kind##_list, .max = most
// An int_request gets from `traffic` what it leaves out.
#define REQUESTS_SHAPE                                                                             \
	"{'type': 'array', 'items': {'type': 'object', 'required': ['node'], 'properties': {"      \
	"'node': {'type': 'string'}, 'traffic': {'type': 'string'}, "                              \
	"'reverse': {'type': 'boolean'}, 'int_request': {'type': 'object'}, "                      \
	"'int_update': {'$ref': 'request.json#/$defs/int_update'}, "                               \
	"'int_delete': {'$ref': 'request.json#/$defs/int_delete'}, "                               \
	"'id': {}}, 'additionalProperties': false}}"

// Settings of all nodes, as in a node's configuration.
static const struct hs_schema_field in_band_fields[] = {
		{"accept", HS_SCHEMA_BOOL, HEAD(in_band.accept)},
		{"max_rules", HS_SCHEMA_UINT, HEAD(in_band.max_rules), .max = 4194304},
		{"missed_repeats", HS_SCHEMA_UINT, HEAD(in_band.missed_repeats), .min = 1,
				.max = 1000},
		{NULL},
};

static const struct hs_schema_field telemetry_fields[] = {
		{"request_interval_s", HS_SCHEMA_UINT, HEAD(in_band.interval_s), .min = 1,
				.max = 86400},
		{"request_schedule_s", HS_SCHEMA_CUSTOM, HEAD(in_band),
				.read = hs_in_band_read_repeats, .shape = HS_IN_BAND_REPEATS_SHAPE},
		{"in_band", HS_SCHEMA_OBJECT, .fields = in_band_fields},
		{"clock_step_ms", HS_SCHEMA_UINT, HEAD(clock_step_ms), .min = 10, .max = 10000},
		{"windows_ms", HS_SCHEMA_CUSTOM, HEAD(windows_ns), .read = hs_qos_lengths_read,
				.shape = HS_QOS_LENGTHS_SHAPE},
		{NULL},
};

// The profiles are written as in a node's configuration.
static int read_profiles(json_t *value, const char *path, void *at, struct hs_error *err)
{
	static const struct hs_schema_field map = {"profiles", HS_SCHEMA_MAP,
			HS_SCHEMA_MEMBER(struct hs_config, profiles), .max = HS_MAX_PORTS,
			.expected = "an object with a profile for each name",
			.list = &hs_config_profile_list};
	struct hs_config **profiles = at;

	*profiles = calloc(1, sizeof(**profiles));
	if (*profiles)
		return hs_schema_read_value(&map, value, path, *profiles, err);
	hs_error_set(err, "internal", path, "", "memory is out");
	return -ENOMEM;
}

// ---- the controller of labels, and the monitoring host ----

#define LABEL(member) HS_SCHEMA_MEMBER(struct hs_scenario_label, member)
#define PERIOD	      .least = 0.000001, .most = HS_DRAFT_MAX_S
static const struct hs_schema_field pro_fields[] = {
		{"patience_s", HS_SCHEMA_SECONDS, LABEL(pro.patience_ns), PERIOD, .required = true,
				.expected = "seconds: k times T"},
		{"repeat_s", HS_SCHEMA_SECONDS, LABEL(pro.repeat_ns), PERIOD},
		{"step_s", HS_SCHEMA_SECONDS, LABEL(pro_step_ns), PERIOD},
		{"max_shift", HS_SCHEMA_UINT, LABEL(pro.max_shift), .min = 1,
				.max = HS_LABEL_MAX_SHIFT},
		{"loss_ratio", HS_SCHEMA_REAL, LABEL(pro_loss_ratio), .most = 1},
		{NULL},
};
static const struct hs_schema_field label_fields[] = {
		{"interval_s", HS_SCHEMA_SECONDS, LABEL(interval_ns), PERIOD},
		{"delay_ns", HS_SCHEMA_UINT, LABEL(delay_ns), .max = UINT64_C(3600000000000)},
		{"loss_ratio", HS_SCHEMA_REAL, LABEL(loss_ratio), .most = 1},
		{"pro", HS_SCHEMA_OBJECT, .fields = pro_fields},
		{NULL},
};
static const struct hs_scenario_label new_label = {.given = true,
		.interval_ns = 100 * MS_NS,
		.delay_ns = MS_NS,
		.pro = {.repeat_ns = 100 * MS_NS, .max_shift = 6}};

static const struct hs_schema_word planner_words[] = {
		{"gpint", HS_LAB_GPINT}, {"euler", HS_LAB_EULER}, {NULL, 0}};

#define PROBING(member) HS_SCHEMA_MEMBER(struct hs_scenario_probing, member)
static const struct hs_schema_field probing_fields[] = {
		{"planner", HS_SCHEMA_WORD, PROBING(planner), .words = planner_words},
		{"k", HS_SCHEMA_UINT, PROBING(paths), .min = 1, .max = 1200},
		{"mtu", HS_SCHEMA_UINT, PROBING(mtu), .min = 64, .max = HS_PORT_MTU_MAX},
		{"recovery", HS_SCHEMA_BOOL, PROBING(recovery)},
		{"adaptive", HS_SCHEMA_BOOL, PROBING(tuning.adaptive)},
		{"t_f_s", HS_SCHEMA_SECONDS, PROBING(tuning.feedback_ns), PERIOD},
		{"t_ro_s", HS_SCHEMA_SECONDS, PROBING(tuning.resolution_ns), PERIOD},
		{"r_a", HS_SCHEMA_UINT, PROBING(tuning.attempts), .max = 1000},
		{"concurrency", HS_SCHEMA_UINT, PROBING(tuning.concurrent), .min = 1, .max = 1200},
		{"start_s", HS_SCHEMA_SECONDS, PROBING(start_ns), .most = HS_DRAFT_MAX_S},
		{"period_s", HS_SCHEMA_SECONDS, PROBING(period_ns), PERIOD},
		{"sessions", HS_SCHEMA_UINT, PROBING(sessions), .max = 1000000},
		{"wait_s", HS_SCHEMA_SECONDS, PROBING(wait_ns), PERIOD},
		{"delay_ns", HS_SCHEMA_UINT, PROBING(delay_ns), .max = UINT64_C(3600000000000)},
		{NULL},
};
static const struct hs_scenario_probing new_probing = {.given = true,
		.recovery = true,
		.tuning = {.feedback_ns = 1500 * MS_NS,
				.resolution_ns = 50 * MS_NS,
				.attempts = 10,
				.concurrent = 12},
		.period_ns = 1000 * MS_NS,
		.wait_ns = 5000 * MS_NS,
		.delay_ns = MS_NS};

// ---- the whole ----

static const struct hs_schema_field fields[] = {
		{"name", HS_SCHEMA_TEXT, HEAD(name), .required = true, .min = 1,
				.max = HS_SCENARIO_NAME - 1},
		{"source", HS_SCHEMA_TEXT, HEAD(source), .max = 159},
		{"description", HS_SCHEMA_TEXT, HEAD(description), .max = 399},
		{"seed", HS_SCHEMA_UINT, HEAD(seed), .max = INT64_MAX},
		{"duration_s", HS_SCHEMA_SECONDS, HEAD(duration_ns), .required = true,
				.least = 0.001, .most = HS_DRAFT_MAX_S,
				.expected = "seconds from 0.001 to 1000000"},
		{"window", HS_SCHEMA_TEXT, HS_SCHEMA_MEMBER(struct hs_draft, window), .min = 1,
				.max = HS_DURATION_BYTES - 1},
		{"forwarding", HS_SCHEMA_WORD, HEAD(forwarding), .words = forwarding_words},
		{"closing_packet", HS_SCHEMA_BOOL, HEAD(closing_packet)},
		{"opening_packet", HS_SCHEMA_BOOL, HEAD(opening_packet)},
		{"keep_windows", HS_SCHEMA_BOOL, HEAD(keep_windows)},
		{"mbufs", HS_SCHEMA_UINT, HEAD(mbufs), .min = 1024, .max = 4194304},
		{"rules", HS_SCHEMA_UINT, HEAD(rules), .min = 1, .max = 4194304},
		{"mtu", HS_SCHEMA_UINT, HEAD(mtu), .min = HS_PORT_MTU_MIN, .max = HS_PORT_MTU_MAX},
		{"reroute_s", HS_SCHEMA_SECONDS, HEAD(reroute_ns), .least = 0,
				.most = HS_DRAFT_MAX_S},
		{"telemetry", HS_SCHEMA_OBJECT, .fields = telemetry_fields},
		{"profiles", HS_SCHEMA_CUSTOM, HEAD(profiles), .read = read_profiles,
				.shape = "{'$ref': 'node.json#/properties/profiles'}"},
		{"label", HS_SCHEMA_OBJECT, HEAD(label), .fields = label_fields,
				.fresh = &new_label},
		{"probing", HS_SCHEMA_OBJECT, HEAD(probing), .fields = probing_fields,
				.fresh = &new_probing},
		{"topology", HS_SCHEMA_OBJECT, DRAFT(topology), .fields = hs_draft_topology_fields,
				.fresh = &hs_draft_new_topology},
		{"nodes", LIST(node, 1200)},
		{"links", LIST(link, 20000)}, // 1,200 nodes with 32 ports each
		{"hosts", LIST(host, 40000)},
		{"routes", LIST(route, 10000)},
		{"traffic", LIST(traffic, 100000)},
		{"requests", LIST(request, 100000), .shape = REQUESTS_SHAPE},
		{"events", LIST(event, 100000)},
		{"expect", LIST(expect, 100000)},
		{NULL},
};

json_t *hs_scenario_schema(void)
{
	return hs_schema_describe(fields);
}

// Begins to read a scenario. Its folder is the first bytes of a path.
static int begin(struct hs_draft *draft, json_t *root, const char *path, size_t folder_bytes,
		struct hs_errors *errors, struct hs_error *err)
{
	*draft = (struct hs_draft){
			.scenario = {.seed = 1,
					.windows_ns = HS_QOS_DEFAULT_LENGTHS,
					.forwarding = HS_LAB_PATCH,
					.keep_windows = true,
					.mbufs = 65536,
					.rules = 64,
					.mtu = 1500,
					.clock_step_ms = 1000},
			.root = root,
			.err = err,
			.errors = errors,
	};
	hs_in_band_init(&draft->scenario.in_band);
	draft->names = json_pack("{s{}s{}s{}s{}s{}s{}}", HS_NAME_NODE, HS_NAME_LINK, HS_NAME_HOST,
			HS_NAME_TRAFFIC, HS_NAME_FLOW, HS_NAME_ADDRESS);
	if (!draft->names)
		return hs_draft_no_memory(draft);
	if (folder_bytes >= sizeof(draft->scenario.folder))
		return hs_error_set(err, "too_large", "", "at most 255 bytes",
				"the name of the scenario's folder has %zu bytes", folder_bytes);
	memcpy(draft->scenario.folder, path, folder_bytes);
	return 0;
}

static int apply(const struct hs_scenario_override *override, struct hs_draft *draft)
{
	struct hs_scenario *scenario = &draft->scenario;

	draft->limit_ns = scenario->duration_ns;
	if (override && override->has_seed)
		scenario->seed = override->seed;
	if (override && override->duration_ns > 0)
		scenario->duration_ns = override->duration_ns;
	if (scenario->duration_ns > draft->limit_ns)
		draft->limit_ns = scenario->duration_ns;
	if (scenario->label.pro.patience_ns && !scenario->label.pro_step_ns) // Pro has a step
		scenario->label.pro_step_ns = 10 * MS_NS;
	return 0;
}

// Chooses the window of the result, which must be one that nodes publish. The default is 1 s, or
// the shortest if nodes have no window of 1 s.
static int choose_window(struct hs_draft *draft)
{
	struct hs_scenario *scenario = &draft->scenario;
	const int64_t *lengths_ns = scenario->windows_ns;
	char expected[HS_QOS_WINDOWS * (HS_DURATION_BYTES + 4)];

	scenario->window_ns = INT64_C(1000000000);
	if (!draft->window[0]) {
		if (hs_qos_lengths_find(lengths_ns, scenario->window_ns) < 0)
			scenario->window_ns = lengths_ns[0];
		return 0;
	}
	if (hs_duration_read(draft->window, &scenario->window_ns) == 0 &&
			hs_qos_lengths_find(lengths_ns, scenario->window_ns) >= 0)
		return 0;
	hs_duration_list(lengths_ns, HS_QOS_WINDOWS, " or ", expected, sizeof(expected));
	return hs_error_set(draft->err, "bad_value", "window", expected, "\"%s\" is not known",
			draft->window);
}

// Keeps an error, to go on. Returns 0 or -ENOMEM.
static int keep(struct hs_draft *draft, int rc)
{
	if (rc < 0)
		hs_errors_keep(draft->errors, draft->err);
	return rc == -ENOMEM ? rc : 0;
}

static int read_head(struct hs_draft *draft, const struct hs_scenario_override *override)
{
	int rc = hs_schema_read_all(fields, draft->root, "", draft, draft->errors);

	if (rc < 0) // its errors are kept
		return rc == -ENOMEM ? rc : 0;
	return keep(draft, hs_schema_check_name(draft->scenario.name, "name", draft->err)
			?: apply(override, draft)
			?: choose_window(draft)
			?: hs_draft_make_topology(draft));
}

// Reads the lists of the file in the order of the table. Each refers only to those before it.
static int read_lists(struct hs_draft *draft)
{
	int rc = 0;

	for (const struct hs_schema_field *field = fields; field->key && rc == 0; field++) {
		struct hs_schema_field list = *field;
		json_t *value = json_object_get(draft->root, field->key);
		list.kind = HS_SCHEMA_LIST;
		draft->broken = draft->errors->n > 0;
		if (field->list && value)
			rc = hs_schema_read_value_all(
					&list, value, field->key, draft, draft->errors);
		draft->item.path = ""; // the path of the last item is no longer valid
		if (draft->errors->n)
			continue;
		if (field->list == &hs_draft_traffic_list)
			rc = keep(draft, hs_draft_check_network(draft));
		if (field->list == &hs_draft_event_list)
			rc = keep(draft, hs_draft_check_events(draft));
	}
	return rc;
}

// Reads a scenario from the root of a file, and releases the root.
static int read_root(json_t *root, const char *path, size_t folder_bytes,
		const struct hs_scenario_override *override, struct hs_scenario *scenario,
		struct hs_errors *errors)
{
	struct hs_error err;
	struct hs_draft draft;

	int rc = keep(&draft, begin(&draft, root, path, folder_bytes, errors, &err))
		?: read_head(&draft, override)
		?: read_lists(&draft);
	if (rc == 0 && errors->n)
		rc = -EINVAL;
	json_decref(draft.names);
	free(draft.room);
	json_decref(root);
	if (rc < 0)
		hs_scenario_fini(&draft.scenario);
	else
		*scenario = draft.scenario;
	return rc;
}

int hs_scenario_parse(const char *text, size_t len, const char *folder,
		const struct hs_scenario_override *override, struct hs_scenario *scenario,
		struct hs_error *err)
{
	struct hs_errors errors = {0};
	json_error_t syntax;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &syntax);

	if (!root)
		return hs_schema_syntax_error(&syntax, err);
	int rc = read_root(root, folder, strlen(folder), override, scenario, &errors);
	if (rc < 0)
		*err = errors.list[0];
	return rc;
}

int hs_scenario_load(const char *file, const struct hs_scenario_override *override,
		struct hs_scenario *scenario, struct hs_errors *errors)
{
	const char *slash = strrchr(file, '/');
	size_t len = slash == file ? 1 : slash ? (size_t)(slash - file) : 0;
	struct hs_error err = {0};
	json_t *root = NULL;
	int rc = hs_schema_load_file(file, &root, &err);

	if (rc < 0)
		hs_errors_keep(errors, &err);
	return rc < 0 ? rc : read_root(root, file, len, override, scenario, errors);
}

int hs_scenario_peek(const char *file, struct hs_scenario *scenario, struct hs_error *err)
{
	const struct hs_schema_field title[] = {fields[0], fields[1], fields[2], {NULL}};
	struct hs_draft draft = {0};
	json_t *root = NULL;
	int rc = hs_schema_load_file(file, &root, err);
	if (rc < 0)
		return rc;

	rc = hs_schema_read_as(&hs_draft_open, title, root, "", &draft, err);
	json_decref(root);
	if (rc == 0)
		*scenario = draft.scenario;
	return rc;
}
