// SPDX-License-Identifier: BSD-3-Clause
// What a node is made from.
#pragma once

#include "export_values.h"
#include "flexint_partial.h"
#include "port_types.h"
#include "profile.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_NODE_MAX_HOPS 8

enum hs_forwarding_mode {
	HS_FORWARD_PATCH,
	HS_FORWARD_BRIDGE,
	HS_FORWARD_ROUTE,
};

enum hs_host_side_policy {
	HS_HOST_STRIP, // remove and count telemetry that a host sent
	HS_HOST_DROP,  // drop the packet
};

struct hs_node_config {
	uint16_t id; // 0 to 65535; 0 for end nodes without an id of their own
	char name[32];
	unsigned n_workers;   // 1 to HS_MAX_WORKERS
	uint32_t rules;	      // capacity
	uint32_t report_ring; // records for each worker, a power of two; 0: default
	uint32_t punt_ring;   // the same for punts
	enum hs_forwarding_mode forwarding;
	uint16_t n_pairs; // patch: pairs of port indices
	uint16_t pairs[HS_MAX_PORTS][2];
	uint32_t mac_age_s; // bridge: seconds until an address is forgotten, default 300
	uint32_t routes;    // route: capacity, default 1024
	const struct hs_family *family; // of ports without a profile; NULL: flexint
	uint8_t layout;			// of these ports, too: enum hs_flexint_layout
	uint8_t max_hops; // flexint: nodes of a path that add values; 0: HS_NODE_MAX_HOPS
	bool mss_clamp;	  // lower the MSS of TCP connections, so that telemetry fits
	struct hs_profile profiles[HS_MAX_PORTS]; // of network ports; family NULL: none
	enum hs_host_side_policy host_side_policy;
	unsigned n_exports;				 // at most HS_MAX_EXPORTS
	struct hs_export_config exports[HS_MAX_EXPORTS]; // receivers of telemetry reports
	struct hs_partial partial; // fields of entries made in transit; zero: all
	uint64_t seed;
};
