// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours as control knows them: what was asked for, and the changes that follow for
// a forwarding table. A route via a neighbour always has that neighbour's port and MAC address.
//
// A neighbour is an entry like a route, to its own address. A prefix has one entry, of either kind.
// Thread rule: owner.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_route_book;

enum hs_route_kind {
	HS_ROUTE_DIRECT,    // port and MAC address were given
	HS_ROUTE_VIA,	    // port and MAC address are those of the neighbour `via`
	HS_ROUTE_NEIGHBOUR, // a neighbour; depth 128
};

struct hs_route_entry {
	uint8_t prefix[16]; // bits below `depth` are zero; IPv4 as in route_text.h
	uint8_t depth;
	uint8_t kind; // enum hs_route_kind
	uint16_t port;
	uint8_t mac[6];
	uint8_t via[16];
	uint32_t users; // of a neighbour: number of routes via it. The book writes it
};

// A change of a forwarding table.
struct hs_route_change {
	bool remove; // true: remove; false: add or replace
	uint8_t prefix[16];
	uint8_t depth;
	uint16_t port;
	uint8_t mac[6];
};

// Capacity includes neighbours. Returns NULL if memory is out.
struct hs_route_book *hs_route_book_create(uint32_t capacity);
struct hs_route_book *hs_route_book_clone(const struct hs_route_book *book);
void hs_route_book_destroy(struct hs_route_book *book);

// Adds a route or neighbour, or replaces that of the same prefix. Returns 0, or -EINVAL with *err
// and nothing changed: "in_use" (the prefix has an entry of the other kind), "wrong_family" (via
// another IP version), "no_such_neighbour", "table_full", "no_memory". Paths are those of the
// verbs' fields.
int hs_route_book_add(struct hs_route_book *book, const struct hs_route_entry *entry,
		struct hs_error *err);
// Errors are "no_such_route" or "no_such_neighbour", "in_use" (routes go via the neighbour),
// "no_memory".
int hs_route_book_delete(struct hs_route_book *book, const uint8_t prefix[16], uint8_t depth,
		bool neighbour, struct hs_error *err);

// Returns NULL if there is none. The result is valid until the next change.
const struct hs_route_entry *hs_route_book_find(
		const struct hs_route_book *book, const uint8_t prefix[16], uint8_t depth);
uint32_t hs_route_book_count(const struct hs_route_book *book);
uint32_t hs_route_book_neighbours(const struct hs_route_book *book);
// Entries are ordered by prefix, then depth. Returns NULL beyond the end, or if memory is out.
const struct hs_route_entry *hs_route_book_at(struct hs_route_book *book, uint32_t index);

// Returns the changes since the last call of forget, in order.
const struct hs_route_change *hs_route_book_changes(const struct hs_route_book *book, size_t *n);
void hs_route_book_forget_changes(struct hs_route_book *book);
