// SPDX-License-Identifier: BSD-3-Clause
#include "fake_nodes.h"

#include "api_label.h"
#include "rule_field.h"
#include "rule_json.h"
#include "text_file.h"

// clang-format off: cmocka wants these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAY_NS	INT64_C(1000000)
#define STEP_NS INT64_C(1000000)

// ---- a node ----

static struct hs_rule *find(struct fake_node *node, uint32_t ns_id)
{
	for (unsigned i = 0; i < node->n_rules; i++)
		if (node->rules[i].ns_id == ns_id)
			return &node->rules[i];
	return NULL;
}

static json_t *listed_rule(struct fake_node *node, const struct hs_rule *rule)
{
	json_t *listed = hs_rule_to_json(rule);
	char owner[32];

	if (!node->invents_owners)
		return listed;
	snprintf(owner, sizeof(owner), "invented-%u", ++node->n_invented);
	json_object_set_new(listed, "owner", json_string(owner));
	json_object_set_new(listed, "revision", json_integer(1));
	return listed;
}

static json_t *list(struct fake_node *node, const struct hs_api_args *args)
{
	json_t *rules = json_array();
	uint64_t end = args->offset + args->limit;

	for (uint64_t i = args->offset; i < end && i < node->n_rules; i++)
		json_array_append_new(rules, listed_rule(node, &node->rules[i]));
	json_t *result = json_pack("{s:o}", "rules", rules);
	json_t *in_band = json_array();
	for (unsigned i = 0; i < node->n_in_band; i++)
		json_array_append_new(in_band, json_integer(4000000000 - i));
	if (node->in_band_ns)
		json_array_append_new(in_band, json_integer(node->in_band_ns));
	json_object_set_new(result, "in_band", in_band);
	if (end < node->n_rules)
		json_object_set_new(result, "next", json_integer((json_int_t)end));
	return result;
}

static json_t *label_ports(const struct fake_node *node)
{
	json_t *ports = json_array();
	char name[16];

	for (unsigned i = 0; i < node->n_labels; i++) {
		const struct fake_label *label = &node->labels[i];
		snprintf(name, sizeof(name), "p%u", label->id);
		json_array_append_new(
				ports, json_pack("{s:s, s:I, s:i, s:b, s:I}", "name", name, "id",
						       label->id, "shift", label->shift, "link_up",
						       !label->is_down, "tx_packets",
						       (json_int_t)label->tx_packets));
	}
	return ports;
}

static json_t *route_ports(const struct fake_node *node)
{
	json_t *ports = json_array();
	char name[16], mac[18] = "00:00:00:00:00:00"; // of port 0, whose device has none

	for (unsigned id = 0; id <= node->n_ports; id++) {
		snprintf(name, sizeof(name), "%c%u", node->port_prefix, id);
		if (id)
			snprintf(mac, sizeof(mac), "02:00:00:%02x:%02x:%02x", node->macs,
					node->id & 0xffu, id & 0xffu);
		json_array_append_new(ports, json_pack("{s:s, s:s, s:i}", "name", name, "mac", mac,
							     "id", (int)id));
	}
	return ports;
}

static struct fake_label *find_label(struct fake_node *node, uint32_t id)
{
	for (unsigned i = 0; i < node->n_labels; i++)
		if (node->labels[i].id == id)
			return &node->labels[i];
	return NULL;
}

// What label_set has to say so that nothing changes; NULL: it has no such port.
static json_t *labels_now(void *context, const json_t *labels, struct hs_error *err)
{
	json_t *now = json_array();

	for (size_t i = 0; i < json_array_size(labels); i++) {
		struct hs_api_label label = hs_api_label_at(labels, i);
		const struct fake_label *port = find_label(context, label.id);
		if (!port) {
			hs_error_set(err, "unknown_port", "ports", "", "no such port");
			json_decref(now);
			return NULL;
		}
		json_array_append_new(now, json_pack("{s:I, s:i}", "id", (json_int_t)port->id,
							   "shift", port->shift));
	}
	return now;
}

static void set_labels(struct fake_node *node, const struct hs_api_args *args)
{
	for (size_t i = 0; i < json_array_size(args->labels); i++) {
		struct hs_api_label label = hs_api_label_at(args->labels, i);
		find_label(node, label.id)->shift = (uint8_t)label.shift;
	}
}

static int run(void *context, const struct hs_api_args *args, json_t **result, struct hs_error *err)
{
	struct fake_node *node = context;
	struct hs_rule *rule = args->has_ns_id ? find(node, args->ns_id) : NULL;

	node->n_requests[args->verb]++;
	*result = json_object();
	switch (args->verb) {
	case HS_VERB_HELLO:
		json_object_update_new(
				*result, json_pack("{s:i, s:s, s:[s, s]}", "node_id", node->id,
							 "boot_id", node->boot_id, "features",
							 "qos", node->is_old ? "events" : "owner"));
		return 0;
	case HS_VERB_INT_REQUEST:
		node->generation++;
		if (!rule)
			rule = &node->rules[node->n_rules++];
		else
			node->in_band_ns = 0;
		*rule = args->rule;
		return 0;
	case HS_VERB_INT_UPDATE:
		node->generation++;
		return hs_rule_apply(rule, &args->update, err);
	case HS_VERB_INT_DELETE:
		node->generation++;
		*rule = node->rules[--node->n_rules];
		return 0;
	case HS_VERB_INT_LIST:
		json_decref(*result);
		*result = list(node, args);
		return 0;
	case HS_VERB_INT_GET:
		json_object_set_new(*result, "rule", hs_rule_to_json(rule));
		return rule ? 0 : -ENOENT;
	case HS_VERB_AUDIT:
		json_object_set_new(*result, "ok", json_true());
		return 0;
	case HS_VERB_LABEL_GET:
	case HS_VERB_PORTS_GET:
		json_object_set_new(*result, "ports",
				node->routes ? route_ports(node) : label_ports(node));
		return 0;
	case HS_VERB_ROUTE_ADD:
		node->generation++;
		return hs_route_book_add(node->routes, &args->route, err);
	case HS_VERB_LABEL_SET:
		set_labels(node, args);
		json_object_set_new(*result, "ports", labels_now(node, args->labels, err));
		return 0;
	default:
		return 0;
	}
}

static bool ns_exists(void *context, uint32_t ns_id)
{
	return find(context, ns_id) != NULL;
}

static int admits(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	if (!rule->owner || !((struct fake_node *)context)->is_old)
		return 0;
	return hs_error_set(err, "unknown_field", "owner", "", "owner is not a known field");
}

static bool gives_way(void *context, uint32_t ns_id)
{
	return ((struct fake_node *)context)->in_band_ns == ns_id;
}

static const struct hs_rule *rule_of(void *context, uint32_t ns_id)
{
	return find(context, ns_id);
}

static struct hs_route_book *routes_of(void *context)
{
	return ((struct fake_node *)context)->routes;
}

static int port_of(void *context, const char *name)
{
	const struct fake_node *node = context;

	return name[0] == node->port_prefix ? atoi(name + 1) : -1;
}

static uint32_t rules_free(void *context)
{
	const struct fake_node *node = context;
	return node->capacity - node->n_rules;
}

static uint64_t generation(void *context)
{
	return ((struct fake_node *)context)->generation;
}

// ---- messages ----

static bool is_lost(struct fake_nodes *fake)
{
	fake->lost = fake->lost * 1664525 + 1013904223;
	return (fake->lost >> 16) % 100 < fake->lose_percent;
}

static void post(struct fake_nodes *fake, bool to_node, unsigned node, unsigned life,
		const char *text)
{
	if (is_lost(fake))
		return;
	assert_true(fake->n_messages < FAKE_MESSAGES);
	fake->messages[(fake->head + fake->n_messages++) % FAKE_MESSAGES] = (struct fake_message){
			fake->now_ns + WAY_NS, to_node, node, life, strdup(text)};
}

static int send_to(void *context, unsigned node, const char *text, size_t len)
{
	struct fake_nodes *fake = context;

	assert_int_equal(strlen(text), len);
	if (!fake->nodes[node].connected)
		return -EAGAIN;
	post(fake, true, node, fake->life, text);
	return 0;
}

static void reply(void *context, void *token, const char *text)
{
	struct fake_nodes *fake = context;

	assert_ptr_equal(token, fake);
	fake->n_replies++;
	json_decref(fake->reply);
	fake->reply = text ? json_loads(text, 0, NULL) : NULL;
}

static int publish(void *context, const char *topic, const char *text)
{
	struct fake_nodes *fake = context;
	json_array_append_new(fake->published, json_pack("{s:s, s:o}", "topic", topic, "message",
							       json_loads(text, 0, NULL)));
	return 0;
}

static int save(void *context, const json_t *changes, struct hs_error *err)
{
	struct fake_nodes *fake = context;

	if (fake->cannot_save)
		return hs_error_set(err, "not_saved", "", "", "the disk is full");
	return json_array_append_new(fake->saved, json_deep_copy(changes));
}

static void unsave(void *context)
{
	struct fake_nodes *fake = context;
	json_array_remove(fake->saved, json_array_size(fake->saved) - 1);
}

// The answer in a node's own words: an error, or what is no answer to the request.
static char *refuse(const struct fake_node *node, const char *text)
{
	json_t *request = json_loads(text, 0, NULL), *answer = NULL;
	char *said = NULL;

	if (node->refused ? json_object_get(request, node->refused) != NULL
			  : !json_object_get(request, "hello"))
		answer = json_pack("{s:O, s:o}", "id", json_object_get(request, "id"),
				node->said ? "ok" : "error",
				json_loads(node->said ? node->said : node->refusal, 0, NULL));
	if (answer)
		said = json_dumps(answer, 0);
	json_decref(answer);
	json_decref(request);
	return said;
}

static void deliver(struct fake_nodes *fake)
{
	struct fake_message message = fake->messages[fake->head];
	struct fake_node *node = &fake->nodes[message.node];

	fake->head = (fake->head + 1) % FAKE_MESSAGES;
	fake->n_messages--;
	if (!node->connected || (!message.to_node && message.life != fake->life)) {
		free(message.text);
		return;
	}
	if (!message.to_node) {
		hs_controller_reply(fake->controller, fake->now_ns, message.node, message.text,
				strlen(message.text));
	} else if (!node->deaf) {
		char *answer = node->refusal || node->said ? refuse(node, message.text) : NULL;
		if (!answer)
			answer = hs_api_handle(
					&node->backend, message.text, strlen(message.text), true);
		if (!node->mute)
			post(fake, false, message.node, message.life, answer);
		free(answer);
	}
	free(message.text);
}

static void send_packets(struct fake_node *node)
{
	for (unsigned i = 0; i < node->n_labels; i++)
		node->labels[i].tx_packets += node->labels[i].pps / 1000;
}

void fake_run(struct fake_nodes *fake, int64_t ns)
{
	int64_t end_ns = fake->now_ns + ns;

	for (; fake->now_ns < end_ns; fake->now_ns += STEP_NS) {
		for (unsigned i = 0; i < FAKE_NODES; i++)
			send_packets(&fake->nodes[i]);
		while (fake->n_messages && fake->messages[fake->head].due_ns <= fake->now_ns)
			deliver(fake);
		hs_controller_step(fake->controller, fake->now_ns);
	}
}

// ---- opening ----

static void open_node(struct fake_node *node, uint16_t id)
{
	*node = (struct fake_node){.id = id,
			.connected = true,
			.capacity = FAKE_RULES,
			.n_ports = 2,
			.port_prefix = 'p'};
	snprintf(node->boot_id, sizeof(node->boot_id), "boot-%u-0", id);
	node->backend = (struct hs_api_backend){
			.context = node,
			.run = run,
			.ns_exists = ns_exists,
			.admits = admits,
			.gives_way = gives_way,
			.rule_of = rule_of,
			.labels_now = labels_now,
			.routes = routes_of,
			.port_of = port_of,
			.rules_free = rules_free,
			.generation = generation,
	};
}

static int send_probe(void *context, const uint8_t *frame, size_t len)
{
	struct fake_nodes *fake = context;
	struct fake_frame *kept = &fake->frames[fake->n_frames++];

	if (fake->n_frames > FAKE_FRAMES || len > sizeof(kept->bytes))
		return -EAGAIN;
	memcpy(kept->bytes, frame, len);
	kept->len = len;
	return 0;
}

static void open_controller(struct fake_nodes *fake)
{
	struct hs_controller_output output = {.context = fake,
			.send = send_to,
			.reply = reply,
			.publish = publish,
			.probe = send_probe,
			.save = save,
			.unsave = unsave};
	struct hs_error err = {0};
	json_t *change;
	size_t i;

	if (hs_controller_create(&fake->config, "controller-1", &output, fake->now_ns,
			    &fake->controller, &err) < 0)
		fail_msg("%s: %s", err.path, err.message);
	json_array_foreach (fake->saved, i, change) {
		if (hs_controller_restore(fake->controller, change, &err) < 0)
			fail_msg("%s: %s", err.path, err.message);
	}
}

void fake_configure(struct fake_nodes *fake, const char *config)
{
	struct hs_errors errors = {0};
	char name[64];
	int fd = text_file(config, strlen(config), name);

	if (hs_controller_config_load(name, &fake->config, &errors) < 0)
		fail_msg("%s: %s", errors.list[0].path, errors.list[0].message);
	close(fd);
}

void fake_open(struct fake_nodes *fake, const char *config)
{
	memset(fake, 0, sizeof(*fake));
	fake->now_ns = INT64_C(1700000000000000000);
	fake->published = json_array();
	fake->saved = json_array();
	for (unsigned i = 0; i < FAKE_NODES; i++)
		open_node(&fake->nodes[i], (uint16_t)(i + 1));
	fake_configure(fake, config);
	open_controller(fake);
}

void fake_reopen(struct fake_nodes *fake)
{
	hs_controller_destroy(fake->controller);
	fake->life++;
	open_controller(fake);
}

void fake_snapshot(struct fake_nodes *fake)
{
	struct hs_controller_snapshot *snapshot = hs_controller_snapshot(fake->controller);
	json_t *change;

	json_array_clear(fake->saved);
	while ((change = hs_controller_snapshot_next(snapshot)))
		json_array_append_new(fake->saved, change);
	assert_int_equal(json_array_size(fake->saved), hs_controller_changes(fake->controller));
	hs_controller_snapshot_free(snapshot);
}

void fake_close(struct fake_nodes *fake)
{
	hs_controller_destroy(fake->controller);
	for (; fake->n_messages; fake->n_messages--) {
		free(fake->messages[fake->head].text);
		fake->head = (fake->head + 1) % FAKE_MESSAGES;
	}
	for (unsigned i = 0; i < FAKE_NODES; i++)
		hs_route_book_destroy(fake->nodes[i].routes);
	json_decref(fake->reply);
	json_decref(fake->published);
	json_decref(fake->saved);
	hs_controller_config_fini(&fake->config);
}

// ---- asking ----

void fake_ask(struct fake_nodes *fake, const char *request)
{
	json_decref(fake->reply);
	fake->reply = NULL;
	hs_controller_request(fake->controller, fake->now_ns, fake, request, strlen(request), true);
}

static void ask_and_wait(struct fake_nodes *fake, const char *request)
{
	fake_ask(fake, request);
	for (unsigned i = 0; !fake->reply && i < 5000; i++)
		fake_run(fake, STEP_NS);
	assert_non_null(fake->reply);
}

json_t *fake_ok(struct fake_nodes *fake, const char *request)
{
	ask_and_wait(fake, request);
	json_t *ok = json_object_get(fake->reply, "ok");
	if (!ok) {
		char *text = json_dumps(fake->reply, 0);
		fail_msg("%s", text);
	}
	return ok;
}

const char *fake_error(struct fake_nodes *fake, const char *request)
{
	ask_and_wait(fake, request);
	return json_string_value(json_object_get(json_object_get(fake->reply, "error"), "code"));
}

void fake_route(struct fake_nodes *fake, unsigned node)
{
	hs_route_book_destroy(fake->nodes[node].routes);
	fake->nodes[node].routes = hs_route_book_create(64);
	assert_non_null(fake->nodes[node].routes);
}

void fake_restart(struct fake_nodes *fake, unsigned node)
{
	struct fake_node *n = &fake->nodes[node];

	if (n->routes)
		fake_route(fake, node);
	n->n_rules = 0;
	n->generation = 0;
	n->in_band_ns = 0;
	for (unsigned i = 0; i < n->n_labels; i++)
		n->labels[i].shift = 0;
	snprintf(n->boot_id, sizeof(n->boot_id), "boot-%u-%u", n->id, ++n->boots);
}

const struct hs_rule *fake_rule(const struct fake_nodes *fake, unsigned node, uint32_t ns_id)
{
	return find((struct fake_node *)&fake->nodes[node], ns_id);
}

void fake_at_node(struct fake_nodes *fake, unsigned node, const char *request)
{
	char *answer = hs_api_handle(&fake->nodes[node].backend, request, strlen(request), true);
	assert_non_null(strstr(answer, "\"ok\""));
	free(answer);
}

const char *fake_state(struct fake_nodes *fake, uint32_t ns_id, const char *node)
{
	json_t *rules = json_object_get(fake_ok(fake, "{\"int_list\": {}}"), "rules"), *rule;
	size_t i;

	json_array_foreach (rules, i, rule) {
		if (json_integer_value(json_object_get(rule, "ns_id")) == ns_id)
			return json_string_value(
					json_object_get(json_object_get(rule, "nodes"), node));
	}
	return NULL;
}

unsigned fake_events(const struct fake_nodes *fake, const char *kind)
{
	char topic[64];
	unsigned n = 0;
	size_t i;
	json_t *entry;

	snprintf(topic, sizeof(topic), "event.%s", kind);
	json_array_foreach (fake->published, i, entry)
		n += strcmp(json_string_value(json_object_get(entry, "topic")), topic) == 0;
	return n;
}
