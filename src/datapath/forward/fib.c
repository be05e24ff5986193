// SPDX-License-Identifier: BSD-3-Clause
#include "fib.h"
#include "fib_hops.h"
#include "fib_ranges.h"

#include "ip_address.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_rcu_qsbr.h>

static_assert(HS_FIB_LOOKUP_MAX <= FIB_RANGES_LOOKUP_MAX, "one look-up of ranges");

#define IPV4_DEPTH 32 // of the prefix that holds all of IPv4

static const uint8_t ipv4_space[16] = {0xff, 0xff, 0xff, 0xff};

struct entry {
	struct hs_route route;
	uint32_t hop;
};

// A list of routes in order of prefix, then depth.
struct list {
	uint32_t n;
	struct entry *entries;
};

struct hs_fib {
	_Atomic(struct fib_ranges *) live;
	_Atomic uint64_t generation; // of `live`, stored behind it
	struct fib_ranges *spare;    // for the next change
	struct fib_hops hops;
	struct hs_fib_config config;
	struct list routes;
};

// The change of one prefix.
struct step {
	struct hs_fib_change change;
	size_t order; // in the caller's list
	uint32_t hop; // the new one; 0: remove
	uint32_t old_hop;
};

// ---- prefixes of IPv4 ----

static bool is_in_ipv4_space(const struct hs_route *route)
{
	return route->depth >= IPV4_DEPTH && memcmp(route->prefix, ipv4_space, 4) == 0;
}

// Returns the route as the table has it.
static struct hs_route to_table(const struct hs_route *route)
{
	struct hs_route to = *route;

	if (route->depth < HS_IP_ADDRESS_IPV4_BITS || !hs_ip_address_is_ipv4(route->prefix))
		return to;
	hs_fib_ipv4_key(route->prefix + 12, to.prefix);
	to.depth = (uint8_t)(route->depth - HS_IP_ADDRESS_IPV4_BITS + IPV4_DEPTH);
	return to;
}

static struct hs_route from_table(const struct hs_route *route)
{
	struct hs_route from = *route;

	if (!is_in_ipv4_space(route))
		return from;
	hs_ip_address_map(route->prefix + 4, from.prefix);
	from.depth = (uint8_t)(route->depth - IPV4_DEPTH + HS_IP_ADDRESS_IPV4_BITS);
	return from;
}

// ---- tables ----

static struct fib_ranges *live_table(const struct hs_fib *fib)
{
	return atomic_load_explicit(&fib->live, memory_order_relaxed);
}

static void wait_for_workers(struct hs_fib *fib)
{
	uint64_t token = rte_rcu_qsbr_start(fib->config.qsbr);

	while (rte_rcu_qsbr_check(fib->config.qsbr, token, false) != 1)
		sched_yield(); // the worker may be waiting for this very core
}

static void add_routes(struct fib_ranges_maker *maker, const struct list *list, uint32_t first,
		uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		fib_ranges_add(maker, list->entries[i].route.prefix, list->entries[i].route.depth,
				list->entries[i].hop);
}

// Publishes a table of these routes. Afterwards no worker reads the old table, which has room for
// the next change.
static void publish(struct hs_fib *fib, const struct list *list)
{
	struct fib_ranges *old = live_table(fib);
	struct fib_ranges_maker maker;
	uint32_t n_ipv6 = list->n;

	while (n_ipv6 && is_in_ipv4_space(&list->entries[n_ipv6 - 1].route))
		n_ipv6--;
	fib_ranges_begin(&maker, fib->spare);
	add_routes(&maker, list, 0, n_ipv6);
	fib_ranges_add(&maker, ipv4_space, IPV4_DEPTH, 0); // no IPv6 route leads into IPv4's prefix
	add_routes(&maker, list, n_ipv6, list->n);
	fib_ranges_finish(&maker);
	atomic_store_explicit(&fib->live, fib->spare, memory_order_release);
	atomic_fetch_add_explicit(&fib->generation, 1, memory_order_release);
	wait_for_workers(fib);
	fib->spare = old;
}

// ---- making ----

// Creates the two tables, with room for the prefix that holds all of IPv4.
static int make_tables(struct hs_fib *fib)
{
	struct fib_ranges *live;
	int rc = fib_ranges_create(fib->config.capacity + 1, &live);

	if (rc)
		return rc;
	atomic_store(&fib->live, live);
	return fib_ranges_create(fib->config.capacity + 1, &fib->spare);
}

int hs_fib_create(const struct hs_fib_config *config, struct hs_fib **out)
{
	struct hs_fib *fib = calloc(1, sizeof(*fib));
	int rc;

	if (!fib)
		return -ENOMEM;
	fib->config = *config;
	atomic_store(&fib->generation, 1);
	// While a batch replaces every next hop, the old and the new ones are stored.
	rc = fib_hops_init(&fib->hops, 2 * config->capacity);
	if (!rc)
		rc = make_tables(fib);
	if (rc) {
		hs_fib_destroy(fib);
		return rc;
	}
	*out = fib;
	return 0;
}

void hs_fib_destroy(struct hs_fib *fib)
{
	if (!fib)
		return;
	fib_ranges_destroy(live_table(fib));
	fib_ranges_destroy(fib->spare);
	fib_hops_fini(&fib->hops);
	free(fib->routes.entries);
	free(fib);
}

// ---- changing ----

static int compare_prefixes(const struct hs_route *a, const struct hs_route *b)
{
	int order = memcmp(a->prefix, b->prefix, sizeof(a->prefix));
	return order ? order : (int)a->depth - b->depth;
}

static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left, *b = right;
	int order = compare_prefixes(&a->change.route, &b->change.route);

	if (order)
		return order;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool is_prefix(const struct hs_route *route)
{
	if (route->depth > 128 || is_in_ipv4_space(route))
		return false;
	for (unsigned bit = route->depth; bit < 128; bit++) {
		if (route->prefix[bit / 8] & (0x80 >> bit % 8))
			return false;
	}
	return true;
}

static int sort_changes(const struct hs_fib_change *changes, size_t n, struct step *steps,
		struct hs_error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_prefix(&changes[i].route) ||
				(!changes[i].remove && changes[i].route.port == HS_FIB_NO_PORT))
			return hs_error_set(err, "bad_prefix", "prefix",
					"0 to 128 bits, and none set behind them",
					"change %zu: no prefix of %u bits, or no port", i,
					changes[i].route.depth);
		steps[i] = (struct step){.change = changes[i], .order = i};
		steps[i].change.route = to_table(&changes[i].route);
	}
	qsort(steps, n, sizeof(*steps), compare_steps);
	return 0;
}

// Leaves one step for each prefix, the last one, and finds the hop that the step replaces. Returns
// the number of steps, or -ENOENT.
static ssize_t fold(const struct list *routes, struct step *steps, size_t n, struct hs_error *err)
{
	size_t kept = 0;
	uint32_t at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct hs_route *route = &steps[i].change.route;
		bool again = kept && compare_prefixes(&steps[kept - 1].change.route, route) == 0;
		while (at < routes->n && compare_prefixes(&routes->entries[at].route, route) < 0)
			at++;
		bool there = at < routes->n &&
			     compare_prefixes(&routes->entries[at].route, route) == 0;
		uint32_t old_hop = there ? routes->entries[at].hop : 0;
		if (again)
			there = !steps[kept - 1].change.remove;
		if (steps[i].change.remove && !there) {
			hs_error_set(err, "no_such_route", "prefix", "a prefix that has a route",
					"change %zu removes what is not there", steps[i].order);
			return -ENOENT;
		}
		kept -= again;
		steps[kept] = steps[i];
		steps[kept++].old_hop = old_hop;
	}
	return (ssize_t)kept;
}

// Removes the steps that change nothing in the end. Returns how many steps are left.
static size_t drop_idle(const struct fib_hops *hops, struct step *steps, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct hs_route *route = &steps[i].change.route;
		const struct hs_next_hop *old = &hops->hops[steps[i].old_hop];
		bool idle = steps[i].change.remove
					    ? !steps[i].old_hop
					    : old->port == route->port &&
							      memcmp(old->mac, route->next_hop_mac,
									      sizeof(old->mac)) ==
									      0;
		if (!idle)
			steps[kept++] = steps[i];
	}
	return kept;
}

static uint32_t count_after(const struct list *routes, const struct step *steps, size_t n)
{
	uint32_t count = routes->n;

	for (size_t i = 0; i < n; i++) {
		count -= steps[i].old_hop != 0;
		count += !steps[i].change.remove;
	}
	return count;
}

static void give_old_hops(struct hs_fib *fib, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (steps[i].old_hop)
			fib_hops_give(&fib->hops, steps[i].old_hop);
	}
}

// Takes the next hops of the steps. There are always enough: twice as many as routes.
static void take_hops(struct hs_fib *fib, struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct hs_route *route = &steps[i].change.route;
		struct hs_next_hop hop = {.port = route->port};
		if (steps[i].change.remove)
			continue;
		memcpy(hop.mac, route->next_hop_mac, sizeof(hop.mac));
		steps[i].hop = fib_hops_take(&fib->hops, &hop);
	}
}

static void merge(const struct list *routes, const struct step *steps, size_t n, struct list *out)
{
	uint32_t at = 0;

	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct hs_route *route = &steps[i].change.route;
		while (at < routes->n && compare_prefixes(&routes->entries[at].route, route) < 0)
			out->entries[out->n++] = routes->entries[at++];
		at += steps[i].old_hop != 0;
		if (steps[i].hop)
			out->entries[out->n++] = (struct entry){*route, steps[i].hop};
	}
	while (at < routes->n)
		out->entries[out->n++] = routes->entries[at++];
}

static int no_memory(struct hs_error *err)
{
	hs_error_set(err, "no_memory", "prefix", "fewer routes, or more memory",
			"the list of routes does not fit the memory that is left");
	return -ENOMEM;
}

static int apply(struct hs_fib *fib, struct step *steps, size_t n, struct hs_error *err)
{
	uint32_t count = count_after(&fib->routes, steps, n);
	struct list list;

	if (count > fib->config.capacity) {
		hs_error_set(err, "table_full", "prefix", "fewer routes, or a larger memory.routes",
				"%u routes do not fit: the table has room for %u", count,
				fib->config.capacity);
		return -ENOSPC;
	}
	list.entries = malloc((count + 1) * sizeof(*list.entries));
	if (!list.entries)
		return no_memory(err);
	take_hops(fib, steps, n);
	merge(&fib->routes, steps, n, &list);
	publish(fib, &list);
	give_old_hops(fib, steps, n);
	free(fib->routes.entries);
	fib->routes = list;
	return 0;
}

int hs_fib_change(struct hs_fib *fib, const struct hs_fib_change *changes, size_t n,
		struct hs_error *err)
{
	if (!n)
		return 0;
	struct step *steps = malloc(n * sizeof(*steps));
	if (!steps)
		return no_memory(err);
	int rc = sort_changes(changes, n, steps, err);
	if (!rc) {
		ssize_t kept = fold(&fib->routes, steps, n, err);
		if (kept > 0)
			kept = (ssize_t)drop_idle(&fib->hops, steps, (size_t)kept);
		rc = kept > 0 ? apply(fib, steps, (size_t)kept, err) : (int)kept;
	}
	free(steps);
	return rc;
}

// ---- reading ----

uint32_t hs_fib_capacity(const struct hs_fib *fib)
{
	return fib->config.capacity;
}

static int compare_entries(const void *key, const void *entry)
{
	return compare_prefixes(key, &((const struct entry *)entry)->route);
}

bool hs_fib_find(const struct hs_fib *fib, const uint8_t prefix[16], uint8_t depth,
		struct hs_route *route)
{
	struct hs_route key = {.depth = depth};
	memcpy(key.prefix, prefix, sizeof(key.prefix));
	key = to_table(&key);
	const struct entry *entry =
			fib->routes.n ? bsearch(&key, fib->routes.entries, fib->routes.n,
							sizeof(*entry), compare_entries)
				      : NULL;
	if (!entry)
		return false;
	*route = from_table(&entry->route);
	return true;
}

uint64_t hs_fib_generation(const struct hs_fib *fib)
{
	return atomic_load_explicit(&fib->generation, memory_order_acquire);
}

uint64_t hs_fib_lookup(const struct hs_fib *fib, const uint8_t *const *dst, unsigned n,
		struct hs_next_hop *next)
{
	uint32_t numbers[HS_FIB_LOOKUP_MAX];

	uint64_t whole = fib_ranges_lookup(
			atomic_load_explicit(&fib->live, memory_order_acquire), dst, n, numbers);
	for (unsigned i = 0; i < n; i++)
		next[i] = fib->hops.hops[numbers[i]];
	return whole;
}

uint64_t hs_fib_bytes(uint32_t capacity)
{
	return 2 * (fib_ranges_bytes(capacity + 1) + 256);
}
