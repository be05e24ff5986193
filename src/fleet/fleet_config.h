// SPDX-License-Identifier: BSD-3-Clause
// The controller's configuration file: read, checked across fields, printed with its defaults.
// docs/controller.md explains every key.
//
// Thread rule: any; the struct belongs to the caller.
#pragma once

#include "error.h"
#include "qos.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_FLEET_MAX_NODES     1024
#define HS_FLEET_MAX_PATHS     1024
#define HS_FLEET_MAX_ENDPOINTS 8
#define HS_FLEET_NAME_BYTES    32
#define HS_FLEET_TEXT_BYTES    256 // an endpoint, a file

struct hs_fleet_endpoints {
	unsigned n;
	char text[HS_FLEET_MAX_ENDPOINTS][HS_FLEET_TEXT_BYTES];
};

struct hs_fleet_node_config {
	char name[HS_FLEET_NAME_BYTES];
	uint16_t id; // the node's own, by which its messages are told
	char api[HS_FLEET_TEXT_BYTES];
	char server_key[HS_FLEET_TEXT_BYTES]; // a file; "": no keys
};

struct hs_fleet_path {
	char name[HS_FLEET_NAME_BYTES];
	unsigned n;
	uint16_t *nodes; // indices, from source to sink; owned
};

enum hs_fleet_metrics {
	HS_FLEET_METRICS_AUTO,	 // of rules whose sink publishes none itself
	HS_FLEET_METRICS_ALWAYS, // of all
	HS_FLEET_METRICS_NEVER,
};

struct hs_fleet_config {
	char name[HS_FLEET_NAME_BYTES];
	struct hs_fleet_endpoints bind;		  // clients ask here
	struct hs_fleet_endpoints subscribe_bind; // nodes' publishers connect here
	struct hs_fleet_endpoints publish_bind;	  // listeners subscribe here
	bool insecure;
	char secret_key[HS_FLEET_TEXT_BYTES]; // files; "": no keys
	char allowed_keys[HS_FLEET_TEXT_BYTES];
	char state_file[HS_FLEET_TEXT_BYTES]; // "": what clients ask for ends with the process
	bool state_sync;
	bool sandbox;	 // capabilities and system calls that are not needed are given up
	uint8_t metrics; // enum hs_fleet_metrics
	uint32_t max_rules;
	uint32_t monitored_rules;
	uint32_t monitor_mib;		   // of monitors that are computed here, together
	int64_t window_ns[HS_QOS_WINDOWS]; // 0 ends them
	uint32_t hello_ms;		   // how often each node is looked at
	uint32_t timeout_ms;		   // an answer that takes longer is none
	uint32_t audit_s;		   // how often a node's rules are read and compared

	unsigned n_nodes;
	struct hs_fleet_node_config *nodes; // owned
	unsigned n_paths;
	struct hs_fleet_path *paths; // owned
	json_t *requests;	     // a list, each with "on"; owned
};

// Reads a file, or text. 0, or negative errno with *err: the path of a syntax error is
// "line:column", of any other "nodes[3].api". On failure nothing needs to be released.
int hs_fleet_config_load(const char *file, struct hs_fleet_config *config, struct hs_error *err);
int hs_fleet_config_parse(
		const char *text, size_t len, struct hs_fleet_config *config, struct hs_error *err);
void hs_fleet_config_fini(struct hs_fleet_config *config);

// The values in force, defaults included, as JSON that hs_fleet_config_parse takes. New reference.
json_t *hs_fleet_config_print(const struct hs_fleet_config *config);

// The index of a node, or -1.
int hs_fleet_config_node(const struct hs_fleet_config *config, const char *name);
const struct hs_fleet_path *hs_fleet_config_path(
		const struct hs_fleet_config *config, const char *name);
