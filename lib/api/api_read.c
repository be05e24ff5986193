// SPDX-License-Identifier: BSD-3-Clause
#include "api_read.h"

#include "api_verbs.h"
#include "ip_address.h"
#include "route_text.h"
#include "rule_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A window of any place needs both its ends and one rule, and has no other length.
static int check_own_window(
		const json_t *content, const struct hs_api_args *args, struct hs_error *err)
{
	static const char *const needed[] = {"start_ns", "end_ns", "ns_id"};

	if (!json_object_get(content, "start_ns") && !json_object_get(content, "end_ns"))
		return 0;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!json_object_get(content, needed[i]))
			return hs_error_set(err, "missing_field", needed[i],
					"start_ns, end_ns and ns_id together", "%s is missing",
					needed[i]);
	}
	if (json_object_get(content, "window"))
		return hs_error_set(err, "unknown_field", "window", "start_ns, end_ns and ns_id",
				"window has a length of its own");
	if (args->end_ns <= args->start_ns)
		return hs_error_set(err, "out_of_range", "end_ns", "above start_ns",
				"the window ends at %lld, before it starts",
				(long long)args->end_ns);
	return 0;
}

static int check_application(
		const json_t *content, const struct hs_api_args *args, struct hs_error *err)
{
	static const char *const others[] = {"ns_id", "start_ns", "end_ns", "offset"};

	for (size_t i = 0; args->app_id && i < sizeof(others) / sizeof(others[0]); i++) {
		if (json_object_get(content, others[i]))
			return hs_error_set(err, "unknown_field", others[i],
					"app_id, window and limit", "%s does not go with app_id",
					others[i]);
	}
	return 0;
}

// Refuses the id of a port without its node, because each node has its own ids of ports.
static int check_port(const struct hs_api_args *args, struct hs_error *err)
{
	if (!args->label_id || args->node[0])
		return 0;
	return hs_error_set(err, "missing_field", "node", "node and id together",
			"node is missing: id is of a port of a node");
}

// A request names a next hop in one of two ways.
static int check_next_hop(const json_t *content, struct hs_api_args *args, struct hs_error *err)
{
	static const char *const direct[] = {"port", "next_hop_mac"};
	static const char allowed[] = "via, or port and next_hop_mac";
	bool via = json_object_get(content, "via") != NULL;

	args->route.kind = via ? HS_ROUTE_VIA : HS_ROUTE_DIRECT;
	for (size_t i = 0; i < sizeof(direct) / sizeof(direct[0]); i++) {
		bool there = json_object_get(content, direct[i]) != NULL;
		if (via && there)
			return hs_error_set(err, "conflict", direct[i], allowed,
					"%s: the neighbour has its own", direct[i]);
		if (!via && !there)
			return hs_error_set(err, "missing_field", direct[i], allowed,
					"%s: is missing", direct[i]);
	}
	return 0;
}

// Group addresses, loopback and the unspecified address belong to no neighbour.
static int check_neighbour(struct hs_api_args *args, struct hs_error *err)
{
	const uint8_t *addr = args->route.prefix;

	args->route.kind = HS_ROUTE_NEIGHBOUR;
	args->route.depth = 128;
	if (hs_ip_address_is_multicast(addr) || hs_ip_address_is_loopback(addr) ||
			hs_ip_address_is_any(addr))
		return hs_error_set(err, "bad_value", "addr", "the address of one station",
				"addr: no neighbour can have this address");
	return 0;
}

static int check_together(enum hs_api_verb verb, const json_t *content, struct hs_api_args *args,
		struct hs_error *err)
{
	switch (verb) {
	case HS_VERB_QOS_GET:
		if (check_application(content, args, err))
			return -EINVAL;
		return check_own_window(content, args, err);
	case HS_VERB_LABEL_GET:
		return check_port(args, err);
	case HS_VERB_ROUTE_ADD:
		return check_next_hop(content, args, err);
	case HS_VERB_NEIGHBOUR_ADD:
	case HS_VERB_NEIGHBOUR_DELETE:
		return check_neighbour(args, err);
	default:
		return 0;
	}
}

// Reads a rule and "on", which says where the rule belongs. All other members belong to the rule.
// Without ns_id, the rule is read with an arbitrary one and gets its own when it is planned.
static int read_rule(const json_t *content, struct hs_api_args *args, struct hs_error *err)
{
	bool named = json_object_get(content, "ns_id");
	json_t *rest = NULL;

	args->on = json_object_get(content, "on");
	if (args->on || !named) {
		rest = json_copy((json_t *)content);
		json_object_del(rest, "on");
	}
	if (!named)
		json_object_set_new(rest, "ns_id", json_integer(1));
	int rc = hs_rule_from_json(rest ? rest : content, &args->rule, err);
	args->rule.ns_id = named ? args->rule.ns_id : 0;
	args->ns_id = args->rule.ns_id;
	json_decref(rest);
	return rc;
}

// Returns the style of a verb's errors. `unknown` is the memory of the style's text.
static struct hs_schema_style style_of(enum hs_api_verb verb, char unknown[64])
{
	snprintf(unknown, 64, " is not a field of %s", hs_api_verbs[verb].name);
	return verb == HS_VERB_INT_REQUEST ? hs_rule_style
	       : verb == HS_VERB_INT_UPDATE
			       ? hs_rule_update_style
			       : (struct hs_schema_style){": is missing", unknown, ", "};
}

static int read_fields(enum hs_api_verb verb, json_t *content, struct hs_api_args *args,
		struct hs_error *err)
{
	char unknown[64];
	const struct hs_schema_style style = style_of(verb, unknown);
	int rc = hs_schema_read_as(&style, hs_api_verb_fields(verb, NULL), content, "", args, err);
	args->has_ns_id = args->ns_id != 0;
	return rc ? rc : check_together(verb, content, args, err);
}

int hs_api_args_from_json(enum hs_api_verb verb, const json_t *content, struct hs_api_args *args,
		struct hs_error *err)
{
	int rc;

	memset(args, 0, sizeof(*args));
	args->verb = verb;
	args->limit = HS_API_PAGE;
	if (!json_is_object(content))
		return hs_error_set(err, "wrong_type", "", "an object",
				"the content of %s is not an object", hs_api_verbs[verb].name);

	if (verb == HS_VERB_INT_REQUEST)
		rc = read_rule(content, args, err);
	else if (verb == HS_VERB_INT_UPDATE)
		rc = hs_rule_update_from_json(content, &args->ns_id, &args->update, err);
	else
		return read_fields(verb, (json_t *)content, args, err);
	args->has_ns_id = rc == 0;
	return rc;
}

// Checks whether values go together only if each value is right by itself.
void hs_api_args_errors(enum hs_api_verb verb, json_t *content, struct hs_errors *errors)
{
	struct hs_schema_field of_rule[HS_RULE_ROWS + 1];
	const struct hs_schema_field *fields = hs_api_verb_fields(verb, of_rule);
	char unknown[64];
	const struct hs_schema_style style = style_of(verb, unknown);
	json_t *rest = verb == HS_VERB_INT_REQUEST ? json_copy(content) : json_incref(content);
	struct hs_api_args args = {.verb = verb};
	struct hs_rule rule;
	struct hs_error err;
	unsigned before = errors->n;

	hs_rule_init(&rule);
	if (verb == HS_VERB_INT_REQUEST)
		json_object_del(rest, "on");
	if (json_is_object(rest))
		hs_schema_read_all_as(&style, fields, rest, "",
				fields == of_rule ? (void *)&rule : &args, errors);
	json_decref(rest);
	if (errors->n == before && hs_api_args_from_json(verb, content, &args, &err) < 0)
		hs_errors_keep(errors, &err);
}
