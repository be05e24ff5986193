// SPDX-License-Identifier: BSD-3-Clause
// The requests of a scenario. They are completed from `traffic`; "*" makes one request for each
// entry.
#include "scenario_parts.h"

#include "rule_field.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REQUESTS 100000
#define TRAFFIC	     "the name of an entry of traffic, or \"*\""

#define WISH(member) HS_SCHEMA_MEMBER(struct hs_scenario_wish, member)
#define COMMON_ROWS                                                                                \
	{"traffic", HS_SCHEMA_NAME, WISH(traffic), .names = &hs_scenario_traffic_names,            \
			.words = hs_scenario_all_words, .expected = TRAFFIC},                      \
	{                                                                                          \
		"reverse", HS_SCHEMA_BOOL, WISH(reverse)                                           \
	}
static const struct hs_schema_field request_fields[] = {
		{"node", HS_SCHEMA_NAME, WISH(node), .names = &hs_scenario_node_names,
				.words = hs_scenario_all_words, .required = true,
				.expected = HS_SCENARIO_NODES},
		COMMON_ROWS,
		{NULL},
};
static const struct hs_schema_field event_fields[] = {COMMON_ROWS, {NULL}};

static bool is_ours(const struct hs_schema_field *fields, const char *key)
{
	for (; fields->key; fields++)
		if (strcmp(fields->key, key) == 0)
			return true;
	return false;
}

// Separates the scenario's own keys from the keys of the API, whose check finds the errors in them.
static int split(const struct hs_schema_field *fields, json_t *object, const char *path,
		json_t **ours, json_t **theirs, struct hs_error *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return hs_schema_wrong_type(object, path, "an object", err);
	*ours = json_object();
	*theirs = json_object();
	json_object_foreach (object, key, value) {
		if (json_object_set(is_ours(fields, key) ? *ours : *theirs, key, value) < 0)
			return hs_scenario_no_memory(err);
	}
	return *ours && *theirs ? 0 : hs_scenario_no_memory(err);
}

int hs_scenario_read_wish(const struct hs_scenario_draft *draft, json_t *object, const char *path,
		bool in_event, struct hs_scenario_wish *wish, struct hs_error *err)
{
	const struct hs_schema_field *fields = in_event ? event_fields : request_fields;
	struct hs_scenario_wish read = {.draft = draft, .traffic = HS_NO_INDEX};
	bool has_traffic;
	json_t *ours = NULL, *theirs = NULL;

	int rc = split(fields, object, path, &ours, &theirs, err);
	if (rc == 0)
		rc = hs_schema_read(fields, ours, path, &read, err);
	has_traffic = read.traffic != HS_NO_INDEX;
	if (rc == 0 && has_traffic && !json_object_get(theirs, "int_request")) {
		rc = hs_error_set(err, "conflict", AT(path, "traffic"), "only beside int_request",
				"only an int_request has addresses that traffic can fill in");
	}
	if (rc == 0 && read.reverse && !has_traffic) {
		rc = hs_error_set(err, "conflict", AT(path, "reverse"), "only beside traffic",
				"there is no traffic whose replies are meant");
	}
	json_decref(ours);
	if (rc < 0) {
		json_decref(theirs);
		return rc;
	}
	if (read.node == HS_SCENARIO_ALL)
		read.node = HS_NO_INDEX;
	*wish = read;
	wish->verb = theirs;
	return 0;
}

// ---- filling in ----

static void set_absent(json_t *object, const char *key, json_t *value)
{
	if (json_object_get(object, key))
		json_decref(value);
	else
		json_object_set_new(object, key, value);
}

static json_t *address_of(const struct hs_scenario *scenario, uint32_t host)
{
	char text[INET6_ADDRSTRLEN];
	inet_ntop(AF_INET6, scenario->hosts[host].addr, text, sizeof(text));
	return json_string(text);
}

static void fill(const struct hs_scenario *scenario, uint32_t index, bool reverse, json_t *content)
{
	const struct hs_scenario_traffic *traffic = &scenario->traffic[index];
	uint32_t src = reverse ? traffic->to : traffic->from;
	uint32_t dst = reverse ? traffic->from : traffic->to;

	set_absent(content, "ns_id", json_integer(1 + (json_int_t)index));
	set_absent(content, "app_id", json_integer(1));
	set_absent(content, "src_ip", address_of(scenario, src));
	set_absent(content, "dst_ip", address_of(scenario, dst));
	set_absent(content, "src_port",
			json_integer(reverse ? traffic->dst_port : traffic->src_port));
	set_absent(content, "dst_port",
			json_integer(reverse ? traffic->src_port : traffic->dst_port));
	set_absent(content, "protocol", json_string(hs_rule_protocol_name(traffic->protocol)));
	set_absent(content, "trace_type", json_string("0x7000E000"));
}

json_t *hs_scenario_fill_wish(const struct hs_scenario *scenario,
		const struct hs_scenario_wish *wish, uint32_t traffic)
{
	const json_t *given = json_object_get(wish->verb, "int_request");
	if (traffic == HS_NO_INDEX || !json_is_object(given))
		return json_incref(wish->verb);

	json_t *content = json_copy((json_t *)given);
	json_t *request = json_copy(wish->verb);
	fill(scenario, traffic, wish->reverse, content);
	if (json_object_set_new(request, "int_request", content) < 0) {
		json_decref(request);
		return NULL;
	}
	return request;
}

// ---- the list ----

static int add_request(struct hs_scenario_draft *draft, const struct hs_scenario_wish *wish,
		uint32_t traffic, size_t place, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t index = scenario->n_requests;

	json_t *request = hs_scenario_fill_wish(scenario, wish, traffic);
	if (!request)
		return hs_scenario_no_memory(err);
	scenario->requests[index] =
			(struct hs_scenario_request){wish->node, request, (uint32_t)place};
	draft->request_origins[index] = (struct hs_scenario_origin){place, traffic, wish->reverse};
	scenario->n_requests++;
	return 0;
}

static int make_room(struct hs_scenario_draft *draft, size_t more, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t n = scenario->n_requests + more;

	if (n > MAX_REQUESTS)
		return hs_error_set(err, "out_of_range", "requests", "at most 100000 requests",
				"there are more than %d requests", MAX_REQUESTS);
	if (n == 0)
		return 0;
	void *requests = realloc(scenario->requests, n * sizeof(*scenario->requests));
	if (requests)
		scenario->requests = requests;
	void *origins = realloc(draft->request_origins, n * sizeof(*draft->request_origins));
	if (origins)
		draft->request_origins = origins;
	return requests && origins ? 0 : hs_scenario_no_memory(err);
}

static int read_entry(struct hs_scenario_draft *draft, json_t *item, size_t i, const char *at,
		struct hs_error *err)
{
	struct hs_scenario_wish wish;

	int rc = hs_scenario_read_wish(draft, item, at, false, &wish, err);
	if (rc < 0)
		return rc;
	bool all = wish.traffic == HS_SCENARIO_ALL;
	size_t n = all ? draft->scenario.n_traffic : 1;
	rc = make_room(draft, n, err);
	for (uint32_t t = 0; t < n && rc == 0; t++)
		rc = add_request(draft, &wish, all ? t : wish.traffic, i, err);
	json_decref(wish.verb);
	return rc;
}

int hs_scenario_read_requests(struct hs_scenario_draft *draft, struct hs_error *err)
{
	size_t n;
	int rc = hs_scenario_list(draft->requests, "requests", MAX_REQUESTS, &n, err);

	return rc ? rc : hs_scenario_each(draft, draft->requests, "requests", read_entry, err);
}
