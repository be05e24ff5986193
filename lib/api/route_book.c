// SPDX-License-Identifier: BSD-3-Clause
#include "route_book.h"

#include "route_text.h"

#include "u32_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hs_route_book {
	uint32_t capacity, n, n_neighbours;
	uint32_t room; // number of entries that fit; grows
	struct hs_route_entry *entries;
	struct hs_u32_map by_prefix; // hash -> entries[]
	uint32_t *order;	     // sorted; NULL: not sorted yet
	size_t n_changes, changes_room;
	struct hs_route_change *changes;
};

// ---- making ----

struct hs_route_book *hs_route_book_create(uint32_t capacity)
{
	struct hs_route_book *book = calloc(1, sizeof(*book));

	if (!book)
		return NULL;
	book->capacity = capacity;
	if (hs_u32_map_init(&book->by_prefix, capacity) < 0) {
		free(book);
		return NULL;
	}
	return book;
}

struct hs_route_book *hs_route_book_clone(const struct hs_route_book *book)
{
	struct hs_route_book *copy = hs_route_book_create(book->capacity);

	if (!copy)
		return NULL;
	copy->n = copy->room = book->n;
	copy->n_neighbours = book->n_neighbours;
	copy->by_prefix.count = book->by_prefix.count;
	memcpy(copy->by_prefix.places, book->by_prefix.places, hs_u32_map_bytes(book->capacity));
	if (!book->n)
		return copy;
	copy->entries = malloc(book->n * sizeof(*copy->entries));
	if (!copy->entries) {
		hs_route_book_destroy(copy);
		return NULL;
	}
	memcpy(copy->entries, book->entries, book->n * sizeof(*copy->entries));
	return copy;
}

void hs_route_book_destroy(struct hs_route_book *book)
{
	if (!book)
		return;
	free(book->entries);
	hs_u32_map_fini(&book->by_prefix);
	free(book->order);
	free(book->changes);
	free(book);
}

// ---- finding ----

static uint32_t hash(const uint8_t prefix[16], uint8_t depth)
{
	uint64_t high, low;

	memcpy(&high, prefix, sizeof(high));
	memcpy(&low, prefix + 8, sizeof(low));
	uint64_t mixed = (high ^ depth) * UINT64_C(0x9e3779b97f4a7c15);
	mixed = (mixed ^ (mixed >> 29) ^ low) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(mixed >> 32);
}

static struct hs_route_entry *find(
		const struct hs_route_book *book, const uint8_t prefix[16], uint8_t depth)
{
	uint32_t key = hash(prefix, depth), probe = 0, index;

	while ((index = hs_u32_map_next(&book->by_prefix, key, &probe)) != HS_U32_MAP_NONE) {
		struct hs_route_entry *entry = &book->entries[index];
		if (entry->depth == depth &&
				memcmp(entry->prefix, prefix, sizeof(entry->prefix)) == 0)
			return entry;
	}
	return NULL;
}

const struct hs_route_entry *hs_route_book_find(
		const struct hs_route_book *book, const uint8_t prefix[16], uint8_t depth)
{
	return find(book, prefix, depth);
}

static struct hs_route_entry *neighbour_of(
		const struct hs_route_book *book, const uint8_t address[16])
{
	struct hs_route_entry *entry = find(book, address, 128);

	return entry && entry->kind == HS_ROUTE_NEIGHBOUR ? entry : NULL;
}

uint32_t hs_route_book_count(const struct hs_route_book *book)
{
	return book->n;
}

uint32_t hs_route_book_neighbours(const struct hs_route_book *book)
{
	return book->n_neighbours;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct hs_route_entry *entries = context;
	const struct hs_route_entry *a = &entries[*(const uint32_t *)left];
	const struct hs_route_entry *b = &entries[*(const uint32_t *)right];
	int order = memcmp(a->prefix, b->prefix, sizeof(a->prefix));

	return order ? order : (int)a->depth - (int)b->depth;
}

const struct hs_route_entry *hs_route_book_at(struct hs_route_book *book, uint32_t index)
{
	if (index >= book->n)
		return NULL;
	if (!book->order) {
		book->order = malloc(book->n * sizeof(*book->order));
		if (!book->order)
			return NULL;
		for (uint32_t i = 0; i < book->n; i++)
			book->order[i] = i;
		qsort_r(book->order, book->n, sizeof(*book->order), compare, book->entries);
	}
	return &book->entries[book->order[index]];
}

// ---- changing ----

static int no_memory(struct hs_error *err)
{
	return hs_error_set(err, "no_memory", "", "", "memory is out");
}

// Room is reserved first, so that nothing can fail half-way.
static bool reserve_changes(struct hs_route_book *book, size_t more)
{
	size_t room = book->changes_room ? book->changes_room : 16;

	while (room < book->n_changes + more)
		room *= 2;
	if (room == book->changes_room)
		return true;
	struct hs_route_change *changes = realloc(book->changes, room * sizeof(*changes));
	if (!changes)
		return false;
	book->changes = changes;
	book->changes_room = room;
	return true;
}

static bool reserve_entry(struct hs_route_book *book)
{
	if (book->n < book->room)
		return true;
	uint32_t room = book->room ? 2 * book->room : 16;
	struct hs_route_entry *entries = realloc(book->entries, room * sizeof(*entries));
	if (!entries)
		return false;
	book->entries = entries;
	book->room = room;
	return true;
}

static void record(struct hs_route_book *book, const struct hs_route_entry *entry, bool remove)
{
	struct hs_route_change *change = &book->changes[book->n_changes++];

	*change = (struct hs_route_change){
			.remove = remove, .depth = entry->depth, .port = entry->port};
	memcpy(change->prefix, entry->prefix, sizeof(change->prefix));
	memcpy(change->mac, entry->mac, sizeof(change->mac));
}

static void use(struct hs_route_book *book, const struct hs_route_entry *route, int by)
{
	if (route->kind == HS_ROUTE_VIA)
		neighbour_of(book, route->via)->users += (uint32_t)by;
}

static void lead_routes_to(struct hs_route_book *book, const struct hs_route_entry *neighbour)
{
	uint32_t left = neighbour->users;

	for (uint32_t i = 0; left && i < book->n; i++) {
		struct hs_route_entry *route = &book->entries[i];
		if (route->kind != HS_ROUTE_VIA || memcmp(route->via, neighbour->prefix, 16) != 0)
			continue;
		route->port = neighbour->port;
		memcpy(route->mac, neighbour->mac, sizeof(route->mac));
		record(book, route, false);
		left--;
	}
}

static int refuse_kind(const struct hs_route_entry *old, struct hs_error *err)
{
	char text[HS_ROUTE_TEXT];

	hs_route_prefix_text(old->prefix, 128, text);
	if (old->kind == HS_ROUTE_NEIGHBOUR)
		return hs_error_set(err, "in_use", "prefix", "a prefix that is no neighbour",
				"prefix: %s is a neighbour, which has a route of its own", text);
	return hs_error_set(err, "in_use", "addr", "an address without a route of its own",
			"addr: %s has a route", text);
}

static int check_add(const struct hs_route_book *book, const struct hs_route_entry *entry,
		const struct hs_route_entry *old, struct hs_error *err)
{
	char text[HS_ROUTE_TEXT];
	bool is_4 = hs_route_is_ipv4(entry->prefix, entry->depth);

	if (old && (old->kind == HS_ROUTE_NEIGHBOUR) != (entry->kind == HS_ROUTE_NEIGHBOUR))
		return refuse_kind(old, err);
	if (entry->kind == HS_ROUTE_VIA && hs_route_is_ipv4(entry->via, 128) != is_4) {
		hs_route_prefix_text(entry->via, 128, text);
		return hs_error_set(err, "wrong_family", "via",
				is_4 ? "the address of an IPv4 neighbour"
				     : "the address of an IPv6 neighbour",
				"via: %s and the prefix are of different IP versions", text);
	}
	if (entry->kind == HS_ROUTE_VIA && !neighbour_of(book, entry->via)) {
		hs_route_prefix_text(entry->via, 128, text);
		return hs_error_set(err, "no_such_neighbour", "via", "the address of a neighbour",
				"via: %s is no neighbour", text);
	}
	if (!old && book->n == book->capacity)
		return hs_error_set(err, "table_full", "",
				"fewer routes and neighbours, or a larger memory.routes",
				"there is no room for another route: the table has %u",
				book->capacity);
	return 0;
}

static void order_is_stale(struct hs_route_book *book)
{
	free(book->order);
	book->order = NULL;
}

int hs_route_book_add(struct hs_route_book *book, const struct hs_route_entry *entry,
		struct hs_error *err)
{
	struct hs_route_entry *old = find(book, entry->prefix, entry->depth), new = *entry;
	int rc = check_add(book, entry, old, err);

	if (rc)
		return rc;
	if (!reserve_changes(book, 1 + (old ? old->users : 0)) || (!old && !reserve_entry(book)))
		return no_memory(err);
	new.users = old ? old->users : 0;
	if (new.kind == HS_ROUTE_VIA) {
		const struct hs_route_entry *neighbour = neighbour_of(book, new.via);
		new.port = neighbour->port;
		memcpy(new.mac, neighbour->mac, sizeof(new.mac));
	}
	if (old) {
		use(book, old, -1);
		*old = new;
	} else {
		hs_u32_map_add(&book->by_prefix, hash(new.prefix, new.depth), book->n);
		book->entries[book->n++] = new;
		book->n_neighbours += new.kind == HS_ROUTE_NEIGHBOUR;
		order_is_stale(book);
	}
	use(book, &new, 1);
	record(book, &new, false);
	if (new.kind == HS_ROUTE_NEIGHBOUR)
		lead_routes_to(book, &new);
	return 0;
}

// Removes an entry. The last entry moves into the free place.
static void take_out(struct hs_route_book *book, const struct hs_route_entry *entry)
{
	uint32_t index = (uint32_t)(entry - book->entries);
	const struct hs_route_entry *last = &book->entries[--book->n];

	hs_u32_map_erase(&book->by_prefix, hash(entry->prefix, entry->depth), index);
	if (index == book->n)
		return;
	hs_u32_map_replace(&book->by_prefix, hash(last->prefix, last->depth), book->n, index);
	book->entries[index] = *last;
}

int hs_route_book_delete(struct hs_route_book *book, const uint8_t prefix[16], uint8_t depth,
		bool neighbour, struct hs_error *err)
{
	struct hs_route_entry *entry = find(book, prefix, depth);
	char text[HS_ROUTE_TEXT];

	hs_route_prefix_text(prefix, depth, text);
	if (!entry || (entry->kind == HS_ROUTE_NEIGHBOUR) != neighbour)
		return neighbour ? hs_error_set(err, "no_such_neighbour", "addr",
						   "the address of a neighbour",
						   "addr: %s is no neighbour", text)
				 : hs_error_set(err, "no_such_route", "prefix",
						   "a prefix that was added as a route",
						   "prefix: %s has no route", text);
	if (entry->users)
		return hs_error_set(err, "in_use", "addr", "a neighbour that no route goes via",
				"addr: %u route%s via %s", entry->users,
				entry->users == 1 ? " goes" : "s go", text);
	if (!reserve_changes(book, 1))
		return no_memory(err);
	use(book, entry, -1);
	record(book, entry, true);
	book->n_neighbours -= neighbour;
	order_is_stale(book);
	take_out(book, entry);
	return 0;
}

const struct hs_route_change *hs_route_book_changes(const struct hs_route_book *book, size_t *n)
{
	*n = book->n_changes;
	return book->changes;
}

void hs_route_book_forget_changes(struct hs_route_book *book)
{
	free(book->changes);
	book->changes = NULL;
	book->n_changes = book->changes_room = 0;
}
