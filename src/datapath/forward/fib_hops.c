// SPDX-License-Identifier: BSD-3-Clause
#include "fib_hops.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int fib_hops_init(struct fib_hops *hops, uint32_t n)
{
	hops->room = n + 1;
	hops->hops = calloc(hops->room, sizeof(*hops->hops));
	hops->uses = calloc(hops->room, sizeof(*hops->uses));
	hops->next = calloc(hops->room, sizeof(*hops->next));
	if (!hops->hops || !hops->uses || !hops->next || hs_u32_map_init(&hops->by_hop, n) < 0) {
		fib_hops_fini(hops);
		return -ENOMEM;
	}
	hops->hops[0].port = HS_FIB_NO_PORT;
	for (uint32_t i = 1; i < n; i++)
		hops->next[i] = i + 1;
	hops->free = n ? 1 : 0;
	return 0;
}

void fib_hops_fini(struct fib_hops *hops)
{
	free(hops->hops);
	free(hops->uses);
	free(hops->next);
	hs_u32_map_fini(&hops->by_hop);
	memset(hops, 0, sizeof(*hops));
}

static uint32_t key_of(const struct hs_next_hop *hop)
{
	uint64_t bits = hop->port;

	for (int i = 0; i < 6; i++)
		bits = bits << 8 | hop->mac[i];
	return hs_u32_map_hash(&bits, sizeof(bits));
}

static bool is_same(const struct hs_next_hop *a, const struct hs_next_hop *b)
{
	return a->port == b->port && memcmp(a->mac, b->mac, sizeof(a->mac)) == 0;
}

// Returns the hop's number, or 0.
static uint32_t find(const struct fib_hops *hops, const struct hs_next_hop *hop)
{
	uint32_t key = key_of(hop), probe = 0, number;

	while ((number = hs_u32_map_next(&hops->by_hop, key, &probe)) != HS_U32_MAP_NONE)
		if (is_same(&hops->hops[number], hop))
			return number;
	return 0;
}

uint32_t fib_hops_take(struct fib_hops *hops, const struct hs_next_hop *hop)
{
	uint32_t number = find(hops, hop);

	if (!number) {
		number = hops->free;
		if (!number)
			return 0;
		hops->free = hops->next[number];
		hops->hops[number] = *hop;
		hs_u32_map_add(&hops->by_hop, key_of(hop), number);
	}
	hops->uses[number]++;
	return number;
}

void fib_hops_give(struct fib_hops *hops, uint32_t number)
{
	if (--hops->uses[number])
		return;
	hs_u32_map_erase(&hops->by_hop, key_of(&hops->hops[number]), number);
	hops->next[number] = hops->free;
	hops->free = number;
}
