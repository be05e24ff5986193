// SPDX-License-Identifier: BSD-3-Clause
#include "stage.h"

bool hs_guard_lets_pass(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const uint16_t well_formed_or_unknown = HS_PACKET_TELEMETRY | HS_PACKET_SHORT |
						HS_PACKET_HIDDEN | HS_PACKET_DISCARD;
	uint16_t flags = burst->packets[i].flags;

	if (!burst->profile->pass_malformed || !(flags & HS_PACKET_ANY_TELEMETRY) ||
			flags & well_formed_or_unknown)
		return false;
	hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY_PASSED);
	return true;
}

bool hs_guard_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool counted)
{
	if (!(burst->packets[i].flags & HS_STAGE_SUSPECT))
		return true;
	if (!worker->drop_host_telemetry &&
			burst->profile->family->strip(worker, burst, i, false)) {
		hs_event(worker, burst, HS_EVENT_HOST_TELEMETRY_STRIPPED);
		return true;
	}
	if (!worker->drop_host_telemetry && hs_guard_lets_pass(worker, burst, i))
		return true;
	if (burst->slots[i] != HS_FLOW_NONE && !counted) // received, and lost here
		hs_flow_count_rx(&worker->flows, burst->slots[i],
				hs_packet_counted_bytes(&burst->packets[i]));
	hs_drop_packet(worker, burst, i,
			hs_suspect_drop(&burst->packets[i], HS_DROP_HOST_TELEMETRY));
	return false;
}

void hs_guard_all(struct hs_worker *worker, struct hs_burst *burst, bool counted)
{
	unsigned kept = 0;

	if (likely(!(burst->flags & HS_STAGE_SUSPECT)))
		return;
	for (unsigned i = 0; i < burst->n; i++) {
		if (!hs_guard_one(worker, burst, i, counted))
			continue;
		burst->mbufs[kept] = burst->mbufs[i];
		burst->packets[kept] = burst->packets[i];
		burst->flags |= burst->packets[i].flags; // a tunnel of IPv6 may have held IPv4
		burst->slots[kept] = burst->slots[i];
		kept++;
	}
	burst->n = (uint16_t)kept;
}

void hs_guard(struct hs_worker *worker, struct hs_burst *burst)
{
	if (burst->in->side == HS_SIDE_HOST)
		hs_guard_all(worker, burst, false);
}
