// SPDX-License-Identifier: BSD-3-Clause
// Next hops by number. Each next hop is stored once, however many routes use it, so that a table
// stores a small number for a range. A hop that is in use never changes, so that workers read it
// without a lock.
//
// Thread rule: control; hops[] by any worker that found the number in a table.
#pragma once

#include "next_hop.h"
#include "u32_map.h"

struct fib_hops {
	uint32_t room; // numbers 0 to room - 1; 0 means no route
	uint32_t free; // first of the list of free numbers, 0: none left
	struct hs_next_hop *hops;
	uint32_t *uses;
	uint32_t *next;		  // in the list of free numbers
	struct hs_u32_map by_hop; // hash -> number
};

// Makes room for n numbers. Returns 0 or -ENOMEM.
int fib_hops_init(struct fib_hops *hops, uint32_t n);
void fib_hops_fini(struct fib_hops *hops);

// Adds a use of a hop. Returns the hop's number, or 0 if no number is free.
uint32_t fib_hops_take(struct fib_hops *hops, const struct hs_next_hop *hop);
// Ends a use of a hop. Call this only when no worker can find the number any more.
void fib_hops_give(struct fib_hops *hops, uint32_t number);
