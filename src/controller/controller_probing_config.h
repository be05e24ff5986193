// SPDX-License-Identifier: BSD-3-Clause
// `probing` in the controller's configuration: the network that probes visit, and how.
//
// Source: 002_e7f573228cf2597b.txt sections III and IV. docs/controller.md explains every key.
// Thread rule: any; the struct belongs to the caller.
#pragma once

#include "error.h"
#include "gpint_plan.h"
#include "probe.h"
#include "schema_table.h"

#include <net/if.h>

#define HS_PROBING_NODES	255 // a hop of a probe has 8 bits for a node's id
#define HS_PROBING_LINKS	4096
#define HS_PROBING_DESTINATIONS 256

struct hs_probing_node {
	uint8_t id;
	uint8_t first, end; // what is measured: the indices [first, end) of the register
};

struct hs_probing_link {
	uint8_t node, port, peer, peer_port; // ids of both ends
	uint16_t cost;			     // of the link for routes, in either direction
};

// A destination of traffic, and the node at which the traffic leaves the network.
struct hs_probing_destination {
	struct hs_probing_prefix {
		uint8_t bytes[16]; // of IPv4: mapped
		uint8_t depth;
	} prefix;
	uint8_t node; // its id
};

// Routes around links that probes find bad.
struct hs_probing_reroute {
	bool on; // the configuration has the key
	unsigned n_destinations;
	struct hs_probing_destination *destinations; // owned
	uint32_t bad_sessions;
	uint32_t hold_ms, max_hold_ms;
	uint32_t changes_per_minute;
};

enum hs_probing_plan {
	HS_PROBING_GPINT, // balanced paths that visit every node
	HS_PROBING_EULER, // paths that cross every link once
};

struct hs_probing_config {
	bool on; // the configuration has the key
	char iface[IF_NAMESIZE];
	uint8_t first_node;  // the id of the node that the interface leads to
	uint8_t address[16]; // IPv4 of the monitor, mapped: source and destination of probes
	uint8_t measure;     // enum hs_probe_type
	struct hs_probe_settings packets;
	unsigned n_nodes, n_links;
	struct hs_probing_node *nodes; // owned
	struct hs_probing_link *links; // owned
	uint8_t plan;		       // enum hs_probing_plan
	uint32_t paths;		       // k: at least so many probes
	uint32_t max_paths;	       // that k may grow to; 0: it does not
	uint32_t mtu;		       // bytes of an IP packet
	uint32_t seed;
	uint32_t period_ms;	  // from session to session; 0: on request only
	uint32_t feedback_ms;	  // t_f
	uint32_t node_timeout_ms; // t_f of the nodes; 0: not known, and feedback_ms stays
	uint32_t resolution_ms;	  // t_ro
	uint32_t attempts;	  // r_a
	uint32_t concurrent;
	bool adaptive; // more attempts where probes are lost
	struct hs_probing_reroute reroute;
};

extern const struct hs_schema_field hs_probing_fields[];
void hs_probing_defaults(struct hs_probing_config *config);
void hs_probing_config_fini(struct hs_probing_config *config);

// Returns the index of a node by its id, or -1.
int hs_probing_node(const struct hs_probing_config *config, uint32_t id);

// Plans the probes, as many paths as `paths` says or more. Returns 0, -ENOMEM, or -EINVAL with
// *err, whose path begins with "probing". The caller releases the plan.
int hs_probing_make_plan(const struct hs_probing_config *config, uint32_t paths,
		struct hs_gpint_plan *plan, struct hs_error *err);
// Checks what the table of fields cannot express, and that probes can be planned. A check is left
// out if one of its keys has an error.
void hs_probing_check(const struct hs_probing_config *config, struct hs_errors *errors);

// Returns by how many hops a probe may be longer than its path, to reach the path's first node, and
// once more, to come back.
uint32_t hs_probing_way_room(const struct hs_probing_config *config);
