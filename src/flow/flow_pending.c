// SPDX-License-Identifier: BSD-3-Clause
// The memory of pending options.
#include "flow_pending.h"

#include <stdlib.h>

struct hs_flow_pending *hs_flow_pending_at(
		struct hs_flow_pending *_Atomic *place, bool holds_telemetry)
{
	struct hs_flow_pending *pending = atomic_load_explicit(place, memory_order_relaxed);

	if (pending)
		return pending;
	pending = calloc(1, sizeof(*pending) + HS_FLOW_PENDING_BYTES);
	if (pending)
		pending->holds_telemetry = holds_telemetry;
	atomic_store_explicit(place, pending, memory_order_release);
	return pending;
}

static struct hs_flow_loads *loads_of(struct hs_flow_pending *pending)
{
	struct hs_flow_loads *loads = atomic_load_explicit(&pending->loads, memory_order_relaxed);

	if (loads)
		return loads;
	loads = calloc(1, sizeof(*loads));
	atomic_store_explicit(&pending->loads, loads, memory_order_release);
	return loads;
}

struct hs_flow_pending *hs_flow_pending_load(struct hs_flow_pending *pending, unsigned i)
{
	struct hs_flow_loads *loads = loads_of(pending);
	struct hs_flow_pending *load;

	if (!loads)
		return NULL;
	load = atomic_load_explicit(&loads->list[i], memory_order_relaxed);
	if (load)
		return load;
	load = calloc(1, sizeof(*load) + hs_flow_load_bytes(i));
	if (load)
		load->of = loads;
	atomic_store_explicit(&loads->list[i], load, memory_order_release);
	return load;
}

void hs_flow_pending_free(struct hs_flow_pending *_Atomic *place)
{
	struct hs_flow_pending *pending =
			atomic_exchange_explicit(place, NULL, memory_order_relaxed);
	struct hs_flow_loads *loads = pending ? pending->loads : NULL;

	for (unsigned i = 0; loads && i < HS_FLOW_LOADS; i++)
		free(loads->list[i]);
	free(loads);
	free(pending ? pending->fields : NULL);
	free(pending);
}
