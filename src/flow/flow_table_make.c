// SPDX-License-Identifier: BSD-3-Clause
// The table's memory: allocation, release, and size.
#include "flow_table.h"
#include "flow_table_parts.h"
#include "pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

// Returns the hash's capacity, 1/16 above the table's. A completely full cuckoo hash refuses 1
// change in 200.
static uint32_t hash_entries(uint32_t capacity)
{
	return capacity + capacity / 16 + 64;
}

static int make_hash(struct hs_flow_table *t, const char *table)
{
	char name[RTE_HASH_NAMESIZE];
	snprintf(name, sizeof(name), "hs_%s", table);
	struct rte_hash_parameters parameters = {
			.name = name,
			.entries = hash_entries(hs_flow_slots(t->capacity)),
			.key_len = sizeof(struct hs_flow_key),
			.hash_func = rte_hash_crc,
			.socket_id = SOCKET_ID_ANY,
			.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF |
				      RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};
	t->hash = rte_hash_create(&parameters);
	return t->hash ? 0 : -rte_errno;
}

static size_t shared_bytes(uint32_t capacity)
{
	return capacity * sizeof(struct hs_flow_shared);
}

static size_t worker_bytes(uint32_t capacity)
{
	return capacity * sizeof(struct hs_flow_worker);
}

static int make_arrays(struct hs_flow_table *t)
{
	uint32_t capacity = hs_flow_slots(t->capacity);

	t->entries = calloc(capacity, sizeof(*t->entries));
	t->pending = calloc(capacity, sizeof(*t->pending));
	t->shared = hs_pages_take("flow shared", shared_bytes(capacity));
	if (!t->entries || !t->pending || !t->shared || hs_u32_map_init(&t->index, capacity) ||
			hs_flow_index_init(&t->places, capacity) ||
			hs_flow_by_name_init(&t->by_name, t->capacity))
		return -ENOMEM;
	for (unsigned w = 0; w < t->n_workers; w++) {
		t->workers[w] = hs_pages_take("flow worker", worker_bytes(capacity));
		t->others[w] = rte_zmalloc(
				"flow others", sizeof(*t->others[w]), RTE_CACHE_LINE_SIZE);
		// Untouched pages cost nothing, and few rules have a shadow.
		t->shadows[w] = calloc(capacity, sizeof(*t->shadows[w]));
		if (!t->workers[w] || !t->others[w] || !t->shadows[w])
			return -ENOMEM;
		hs_rng_init(&t->others[w]->late, w);
	}
	return 0;
}

static void link_slots(struct hs_flow_table *t)
{
	t->free_head[0] = t->free_head[1] = HS_FLOW_NONE;
	t->order_head = t->order_tail = HS_FLOW_NONE;
	t->dying_head = t->dying_tail = HS_FLOW_NONE;
	for (uint32_t slot = hs_flow_slots(t->capacity); slot-- > 0;)
		hs_flow_slot_free(t, slot);
}

int hs_flow_table_create(const struct hs_flow_table_config *config, struct hs_flow_table **table)
{
	if (!config->capacity || !config->n_workers || config->n_workers > 32)
		return -EINVAL;
	struct hs_flow_table *t = aligned_alloc(alignof(struct hs_flow_table), sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct hs_flow_table){.capacity = config->capacity,
			.n_workers = config->n_workers,
			.qsbr = config->qsbr,
			.fields = {.qsbr = config->qsbr,
					.n_workers = config->n_workers,
					.node = config->partial}};
	int rc = hs_flow_masks_init(&t->masks, config->qsbr);
	if (!rc)
		rc = make_hash(t, config->name);
	if (!rc)
		rc = make_arrays(t);
	if (rc) {
		hs_flow_table_destroy(t);
		return rc;
	}
	link_slots(t);
	*table = t;
	return 0;
}

void hs_flow_table_destroy(struct hs_flow_table *t)
{
	if (!t)
		return;
	uint32_t slots = hs_flow_slots(t->capacity);
	for (unsigned w = 0; w < t->n_workers; w++) {
		hs_pages_give(t->workers[w], worker_bytes(slots));
		rte_free(t->others[w]);
		free(t->shadows[w]);
	}
	hs_pages_give(t->shared, shared_bytes(slots));
	for (uint32_t slot = 0; t->pending && slot < slots; slot++)
		hs_flow_pending_free(&t->pending[slot]);
	free(t->pending);
	hs_flow_fields_fini(&t->fields);
	hs_flow_masks_fini(&t->masks);
	hs_u32_map_fini(&t->index);
	hs_flow_index_fini(&t->places);
	hs_flow_by_name_fini(&t->by_name);
	free(t->entries);
	rte_hash_free(t->hash);
	free(t);
}

// Returns the bytes of rte_hash: keys (64 bytes each with their data), two sets of buckets for
// eight, a cache line each, rings of free key slots and free extension buckets, a change counter.
static uint64_t hash_bytes(uint32_t entries)
{
	uint64_t slots = rte_align32pow2(entries + 1);
	uint64_t buckets = slots / 8;

	return (uint64_t)entries * 64 + buckets * 2 * RTE_CACHE_LINE_SIZE +
	       slots * sizeof(uint32_t) + buckets * 2 * sizeof(uint32_t);
}

uint64_t hs_flow_table_bytes(uint32_t capacity, unsigned n_workers)
{
	uint32_t slots = hs_flow_slots(capacity);
	uint64_t arrays = hs_pages_dpdk_bytes(shared_bytes(slots)) +
			  n_workers * hs_pages_dpdk_bytes(worker_bytes(slots)) +
			  hs_pages_dpdk_bytes(hs_flow_index_bytes(slots)) +
			  hs_pages_dpdk_bytes(hs_flow_by_name_bytes(capacity));
	uint64_t hash = hash_bytes(hash_entries(slots));

	return hash + hash / 16 + arrays + (1u << 20);
}

void hs_flow_table_view(struct hs_flow_table *t, unsigned worker, struct hs_flow_view *view)
{
	view->own = t->workers[worker];
	view->workers = t->workers;
	view->shared = t->shared;
	view->others = t->others[worker];
	view->pending = t->pending;
	view->shadows = t->shadows[worker];
	view->names = &t->index;
	view->hash = t->hash;
	view->index = t->places;
	view->by_name = t->by_name;
	view->masks = &t->masks.list;
	view->worker = worker;
	view->n_workers = t->n_workers;
	view->n_rules = t->capacity;
}
