// SPDX-License-Identifier: BSD-3-Clause
// What control has ready for the next packet of a flow (src/flow/flow_offer.h), put into one.
//
// Thread rule: owner lcore.
#pragma once

#include "flexint_steps.h"

enum hs_offer_verdict {
	HS_OFFER_NOTHING,  // none is ready: the packet may carry telemetry
	HS_OFFER_CARRIED,  // the packet carries a request, and nothing else
	HS_OFFER_REPORTS,  // it carries reports, and telemetry as well if that fits
	HS_OFFER_WITHHELD, // the rule's telemetry waits until one has been sent
};

// Takes the offer of the packet's rule if it is ready and fits. Where it does not, the packet goes
// as it is and the offer stays for another; counted in the offer, and as telemetry's. Reports only
// with `reports`. The packet is parsed anew with what it carries.
enum hs_offer_verdict hs_offer_put(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, bool reports);
