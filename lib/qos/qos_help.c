// SPDX-License-Identifier: BSD-3-Clause
#include "qos_help.h"

#include "qos_absorb.h"
#include "qos_offer.h"
#include "qos_parts.h"

void hs_qos_want_help(struct hs_qos *qos, bool wanted)
{
	qos->offers.wanted = wanted && qos->config.help;
}

// The owner adds up the reports that found no memory here.
uint32_t hs_qos_help(struct hs_qos *qos)
{
	struct hs_qos_flow *flow = hs_qos_offers_take(&qos->offers);
	if (!flow)
		return 0;
	struct hs_qos_step scratch, *owners = flow->last_step;
	uint32_t n = flow->ring.ahead;
	flow->last_step = &scratch;
	hs_qos_absorb_ahead(flow);
	flow->last_step = owners;
	n -= flow->ring.ahead;
	hs_qos_offer_done(flow);
	return n;
}
