// SPDX-License-Identifier: BSD-3-Clause
// The border between ports that do not read the same telemetry. The first port's telemetry is
// reported and removed, as before a host port. Then the packet is checked for the second port's
// telemetry, as if a host had sent it.
#include "classify.h"
#include "skeleton.h"

#include <string.h>

// ---- no family ----

static void parse(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)profile;
	hs_packet_parse(frame, len, frame_len, NULL, packet);
	packet->flags &= (uint16_t)~HS_PACKET_HIDDEN; // no telemetry is looked for
}

static void classify(struct hs_worker *worker, struct hs_burst *burst)
{
	hs_classify_as(worker, burst, hs_classify_bare, parse);
}

bool hs_no_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	(void)worker, (void)burst, (void)i;
	return false;
}

bool hs_no_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours)
{
	(void)worker, (void)burst, (void)i, (void)ours;
	return false;
}

const struct hs_family hs_no_family = {
		.classify = classify,
		.parse = parse,
		.sink = hs_no_sink, // only headers that could not be joined are suspect
		.strip = hs_no_strip,
};

// ---- crossing ----

static void end_telemetry(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_burst *beyond)
{
	unsigned n_stripped = 0;

	hs_expect_reports(worker, burst, end - first);
	for (unsigned i = first; i < end; i++) {
		if (burst->slots[i] != HS_FLOW_NONE)
			hs_flow_count_rx(&worker->flows, burst->slots[i],
					hs_packet_counted_bytes(&burst->packets[i]));
		if (hs_end_telemetry_as(
				    worker, burst, i, &n_stripped, burst->profile->family->sink))
			beyond->mbufs[beyond->n++] = burst->mbufs[i];
	}
	hs_reports_close(worker);
	hs_port_stats_of(worker, burst->in->index)->events[HS_EVENT_STRIPPED] += n_stripped;
}

void hs_border_cross(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		const struct hs_port *out)
{
	struct hs_burst *beyond = &worker->beyond;
	bool ends = burst->in->side == HS_SIDE_NETWORK;

	beyond->in = burst->in;
	beyond->profile = &worker->profiles[out->index];
	beyond->now_ns = burst->now_ns;
	beyond->stepped_ns = burst->stepped_ns;
	beyond->sent_ns = burst->sent_ns;
	beyond->n_received = 0; // the bytes of these packets are not known
	beyond->max_bytes = burst->max_bytes;
	beyond->n = 0;
	if (ends && unlikely(burst->flags & HS_PACKET_FRAGMENT) && burst->profile->family->join)
		end = burst->profile->family->join(worker, burst, first, end, out);
	beyond->chained = burst->chained;
	beyond->changeable = burst->changeable;
	if (ends) {
		end_telemetry(worker, burst, first, end, beyond);
	} else {
		beyond->n = (uint16_t)(end - first);
		memcpy(beyond->mbufs, &burst->mbufs[first], beyond->n * sizeof(beyond->mbufs[0]));
	}
	beyond->profile->family->classify(worker, beyond);
	hs_guard_all(worker, beyond, ends);
}

bool hs_border_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	const struct hs_profile *profile = burst->profile;
	struct hs_packet packet = burst->packets[i];

	burst->profile = &worker->profiles[out->index];
	hs_parse_anew(burst, i);
	hs_classify_fault(worker, burst, i);
	bool kept = hs_guard_one(worker, burst, i, true);
	burst->profile = profile;
	burst->packets[i] = packet;
	return kept;
}
