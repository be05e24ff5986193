// SPDX-License-Identifier: BSD-3-Clause
// Whether telemetry fits a packet on its way to a port; where not, which counter says why.
//
// Thread rule: owner lcore.
#pragma once

#include "stage.h"

// Checks the port's MTU, the buffer and the 16-bit payload length; counts the first that fails.
// Nothing has been changed when it says no: the packet goes on as it is.
bool hs_fits(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth);

// The same without the room in the buffer: for what can make its own.
bool hs_fits_packet(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth);

void hs_fit_count_room(
		struct hs_worker *worker, const struct hs_burst *burst, struct hs_flow_worker *own);
void hs_fit_count_option(
		struct hs_worker *worker, const struct hs_burst *burst, struct hs_flow_worker *own);
