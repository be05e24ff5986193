// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_exchange.h"

#include "variate.h"

#include <errno.h>
#include <stdlib.h>

// The exchange ends after so many rounds in a row without a gain, or after fewer if rounds
// are long.
#define PATIENCE      300
#define PATIENCE_ARCS 2000000
#define SEGMENT	      3 // the longest that is put between two switches

// A place i of walk `a` and a place p of walk `b` whose switches are neighbours.
struct meeting {
	struct hs_gpint_walks *walks;
	struct hs_rng *rng;
	uint32_t a, i, n_a;
	uint32_t b, p, n_b;
	int64_t gained; // the sum of all gains
};

// Adds a piece to a side of the change, unless the piece is empty: `last` is below `first`.
static void add(struct hs_gpint_change *change, unsigned side, uint32_t walk, int64_t first,
		int64_t last, bool backwards)
{
	if (last < first)
		return;
	change->pieces[side][change->n[side]++] = (struct hs_gpint_piece){walk,
			(uint32_t)(backwards ? last : first), (uint32_t)(backwards ? first : last)};
}

// Makes a change that has no loss. Returns 1 if it was made, 0 or -ENOMEM.
static int propose(struct meeting *of, const struct hs_gpint_change *change, bool both)
{
	int64_t gain = hs_gpint_walks_gain(of->walks, change);

	if (gain < 0 || (both && !change->n[1]))
		return 0;
	int rc = hs_gpint_walks_apply(of->walks, change);
	if (rc > 0)
		of->gained += gain;
	return rc;
}

// Divides each walk into two parts, and joins one part of each by the link between i and p; the
// other parts become the other walk. `a_front` takes the part of `a` that ends at i, otherwise the
// part that begins there. If i is an end of `a`, an end point or an end segment of `b` goes to `a`.
static int exchange_ends(struct meeting *of, bool a_front, bool b_front)
{
	struct hs_gpint_change change = {.walks = {of->a, of->b}};
	int64_t i = of->i, p = of->p, n_a = of->n_a, n_b = of->n_b;

	add(&change, 0, of->a, a_front ? 0 : i, a_front ? i : n_a - 1, !a_front);
	add(&change, 0, of->b, b_front ? 0 : p, b_front ? p : n_b - 1, b_front);
	add(&change, 1, of->b, b_front ? p + 1 : 0, b_front ? n_b - 1 : p - 1, b_front);
	add(&change, 1, of->a, a_front ? i + 1 : 0, a_front ? n_a - 1 : i - 1, !a_front);
	return propose(of, &change, true);
}

// Puts a segment of `b`, which begins or ends at p, behind or before i.
static int move_segment(struct meeting *of, uint32_t length, bool up, bool behind)
{
	struct hs_gpint_change change = {.walks = {of->a, of->b}};
	int64_t first = up ? of->p : (int64_t)of->p + 1 - length, last = first + length - 1;

	if (first < 0 || last >= of->n_b)
		return 0;
	// The switch at p stands beside the switch at i.
	add(&change, 0, of->a, 0, behind ? of->i : (int64_t)of->i - 1, false);
	add(&change, 0, of->b, first, last, behind != up);
	add(&change, 0, of->a, behind ? (int64_t)of->i + 1 : of->i, (int64_t)of->n_a - 1, false);
	add(&change, 1, of->b, 0, first - 1, false);
	add(&change, 1, of->b, last + 1, (int64_t)of->n_b - 1, false);
	return propose(of, &change, true);
}

// Makes `a` go from i to p and back, so that `a` visits i twice and `b` does not have to visit p.
static int move_detour(struct meeting *of)
{
	struct hs_gpint_change change = {.walks = {of->a, of->b}};

	add(&change, 0, of->a, 0, of->i, false);
	add(&change, 0, of->b, of->p, of->p, false);
	add(&change, 0, of->a, of->i, (int64_t)of->n_a - 1, false);
	add(&change, 1, of->b, 0, (int64_t)of->p - 1, false);
	add(&change, 1, of->b, (int64_t)of->p + 1, (int64_t)of->n_b - 1, false);
	return propose(of, &change, true);
}

static uint32_t place_of(const struct hs_gpint_walks *walks, uint32_t walk, uint32_t at)
{
	uint32_t i = 0;

	while (walks->walks[walk].at[i] != at)
		i++;
	return i;
}

// Makes `a` overlap with `b`: `a` goes over the switch at p, which also stays in `b`, and takes an
// end point of a third walk behind that switch.
static int cross(struct meeting *of)
{
	const struct hs_gpint_net *net = of->walks->net;
	uint32_t over = of->walks->walks[of->b].at[of->p];
	bool behind = of->i == of->n_a - 1;
	int rc = 0;

	for (uint32_t k = net->begins[over]; rc == 0 && k < net->begins[over + 1]; k++) {
		uint32_t to = net->arcs[k].to, walk = of->walks->home[to];
		uint32_t n = of->walks->walks[walk].n, p = place_of(of->walks, walk, to);
		struct hs_gpint_change change = {.walks = {of->a, walk}};
		if (walk == of->a || (p != 0 && p != n - 1))
			continue;
		add(&change, 0, of->a, 0, (int64_t)of->n_a - 1, !behind);
		add(&change, 0, of->b, of->p, of->p, false);
		add(&change, 0, walk, p, p, false);
		add(&change, 1, walk, p == 0, (int64_t)n - 1 - (p != 0), false);
		rc = propose(of, &change, true);
	}
	return rc;
}

static int exchange(struct meeting *of)
{
	int rc = 0;

	for (unsigned k = 0; k < 4 && rc == 0; k++)
		rc = exchange_ends(of, k & 1, k & 2);
	for (unsigned k = 0; k < 4 * SEGMENT && rc == 0; k++)
		rc = move_segment(of, 1 + k / 4, k & 1, k & 2);
	if (rc == 0)
		rc = move_detour(of);
	if (rc == 0 && (of->i == 0 || of->i == of->n_a - 1))
		rc = cross(of);
	return rc;
}

// ---- one walk ----

// Reverses the part of the walk behind p, if the end of the walk is a neighbour of p: the walk then
// ends elsewhere.
static int turn(struct meeting *of)
{
	struct hs_gpint_change change = {.walks = {of->a}};

	if (of->i != of->n_a - 1 || of->p + 2 >= of->n_a)
		return 0;
	add(&change, 0, of->a, 0, of->p, false);
	add(&change, 0, of->a, (int64_t)of->p + 1, of->i, true);
	return propose(of, &change, false);
}

// Leaves out up to SEGMENT switches in a row that other visits cover, at an end or inside the walk.
static int shorten(struct meeting *of)
{
	const struct hs_gpint_walk *walk = &of->walks->walks[of->a];
	int rc = 0;

	for (uint32_t i = 0; i < walk->n && rc == 0; i++) {
		if (of->walks->visits[walk->at[i]] < 2)
			continue;
		for (uint32_t n = 1; n <= SEGMENT && i + n <= walk->n && rc == 0; n++) {
			struct hs_gpint_change change = {.walks = {of->a}};
			add(&change, 0, of->a, 0, (int64_t)i - 1, false);
			add(&change, 0, of->a, i + n, (int64_t)walk->n - 1, false);
			rc = change.n[0] ? propose(of, &change, false) : 0;
		}
	}
	return rc;
}

// ---- rounds ----

// Tries exchanges with all neighbours of a walk's switches, from a random one on, until one is
// made.
static int try_walk(struct meeting *of, uint32_t walk)
{
	struct hs_gpint_walks *walks = of->walks;
	const struct hs_gpint_net *net = walks->net;
	int rc;

	of->a = walk;
	of->n_a = walks->walks[walk].n;
	rc = shorten(of);
	uint32_t start = (uint32_t)hs_variate_below(of->rng, of->n_a);
	for (uint32_t i = 0; i < of->n_a && rc == 0; i++) {
		of->i = (start + i) % of->n_a;
		uint32_t at = walks->walks[walk].at[of->i];
		for (uint32_t k = net->begins[at]; k < net->begins[at + 1] && rc == 0; k++) {
			of->b = walks->home[net->arcs[k].to];
			of->n_b = walks->walks[of->b].n;
			of->p = place_of(walks, of->b, net->arcs[k].to);
			rc = of->b == walk ? turn(of) : exchange(of);
		}
	}
	return rc;
}

// Returns whether all walks are as short and as equal in length as possible.
static bool is_best(const struct hs_gpint_walks *walks)
{
	uint32_t low = walks->net->n / walks->n, high = low + (walks->net->n % walks->n != 0);
	uint64_t sum = 0;

	for (uint32_t w = 0; w < walks->n; w++) {
		if (walks->walks[w].n < low || walks->walks[w].n > high)
			return false;
		sum += walks->walks[w].n;
	}
	return sum == walks->net->n;
}

int hs_gpint_exchange(struct hs_gpint_walks *walks, struct hs_rng *rng)
{
	struct meeting of = {.walks = walks, .rng = rng};

	uint32_t arcs = walks->net->begins[walks->net->n];
	uint32_t patience = arcs > PATIENCE_ARCS / PATIENCE ? PATIENCE_ARCS / arcs : PATIENCE;

	for (uint32_t idle = 0; idle < patience && !is_best(walks); idle++) {
		int64_t gained = of.gained;
		for (uint32_t n = 0; n < walks->n; n++)
			if (try_walk(&of, (uint32_t)hs_variate_below(rng, walks->n)) < 0)
				return -ENOMEM;
		if (of.gained != gained)
			idle = 0;
	}
	return 0;
}
