// SPDX-License-Identifier: BSD-3-Clause
// Signatures of in-band requests that this node has seen. No signature is accepted a second time,
// even after its rule was removed and after a restart.
//
// The counter of a signature is its source's clock. The newest counter of each namespace is kept,
// in sets of a few entries. A counter that finds its set full raises the floor, below which no
// other namespace is accepted. For a namespace that is not remembered, nothing that was signed
// before this node started is accepted, because it may be a replay. A source signs each repeat
// anew, so that this affects one repeat only.
#include "in_band_seen.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SETS	  1024
#define WAYS	  4
#define SAVE_NS	  INT64_C(100000000)
#define LINE_SEEN 256 // counters in a line of the state

struct seen_entry {
	uint32_t ns_id; // 0: free
	bool unsaved;
	uint64_t counter;
};

struct in_band_seen {
	const struct in_band_base *base;
	uint64_t floor;
	int64_t start_ns; // start of the node, or the time since its clock was set back
	bool unsaved;
	int64_t save_ns; // earliest time of the next save
	struct seen_entry sets[SETS][WAYS];
};

int hs_in_band_seen_create(const struct in_band_base *base, struct in_band_seen **out)
{
	*out = base->settings.has_key ? calloc(1, sizeof(**out)) : NULL;
	if (!*out)
		return base->settings.has_key ? -ENOMEM : 0;
	(*out)->base = base;
	(*out)->start_ns = hs_in_band_now(base);
	return 0;
}

void hs_in_band_seen_destroy(struct in_band_seen *seen)
{
	free(seen);
}

void hs_in_band_seen_shift(struct in_band_seen *seen, int64_t by_ns)
{
	if (!seen)
		return;
	hs_clock_shift(&seen->save_ns, by_ns);
	hs_clock_shift(&seen->start_ns, by_ns);
}

static struct seen_entry *set_of(struct in_band_seen *seen, uint32_t ns_id)
{
	return seen->sets[(ns_id * UINT32_C(2654435761)) >> 22];
}
static_assert(SETS == 1u << (32 - 22), "as many bits of the hash");

static struct seen_entry *find(struct in_band_seen *seen, uint32_t ns_id)
{
	struct seen_entry *set = set_of(seen, ns_id);

	for (unsigned i = 0; i < WAYS; i++)
		if (set[i].ns_id == ns_id)
			return &set[i];
	return NULL;
}

const char *hs_in_band_seen_check(struct in_band_seen *seen, uint32_t ns_id, uint64_t counter)
{
	const struct seen_entry *entry = find(seen, ns_id);

	if (hs_in_band_now(seen->base) < seen->start_ns)
		seen->start_ns = hs_in_band_now(seen->base);
	if (entry)
		return counter <= entry->counter ? "one that came before" : NULL;
	if (counter <= seen->floor)
		return "it is older than requests that this node does not remember";
	// If times are not compared, a source's clock may have any value.
	if (seen->base->settings.max_age_s && counter < (uint64_t)seen->start_ns)
		return "it was signed before this node started";
	return NULL;
}

// Returns a free entry of the namespace's set, or the oldest one. The oldest counter raises the
// floor, so that no replay of it is accepted.
static struct seen_entry *make_entry(struct in_band_seen *seen, uint32_t ns_id)
{
	struct seen_entry *set = set_of(seen, ns_id), *oldest = set;

	for (unsigned i = 0; i < WAYS; i++) {
		if (!set[i].ns_id)
			return &set[i];
		if (set[i].counter < oldest->counter)
			oldest = &set[i];
	}
	if (seen->floor < oldest->counter)
		seen->floor = oldest->counter;
	return oldest;
}

void hs_in_band_seen_note(struct in_band_seen *seen, uint32_t ns_id, uint64_t counter)
{
	struct seen_entry *entry = find(seen, ns_id);

	if (!entry)
		entry = make_entry(seen, ns_id);
	*entry = (struct seen_entry){.ns_id = ns_id, .unsaved = true, .counter = counter};
	seen->unsaved = true;
}

// ---- the state ----

static json_t *line_of(const struct in_band_seen *seen, json_t *counters)
{
	return json_pack("{s:{s:I, s:o}}", HS_SEEN_LINE, "floor", (json_int_t)seen->floor,
			"counters", counters);
}

json_t *hs_in_band_seen_line(struct in_band_seen *seen, unsigned *at, bool all)
{
	json_t *counters;

	if (!seen || *at >= SETS)
		return NULL;
	counters = json_array();
	for (; *at < SETS && json_array_size(counters) + WAYS <= LINE_SEEN; ++*at) {
		for (unsigned i = 0; i < WAYS; i++) {
			struct seen_entry *entry = &seen->sets[*at][i];
			if (entry->ns_id && (all || entry->unsaved))
				json_array_append_new(counters,
						json_pack("[I, I]", (json_int_t)entry->ns_id,
								(json_int_t)entry->counter));
		}
	}
	if (json_array_size(counters))
		return line_of(seen, counters);
	json_decref(counters);
	return NULL;
}

static void forget_unsaved(struct in_band_seen *seen)
{
	for (unsigned set = 0; set < SETS; set++)
		for (unsigned i = 0; i < WAYS; i++)
			seen->sets[set][i].unsaved = false;
	seen->unsaved = false;
}

void hs_in_band_seen_save(struct in_band_seen *seen, bool now)
{
	struct hs_error err;
	unsigned at = 0;
	json_t *line;
	int rc = 0;

	if (!seen || !seen->unsaved || !seen->base->save ||
			(!now && hs_in_band_now(seen->base) < seen->save_ns))
		return;
	seen->save_ns = hs_in_band_now(seen->base) + SAVE_NS;
	while (rc == 0 && (line = hs_in_band_seen_line(seen, &at, false))) {
		rc = seen->base->save(seen->base->host.context, line, &err);
		json_decref(line);
	}
	// If this fails, the state has counted and reported it. The counters are saved again later.
	if (rc == 0)
		forget_unsaved(seen);
}

static bool read_pair(struct in_band_seen *seen, json_t *pair)
{
	json_int_t ns_id = json_integer_value(json_array_get(pair, 0));
	uint64_t counter = (uint64_t)json_integer_value(json_array_get(pair, 1));

	if (ns_id <= 0 || ns_id > UINT32_MAX || !json_is_integer(json_array_get(pair, 1)))
		return false;
	const struct seen_entry *entry = find(seen, (uint32_t)ns_id);
	if (!entry || entry->counter < counter)
		hs_in_band_seen_note(seen, (uint32_t)ns_id, counter);
	return true;
}

int hs_in_band_seen_read(struct in_band_seen *seen, json_t *line, struct hs_error *err)
{
	json_t *counters = json_object_get(line, "counters"), *pair;
	uint64_t floor = (uint64_t)json_integer_value(json_object_get(line, "floor"));
	size_t i;

	if (!seen) // there is no longer a key: nothing is signed
		return 0;
	json_array_foreach (counters, i, pair) {
		if (!read_pair(seen, pair))
			return hs_error_set(err, "bad_value", HS_SEEN_LINE,
					"pairs of namespace and counter",
					"a counter of signatures cannot be read");
	}
	if (seen->floor < floor)
		seen->floor = floor;
	forget_unsaved(seen);
	return 0;
}
