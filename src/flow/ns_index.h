// SPDX-License-Identifier: BSD-3-Clause
// Maps a rule's namespace id to its slot. It uses open addressing with linear probing over twice as
// many places as rules, so that a look-up, an insertion and a removal cost the same at any number.
//
// Thread rule: control; hs_ns_index_find by any thread. A worker that looks while control erases
// another id may miss an id that is there, once.
#pragma once

#include <assert.h>
#include <stdint.h>

#define HS_NS_INDEX_NONE UINT32_MAX

struct hs_ns_place {
	_Alignas(8) uint32_t ns_id; // 0: empty
	uint32_t slot;
};
static_assert(sizeof(struct hs_ns_place) == 8, "read and written as one word");

struct hs_ns_index {
	struct hs_ns_place *places;
	uint32_t mask;
};

// Returns 0 or -ENOMEM. fini accepts a zeroed index that was never initialised.
int hs_ns_index_init(struct hs_ns_index *index, uint32_t capacity);
void hs_ns_index_fini(struct hs_ns_index *index);
uint64_t hs_ns_index_bytes(uint32_t capacity);

// Returns the slot, or HS_NS_INDEX_NONE.
uint32_t hs_ns_index_find(const struct hs_ns_index *index, uint32_t ns_id);
// The id must be absent for insert and present for erase. It is not 0.
void hs_ns_index_insert(struct hs_ns_index *index, uint32_t ns_id, uint32_t slot);
void hs_ns_index_erase(struct hs_ns_index *index, uint32_t ns_id);
