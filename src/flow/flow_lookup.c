// SPDX-License-Identifier: BSD-3-Clause
// Look-ups of a burst: of whole keys at once, and then mask by mask.
#include "flow_worker.h"

#include <string.h>

#include <rte_hash.h>
#include <rte_prefetch.h>

// ---- whole keys ----

static_assert(HS_FLOW_LOOKUP_MAX <= RTE_HASH_LOOKUP_BULK_MAX, "one bulk of the hash");

typedef uint64_t pair __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) bool is_key(
		const struct hs_flow_worker *own, const struct hs_flow_tuple *tuple)
{
	pair src, dst, key_src, key_dst;

	memcpy(&src, tuple->addresses, sizeof(src));
	memcpy(&dst, tuple->addresses + sizeof(src), sizeof(dst));
	memcpy(&key_src, &own->key[0], sizeof(key_src));
	memcpy(&key_dst, &own->key[2], sizeof(key_dst));
	pair differs = (src ^ key_src) | (dst ^ key_dst);
	return !(differs[0] | differs[1] | (tuple->last ^ own->key[HS_FLOW_KEY_LAST]));
}

// Fetches the line of `config` if packets of the rule often need it. If not, fetches the first
// line, which is there: that costs less than a branch.
static inline void fetch_config(const struct hs_flow_worker *own)
{
	uint8_t at = atomic_load_explicit(&own->fetched, memory_order_relaxed);

	rte_prefetch0_write((const char *)own + at);
}

static void make_key(const struct hs_flow_tuple *tuple, struct hs_flow_key *key)
{
	*key = (struct hs_flow_key){0};
	memcpy(key->src_ip, tuple->addresses, sizeof(key->src_ip) + sizeof(key->dst_ip));
	memcpy(&key->src_port, &tuple->last, sizeof(tuple->last));
}

// Looks up in the hash the keys whose bits are set in `open`, for which the index has no answer.
static void ask_hash(const struct hs_flow_view *view, const struct hs_flow_tuple *tuples,
		unsigned n, uint64_t open, uint32_t *found)
{
	struct hs_flow_key keys[RTE_HASH_LOOKUP_BULK_MAX];
	const void *asked[RTE_HASH_LOOKUP_BULK_MAX];
	hash_sig_t signatures[RTE_HASH_LOOKUP_BULK_MAX];
	unsigned at[RTE_HASH_LOOKUP_BULK_MAX];
	void *data[RTE_HASH_LOOKUP_BULK_MAX];
	uint64_t hits = 0;
	unsigned m = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!(open >> i & 1))
			continue;
		found[i] = HS_FLOW_NONE;
		make_key(&tuples[i], &keys[m]);
		asked[m] = &keys[m];
		signatures[m] = hs_flow_tuple_hash(&tuples[i]);
		at[m++] = i;
	}
	rte_hash_lookup_with_hash_bulk_data(view->hash, asked, signatures, m, &hits, data);
	for (unsigned i = 0; i < m; i++) {
		if (hits >> i & 1)
			found[at[i]] = (uint32_t)(uintptr_t)data[i];
	}
}

// Looks up the index in passes, so that the cache misses of a burst overlap. Each pass loads one
// line of each packet, because a core drops further prefetches and then waits for these lines one
// by one. Returns the keys for which the index has no answer.
static uint64_t ask_index(const struct hs_flow_view *view, const struct hs_flow_tuple *tuples,
		unsigned n, uint32_t *found, uint32_t *all)
{
	const struct hs_flow_index index = view->index;
	uint32_t hashes[RTE_HASH_LOOKUP_BULK_MAX];
	uint64_t open = 0;

	for (unsigned i = 0; i < n; i++) {
		hashes[i] = hs_flow_tuple_hash(&tuples[i]);
		rte_prefetch0(hs_flow_index_bucket(&index, hashes[i]));
	}
	for (unsigned i = 0; i < n; i++) {
		const struct hs_flow_bucket *bucket = hs_flow_index_bucket(&index, hashes[i]);
		found[i] = hs_flow_index_find(bucket, hashes[i]);
		if (found[i] >= HS_FLOW_INDEX_ASK)
			continue;
		rte_prefetch0_write(&view->own[found[i]]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (found[i] >= HS_FLOW_INDEX_ASK) {
			open |= (uint64_t)(found[i] == HS_FLOW_INDEX_ASK) << i;
			continue;
		}
		if (unlikely(!is_key(&view->own[found[i]], &tuples[i])))
			open |= UINT64_C(1) << i;
		else
			fetch_config(&view->own[found[i]]);
		*all &= found[i];
	}
	return open;
}

static uint32_t all_of(const uint32_t *slots, unsigned n)
{
	uint32_t all = HS_FLOW_NONE;

	for (unsigned i = 0; i < n; i++)
		all &= slots[i];
	return all;
}

// Finds the slots. Returns all slots, and-ed: HS_FLOW_NONE if no packet has one.
static uint32_t find_slots(const struct hs_flow_view *view, const struct hs_flow_tuple *tuples,
		unsigned n, uint32_t *found)
{
	uint64_t open = UINT64_MAX;
	uint32_t all = HS_FLOW_NONE;

	if (likely(view->index.buckets != NULL))
		open = ask_index(view, tuples, n, found, &all);
	if (likely(!open))
		return all;
	ask_hash(view, tuples, n, open, found);
	return all_of(found, n);
}

// Does the same. A packet whose telemetry names the rule that it matches needs no hash.
static uint32_t find_named(const struct hs_flow_view *view, const struct hs_flow_tuple *tuples,
		const uint32_t *named, unsigned n, uint32_t *slots)
{
	struct hs_flow_tuple others[RTE_HASH_LOOKUP_BULK_MAX];
	uint32_t found[RTE_HASH_LOOKUP_BULK_MAX];
	uint8_t at[RTE_HASH_LOOKUP_BULK_MAX];
	uint32_t all = HS_FLOW_NONE;
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		uint32_t slot = named[i];
		if (likely(slot != HS_FLOW_NONE && is_key(&view->own[slot], &tuples[i]))) {
			rte_prefetch0_write(&view->own[slot].ns_id);
			rte_prefetch0_write(&view->own[slot].hop_entries);
			slots[i] = slot;
			all &= slot;
			continue;
		}
		others[left] = tuples[i];
		at[left++] = (uint8_t)i;
	}
	if (!left)
		return all;
	all &= find_slots(view, others, left, found);
	for (unsigned i = 0; i < left; i++) {
		slots[at[i]] = found[i];
		if (found[i] != HS_FLOW_NONE)
			rte_prefetch0_write(&view->own[found[i]].ns_id);
	}
	return all;
}

// ---- mask by mask ----

// The keys of one IP version for which no rule was found yet.
struct search {
	const struct hs_flow_view *view;
	const struct hs_flow_tuple *tuples;
	uint32_t *slots;
	unsigned n;
	uint8_t at[RTE_HASH_LOOKUP_BULK_MAX]; // indices of tuples
	// The hash of a key's addresses for a pair of prefix lengths, which several masks share.
	uint32_t known; // bit p: pair p
	uint32_t hashes[HS_FLOW_PAIRS][RTE_HASH_LOOKUP_BULK_MAX];
};

static void hash_addresses(struct search *search, const struct hs_flow_mask *mask)
{
	uint32_t *hashes = search->hashes[mask->pair];
	const uint64_t *keep = mask->keep;

	static_assert(HS_FLOW_KEY_LAST == 4, "addresses are four words");
	for (unsigned i = 0; i < search->n; i++) {
		const struct hs_flow_tuple *tuple = &search->tuples[search->at[i]];
		uint64_t hash = hs_flow_crc(0, hs_flow_tuple_word(tuple, 0) & keep[0]);
		hash = hs_flow_crc(hash, hs_flow_tuple_word(tuple, 1) & keep[1]);
		hash = hs_flow_crc(hash, hs_flow_tuple_word(tuple, 2) & keep[2]);
		hash = hs_flow_crc(hash, hs_flow_tuple_word(tuple, 3) & keep[3]);
		hashes[search->at[i]] = (uint32_t)hash;
	}
	search->known |= UINT32_C(1) << mask->pair;
}

// Returns whether the slot that a mask found replaces `slot`. A mask of the same rank found `slot`,
// or no mask did. A reverse entry gives way to any rule, but not to a reverse entry of a less
// specific mask.
static bool is_better(const struct hs_flow_view *view, uint32_t found, uint32_t slot)
{
	if (found >= view->n_rules)
		return slot == HS_FLOW_NONE;
	return slot >= view->n_rules || view->shared[found].age < view->shared[slot].age;
}

// A place in the index that has the hash of key `at`.
struct candidate {
	uint32_t hash, slot;
	unsigned at;
};

static uint32_t ask_one(
		const struct search *search, const struct hs_flow_key *masked, uint32_t hash)
{
	void *data;

	if (rte_hash_lookup_with_hash_data(search->view->hash, masked, hash, &data) < 0)
		return HS_FLOW_NONE;
	return (uint32_t)(uintptr_t)data;
}

static void take(const struct search *search, const struct hs_flow_mask *mask,
		const struct candidate *candidate)
{
	const struct hs_flow_view *view = search->view;
	uint32_t *slot = &search->slots[candidate->at], found = candidate->slot;
	struct hs_flow_key masked;

	hs_flow_mask_key(mask, &search->tuples[candidate->at], &masked);
	struct hs_flow_tuple tuple = hs_flow_key_tuple(&masked);
	if (unlikely(found == HS_FLOW_INDEX_ASK || !is_key(&view->own[found], &tuple)))
		found = ask_one(search, &masked, candidate->hash);
	if (found == HS_FLOW_NONE)
		return;
	fetch_config(&view->own[found]);
	if (is_better(view, found, *slot))
		*slot = found;
}

// Returns the slot that the index has for a hash. The general path has no index.
static inline uint32_t ask(const struct hs_flow_index *index, uint32_t hash)
{
	if (unlikely(!index->buckets))
		return HS_FLOW_INDEX_ASK;
	return hs_flow_index_find(hs_flow_index_bucket(index, hash), hash);
}

// Looks up one mask in passes, as ask_index does. Most masks have no rule for a packet.
static void lookup_mask(struct search *search, const struct hs_flow_mask *mask)
{
	const struct hs_flow_index index = search->view->index;
	struct candidate candidates[RTE_HASH_LOOKUP_BULK_MAX];
	uint32_t hashed[RTE_HASH_LOOKUP_BULK_MAX];
	unsigned n = 0;

	if (!(search->known >> mask->pair & 1))
		hash_addresses(search, mask);
	const uint32_t *hashes = search->hashes[mask->pair];
	for (unsigned i = 0; i < search->n; i++) {
		unsigned at = search->at[i];
		uint64_t last = search->tuples[at].last & mask->keep[HS_FLOW_KEY_LAST];
		hashed[i] = (uint32_t)hs_flow_crc(hashes[at], last | mask->last);
		if (likely(index.buckets != NULL))
			rte_prefetch0(hs_flow_index_bucket(&index, hashed[i]));
	}
	for (unsigned i = 0; i < search->n; i++) {
		uint32_t slot = ask(&index, hashed[i]);
		unsigned at = search->at[i];
		if (slot == HS_FLOW_NONE || !hs_flow_mask_fits(mask, &search->tuples[at]))
			continue;
		if (slot != HS_FLOW_INDEX_ASK)
			rte_prefetch0_write(&search->view->own[slot]);
		candidates[n++] = (struct candidate){hashed[i], slot, at};
	}
	for (unsigned i = 0; i < n; i++)
		take(search, mask, &candidates[i]);
}

static void drop_found(struct search *search)
{
	unsigned left = 0;

	for (unsigned i = 0; i < search->n; i++) {
		search->at[left] = search->at[i];
		left += search->slots[search->at[i]] >= search->view->n_rules;
	}
	search->n = left;
}

// Looks up the masks of one IP version. Masks of one rank are all looked up, because the older rule
// wins.
static void lookup_version(
		struct search *search, const struct hs_flow_masks *masks, bool ipv4, unsigned n)
{
	const struct hs_flow_mask *mask = &masks->list[masks->from[ipv4]],
				  *end = &masks->list[masks->to[ipv4]];

	search->known = 0;
	search->n = 0;
	for (unsigned i = 0; i < n; i++) {
		search->at[search->n] = (uint8_t)i;
		search->n += !(search->tuples[i].traits & HS_FLOW_IPV4) == !ipv4 &&
			     search->slots[i] >= search->view->n_rules;
	}
	for (; mask < end && search->n; mask++) {
		lookup_mask(search, mask);
		if (mask + 1 < end && mask[1].rank != mask->rank)
			drop_found(search);
	}
}

bool hs_flow_lookup(const struct hs_flow_view *view, const struct hs_flow_masks *masks,
		const struct hs_flow_tuple *tuples, const uint32_t *named, unsigned n,
		uint32_t *slots)
{
	uint32_t all = HS_FLOW_NONE;

	if (unlikely(!masks->exact))
		memset(slots, 0xff, n * sizeof(*slots)); // HS_FLOW_NONE
	else if (named)
		all = find_named(view, tuples, named, n, slots);
	else
		all = find_slots(view, tuples, n, slots);
	if (likely(!masks->more))
		return all != HS_FLOW_NONE;
	struct search search;
	search.view = view;
	search.tuples = tuples;
	search.slots = slots;
	lookup_version(&search, masks, false, n);
	lookup_version(&search, masks, true, n);
	return all_of(slots, n) != HS_FLOW_NONE;
}
