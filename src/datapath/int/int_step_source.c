// SPDX-License-Identifier: BSD-3-Clause
#include "fit.h"
#include "flow_sampling.h"
#include "int_ask.h"
#include "int_export.h"
#include "int_fast.h"
#include "int_local.h"
#include "int_steps.h"
#include "room.h"
#include "skeleton.h"

// Returns the growth of a packet that has the fixed headers only, because the port's MTU has room
// for no more; other nodes then see M. 0: the packet cannot have them either.
static size_t bare_growth(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, const struct hs_int_request *request, uint32_t needed)
{
	const struct hs_int_settings *settings = worker->profiles[out->index].settings;
	const struct hs_packet *packet = &burst->packets[i];
	struct rte_mbuf *m = burst->mbufs[i];
	int growth = hs_int_source_growth(
			settings, request, rte_pktmbuf_mtod(m, const uint8_t *), packet, false);

	if (growth <= 0 || !hs_may_grow(burst, i, out, (size_t)growth) ||
			!hs_room_is_there(m, (size_t)growth))
		return 0;
	hs_fit_need_mtu(worker, burst, &worker->flows.own[burst->slots[i]], needed);
	return (size_t)growth;
}

// Returns by how many bytes the packet is to grow, with the source's own values (*own) or without.
// 0: the packet does not grow, and a counter says why.
static size_t growth_of(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, const struct hs_int_request *request, bool *own)
{
	const struct hs_int_settings *settings = worker->profiles[out->index].settings;
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	int growth = hs_int_source_growth(settings, request, frame, packet, true);

	*own = true;
	if (growth <= 0) {
		hs_fit_count_option(worker, burst, &worker->flows.own[burst->slots[i]]);
		return 0;
	}
	uint32_t needed = packet->l3_bytes + (uint32_t)growth;
	if (settings->version >= HS_INT_1_0 && needed > out->mtu) {
		size_t bare = bare_growth(worker, burst, i, out, request, needed);
		*own = !bare;
		if (bare)
			return bare;
	}
	return hs_fits(worker, burst, i, out, (size_t)growth) ? (size_t)growth : 0;
}

// Claims the packet and counts it. Returns false if another worker claimed this period's packet.
static inline bool begin(struct hs_worker *worker, const struct hs_burst *burst, uint32_t slot)
{
	struct hs_flow_worker *flow = &worker->flows.own[slot];

	if (!hs_flow_claim(&worker->flows, slot, hs_burst_steady_ns(burst)))
		return false;
	hs_flow_add(&flow->int_packets, 1);
	hs_flow_set_ns(&flow->last_int_ns, burst->now_ns);
	return true;
}

void hs_int_source(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_int_settings *settings = worker->profiles[out->index].settings;
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *flow = &worker->flows.own[slot];
	struct hs_int_values values;
	bool own;

	if (settings->mode == HS_INT_XD) {
		hs_int_export_watched(worker, burst, i, out);
		return;
	}
	if (!(flow->trace_type & HS_RULE_TRACE_INT))
		return;
	struct hs_int_request request = {
			.bitmap = hs_int_ask(settings->version, flow->trace_type, NULL)};
	// If the bitmap is 0, only another port's version has what the rule asks for.
	size_t growth = request.bitmap ? growth_of(worker, burst, i, out, &request, &own) : 0;
	if (unlikely(!growth)) {
		hs_flow_postpone(flow);
		return;
	}
	if (!begin(worker, burst, slot))
		return;
	if (settings->mode == HS_INT_MX)
		hs_int_export_source(worker, burst, i, out, request.bitmap, growth);
	hs_int_local(worker, burst, out, rte_pktmbuf_pkt_len(burst->mbufs[i]) + (uint32_t)growth,
			&values);
	hs_int_source_insert(settings, &request, hs_room_open(burst->mbufs[i], growth),
			&burst->packets[i], growth, own ? &values : NULL);
}

// The block that all packets of a run get if their rules ask for the same. An egress queue makes
// each packet's block differ.
struct kept {
	uint32_t trace_type;
	size_t growth; // 0: the general step takes packets of such a rule
	struct hs_int_request request;
	struct hs_int_fast_block own;
};

// Makes the block of a packet that will have so many bytes.
static __attribute__((noinline)) void make_block(struct hs_worker *worker, struct hs_burst *burst,
		const struct hs_port *out, uint32_t bytes, struct kept *kept)
{
	struct hs_int_values values;

	hs_int_local(worker, burst, out, bytes, &values);
	hs_int_fast_block_make(&kept->own, kept->request.bitmap, &values);
}

static __attribute__((noinline)) void prepare(struct hs_worker *worker, struct hs_burst *burst,
		const struct hs_port *out, uint32_t trace_type, struct kept *kept)
{
	kept->trace_type = trace_type;
	kept->growth = 0;
	if (!(trace_type & HS_RULE_TRACE_INT))
		return;
	kept->request = (struct hs_int_request){.bitmap = hs_int_ask(HS_INT_2_1, trace_type, NULL)};
	kept->growth = hs_int_fast_request_growth(
			worker->profiles[out->index].settings, &kept->request);
	if (kept->growth && !hs_egress_of(worker, out))
		make_block(worker, burst, out, 0, kept);
}

// Handles the common case; the general step handles the rest.
static inline __attribute__((always_inline)) void fast_source(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	struct rte_mbuf *m = burst->mbufs[i];
	uint32_t slot = burst->slots[i], trace_type = worker->flows.own[slot].trace_type;
	struct kept *kept = worker->run;

	if (unlikely(kept->trace_type != trace_type))
		prepare(worker, burst, out, trace_type, kept);
	size_t growth = kept->growth;
	if (unlikely(!growth || !hs_may_grow(burst, i, out, growth) ||
			    rte_pktmbuf_headroom(m) < growth ||
			    !hs_int_fast_may_start(rte_pktmbuf_mtod(m, const uint8_t *), packet))) {
		hs_int_source(worker, burst, i, out);
		return;
	}
	if (unlikely(!begin(worker, burst, slot)))
		return;
	if (unlikely(hs_egress_of(worker, out)))
		make_block(worker, burst, out, rte_pktmbuf_pkt_len(m) + (uint32_t)growth, kept);
	hs_int_fast_source_insert(worker->profiles[out->index].settings, &kept->request,
			hs_room_shift(m, (int)growth), packet, growth, &kept->own);
}

void hs_int_run_source(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	struct kept kept = {.trace_type = 0};

	if (!hs_int_fast_is(worker->profiles[out->index].settings)) {
		hs_to_network_as(worker, burst, first, end, out, HS_AT_SOURCE, hs_int_source);
		return;
	}
	worker->run = &kept;
	hs_to_network_as(worker, burst, first, end, out, HS_AT_SOURCE, fast_source);
	worker->run = NULL;
}
