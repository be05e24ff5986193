// SPDX-License-Identifier: BSD-3-Clause
#include "qos.h"

#include "qos_absorb.h"
#include "qos_clock_steps.h"
#include "qos_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND	   1000000000ll
#define MAX_SLACK  32768	   // half of the range of 16-bit counters
#define LAST_NS	   (INT64_MAX / 2) // later stamps could overflow
#define LAST_COUNT (INT64_MAX / 2) // no sink's counter gets so high

// ---- reports that are placed ----

// Sets the times of reports that need only be kept in the ring until their window closes. The
// window's sums are the same when several such reports are added up together, while their flow is
// in the cache.
static void allow_placing(const struct hs_qos *qos, struct hs_qos_flow *flow)
{
	const struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	if (qos->config.general || !flow->active || !current->open || flow->ring.family->has_locals)
		return;
	int64_t end_ns = current->tag * qos->config.window_ns[0];
	struct hs_qos_place *place = flow->place;
	place->tag = current->tag;
	place->after_ns = end_ns - qos->config.window_ns[0];
	place->until_ns = end_ns < flow->close_at_ns ? end_ns : flow->close_at_ns - 1;
}

// Returns whether a report continues the counts of the reports before. A report of another rule,
// sink or family does not.
static inline bool goes_on(const struct hs_qos_place *place, const struct hs_qos_key *key,
		const struct hs_telemetry_family *family)
{
	return place->generation == key->generation && place->sink_id == key->sink_node_id &&
	       place->family == family;
}

// Returns whether a report of this time may be placed.
static inline bool is_in_time(const struct hs_qos_place *place, int64_t sink_ts_ns)
{
	return sink_ts_ns > place->after_ns && sink_ts_ns <= place->until_ns;
}

// ---- reports ----

static int64_t tag_of(const struct hs_qos *qos, int64_t ts_ns)
{
	int64_t length = qos->config.window_ns[0];
	return ts_ns <= 0 ? 0 : (ts_ns + length - 1) / length;
}

// Returns the sum that a report of this time goes into. Closes and opens windows where needed.
static enum hs_qos_sum_id enter(
		struct hs_qos *qos, struct hs_qos_flow *flow, const struct hs_report *report)
{
	int64_t ts_ns = report->sink_ts_ns;
	struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	struct hs_qos_sum *closing = &flow->sums[HS_QOS_CLOSING];
	int64_t length = qos->config.window_ns[0];
	int64_t end_ns = current->tag * length;
	if (current->open && ts_ns <= end_ns && ts_ns > end_ns - length &&
			ts_ns < flow->close_at_ns)
		return HS_QOS_CURRENT;
	hs_qos_clock_steps_note(flow, report);
	while (flow->active && ts_ns >= flow->close_at_ns)
		hs_qos_close_next(qos, flow);
	int64_t tag = tag_of(qos, ts_ns);
	if (!flow->active)
		hs_qos_activate(qos, flow, tag > flow->close_tag ? tag : flow->close_tag);
	if (tag < flow->close_tag)
		tag = flow->close_tag;
	if (!current->open) {
		if (qos->new_time)
			hs_qos_tell_time(qos, ts_ns);
		hs_qos_absorb_open(flow, tag);
	}
	if (tag < current->tag)
		return closing->open ? HS_QOS_CLOSING : HS_QOS_CURRENT;
	if (tag > current->tag) {
		while (closing->open)
			hs_qos_close_next(qos, flow);
		hs_qos_absorb_rotate(flow, tag);
	}
	return HS_QOS_CURRENT;
}

static void destroy_flow(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	qos->counters.epochs += flow->epochs;
	qos->counters.late_reports += flow->late_reports;
	hs_qos_deactivate(qos, flow);
	hs_qos_discharge(qos, flow);
	hs_qos_flow_fini(flow);
	free(flow);
	qos->counters.flows--;
}

// Removes a flow from the list. The last flow moves to its index.
static void forget_flow(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	uint32_t at = hs_u32_map_find(&qos->by_ns, flow->ns_id);
	uint32_t last = (uint32_t)qos->counters.flows - 1;

	hs_qos_gather(qos, flow); // before its place is another flow's
	hs_u32_map_erase(&qos->by_ns, flow->ns_id, at);
	if (at != last) {
		qos->flows[at] = qos->flows[last];
		qos->places[at] = qos->places[last];
		qos->flows[at]->place = &qos->places[at];
		hs_u32_map_replace(&qos->by_ns, qos->flows[at]->ns_id, last, at);
	}
	destroy_flow(qos, flow);
}

int hs_qos_remove(struct hs_qos *qos, uint32_t ns_id)
{
	struct hs_qos_flow *flow = hs_qos_find(qos, ns_id);
	if (!flow)
		return -ENOENT;
	hs_qos_cut_flow(qos, flow);
	forget_flow(qos, flow);
	return 0;
}

// ---- the limit of memory ----

// A sender of reports of ever new paths makes its own flow large. Such a flow makes room for other
// flows, and no other flow makes room for it.

// Removes the flow that takes the most memory. Its open windows are handed out first.
static void evict(struct hs_qos *qos)
{
	const struct hs_qos_flow *largest = qos->flows[0];
	for (uint32_t i = 1; i < qos->counters.flows; i++)
		if (qos->flows[i]->charged > largest->charged)
			largest = qos->flows[i];
	qos->memory.evicted++;
	hs_qos_remove(qos, largest->ns_id);
}

// Returns whether one more flow fits under the limit. Removes large flows to make room.
static bool has_room(struct hs_qos *qos)
{
	uint64_t limit = qos->memory.limit_bytes;
	while (limit && qos->memory.bytes + HS_QOS_SHARE_BYTES > limit) {
		if (!qos->n_large)
			return false;
		evict(qos);
	}
	return true;
}

// Removes the largest flows while the monitor takes more memory than the limit.
static void keep_to_limit(struct hs_qos *qos)
{
	uint64_t limit = qos->memory.limit_bytes;
	while (limit && qos->memory.bytes > limit && qos->counters.flows)
		evict(qos);
}

// ---- reports ----

// Returns how many packets of the flow the source had counted before this one. The sink's count
// says nothing of this: the count begins anew with the sink and with its rule.
static uint64_t packets_before(const struct hs_e2e *e2e)
{
	return e2e->bitmap & HS_E2E_TX_PACKETS ? e2e->tx_packets - 1 : UINT64_MAX;
}

// A third window must not begin while the first is open.
static int64_t stagger_of(const struct hs_qos *qos, int64_t index)
{
	int64_t length = qos->config.window_ns[0], most = length - qos->config.lateness_ns;
	most = most < length / 4 ? most : length / 4;
	return most ? index * qos->config.stagger_ns % most : 0;
}

static void init_flow(struct hs_qos *qos, struct hs_qos_flow *flow, struct hs_qos_place *place,
		const struct hs_qos_key *key, const struct hs_report *report)
{
	const struct hs_telemetry_family *family = report->telemetry.family;

	hs_qos_flow_init(flow, key, &qos->config, UINT64_C(1) << family->packet_bits, &qos->step);
	flow->stagger_ns = stagger_of(qos, place - qos->places);
	flow->ring.family = family;
	flow->ring.staggered = qos->config.help;
	flow->ring.first =
			qos->config.help ? (uint32_t)(place - qos->places) % HS_QOS_RING_AHEAD : 0;
	flow->place = place;
	*place = (struct hs_qos_place){.family = family,
			.ns_id = key->ns_id,
			.generation = key->generation,
			.sink_id = key->sink_node_id};
	flow->met_ns = report->sink_ts_ns;
	flow->unknown_packets = packets_before(&report->telemetry.e2e);
}

static int create_flow(
		struct hs_qos *qos, const struct hs_qos_key *key, const struct hs_report *report)
{
	if (qos->counters.flows >= qos->config.max_flows) {
		qos->counters.unmonitored++;
		return -ENOSPC;
	}
	if (!has_room(qos)) {
		qos->memory.refused++;
		return -ENOSPC;
	}
	struct hs_qos_flow *flow = malloc(sizeof(*flow));
	if (!flow) {
		qos->counters.out_of_memory++;
		return -ENOMEM;
	}
	init_flow(qos, flow, &qos->places[qos->counters.flows], key, report);
	hs_u32_map_add(&qos->by_ns, key->ns_id, (uint32_t)qos->counters.flows);
	qos->flows[qos->counters.flows++] = flow;
	hs_qos_charge(qos, flow);
	return 0;
}

static void renew_flow(struct hs_qos *qos, struct hs_qos_flow *flow, const struct hs_qos_key *key,
		const struct hs_report *report)
{
	uint64_t epochs = flow->epochs, late = flow->late_reports;
	hs_qos_cut_flow(qos, flow);
	hs_qos_deactivate(qos, flow);
	hs_qos_discharge(qos, flow);
	hs_qos_flow_fini(flow);
	init_flow(qos, flow, flow->place, key, report);
	flow->epochs = epochs + 1;
	flow->late_reports = late;
}

// Checks the sink's own fields. They are used in arithmetic unchecked. All other fields of a report
// come from peers.
static inline bool is_of_a_sink(int64_t ts_ns, uint64_t rx_packets, uint64_t rx_bytes)
{
	return (uint64_t)ts_ns <= LAST_NS && (rx_packets | rx_bytes) <= LAST_COUNT;
}

// Adds up the reports that were placed if no more may be placed.
static inline void settle_full(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	if (hs_qos_ring_is_due(&flow->ring, flow->ring.ahead)) {
		hs_qos_settle(qos, flow);
		hs_qos_charge(qos, flow);
		keep_to_limit(qos);
	}
}

// Offers the reports that were placed to other threads, or adds them up if no more may be placed.
static inline void pass_on(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	hs_qos_gather(qos, flow);
	if (!hs_qos_offer(&qos->offers, flow))
		settle_full(qos, flow);
}

// Lets reports of the next window be placed behind those of the current one, from one of this time
// on. hs_qos_absorb_ahead begins the window. Returns false where the report is not of the next
// window, or so late that a window must be closed before.
static bool turn(struct hs_qos *qos, struct hs_qos_flow *flow, int64_t sink_ts_ns)
{
	struct hs_qos_place *place = flow->place;
	const struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	bool offered = place->offered;
	hs_qos_gather(qos, flow);
	int64_t end_ns = current->tag * qos->config.window_ns[0];
	if (!current->open || place->tag != current->tag || sink_ts_ns <= end_ns ||
			sink_ts_ns >= flow->close_at_ns)
		return false;
	place->tag++;
	place->after_ns = end_ns;
	place->until_ns = flow->close_at_ns - 1; // before the end of the next window
	if (offered && flow->ring.ahead)
		hs_qos_offer(&qos->offers, flow);
	return true;
}

static bool open_place(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	struct hs_qos_place *place = flow->place;
	hs_qos_gather(qos, flow);
	place->slot_bytes = flow->ring.slot_bytes;
	place->left = place->family->pack ? hs_qos_ring_free(&flow->ring, &place->at) : 0;
	return place->left;
}

// Packs a record without decoding it. Returns false if its telemetry is not common.
static inline bool pack(const struct hs_qos_place *place, const struct hs_report_record *record)
{
	struct hs_packed *slot = (struct hs_packed *)place->at;
	size_t trace_len = record->trace_len, e2e_len = record->e2e_len;
	slot->tag = place->tag;
	slot->sink_ts_ns = record->sink_ts_ns;
	slot->sink_rx_packets = record->sink_rx_packets;
	slot->sink_rx_bytes = record->sink_rx_bytes;
	return trace_len + e2e_len <= sizeof(record->data) &&
	       place->family->pack(record->data, trace_len, record->data + trace_len, e2e_len,
			       place->slot_bytes, slot);
}

bool hs_qos_place(struct hs_qos *qos, uint32_t expected, const struct hs_qos_key *key,
		const struct hs_report_record *record, const struct hs_telemetry_family *family)
{
	if (expected >= qos->counters.flows)
		return false;
	struct hs_qos_place *place = &qos->places[expected];
	if (place->ns_id != key->ns_id || !goes_on(place, key, family) ||
			!is_of_a_sink(record->sink_ts_ns, record->sink_rx_packets,
					record->sink_rx_bytes) ||
			(!is_in_time(place, record->sink_ts_ns) &&
					!turn(qos, qos->flows[expected], record->sink_ts_ns)) ||
			(!place->left && !open_place(qos, qos->flows[expected])) ||
			!pack(place, record))
		return false;
	qos->counters.reports++;
	place->at += place->slot_bytes;
	place->placed++;
	if (!--place->left)
		pass_on(qos, qos->flows[expected]);
	return true;
}

static bool place_decoded(struct hs_qos *qos, struct hs_qos_flow *flow,
		const struct hs_qos_key *key, const struct hs_report *report)
{
	if (!is_in_time(flow->place, report->sink_ts_ns) ||
			!goes_on(flow->place, key, report->telemetry.family))
		return false;
	hs_qos_gather(qos, flow);
	if (!hs_qos_ring_place(&flow->ring, report, flow->place->tag))
		return false;
	flow->place->left = 0;
	qos->counters.reports++;
	return true;
}

// Adds a report that is not placed alone, unless the windows that it closes and opens let it be
// placed.
static int absorb(struct hs_qos *qos, struct hs_qos_flow *flow, const struct hs_qos_key *key,
		const struct hs_report *report)
{
	hs_qos_settle(qos, flow);
	if (!goes_on(flow->place, key, report->telemetry.family))
		renew_flow(qos, flow, key, report);
	enum hs_qos_sum_id id = enter(qos, flow, report);
	allow_placing(qos, flow);
	if (place_decoded(qos, flow, key, report))
		return 0;
	int rc = hs_qos_absorb(flow, report, id);
	qos->counters.reports += rc == 0;
	return rc;
}

int hs_qos_report(struct hs_qos *qos, const struct hs_qos_key *key, const struct hs_report *report)
{
	struct hs_qos_flow *flow = hs_qos_find(qos, key->ns_id);
	bool created = !flow;
	if (!is_of_a_sink(report->sink_ts_ns, report->sink_rx_packets, report->sink_rx_bytes))
		return -EINVAL;
	if (!created && place_decoded(qos, flow, key, report)) {
		settle_full(qos, flow);
		return 0;
	}
	if (!hs_qos_ring_takes(report))
		return -EINVAL;
	if (created) {
		int rc = create_flow(qos, key, report);
		if (rc)
			return rc;
		flow = hs_qos_find(qos, key->ns_id);
	}
	int rc = absorb(qos, flow, key, report);
	if (rc) {
		qos->counters.out_of_memory += rc == -ENOMEM;
		if (created)
			forget_flow(qos, flow);
		return rc;
	}
	hs_qos_charge(qos, flow);
	keep_to_limit(qos); // may remove this flow
	return 0;
}

void hs_qos_expect_flow(const struct hs_qos *qos, uint32_t expected)
{
	__builtin_prefetch(qos->places + expected, 1);
}

uint32_t hs_qos_expect(const struct hs_qos *qos, uint32_t ns_id)
{
	uint32_t at = hs_u32_map_find(&qos->by_ns, ns_id);
	if (at != HS_U32_MAP_NONE)
		hs_qos_expect_flow(qos, at);
	return at;
}

static inline void expect_turn(const struct hs_qos_flow *flow)
{
	hs_qos_fetch(flow, offsetof(struct hs_qos_flow, app_id));
	hs_qos_fetch(&flow->sums[HS_QOS_CURRENT].tag, 1);
	hs_qos_fetch(&flow->sums[HS_QOS_CLOSING].open, 1);
	hs_qos_fetch(&flow->close_at_ns, 1);
}

void hs_qos_expect_next(const struct hs_qos *qos, uint32_t expected, int64_t sink_ts_ns)
{
	if (expected >= qos->counters.flows)
		return;
	const struct hs_qos_place *place = &qos->places[expected];
	struct hs_qos_flow *flow = qos->flows[expected];
	if (place->left > 1) {
		hs_qos_fetch(place->at, place->slot_bytes);
		if (sink_ts_ns > place->until_ns)
			expect_turn(flow);
		return;
	}
	if (place->offered) {
		hs_qos_fetch(flow, offsetof(struct hs_qos_flow, app_id));
		return;
	}
	hs_qos_gather_own(flow);
	if (flow->ring.ahead && hs_qos_ring_is_due(&flow->ring, flow->ring.ahead + 1))
		hs_qos_absorb_expect(flow);
}

// ---- the monitor ----

static int apply_defaults(struct hs_qos_config *config)
{
	static const int64_t lengths[HS_QOS_WINDOWS] = {SECOND, 10 * SECOND, 60 * SECOND};
	if (!config->window_ns[0])
		memcpy(config->window_ns, lengths, sizeof(lengths));
	for (unsigned i = 0; i < HS_QOS_WINDOWS && config->window_ns[i]; i++) {
		int64_t *length = &config->window_ns[i];
		if (*length < 0 || (i && (*length <= length[-1] || *length % length[-1])))
			return -EINVAL;
	}
	if (!config->lateness_ns)
		config->lateness_ns = SECOND / 10;
	// With a longer lateness, a third window would begin while the first is open.
	if (config->lateness_ns > config->window_ns[0])
		config->lateness_ns = config->window_ns[0];
	if (!config->stale_ns)
		config->stale_ns = HS_QOS_STALE_NS;
	if (!config->slack_packets)
		config->slack_packets = 4096;
	if (config->slack_packets > MAX_SLACK)
		config->slack_packets = MAX_SLACK;
	return 0;
}

int hs_qos_create(const struct hs_qos_config *config, struct hs_qos **out)
{
	struct hs_qos *qos = aligned_alloc(HS_QOS_LINE, sizeof(*qos));
	if (!qos)
		return -ENOMEM;
	memset(qos, 0, sizeof(*qos));
	int rc = -EINVAL;
	qos->config = *config;
	qos->memory.limit_bytes = config->memory_bytes;
	if (apply_defaults(&qos->config))
		goto free_qos;
	rc = -ENOMEM;
	qos->flows = calloc(config->max_flows, sizeof(struct hs_qos_flow *));
	qos->places = aligned_alloc(HS_QOS_LINE, config->max_flows * sizeof(*qos->places));
	if (!qos->flows || !qos->places || hs_u32_map_init(&qos->by_ns, config->max_flows) < 0)
		goto free_qos;
	if (config->help && hs_qos_offers_init(&qos->offers, config->max_flows) < 0)
		goto free_qos;
	qos->next_ns = qos->round_next_ns = qos->cut_ns = INT64_MAX;
	for (; qos->n_windows < HS_QOS_WINDOWS && qos->config.window_ns[qos->n_windows];
			qos->n_windows++)
		qos->ratio[qos->n_windows] =
				qos->config.window_ns[qos->n_windows] / qos->config.window_ns[0];
	*out = qos;
	return 0;

free_qos:
	hs_u32_map_fini(&qos->by_ns);
	free(qos->places);
	free(qos->flows);
	free(qos);
	return rc;
}

void hs_qos_destroy(struct hs_qos *qos)
{
	if (!qos)
		return;
	while (qos->counters.flows) {
		struct hs_qos_flow *last = qos->flows[qos->counters.flows - 1];
		hs_qos_gather(qos, last);
		destroy_flow(qos, last);
	}
	hs_qos_columns_fini(&qos->columns);
	hs_qos_slot_fini(&qos->answer);
	hs_u32_map_fini(&qos->by_ns);
	hs_qos_offers_fini(&qos->offers);
	free(qos->places);
	free(qos->flows);
	free(qos);
}

void hs_qos_mark(struct hs_qos *qos, uint32_t ns_id, uint32_t flags)
{
	struct hs_qos_flow *flow = hs_qos_find(qos, ns_id);
	bool open = false;

	if (!flow)
		return;
	hs_qos_settle(qos, flow);
	for (unsigned i = 0; i < HS_QOS_SUMS; i++) {
		if (!flow->sums[i].open)
			continue;
		flow->sums[i].flags |= flags;
		open |= i <= HS_QOS_CLOSING;
	}
	for (unsigned i = 0; i < HS_QOS_WINDOWS && !open; i++)
		flow->latest[i].window.flags |= flags;
}

void hs_qos_counters(struct hs_qos *qos, struct hs_qos_counters *counters)
{
	for (uint32_t i = 0; i < qos->counters.flows; i++)
		hs_qos_settle(qos, qos->flows[i]);
	*counters = qos->counters;
	for (uint32_t i = 0; i < qos->counters.flows; i++) {
		const struct hs_qos_flow *flow = qos->flows[i];
		counters->epochs += flow->epochs;
		counters->late_reports += flow->late_reports;
		counters->bytes += hs_qos_flow_bytes(flow);
	}
}
