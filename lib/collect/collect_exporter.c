// SPDX-License-Identifier: BSD-3-Clause
// Exporters, and their sequence numbers.
#include "collect_parts.h"

#include <errno.h>
#include <stdlib.h>

#define DUPLICATES_IN_A_ROW 8 // numbers that grow by one: the exporter restarted near its last

static bool is_exporter(const struct hs_collect *c, uint32_t number,
		const struct hs_collect_exporter_key *key)
{
	return number != HS_COLLECT_NONE && !memcmp(&c->exporter[number].key, key, sizeof(*key));
}

static uint32_t hash_of(const struct hs_collect *c, const struct hs_collect_exporter_key *key)
{
	const uint8_t *at = (const uint8_t *)key;

	return hs_collect_hash_6(&c->secret, hs_collect_word(at), hs_collect_word(at + 8),
			hs_collect_word(at + 16), 0, 0, 0);
}

static uint32_t find_exporter(struct hs_collect *c, const struct hs_collect_exporter_key *key)
{
	uint32_t hash = hash_of(c, key), probe = 0, number;

	do {
		number = hs_u32_map_next(&c->exporters.map, hash, &probe);
	} while (number != HS_COLLECT_NONE && !is_exporter(c, number, key));
	if (number != HS_COLLECT_NONE)
		return number;
	number = hs_collect_table_add(&c->exporters, hash, c->second);
	if (number != HS_COLLECT_NONE)
		c->exporter[number] = (struct hs_collect_exporter_entry){.key = *key,
				.has_node = key->has_node,
				.node_id = key->node_id,
				.first_ns = c->now_ns};
	return number;
}

// Returns whether memory has a valid exporter's entry. The memory may be damaged. Restoring ends at
// the first entry that is not valid.
static bool is_right(const struct hs_collect_exporter_entry *e)
{
	uint8_t flags[2]; // a bool with another value must not be read
	memcpy(&flags[0], &e->has_node, 1);
	memcpy(&flags[1], &e->has_candidate, 1);
	return e->datagrams && e->version <= HS_INT_REPORT_2_0 && e->known &&
	       e->known <= HS_COLLECT_WINDOW + 1 && flags[0] <= 1 && flags[1] <= 1 &&
	       e->key.is_ipv4 <= 1 && e->key.listener < HS_COLLECT_MAX_LISTENERS;
}

// When an exporter was last heard.
struct heard {
	int64_t last_ns;
	uint32_t number;
};

static int by_time(const void *a, const void *b)
{
	const struct heard *x = a, *y = b;

	return (x->last_ns > y->last_ns) - (x->last_ns < y->last_ns);
}

// Puts n exporters into the order in which a full table replaces them. Returns 0 or -ENOMEM.
static int order(struct hs_collect *c, uint32_t n)
{
	struct heard *heard = calloc(n ? n : 1, sizeof(*heard));

	if (!heard)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		heard[i] = (struct heard){c->exporter[i].last_ns, i};
	qsort(heard, n, sizeof(*heard), by_time);
	for (uint32_t i = 0; i < n; i++)
		hs_collect_table_renew(&c->exporters, heard[i].number,
				(uint32_t)(heard[i].last_ns / HS_COLLECT_SECOND_NS));
	free(heard);
	return 0;
}

int hs_collect_restore_exporters(struct hs_collect *c)
{
	uint32_t n = 0;

	// A process that was killed left one entry that is not right at most.
	for (uint32_t i = 0; i < c->config.max_exporters; i++) {
		if (!is_right(&c->exporter[i]))
			continue;
		struct hs_collect_exporter_entry *e = &c->exporter[n++];
		*e = c->exporter[i];
		hs_collect_table_add(&c->exporters, hash_of(c, &e->key), 0);
		// Missing reports may still come late, so the sums continue.
		c->counters.reports_missing += e->missing;
		c->counters.reports_late += e->late;
		c->counters.reports_duplicate += e->duplicates;
	}
	memset(&c->exporter[n], 0, (c->config.max_exporters - n) * sizeof(c->exporter[n]));
	return order(c, n);
}

// ---- numbers ----

static void mark(struct hs_collect_exporter_entry *e, uint32_t sequence, bool seen)
{
	uint32_t at = sequence % HS_COLLECT_WINDOW;
	uint64_t bit = UINT64_C(1) << at % 64;

	e->seen[at / 64] = (e->seen[at / 64] & ~bit) | (seen ? bit : 0);
}

static bool was_seen(const struct hs_collect_exporter_entry *e, uint32_t sequence)
{
	uint32_t at = sequence % HS_COLLECT_WINDOW;

	return e->seen[at / 64] >> at % 64 & 1;
}

static void begin(struct hs_collect_exporter_entry *e, uint32_t sequence)
{
	e->sequence = sequence;
	e->known = 1;
	e->has_candidate = false;
	e->in_a_row = 0;
}

static void advance(struct hs_collect *c, struct hs_collect_exporter_entry *e, uint32_t sequence,
		uint32_t step)
{
	uint32_t skipped = step - 1;
	uint32_t clear = skipped < HS_COLLECT_WINDOW ? skipped : HS_COLLECT_WINDOW;

	mark(e, e->sequence, true);
	for (uint32_t i = 1; i <= clear; i++)
		mark(e, sequence - i, false);
	e->sequence = sequence;
	e->known = e->known + step <= HS_COLLECT_WINDOW ? e->known + step : HS_COLLECT_WINDOW + 1;
	e->missing += skipped;
	c->counters.reports_missing += skipped;
	e->has_candidate = false;
	e->in_a_row = 0;
}

static void note_duplicate(
		struct hs_collect *c, struct hs_collect_exporter_entry *e, uint32_t sequence)
{
	bool follows = hs_int_report_sequence_step((enum hs_int_report_version)e->version,
				       e->duplicate, sequence) == 1;

	e->in_a_row = e->in_a_row && follows ? (uint8_t)(e->in_a_row + 1) : 1;
	e->duplicate = sequence;
	e->duplicates++;
	c->counters.reports_duplicate++;
	if (e->in_a_row < DUPLICATES_IN_A_ROW)
		return;
	e->duplicates -= DUPLICATES_IN_A_ROW;
	c->counters.reports_duplicate -= DUPLICATES_IN_A_ROW;
	e->restarts++;
	begin(e, sequence);
}

// Notes a number among the last ones.
static void note_old(struct hs_collect *c, struct hs_collect_exporter_entry *e, uint32_t sequence,
		uint32_t behind)
{
	if (behind >= e->known)
		return; // before the first known number
	if (!behind || was_seen(e, sequence)) {
		note_duplicate(c, e, sequence);
		return;
	}
	mark(e, sequence, true);
	e->late++;
	e->missing--;
	c->counters.reports_late++;
	c->counters.reports_missing--;
}

// Notes a number far from all known ones, which may be a stray one. It is believed if the next
// number follows it: if it is not too far ahead, the numbers between are missing; else the exporter
// has restarted.
static void note_far(struct hs_collect *c, struct hs_collect_exporter_entry *e,
		enum hs_int_report_version version, uint32_t sequence)
{
	int32_t step = hs_int_report_sequence_step(version, e->candidate, sequence);

	if (!e->has_candidate || step < 1 || step > HS_COLLECT_WINDOW) {
		e->candidate = sequence;
		e->has_candidate = true;
		return;
	}
	int32_t jump = hs_int_report_sequence_step(version, e->sequence, e->candidate);
	if (jump > 0 && jump <= HS_COLLECT_FAR) {
		advance(c, e, e->candidate, (uint32_t)jump);
	} else {
		e->restarts++;
		begin(e, e->candidate);
	}
	advance(c, e, sequence, (uint32_t)step);
}

static void judge(struct hs_collect *c, struct hs_collect_exporter_entry *e,
		enum hs_int_report_version version, uint32_t sequence)
{
	if (hs_collect_is_next(e, sequence)) {
		hs_collect_go_on(e, 1);
		return;
	}
	int32_t step = hs_int_report_sequence_step(version, e->sequence, sequence);

	if (step > 0 && step <= HS_COLLECT_AHEAD)
		advance(c, e, sequence, (uint32_t)step);
	else if (step <= 0 && step >= -HS_COLLECT_WINDOW)
		note_old(c, e, sequence, (uint32_t)-step);
	else
		note_far(c, e, version, sequence);
}

struct hs_collect_exporter_entry *hs_collect_note_exporter(struct hs_collect *c,
		const struct hs_collect_exporter_key *key, enum hs_int_report_version version,
		uint32_t sequence)
{
	if (!c->last_exporter || memcmp(&c->last_exporter->key, key, sizeof(*key)) != 0) {
		uint32_t number = find_exporter(c, key);
		c->last_exporter = number == HS_COLLECT_NONE ? NULL : &c->exporter[number];
	}
	struct hs_collect_exporter_entry *e = c->last_exporter;
	if (!e)
		return NULL;
	bool is_first = !e->datagrams++;
	if (e->last_ns != c->now_ns) {
		e->last_ns = c->now_ns;
		hs_collect_table_touch(&c->exporters, (uint32_t)(e - c->exporter), c->second);
	}
	if (!is_first && e->version != version)
		e->restarts++;
	if (is_first || e->version != version)
		begin(e, sequence);
	else if (!c->config.intercollector || version == HS_INT_REPORT_2_0)
		judge(c, e, version, sequence);
	e->version = (uint8_t)version;
	return e;
}
