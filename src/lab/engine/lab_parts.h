// SPDX-License-Identifier: BSD-3-Clause
// The parts of struct hs_lab that the files of the engine share. For lab*.c only.
#pragma once

#include "event_queue.h"
#include "gpint_prober.h"
#include "lab_clock.h"
#include "label_item.h"
#include "measured.h"
#include "packet.h"
#include "queue_truth.h"
#include "run.h"
#include "stream.h"
#include "truth.h"

#include "clock.h"
#include "control.h"
#include "node.h"
#include "port.h"
#include "rule_admission.h"

#include <rte_mbuf_dyn.h>

#define LAB_REPORT_RING 2048
#define LAB_PUNT_RING	64
#define LAB_LATENESS_NS INT64_C(100000000) // a window of a monitor closes this long after its end
#define LAB_FAR		UINT8_MAX	   // no path leads there
#define LAB_PROBE	(HS_NO_INDEX - 1)  // the traffic of a packet of probes
// The number of copies that one packet may become in a bridge before the lack of buffers is
// noticed.
#define LAB_SPARE_MBUFS 64

struct lab_port {
	struct lab_node *node;
	struct lab_port *peer; // at the link's other end; NULL: a host port, or the monitor's
	struct hs_link *out;   // sent frames enter this link; NULL: a port to a host or the monitor
	bool to_monitor;       // the last port of a node, in a scenario with probes
	uint64_t received;     // frames, since the node started
	struct hs_port *port;  // NULL: its node is down
	struct hs_queue_truth *queue; // truth of its queue, a part of the run; NULL: none
	struct rte_mbuf *arrived;     // the node receives this at its next poll
	uint32_t place;		      // the link, or the host
	unsigned direction;	      // of the link
};

struct lab_node {
	struct hs_lab *lab;
	const struct hs_scenario_node *scenario;
	uint32_t index;
	struct hs_node *node; // NULL: the node is down
	struct hs_control *control;
	struct hs_clock *clock;	   // the clock that the node reads
	struct hs_lab_clock model; // the system's clock, which the node's clock follows
	int64_t stepped_ns;	   // sum of the clock's steps when it was last read
	int64_t unfold_ns;	   // added to its time for lab_told_ns
	struct lab_port *ports;
	uint16_t n_ports;
	uint32_t restarts;
	uint64_t received;     // frames
	bool has_queue, waits; // it has ports with a queue; packets wait in one
	struct lab_handed {
		uint64_t reports, punts;
	} seen; // handed over when control was last stepped
};

struct hs_lab {
	struct hs_lab_config config;
	const struct hs_scenario *scenario;
	int64_t now_ns;
	int64_t monotonic_ns; // of the machine at the start
	int64_t progress_ns;  // time of the next progress report

	struct rte_mempool *pool;
	int stamp_offset; // of the dynamic field in a buffer
	uint32_t in_flight;
	uint32_t n_waiting;		// nodes in which packets wait
	uint32_t frame_room;		// in a buffer
	struct hs_packet_truth *polled; // of the packet that a node is processing

	struct lab_node *nodes;
	uint32_t by_id[UINT16_MAX + 1]; // indices of nodes, or HS_NO_INDEX
	struct lab_port *ports;
	struct lab_port **host_ports; // of each host
	struct hs_link *(*links)[2];
	// [destination * n_nodes + node]: the node's port towards the destination, or LAB_FAR. Only
	// nodes with hosts are destinations. Not used if forwarding is patch.
	uint8_t *next_ports;
	// [route]: the port of each of the scenario's routes, or LAB_FAR if the route leads along
	// no shortest way now.
	uint8_t *route_ports;

	// Its timers are those of streams, then those of the nodes' control, then those of
	// departures from the nodes' queues, then that of the monitoring host.
	struct hs_event_queue queue;
	bool cut;	 // streams send nothing more
	uint32_t extras; // number of opening or closing packets still to send

	int rc; // the first failure
	struct hs_error err;

	uint64_t packets;
	struct lab_label *label;     // NULL: the scenario has none
	struct lab_probing *probing; // NULL: the scenario has none
	struct hs_run run;	     // the counters so far
};

// Returns the index of a port in the queues of the run (hs_run.queues).
static inline uint32_t lab_place_of(const struct lab_port *port)
{
	return port->out ? 2 * port->place + port->direction
			 : 2 * (uint32_t)port->node->lab->scenario->n_links + port->place;
}

// Returns the profile of a port, whose node must be up.
static inline const struct hs_profile *lab_profile(const struct lab_port *port)
{
	return hs_node_profile(port->node->node, port->port->index);
}

static inline size_t lab_ports(const struct hs_scenario *s)
{
	return 2 * s->n_links + s->n_hosts + (s->probing.given ? s->n_nodes : 0);
}

// Ends the run and its traffic now. Frames that are under way still arrive.
void lab_end_now(struct hs_lab *lab);

// Remembers the first failure, which ends the run. If *err is not set, the message is that of the
// errno.
void lab_fail_as(struct hs_lab *lab, int rc, const struct hs_error *err);

// Does the same with an error that has these arguments of hs_error_set.
#define lab_fail(lab, rc, ...)                                                                     \
	do {                                                                                       \
		struct hs_error told = {0};                                                        \
		hs_error_set(&told, __VA_ARGS__);                                                  \
		lab_fail_as(lab, rc, &told);                                                       \
	} while (0)

// Returns false if memory is out, which ends the run.
bool lab_push(struct hs_lab *lab, int64_t at_ns, hs_lab_event_fn *run, uintptr_t about);

static inline size_t lab_monitor_timer(const struct hs_lab *lab)
{
	return lab->scenario->n_traffic + 2 * lab->scenario->n_nodes;
}

static inline size_t lab_control_timer(const struct lab_node *node)
{
	return node->lab->scenario->n_traffic + node->index;
}

// Sets the stream's timer to its next time. Call this after each call of the stream.
static inline void lab_follow_stream(struct hs_lab *lab, uint32_t traffic)
{
	hs_event_set_timer(&lab->queue, traffic,
			lab->cut ? HS_EVENT_NEVER : hs_stream_next_ns(lab->run.streams[traffic]));
}

// ---- lab_control.c ----

int lab_make_clock(struct lab_node *node);
// Handles a step of the clock: told times continue behind those told before.
void lab_clock_stepped(struct lab_node *node, int64_t stepped_ns);
// Returns the true time at which the node's clock shows this time, but not before now.
int64_t lab_clock_when(const struct lab_node *node, int64_t shown_ns);

static inline int64_t lab_shown_ns(const struct lab_node *node)
{
	return hs_clock_now(node->clock);
}

// Returns the time of the node's clock for comparing windows with the truth. If the clock was set
// back, it shows a time twice. So each step moves told times by whole minutes, the longest window,
// until they are behind all earlier ones. Then no two windows have the same name, and all ends stay
// multiples of the windows' lengths.
static inline int64_t lab_told_ns(struct lab_node *node)
{
	int64_t stepped_ns, now_ns = hs_clock_read(node->clock, &stepped_ns);

	if (stepped_ns != node->stepped_ns)
		lab_clock_stepped(node, stepped_ns);
	return now_ns + node->unfold_ns;
}

int lab_publish(void *lab, const char *topic, const char *json);
int lab_install(struct lab_node *node, struct hs_error *err);
void lab_control_step(struct lab_node *node);
hs_lab_event_fn lab_control_due; // about: node; a timer
// Looks for what the node handed over to control. Call this after each poll of the node.
void lab_control_look(struct lab_node *node);
// Sends a request to the node's control, and releases the request. Returns a new reference to the
// verb's result, or NULL. *err is then set, unless the node is down.
json_t *lab_ask(struct lab_node *node, json_t *request, struct hs_error *err);

// ---- lab_memory.c ----

int lab_make_pool(struct hs_lab *lab, struct hs_error *err);
void lab_node_config(
		const struct hs_scenario *scenario, uint32_t node, struct hs_node_config *config);
// Returns a different seed for each purpose and index.
uint64_t lab_seed(const struct hs_scenario *scenario, const char *purpose, uint64_t index);

// ---- lab_net.c: the parts of the network ----

int lab_make_net(struct hs_lab *lab, struct hs_error *err);
void lab_free_net(struct hs_lab *lab);
int lab_node_start(struct lab_node *node, struct hs_error *err);
// Adds the node's counts to those of the run. Call this once, at the end of each life of the node.
void lab_node_count(const struct lab_node *node);
void lab_node_stop(struct lab_node *node);
void lab_port_mac(const struct lab_port *port, uint8_t mac[6]);
void lab_host_mac(uint32_t host, uint8_t mac[6]);

// ---- lab_port.c: frames ----

uint16_t lab_port_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
uint16_t lab_port_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
hs_lab_event_fn lab_stream_due; // about: traffic; a timer
void lab_packets_header(FILE *file);
// Returns a frame of no flow. Returns NULL and ends the run if memory is out or the frame is too
// long.
struct rte_mbuf *lab_make_frame(
		struct hs_lab *lab, const void *bytes, uint32_t len, uint32_t traffic);
// Begins the truth of the packet in a buffer. A buffer has its packet's own truth if its stamp is
// its own address.
struct hs_packet_truth *lab_begin_truth(
		const struct hs_lab *lab, struct rte_mbuf *m, uint32_t traffic);
// Puts a frame under way to the node of this port.
void lab_put_under_way(struct hs_lab *lab, const struct lab_port *to, struct rte_mbuf *m,
		int64_t arrives_ns);
// Puts a frame, and its copy, on a link.
void lab_put_on_link(struct hs_lab *lab, const struct lab_port *port, struct rte_mbuf *m,
		const struct hs_link_fate *fates, unsigned n);

// ---- lab_queue.c: queues that stand in nodes ----

// Returns the rate of a port's queue, or zeroes if the port has no queue.
struct hs_queue_rate lab_queue_rate(const struct lab_port *port);
// Makes the truth of the queue of a port, if it has one. Returns 0 or -ENOMEM.
int lab_make_queue(struct lab_port *port);
// Returns the configuration of a link in a direction. It has no rate if the queue stands in the
// node.
struct hs_link_config lab_link_config(const struct hs_scenario_link *link, unsigned direction);
// Notes that the packet arrived at the node of this port, which is up and polls the packet next.
void lab_queue_arrive(const struct lab_port *in, const struct hs_packet_truth *packet_truth);
// Notes that the packet departs by a port with a queue. `packet` is the parsed frame, or NULL if
// the frame has no telemetry.
void lab_queue_depart(const struct lab_port *port, struct hs_packet_truth *packet_truth,
		const struct rte_mbuf *m, const struct hs_packet *packet);
// Sets the node's timer to the time at which the next waiting packet departs, or to never.
void lab_queue_follow(struct lab_node *node);
void lab_queue_stop(struct lab_node *node);
hs_lab_event_fn lab_departure; // about: node; a timer, which is set only if some queue stands there
// Returns 0 or -ENOMEM.
int lab_queue_collect(struct hs_lab *lab);

// ---- lab_label.c: INT-label. Only lab_label_newest, lab_label_depart and lab_make_label may be
// called in a scenario without INT-label ----

int lab_make_label(struct hs_lab *lab);
void lab_free_label(struct hs_lab *lab);
// Reads the item that this node added. Returns false if the node added none.
bool lab_label_newest(const struct lab_port *port, const struct hs_packet_truth *packet_truth,
		const struct rte_mbuf *m, const struct hs_packet *packet,
		struct hs_label_item *item);
void lab_label_depart(const struct lab_port *port, struct hs_packet_truth *packet_truth,
		const struct rte_mbuf *m, const struct hs_packet *packet);
// Notes that a packet departs to its host. Only a datagram of the node says whether the port
// labelled the packet. Returns true if the node is being polled with this packet: the datagram
// follows, and the packet is kept until lab_label_polled.
bool lab_label_deliver(const struct lab_port *port, struct rte_mbuf *m);
// Settles the packet that lab_label_deliver kept. The node was polled, and has sent its datagrams.
void lab_label_polled(struct hs_lab *lab);
// Sends a node's datagram to the controller. This is hs_control_output.send_export.
int lab_label_send(void *lab, unsigned receiver, const uint8_t *payload, size_t bytes);
// Tells the controller that the node is back after a restart.
void lab_label_back(const struct lab_node *node);

// ---- lab_probe.c: probes on the links, and between the nodes and the monitoring host. Only
// lab_probe_config may be called in a scenario without probes ----

// Gives the node's ports their profile. The last port leads to the host.
void lab_probe_config(const struct lab_node *node, struct hs_node_config *config);
// Notes the values that the node must add to a probe, which the node polls next.
void lab_probe_arrive(const struct lab_port *port, struct rte_mbuf *m);
// Takes a probe that a node sends. Returns false if the frame is no probe.
bool lab_probe_depart(const struct lab_port *port, struct rte_mbuf *m);
// Sends a probe from the monitoring host to the node of the first hop.
void lab_probe_send(struct hs_lab *lab, uint16_t request_id, const struct hs_gpint_hop *hops,
		uint32_t n_hops);

// ---- lab_monitor.c: the monitoring host's sessions. Only lab_monitor_take and lab_monitor_end
// need a scenario with probes ----

int lab_make_probing(struct hs_lab *lab, struct hs_error *err);
void lab_free_probing(struct hs_lab *lab);
// Takes an answer with the ids of the nodes that it covers. Feedback has no ids.
void lab_monitor_take(struct hs_lab *lab, enum hs_gpint_answer answer, uint16_t request_id,
		const uint8_t *ids, uint32_t n);
void lab_monitor_end(struct hs_lab *lab);
bool lab_monitor_runs(const struct hs_lab *lab);

// ---- lab_route.c ----

// Fills in lab->next_ports. Returns 0 or -ENOMEM.
int lab_find_routes(struct hs_lab *lab);
// Returns the port that leads to a host, or LAB_FAR.
uint8_t lab_port_to(const struct lab_node *node, uint32_t host);
// Teaches a bridge where every host is, before traffic reaches it.
void lab_teach_bridge(struct lab_node *node);
// Installs what differs from the routes that the node has.
int lab_set_routes(struct lab_node *node, struct hs_error *err);
hs_lab_event_fn lab_reroute;

// ---- lab_event.c ----

void lab_push_events(struct hs_lab *lab);

// ---- lab_end.c ----

void lab_push_openings(struct hs_lab *lab);
void lab_push_closings(struct hs_lab *lab);
void lab_collect(struct hs_lab *lab);
