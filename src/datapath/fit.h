// SPDX-License-Identifier: BSD-3-Clause
// Whether telemetry fits a packet on its way to a port; where not, which counter says why.
//
// Thread rule: owner lcore.
#pragma once

#include "room.h"
#include "stage.h"

// Whether a packet may grow on its way to a port: the port's MTU, which is less than any 16-bit
// length in a header, and a buffer that nobody else holds allow it. Counts nothing.
static inline bool hs_may_grow(
		const struct hs_burst *burst, unsigned i, const struct hs_port *out, size_t growth)
{
	const struct hs_packet *packet = &burst->packets[i];

	return packet->l3_bytes + growth <= out->mtu && hs_room_is_changeable(burst->mbufs[i]);
}

// Checks the port's MTU and the buffer; counts the first that fails.
// Nothing has been changed when it says no: the packet goes on as it is.
bool hs_fits(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth);

// The same without the room in the buffer: for what can make its own.
bool hs_fits_packet(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth);

// Telemetry, or a part of it, is left out for the port's MTU; `needed` would have been enough.
void hs_fit_need_mtu(struct hs_worker *worker, const struct hs_burst *burst,
		struct hs_flow_worker *own, uint32_t needed);
void hs_fit_count_room(
		struct hs_worker *worker, const struct hs_burst *burst, struct hs_flow_worker *own);
void hs_fit_count_option(
		struct hs_worker *worker, const struct hs_burst *burst, struct hs_flow_worker *own);
