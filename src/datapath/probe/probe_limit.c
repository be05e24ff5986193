// SPDX-License-Identifier: BSD-3-Clause
// The bounds of probes: requests that came before, and the rate of each port.
#include "probe_state.h"

#include <stdlib.h>

#define BURST_PACKETS 64       // may come at once, whatever the rate
#define BURST_NS      10000000 // packets of so much time may come at once, too
#define TICK_SHIFT    20       // of ns: about a millisecond

// A word of `seen`: ticks from bit 31 on, request ID from bit 16 on, number of entries.
enum {
	ID_SHIFT = 16,
	TICKS_SHIFT = 31,
};

enum hs_probe_sight hs_probe_see(
		struct hs_probe_node *node, uint16_t id, uint16_t n_entries, int64_t steady_ns)
{
	_Atomic uint64_t *place = &node->seen[id % HS_PROBE_SEEN];
	uint64_t ticks = (uint64_t)steady_ns >> TICK_SHIFT;
	uint64_t word = ticks << TICKS_SHIFT | (uint64_t)id << ID_SHIFT | n_entries;
	uint64_t before = atomic_exchange_explicit(place, word, memory_order_relaxed);
	// Ticks have 33 bits. Another worker may have read a later time.
	uint64_t apart = (word >> TICKS_SHIFT) - (before >> TICKS_SHIFT);
	int64_t ago = (int64_t)(apart << TICKS_SHIFT) >> TICKS_SHIFT;

	if ((before >> ID_SHIFT & HS_PROBE_MAX_ID) != id || !before ||
			llabs(ago) > node->profile->seen_ns >> TICK_SHIFT)
		return HS_PROBE_NEW;
	return (uint16_t)before == n_entries ? HS_PROBE_REPEATED : HS_PROBE_AGAIN;
}

bool hs_probe_has_rate(struct hs_probe_worker *own, uint16_t port, int64_t steady_ns)
{
	int64_t interval_ns = own->interval_ns[port], *full_ns = &own->full_ns[port];
	int64_t burst_ns = RTE_MAX(BURST_PACKETS * interval_ns, BURST_NS);

	if (*full_ns < steady_ns || *full_ns - steady_ns > burst_ns + interval_ns)
		*full_ns = steady_ns; // the rate is not used up, or the clock went back
	if (*full_ns - steady_ns >= burst_ns)
		return false;
	*full_ns += interval_ns;
	return true;
}
