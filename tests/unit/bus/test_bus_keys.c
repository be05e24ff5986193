// SPDX-License-Identifier: BSD-3-Clause
// Requests with CURVE, over real sockets.
#include "bus_keys_rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void an_allowed_key_gets_answers_and_the_node_knows_whose_it_is(void **state)
{
	struct fixture *f = *state;
	const char *endpoints[] = {f->tcp, f->ipc};
	char reply[64];

	start_node(f);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(call_once(f, endpoints[i], "alice", "node", reply), 0);
		assert_string_equal(reply, "alice changes");
		assert_int_equal(call_once(f, endpoints[i], "reader", "node", reply), 0);
		assert_string_equal(reply, "reader reads");
	}
	assert_int_equal(counters_of(f).handshakes_failed, 0);
}

static void a_key_that_is_not_allowed_is_refused_at_once_and_counted(void **state)
{
	struct fixture *f = *state;
	const char *endpoints[] = {f->tcp, f->ipc};
	struct hs_bus_refusal refusal;
	char reply[64];

	start_node(f);
	for (size_t i = 0; i < 2; i++) {
		int64_t start = now_ms();
		assert_int_equal(call_once(f, endpoints[i], "stranger", "node", reply), -EACCES);
		assert_in_range(now_ms() - start, 0, 1900);
		await_failures(f, (unsigned)i + 1);
		pthread_mutex_lock(&f->lock);
		assert_true(hs_bus_last_refusal(f->bus, &refusal));
		pthread_mutex_unlock(&f->lock);
		assert_false(refusal.dialled);
		assert_non_null(strstr(refusal.reason, "not allowed"));
		assert_int_equal(strlen(refusal.public_key), 40);
		if (i == 0)
			assert_memory_equal(refusal.peer, "127.", 4);
	}
	assert_int_equal(counters_of(f).requests, 0);
}

static void without_a_key_there_is_no_answer(void **state)
{
	struct fixture *f = *state;
	const char *endpoints[] = {f->tcp, f->ipc};
	char reply[64];

	start_node(f);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(call_once(f, endpoints[i], NULL, NULL, reply), -EPROTO);
	assert_int_equal(counters_of(f).requests, 0);
	await_failures(f, 2);
}

static void a_client_that_wants_another_node_sends_this_one_nothing(void **state)
{
	struct fixture *f = *state;
	char reply[64];

	start_node(f);
	assert_int_equal(call_once(f, f->tcp, "alice", "controller", reply), -EPROTO);
	assert_int_equal(counters_of(f).requests, 0);
	await_failures(f, 1);
}

static void a_client_with_a_key_sends_nothing_in_clear(void **state)
{
	struct fixture *f = *state;
	const char *bind = f->ipc;
	char reply[64];

	start(f, &(struct hs_bus_config){.bind = &bind, .n_bind = 1});
	assert_int_equal(call_once(f, f->ipc, "alice", "node", reply), -EPROTO);
	assert_int_equal(counters_of(f).requests, 0);
	assert_int_equal(call_once(f, f->ipc, NULL, NULL, reply), 0);
	assert_string_equal(reply, " changes");
}

// A peer without keys may call itself what it likes: ZeroMQ takes over the properties it sends.
static void a_name_that_a_client_gives_itself_counts_for_nothing(void **state)
{
	struct fixture *f = *state;
	const char *bind = f->ipc;
	char reply[64] = "";
	start(f, &(struct hs_bus_config){.bind = &bind, .n_bind = 1});
	void *context = zmq_ctx_new(), *req = zmq_socket(context, ZMQ_REQ);
	int limit = LIMIT_MS, zero = 0;
	zmq_setsockopt(req, ZMQ_LINGER, &zero, sizeof(zero));
	zmq_setsockopt(req, ZMQ_RCVTIMEO, &limit, sizeof(limit));
	zmq_setsockopt(req, SOCKET_METADATA, "X-User-Id:alice", 15);
	assert_int_equal(zmq_connect(req, f->ipc), 0);
	zmq_send(req, "x", 1, 0);
	assert_true(zmq_recv(req, reply, sizeof(reply), 0) > 0);
	assert_string_equal(reply, " changes");
	zmq_close(req);
	zmq_ctx_term(context);
}

// ---- changes of the directory ----

static void await_reply(struct hs_bus_client *client, const char *text)
{
	char reply[64] = "";
	for (int64_t end = now_ms() + LIMIT_MS; now_ms() < end;) {
		call(client, 500, reply);
		if (strcmp(reply, text) == 0)
			return;
	}
	fail_msg("%s is the answer, not %s", reply, text);
}

static void a_key_that_is_added_is_allowed_and_a_refused_client_gets_in(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_keys keys;
	char reply[64];

	start_node(f);
	struct hs_bus_client *client = open_client(f->tcp, keys_of(f, "stranger", "node", &keys));
	assert_int_equal(call(client, 3000, reply), -EACCES);
	allow(f, "stranger");
	await_reply(client, "stranger changes");
	hs_bus_client_close(client);
}

static void a_key_that_is_removed_gets_no_answer_on_the_connection_it_has(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_keys keys;
	char reply[64];
	int rc;

	start_node(f);
	struct hs_bus_client *alice = open_client(f->tcp, keys_of(f, "alice", "node", &keys));
	struct hs_bus_client *reader = open_client(f->tcp, keys_of(f, "reader", "node", &keys));
	await_reply(alice, "alice changes");
	await_reply(reader, "reader reads");
	forbid(f, "alice");
	int64_t end = now_ms() + LIMIT_MS;
	do
		rc = call(alice, 200, reply);
	while (counters_of(f).requests_refused == 0 && now_ms() < end);
	assert_int_equal(rc, -ETIMEDOUT);
	assert_int_equal(call(reader, 3000, reply), 0);
	assert_int_equal(call_once(f, f->tcp, "alice", "node", reply), -EACCES);
	// And gets answers again when it comes back.
	allow(f, "alice");
	await_reply(alice, "alice changes");
	hs_bus_client_close(alice);
	hs_bus_client_close(reader);
}

static void a_role_that_changes_counts_on_connections_that_are_there(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_keys keys;
	char command[256];

	start_node(f);
	struct hs_bus_client *alice = open_client(f->ipc, keys_of(f, "alice", "node", &keys));
	await_reply(alice, "alice changes");
	snprintf(command, sizeof(command), "sed -i s/read-write/read-only/ %s/alice.pub",
			f->allowed);
	assert_int_equal(system(command), 0);
	await_reply(alice, "alice reads");
	hs_bus_client_close(alice);
}

static void what_becomes_of_the_directory_is_told(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_keys_state keys;
	char command[256];

	start_node(f);
	snprintf(command, sizeof(command), "echo nothing > %s/broken.pub", f->allowed);
	assert_int_equal(system(command), 0);
	allow(f, "stranger");
	for (int64_t end = now_ms() + LIMIT_MS; now_ms() < end;) {
		pthread_mutex_lock(&f->lock);
		hs_bus_keys_state(f->bus, &keys);
		pthread_mutex_unlock(&f->lock);
		if (keys.allowed == 3 && keys.changes > 0)
			break;
	}
	assert_int_equal(keys.allowed, 3);
	assert_non_null(strstr(keys.problem.message, "broken.pub"));
}

// ---- many ----

struct flood {
	struct fixture *f;
	struct hs_bus_keys keys;
	char files[2][96];
	bool stop;
};

static void *flood(void *argument)
{
	struct flood *flood = argument;
	struct hs_bus_peer *peers[40] = {NULL};

	while (!__atomic_load_n(&flood->stop, __ATOMIC_RELAXED)) {
		for (size_t i = 0; i < 40; i++)
			hs_bus_peer_open(flood->f->tcp, i % 2 ? &flood->keys : NULL, -1, &peers[i],
					NULL);
		for (size_t i = 0; i < 40; i++) {
			struct hs_bus_peer_state seen = {0};
			while (seen.handshakes_failed == 0 &&
					!__atomic_load_n(&flood->stop, __ATOMIC_RELAXED))
				hs_bus_peer_state(peers[i], &seen);
			hs_bus_peer_close(peers[i]);
		}
	}
	return NULL;
}

static void a_flood_of_bad_handshakes_leaves_requests_their_turn(void **state)
{
	struct fixture *f = *state;
	struct flood bad = {.f = f};
	struct hs_bus_keys keys;
	pthread_t thread;
	char reply[64];
	unsigned calls = 0;

	start_node(f);
	bad.keys = *keys_of(f, "stranger", "node", &keys);
	memcpy(bad.files, f->files, sizeof(bad.files));
	bad.keys.secret_file = bad.files[0];
	bad.keys.server_file = bad.files[1];
	struct hs_bus_client *alice = open_client(f->tcp, keys_of(f, "alice", "node", &keys));
	await_reply(alice, "alice changes");
	assert_int_equal(pthread_create(&thread, NULL, flood, &bad), 0);
	while (counters_of(f).handshakes_failed < 400) {
		assert_int_equal(call(alice, 2000, reply), 0);
		calls++;
	}
	// Nor does it keep those out who may come in.
	assert_int_equal(call_once(f, f->tcp, "reader", "node", reply), 0);
	__atomic_store_n(&bad.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	hs_bus_client_close(alice);
	assert_true(calls >= 20);
}

// Neither one that says nothing nor one that goes on for ever without a handshake is kept.
static void a_connection_without_a_handshake_is_closed_after_three_seconds(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char byte;

	start_node(f);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", f->ipc + strlen("ipc://"));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	int64_t start = now_ms();
	ssize_t n;
	do
		n = read(fd, &byte, 1); // its greeting, then the end
	while (n == 1);
	assert_int_equal(n, 0);
	assert_in_range(now_ms() - start, 2500, 6000);
	close(fd);
	await_failures(f, 1);
	struct hs_bus_refusal refusal;
	pthread_mutex_lock(&f->lock);
	assert_false(hs_bus_last_refusal(f->bus, &refusal)); // counted, not told
	pthread_mutex_unlock(&f->lock);
}

static void a_peer_is_told_that_it_is_refused_and_gets_in_when_it_may(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_keys keys;
	struct hs_bus_peer *peer = NULL;
	struct hs_bus_peer_state seen;
	char *reply = NULL;
	size_t len;

	start_node(f);
	assert_int_equal(hs_bus_peer_open(f->tcp, keys_of(f, "stranger", "node", &keys), -1, &peer,
					 NULL),
			0);
	int64_t end = now_ms() + LIMIT_MS;
	do
		hs_bus_peer_state(peer, &seen);
	while (!seen.refused && now_ms() < end);
	assert_true(seen.refused);
	assert_int_equal(hs_bus_peer_send(peer, "x", 1), -EAGAIN);
	allow(f, "stranger");
	while (hs_bus_peer_send(peer, "x", 1) == -EAGAIN && now_ms() < end)
		assert_int_equal(hs_bus_peer_next(peer, &reply, &len), -EAGAIN);
	while (hs_bus_peer_next(peer, &reply, &len) == -EAGAIN && now_ms() < end)
		;
	assert_non_null(reply);
	assert_string_equal(reply, "stranger changes");
	// Not before: ZeroMQ tells of the connection just after it can be used.
	hs_bus_peer_state(peer, &seen);
	assert_true(seen.connected);
	assert_false(seen.refused);
	free(reply);
	hs_bus_peer_close(peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			WITH_KEYS(an_allowed_key_gets_answers_and_the_node_knows_whose_it_is),
			WITH_KEYS(a_key_that_is_not_allowed_is_refused_at_once_and_counted),
			WITH_KEYS(without_a_key_there_is_no_answer),
			WITH_KEYS(a_client_that_wants_another_node_sends_this_one_nothing),
			WITH_KEYS(a_client_with_a_key_sends_nothing_in_clear),
			WITH_KEYS(a_name_that_a_client_gives_itself_counts_for_nothing),
			WITH_KEYS(a_key_that_is_added_is_allowed_and_a_refused_client_gets_in),
			WITH_KEYS(a_key_that_is_removed_gets_no_answer_on_the_connection_it_has),
			WITH_KEYS(a_role_that_changes_counts_on_connections_that_are_there),
			WITH_KEYS(what_becomes_of_the_directory_is_told),
			WITH_KEYS(a_flood_of_bad_handshakes_leaves_requests_their_turn),
			WITH_KEYS(a_connection_without_a_handshake_is_closed_after_three_seconds),
			WITH_KEYS(a_peer_is_told_that_it_is_refused_and_gets_in_when_it_may),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
