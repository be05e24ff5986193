// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_form.h"

#include "variate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEW 20 // at most one walk in so many counts as few

// The memory of the forming phase. Arrays have a place for each switch.
struct form {
	struct hs_gpint_walks *walks;
	uint32_t *order; // of switches: few neighbours first
	uint32_t *rank;	 // of a switch in this order
	uint32_t *at;	 // the walk that grows from the middle of twice the room
	uint32_t *before, *hops, *queue;
	bool *stuck; // walks that no other can be joined with
};

static int init(struct form *form, struct hs_gpint_walks *walks)
{
	size_t n = walks->net->n;
	uint32_t *room = malloc((7 * n + 2) * sizeof(*room));

	*form = (struct form){.walks = walks, .order = room};
	form->stuck = calloc(n, sizeof(*form->stuck));
	if (!room || !form->stuck)
		return -ENOMEM;
	form->rank = room + n;
	form->before = room + 2 * n;
	form->hops = room + 3 * n;
	form->queue = room + 4 * n;
	form->at = room + 5 * n;
	return 0;
}

// ---- walks over switches that no walk has ----

// Orders the switches by degree. Goes through shuffled switches once for each degree, so that
// switches of equal degree are in random order.
static void make_order(struct form *form, struct hs_rng *rng)
{
	const struct hs_gpint_net *net = form->walks->net;
	uint32_t *shuffled = form->queue, n = 0;

	for (uint32_t i = 0; i < net->n; i++) {
		uint32_t k = (uint32_t)hs_variate_below(rng, i + 1);
		shuffled[i] = shuffled[k];
		shuffled[k] = i;
	}
	for (uint32_t degree = 0; n < net->n; degree++)
		for (uint32_t i = 0; i < net->n; i++)
			if (hs_gpint_net_degree(net, shuffled[i]) == degree) {
				form->rank[shuffled[i]] = n;
				form->order[n++] = shuffled[i];
			}
}

static uint32_t count_free(const struct form *form, uint32_t at)
{
	const struct hs_gpint_net *net = form->walks->net;
	uint32_t n = 0;

	for (uint32_t a = net->begins[at]; a < net->begins[at + 1]; a++)
		n += !form->walks->visits[net->arcs[a].to];
	return n;
}

// Returns the neighbour that no walk has and that itself has the fewest such neighbours, because it
// is hardest to reach later.
static uint32_t choose_next(const struct form *form, uint32_t at)
{
	const struct hs_gpint_net *net = form->walks->net;
	uint32_t best = HS_GPINT_NONE, best_free = 0;

	for (uint32_t a = net->begins[at]; a < net->begins[at + 1]; a++) {
		uint32_t to = net->arcs[a].to;
		if (form->walks->visits[to])
			continue;
		uint32_t n = count_free(form, to);
		if (best == HS_GPINT_NONE || n < best_free ||
				(n == best_free && form->rank[to] < form->rank[best])) {
			best = to;
			best_free = n;
		}
	}
	return best;
}

// Grows a walk at its end, then at its beginning.
static int grow(struct form *form, uint32_t start, uint32_t most)
{
	struct hs_gpint_walks *walks = form->walks;
	uint32_t first = walks->net->n, last = first; // inclusive
	bool at_end = true;

	form->at[first] = start;
	walks->visits[start]++; // while it grows
	while (last - first + 1 < most) {
		uint32_t next = choose_next(form, form->at[at_end ? last : first]);
		uint32_t *place = &form->at[at_end ? last + 1 : first - 1];
		if (next != HS_GPINT_NONE) {
			*place = next;
			uint32_t *begin = at_end ? form->at + first : place;
			if (hs_gpint_walks_bytes(walks, begin, last - first + 2) > walks->max_bytes)
				break;
			walks->visits[next]++;
			first -= !at_end;
			last += at_end;
		} else if (at_end) {
			at_end = false;
		} else {
			break;
		}
	}
	for (uint32_t i = first; i <= last; i++)
		walks->visits[form->at[i]]--;
	return hs_gpint_walks_add(walks, form->at + first, last - first + 1);
}

// ---- fewer walks ----

struct join {
	uint32_t other; // walk
	uint32_t n;	// switches of both and of the way between them
	bool from_start, to_start;
};

// Joins two walks by the shortest way, which was computed from an end of the first walk.
static int try_join(struct form *form, uint32_t walk, const struct join *join)
{
	struct hs_gpint_walks *walks = form->walks;
	struct hs_gpint_walk *a = &walks->walks[walk], *b = &walks->walks[join->other];
	uint32_t *at = malloc(join->n * sizeof(*at)), n = a->n;

	if (!at)
		return -ENOMEM;
	if (join->from_start)
		hs_gpint_walks_reverse(walks, walk);
	if (!join->to_start)
		hs_gpint_walks_reverse(walks, join->other);
	memcpy(at, a->at, a->n * sizeof(*at));
	n += form->hops[b->at[0]] - 1;
	for (uint32_t i = n, way = form->before[b->at[0]]; i > a->n; i--, way = form->before[way])
		at[i - 1] = way;
	memcpy(at + n, b->at, b->n * sizeof(*at));
	int rc = hs_gpint_walks_bytes(walks, at, join->n) <= walks->max_bytes;
	if (rc && hs_gpint_walks_set(walks, walk, at, join->n) < 0)
		rc = -ENOMEM;
	if (rc > 0)
		hs_gpint_walks_remove(walks, join->other);
	free(at);
	return rc;
}

// Finds the walk that makes the shortest walk together with this one, by an end of this walk. No
// two walks end at the same switch.
static void compare_joins(
		const struct form *form, uint32_t walk, bool from_start, struct join *best)
{
	const struct hs_gpint_walks *walks = form->walks;

	for (uint32_t w = 0; w < walks->n; w++) {
		const struct hs_gpint_walk *other = &walks->walks[w];
		for (unsigned end = 0; w != walk && end < 2; end++) {
			uint32_t to = other->at[end ? other->n - 1 : 0];
			uint32_t n = walks->walks[walk].n + other->n + form->hops[to] - 1;
			if (form->hops[to] && (best->other == HS_GPINT_NONE || n < best->n))
				*best = (struct join){w, n, from_start, end == 0};
		}
	}
}

static void find_ways(struct form *form, uint32_t walk, bool from_start)
{
	const struct hs_gpint_walk *of = &form->walks->walks[walk];

	hs_gpint_net_ways(form->walks->net, of->at[from_start ? 0 : of->n - 1], form->before,
			form->hops, form->queue);
}

static int join_nearest(struct form *form, uint32_t walk)
{
	struct join best = {.other = HS_GPINT_NONE};

	for (unsigned start = 0; start < 2; start++) {
		find_ways(form, walk, start);
		compare_joins(form, walk, start, &best);
	}
	if (best.other == HS_GPINT_NONE)
		return 0;
	find_ways(form, walk, best.from_start);
	return try_join(form, walk, &best);
}

static uint32_t shortest(const struct form *form)
{
	const struct hs_gpint_walks *walks = form->walks;
	uint32_t best = HS_GPINT_NONE;

	for (uint32_t w = 0; w < walks->n; w++)
		if (!form->stuck[walks->walks[w].at[0]] &&
				(best == HS_GPINT_NONE || walks->walks[w].n < walks->walks[best].n))
			best = w;
	return best;
}

// Joins the shortest walk with the nearest one until at most n_walks are left. A walk that cannot
// be joined is marked by its first switch.
static int join_walks(struct form *form, uint32_t n_walks)
{
	int rc = 0;

	while (rc >= 0 && form->walks->n > n_walks) {
		uint32_t walk = shortest(form);
		if (walk == HS_GPINT_NONE)
			return 0;
		uint32_t first = form->walks->walks[walk].at[0];
		rc = join_nearest(form, walk);
		if (rc == 0)
			form->stuck[first] = true;
	}
	return rc < 0 ? rc : 0;
}

static uint32_t longest(const struct hs_gpint_walks *walks)
{
	uint32_t best = 0;

	for (uint32_t w = 1; w < walks->n; w++)
		if (walks->walks[w].n > walks->walks[best].n)
			best = w;
	return best;
}

int hs_gpint_form(struct hs_gpint_walks *walks, uint32_t n_walks, struct hs_rng *rng)
{
	uint32_t n = walks->net->n, most = (n + n_walks - 1) / n_walks;
	struct form form;
	int rc = init(&form, walks);

	if (rc == 0)
		make_order(&form, rng);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		if (!walks->visits[form.order[i]])
			rc = grow(&form, form.order[i], most);
	if (rc == 0)
		rc = join_walks(&form, n_walks);
	while (rc == 0 && walks->n < n_walks)
		rc = hs_gpint_walks_divide(walks, longest(walks));
	free(form.order);
	free(form.stuck);
	return rc;
}

// ---- balance ----

// Lengthens the walk by the least visited neighbour of its ends. Neighbours that the walk does not
// visit come first.
static int lengthen(struct hs_gpint_walks *walks, uint32_t walk)
{
	const struct hs_gpint_net *net = walks->net;
	struct hs_gpint_walk *of = &walks->walks[walk];
	uint32_t best = HS_GPINT_NONE, best_visits = UINT32_MAX;
	bool at_start = false;

	for (unsigned end = 0; end < 2; end++) {
		uint32_t from = of->at[end ? 0 : of->n - 1];
		for (uint32_t a = net->begins[from]; a < net->begins[from + 1]; a++) {
			uint32_t to = net->arcs[a].to, visits = walks->visits[to];
			for (uint32_t i = 0; i < of->n; i++)
				visits += of->at[i] == to ? net->n : 0;
			if (visits < best_visits) {
				best = to;
				best_visits = visits;
				at_start = end;
			}
		}
	}
	uint32_t *at = malloc((of->n + 1) * sizeof(*at));
	if (!at)
		return -ENOMEM;
	if (at_start)
		hs_gpint_walks_reverse(walks, walk);
	memcpy(at, of->at, of->n * sizeof(*at));
	at[of->n] = best;
	int rc = hs_gpint_walks_bytes(walks, at, of->n + 1) <= walks->max_bytes;
	if (rc && hs_gpint_walks_set(walks, walk, at, of->n + 1) < 0)
		rc = -ENOMEM;
	free(at);
	return rc;
}

// Lengthens the shortest walk that can be lengthened. Returns 1, 0 if there is none, or -ENOMEM.
static int lengthen_one(struct hs_gpint_walks *walks, uint32_t max_hops)
{
	for (uint32_t n = 1; n < max_hops; n++)
		for (uint32_t w = 0; w < walks->n; w++) {
			int rc = walks->walks[w].n == n ? lengthen(walks, w) : 0;
			if (rc)
				return rc;
		}
	return 0;
}

// Gives each switch its own walk. This is the last resort.
static int separate(struct hs_gpint_walks *walks)
{
	int rc = 0;

	while (walks->n)
		hs_gpint_walks_remove(walks, walks->n - 1);
	for (uint32_t at = 0; at < walks->net->n && rc == 0; at++)
		rc = hs_gpint_walks_add(walks, &at, 1);
	return rc;
}

static uint32_t count_longest(const struct hs_gpint_walks *walks, uint32_t max_hops)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < walks->n; w++)
		n += walks->walks[w].n == max_hops;
	return n;
}

// Divides a longest walk if few walks are so long, and fewer than the switches that the other walks
// lack. Otherwise lengthens a walk, or divides one if none can be lengthened.
static int balance_step(struct hs_gpint_walks *walks, uint32_t max_hops, uint64_t lacking)
{
	uint32_t n = count_longest(walks, max_hops);
	int rc = n * FEW <= walks->n && n < lacking ? 0 : lengthen_one(walks, max_hops);

	if (rc)
		return rc;
	return walks->n < walks->net->n ? hs_gpint_walks_divide(walks, longest(walks))
					: separate(walks);
}

int hs_gpint_balance(struct hs_gpint_walks *walks)
{
	int rc = 0;

	while (rc >= 0) {
		uint32_t max_hops = walks->walks[longest(walks)].n;
		uint64_t sum = 0, wanted = UINT64_C(4) * max_hops * walks->n;
		for (uint32_t w = 0; w < walks->n; w++)
			sum += walks->walks[w].n;
		if (wanted <= 5 * sum)
			return 0;
		rc = balance_step(walks, max_hops, (wanted - 5 * sum + 4) / 5);
	}
	return rc;
}
