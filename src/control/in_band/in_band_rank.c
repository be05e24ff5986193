// SPDX-License-Identifier: BSD-3-Clause
// Decides which rule that came in band makes room for another. Anybody who can send packets to a
// port can ask for rules, but a forged rule has no flow. So a rule is proven once packets of its
// flow were counted here that carried no request for it. A proven rule never gives way.
//
// A new rule replaces the newest rule that had its chance, so that an old rule with a silent flow
// stays as long as possible. If all rules are young, it replaces the one that had the longest
// chance.
#include "in_band_rank.h"

#define SECOND_NS     INT64_C(1000000000)
#define CHANCE_NS     SECOND_NS
#define FLOW_PACKETS  3 // a request on its way to control may be counted as a packet of the flow
#define CLOCK_BACK_NS (2 * SECOND_NS)

void hs_in_band_rank_init(struct in_band_ranks *ranks, const struct in_band_base *base)
{
	*ranks = (struct in_band_ranks){.base = base};
	for (unsigned rank = 0; rank < LEARNED_RANKS; rank++)
		TAILQ_INIT(&ranks->rules[rank]);
}

void hs_in_band_rank_add(
		struct in_band_ranks *ranks, struct learned *learned, enum learned_rank rank)
{
	learned->rank = (uint8_t)rank;
	TAILQ_INSERT_TAIL(&ranks->rules[rank], learned, at_rank);
}

void hs_in_band_rank_remove(struct in_band_ranks *ranks, struct learned *learned)
{
	TAILQ_REMOVE(&ranks->rules[learned->rank], learned, at_rank);
}

static bool is_proven(const struct in_band_ranks *ranks, const struct learned *learned)
{
	struct hs_flow_counters counters;

	if (learned->rank == LEARNED_PROVEN)
		return true;
	hs_flow_table_counters(ranks->base->flows, learned->slot, &counters);
	return counters.rx_packets >= learned->repeats + FLOW_PACKETS;
}

// Moves a rule to another rank.
static void set_rank(struct in_band_ranks *ranks, struct learned *learned, enum learned_rank rank)
{
	hs_in_band_rank_remove(ranks, learned);
	hs_in_band_rank_add(ranks, learned, rank);
}

static bool had_its_chance(const struct in_band_ranks *ranks, const struct learned *learned)
{
	return hs_in_band_now(ranks->base) - learned->installed_ns >= CHANCE_NS;
}

// Ranks the fresh rules that are old enough. Each rule moves at most twice, so that each request of
// a flood costs the same.
static void look_at_fresh(struct in_band_ranks *ranks)
{
	struct learned *learned;

	while ((learned = TAILQ_FIRST(&ranks->rules[LEARNED_FRESH])) &&
			had_its_chance(ranks, learned))
		set_rank(ranks, learned,
				is_proven(ranks, learned) ? LEARNED_PROVEN : LEARNED_UNPROVEN);
}

struct learned *hs_in_band_rank_victim(struct in_band_ranks *ranks)
{
	struct learned *learned;

	look_at_fresh(ranks);
	while ((learned = TAILQ_LAST(&ranks->rules[LEARNED_UNPROVEN], learned_list))) {
		if (!is_proven(ranks, learned))
			return learned;
		set_rank(ranks, learned, LEARNED_PROVEN);
	}
	while ((learned = TAILQ_FIRST(&ranks->rules[LEARNED_FRESH]))) {
		if (!is_proven(ranks, learned))
			return learned;
		set_rank(ranks, learned, LEARNED_PROVEN);
	}
	return NULL;
}

// Limits the new rules of a port. The number of a whole second may come at once.
bool hs_in_band_rank_admits(struct in_band_ranks *ranks, uint16_t port)
{
	int64_t *due_ns = &ranks->due_ns[port];

	if (*due_ns < hs_in_band_now(ranks->base) ||
			*due_ns - hs_in_band_now(ranks->base) > CLOCK_BACK_NS)
		*due_ns = hs_in_band_now(ranks->base);
	if (*due_ns - hs_in_band_now(ranks->base) >= SECOND_NS)
		return false;
	*due_ns += SECOND_NS / ranks->base->settings.new_rules_per_s;
	return true;
}
