// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_damping.h"

#include "gpint_prober.h"

#include <errno.h>
#include <stdlib.h>

#define MINUTE_NS INT64_C(60000000000)

int hs_gpint_damping_init(struct hs_gpint_damping *health,
		const struct hs_gpint_damping_config *config, size_t n_links)
{
	*health = (struct hs_gpint_damping){.config = *config, .n_links = n_links};
	health->links = calloc(n_links + 1, sizeof(*health->links));
	return health->links ? 0 : -ENOMEM;
}

void hs_gpint_damping_fini(struct hs_gpint_damping *health)
{
	free(health->links);
	health->links = NULL;
}

static void count(struct hs_gpint_damping_link *link, int64_t now_ns, enum hs_gpint_state state)
{
	link->changed = false;
	if (state < HS_GPINT_AVAILABLE)
		return;
	if (state == HS_GPINT_AVAILABLE) {
		if (!link->good)
			link->good_ns = now_ns;
		link->good = true;
		link->bad = link->dead = 0;
		return;
	}
	link->good = false;
	link->bad++;
	link->dead = state == HS_GPINT_UNAVAILABLE ? link->dead + 1 : 0;
}

// Returns the use of a link. A link that was congested and becomes unavailable is avoided; it does
// not become spare again before it is used, so that one trouble does not change the use many times.
static enum hs_gpint_use use_of(const struct hs_gpint_damping *health,
		const struct hs_gpint_damping_link *link, int64_t now_ns)
{
	if (link->use != HS_GPINT_USED && link->good && now_ns - link->good_ns >= link->hold_ns)
		return HS_GPINT_USED;
	if (link->dead >= health->config.bad_sessions)
		return HS_GPINT_AVOIDED;
	if (link->use == HS_GPINT_USED && link->bad >= health->config.bad_sessions)
		return HS_GPINT_SPARE;
	return link->use;
}

// Returns whether a session may change something: at most config.changes do within any minute.
static bool may_change(const struct hs_gpint_damping *health, int64_t now_ns)
{
	uint32_t most = health->config.changes;

	return health->changes < most ||
	       now_ns - health->changed_ns[(health->changes - most) % HS_GPINT_DAMPING_CHANGES] >=
			       MINUTE_NS;
}

static int64_t hold_of(const struct hs_gpint_damping *health,
		const struct hs_gpint_damping_link *link, int64_t now_ns)
{
	int64_t most_ns = health->config.max_hold_ns;

	if (!link->came_back || now_ns - link->back_ns >= most_ns)
		return health->config.hold_ns;
	return link->hold_ns < most_ns / 2 ? 2 * link->hold_ns : most_ns;
}

static void change(const struct hs_gpint_damping *health, struct hs_gpint_damping_link *link,
		int64_t now_ns, enum hs_gpint_use use)
{
	if (use == HS_GPINT_USED) {
		link->came_back = true;
		link->back_ns = now_ns;
	} else if (link->use == HS_GPINT_USED) {
		link->hold_ns = hold_of(health, link, now_ns);
	}
	link->use = (uint8_t)use;
	link->changed = true;
}

size_t hs_gpint_damping_take(struct hs_gpint_damping *health, int64_t now_ns, const uint8_t *states)
{
	size_t wanted = 0;

	for (size_t i = 0; i < health->n_links; i++) {
		struct hs_gpint_damping_link *link = &health->links[i];
		count(link, now_ns, states[i]);
		wanted += use_of(health, link, now_ns) != link->use;
	}
	if (!wanted)
		return 0;
	if (!may_change(health, now_ns)) {
		health->held++;
		return 0;
	}
	health->changed_ns[health->changes++ % HS_GPINT_DAMPING_CHANGES] = now_ns;
	for (size_t i = 0; i < health->n_links; i++) {
		struct hs_gpint_damping_link *link = &health->links[i];
		enum hs_gpint_use use = use_of(health, link, now_ns);
		if (use != link->use)
			change(health, link, now_ns, use);
	}
	return wanted;
}
