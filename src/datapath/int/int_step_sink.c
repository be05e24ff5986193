// SPDX-License-Identifier: BSD-3-Clause
#include "front.h"
#include "int_export.h"
#include "int_fast.h"
#include "int_format.h"
#include "int_steps.h"
#include "report_put.h"
#include "room.h"
#include "skeleton.h"

static void fill(const struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		struct hs_report_record *record)
{
	const struct hs_int_settings *settings = burst->profile->settings;
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);

	hs_report_begin(worker, burst, burst->slots[i], record);
	record->family = burst->profile->family->format->number;
	record->trace_len = (uint8_t)hs_int_stack_bytes(settings->version, packet);
	memcpy(record->data, frame + packet->trace_off, record->trace_len);
	// The receive time completes the wire's times, which have fewer bits.
	record->e2e_len = sizeof(record->sink_ts_ns);
	memcpy(record->data + record->trace_len, &record->sink_ts_ns, record->e2e_len);
}

// Reports packet i, as it came in, to collectors.
static void tell(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint16_t out = burst->out[i];

	hs_int_export_end(worker, burst, i, out < worker->n_ports ? worker->ports[out] : NULL);
}

static __attribute__((noinline)) void report(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_int_settings *settings = burst->profile->settings;
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];

	if (unlikely(worker->exporter))
		tell(worker, burst, i);
	if (slot >= worker->flows.n_rules || !packet->trace_off)
		return;
	struct hs_flow_worker *own = &worker->flows.own[slot];
	if (!(own->trace_type & HS_RULE_TRACE_INT))
		return;
	if (hs_int_type_of(packet) == HS_INT_TYPE_MX) {
		hs_flow_add(&own->sink_packets, 1); // no values: each node reports its own
		return;
	}
	if (hs_int_stack_bytes(settings->version, packet) <= HS_INT_MAX_RECORD) {
		struct hs_report_record *record = hs_report_place(worker, slot);
		if (unlikely(!record))
			return;
		fill(worker, burst, i, record);
		hs_report_placed(worker, record);
		return;
	}
	hs_flow_add(&own->sink_packets, 1); // a stack that no record holds
	hs_flow_add(&own->reports_made, 1);
	hs_flow_add(&own->reports_lost, 1);
	hs_flow_add(&worker->reports_made, 1);
	hs_flow_add(&worker->reports_lost, 1);
}

static bool take_out(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	size_t taken = hs_int_strip(burst->profile->settings,
			rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *), &burst->packets[i]);

	return taken && hs_end_strip(worker, burst, i, taken);
}

// Returns whether this packet has to end at the sink, and notes so.
static bool is_discarded(const struct hs_burst *burst, unsigned i, struct hs_packet *packet)
{
	if (likely(!hs_int_is_discarded(burst->profile->settings,
			    rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *), packet)))
		return false;
	packet->flags |= HS_PACKET_DISCARD;
	return true;
}

bool hs_int_strip_step(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours)
{
	struct hs_packet *packet = &burst->packets[i];

	if (!(packet->flags & HS_PACKET_ANY_TELEMETRY) || !hs_make_changeable(worker, burst, i) ||
			packet->flags & HS_PACKET_SHORT)
		return false;
	// A host's packet may merely carry the mark; the bytes behind the mark are then the host's.
	// Headers for destinations alone are the host's, too: they differ from data by type and
	// length only.
	bool is_int = packet->flags & HS_PACKET_TELEMETRY &&
		      (ours || hs_int_is_certain(burst->profile->settings,
					       rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *),
					       packet));
	if (!is_int && !ours &&
			hs_int_clear_mark(burst->profile->settings,
					rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *), packet)) {
		hs_parse_anew(burst, i);
		return !(packet->flags & HS_STAGE_SUSPECT);
	}
	if (!(packet->flags & HS_PACKET_TELEMETRY))
		return false;
	if (unlikely(ours && worker->exporter))
		tell(worker, burst, i);
	return !(ours && is_discarded(burst, i, packet)) && take_out(worker, burst, i);
}

bool hs_int_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct hs_packet *packet = &burst->packets[i];

	if (unlikely(!(packet->flags & HS_PACKET_TELEMETRY))) {
		if (!(packet->flags & HS_PACKET_HIDDEN))
			hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
		return false;
	}
	report(worker, burst, i);
	return !is_discarded(burst, i, packet) && hs_make_changeable(worker, burst, i) &&
	       !(packet->flags & HS_PACKET_SHORT) && take_out(worker, burst, i);
}

// Writes what `fill` writes, of INT-MD of 2.1 in a first segment.
static inline __attribute__((always_inline)) void fill_fast(const struct hs_worker *worker,
		const struct hs_burst *burst, unsigned i, uint32_t slot, const uint8_t *frame,
		size_t bytes, struct hs_report_record *record)
{
	const uint8_t *stack = frame + burst->packets[i].trace_off;

	hs_report_begin(worker, burst, slot, record);
	if (likely(bytes >= 16))
		hs_front_move_down(record->data, stack, bytes);
	else
		memcpy(record->data, stack, HS_INT_FAST_FIXED - HS_INT_FAST_SHIM);
	memcpy(record->data + bytes, &burst->now_ns, sizeof(burst->now_ns));
	record->trace_len = (uint8_t)bytes;
	record->e2e_len = sizeof(burst->now_ns);
	record->family = HS_TELEMETRY_INT_2_1;
}

// Does what `report` does.
static inline __attribute__((always_inline)) void report_fast(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, const uint8_t *frame)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];
	size_t bytes = hs_int_stack_bytes(HS_INT_2_1, packet);

	if (unlikely(worker->exporter || packet->trace_type & HS_INT_TRACE_MX ||
			    bytes > HS_INT_MAX_RECORD)) {
		report(worker, burst, i);
		return;
	}
	if (slot >= worker->flows.n_rules ||
			!(worker->flows.own[slot].trace_type & HS_RULE_TRACE_INT))
		return;
	struct hs_report_record *record = hs_report_place(worker, slot);
	if (unlikely(!record))
		return;
	fill_fast(worker, burst, i, slot, frame, bytes, record);
	hs_report_placed(worker, record);
}

// Handles the common case; the general step handles the rest.
static inline __attribute__((always_inline)) bool fast_sink(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_int_settings *settings = burst->profile->settings;
	struct hs_packet *packet = &burst->packets[i];
	struct rte_mbuf *m = burst->mbufs[i];
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (unlikely(!hs_int_fast_may_strip(settings, frame, packet) || !packet->trace_off ||
			    hs_int_fast_is_discarded(frame, packet) || !hs_is_changeable(burst, i)))
		return hs_int_sink(worker, burst, i);
	report_fast(worker, burst, i, frame);
	hs_room_shift(m, -(int)hs_int_fast_strip(frame, packet));
	return true;
}

// Takes a run of a profile without a fast path. Not inlined, so that the fast path beside it keeps
// its registers.
static __attribute__((noinline)) void general_run(struct hs_worker *worker, struct hs_burst *burst,
		unsigned first, unsigned end, struct hs_port *out)
{
	const struct hs_int_settings *settings = burst->profile->settings;

	if (settings->mode == HS_INT_XD && !(burst->flags & HS_STAGE_SUSPECT)) {
		hs_to_network_as(worker, burst, first, end, out, HS_AT_SOURCE,
				hs_int_export_watched);
		return;
	}
	hs_int_watch(worker, burst, first, end, out);
	hs_to_host_as(worker, burst, first, end, out, hs_int_sink);
}

void hs_int_run_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out)
{
	if (hs_int_fast_is(burst->profile->settings))
		hs_to_host_as(worker, burst, first, end, out, fast_sink);
	else
		general_run(worker, burst, first, end, out);
}
