// SPDX-License-Identifier: BSD-3-Clause
#include "label_truth.h"

#include "array.h"

#include <errno.h>
#include <stdlib.h>

#define NEVER INT64_MIN

struct hs_label_truth_port {
	int64_t labelled_ns;	// the last label
	int64_t packet_ns;	// the last packet
	int64_t taken_ns;	// the last item at the controller
	int64_t longest_gap_ns; // Ts
	int64_t since_ns;	// the last label, or the first packet
	bool active, seen;	// in the interval
	bool late;		// a late label since then was counted
};

int hs_label_truth_init(struct hs_label_truth *truth, const struct hs_label_truth_config *config)
{
	*truth = (struct hs_label_truth){
			.counts.coverage_min = 1,
			.delivered = calloc(config->n_traffic + 1, sizeof(*truth->delivered)),
			.config = *config,
			.end_ns = config->start_ns + config->interval_ns,
			.ports = calloc(config->n_ports + 1, sizeof(*truth->ports)),
	};
	for (uint32_t i = 0; truth->ports && i < config->n_ports; i++)
		truth->ports[i] = (struct hs_label_truth_port){
				.labelled_ns = NEVER, .packet_ns = NEVER, .taken_ns = NEVER};
	return truth->delivered && truth->ports ? 0 : -ENOMEM;
}

void hs_label_truth_fini(struct hs_label_truth *truth)
{
	for (unsigned i = 0; i < HS_LABEL_GAPS; i++)
		free(truth->gaps[i].ns);
	free(truth->delivered);
	free(truth->counts.coverage);
	free(truth->ports);
}

static void keep_gap(struct hs_label_truth *truth, enum hs_label_gap which, int64_t gap_ns)
{
	if (!HS_ARRAY_APPEND(truth->gaps[which].ns, truth->gaps[which].n, gap_ns))
		truth->status = -ENOMEM;
}

// ---- coverage ----

static void close_interval(struct hs_label_truth *truth)
{
	struct hs_label_counts *counts = &truth->counts;
	uint32_t active = 0, seen = 0;

	for (uint32_t i = 0; i < truth->config.n_ports; i++) {
		struct hs_label_truth_port *port = &truth->ports[i];
		active += port->active;
		seen += port->active && port->seen;
		port->active = port->seen = false;
	}
	truth->end_ns += truth->config.interval_ns;
	if (!active)
		return;
	double ratio = (double)seen / active;
	counts->intervals++;
	counts->coverage_sum += ratio;
	if (truth->config.keep && !HS_ARRAY_APPEND(counts->coverage, counts->n_coverage, ratio))
		truth->status = -ENOMEM;
	if (ratio < counts->coverage_min)
		counts->coverage_min = ratio;
}

void hs_label_truth_end(struct hs_label_truth *truth, int64_t now_ns)
{
	while (now_ns >= truth->end_ns && truth->end_ns <= truth->config.stop_ns)
		close_interval(truth);
}

void hs_label_truth_take(struct hs_label_truth *truth, uint32_t port, int64_t now_ns)
{
	hs_label_truth_end(truth, now_ns);
	if (truth->ports[port].taken_ns != NEVER)
		keep_gap(truth, HS_LABEL_UPDATE, now_ns - truth->ports[port].taken_ns);
	truth->ports[port].taken_ns = now_ns;
	truth->ports[port].seen = true;
}

// ---- labels ----

#define LAST (HS_LABEL_TRUTH_ITEMS - 1)

static uint32_t class_of(uint32_t labels)
{
	return labels < LAST ? labels : LAST;
}

static void count_label(struct hs_label_counts *counts, uint32_t before)
{
	counts->labels++;
	counts->labelled_packets += before == 0;
	counts->labels_per_packet[class_of(before)]--;
	counts->labels_per_packet[class_of(before + 1)]++;
}

// Counts a late label. A label is late, even before it comes, as soon as a packet after the
// interval departs.
static void note_late(struct hs_label_truth *truth, struct hs_label_truth_port *port,
		int64_t came_ns, int64_t interval_ns)
{
	if (port->late || came_ns - port->since_ns <= interval_ns + port->longest_gap_ns)
		return;
	port->late = true;
	truth->counts.late_labels++;
}

static void note_label(
		struct hs_label_truth *truth, struct hs_label_truth_port *port, int64_t came_ns)
{
	if (port->labelled_ns != NEVER)
		keep_gap(truth, HS_LABEL_RELABEL, came_ns - port->labelled_ns);
	port->labelled_ns = port->since_ns = came_ns;
	port->late = false;
}

void hs_label_truth_depart(struct hs_label_truth *truth, uint32_t index, int64_t now_ns,
		int64_t came_ns, uint32_t before, uint32_t labels, int64_t interval_ns)
{
	struct hs_label_truth_port *port = &truth->ports[index];

	hs_label_truth_end(truth, now_ns);
	port->active = true;
	if (port->packet_ns == NEVER) {
		truth->counts.ports++;
		port->since_ns = came_ns;
	} else if (came_ns - port->packet_ns > port->longest_gap_ns) {
		port->longest_gap_ns = came_ns - port->packet_ns;
	}
	port->packet_ns = came_ns;
	note_late(truth, port, came_ns, interval_ns);
	if (labels > before)
		note_label(truth, port, came_ns);
	for (; before < labels; before++)
		count_label(&truth->counts, before);
}

void hs_label_truth_deliver(struct hs_label_truth *truth, uint32_t traffic, uint32_t labels)
{
	truth->delivered[traffic][class_of(labels)]++;
}
