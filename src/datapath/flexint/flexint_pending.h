// SPDX-License-Identifier: BSD-3-Clause
// Puts the options that control has ready (src/flow/flow_pending.h) into the next packet of a flow.
//
// Thread rule: owner lcore.
#pragma once

#include "flexint_steps.h"

enum hs_pending_verdict {
	HS_PENDING_NOTHING,  // no options are ready: the packet may carry telemetry
	HS_PENDING_CARRIED,  // the packet carries a request, and nothing else
	HS_PENDING_REPORTS,  // the packet carries reports, and telemetry as well if that fits
	HS_PENDING_WITHHELD, // the rule's telemetry waits until the options have been sent
};

// Puts the pending options of the packet's rule into the packet, if they are ready and fit. If they
// do not fit, the packet goes as it is, the options stay for another packet, and both the options
// and the rule's telemetry count the refusal. Reports are put in only with `reports`. A packet that
// took reports is parsed anew.
enum hs_pending_verdict hs_pending_put(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, bool reports);
