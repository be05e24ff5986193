// SPDX-License-Identifier: BSD-3-Clause
// Checks what a configuration file asks for before there is a node.
#include "api.h"
#include "api_read.h"
#include "api_requests.h"

#include "ip_address.h"

#include <errno.h>
#include <string.h>

void hs_api_look_at_request(json_t *item, struct hs_errors *errors)
{
	struct hs_api_envelope element = {.prefix = ""};
	struct hs_error err;
	unsigned before = errors->n;
	int verb;

	if (hs_api_read_verb(item, true, HS_API_CHANGES, &element, &verb, &err) < 0) {
		hs_errors_keep(errors, &err);
		return;
	}
	const char *name = hs_api_verbs[verb].name;
	hs_api_args_errors((enum hs_api_verb)verb, json_object_get(item, name), errors);
	hs_errors_prefix(errors, before, name);
}

// The next functions are a backend with empty tables of a given capacity, which accept everything.
static bool no_namespace(void *context, uint32_t ns_id)
{
	(void)context, (void)ns_id;
	return false;
}

static const struct hs_rule *no_rule(void *context, uint32_t ns_id)
{
	(void)context, (void)ns_id;
	return NULL;
}

static uint32_t rules_of(void *context)
{
	return ((const struct hs_api_check *)context)->rules;
}

static void no_masks(void *context, struct hs_rule_masks *masks)
{
	(void)context, (void)masks;
}

static struct hs_route_book *routes_of(void *context)
{
	return ((const struct hs_api_check *)context)->routes;
}

static int port_of(void *context, const char *name)
{
	const struct hs_api_check *check = context;
	return check->port_of ? check->port_of(check->context, name) : -1;
}

static int admits(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	const struct hs_api_check *check = context;
	return check->admits ? check->admits(check->context, rule, err) : 0;
}

// Returns whether a request is wrong by itself.
static bool is_wrong(json_t *request)
{
	struct hs_errors own = {0};

	hs_api_look_at_request(request, &own);
	return own.n > 0;
}

static int plan_all(
		const struct hs_api_backend *backend, json_t *requests, struct hs_errors *errors)
{
	struct hs_api_plan *plan = hs_api_plan_create(backend, json_array_size(requests));
	struct hs_error err = {0};
	unsigned before = errors->n;
	bool looked = ((const struct hs_api_check *)backend->context)->refused;
	bool refused = looked; // what was refused is missing later
	int rc = plan ? hs_api_check_is_list(requests, &err)
		      : hs_error_set(&err, "internal", "", "", "memory is out");

	if (rc)
		hs_errors_keep(errors, &err);
	for (size_t i = 0; rc == 0 && i < json_array_size(requests); i++) {
		if (looked && is_wrong(json_array_get(requests, i)))
			continue;
		if (hs_api_plan_item(plan, requests, i, "", HS_API_CHANGES, NULL, &err) == 0)
			continue;
		if (refused && strncmp(err.code, "no_such_", strlen("no_such_")) == 0)
			continue;
		refused = true;
		hs_errors_keep(errors, &err);
		if (strcmp(err.code, "table_full") == 0)
			break; // all further rules would get the same error
	}
	hs_api_plan_destroy(plan);
	return errors->n > before ? -EINVAL : 0;
}

int hs_api_check_list(json_t *requests, const struct hs_api_check *check, struct hs_errors *errors)
{
	struct hs_api_check copy = *check;
	const struct hs_api_backend empty = {.context = &copy,
			.ns_exists = no_namespace,
			.rule_of = no_rule,
			.rules_free = rules_of,
			.masks = no_masks,
			.admits = admits,
			.routes = routes_of,
			.port_of = port_of};
	return plan_all(&empty, requests, errors);
}

// ---- routes and neighbours of a file ----

void hs_api_look_at_route(json_t *route, struct hs_errors *errors)
{
	hs_api_args_errors(HS_VERB_ROUTE_ADD, route, errors);
}

void hs_api_look_at_neighbour(json_t *neighbour, struct hs_errors *errors)
{
	hs_api_args_errors(HS_VERB_NEIGHBOUR_ADD, neighbour, errors);
}

static int add_one(struct hs_api_args *args, const struct hs_api_check *check, struct hs_error *err)
{
	const char *key = args->verb == HS_VERB_ROUTE_ADD ? "prefix" : "addr";
	int rc = hs_api_resolve_port(check->port_of, check->context, args, err);

	if (rc)
		return rc;
	if (hs_route_book_find(check->routes, args->route.prefix, args->route.depth))
		return hs_error_set(err, "duplicate", key, "each prefix once",
				"%s: there is a route or neighbour of this address already", key);
	return hs_route_book_add(check->routes, &args->route, err);
}

// Returns whether the list has this neighbour, or one whose address cannot be read.
static bool may_have(json_t *neighbours, const uint8_t address[16])
{
	uint8_t own[16];
	json_t *item;
	size_t i;

	json_array_foreach (neighbours, i, item) {
		const char *text = json_string_value(json_object_get(item, "addr"));
		if (!text || hs_ip_address_read(text, own) || memcmp(own, address, 16) == 0)
			return true;
	}
	return false;
}

// `neighbours`: those that were added before, or refused.
static void add_list(enum hs_api_verb verb, json_t *list, const char *name, json_t *neighbours,
		const struct hs_api_check *check, struct hs_errors *errors)
{
	struct hs_error err = {0};
	struct hs_api_args args;

	for (size_t i = 0; i < json_array_size(list) && strcmp(err.code, "table_full") != 0; i++) {
		if (hs_api_args_from_json(verb, json_array_get(list, i), &args, &err) < 0 ||
				add_one(&args, check, &err) == 0)
			continue;
		if (strcmp(err.code, "no_such_neighbour") == 0 &&
				may_have(neighbours, args.route.via))
			continue;
		hs_api_prefix_item(&err, name, i);
		hs_errors_keep(errors, &err);
	}
}

void hs_api_check_routes(json_t *neighbours, json_t *routes, const struct hs_api_check *check,
		struct hs_errors *errors)
{
	add_list(HS_VERB_NEIGHBOUR_ADD, neighbours, "neighbours", NULL, check, errors);
	add_list(HS_VERB_ROUTE_ADD, routes, "routes", neighbours, check, errors);
}
