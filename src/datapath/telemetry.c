// SPDX-License-Identifier: BSD-3-Clause
#include "stage.h"

#include <assert.h>

static void to_host(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, uint32_t bytes)
{
	uint32_t slot = burst->slots[i];

	if (unlikely(burst->packets[i].flags & HS_STAGE_SUSPECT) &&
			!worker->family->sink(worker, burst, i)) {
		hs_drop(worker, burst->in->index,
				hs_suspect_drop(&burst->packets[i], HS_DROP_UNSTRIPPABLE),
				burst->mbufs[i]);
		return;
	}
	if (unlikely(!hs_make_sendable(worker, burst, i, out)))
		return;
	if (slot != HS_FLOW_NONE)
		hs_flow_count_tx(&worker->flows, slot, bytes);
	hs_enqueue(worker, burst, out->index, burst->mbufs[i], slot, bytes);
}

static void to_network(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, uint32_t bytes)
{
	uint32_t slot = burst->slots[i];

	// Before it is counted and stamped: a stamp must not count a packet that was not sent.
	if (unlikely(!hs_make_sendable(worker, burst, i, out)))
		return;
	if (slot != HS_FLOW_NONE)
		hs_flow_count_tx(&worker->flows, slot, bytes);
	if (burst->in->side == HS_SIDE_HOST)
		worker->family->source(worker, burst, i, out);
	else
		worker->family->transit(worker, burst, i, out);
	hs_enqueue(worker, burst, out->index, burst->mbufs[i], slot, bytes);
}

void hs_telemetry_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint16_t out = burst->out[i];
	uint32_t slot = burst->slots[i];
	uint32_t bytes = hs_packet_counted_bytes(&burst->packets[i]);

	// Received is received, also where the packet goes nowhere (METRICS: node loss).
	if (slot != HS_FLOW_NONE)
		hs_flow_count_rx(&worker->flows, slot, bytes);
	if (unlikely(out & HS_OUT_DROP)) {
		hs_drop(worker, burst->in->index, out & ~HS_OUT_DROP, burst->mbufs[i]);
		return;
	}
	if (unlikely(out == HS_OUT_FLOOD)) {
		hs_flood(worker, burst, i);
		return;
	}
	struct hs_port *port = worker->ports[out];
	assert(port); // patch pairs and addresses learnt name ports that were added
	if (port->side == HS_SIDE_HOST)
		to_host(worker, burst, i, port, bytes);
	else
		to_network(worker, burst, i, port, bytes);
}

// End of the packets from `first` on that leave by the same port.
static unsigned run_end(const struct hs_burst *burst, unsigned first)
{
	unsigned end = first + 1;

	while (end < burst->n && burst->out[end] == burst->out[first])
		end++;
	return end;
}

void hs_telemetry(struct hs_worker *worker, struct hs_burst *burst)
{
	const struct hs_family *family = worker->family;

	for (unsigned first = 0, end; first < burst->n; first = end) {
		uint16_t out = burst->out[first];
		end = first + 1;
		if (unlikely(worker->plain || !family->run || out & HS_OUT_DROP ||
				    out == HS_OUT_FLOOD)) {
			hs_telemetry_one(worker, burst, first);
			continue;
		}
		end = run_end(burst, first);
		family->run(worker, burst, first, end, worker->ports[out]);
	}
}
