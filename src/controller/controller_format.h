// SPDX-License-Identifier: BSD-3-Clause
// The format of a published report.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"

// Returns the family of a report of rule ns_id. Returns NULL with *err if the family is not known,
// or is not the rule's.
const struct hs_telemetry_family *controller_report_family(struct hs_controller *controller,
		const json_t *message, uint32_t ns_id, struct hs_error *err);
