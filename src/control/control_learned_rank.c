// SPDX-License-Identifier: BSD-3-Clause
// Decides which rule that came in band makes room for another. Anybody who can send packets to a
// port can ask for rules, but a forged rule has no flow. So a rule is proven once packets of its
// flow were counted here that carried no request for it. A proven rule never gives way.
//
// A new rule replaces the newest rule that had its chance, so that an old rule with a silent flow
// stays as long as possible. If all rules are young, it replaces the one that had the longest
// chance.
#include "control_parts.h"

#define SECOND_NS     INT64_C(1000000000)
#define CHANCE_NS     SECOND_NS
#define FLOW_PACKETS  3 // a request on its way to control may be counted as a packet of the flow
#define CLOCK_BACK_NS (2 * SECOND_NS)

static bool is_proven(const struct hs_control *control, const struct learned *learned)
{
	struct hs_flow_counters counters;

	if (learned->rank == LEARNED_PROVEN)
		return true;
	hs_flow_table_counters(control->flows, learned->slot, &counters);
	return counters.rx_packets >= learned->repeats + FLOW_PACKETS;
}

// Moves a rule to another rank.
static void set_rank(struct hs_control *control, struct learned *learned, enum learned_rank rank)
{
	TAILQ_REMOVE(&control->learned_ranks[learned->rank], learned, at_rank);
	learned->rank = (uint8_t)rank;
	TAILQ_INSERT_TAIL(&control->learned_ranks[rank], learned, at_rank);
}

static bool had_its_chance(const struct hs_control *control, const struct learned *learned)
{
	return control->now_ns - learned->installed_ns >= CHANCE_NS;
}

// Each rule moves at most twice, so that a flood costs the same for each request.
static void look_at_fresh(struct hs_control *control)
{
	struct learned *learned;

	while ((learned = TAILQ_FIRST(&control->learned_ranks[LEARNED_FRESH])) &&
			had_its_chance(control, learned))
		set_rank(control, learned,
				is_proven(control, learned) ? LEARNED_PROVEN : LEARNED_UNPROVEN);
}

struct learned *hs_control_learned_victim(struct hs_control *control)
{
	struct learned *learned;

	look_at_fresh(control);
	while ((learned = TAILQ_LAST(&control->learned_ranks[LEARNED_UNPROVEN], learned_list))) {
		if (!is_proven(control, learned))
			return learned;
		set_rank(control, learned, LEARNED_PROVEN);
	}
	while ((learned = TAILQ_FIRST(&control->learned_ranks[LEARNED_FRESH]))) {
		if (!is_proven(control, learned))
			return learned;
		set_rank(control, learned, LEARNED_PROVEN);
	}
	return NULL;
}

// A whole second's number may come at once.
bool hs_control_learned_admits(struct hs_control *control, uint16_t port)
{
	int64_t *due_ns = &control->learned_due_ns[port];

	if (*due_ns < control->now_ns || *due_ns - control->now_ns > CLOCK_BACK_NS)
		*due_ns = control->now_ns;
	if (*due_ns - control->now_ns >= SECOND_NS)
		return false;
	*due_ns += SECOND_NS / control->in_band.new_rules_per_s;
	return true;
}
