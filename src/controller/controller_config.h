// SPDX-License-Identifier: BSD-3-Clause
// The controller's configuration file: read, checked across fields, and printed with its defaults.
// docs/controller.md explains every key.
//
// Thread rule: any; the struct belongs to the caller.
#pragma once

#include "controller_label_config.h"
#include "controller_probing_config.h"
#include "endpoints.h"
#include "error.h"
#include "influx_config.h"
#include "qos.h"
#include "scrape_settings.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_CONTROLLER_MAX_NODES	 1024
#define HS_CONTROLLER_MAX_PATHS	 1024
#define HS_CONTROLLER_NAME_BYTES 32
#define HS_CONTROLLER_TEXT_BYTES 256 // of an endpoint or file name

struct hs_controller_node_config {
	char name[HS_CONTROLLER_NAME_BYTES];
	uint16_t id; // the node's own id, which identifies its messages
	char api[HS_CONTROLLER_TEXT_BYTES];
	char server_key[HS_CONTROLLER_TEXT_BYTES]; // a file name; "": no keys
};

struct hs_controller_path {
	char name[HS_CONTROLLER_NAME_BYTES];
	unsigned n;
	uint16_t *nodes; // indices, from source to sink; owned
};

enum hs_controller_metrics {
	HS_CONTROLLER_METRICS_AUTO,   // for rules whose sink publishes none itself
	HS_CONTROLLER_METRICS_ALWAYS, // for all rules
	HS_CONTROLLER_METRICS_NEVER,
};

struct hs_controller_config {
	char name[HS_CONTROLLER_NAME_BYTES];
	struct hs_endpoints bind;	    // clients connect here
	struct hs_endpoints subscribe_bind; // nodes' publishers connect here
	struct hs_endpoints publish_bind;   // listeners subscribe here
	bool insecure;
	char secret_key[HS_CONTROLLER_TEXT_BYTES]; // file names; "": no keys
	char allowed_keys[HS_CONTROLLER_TEXT_BYTES];
	char state_file[HS_CONTROLLER_TEXT_BYTES]; // "": what clients ask for ends with the process
	bool state_sync;
	struct hs_influx_list influx;
	struct hs_scrape_settings prometheus;
	struct hs_controller_label_config label;
	struct hs_probing_config probing;
	bool sandbox;	 // the process gives up unneeded capabilities and system calls
	uint8_t metrics; // enum hs_controller_metrics
	uint32_t max_rules;
	uint32_t monitored_rules;
	uint32_t monitor_mib;		   // of all monitors that are computed here
	int64_t window_ns[HS_QOS_WINDOWS]; // 0 ends them
	uint32_t hello_ms;		   // interval between two questions to each node
	uint32_t timeout_ms;		   // a later answer does not count
	uint32_t audit_s;		   // interval of reading and comparing a node's rules

	unsigned n_nodes;
	struct hs_controller_node_config *nodes; // owned
	unsigned n_paths;
	struct hs_controller_path *paths; // owned
	json_t *requests;		  // a list, each with "on"; owned
};

// Reads a file. Returns 0, or a negative errno with all errors: the path of a syntax error is
// "line:column", of any other "nodes[3].api". On failure nothing needs to be released.
int hs_controller_config_load(
		const char *file, struct hs_controller_config *config, struct hs_errors *errors);
void hs_controller_config_fini(struct hs_controller_config *config);

// Adds what the configuration names and this machine does not have: the folders of sockets and of
// the state's file, and interfaces.
void hs_controller_config_lacks(const struct hs_controller_config *config, struct hs_errors *lacks);

// Returns the values in force, with defaults, as JSON that hs_controller_config_load accepts. New
// reference.
json_t *hs_controller_config_print(const struct hs_controller_config *config);
// Returns the JSON Schema of a controller's configuration. New reference.
json_t *hs_controller_config_schema(void);

// Returns the index of a node, or -1.
int hs_controller_config_node(const struct hs_controller_config *config, const char *name);
const struct hs_controller_path *hs_controller_config_path(
		const struct hs_controller_config *config, const char *name);
