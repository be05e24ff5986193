// SPDX-License-Identifier: BSD-3-Clause
#include "flexint_pending.h"
#include "fit.h"
#include "flexint.h"
#include "room.h"

static size_t headers_bytes(const struct hs_packet *packet)
{
	return packet->l3_off + 40u + packet->hbh_bytes;
}

// Returns whether the packet's headers can move to a segment of their own. A request takes up to
// 240 bytes and reports up to 2,048, which headroom does not have. The headers move if the packet
// cannot move towards its buffer's tail either.
static bool can_take_head(const struct hs_worker *worker, const struct hs_packet *packet,
		const struct rte_mbuf *m, const struct hs_port *out, size_t growth)
{
	return out->tx_multi_seg && m->nb_segs < RTE_MBUF_MAX_NB_SEGS &&
	       headers_bytes(packet) < rte_pktmbuf_data_len(m) &&
	       headers_bytes(packet) + growth + RTE_PKTMBUF_HEADROOM <=
			       rte_pktmbuf_data_room_size(worker->pool);
}

// Returns the packet with `growth` free bytes at its start and its headers behind them in a new
// segment. NULL: no buffer, and nothing changed.
static struct rte_mbuf *give_head(struct hs_worker *worker, const struct hs_packet *packet,
		struct rte_mbuf *m, size_t growth)
{
	size_t front = headers_bytes(packet);
	struct rte_mbuf *head = rte_pktmbuf_alloc(worker->pool);

	if (!head)
		return NULL;
	__rte_pktmbuf_copy_hdr(head, m);
	head->ol_flags |= m->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);
	char *at = rte_pktmbuf_append(head, (uint16_t)(growth + front));
	memcpy(at + growth, rte_pktmbuf_mtod(m, const void *), front);
	rte_pktmbuf_adj(m, (uint16_t)front);
	rte_pktmbuf_chain(head, m); // cannot fail: can_take_head checked the number of segments
	return head;
}

static bool insert(struct hs_worker *worker, struct hs_burst *burst, unsigned i, size_t growth,
		const struct hs_flow_pending *pending)
{
	const struct hs_packet *packet = &burst->packets[i];
	struct rte_mbuf *m = burst->mbufs[i];
	uint8_t *frame;

	if (hs_room_is_there(m, growth)) {
		frame = hs_room_open(m, growth);
	} else {
		m = give_head(worker, packet, m, growth);
		if (!m)
			return false;
		burst->mbufs[i] = m;
		frame = rte_pktmbuf_mtod(m, uint8_t *);
	}
	hs_flexint_block_insert(frame, packet, growth, pending->bytes, pending->n_bytes);
	return true;
}

static bool fits(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth)
{
	const struct hs_packet *packet = &burst->packets[i];
	struct hs_flow_worker *own = &worker->flows.own[burst->slots[i]];
	const struct rte_mbuf *m = burst->mbufs[i];

	if (!growth) {
		hs_fit_count_option(worker, burst, own);
		return false;
	}
	if (!hs_fits_packet(worker, burst, i, out, growth))
		return false;
	if (hs_room_is_there(m, growth) || can_take_head(worker, packet, m, out, growth))
		return true;
	hs_fit_count_room(worker, burst, own);
	return false;
}

static bool put(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, const struct hs_flow_pending *pending)
{
	size_t growth = hs_flexint_block_growth(&burst->packets[i], pending->n_bytes);

	if (!fits(worker, burst, i, out, growth))
		return false;
	if (insert(worker, burst, i, growth, pending))
		return true;
	hs_fit_count_room(worker, burst, &worker->flows.own[burst->slots[i]]);
	return false;
}

// Takes pending options that are ready. Their content is read only afterwards, because control may
// withdraw and refill them until they are taken.
static bool take(struct hs_flow_pending *pending)
{
	uint32_t state = atomic_load_explicit(&pending->state, memory_order_relaxed);

	return state == HS_PENDING_READY &&
	       atomic_compare_exchange_strong_explicit(&pending->state, &state, HS_PENDING_TAKEN,
			       memory_order_acquire, memory_order_relaxed);
}

// Takes the pending options and inserts them. False: the options stay for another packet.
static bool send(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, struct hs_flow_pending *pending)
{
	if (!take(pending))
		return false;
	if (put(worker, burst, i, out, pending)) {
		if (pending->of)
			atomic_fetch_sub_explicit(&pending->of->n_ready, 1, memory_order_relaxed);
		atomic_store_explicit(&pending->sent_ns, burst->now_ns, memory_order_relaxed);
		atomic_store_explicit(&pending->state, HS_PENDING_SENT, memory_order_release);
		return true;
	}
	atomic_fetch_add_explicit(&pending->refused, 1, memory_order_relaxed);
	atomic_store_explicit(&pending->state, HS_PENDING_READY, memory_order_release);
	return false;
}

// Returns the reports that are ready and came first.
static struct hs_flow_pending *first_load(struct hs_flow_loads *loads)
{
	struct hs_flow_pending *first = NULL, *load;
	uint32_t lowest = 0;

	for (unsigned k = 0; k < HS_FLOW_LOADS; k++) {
		load = atomic_load_explicit(&loads->list[k], memory_order_acquire);
		if (!load || atomic_load_explicit(&load->state, memory_order_acquire) !=
						HS_PENDING_READY)
			continue;
		uint32_t serial = atomic_load_explicit(&load->serial, memory_order_relaxed);
		if (first && (int32_t)(serial - lowest) > 0)
			continue;
		first = load;
		lowest = serial;
	}
	return first;
}

static bool send_load(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, struct hs_flow_loads *loads)
{
	struct hs_flow_pending *load;

	if (!loads || atomic_load_explicit(&loads->n_ready, memory_order_relaxed) <= 0)
		return false;
	load = first_load(loads);
	return load && send(worker, burst, i, out, load);
}

enum hs_pending_verdict hs_pending_put(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, bool reports)
{
	struct hs_flow_pending *pending = atomic_load_explicit(
			&worker->flows.pending[burst->slots[i]], memory_order_acquire);

	if (!pending)
		return HS_PENDING_WITHHELD;
	if (send(worker, burst, i, out, pending))
		return HS_PENDING_CARRIED;
	bool sent = reports &&
		    send_load(worker, burst, i, out,
				    atomic_load_explicit(&pending->loads, memory_order_acquire));
	if (sent)
		hs_parse_anew(burst, i);
	if (hs_flow_pending_holds(pending))
		return HS_PENDING_WITHHELD;
	return sent ? HS_PENDING_REPORTS : HS_PENDING_NOTHING;
}
