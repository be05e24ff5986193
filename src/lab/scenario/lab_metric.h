// SPDX-License-Identifier: BSD-3-Clause
// The metrics that an expectation may name. One table serves the check of scenarios, the
// computation and the result.
//
// Thread rule: any; constants.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The numbers that only INT measures. They are of the node at which the hop begins. A result
// without INT does not list these numbers.
#define HS_LAB_OF_INT(X)                                                                           \
	X(HOP_LATENCY, "hop_latency_ns", TRUTH, "In the node, ms", 1e-6)                           \
	X(QUEUE, "queue_packets", TRUTH, "Queue, packets", 1)                                      \
	X(UTILISATION, "link_utilisation_ratio", TRUTH, "Utilisation, %", 100)

// The numbers of one hop in one window: the constant, the published name, BOTH if a value may also
// follow from the configuration and TRUTH otherwise, and for tables the title and the scale.
#define HS_LAB_NUMBERS(X)                                                                          \
	X(THROUGHPUT, "throughput_bps", BOTH, "Throughput, Mbit/s", 1e-6)                          \
	X(WINDOW_THROUGHPUT, "window_throughput_bps", BOTH, "In windows, Mbit/s", 1e-6)            \
	X(DELAY, "delay_ns", BOTH, "Delay, ms", 1e-6)                                              \
	X(JITTER, "jitter_ns", BOTH, "Jitter, ms", 1e-6)                                           \
	X(LOSS, "loss_ratio", BOTH, "Loss, %", 100)                                                \
	X(LOST_PACKETS, "lost_packets", TRUTH, "Lost packets in a window", 1)                      \
	X(RX_BYTES, "rx_bytes", TRUTH, "Received in a span, kB", 1e-3)                             \
	X(SPAN, "span_ns", TRUTH, "Span, ms", 1e-6)                                                \
	HS_LAB_OF_INT(X)

#define HS_LAB_NUMBER_KIND(KIND, ...) HS_LAB_##KIND,
enum hs_lab_metric_kind {
	HS_LAB_NUMBERS(HS_LAB_NUMBER_KIND) HS_LAB_KINDS
};

struct hs_lab_kind {
	const char *word;  // "throughput_bps"
	const char *title; // with the unit
	double scale;	   // value * scale is in the unit
};
extern const struct hs_lab_kind hs_lab_kinds[HS_LAB_KINDS];

// Counts of a queue that stands in a node, which scenarios may name, and how the counts of several
// queues are combined. wrong_drops: packets that found a place and did not depart, or the reverse.
// wrong_departures: departures at another time than the model's. stamped: packets whose telemetry
// has a depth of this node, which is then compared.
#define HS_QUEUE_COUNTS(X)                                                                         \
	X(packets, SUM)                                                                            \
	X(dropped, SUM)                                                                            \
	X(wrong_drops, SUM)                                                                        \
	X(wrong_departures, SUM)                                                                   \
	X(depth_max, MAX)                                                                          \
	X(stamped, SUM)                                                                            \
	X(wrong_depths, SUM)                                                                       \
	X(wrong_congestions, SUM)                                                                  \
	X(latency_error_max_ns, MAX)

// Counts over a flow's windows. All but `windows` include partial windows. An empty window is stale
// or was not published. A marked window has a flag, another path than the window before, or a clock
// that is not synchronised. A negative window has a negative count, and no flag that explains the
// count.
#define HS_FLOW_COUNTS(X)                                                                          \
	X(windows)                                                                                 \
	X(stale_windows)                                                                           \
	X(empty_windows)                                                                           \
	X(path_changes)                                                                            \
	X(unsynchronised_windows)                                                                  \
	X(reports)                                                                                 \
	X(marked_windows)                                                                          \
	X(negative_windows)                                                                        \
	X(unattributed_lost_packets)

// Counts of INT-label. intervals: intervals with active ports that ended. packets: packets that
// hosts sent; labelled_packets: those with one label or more. telemetry_bytes, traffic_bytes: bytes
// of labels and of the rest, on links. exported, received: datagrams that nodes sent, and that the
// controller took. shifts_told: changes of S that the controller sent; shifts_lost: those that were
// lost. late_labels: gaps above T + Ts. ports: ports that sent a packet.
#define HS_LABEL_COUNTS(X)                                                                         \
	X(intervals)                                                                               \
	X(packets)                                                                                 \
	X(labelled_packets)                                                                        \
	X(labels)                                                                                  \
	X(telemetry_bytes)                                                                         \
	X(traffic_bytes)                                                                           \
	X(exported)                                                                                \
	X(received)                                                                                \
	X(shifts_told)                                                                             \
	X(shifts_lost)                                                                             \
	X(late_labels)                                                                             \
	X(ports)

// Counts of a monitoring host. probes_lost: probes that did not come back from the end of their
// path in time. recovery_probes: probes that were sent over the rest of a path. check_probes:
// probes that were sent over one suspect link. recovery_packets: copies with DSCP 0x21 that came.
// probes_lost_on_links: lost packets with DSCP 0x17. switches_covered: switches in the session that
// covered the fewest. unavailable_links, congested_links: links that the host named, of all
// sessions. false_unavailable: links and nodes that were named and were up. missed_unavailable:
// links of paths that were dead throughout and were not named. values: hops whose values were
// compared; wrong_values: those whose values differ. max_probe_bytes: bytes of the largest IP
// packet at the host. switches_overloaded: switches to which more packets came than they serve
// (rate_of node).
#define HS_PROBING_COUNTS(X)                                                                       \
	X(paths)                                                                                   \
	X(sessions)                                                                                \
	X(sessions_failed)                                                                         \
	X(probes_sent)                                                                             \
	X(probes_lost)                                                                             \
	X(recovery_probes)                                                                         \
	X(check_probes)                                                                            \
	X(recovery_packets)                                                                        \
	X(probes_lost_on_links)                                                                    \
	X(switches)                                                                                \
	X(switches_covered)                                                                        \
	X(unavailable_links)                                                                       \
	X(congested_links)                                                                         \
	X(false_unavailable)                                                                       \
	X(missed_unavailable)                                                                      \
	X(values)                                                                                  \
	X(wrong_values)                                                                            \
	X(max_probe_bytes)                                                                         \
	X(switches_overloaded)

#define HS_LAB_COUNT_MEMBER(key) uint64_t key;

// How the numbers of the elements of a list are combined. The elements of the first three are hops
// and flows from end to end, which an expectation may name.
enum hs_lab_metric_over {
	HS_OVER_E2E,	  // each flow from end to end
	HS_OVER_HOPS,	  // the mean of those that have the number
	HS_OVER_HOPS_MAX, // the largest
	HS_OVER_SUM,
	HS_OVER_MEAN,  // no number if one of the elements has none
	HS_OVER_MAX,   // the same
	HS_OVER_RATIO, // of packets: delivered over sent
};

// A metric is a number in the elements of a list of the result.
struct hs_lab_metric {
	const char *name;
	enum hs_lab_metric_over over;
	const char *list;  // "rows"; "run": the result itself is the only element
	const char *path;  // "delay_ns.mae.truth"
	const char *minus; // the path of a number that is subtracted; may be NULL
	bool distance;	   // the difference without its sign
	bool or_zero;	   // an element without the number has 0
};

extern const struct hs_lab_metric hs_lab_metrics[]; // one without a name ends the table
// Returns the metric of this name, or NULL if there is none.
const struct hs_lab_metric *hs_lab_metric_find(const char *name);
// Describes the metrics, short enough for an error.
extern const char hs_lab_metric_names[];
