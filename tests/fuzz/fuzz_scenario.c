// SPDX-License-Identifier: BSD-3-Clause
// A scenario of any bytes is either refused with a code and a message, with nothing left behind, or
// complete: every index in it is valid.
#include "fuzz.h"

#include "scenario_read.h"

static void check_traffic(const struct hs_scenario *s)
{
	for (size_t i = 0; i < s->n_traffic; i++) {
		const struct hs_scenario_traffic *t = &s->traffic[i];
		HOLDS(t->from < s->n_hosts && t->to < s->n_hosts && t->from != t->to);
		HOLDS(t->start_ns >= 0 && t->start_ns <= t->stop_ns);
		HOLDS(t->stop_ns <= s->duration_ns);
	}
	for (size_t i = 0; i < s->n_flows; i++)
		HOLDS(s->flows[i].ns_id && (s->flows[i].traffic < s->n_traffic ||
							   s->flows[i].traffic == HS_NO_INDEX));
}

static void check_events(const struct hs_scenario *s)
{
	for (size_t i = 0; i < s->n_events; i++) {
		const struct hs_scenario_event *e = &s->events[i];
		HOLDS(e->at_ns >= 0 && e->at_ns <= s->duration_ns && e->every_ns >= 0);
		HOLDS((e->kind == HS_LAB_EVENT_LINK) == (e->link < s->n_links));
		HOLDS((e->kind == HS_LAB_EVENT_TRAFFIC) == (e->traffic < s->n_traffic));
		HOLDS(e->kind != HS_LAB_EVENT_RESTART || e->node < s->n_nodes);
		HOLDS((e->kind == HS_LAB_EVENT_REQUEST) == !!e->request);
	}
}

static void check(const struct hs_scenario *s)
{
	struct hs_error err;
	for (size_t i = 0; i < s->n_links; i++) {
		HOLDS(s->links[i].from < s->n_nodes && s->links[i].to < s->n_nodes);
		HOLDS(!hs_link_check(&s->links[i].directions[0], &err));
		HOLDS(!hs_link_check(&s->links[i].directions[1], &err));
	}
	for (size_t i = 0; i < s->n_hosts; i++)
		HOLDS(s->hosts[i].at < s->n_nodes);
	check_traffic(s);
	check_events(s);
	for (size_t i = 0; i < s->n_expects; i++)
		HOLDS(s->expects[i].flow < s->n_flows || s->expects[i].flow == HS_NO_INDEX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_scenario scenario;
	struct hs_error err = {0};

	if (hs_scenario_parse((const char *)data, size, "/nonexistent", NULL, &scenario, &err)) {
		HOLDS(err.code[0] && err.message[0]);
		return 0;
	}
	check(&scenario);
	hs_scenario_fini(&scenario);
	return 0;
}
