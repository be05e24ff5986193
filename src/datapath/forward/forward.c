// SPDX-License-Identifier: BSD-3-Clause
#include "forward.h"
#include "fdb.h"

#include <assert.h>
#include <string.h>

#include <rte_mbuf.h>

#define NO_PORT UINT16_MAX
static_assert(HS_BURST % 4 == 0, "four ports are written at once");

static void forward_patch(struct hs_worker *worker, struct hs_burst *burst)
{
	uint16_t out = worker->patch[burst->in->index];

	if (out == NO_PORT)
		out = HS_OUT_DROP | HS_DROP_NO_ROUTE;
	for (unsigned i = 0; i < burst->n; i += 4) {
		uint64_t four = out * UINT64_C(0x0001000100010001);
		memcpy(&burst->out[i], &four, sizeof(four));
	}
}

static void forward_bridge(struct hs_worker *worker, struct hs_burst *burst)
{
	uint16_t in = burst->in->index;
	uint32_t now_s = hs_fdb_seconds(hs_burst_steady_ns(burst));
	struct hs_fdb *fdb = worker->fdb;

	for (unsigned i = 0; i < burst->n; i++) {
		const struct rte_mbuf *m = burst->mbufs[i];
		if (unlikely(rte_pktmbuf_data_len(m) < 14)) {
			burst->out[i] = HS_OUT_DROP | HS_DROP_NO_ROUTE;
			continue;
		}
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
		hs_fdb_learn(fdb, frame + 6, in, now_s);
		uint16_t out = hs_fdb_find(fdb, frame, now_s);
		if (out == HS_FDB_UNKNOWN)
			out = HS_OUT_FLOOD;
		else if (out == in)
			out = HS_OUT_DROP | HS_DROP_SAME_PORT;
		burst->out[i] = out;
	}
}

void hs_forward(struct hs_worker *worker, struct hs_burst *burst)
{
	switch (worker->forward_kind) {
	case HS_FORWARD_KIND_PATCH:
		forward_patch(worker, burst);
		return;
	case HS_FORWARD_KIND_BRIDGE:
		forward_bridge(worker, burst);
		return;
	case HS_FORWARD_KIND_ROUTE:
		hs_forward_route(worker, burst);
		return;
	}
}

void hs_forward_and_clamp(struct hs_worker *worker, struct hs_burst *burst)
{
	hs_forward(worker, burst);
	hs_clamp_mss(worker, burst);
}
