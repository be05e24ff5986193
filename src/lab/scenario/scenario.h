// SPDX-License-Identifier: BSD-3-Clause
// A scenario: nodes, links, hosts, traffic, requests, events, and what is expected of the result.
// docs/lab.md explains every key.
//
// Thread rule: any; the struct belongs to the caller and does not change once it is read.
#pragma once

#include "error.h"
#include "gpint_prober.h"
#include "in_band_settings.h"
#include "ip.h"
#include "ip_address.h"
#include "label_pro.h"
#include "link.h"
#include "partial_config.h"
#include "port.h"
#include "profile.h"
#include "qos.h"

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_SCENARIO_NAME 64
#define HS_NO_INDEX	 UINT32_MAX

enum hs_scenario_forwarding {
	HS_LAB_PATCH,	      // every node has two ports
	HS_LAB_BRIDGE,	      // no cycles
	HS_LAB_SHORTEST_PATH, // routes to every host, with the fewest hops along links that are up
};

// The system's clock of a node, and how NTP or PTP corrects it (lab_clock.h has the model).
struct hs_lab_sync {
	int64_t interval_ns;	     // 0: never synchronised
	int64_t first_ns;	     // time of the first poll after the start; 0: one interval
	int64_t error_ns;	     // standard deviation of the offset that a poll leaves
	int64_t frequency_error_ppb; // standard deviation of the frequency that a poll leaves
	bool slew;		     // otherwise step
	int64_t step_threshold_ns;   // 0: 128 ms
};

struct hs_lab_clock_config {
	int64_t offset_ns;	 // at the start: what the clock shows minus the true time
	int64_t drift_ppb;	 // of the free clock; positive: fast
	int64_t drift_sigma_ppb; // a normal part of the drift, drawn once
	struct hs_lab_sync sync;
};

struct hs_config;

struct hs_scenario_node {
	uint16_t id;
	char name[32];
	struct hs_lab_clock_config clock;
	uint32_t n_links, n_hosts; // on ports of the node
	uint8_t layout;		   // enum hs_flexint_layout
	struct hs_partial partial; // fields of the node's entries; zero: all
	uint32_t rate_pps;	   // that each of its ports serves; 0: no limit, and no queue
	uint32_t queue_packets;	   // that may wait at each port, beside the one that is served
	bool rate_of_node;	   // both are those of all its ports together
};

// A link has the same parameters in both directions, unless "reverse" or a further entry with
// exchanged ends says otherwise.
struct hs_scenario_link {
	struct hs_link_config directions[2]; // [0]: from -> to
	char name[HS_SCENARIO_NAME];	     // "from-to" unless given
	uint32_t from, to;		     // nodes
	bool has_both;			     // the file has an entry for each direction
	uint32_t entry;			     // index in the file's list
	uint32_t profile;		     // 1 + index; 0: flexint
	bool queue_at_node; // the frames that wait for the rate stand in the sending node
};

extern const char *const hs_scenario_directions[2]; // "forward", "reverse"

// An end of traffic, on a host port of a node, without a delay. A traffic entry that names a node
// creates an "implicit" host there, at most one for each node.
struct hs_scenario_host {
	char name[32];
	uint32_t at;	  // node
	uint8_t addr[16]; // as in ip_address.h
	bool implicit;
};

// Which of several shortest ways a node takes to a host.
struct hs_scenario_route {
	uint32_t node, to, via; // a node, a host, a neighbour of the node
};

// Returns the length of the IP header of packets that the host sends.
static inline uint32_t hs_scenario_ip_bytes(const struct hs_scenario_host *host)
{
	return hs_ip_address_is_ipv4(host->addr) ? HS_IPV4_BYTES : HS_IPV6_BYTES;
}

enum hs_traffic_kind {
	HS_TRAFFIC_CONSTANT,
	HS_TRAFFIC_BURSTY,  // bursts of burst_ns at rate_pps, mean_interval_ns apart (exponential);
			    // a burst that is due during another follows it at once
	HS_TRAFFIC_POISSON, // exponential gaps, mean 1/rate_pps
	HS_TRAFFIC_RELAY,   // one packet for each of another entry that comes to the node of `from`
	HS_TRAFFIC_PING,    // ICMP echo requests at rate_pps, which are answered at once
	HS_TRAFFIC_WINDOW,  // as many segments under way as the window allows (TCP frames)
	HS_TRAFFIC_PCAP,    // frames of a file, at the times of the file
};

// The tunnels. The payload of UDP begins with the tunnel's header, and its rest is an Ethernet
// frame. GRE takes the place of UDP.
enum hs_traffic_tunnel {
	HS_TUNNEL_NONE,
	HS_TUNNEL_VXLAN,
	HS_TUNNEL_VXLAN_GPE,
	HS_TUNNEL_GENEVE,
	HS_TUNNEL_GRE,
};
#define HS_TUNNEL_HEADER_BYTES 8

struct hs_scenario_traffic {
	char name[32];
	uint32_t entry; // index in the file's list, of a pattern too
	enum hs_traffic_kind kind;
	uint32_t from, to; // hosts
	uint8_t protocol;  // IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMPV6 (of IPv4: ICMP), IPPROTO_GRE
	uint8_t tunnel;	   // enum hs_traffic_tunnel
	uint16_t src_port, dst_port;
	uint32_t after;		    // relay: the entry
	uint32_t relay, next_relay; // the first relay after this entry, the next after the same;
				    // HS_NO_INDEX: none
	uint32_t flows[2];	    // of its packets, of their replies; HS_NO_INDEX: none
	double rate_pps;
	uint32_t payload_bytes;	   // above UDP, TCP or the ICMP echo header (8 bytes)
	int64_t start_ns, stop_ns; // after the start of the run; stop_ns at most its duration
	int64_t opening_ns;	   // silence after an opening packet at start_ns; 0: there is none
	uint64_t packets;	   // stop after this number; 0: no limit
	int64_t burst_ns, mean_interval_ns;
	uint32_t window_packets; // window: the largest; 0: 65535
	bool window_fixed;	 // no slow start, no halving
	int64_t reply_delay_ns;	 // ping, window: time between request and reply at the far host
	char file[256];		 // pcap: relative to the scenario's folder
};

// Returns whether a request or an event for `nodes` (a node, or HS_NO_INDEX for all) is also for
// this node.
static inline bool hs_scenario_has_node(uint32_t nodes, uint32_t node)
{
	return nodes == HS_NO_INDEX || nodes == node;
}

// Returns the length of the header behind the IP header. For ICMP, the header is that of an echo.
static inline uint32_t hs_scenario_l4_bytes(const struct hs_scenario_traffic *traffic)
{
	return traffic->protocol == IPPROTO_TCP ? 20 : traffic->protocol == IPPROTO_GRE ? 4 : 8;
}

// A request of the API for one node, or for all nodes (HS_NO_INDEX).
struct hs_scenario_request {
	uint32_t node;
	json_t *request; // {"int_request": {...}}, completed from "traffic"; owned
	uint32_t entry;	 // index in the file's list
};

// A flow that some request of the scenario (at the start or in an event) monitors.
struct hs_scenario_flow {
	char name[48]; // "NAME" or "NAME/reply" of the traffic, or "ns-NS_ID"
	uint32_t ns_id, app_id;
	uint32_t traffic;      // the entry that its 5-tuple matches; HS_NO_INDEX: none
	bool reverse;	       // of the replies: from `to` to `from`
	uint32_t source, sink; // the nodes at its ends, if it has traffic
};

enum hs_scenario_event_kind {
	HS_LAB_EVENT_LINK,    // new parameters for a link: those of `directions` that `set` names
	HS_LAB_EVENT_RESTART, // a node stops, forgets everything, and is back after down_ns with
			      // its requests
	HS_LAB_EVENT_REQUEST, // a request to a node, or all
	HS_LAB_EVENT_TRAFFIC, // a new rate for an entry of traffic
	HS_LAB_EVENT_CLOCK, // the system clock of a node, or of all nodes, is set by clock_step_ns
};

struct hs_scenario_event {
	uint32_t entry;			   // index in the file's list
	int64_t at_ns, every_ns, until_ns; // every_ns 0: once
	enum hs_scenario_event_kind kind;
	uint32_t link, node, traffic; // node: HS_NO_INDEX: all
	uint8_t directions;	      // of the link: bit 0 forward, bit 1 reverse
	json_t *set;	 // link: the members that change, applied to the present parameters; owned
	json_t *request; // owned
	bool restart;	 // as in the file
	int64_t down_ns;
	double rate_pps;
	int64_t clock_step_ns;
};

// INT-label: the controller that takes the nodes' items.
struct hs_scenario_label {
	bool given;
	int64_t interval_ns;   // of the coverage
	int64_t delay_ns;      // of datagrams, and of changes of S in each direction
	double loss_ratio;     // of datagrams
	double pro_loss_ratio; // of changes of S and their confirmations
	int64_t pro_step_ns;   // 0: no Pro
	struct hs_label_pro pro;
};

enum hs_scenario_planner {
	HS_LAB_GPINT,
	HS_LAB_EULER,
};

// GPINT: the monitoring host, with a link of its own to each node.
struct hs_scenario_probing {
	bool given;
	enum hs_scenario_planner planner;
	uint32_t paths; // k; 0: three for ten nodes
	uint32_t mtu;	// of a probe's IP packet; 0: the scenario's
	bool recovery;	// SQR in the nodes, and the recovery module at the host
	struct hs_gpint_prober_config tuning; // t_f is that of the nodes, too
	int64_t start_ns, period_ns;
	uint32_t sessions; // after which the run ends; 0: it ends after its duration
	int64_t wait_ns;   // without recovery: how long the host waits for a probe
	int64_t delay_ns;  // of the host's links
};

struct hs_scenario_expect {
	char metric[64]; // the name of a metric; lab_metric.h has the table
	// The name of a link, "e2e", "*" (every row must meet it), or "". "" means all rows
	// together for mae.* and max_error.*, otherwise end to end.
	char hop[HS_SCENARIO_NAME];
	uint32_t flow; // HS_NO_INDEX: each flow
	uint32_t node; // nodes.*; HS_NO_INDEX: all nodes together
	// |measured - value| <= tolerance; NAN: not given, for the bounds too.
	double value, tolerance;
	double min, max;
};

struct hs_scenario {
	char name[HS_SCENARIO_NAME];
	char source[160], description[400];
	char folder[256]; // folder of the file, for paths in the file
	uint64_t seed;
	int64_t duration_ns;
	int64_t windows_ns[HS_QOS_WINDOWS]; // window lengths of each node; 0 ends them
	int64_t window_ns; // length of the windows in the result: one of windows_ns
	enum hs_scenario_forwarding forwarding;
	bool closing_packet; // one more packet of each monitored traffic, with telemetry, a second
			     // after the last
	bool opening_packet; // the first packet of each monitored traffic has telemetry, a second
			     // before the others
	bool keep_windows;   // in the result; otherwise totals only
	uint32_t mbufs, rules; // packets under way at once; rules of a node
	uint16_t mtu;
	struct hs_config *profiles;	    // has those of the file; NULL: none
	struct hs_in_band_settings in_band; // of every node
	struct hs_scenario_label label;
	struct hs_scenario_probing probing;
	uint32_t clock_step_ms; // of every node
	int64_t reroute_ns;	// shortest_path: time from a change of a link to new routes

	size_t n_nodes, n_links, n_hosts, n_routes, n_traffic, n_requests, n_flows, n_events,
			n_expects;
	struct hs_scenario_node *nodes;
	struct hs_scenario_link *links;
	struct hs_scenario_host *hosts;
	struct hs_scenario_route *routes;
	struct hs_scenario_traffic *traffic;
	struct hs_scenario_request *requests;
	struct hs_scenario_flow *flows;
	struct hs_scenario_event *events; // in the order of at_ns, then of the file
	struct hs_scenario_expect *expects;
};

void hs_scenario_fini(struct hs_scenario *scenario);

// Returns the link between two nodes, whatever its direction, or NULL.
const struct hs_scenario_link *hs_scenario_link_between(
		const struct hs_scenario *scenario, uint32_t a, uint32_t b);

// Computes the hops from each node to this one along directions of links that are up, or HS_FAR if
// no path leads there. An arc is 2 * link + direction; direction 0 of a link leads from `from` to
// `to`. Without is_up, all are up. hops has room for all nodes.
#define HS_FAR UINT32_MAX
typedef bool hs_scenario_is_up(const void *context, uint32_t arc);
void hs_scenario_distances(const struct hs_scenario *scenario, hs_scenario_is_up *is_up,
		const void *context, uint32_t to, uint32_t *hops);

// Adds the requests that a node gets at its start to a list, and the place of each in the file to
// another. Returns 0 or -ENOMEM.
int hs_scenario_list_requests(
		const struct hs_scenario *scenario, uint32_t node, json_t *list, json_t *places);
// Turns the path of an error in that list, "[2].int_request.src_ip", into the path in the file,
// "requests[5].int_request.src_ip".
void hs_scenario_place_error(const json_t *places, struct hs_error *err);

// Fills the profiles of a node's ports. The ports are the node's links, in their order. Returns 0,
// or -EINVAL with *err where two profiles cannot be at one node. `profiles` must be zero before the
// call.
int hs_scenario_profiles(const struct hs_scenario *scenario, uint32_t node,
		struct hs_profile profiles[HS_MAX_PORTS], struct hs_error *err);

// Makes the path of a file that the scenario names relative to its folder. Returns `path`.
#define HS_SCENARIO_PATH 512
const char *hs_scenario_path(
		const struct hs_scenario *scenario, const char *file, char path[HS_SCENARIO_PATH]);

// Applies the members of `set` (the keys of a link) to a direction's configuration. Returns 0 or
// -EINVAL.
int hs_scenario_set_link(
		json_t *set, const char *path, struct hs_link_config *config, struct hs_error *err);
