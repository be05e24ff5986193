// SPDX-License-Identifier: BSD-3-Clause
// What control has ready for the next packet of a flow (src/flow/flow_pending.h), put into one.
//
// Thread rule: owner lcore.
#pragma once

#include "flexint_steps.h"

enum hs_pending_verdict {
	HS_PENDING_NOTHING,  // none is ready: the packet may carry telemetry
	HS_PENDING_CARRIED,  // the packet carries a request, and nothing else
	HS_PENDING_REPORTS,  // it carries reports, and telemetry as well if that fits
	HS_PENDING_WITHHELD, // the rule's telemetry waits until one has been sent
};

// Takes the pending options of the packet's rule if it is ready and fits. Where it does not, the
// packet goes as it is and the pending options stay for another; counted in the pending options,
// and as telemetry's. Reports only with `reports`. The packet is parsed anew with what it carries.
enum hs_pending_verdict hs_pending_put(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, bool reports);
