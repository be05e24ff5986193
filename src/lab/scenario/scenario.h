// SPDX-License-Identifier: BSD-3-Clause
// A scenario: nodes, links, hosts, traffic, requests, events, and what is expected of the result.
// Read from JSON, checked whole, with the path of what is wrong; docs/lab.md explains every key.
//
// Thread rule: any; the struct belongs to the caller and does not change once it is read.
#pragma once

#include "lab_clock.h"

#include "error.h"
#include "in_band_settings.h"
#include "link.h"
#include "partial_config.h"
#include "qos.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_SCENARIO_NAME 64
#define HS_NO_INDEX	 UINT32_MAX

enum hs_scenario_forwarding {
	HS_LAB_PATCH,	      // every node has two ports
	HS_LAB_BRIDGE,	      // no cycles
	HS_LAB_SHORTEST_PATH, // routes to every host, along the links that are up, fewest hops
};

struct hs_scenario_node {
	uint16_t id;
	char name[32];
	struct hs_lab_clock_config clock;
	uint8_t layout;		   // enum hs_flexint_layout
	struct hs_partial partial; // fields of its entries; zero: all
};

// A cable: the same in both directions unless "reverse" says otherwise, or a further entry with
// from and to exchanged.
struct hs_scenario_link {
	char name[HS_SCENARIO_NAME];   // "from-to" unless given
	uint32_t from, to;	       // nodes
	struct hs_link_config ways[2]; // [0]: from -> to
};

// An end of traffic, on a host port of a node, at no distance. A traffic entry that names a node
// makes one there ("implicit"), one for each node.
struct hs_scenario_host {
	char name[32];
	uint32_t at; // node
	uint8_t addr[16];
	bool implicit;
};

enum hs_traffic_kind {
	HS_TRAFFIC_CONSTANT,
	HS_TRAFFIC_BURSTY,  // bursts of burst_ns at rate_pps; starts exponential, mean_interval_ns;
			    // a burst that is due while one runs follows it at once
	HS_TRAFFIC_POISSON, // exponential gaps, mean 1/rate_pps
	HS_TRAFFIC_PING,    // ICMPv6 echo requests at rate_pps, answered at once
	HS_TRAFFIC_WINDOW,  // as many segments under way as the window allows (TCP frames)
	HS_TRAFFIC_PCAP,    // frames of a file at its times
};

struct hs_scenario_traffic {
	char name[32];
	enum hs_traffic_kind kind;
	uint32_t from, to; // hosts
	uint8_t protocol;  // IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMPV6
	uint16_t src_port, dst_port;
	double rate_pps;
	uint32_t payload_bytes;	   // above UDP, TCP or the ICMPv6 echo header (8 bytes)
	int64_t start_ns, stop_ns; // after the start of the run; stop_ns at most its duration
	int64_t opening_ns;	   // silence after an opening packet at start_ns; 0: there is none
	uint64_t packets;	   // stop after so many; 0: no limit
	int64_t burst_ns, mean_interval_ns;
	uint32_t window_packets; // window: the largest; 0: 65535
	bool window_fixed;	 // no slow start, no halving
	int64_t reply_delay_ns;	 // ping, window: between request and reply at the far host
	char file[256];		 // pcap: relative to the scenario's folder
};

// A request of the API for one node, or all of them (HS_NO_INDEX).
struct hs_scenario_request {
	uint32_t node;
	json_t *request; // {"int_request": {...}}, what "traffic" gave filled in; owned
	uint32_t entry;	 // of the file's list that it was made of
};

// A flow that some request of the scenario (at the start or in an event) monitors.
struct hs_scenario_flow {
	uint32_t ns_id, app_id;
	uint32_t traffic; // the entry that its 5-tuple matches; HS_NO_INDEX: none
	bool reverse;	  // its replies: from `to` to `from`
};

enum hs_scenario_event_kind {
	HS_LAB_EVENT_LINK,    // new parameters for a link: `ways`, of those that `set` names
	HS_LAB_EVENT_RESTART, // a node stops, forgets everything, is back after down_ns with the
			      // scenario's requests
	HS_LAB_EVENT_REQUEST, // a request to a node, or all
	HS_LAB_EVENT_TRAFFIC, // a new rate for an entry of traffic
	HS_LAB_EVENT_CLOCK,   // the system's clock of a node, or of all, is set by clock_step_ns
};

struct hs_scenario_event {
	uint32_t entry;			   // of the file's list
	int64_t at_ns, every_ns, until_ns; // every_ns 0: once
	enum hs_scenario_event_kind kind;
	uint32_t link, node, traffic;
	bool way_changes[2];
	json_t *set;	 // link: the members that change; applied to what is in force then; owned
	json_t *request; // owned
	int64_t down_ns;
	double rate_pps;
	int64_t clock_step_ns;
};

struct hs_scenario_expect {
	char metric[64]; // checked to exist: lab_metric.h has the table
	// A link's name, "e2e", "*" (every row must meet it), or "": for mae.* and max_error.* all
	// rows together, else end to end.
	char hop[HS_SCENARIO_NAME];
	uint32_t flow; // HS_NO_INDEX: each of them
	uint32_t node; // nodes.*; HS_NO_INDEX: all together
	bool has_value;
	double value, tolerance; // |measured - value| <= tolerance
	bool has_min, has_max;
	double min, max;
};

struct hs_scenario {
	char name[HS_SCENARIO_NAME];
	char source[160], description[400];
	char folder[256]; // of the file, for what it names
	uint64_t seed;
	int64_t duration_ns;
	int64_t windows_ns[HS_QOS_WINDOWS]; // of each node; 0 ends them
	int64_t window_ns;		    // one of these: of the windows in the result
	enum hs_scenario_forwarding forwarding;
	bool closing_packet; // one more packet of each monitored traffic, with telemetry, a second
			     // after the last
	bool opening_packet; // the first of each monitored traffic, with telemetry, a second before
			     // the others
	bool keep_windows;   // in the result; else totals alone
	uint32_t mbufs, rules; // packets under way at once; rules a node holds
	uint16_t mtu;
	struct hs_in_band_settings in_band; // of every node
	uint32_t clock_step_ms;		    // likewise
	int64_t reroute_ns;		    // shortest_path: from a change of a link to new routes

	size_t n_nodes, n_links, n_hosts, n_traffic, n_requests, n_flows, n_events, n_expects;
	struct hs_scenario_node *nodes;
	struct hs_scenario_link *links;
	struct hs_scenario_host *hosts;
	struct hs_scenario_traffic *traffic;
	struct hs_scenario_request *requests;
	struct hs_scenario_flow *flows;
	struct hs_scenario_event *events;
	struct hs_scenario_expect *expects;
};

// What the command line says in place of the file; 0 or negative: nothing.
struct hs_scenario_override {
	bool has_seed;
	uint64_t seed;
	int64_t duration_ns; // traffic, events and expectations beyond it are cut, not errors
};

// 0, or negative errno with *err: the path of a syntax error is "line:column", of any other
// "links[3].loss_ratio". On failure nothing needs to be released.
int hs_scenario_load(const char *file, const struct hs_scenario_override *override,
		struct hs_scenario *scenario, struct hs_error *err);
int hs_scenario_parse(const char *text, size_t len, const char *folder,
		const struct hs_scenario_override *override, struct hs_scenario *scenario,
		struct hs_error *err);
void hs_scenario_fini(struct hs_scenario *scenario);

// Name and description alone, for lists.
int hs_scenario_peek(const char *file, struct hs_scenario *scenario, struct hs_error *err);

// Applies the members of `set` (the keys of a link) to a direction's configuration. 0 or -EINVAL.
int hs_scenario_set_link(
		json_t *set, const char *path, struct hs_link_config *config, struct hs_error *err);
