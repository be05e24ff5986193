// SPDX-License-Identifier: BSD-3-Clause
// Reports of a rule that wait for packets that go back. The oldest are in loads, each for one
// packet. A burst of packets takes as many loads as are ready.
#include "in_band_backlog.h"
#include "in_band_pending.h"

#include "flexint.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONS		  8 // in a packet; Linux accepts no more
#define OPTION_HEAD	  2
#define LEAST_LIMIT_BYTES 64
#define PATIENCE_NS	  INT64_C(100000000)
#define LOADS_EACH	  (HS_FLOW_LOADS / 2) // leaves room for other rules that return the same way

struct backlog *hs_in_band_backlog_create(const struct in_band_base *base, uint32_t slot)
{
	struct backlog *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->base = base;
	b->slot = slot;
	b->limit = HS_BACKLOG_LIMIT;
	return b;
}

// ---- the ring ----

static struct waiting_report *nth(struct backlog *b, unsigned n)
{
	return &b->reports[(b->first + n) % HS_BACKLOG_REPORTS];
}

static void remove_nth(struct backlog *b, unsigned n)
{
	free(nth(b, n)->cbor);
	nth(b, n)->cbor = NULL;
	b->n_waiting--;
	while (b->n > 0 && !nth(b, 0)->cbor) {
		b->first = (b->first + 1) % HS_BACKLOG_REPORTS;
		b->n--;
	}
}

// Removes the entries of reports that have been sent or dropped.
static void squeeze(struct backlog *b)
{
	unsigned to = 0;

	for (unsigned from = 0; from < b->n; from++)
		if (nth(b, from)->cbor)
			*nth(b, to++) = *nth(b, from);
	b->n = to;
}

void hs_in_band_backlog_destroy(struct backlog *b)
{
	for (unsigned i = 0; i < b->n; i++)
		free(nth(b, i)->cbor);
	free(b);
}

// ---- loads ----

// Returns load i of the backlog, or NULL if the load has no reports of it.
static struct hs_flow_pending *load_of(const struct backlog *b, unsigned i)
{
	return b->loads >> i & 1 ? hs_flow_table_load(b->base->flows, b->stands_at, i) : NULL;
}

static void unload(struct backlog *b, unsigned i)
{
	for (unsigned k = 0; k < b->n; k++)
		if (nth(b, k)->load == i + 1)
			nth(b, k)->load = 0;
	b->loads &= ~(UINT64_C(1) << i);
}

static void begin_waiting(struct backlog *b)
{
	b->waits_ns = 0;
	b->refused = 0;
}

static uint64_t refusals(const struct backlog *b)
{
	const struct hs_flow_pending *load;
	uint64_t n = b->refused;

	for (unsigned i = 0; i < HS_FLOW_LOADS; i++)
		if ((load = load_of(b, i)))
			n += atomic_load_explicit(&load->refused, memory_order_relaxed);
	return n;
}

// Makes the reports of load i wait again. Returns false if a packet has the load.
static bool withdraw(struct backlog *b, unsigned i)
{
	struct hs_flow_pending *load = load_of(b, i);

	if (!load || !hs_in_band_pending_withdraw(load))
		return !load;
	b->refused += atomic_load_explicit(&load->refused, memory_order_relaxed);
	hs_in_band_pending_clear(b->base->flows, b->stands_at, load);
	unload(b, i);
	return true;
}

static bool withdraw_all(struct backlog *b)
{
	for (unsigned i = 0; i < HS_FLOW_LOADS; i++)
		withdraw(b, i);
	return !b->loads;
}

static unsigned remove_load(struct backlog *b, unsigned i)
{
	unsigned n = b->n_waiting;

	for (unsigned k = b->n; k-- > 0;)
		if (nth(b, k)->cbor && nth(b, k)->load == i + 1)
			remove_nth(b, k);
	b->loads &= ~(UINT64_C(1) << i);
	return n - b->n_waiting;
}

bool hs_in_band_backlog_settle(struct backlog *b)
{
	bool refused = refusals(b) > 0, sent = false;

	for (unsigned i = 0; i < HS_FLOW_LOADS; i++) {
		struct hs_flow_pending *load = load_of(b, i);
		if (!load || hs_in_band_pending_state(load) != HS_PENDING_SENT)
			continue;
		b->base->host.counts->reports_piggyback_sent += remove_load(b, i);
		atomic_store_explicit(&load->state, HS_PENDING_EMPTY, memory_order_relaxed);
		hs_in_band_pending_clear(b->base->flows, b->stands_at, load);
		sent = true;
	}
	if (!sent)
		return false;
	if (!refused && b->limit < HS_BACKLOG_LIMIT) {
		b->limit = b->limit * 2 < HS_BACKLOG_LIMIT ? b->limit * 2 : HS_BACKLOG_LIMIT;
		withdraw_all(b); // they were made for a smaller limit
	}
	begin_waiting(b);
	return true;
}

void hs_in_band_backlog_leave(struct backlog *b)
{
	hs_in_band_backlog_settle(b);
	for (unsigned i = 0; i < HS_FLOW_LOADS; i++) {
		struct hs_flow_pending *load = load_of(b, i);
		if (!load)
			continue;
		hs_in_band_pending_leave(b->base->flows, b->stands_at, load);
		unload(b, i);
	}
	begin_waiting(b);
}

// ---- filling ----

static unsigned options_of(const struct waiting_report *report)
{
	return (report->len + UINT8_MAX - 1u) / UINT8_MAX;
}

static unsigned size_of(const struct waiting_report *report)
{
	return report->len + options_of(report) * OPTION_HEAD;
}

static struct waiting_report *next_waiting(struct backlog *b, unsigned *from)
{
	for (; *from < b->n; ++*from)
		if (nth(b, *from)->cbor && !nth(b, *from)->load)
			return nth(b, *from);
	return NULL;
}

// Fills a load with as many reports as fit the limit, at least one.
static void fill(struct backlog *b, unsigned i, struct hs_flow_pending *load, unsigned from)
{
	unsigned options = 0;
	struct waiting_report *report;

	load->n_bytes = 0;
	// The oldest reports go first, also if their load had to be made anew.
	atomic_store_explicit(&load->serial, next_waiting(b, &from)->serial, memory_order_relaxed);
	while ((report = next_waiting(b, &from))) {
		options += options_of(report);
		if (load->n_bytes &&
				(load->n_bytes + size_of(report) > b->limit || options > OPTIONS))
			return;
		load->n_bytes += hs_in_band_pending_options(load->bytes + load->n_bytes,
				HS_OPT_REPORT, report->cbor, report->len);
		report->load = (uint8_t)(i + 1);
	}
}

// Returns a load with room for the report.
static struct hs_flow_pending *open_load(
		const struct backlog *b, const struct waiting_report *report, unsigned *i)
{
	struct hs_flow_pending *load;

	for (*i = 0; *i < HS_FLOW_LOADS; ++*i) {
		if (b->loads >> *i & 1 || size_of(report) > hs_flow_load_bytes(*i))
			continue;
		load = hs_flow_table_load(b->base->flows, b->stands_at, *i);
		if (load && hs_in_band_pending_open(load, false))
			return load;
	}
	return NULL;
}

static void make_loads(struct backlog *b)
{
	uint32_t ns_id = hs_flow_table_rule(b->base->flows, b->slot)->ns_id;
	const struct waiting_report *report;
	unsigned from = 0, i;

	while (__builtin_popcountll(b->loads) < LOADS_EACH && (report = next_waiting(b, &from))) {
		struct hs_flow_pending *load = open_load(b, report, &i);
		if (!load)
			return;
		fill(b, i, load, from);
		hs_in_band_pending_publish(b->base->flows, b->stands_at, load, ns_id, false);
		b->loads |= UINT64_C(1) << i;
		if (!b->waits_ns)
			b->waits_ns = hs_in_band_now(b->base);
	}
}

// Withdraws the last load if another report fits: it may have been made when fewer reports waited.
static void widen(struct backlog *b)
{
	unsigned from = 0, options = 0;
	const struct waiting_report *next = next_waiting(b, &from), *last = NULL;

	if (!next || !from)
		return;
	last = nth(b, from - 1);
	if (!last->cbor || !last->load)
		return;
	const struct hs_flow_pending *load = load_of(b, last->load - 1u);
	for (unsigned k = 0; k < from; k++)
		options += nth(b, k)->cbor && nth(b, k)->load == last->load ? options_of(nth(b, k))
									    : 0;
	if (load && load->n_bytes + size_of(next) <= b->limit &&
			options + options_of(next) <= OPTIONS)
		withdraw(b, last->load - 1u);
}

// Halves the limit of a load if packets refuse the loads: a packet without room for several reports
// may have room for one.
static void lower_limit(struct backlog *b)
{
	if (!b->waits_ns || hs_in_band_now(b->base) - b->waits_ns < PATIENCE_NS ||
			b->limit <= LEAST_LIMIT_BYTES || !refusals(b))
		return;
	if (withdraw_all(b)) {
		b->limit /= 2;
		begin_waiting(b);
	}
}

void hs_in_band_backlog_publish(struct backlog *b, uint32_t slot)
{
	lower_limit(b);
	if (b->loads && slot != b->stands_at && !withdraw_all(b))
		return;
	if (slot == HS_FLOW_NONE)
		return;
	b->stands_at = slot;
	widen(b);
	make_loads(b);
}

// ---- adding ----

// Drops the oldest report that no packet is just carrying. Returns false if packets carry all.
static bool lose_oldest(struct backlog *b)
{
	for (unsigned k = 0; k < b->n; k++) {
		const struct waiting_report *report = nth(b, k);
		if (report->load && !withdraw(b, report->load - 1u))
			continue;
		remove_nth(b, k);
		return true;
	}
	return false;
}

unsigned hs_in_band_backlog_add(struct backlog *b, uint8_t *cbor, uint16_t len, uint32_t serial)
{
	unsigned lost = 0;

	if (b->n == HS_BACKLOG_REPORTS) {
		hs_in_band_backlog_settle(b);
		squeeze(b);
	}
	if (b->n == HS_BACKLOG_REPORTS) {
		lost = 1;
		if (!lose_oldest(b)) { // then the new one
			free(cbor);
			return lost;
		}
		squeeze(b);
	}
	*nth(b, b->n++) = (struct waiting_report){.cbor = cbor, .len = len, .serial = serial};
	b->n_waiting++;
	return lost;
}
