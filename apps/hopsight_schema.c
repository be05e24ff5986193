// SPDX-License-Identifier: BSD-3-Clause
// Writes the JSON Schemas of docs/schema that come from the tables of the programs, or checks that
// the files there are what the tables say. It is a tool of the source tree and is not installed.
#include "api_schema.h"
#include "collector_config.h"
#include "collector_publish.h"
#include "collector_verbs.h"
#include "config_read.h"
#include "control_verbs.h"
#include "controller.h"
#include "controller_config.h"
#include "qos_app.h"
#include "qos_untold.h"
#include "qos_window.h"
#include "scenario_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *reply_schema(void)
{
	static hs_api_reply_fields *const programs[HS_API_PROGRAMS] = {
			hs_control_reply, hs_controller_reply_fields, hs_collector_reply_fields};
	json_t *schema = hs_api_reply_schema(programs);
	json_t *defs = json_object_get(schema, "$defs");

	json_object_set_new(defs, "not_told", hs_schema_describe_printed(hs_qos_untold_fields));
	json_object_set_new(defs, "application", hs_schema_describe_printed(hs_qos_app_fields));
	return schema;
}

static const struct {
	const char *file, *title;
	json_t *(*make)(void);
} schemas[] = {
		{"request.json", "A message to the API of a node or a controller", hs_api_schema},
		{"reply.json", "A reply of the API; $defs has the `ok` of each verb", reply_schema},
		{"event.json", "A message of the topic event.<kind>", hs_event_schema},
		{"node.json", "A node's configuration", hs_config_schema},
		{"controller.json", "A controller's configuration", hs_controller_config_schema},
		{"collector.json", "A collector's configuration", hs_collector_config_schema},
		{"hop.json", "A message of the topic hop.<node_id> of a collector",
				hs_collector_hop_schema},
		{"report.json", "A message of the topic report.<ns_id>: one packet's telemetry",
				hs_report_schema},
		{"qos.json", "A message of the topic qos.<ns_id>: the metrics of one window",
				hs_qos_window_schema},
		{"probe.json", "A message of the topic probe.session of a controller",
				hs_controller_probe_schema},
		{"scenario.json", "A scenario of the lab", hs_scenario_schema},
};

static char *text_of(json_t *(*make)(void), const char *title)
{
	json_t *head = json_pack("{s:s, s:s}", "$schema",
			"https://json-schema.org/draft/2020-12/schema", "title", title);
	json_t *schema = make();
	char *text = schema && head && json_object_update(head, schema) == 0
				     ? json_dumps(head, JSON_INDENT(1))
				     : NULL;

	json_decref(schema);
	json_decref(head);
	return text;
}

static int write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0) {
		perror(path);
		return 1;
	}
	return 0;
}

static int check_file(const char *path, const char *text)
{
	size_t len = strlen(text), n = 0;
	char *there = calloc(1, len + 3);
	FILE *file = fopen(path, "re");

	if (file && there)
		n = fread(there, 1, len + 2, file);
	if (file)
		fclose(file);
	bool same = n == len + 1 && memcmp(there, text, len) == 0 && there[len] == '\n';
	free(there);
	if (!same)
		fprintf(stderr, "%s is not what the tables say: run hopsight-schema docs/schema\n",
				path);
	return !same;
}

int main(int argc, char **argv)
{
	bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
	int failures = 0;

	if (argc != 2 && !check) {
		fprintf(stderr, "usage: hopsight-schema [--check] FOLDER\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		char path[1024];
		char *text = text_of(schemas[i].make, schemas[i].title);
		snprintf(path, sizeof(path), "%s/%s", argv[argc - 1], schemas[i].file);
		if (!text)
			return 1;
		failures += check ? check_file(path, text) : write_file(path, text);
		free(text);
	}
	return failures != 0;
}
