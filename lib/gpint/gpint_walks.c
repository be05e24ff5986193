// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_walks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int hs_gpint_walks_init(
		struct hs_gpint_walks *walks, const struct hs_gpint_net *net, uint32_t max_bytes)
{
	size_t most = net->graph->n_links > net->n ? net->graph->n_links : net->n;

	*walks = (struct hs_gpint_walks){.net = net, .max_bytes = max_bytes};
	walks->walks = calloc(most, sizeof(*walks->walks));
	walks->visits = calloc(net->n, sizeof(*walks->visits));
	walks->home = calloc(net->n, sizeof(*walks->home));
	walks->seen = calloc(net->n, sizeof(*walks->seen));
	return walks->walks && walks->visits && walks->home && walks->seen ? 0 : -ENOMEM;
}

void hs_gpint_walks_fini(struct hs_gpint_walks *walks)
{
	for (uint32_t w = 0; w < walks->n; w++)
		free(walks->walks[w].at);
	free(walks->walks);
	free(walks->visits);
	free(walks->home);
	free(walks->seen);
	free(walks->made[0]);
	free(walks->made[1]);
}

uint32_t hs_gpint_walks_bytes(struct hs_gpint_walks *walks, const uint32_t *at, uint32_t n)
{
	uint32_t bytes = HS_GPINT_HEAD_BYTES + n * HS_PROBE_HOP_BYTES;

	walks->round++;
	for (uint32_t i = 0; i < n; i++) {
		if (walks->seen[at[i]] != walks->round)
			bytes += HS_PROBE_VALUE_BYTES * hs_gpint_net_values(walks->net, at[i]);
		walks->seen[at[i]] = walks->round;
	}
	return bytes;
}

// ---- which switches are visited ----

static void find_home(struct hs_gpint_walks *walks, uint32_t at)
{
	for (uint32_t w = 0; w < walks->n; w++)
		for (uint32_t i = 0; i < walks->walks[w].n; i++)
			if (walks->walks[w].at[i] == at) {
				walks->home[at] = w;
				return;
			}
}

static void leave(struct hs_gpint_walks *walks, uint32_t walk)
{
	for (uint32_t i = 0; i < walks->walks[walk].n; i++)
		walks->visits[walks->walks[walk].at[i]]--;
}

static void enter(struct hs_gpint_walks *walks, uint32_t walk)
{
	for (uint32_t i = 0; i < walks->walks[walk].n; i++) {
		walks->visits[walks->walks[walk].at[i]]++;
		walks->home[walks->walks[walk].at[i]] = walk;
	}
}

// ---- single walks ----

static int reserve(struct hs_gpint_walk *walk, uint32_t n)
{
	if (n <= walk->room)
		return 0;
	uint32_t *at = realloc(walk->at, 2 * (size_t)n * sizeof(*at));
	if (!at)
		return -ENOMEM;
	walk->at = at;
	walk->room = 2 * n;
	return 0;
}

static void put(struct hs_gpint_walk *walk, const uint32_t *at, uint32_t n)
{
	memmove(walk->at, at, n * sizeof(*at));
	walk->n = n;
}

int hs_gpint_walks_add(struct hs_gpint_walks *walks, const uint32_t *at, uint32_t n)
{
	struct hs_gpint_walk *walk = &walks->walks[walks->n];

	*walk = (struct hs_gpint_walk){0};
	if (reserve(walk, n) < 0)
		return -ENOMEM;
	put(walk, at, n);
	enter(walks, walks->n++);
	return 0;
}

// Gives another home to the switches that the walk had and that only other walks visit now.
static void find_homes(struct hs_gpint_walks *walks, const uint32_t *had, uint32_t n, uint32_t walk)
{
	const struct hs_gpint_walk *now = &walks->walks[walk];

	walks->round++;
	for (uint32_t i = 0; walk < walks->n && i < now->n; i++)
		walks->seen[now->at[i]] = walks->round;
	for (uint32_t i = 0; i < n; i++)
		if (walks->home[had[i]] == walk && walks->seen[had[i]] != walks->round &&
				walks->visits[had[i]])
			find_home(walks, had[i]);
}

int hs_gpint_walks_set(struct hs_gpint_walks *walks, uint32_t walk, const uint32_t *at, uint32_t n)
{
	struct hs_gpint_walk *changed = &walks->walks[walk], had = *changed;

	*changed = (struct hs_gpint_walk){0};
	if (reserve(changed, n) < 0) {
		*changed = had;
		return -ENOMEM;
	}
	put(changed, at, n);
	for (uint32_t i = 0; i < had.n; i++)
		walks->visits[had.at[i]]--;
	enter(walks, walk);
	find_homes(walks, had.at, had.n, walk);
	free(had.at);
	return 0;
}

void hs_gpint_walks_remove(struct hs_gpint_walks *walks, uint32_t walk)
{
	struct hs_gpint_walk had = walks->walks[walk];
	uint32_t last = walks->n - 1;

	leave(walks, walk);
	walks->walks[walk] = walks->walks[last];
	for (uint32_t i = 0; walk != last && i < walks->walks[walk].n; i++)
		walks->home[walks->walks[walk].at[i]] = walk;
	walks->n--;
	find_homes(walks, had.at, had.n, walk);
	free(had.at);
}

void hs_gpint_walks_reverse(struct hs_gpint_walks *walks, uint32_t walk)
{
	struct hs_gpint_walk *of = &walks->walks[walk];

	for (uint32_t i = 0; i < of->n / 2; i++) {
		uint32_t at = of->at[i];
		of->at[i] = of->at[of->n - 1 - i];
		of->at[of->n - 1 - i] = at;
	}
}

int hs_gpint_walks_divide(struct hs_gpint_walks *walks, uint32_t walk)
{
	struct hs_gpint_walk *of = &walks->walks[walk];
	uint32_t half = of->n / 2;

	if (hs_gpint_walks_add(walks, of->at + half, of->n - half) < 0)
		return -ENOMEM;
	for (uint32_t i = half; i < of->n; i++)
		walks->visits[of->at[i]]--;
	of->n = half;
	enter(walks, walk); // for the homes
	leave(walks, walk);
	return 0;
}

// ---- changes ----

static uint32_t length_of(const struct hs_gpint_piece *piece)
{
	return 1 + (piece->last < piece->first ? piece->first - piece->last
					       : piece->last - piece->first);
}

static int64_t square_after(const struct hs_gpint_change *change, unsigned side)
{
	int64_t n = 0;

	for (unsigned i = 0; i < change->n[side]; i++)
		n += length_of(&change->pieces[side][i]);
	return n * n;
}

int64_t hs_gpint_walks_gain(
		const struct hs_gpint_walks *walks, const struct hs_gpint_change *change)
{
	int64_t gain = 0;

	for (unsigned side = 0; side < 2 && change->n[side]; side++) {
		int64_t n = walks->walks[change->walks[side]].n;
		gain += n * n - square_after(change, side);
	}
	return gain;
}

static int reserve_made(struct hs_gpint_walks *walks, size_t n)
{
	if (n <= walks->made_room)
		return 0;
	for (unsigned side = 0; side < 2; side++) {
		uint32_t *made = realloc(walks->made[side], 2 * n * sizeof(*made));
		if (!made)
			return -ENOMEM;
		walks->made[side] = made;
	}
	walks->made_room = 2 * n;
	return 0;
}

static bool junctions_hold(const struct hs_gpint_walks *walks, const struct hs_gpint_change *change,
		unsigned side)
{
	const struct hs_gpint_piece *piece = change->pieces[side];

	for (unsigned i = 1; i < change->n[side]; i++) {
		uint32_t from = walks->walks[piece[i - 1].walk].at[piece[i - 1].last];
		uint32_t to = walks->walks[piece[i].walk].at[piece[i].first];
		if (!hs_gpint_net_find(walks->net, from, to))
			return false;
	}
	return true;
}

static uint32_t write_pieces(
		struct hs_gpint_walks *walks, const struct hs_gpint_change *change, unsigned side)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < change->n[side]; i++) {
		const struct hs_gpint_piece *piece = &change->pieces[side][i];
		const uint32_t *at = walks->walks[piece->walk].at;
		uint32_t length = length_of(piece);
		for (uint32_t k = 0; k < length; k++)
			walks->made[side][n++] = at[piece->last < piece->first ? piece->first - k
									       : piece->first + k];
	}
	return n;
}

// Returns whether each switch of the first walk of the change is still visited after the change.
static bool keeps_all(struct hs_gpint_walks *walks, const struct hs_gpint_change *change)
{
	const struct hs_gpint_walk *walk = &walks->walks[change->walks[0]];
	bool kept = true;

	for (uint32_t i = 0; i < walk->n; i++)
		walks->visits[walk->at[i]]--;
	uint32_t n = write_pieces(walks, change, 0);
	for (uint32_t i = 0; i < n; i++)
		walks->visits[walks->made[0][i]]++;
	for (uint32_t i = 0; i < walk->n; i++)
		kept = kept && walks->visits[walk->at[i]];
	for (uint32_t i = 0; i < n; i++)
		walks->visits[walks->made[0][i]]--;
	for (uint32_t i = 0; i < walk->n; i++)
		walks->visits[walk->at[i]]++;
	return kept;
}

int hs_gpint_walks_apply(struct hs_gpint_walks *walks, const struct hs_gpint_change *change)
{
	unsigned sides = change->n[1] ? 2 : 1;
	uint32_t n[2];

	for (unsigned side = 0; side < sides; side++) {
		if (!junctions_hold(walks, change, side))
			return 0;
		n[side] = 0;
		for (unsigned i = 0; i < change->n[side]; i++)
			n[side] += length_of(&change->pieces[side][i]);
		if (reserve_made(walks, n[side]) < 0)
			return -ENOMEM;
	}
	if (sides == 1 && !keeps_all(walks, change))
		return 0;
	for (unsigned side = 0; side < sides; side++) {
		write_pieces(walks, change, side);
		if (hs_gpint_walks_bytes(walks, walks->made[side], n[side]) > walks->max_bytes)
			return 0;
	}
	for (unsigned side = 0; side < sides; side++)
		if (hs_gpint_walks_set(walks, change->walks[side], walks->made[side], n[side]) < 0)
			return -ENOMEM;
	return 1;
}
