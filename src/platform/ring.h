// SPDX-License-Identifier: BSD-3-Clause
// Rings between one thread that puts records in and one thread that takes them out.
//
// Thread rule: control.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rte_ring;

// Creates a ring. `records` is a power of two; one place of the ring stays empty. Returns NULL
// without memory.
struct rte_ring *hs_ring_create(const char *name, uint32_t records, size_t record_bytes);
// Frees a ring without a look at its records. `ring` may be NULL.
void hs_ring_destroy(struct rte_ring *ring);
