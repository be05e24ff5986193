// SPDX-License-Identifier: BSD-3-Clause
// Who asks: a client that waits, and a peer that does not.
#include "bus_rig.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// ---- client ----

// Answers n requests with "re: <request>"; the one that says "late" only together with the next.
struct server {
	struct hs_bus *bus;
	unsigned n;
};

static void *serve(void *argument)
{
	struct server *server = argument;
	struct hs_bus_request late = {0}, request;
	char reply[64];

	for (unsigned i = 0; i < server->n && hs_bus_poll(server->bus, LIMIT_MS, NULL, 0); i++) {
		if (hs_bus_next_request(server->bus, &request))
			break;
		snprintf(reply, sizeof(reply), "re: %.*s", (int)request.len, request.body);
		if (request.len == 4 && memcmp(request.body, "late", 4) == 0) {
			late = request;
			continue;
		}
		if (late.route)
			hs_bus_reply(server->bus, &late, "re: late");
		hs_bus_reply(server->bus, &request, reply);
	}
	return NULL;
}

static void a_client_gets_replies_and_a_late_one_is_not_mixed_up(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_client *client = NULL;
	struct server server;
	pthread_t thread;
	char *reply = NULL;
	size_t len = 0;

	f->bus = open_bus(f->api, NULL, 0);
	server = (struct server){f->bus, 3};
	assert_int_equal(pthread_create(&thread, NULL, serve, &server), 0);
	assert_int_equal(hs_bus_client_open(f->api, NULL, &client, NULL), 0);
	assert_int_equal(hs_bus_client_call(client, "one", 3, LIMIT_MS, &reply, &len), 0);
	assert_string_equal(reply, "re: one");
	assert_int_equal(len, 7);
	free(reply);
	assert_int_equal(hs_bus_client_call(client, "late", 4, 50, &reply, &len), -ETIMEDOUT);
	assert_int_equal(hs_bus_client_call(client, "two", 3, LIMIT_MS, &reply, &len), 0);
	assert_string_equal(reply, "re: two");
	free(reply);
	pthread_join(thread, NULL);
	hs_bus_client_close(client);

	struct hs_bus_counters counters = {0};
	for (int i = 0; i < LIMIT_MS / 10 && counters.disconnections == 0; i++) {
		hs_bus_poll(f->bus, 10, NULL, 0); // no request comes any more
		hs_bus_counters(f->bus, &counters);
	}
	assert_int_equal(counters.disconnections, 1);
	assert_int_equal(counters.connections, 1);
	assert_int_equal(counters.handshakes_failed, 0);
}

static void a_client_of_a_dead_node_is_told_so_at_once(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct hs_bus_client *client = NULL;
	char endpoint[120];
	struct hs_error err = {0};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/stale.api", f->folder);
	snprintf(endpoint, sizeof(endpoint), "ipc://%s", address.sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd); // as a killed process leaves it
	assert_int_equal(hs_bus_client_open(endpoint, NULL, &client, &err), -EHOSTUNREACH);
	assert_non_null(strstr(err.message, "refused"));
	unlink(address.sun_path);
}

static void a_client_of_nobody_is_told_so(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_client *client = NULL;
	struct hs_error err = {0};
	char *reply = NULL;
	size_t len;
	assert_int_equal(hs_bus_client_open(f->api, NULL, &client, &err), -EHOSTUNREACH);
	assert_string_equal(err.code, "unreachable");
	// A port of the machine itself that refuses.
	assert_int_equal(hs_bus_client_open("tcp://127.0.0.1:1", NULL, &client, &err), 0);
	assert_int_equal(hs_bus_client_call(client, "x", 1, 100, &reply, &len), -EHOSTUNREACH);
	hs_bus_client_close(client);
}

// ---- peer ----

static struct hs_bus_peer *open_peer(const char *endpoint)
{
	struct hs_bus_peer *peer = NULL;
	assert_int_equal(hs_bus_peer_open(endpoint, NULL, 1 << 20, &peer, NULL), 0);
	return peer;
}

static void await_peer(struct hs_bus *bus, struct hs_bus_peer *peer, bool connected)
{
	struct hs_bus_peer_state state;
	for (int i = 0; i < LIMIT_MS / 10; i++) {
		hs_bus_peer_state(peer, &state);
		if (state.connected == connected)
			return;
		hs_bus_poll(bus, 10, NULL, 0);
	}
	fail();
}

static void await_readable(const struct hs_bus_peer *peer)
{
	struct pollfd fd = {.fd = hs_bus_peer_fd(peer), .events = POLLIN};
	assert_int_equal(poll(&fd, 1, LIMIT_MS), 1);
}

static void a_peer_sends_many_requests_and_gets_their_replies_in_order(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_request request;
	char text[16], *reply;
	size_t len;
	unsigned sent = 0, answered = 0, got = 0;

	f->bus = open_bus(f->api, NULL, 0);
	struct hs_bus_peer *peer = open_peer(f->api);
	assert_int_equal(hs_bus_peer_next(peer, &reply, &len), -EAGAIN);
	await_peer(f->bus, peer, true);
	while (got < 2000) {
		snprintf(text, sizeof(text), "%u", sent);
		if (sent < 2000 && hs_bus_peer_send(peer, text, strlen(text)) == 0)
			sent++;
		if (hs_bus_poll(f->bus, answered < sent ? LIMIT_MS : 0, NULL, 0)) {
			assert_int_equal(hs_bus_next_request(f->bus, &request), 0);
			snprintf(text, sizeof(text), "re %.*s", (int)request.len, request.body);
			assert_int_equal(hs_bus_reply(f->bus, &request, text), 0);
			answered++;
		}
		if (answered == 2000)
			await_readable(peer);
		while (hs_bus_peer_next(peer, &reply, &len) == 0) {
			snprintf(text, sizeof(text), "re %u", got++);
			assert_string_equal(reply, text);
			assert_int_equal(len, strlen(text));
			free(reply);
		}
	}
	assert_int_equal(sent, 2000);
	hs_bus_peer_close(peer);
}

static void a_peer_queues_nothing_for_a_node_that_is_away_and_finds_it_when_it_comes(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_peer_state seen;
	struct hs_bus_peer *peer = open_peer(f->api), *other = open_peer(f->reports);

	assert_int_equal(hs_bus_peer_send(peer, "x", 1), -EAGAIN);
	f->bus = open_bus(f->api, NULL, 0);
	await_peer(f->bus, peer, true);
	hs_bus_close(f->bus);
	f->bus = NULL;
	do {
		await_readable(peer);
		hs_bus_peer_state(peer, &seen);
	} while (seen.connected || hs_bus_peer_send(peer, "y", 1) == 0);
	f->bus = open_bus(f->api, NULL, 0);
	await_peer(f->bus, peer, true);
	assert_int_equal(hs_bus_peer_send(peer, "new", 3), 0);
	struct hs_bus_request request = next_request(f->bus);
	assert_body(&request, "new");
	hs_bus_drop_request(&request);
	hs_bus_peer_state(peer, &seen);
	assert_int_equal(seen.connections, 2);
	hs_bus_peer_state(other, &seen);
	assert_int_equal(seen.connections, 0);
	hs_bus_peer_close(peer);
	hs_bus_peer_close(other);
}

static void a_reply_longer_than_any_of_a_node_costs_its_connection_once(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_request request;
	char *reply, *huge = malloc((2 << 20) + 1);
	size_t len;

	memset(huge, 'x', 2 << 20);
	huge[2 << 20] = '\0';
	f->bus = open_bus(f->api, NULL, 0);
	struct hs_bus_peer *peer = open_peer(f->api);
	await_peer(f->bus, peer, true);
	assert_int_equal(hs_bus_peer_send(peer, "much", 4), 0);
	request = next_request(f->bus);
	hs_bus_reply(f->bus, &request, huge);
	free(huge);
	await_peer(f->bus, peer, false);
	assert_int_equal(hs_bus_peer_next(peer, &reply, &len), -EAGAIN);
	await_peer(f->bus, peer, true); // ZeroMQ does not reconnect by itself here
	assert_int_equal(hs_bus_peer_send(peer, "less", 4), 0);
	request = next_request(f->bus);
	assert_body(&request, "less");
	hs_bus_drop_request(&request);
	hs_bus_peer_close(peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			WITH_FILES(a_client_gets_replies_and_a_late_one_is_not_mixed_up),
			WITH_FILES(a_client_of_a_dead_node_is_told_so_at_once),
			WITH_FILES(a_client_of_nobody_is_told_so),
			WITH_FILES(a_peer_sends_many_requests_and_gets_their_replies_in_order),
			WITH_FILES(a_reply_longer_than_any_of_a_node_costs_its_connection_once),
			WITH_FILES(a_peer_queues_nothing_for_a_node_that_is_away_and_finds_it_when_it_comes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
