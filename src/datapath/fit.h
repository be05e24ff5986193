// SPDX-License-Identifier: BSD-3-Clause
// Checks whether telemetry fits a packet on its way to a port, and counts why it does not.
//
// Thread rule: owner lcore.
#pragma once

#include "room.h"
#include "stage.h"

// Returns whether a packet may grow on its way to a port. The grown packet must be within the
// port's MTU, which is less than any 16-bit length in a header, and nobody else may hold its
// buffer. Counts nothing.
static inline bool hs_may_grow(
		const struct hs_burst *burst, unsigned i, const struct hs_port *out, size_t growth)
{
	const struct hs_packet *packet = &burst->packets[i];

	return packet->l3_bytes + growth <= out->mtu && hs_is_changeable(burst, i);
}

// Checks the port's MTU and the buffer, and counts the first check that fails. A packet that fails
// is unchanged and goes on as it is.
bool hs_fits(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth);

// Does the same without the check of the room in the buffer, for a caller that can make its own
// room.
bool hs_fits_packet(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth);

// Counts telemetry, or a part of it, that is left out for the port's MTU. An MTU of `needed` would
// have been enough.
void hs_fit_need_mtu(struct hs_worker *worker, const struct hs_burst *burst,
		struct hs_flow_worker *own, uint32_t needed);
void hs_fit_count_room(
		struct hs_worker *worker, const struct hs_burst *burst, struct hs_flow_worker *own);
void hs_fit_count_option(
		struct hs_worker *worker, const struct hs_burst *burst, struct hs_flow_worker *own);
