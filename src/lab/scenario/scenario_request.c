// SPDX-License-Identifier: BSD-3-Clause
// The requests of a scenario. An int_request is completed from its `traffic`; "*" makes one request
// for each entry of traffic. The requests that a node gets are checked in the order of the run, as
// the API would answer them.
#include "scenario_draft.h"

#include "api.h"
#include "ip_address.h"
#include "rule_field.h"
#include "rule_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_REQUESTS 100000
#define OPENING_NS   INT64_C(1000000000)

static const struct hs_schema_word all_traffic[] = {{"*", HS_DRAFT_ALL}, {NULL, 0}};

#define REQUEST(member) HS_SCHEMA_MEMBER(struct hs_draft, request.member)
static const struct hs_schema_field own_fields[] = {
		{"node", HS_SCHEMA_NAME, REQUEST(node), .names = &hs_draft_node_names,
				.words = hs_draft_all_nodes, .required = true,
				.expected = HS_DRAFT_NODES},
		{"traffic", HS_SCHEMA_NAME, REQUEST(traffic), .names = &hs_draft_traffic_names,
				.words = all_traffic,
				.expected = "the name of an entry of traffic, or \"*\""},
		{"reverse", HS_SCHEMA_BOOL, REQUEST(reverse)},
		{NULL},
};

// Reads the scenario's own keys of a request. The other keys are those of the API, whose check
// finds the errors in them.
int hs_draft_read_request(struct hs_draft *draft, json_t *object, bool in_event)
{
	struct hs_draft_request *asked = &draft->request;

	*asked = (struct hs_draft_request){.traffic = HS_NO_INDEX,
			.object = object,
			.own = &own_fields[in_event]}; // the event names the node
	if (hs_schema_read_as(&hs_draft_open, asked->own, object, draft->item.path, draft,
			    draft->err) < 0)
		return -EINVAL;
	if (asked->traffic != HS_NO_INDEX && !json_object_get(object, "int_request"))
		return hs_draft_refuse(draft, "traffic", "conflict", "only beside int_request",
				"only an int_request has addresses that traffic can fill in");
	if (asked->reverse && asked->traffic == HS_NO_INDEX)
		return hs_draft_refuse(draft, "reverse", "conflict", "only beside traffic",
				"there is no traffic whose replies are meant");
	if (in_event && asked->traffic == HS_DRAFT_ALL)
		return hs_draft_refuse(draft, "traffic", "bad_value",
				"the name of an entry of traffic",
				"an event makes one request, and \"*\" may be several");
	return 0;
}

// ---- filling in ----

// The packets of an entry of traffic, or the replies to them.
struct packets {
	const struct hs_scenario_host *from, *to;
	uint16_t src_port, dst_port;
	uint8_t protocol;
};

static struct packets packets_of(const struct hs_scenario *s, uint32_t index, bool reverse)
{
	const struct hs_scenario_traffic *t = &s->traffic[index];
	const struct hs_scenario_host *from = &s->hosts[t->from], *to = &s->hosts[t->to];

	return reverse ? (struct packets){to, from, t->dst_port, t->src_port, t->protocol}
		       : (struct packets){from, to, t->src_port, t->dst_port, t->protocol};
}

// Returns what an int_request leaves out.
static json_t *defaults(const struct hs_scenario *scenario, uint32_t index, bool reverse)
{
	const struct packets of = packets_of(scenario, index, reverse);
	char src[HS_IP_ADDRESS_TEXT], dst[HS_IP_ADDRESS_TEXT];

	return json_pack("{s:I, s:i, s:s, s:s, s:i, s:i, s:s, s:s}", "ns_id", (json_int_t)index + 1,
			"app_id", 1, "src_ip", hs_ip_address_write(of.from->addr, src), "dst_ip",
			hs_ip_address_write(of.to->addr, dst), "src_port", of.src_port, "dst_port",
			of.dst_port, "protocol",
			of.protocol == IPPROTO_GRE ? "any" : hs_rule_protocol_name(of.protocol),
			"trace_type", "0x7000E000");
}

// ---- the flows that requests monitor ----

// As everywhere in rules, port 0 is any port.
static bool matches(const struct hs_scenario *scenario, const struct hs_rule *rule, uint32_t index,
		bool reverse)
{
	const struct packets of = packets_of(scenario, index, reverse);

	return (rule->protocol == HS_RULE_ANY_PROTOCOL || rule->protocol == of.protocol) &&
	       (!rule->src_port || rule->src_port == of.src_port) &&
	       (!rule->dst_port || rule->dst_port == of.dst_port) &&
	       hs_ip_prefix_has(rule->src_ip, rule->src_host_bits, of.from->addr) &&
	       hs_ip_prefix_has(rule->dst_ip, rule->dst_host_bits, of.to->addr);
}

// Finds the entry of traffic that the flow's rule matches. The entry that the request named has
// precedence, because two pings in opposite directions look alike.
static void find_traffic(const struct hs_scenario *scenario, const struct hs_rule *rule,
		struct hs_scenario_flow *flow)
{
	uint32_t n = (uint32_t)scenario->n_traffic;

	if (flow->traffic != HS_NO_INDEX && matches(scenario, rule, flow->traffic, flow->reverse))
		return;
	flow->traffic = HS_NO_INDEX;
	flow->reverse = false;
	for (uint32_t i = 0; i < 2 * n; i++) {
		if (!matches(scenario, rule, i % n, i >= n))
			continue;
		flow->traffic = i % n;
		flow->reverse = i >= n;
		return;
	}
}

static void describe(struct hs_scenario *scenario, struct hs_scenario_flow *flow)
{
	bool reverse = flow->reverse;

	if (flow->traffic == HS_NO_INDEX) {
		snprintf(flow->name, sizeof(flow->name), "ns-%u", flow->ns_id);
		return;
	}
	struct hs_scenario_traffic *traffic = &scenario->traffic[flow->traffic];
	if (traffic->flows[reverse] == HS_NO_INDEX)
		traffic->flows[reverse] = (uint32_t)scenario->n_flows;
	snprintf(flow->name, sizeof(flow->name), "%s%s", traffic->name, reverse ? "/reply" : "");
	flow->source = packets_of(scenario, flow->traffic, reverse).from->at;
	flow->sink = packets_of(scenario, flow->traffic, reverse).to->at;
	if (scenario->opening_packet)
		traffic->opening_ns = OPENING_NS;
}

// Adds the flow that a request monitors, if it is new. Flows are found by their number, so that
// thousands of them do not make each more expensive.
static int add_flow(struct hs_draft *draft, const json_t *content, uint32_t traffic)
{
	struct hs_scenario *scenario = &draft->scenario;
	struct hs_scenario_flow flow = {.traffic = traffic, .reverse = draft->request.reverse};
	struct hs_error ignored;
	struct hs_rule rule;
	char name[16];

	if (!content || hs_rule_from_json(content, &rule, &ignored) < 0)
		return 0;
	snprintf(name, sizeof(name), "%u", rule.ns_id);
	if (hs_draft_find_name(draft, HS_NAME_FLOW, name) != HS_NO_INDEX)
		return 0;
	flow.ns_id = rule.ns_id;
	flow.app_id = rule.app_id;
	find_traffic(scenario, &rule, &flow);
	describe(scenario, &flow);
	return hs_draft_add_name(draft, HS_NAME_FLOW, name, scenario->n_flows)
			       ?: HS_DRAFT_APPEND(draft, flows, &flow);
}

// ---- requests of the API ----

int hs_draft_make_request(struct hs_draft *draft, uint32_t traffic, bool monitors, json_t **request)
{
	const struct hs_draft_request *asked = &draft->request;
	json_t *made = json_deep_copy(asked->object);
	json_t *content = json_object_get(made, "int_request");
	int rc = made ? 0 : hs_draft_no_memory(draft);

	for (const struct hs_schema_field *own = asked->own; own->key; own++)
		json_object_del(made, own->key);
	if (traffic != HS_NO_INDEX && json_is_object(content)) {
		json_t *absent = defaults(&draft->scenario, traffic, asked->reverse);
		if (json_object_get(content, "method")) // the method says what the rule collects
			json_object_del(absent, "trace_type");
		if (json_object_update_missing(content, absent) < 0)
			rc = hs_draft_no_memory(draft);
		json_decref(absent);
	}
	if (rc == 0 && monitors)
		rc = add_flow(draft, content, traffic);
	if (rc < 0)
		json_decref(made);
	else
		*request = made;
	return rc;
}

// ---- the list ----

static int add_request(struct hs_draft *draft, uint32_t traffic)
{
	struct hs_scenario_request request = {
			.node = draft->request.node, .entry = (uint32_t)draft->item.index};

	if (draft->scenario.n_requests == MAX_REQUESTS)
		return hs_error_set(draft->err, "out_of_range", "requests",
				"at most 100000 requests", "there are more than %d requests",
				MAX_REQUESTS);
	int rc = hs_draft_make_request(draft, traffic, true, &request.request)
				 ?: HS_DRAFT_APPEND(draft, requests, &request);
	if (rc < 0)
		json_decref(request.request);
	return rc;
}

static int take_request(void *into, const struct hs_schema_item *item, struct hs_error *err)
{
	struct hs_draft *draft = into;

	if (draft->broken)
		return 0;
	draft->item = *item;
	int rc = hs_draft_read_request(draft, item->value, false);
	if (rc == 0 && draft->request.traffic != HS_DRAFT_ALL)
		rc = add_request(draft, draft->request.traffic);
	for (uint32_t t = 0; draft->request.traffic == HS_DRAFT_ALL &&
			     t < draft->scenario.n_traffic && rc == 0;
			t++)
		rc = add_request(draft, t);
	if (rc < 0)
		*err = *draft->err;
	return rc;
}

const struct hs_schema_list hs_draft_request_list = {.item = {.kind = HS_SCHEMA_JSON},
		.item_bytes = sizeof(json_t *),
		.take = take_request};

// ---- what a node gets ----

// Adds a request to a list, and its place to another.
static int add(json_t *list, json_t *request, json_t *places, json_t *place)
{
	int rc = json_array_append(list, request) | json_array_append_new(places, place);

	return rc < 0 ? -ENOMEM : 0;
}

int hs_scenario_list_requests(
		const struct hs_scenario *scenario, uint32_t node, json_t *list, json_t *places)
{
	int rc = 0;

	for (size_t i = 0; i < scenario->n_requests && rc == 0; i++) {
		const struct hs_scenario_request *request = &scenario->requests[i];
		if (hs_scenario_has_node(request->node, node))
			rc = add(list, request->request, places,
					json_sprintf("requests[%u]", request->entry));
	}
	return rc;
}

void hs_scenario_place_error(const json_t *places, struct hs_error *err)
{
	char rest[sizeof(err->path)];
	size_t index;
	int used = 0;

	if (sscanf(err->path, "[%zu]%n", &index, &used) != 1 || used == 0)
		return;
	snprintf(rest, sizeof(rest), "%.100s", err->path + used);
	snprintf(err->path, sizeof(err->path), "%s%s",
			json_string_value(json_array_get(places, index)), rest);
}

// ---- checking ----

// The requests that a node has got up to a time of the run.
struct history {
	const struct hs_draft *draft;
	json_t *list, *places;
};

static int begin(struct history *history, uint32_t node)
{
	json_array_clear(history->list);
	json_array_clear(history->places);
	return hs_scenario_list_requests(
			&history->draft->scenario, node, history->list, history->places);
}

static int check_list(const struct history *history)
{
	const struct hs_api_check check = {.rules = history->draft->scenario.rules};
	struct hs_error *err = history->draft->err;
	struct hs_errors errors = {0};
	int rc = hs_api_check_list(history->list, &check, &errors);

	if (rc == 0)
		return 0;
	*err = errors.list[0];
	hs_scenario_place_error(history->places, err);
	if (strcmp(err->code, "table_full") == 0)
		snprintf(err->expected, sizeof(err->expected), "fewer requests, or larger rules");
	return rc;
}

// Checks the requests of a node. A repeating event is checked once. Its repetitions may fail during
// the run.
static int check_node(struct history *history, uint32_t node)
{
	int rc = begin(history, node);

	for (size_t i = 0; i < history->draft->scenario.n_events && rc == 0; i++) {
		const struct hs_scenario_event *event = &history->draft->scenario.events[i];
		if (event->kind == HS_LAB_EVENT_RESTART && event->node == node) {
			rc = check_list(history) ?: begin(history, node);
		} else if (event->kind == HS_LAB_EVENT_REQUEST &&
				hs_scenario_has_node(event->node, node)) {
			rc = add(history->list, event->request, history->places,
					json_sprintf("events[%u].request", event->entry));
		}
	}
	return rc ?: check_list(history);
}

// Returns whether a request or an event names the node. All other nodes get the same requests, so
// that one of them is checked for all.
static bool is_named(const struct hs_scenario *scenario, uint32_t node)
{
	for (size_t i = 0; i < scenario->n_requests; i++)
		if (scenario->requests[i].node == node)
			return true;
	for (size_t i = 0; i < scenario->n_events; i++)
		if (scenario->events[i].node == node)
			return true;
	return false;
}

int hs_draft_check_requests(const struct hs_draft *draft)
{
	struct history history = {.draft = draft, .list = json_array(), .places = json_array()};
	bool checked_others = false;
	int rc = 0;

	for (uint32_t node = 0; node < draft->scenario.n_nodes && rc == 0; node++) {
		bool own = is_named(&draft->scenario, node);
		if (own || !checked_others)
			rc = check_node(&history, node);
		checked_others |= !own;
	}
	json_decref(history.list);
	json_decref(history.places);
	return rc == -ENOMEM ? hs_draft_no_memory(draft) : rc;
}
