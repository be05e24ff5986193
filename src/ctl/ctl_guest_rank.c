// SPDX-License-Identifier: BSD-3-Clause
// Decides which rule that came in band makes room for another. Anybody who can send packets to a
// port can ask for rules, but a forged rule has no flow. So a rule is proven once packets of its
// flow were counted here that carried no request for it. A proven rule never gives way.
//
// A new rule replaces the newest rule that had its chance, so that an old rule with a silent flow
// stays as long as possible. If all rules are young, it replaces the one that had the longest
// chance.
#include "ctl_parts.h"

#define SECOND_NS     INT64_C(1000000000)
#define CHANCE_NS     SECOND_NS
#define FLOW_PACKETS  3 // a request on its way to control may be counted as a packet of the flow
#define CLOCK_BACK_NS (2 * SECOND_NS)

static bool is_proven(const struct hs_ctl *ctl, const struct guest *guest)
{
	struct hs_flow_counters counters;

	if (guest->rank == GUEST_PROVEN)
		return true;
	hs_flow_table_counters(ctl->flows, guest->slot, &counters);
	return counters.rx_packets >= guest->repeats + FLOW_PACKETS;
}

// Moves a rule to another rank.
static void set_rank(struct hs_ctl *ctl, struct guest *guest, enum guest_rank rank)
{
	TAILQ_REMOVE(&ctl->guest_ranks[guest->rank], guest, at_rank);
	guest->rank = (uint8_t)rank;
	TAILQ_INSERT_TAIL(&ctl->guest_ranks[rank], guest, at_rank);
}

static bool had_its_chance(const struct hs_ctl *ctl, const struct guest *guest)
{
	return ctl->now_ns - guest->installed_ns >= CHANCE_NS;
}

// Each rule moves at most twice, so that a flood costs the same for each request.
static void look_at_fresh(struct hs_ctl *ctl)
{
	struct guest *guest;

	while ((guest = TAILQ_FIRST(&ctl->guest_ranks[GUEST_FRESH])) && had_its_chance(ctl, guest))
		set_rank(ctl, guest, is_proven(ctl, guest) ? GUEST_PROVEN : GUEST_UNPROVEN);
}

struct guest *hs_ctl_guest_victim(struct hs_ctl *ctl)
{
	struct guest *guest;

	look_at_fresh(ctl);
	while ((guest = TAILQ_LAST(&ctl->guest_ranks[GUEST_UNPROVEN], guest_list))) {
		if (!is_proven(ctl, guest))
			return guest;
		set_rank(ctl, guest, GUEST_PROVEN);
	}
	while ((guest = TAILQ_FIRST(&ctl->guest_ranks[GUEST_FRESH]))) {
		if (!is_proven(ctl, guest))
			return guest;
		set_rank(ctl, guest, GUEST_PROVEN);
	}
	return NULL;
}

// A whole second's number may come at once.
bool hs_ctl_guest_admits(struct hs_ctl *ctl, uint16_t port)
{
	int64_t *due_ns = &ctl->guest_due_ns[port];

	if (*due_ns < ctl->now_ns || *due_ns - ctl->now_ns > CLOCK_BACK_NS)
		*due_ns = ctl->now_ns;
	if (*due_ns - ctl->now_ns >= SECOND_NS)
		return false;
	*due_ns += SECOND_NS / ctl->in_band.new_rules_per_s;
	return true;
}
