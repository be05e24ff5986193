// SPDX-License-Identifier: BSD-3-Clause
// A collector's configuration file: read, checked across fields, and printed with its defaults.
// docs/collector.md explains every key.
//
// Thread rule: any; the struct belongs to the caller. No function here touches a port, a core or a
// socket.
#pragma once

#include "collector_units.h"

#include "collect.h"
#include "config.h"
#include "error.h"
#include "port.h"
#include "scrape_settings.h"

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_COLLECTOR_FORMATS   3  // by enum hs_int_report_version
#define HS_COLLECTOR_MAX_UNITS 64 // entries of `units`

// A UDP socket.
struct hs_collector_listen {
	struct hs_ip_port udp;
	uint32_t buffer_kib; // memory that the kernel may hold for the socket
};

// A DPDK port, and the UDP port of the reports that come in there.
struct hs_collector_port {
	struct hs_port_config port;
	uint16_t udp_port;
};

struct hs_collector_config {
	// The part that is common with a node's configuration: name, cores, polling, control,
	// sandbox. Its ports are those below, without their UDP port. This member is the first,
	// because tables of src/config count offsets from there.
	struct hs_config base;
	unsigned n_listen;
	struct hs_collector_listen listen[HS_COLLECT_MAX_LISTENERS];
	unsigned n_ports;
	struct hs_collector_port ports[HS_COLLECT_MAX_LISTENERS];
	unsigned n_formats;
	uint8_t formats[HS_COLLECTOR_FORMATS];
	unsigned n_profiles;
	struct hs_profile_config profiles[HS_COLLECTOR_FORMATS]; // named as the formats
	unsigned n_units;
	struct hs_collector_units units[HS_COLLECTOR_MAX_UNITS];
	struct hs_scrape_settings prometheus;
	uint32_t latency_us;		  // time that a report may wait for others
	bool flow_series;		  // the page of metrics has series of flows, too
	struct hs_collect_config collect; // its formats are set from those above
};

// Reads a file. Core numbers are checked against `cores`; NULL: those that this process may run on.
// Returns 0, or a negative errno with *errors as hs_config_load does. On failure nothing needs to
// be released.
int hs_collector_config_load(const char *file, const cpu_set_t *cores,
		struct hs_collector_config *config, struct hs_errors *errors);
void hs_collector_config_fini(struct hs_collector_config *config);

// Returns the values in force, with defaults, as JSON that hs_collector_config_load accepts. New
// reference.
json_t *hs_collector_config_print(const struct hs_collector_config *config);
// Returns the JSON Schema of a configuration. New reference.
json_t *hs_collector_config_schema(void);

// Returns the units of a node's values.
const struct hs_collector_units *hs_collector_units_of(
		const struct hs_collector_config *config, uint32_t node_id);

// Fills in the configuration of EAL for the ports. Only if there are ports.
void hs_collector_config_eal(const struct hs_collector_config *config, struct hs_eal_config *eal);
