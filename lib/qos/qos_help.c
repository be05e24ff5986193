// SPDX-License-Identifier: BSD-3-Clause
#include "qos_help.h"

#include "qos_absorb.h"
#include "qos_offer.h"
#include "qos_parts.h"

#define FLOWS 2 // at a time: the memory of one is fetched while the other one is added up

void hs_qos_want_help(struct hs_qos *qos, bool wanted)
{
	qos->offers.wanted = wanted && qos->config.help;
}

// Adds up the reports of a flow that was taken. The owner adds up those that found no memory.
static uint32_t add_up(struct hs_qos_flow *flow)
{
	struct hs_qos_step scratch, *owners = flow->last_step;
	uint32_t n = flow->ring.ahead;
	flow->last_step = &scratch;
	hs_qos_absorb_ahead(flow);
	flow->last_step = owners;
	n -= flow->ring.ahead;
	hs_qos_offer_done(flow);
	return n;
}

uint32_t hs_qos_help(struct hs_qos *qos)
{
	struct hs_qos_flow *flows[FLOWS];
	unsigned taken = 0;
	uint32_t n = 0;
	while (taken < FLOWS && (flows[taken] = hs_qos_offers_take(&qos->offers)))
		hs_qos_absorb_expect(flows[taken++]);
	for (unsigned i = 0; i < taken; i++)
		n += add_up(flows[i]);
	return n;
}
