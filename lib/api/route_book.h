// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours as control knows them: what was asked for, and the changes that follow from
// it for a forwarding table. Port numbers and MAC addresses of routes that go via a neighbour are
// the neighbour's, whatever becomes of it.
//
// A neighbour is an entry like a route, to its own address: a prefix has one entry, of either kind.
// Thread rule: owner.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_route_book;

enum hs_route_kind {
	HS_ROUTE_DIRECT,    // port and MAC address were given
	HS_ROUTE_VIA,	    // ... are those of the neighbour `via`
	HS_ROUTE_NEIGHBOUR, // a neighbour; depth 128
};

struct hs_route_entry {
	uint8_t prefix[16]; // bits below `depth` are zero
	uint8_t depth;
	uint8_t kind; // enum hs_route_kind
	uint16_t port;
	uint8_t mac[6];
	uint8_t via[16];
	uint32_t users; // of a neighbour: routes that go via it. The book's
};

// What to do to a forwarding table.
struct hs_route_change {
	bool remove; // else add or replace
	uint8_t prefix[16];
	uint8_t depth;
	uint16_t port;
	uint8_t mac[6];
};

// Capacity counts neighbours, too. NULL when memory is out.
struct hs_route_book *hs_route_book_create(uint32_t capacity);
struct hs_route_book *hs_route_book_clone(const struct hs_route_book *book);
void hs_route_book_destroy(struct hs_route_book *book);

// Adds a route or neighbour, or replaces that of the same prefix. 0, or -EINVAL with *err and
// nothing changed: "in_use" (the prefix has an entry of the other kind), "no_such_neighbour",
// "table_full", "no_memory". Paths are those of the verbs' fields.
int hs_route_book_add(struct hs_route_book *book, const struct hs_route_entry *entry,
		struct hs_error *err);
// "no_such_route" or "no_such_neighbour", "in_use" (routes go via the neighbour), "no_memory".
int hs_route_book_delete(struct hs_route_book *book, const uint8_t prefix[16], uint8_t depth,
		bool neighbour, struct hs_error *err);

// NULL if there is none. Valid until the next change.
const struct hs_route_entry *hs_route_book_find(
		const struct hs_route_book *book, const uint8_t prefix[16], uint8_t depth);
uint32_t hs_route_book_count(const struct hs_route_book *book);
uint32_t hs_route_book_neighbours(const struct hs_route_book *book);
// By prefix, then depth. NULL beyond the end, or when memory is out.
const struct hs_route_entry *hs_route_book_at(struct hs_route_book *book, uint32_t index);

// Changes since the last forgetting, in order.
const struct hs_route_change *hs_route_book_changes(const struct hs_route_book *book, size_t *n);
void hs_route_book_forget_changes(struct hs_route_book *book);
