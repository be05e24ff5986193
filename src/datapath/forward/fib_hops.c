// SPDX-License-Identifier: BSD-3-Clause
#include "fib_hops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int fib_hops_init(struct fib_hops *hops, uint32_t n)
{
	uint32_t buckets = 16;

	while (buckets < n)
		buckets *= 2;
	hops->room = n + 1;
	hops->bucket_mask = buckets - 1;
	hops->hops = calloc(hops->room, sizeof(*hops->hops));
	hops->uses = calloc(hops->room, sizeof(*hops->uses));
	hops->next = calloc(hops->room, sizeof(*hops->next));
	hops->buckets = calloc(buckets, sizeof(*hops->buckets));
	if (!hops->hops || !hops->uses || !hops->next || !hops->buckets) {
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
	free(hops->buckets);
	memset(hops, 0, sizeof(*hops));
}

static uint32_t *bucket_of(struct fib_hops *hops, const struct hs_next_hop *hop)
{
	uint64_t bits = hop->port;

	for (int i = 0; i < 6; i++)
		bits = bits << 8 | hop->mac[i];
	return &hops->buckets[(bits * UINT64_C(0x9e3779b97f4a7c15) >> 40) & hops->bucket_mask];
}

static bool is_same(const struct hs_next_hop *a, const struct hs_next_hop *b)
{
	return a->port == b->port && memcmp(a->mac, b->mac, sizeof(a->mac)) == 0;
}

uint32_t fib_hops_take(struct fib_hops *hops, const struct hs_next_hop *hop)
{
	uint32_t *bucket = bucket_of(hops, hop);
	uint32_t number = *bucket;

	while (number && !is_same(&hops->hops[number], hop))
		number = hops->next[number];
	if (!number) {
		number = hops->free;
		if (!number)
			return 0;
		hops->free = hops->next[number];
		hops->hops[number] = *hop;
		hops->next[number] = *bucket;
		*bucket = number;
	}
	hops->uses[number]++;
	return number;
}

void fib_hops_give(struct fib_hops *hops, uint32_t number)
{
	if (--hops->uses[number])
		return;
	uint32_t *link = bucket_of(hops, &hops->hops[number]);
	while (*link != number)
		link = &hops->next[*link];
	*link = hops->next[number];
	hops->next[number] = hops->free;
	hops->free = number;
}
