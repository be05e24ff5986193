// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours. Requests change the book. The changes that follow from a whole list of
// requests reach the forwarding table as one change.
#include "control_route.h"

#include "metric.h"
#include "node.h"
#include "route_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct hs_fib_change to_fib(const struct hs_route_change *from)
{
	struct hs_fib_change to = {.remove = from->remove,
			.route = {.depth = from->depth, .port = from->port}};

	memcpy(to.route.prefix, from->prefix, sizeof(to.route.prefix));
	memcpy(to.route.next_hop_mac, from->mac, sizeof(to.route.next_hop_mac));
	return to;
}

int hs_control_commit_routes(struct control_routes *routes, struct hs_error *err)
{
	size_t n;
	const struct hs_route_change *from = hs_route_book_changes(routes->book, &n);

	if (!n)
		return 0;
	struct hs_fib_change *changes = malloc(n * sizeof(*changes));
	if (!changes) {
		hs_error_set(err, "no_memory", "", "", "memory is out");
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		changes[i] = to_fib(&from[i]);
	int rc = hs_fib_change(hs_node_fib(routes->node), changes, n, err);
	free(changes);
	if (rc == 0)
		hs_route_book_forget_changes(routes->book);
	return rc;
}

int hs_control_open_routes(struct control_routes *routes, struct hs_node *node)
{
	struct hs_fib *fib = hs_node_fib(node);

	routes->node = node;
	if (!fib)
		return 0;
	routes->book = hs_route_book_create(hs_fib_capacity(fib));
	return routes->book ? 0 : -ENOMEM;
}

void hs_control_close_routes(struct control_routes *routes)
{
	hs_route_book_destroy(routes->book);
}

void hs_control_route_totals(const struct control_routes *routes, struct hs_node_totals *totals)
{
	totals->generation += routes->changes;
	if (!routes->book)
		return;
	totals->routes = hs_route_book_count(routes->book);
	totals->routes_capacity = hs_fib_capacity(hs_node_fib(routes->node));
	totals->neighbours = hs_route_book_neighbours(routes->book);
}

// ---- as JSON ----

struct shown_route {
	char prefix[HS_ROUTE_TEXT], addr[HS_ROUTE_TEXT], mac[HS_ROUTE_TEXT], via[HS_ROUTE_TEXT];
	const char *port;
	bool neighbour;
	uint32_t routes;
};

#define ROUTE(...)    HS_SCHEMA_ROW(struct shown_route, __VA_ARGS__)
#define PORT	      ROUTE(STRING, port, "the port's name")
#define PREFIX(...)   ROUTE(TEXT, prefix, "destinations", .required = true)
#define ADDRESS(text) ROUTE(TEXT, addr, text, .required = true)
#define NEXT_HOP                                                                                   \
	HS_SCHEMA_ROW_AS(struct shown_route, TEXT, "next_hop_mac", mac,                            \
			"whom packets are sent to", .required = true)
static const struct hs_schema_field route_fields[] = {
		PREFIX(),
		PORT,
		NEXT_HOP,
		ROUTE(TEXT, via, "the neighbour that the route follows"),
		ROUTE(BOOL, neighbour, "the route to a neighbour", .optional = true),
		{NULL},
};
static const struct hs_schema_field neighbour_fields[] = {
		ADDRESS("the neighbour"),
		PORT,
		ROUTE(TEXT, mac, "its MAC address", .required = true),
		ROUTE(UINT, routes, "routes via this neighbour"),
		{NULL},
};
// What a request contained; the same rows print the replies to changes.
static const struct hs_schema_field direct_request[] = {PREFIX(), PORT, NEXT_HOP, {NULL}};
static const struct hs_schema_field via_request[] = {PREFIX(), ROUTE(TEXT, via, NULL), {NULL}};
static const struct hs_schema_field neighbour_request[] = {
		ADDRESS(NULL), PORT, ROUTE(TEXT, mac, NULL), {NULL}};
const struct hs_schema_field hs_control_route_fields[] = {PREFIX(), {NULL}};
const struct hs_schema_field hs_control_neighbour_fields[] = {ADDRESS("the neighbour"), {NULL}};

static struct shown_route show(
		const struct control_routes *routes, const struct hs_route_entry *entry)
{
	struct shown_route route = {
			.routes = entry->users, .neighbour = entry->kind == HS_ROUTE_NEIGHBOUR};

	hs_route_prefix_text(entry->prefix, entry->depth, route.prefix);
	hs_route_prefix_text(entry->prefix, 128, route.addr);
	hs_route_mac_text(entry->mac, route.mac);
	if (entry->kind == HS_ROUTE_VIA)
		hs_route_prefix_text(entry->via, 128, route.via);
	route.port = hs_node_port(routes->node, entry->port)->config.name;
	return route;
}

json_t *hs_control_route_change(
		const struct control_routes *routes, const struct hs_route_entry *entry)
{
	const struct shown_route route = show(routes, entry);
	const struct hs_schema_field *fields = route.neighbour ? neighbour_request
					       : route.via[0]  ? via_request
							       : direct_request;

	return json_pack("{s:o}", route.neighbour ? "neighbour_add" : "route_add",
			hs_schema_print(fields, &route));
}

// ---- verbs ----

int hs_control_change_routes(struct control_routes *routes, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	bool neighbour = args->verb == HS_VERB_NEIGHBOUR_ADD ||
			 args->verb == HS_VERB_NEIGHBOUR_DELETE;
	bool add = args->verb == HS_VERB_NEIGHBOUR_ADD || args->verb == HS_VERB_ROUTE_ADD;
	const struct hs_route_entry *route = &args->route;
	int rc = add ? hs_route_book_add(routes->book, route, err)
		     : hs_route_book_delete(
				       routes->book, route->prefix, route->depth, neighbour, err);

	if (rc < 0)
		return rc;
	routes->changes++;
	struct shown_route shown;
	hs_route_prefix_text(route->prefix, route->depth, shown.prefix);
	hs_route_prefix_text(route->prefix, route->depth, shown.addr);
	*result = hs_schema_print(
			neighbour ? hs_control_neighbour_fields : hs_control_route_fields, &shown);
	return 0;
}

struct page {
	json_t *routes, *neighbours;
	uint64_t count, next;
};

#define PAGE(...) HS_SCHEMA_ROW(struct page, __VA_ARGS__)
#define COUNT	  PAGE(UINT, count, "how many there are")
#define NEXT	  PAGE(UINT, next, "the offset of the next page", .optional = true)
const struct hs_schema_field hs_control_routes_fields[] = {
		PAGE(TAKEN, routes, "the routes of the page", .items = route_fields),
		COUNT,
		NEXT,
		{NULL},
};
const struct hs_schema_field hs_control_neighbours_fields[] = {
		PAGE(TAKEN, neighbours, "the neighbours of the page", .items = neighbour_fields),
		COUNT,
		NEXT,
		{NULL},
};

int hs_control_list_routes(const struct control_routes *routes, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	bool neighbours = args->verb == HS_VERB_NEIGHBOUR_LIST;

	uint64_t count = neighbours ? hs_route_book_neighbours(routes->book)
				    : hs_route_book_count(routes->book);
	uint64_t end = args->offset + args->limit < count ? args->offset + args->limit : count;
	uint64_t at = neighbours ? 0 : args->offset; // index among the listed entries
	uint32_t index = (uint32_t)at;		     // index in the book
	const struct hs_route_entry *entry;
	json_t *list = json_array();
	size_t used = 0;

	while (at < end && (entry = hs_route_book_at(routes->book, index++))) {
		if (neighbours && entry->kind != HS_ROUTE_NEIGHBOUR)
			continue;
		const struct shown_route route = show(routes, entry);
		if (at < args->offset ||
				hs_api_page_add(args, list,
						hs_schema_print(neighbours ? neighbour_fields
									   : route_fields,
								&route),
						&used))
			at++;
		else
			end = at;
	}
	if (at < end) { // the book could not be sorted
		json_decref(list);
		hs_error_set(err, "no_memory", "", "", "memory is out");
		return -ENOMEM;
	}
	const struct page page = {list, list, count, end < count && args->offset < end ? end : 0};
	*result = hs_schema_print(
			neighbours ? hs_control_neighbours_fields : hs_control_routes_fields,
			&page);
	return 0;
}
