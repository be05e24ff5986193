// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours. Requests change the book. The changes that follow from a whole list of
// requests reach the forwarding table as one change.
#include "control_route.h"
#include "control_parts.h"

#include "route_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct hs_route_book *routes_of(void *context)
{
	return ((struct hs_control *)context)->routes;
}

static int port_of(void *context, const char *name)
{
	const struct hs_control *control = context;

	for (uint16_t i = 0; i < hs_node_port_count(control->node); i++) {
		if (strcmp(hs_node_port(control->node, i)->config.name, name) == 0)
			return i;
	}
	return -1;
}

static struct hs_fib_change to_fib(const struct hs_route_change *from)
{
	struct hs_fib_change to = {.remove = from->remove,
			.route = {.depth = from->depth, .port = from->port}};

	memcpy(to.route.prefix, from->prefix, sizeof(to.route.prefix));
	memcpy(to.route.next_hop_mac, from->mac, sizeof(to.route.next_hop_mac));
	return to;
}

// If it fails, the changes stay: the changes that revert them follow.
static int commit_routes(void *context, struct hs_error *err)
{
	struct hs_control *control = context;
	size_t n;
	const struct hs_route_change *from = hs_route_book_changes(control->routes, &n);

	if (!n)
		return 0;
	struct hs_fib_change *changes = malloc(n * sizeof(*changes));
	if (!changes) {
		hs_error_set(err, "no_memory", "", "", "memory is out");
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		changes[i] = to_fib(&from[i]);
	int rc = hs_fib_change(hs_node_fib(control->node), changes, n, err);
	free(changes);
	if (rc == 0)
		hs_route_book_forget_changes(control->routes);
	return rc;
}

int hs_control_open_routes(struct hs_control *control)
{
	struct hs_fib *fib = hs_node_fib(control->node);

	control->backend.routes = routes_of;
	control->backend.port_of = port_of;
	control->backend.commit_routes = commit_routes;
	if (!fib)
		return 0;
	control->routes = hs_route_book_create(hs_fib_capacity(fib));
	return control->routes ? 0 : -ENOMEM;
}

// ---- verbs ----

int hs_control_change_routes(struct hs_control *control, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	bool neighbour = args->verb == HS_VERB_NEIGHBOUR_ADD ||
			 args->verb == HS_VERB_NEIGHBOUR_DELETE;
	bool add = args->verb == HS_VERB_NEIGHBOUR_ADD || args->verb == HS_VERB_ROUTE_ADD;
	const struct hs_route_entry *route = &args->route;
	char text[HS_ROUTE_TEXT];
	int rc = add ? hs_route_book_add(control->routes, route, err)
		     : hs_route_book_delete(control->routes, route->prefix, route->depth, neighbour,
				       err);

	if (rc < 0)
		return rc;
	control->generation++;
	*result = json_pack("{s:s}", neighbour ? "addr" : "prefix",
			hs_route_prefix_text(route->prefix, route->depth, text));
	return 0;
}

static json_t *route_of(const struct hs_control *control, const struct hs_route_entry *entry)
{
	char prefix[HS_ROUTE_TEXT], mac[HS_ROUTE_TEXT], via[HS_ROUTE_TEXT];
	json_t *route = json_pack("{s:s, s:s, s:s}", "prefix",
			hs_route_prefix_text(entry->prefix, entry->depth, prefix), "port",
			hs_node_port(control->node, entry->port)->config.name, "next_hop_mac",
			hs_route_mac_text(entry->mac, mac));

	if (entry->kind == HS_ROUTE_VIA)
		json_object_set_new(route, "via",
				json_string(hs_route_prefix_text(entry->via, 128, via)));
	if (entry->kind == HS_ROUTE_NEIGHBOUR)
		json_object_set_new(route, "neighbour", json_true());
	return route;
}

json_t *hs_control_route_change(
		const struct hs_control *control, const struct hs_route_entry *entry)
{
	char prefix[HS_ROUTE_TEXT], mac[HS_ROUTE_TEXT], via[HS_ROUTE_TEXT];
	const char *port = hs_node_port(control->node, entry->port)->config.name;

	hs_route_prefix_text(entry->prefix, entry->depth, prefix);
	hs_route_mac_text(entry->mac, mac);
	hs_route_prefix_text(entry->via, 128, via);
	switch (entry->kind) {
	case HS_ROUTE_VIA:
		return json_pack("{s:{s:s, s:s}}", "route_add", "prefix", prefix, "via", via);
	case HS_ROUTE_NEIGHBOUR:
		hs_route_prefix_text(entry->prefix, 128, prefix);
		return json_pack("{s:{s:s, s:s, s:s}}", "neighbour_add", "addr", prefix, "port",
				port, "mac", mac);
	default:
		return json_pack("{s:{s:s, s:s, s:s}}", "route_add", "prefix", prefix, "port", port,
				"next_hop_mac", mac);
	}
}

static json_t *neighbour_of(const struct hs_control *control, const struct hs_route_entry *entry)
{
	char addr[HS_ROUTE_TEXT], mac[HS_ROUTE_TEXT];

	return json_pack("{s:s, s:s, s:s, s:I}", "addr",
			hs_route_prefix_text(entry->prefix, 128, addr), "port",
			hs_node_port(control->node, entry->port)->config.name, "mac",
			hs_route_mac_text(entry->mac, mac), "routes", (json_int_t)entry->users);
}

int hs_control_list_routes(struct hs_control *control, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	bool neighbours = args->verb == HS_VERB_NEIGHBOUR_LIST;

	uint64_t count = neighbours ? hs_route_book_neighbours(control->routes)
				    : hs_route_book_count(control->routes);
	uint64_t end = args->offset + args->limit < count ? args->offset + args->limit : count;
	uint64_t at = neighbours ? 0 : args->offset; // index among the listed entries
	uint32_t index = (uint32_t)at;		     // index in the book
	const struct hs_route_entry *entry;
	json_t *list = json_array();
	size_t used = 0;

	while (at < end && (entry = hs_route_book_at(control->routes, index++))) {
		if (neighbours && entry->kind != HS_ROUTE_NEIGHBOUR)
			continue;
		if (at < args->offset || hs_api_page_add(args, list,
							 neighbours ? neighbour_of(control, entry)
								    : route_of(control, entry),
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
	*result = json_pack("{s:o, s:I}", neighbours ? "neighbours" : "routes", list, "count",
			(json_int_t)count);
	if (end < count && args->offset < end)
		json_object_set_new(*result, "next", json_integer((json_int_t)end));
	return 0;
}
