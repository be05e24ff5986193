// SPDX-License-Identifier: BSD-3-Clause
#include "ring.h"

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

struct rte_ring *hs_ring_create(const char *name, uint32_t records, size_t record_bytes)
{
	ssize_t bytes = rte_ring_get_memsize_elem((unsigned)record_bytes, records);
	struct rte_ring *ring;

	if (bytes < 0)
		return NULL;
	ring = rte_zmalloc(name, (size_t)bytes, RTE_CACHE_LINE_SIZE);
	if (!ring)
		return NULL;
	if (rte_ring_init(ring, name, records, RING_F_SP_ENQ | RING_F_SC_DEQ)) {
		rte_free(ring);
		return NULL;
	}
	return ring;
}

void hs_ring_destroy(struct rte_ring *ring)
{
	rte_free(ring);
}
