// SPDX-License-Identifier: BSD-3-Clause
// The values of a node's configuration file. docs/configuration.md explains every key.
//
// Thread rule: any; the struct belongs to the caller. No function here touches a port or a core,
// and only hs_config_open_bus touches sockets.
#pragma once

#include "clock.h"
#include "clock_servo.h"
#include "cpu_latency.h"
#include "eal.h"
#include "endpoints.h"
#include "error.h"
#include "in_band_settings.h"
#include "influx_config.h"
#include "int_settings.h"
#include "label_profile.h"
#include "node_config.h"
#include "port_types.h"
#include "probe_profile.h"
#include "qos.h"
#include "scheduling.h"
#include "scrape_settings.h"
#include "state.h"

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_FILE_NAME_MAX 256

struct hs_bus;

// Names of files; "" for none.
struct hs_key_files {
	char secret[HS_FILE_NAME_MAX];
	char allowed[HS_FILE_NAME_MAX]; // a directory
	char controller[HS_FILE_NAME_MAX];
};

enum hs_method {
	HS_METHOD_FLEXINT,
	HS_METHOD_INT,
	HS_METHOD_LABEL,
	HS_METHOD_PROBE,
};

#define HS_PROFILE_UNSAID UINT32_MAX // of a number that was left out: the version's number is used

// A profile of `profiles`. Keys of methods other than flexint are as given; `settings`, `label` and
// `probe` have the values in force, and hs_node_config.profiles point to them.
struct hs_profile_config {
	char name[HS_PORT_NAME_MAX];
	uint8_t method; // enum hs_method
	uint8_t layout; // enum hs_flexint_layout, or HS_PROFILE_NO_LAYOUT
	uint8_t version, mode, carrier, mark, malformed, function, recovery; // UINT8_MAX: left out
	uint32_t dscp, dscp_mask, udp_port, max_hops, domain_id, ip_protocol;
	uint32_t gre_protocol, gpe_protocol, geneve_class, geneve_type;
	uint32_t feedback_dscp, recovery_dscp, held, rate_pps, monitor_port;
	uint64_t probe_marker;	       // 0: none
	uint64_t interval_ns, rest_ns; // UINT64_MAX: left out
	uint64_t timeout_ns, seen_ns;  // the same
	double chances[256];
	unsigned n_chances; // 0: left out
	struct hs_int_settings settings;
	struct hs_label_profile label;
	struct hs_probe_profile probe;
};
#define HS_PROFILE_NO_LAYOUT UINT8_MAX
#define HS_PROFILE_LABEL_NS  INT64_C(50000000) // interval_ns of method label, unless it is given

// A receiver of `export`, with the name of its port as given.
struct hs_export_item {
	struct hs_export_config of;
	char port[HS_PORT_NAME_MAX];
};

struct hs_pair_names {
	char side[2][HS_PORT_NAME_MAX];
};

struct hs_config {
	struct hs_node_config node;
	unsigned n_profiles;
	struct hs_profile_config profiles[HS_MAX_PORTS];
	unsigned n_ports;
	struct hs_port_config ports[HS_MAX_PORTS];
	unsigned n_pairs; // names as given; node.pairs has the indices
	struct hs_pair_names pairs[HS_MAX_PORTS];
	struct hs_export_item exports[HS_MAX_EXPORTS]; // node.n_exports of them, which node.exports
						       // also has

	uint16_t control_core;
	uint16_t workers[HS_MAX_WORKERS];
	bool adaptive;
	struct hs_scheduling worker_scheduling;
	uint32_t cpu_latency_us;
	bool workers_help_monitor;
	bool huge_pages;
	uint32_t mbufs;
	uint32_t monitored_rules;
	uint32_t monitor_mib;		   // for all monitors together
	int64_t window_ns[HS_QOS_WINDOWS]; // 0 ends them
	enum hs_clock_scale clock;
	uint32_t clock_step_ms; // a larger offset is stepped
	struct hs_in_band_settings in_band;
	unsigned n_in_band_ports; // names as given; in_band.ports has them as bits
	char in_band_ports[HS_MAX_PORTS][HS_PORT_NAME_MAX];
	char key_file[HS_FILE_NAME_MAX]; // "": no key

	struct hs_endpoints bind, publish_to, publish_bind;
	uint32_t publish_queue; // messages held for each subscriber
	bool insecure;
	struct hs_influx_list influx;
	char state_file[HS_STATE_FILE_BYTES]; // "": nothing is kept over a restart
	bool state_sync;
	struct hs_scrape_settings prometheus;
	bool sandbox;		     // the process gives up unneeded capabilities and system calls
	struct hs_key_files keys;    // no secret: the node uses no keys
	json_t *neighbours, *routes; // lists or NULL; owned
	json_t *requests;	     // a list; owned
};

void hs_config_fini(struct hs_config *config);

// Adds an error for each interface, PCI device and writable folder that the configuration names and
// this machine does not have.
void hs_config_lacks(const struct hs_config *config, struct hs_errors *lacks);
// Looks for the interfaces of all ports before the first port is opened. Returns 0, or -ENODEV with
// the last one that is missing in *err; those before it are logged.
int hs_config_find_interfaces(
		const struct hs_config *config, const char *module, struct hs_error *err);

// Fills the cores that this process may run on. Returns `own`.
const cpu_set_t *hs_config_own_cores(cpu_set_t *own);
// Chooses a core for control and one for a worker.
void hs_config_choose_cores(struct hs_config *config, const cpu_set_t *cores);

// Return the bytes of a buffer and the number of buffers of this node's pool, and fill in the
// configuration of EAL.
uint16_t hs_config_mbuf_bytes(const struct hs_config *config);
uint32_t hs_config_mbufs(const struct hs_config *config); // egress queues, rings of export, probes
							  // and fragments have theirs beside
							  // memory.mbufs
void hs_config_eal(const struct hs_config *config, struct hs_eal_config *eal);

// Opens the sockets of "control". Returns as hs_bus_open does.
int hs_config_open_bus(const struct hs_config *config, struct hs_bus **bus, struct hs_error *err);
