// SPDX-License-Identifier: BSD-3-Clause
#include "top_feed.h"

#include "duration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE	    8	// requests under way; a controller passes at most 16 to a node
#define MOST_ASKED  512 // requests of a round
#define MOST_RULES  256
#define MOST_OTHERS 1000 // of each other list

#define MS_NS	   INT64_C(1000000)
#define CONNECT_NS (500 * MS_NS) // time for a connection before its absence is reported
#define LOOK_NS	   (100 * MS_NS) // interval between two checks of a missing connection

struct asked {
	const char *verb;
	json_t *content;
	int64_t sent_ns;
	bool answered;
};

struct top_feed {
	struct hs_bus_peer *peer;
	int64_t interval_ns, timeout_ns;
	const char *window;
	bool clean;    // texts are for people
	json_t *round; // NULL: between two rounds
	struct asked asked[MOST_ASKED];
	size_t n_asked, n_sent, n_answered;
	uint64_t first_id;    // of the round's requests
	uint64_t connections; // of the peer when the round began
	int64_t next_round_ns;
	int64_t lost_ns; // since when there is no connection; 0: there is one
	const char *trouble;
};

int top_feed_create(const struct hs_cli *cli, int64_t interval_ns, const char *window,
		struct top_feed **out)
{
	struct top_feed *feed = calloc(1, sizeof(*feed));
	struct hs_error err = {0};

	if (!feed) {
		fprintf(stderr, "hopsight: memory is out\n");
		return HS_CLI_REFUSED;
	}
	feed->interval_ns = interval_ns;
	feed->timeout_ns = cli->timeout_ms * MS_NS;
	feed->window = window;
	feed->clean = !cli->values[HS_CLI_JSON];
	if (hs_bus_peer_open(cli->endpoint, hs_cli_keys(cli), -1, &feed->peer, &err)) {
		fprintf(stderr, "hopsight: %s\n", err.message);
		free(feed);
		return HS_CLI_UNREACHABLE;
	}
	*out = feed;
	return HS_CLI_DONE;
}

static void forget_round(struct top_feed *feed)
{
	for (size_t i = 0; i < feed->n_asked; i++)
		json_decref(feed->asked[i].content);
	json_decref(feed->round);
	feed->round = NULL;
	feed->first_id += feed->n_asked; // late replies then match no later request
	feed->n_asked = feed->n_sent = feed->n_answered = 0;
}

void top_feed_destroy(struct top_feed *feed)
{
	if (!feed)
		return;
	forget_round(feed);
	hs_bus_peer_close(feed->peer);
	free(feed);
}

// ---- what is asked ----

static void ask(struct top_feed *feed, const char *verb, json_t *content)
{
	if (feed->n_asked < MOST_ASKED)
		feed->asked[feed->n_asked++] = (struct asked){.verb = verb, .content = content};
	else
		json_decref(content);
}

static json_t *windows(const struct top_feed *feed)
{
	return feed->window ? json_pack("{s:s}", "window", feed->window) : json_object();
}

static void ask_by_kind(struct top_feed *feed, const json_t *hello)
{
	static const char *const collected[] = {
			"ports_get", "flow_get", "queue_get", "link_get", "exporter_get"};

	if (json_is_true(json_object_get(hello, "collector"))) {
		for (size_t i = 0; i < sizeof(collected) / sizeof(collected[0]); i++)
			ask(feed, collected[i], json_object());
		return;
	}
	if (json_is_true(json_object_get(hello, "controller")))
		ask(feed, "node_get", json_object());
	ask(feed, "ports_get", json_object());
	ask(feed, "int_list", json_pack("{s:i}", "limit", MOST_RULES));
	ask(feed, "qos_get", windows(feed));
}

static void ask_rules(struct top_feed *feed, const json_t *rules)
{
	json_t *rule;
	size_t i;

	json_array_foreach (rules, i, rule)
		if (i < MOST_RULES && json_is_integer(json_object_get(rule, "ns_id")))
			ask(feed, "int_get",
					json_pack("{s:O}", "ns_id",
							json_object_get(rule, "ns_id")));
}

// ---- what is answered ----

static json_t *timed(json_t *ok, const struct asked *asked, int64_t now_ns)
{
	return json_pack("{s:O, s:I}", "ok", ok, "at_ns",
			(json_int_t)((asked->sent_ns + now_ns) / 2));
}

// Adds the lists of a page to those of the pages before. Returns the length of the longest list.
static size_t add_lists(json_t *all, const json_t *page)
{
	const char *key;
	json_t *list;
	size_t most = 0;

	json_object_foreach ((json_t *)page, key, list) {
		json_t *before = json_object_get(all, key);
		if (before != list && json_is_array(before) && json_is_array(list))
			json_array_extend(before, list);
		if (json_array_size(before) > most)
			most = json_array_size(before);
	}
	return most;
}

static void take_page(struct top_feed *feed, const struct asked *asked, json_t *ok, int64_t now_ns)
{
	json_t *next = json_object_get(ok, "next"),
	       *entry = json_object_get(feed->round, asked->verb);
	bool rules = strcmp(asked->verb, "int_list") == 0;
	json_int_t offset = json_integer_value(json_object_get(asked->content, "offset"));

	if (!entry) {
		entry = timed(ok, asked, now_ns);
		json_object_set_new(feed->round, asked->verb, entry);
	}
	json_t *all = json_object_get(entry, "ok");
	size_t n = add_lists(all, ok);
	bool more = json_integer_value(next) > offset;
	if (more && n < (rules ? MOST_RULES : MOST_OTHERS)) {
		json_t *content = json_deep_copy(asked->content);
		json_object_set(content, "offset", next);
		ask(feed, asked->verb, content);
		return;
	}
	if (more)
		json_object_set_new(entry, "more", json_true());
	if (rules)
		ask_rules(feed, json_object_get(all, "rules"));
}

static void take_ok(struct top_feed *feed, const struct asked *asked, json_t *ok, int64_t now_ns)
{
	char id[24];

	if (strcmp(asked->verb, "int_get") != 0) {
		take_page(feed, asked, ok, now_ns);
		if (strcmp(asked->verb, "hello") == 0)
			ask_by_kind(feed, ok);
		return;
	}
	if (!json_object_get(feed->round, "int_get"))
		json_object_set_new(feed->round, "int_get", json_object());
	snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT,
			json_integer_value(json_object_get(asked->content, "ns_id")));
	json_object_set_new(json_object_get(feed->round, "int_get"), id, timed(ok, asked, now_ns));
}

static void take_error(struct top_feed *feed, const struct asked *asked, const json_t *error)
{
	json_t *message = json_object_get(error, "message");

	// The rule may have been removed since the list of rules was read.
	if (strcmp(asked->verb, "int_get") == 0)
		return;
	json_object_set_new(feed->round, asked->verb,
			json_pack("{s:o}", "error",
					message ? json_incref(message)
						: json_string("the reply cannot be parsed")));
}

static void take_reply(struct top_feed *feed, char *text, int64_t now_ns)
{
	json_t *parsed = json_loads(text, 0, NULL);
	json_t *reply = feed->clean ? hs_cli_clean(parsed) : parsed;
	const json_t *id = json_object_get(reply, "id");
	uint64_t at = (uint64_t)json_integer_value(id) - feed->first_id;

	free(text);
	if (json_is_integer(id) && at < feed->n_sent && !feed->asked[at].answered) {
		struct asked *asked = &feed->asked[at];
		json_t *ok = json_object_get(reply, "ok");
		asked->answered = true;
		feed->n_answered++;
		if (ok)
			take_ok(feed, asked, ok, now_ns);
		else
			take_error(feed, asked, json_object_get(reply, "error"));
	}
	json_decref(reply);
}

// ---- rounds ----

static void begin_round(struct top_feed *feed, int64_t now_ns)
{
	struct hs_bus_peer_state state;

	hs_bus_peer_state(feed->peer, &state);
	forget_round(feed);
	feed->connections = state.connections;
	feed->round = json_object();
	ask(feed, "hello", json_object());
	feed->next_round_ns += feed->interval_ns;
	if (feed->next_round_ns < now_ns) // after a pause there are no rounds to make up for
		feed->next_round_ns = now_ns + feed->interval_ns;
}

static void send_some(struct top_feed *feed, int64_t now_ns)
{
	while (feed->n_sent < feed->n_asked && feed->n_sent - feed->n_answered < AT_ONCE) {
		struct asked *asked = &feed->asked[feed->n_sent];
		json_t *request = json_pack("{s:O, s:I}", asked->verb, asked->content, "id",
				(json_int_t)(feed->first_id + feed->n_sent));
		char *text = json_dumps(request, JSON_COMPACT);
		int rc = text ? hs_bus_peer_send(feed->peer, text, strlen(text)) : -ENOMEM;

		json_decref(request);
		free(text);
		if (rc)
			return;
		asked->sent_ns = now_ns;
		feed->n_sent++;
	}
}

static bool is_late(const struct top_feed *feed, int64_t now_ns)
{
	for (size_t i = 0; i < feed->n_sent; i++)
		if (!feed->asked[i].answered && now_ns - feed->asked[i].sent_ns > feed->timeout_ns)
			return true;
	return false;
}

// Finds out whether the round can still be answered.
static void look_at_connection(struct top_feed *feed, int64_t now_ns)
{
	struct hs_bus_peer_state state;

	hs_bus_peer_state(feed->peer, &state);
	if (state.connected)
		feed->lost_ns = 0;
	else if (!feed->lost_ns)
		feed->lost_ns = now_ns;
	if (feed->lost_ns && now_ns - feed->lost_ns >= CONNECT_NS)
		feed->trouble = state.refused		  ? "it does not allow this key"
				: state.handshakes_failed ? "no handshake: one side uses other keys"
							  : "nobody answers there";
	else if (is_late(feed, now_ns))
		feed->trouble = "no reply in time";
	// Requests that were sent before a connection broke may never be answered.
	if (feed->round && (is_late(feed, now_ns) ||
					   (state.connected &&
							   state.connections != feed->connections)))
		begin_round(feed, now_ns);
}

json_t *top_feed_step(struct top_feed *feed, int64_t now_ns)
{
	char *text;
	size_t len;

	if (!feed->round && now_ns >= feed->next_round_ns)
		begin_round(feed, now_ns);
	look_at_connection(feed, now_ns);
	send_some(feed, now_ns);
	while (hs_bus_peer_next(feed->peer, &text, &len) == 0) {
		take_reply(feed, text, now_ns);
		send_some(feed, now_ns);
	}
	if (!feed->round || feed->n_answered < feed->n_asked)
		return NULL;
	json_t *round = json_incref(feed->round);
	forget_round(feed);
	feed->trouble = NULL;
	return round;
}

int top_feed_fd(const struct top_feed *feed)
{
	return hs_bus_peer_fd(feed->peer);
}

int64_t top_feed_next_ns(const struct top_feed *feed, int64_t now_ns)
{
	return feed->round ? now_ns + LOOK_NS : feed->next_round_ns;
}

const char *top_feed_trouble(const struct top_feed *feed)
{
	return feed->trouble;
}
