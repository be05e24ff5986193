// SPDX-License-Identifier: BSD-3-Clause
// Real sockets with CURVE, over tcp on loopback and over ipc.
#include "bus.h"

#include <zmq.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_MS	10000
#define SOCKET_METADATA 95 // ZMQ_METADATA, which zmq.h tells only where drafts are built

// A node that answers each request with who sent it, in a thread of its own; the keys of all who
// take part lie in one folder, the node's list of allowed ones in another.
struct fixture {
	char folder[40], allowed[64];
	char tcp[48], ipc[80], reports[80];
	char files[8][96];
	struct hs_bus *bus;
	pthread_t thread;
	bool running, stop;
	pthread_mutex_t lock;
};

static const struct hs_bus_keys *keys_of(
		struct fixture *f, const char *name, const char *server, struct hs_bus_keys *keys)
{
	snprintf(f->files[0], sizeof(f->files[0]), "%s/%s.secret", f->folder, name);
	snprintf(f->files[1], sizeof(f->files[1]), "%s/%s.pub", f->folder, server);
	*keys = (struct hs_bus_keys){.secret_file = f->files[0], .server_file = f->files[1]};
	return keys;
}

static void allow(const struct fixture *f, const char *name)
{
	char from[96], to[128];
	snprintf(from, sizeof(from), "%s/%s.pub", f->folder, name);
	snprintf(to, sizeof(to), "%s/%s.pub", f->allowed, name);
	assert_int_equal(link(from, to), 0);
}

static void forbid(const struct fixture *f, const char *name)
{
	char file[128];
	snprintf(file, sizeof(file), "%s/%s.pub", f->allowed, name);
	assert_int_equal(unlink(file), 0);
}

static int setup(void **state)
{
	static const char *const names[] = {"node", "alice", "stranger", "controller"};
	struct fixture *f = calloc(1, sizeof(*f));
	strcpy(f->folder, "/tmp/hs-curve-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->allowed, sizeof(f->allowed), "%s/allowed", f->folder);
	assert_int_equal(mkdir(f->allowed, 0755), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(hs_bus_keys_make(f->folder, names[i], false, NULL), 0);
	assert_int_equal(hs_bus_keys_make(f->folder, "reader", true, NULL), 0);
	allow(f, "alice");
	allow(f, "reader");
	// An address of loopback for each process: ports are never in use.
	unsigned pid = (unsigned)getpid();
	snprintf(f->tcp, sizeof(f->tcp), "tcp://127.%u.%u.%u:5599", 1 + (pid >> 14 & 0x7f),
			pid >> 7 & 0x7f, 1 + (pid & 0x7f));
	snprintf(f->ipc, sizeof(f->ipc), "ipc://%s/node.api", f->folder);
	snprintf(f->reports, sizeof(f->reports), "ipc://%s/node.reports", f->folder);
	pthread_mutex_init(&f->lock, NULL);
	*state = f;
	return 0;
}

static void *serve(void *argument)
{
	struct fixture *f = argument;
	struct hs_bus_request request;
	char reply[128];

	for (bool stop = false; !stop;) {
		// Waits without the lock, so that the test can look.
		poll(NULL, 0, 1);
		pthread_mutex_lock(&f->lock);
		bool waits = hs_bus_poll(f->bus, 0, NULL, 0);
		for (unsigned i = 0; waits && i < 16; i++) {
			if (hs_bus_next_request(f->bus, &request))
				break;
			snprintf(reply, sizeof(reply), "%s %s", request.user,
					request.may_change ? "changes" : "reads");
			hs_bus_reply(f->bus, &request, reply);
		}
		hs_bus_publish(f->bus, "report.1", "{}");
		stop = f->stop;
		pthread_mutex_unlock(&f->lock);
	}
	return NULL;
}

static void start(struct fixture *f, const struct hs_bus_config *config)
{
	struct hs_error err = {0};
	if (hs_bus_open(config, &f->bus, &err))
		fail_msg("%s: %s", err.path, err.message);
	f->stop = false;
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
	f->running = true;
}

static void start_node(struct fixture *f)
{
	const char *bind[] = {f->tcp, f->ipc}, *listen = f->reports;
	snprintf(f->files[2], sizeof(f->files[2]), "%s/node.secret", f->folder);
	struct hs_bus_keys keys = {.secret_file = f->files[2], .allowed_dir = f->allowed};
	start(f, &(struct hs_bus_config){.bind = bind,
				 .n_bind = 2,
				 .publish_bind = &listen,
				 .n_publish_bind = 1,
				 .keys = &keys});
}

static void stop_node(struct fixture *f)
{
	if (!f->running)
		return;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	f->running = false;
	hs_bus_close(f->bus);
	f->bus = NULL;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];
	stop_node(f);
	snprintf(command, sizeof(command), "rm -r %s", f->folder);
	assert_int_equal(system(command), 0);
	pthread_mutex_destroy(&f->lock);
	free(f);
	return 0;
}

static struct hs_bus_counters counters_of(struct fixture *f)
{
	struct hs_bus_counters counters;
	pthread_mutex_lock(&f->lock);
	hs_bus_counters(f->bus, &counters);
	pthread_mutex_unlock(&f->lock);
	return counters;
}

static void await_failures(struct fixture *f, unsigned n)
{
	for (unsigned i = 0; i < LIMIT_MS; i++, poll(NULL, 0, 1))
		if (counters_of(f).handshakes_failed >= n)
			return;
	fail();
}

static struct hs_bus_client *open_client(const char *endpoint, const struct hs_bus_keys *keys)
{
	struct hs_bus_client *client = NULL;
	struct hs_error err = {0};
	if (hs_bus_client_open(endpoint, keys, &client, &err))
		fail_msg("%s: %s", err.path, err.message);
	return client;
}

static int call(struct hs_bus_client *client, int timeout_ms, char reply[64])
{
	char *text;
	size_t len;
	int rc = hs_bus_client_call(client, "x", 1, timeout_ms, &text, &len);
	snprintf(reply, 64, "%s", rc ? "" : text);
	if (rc == 0)
		free(text);
	return rc;
}

static int call_once(struct fixture *f, const char *endpoint, const char *name, const char *server,
		char reply[64])
{
	struct hs_bus_keys keys;
	struct hs_bus_client *client =
			open_client(endpoint, name ? keys_of(f, name, server, &keys) : NULL);
	int rc = call(client, 3000, reply);
	hs_bus_client_close(client);
	return rc;
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

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
			hs_bus_peer_open(flood->f->tcp, i % 2 ? &flood->keys : NULL, &peers[i],
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
	char *reply;
	size_t len;

	start_node(f);
	assert_int_equal(hs_bus_peer_open(f->tcp, keys_of(f, "stranger", "node", &keys), &peer,
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
	hs_bus_peer_state(peer, &seen);
	assert_true(seen.connected);
	assert_false(seen.refused);
	while (hs_bus_peer_next(peer, &reply, &len) == -EAGAIN && now_ms() < end)
		;
	assert_string_equal(reply, "stranger changes");
	free(reply);
	hs_bus_peer_close(peer);
}

// ---- publishing ----

static struct hs_bus_subscriber *open_subscriber(
		const char *endpoint, bool bind, const struct hs_bus_keys *keys)
{
	struct hs_bus_subscriber *subscriber = NULL;
	struct hs_error err = {0};
	if (hs_bus_subscriber_open(endpoint, "", bind, keys, &subscriber, &err))
		fail_msg("%s: %s", err.path, err.message);
	return subscriber;
}

static int next(struct hs_bus_subscriber *subscriber, int timeout_ms)
{
	struct hs_bus_message message;
	int rc = hs_bus_subscriber_next(subscriber, timeout_ms, &message);
	if (rc == 0)
		free(message.json);
	return rc;
}

// Nothing comes any more: not within a time in which the node publishes a hundred times.
static void await_silence(struct hs_bus_subscriber *subscriber)
{
	int64_t end = now_ms() + LIMIT_MS;
	while (next(subscriber, 500) == 0)
		assert_in_range(now_ms(), 0, end);
}

static void a_listener_may_read_with_a_reading_key_and_is_cut_off_when_it_goes(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_keys keys;

	start_node(f);
	struct hs_bus_subscriber *reader =
			open_subscriber(f->reports, false, keys_of(f, "reader", "node", &keys));
	struct hs_bus_subscriber *alice =
			open_subscriber(f->reports, false, keys_of(f, "alice", "node", &keys));
	struct hs_bus_subscriber *stranger =
			open_subscriber(f->reports, false, keys_of(f, "stranger", "node", &keys));
	struct hs_bus_subscriber *plain = open_subscriber(f->reports, false, NULL);
	assert_int_equal(next(reader, LIMIT_MS), 0);
	assert_int_equal(next(alice, LIMIT_MS), 0);
	assert_int_equal(next(stranger, 300), -EAGAIN);
	assert_int_equal(next(plain, 300), -EAGAIN);
	forbid(f, "reader");
	await_silence(reader);
	// The other one came back by itself.
	while (next(alice, 0) == 0)
		;
	assert_int_equal(next(alice, LIMIT_MS), 0);
	assert_int_equal(access(f->reports + strlen("ipc://"), F_OK), 0);
	hs_bus_subscriber_close(reader);
	hs_bus_subscriber_close(alice);
	hs_bus_subscriber_close(stranger);
	hs_bus_subscriber_close(plain);
}

static void start_publisher(struct fixture *f, const char *server)
{
	const char *bind = f->ipc, *to = f->tcp;
	struct hs_bus_keys keys;
	keys_of(f, "node", server, &keys);
	keys.allowed_dir = f->allowed;
	start(f, &(struct hs_bus_config){.bind = &bind,
				 .n_bind = 1,
				 .publish_to = &to,
				 .n_publish_to = 1,
				 .keys = &keys});
}

static struct hs_bus_subscriber *open_controller(struct fixture *f, const char *name, char *dir)
{
	char file[96];
	snprintf(file, sizeof(file), "%s/%s.secret", f->folder, name);
	struct hs_bus_keys keys = {.secret_file = file, .allowed_dir = dir};
	return open_subscriber(f->tcp, true, &keys);
}

static void a_node_publishes_to_the_controller_whose_key_it_has_and_to_no_other(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_refusal refusal = {.peer = ""};

	allow(f, "node");
	start_publisher(f, "controller");
	struct hs_bus_subscriber *impostor = open_controller(f, "stranger", f->allowed);
	assert_int_equal(next(impostor, 1500), -EAGAIN);
	await_failures(f, 1);
	pthread_mutex_lock(&f->lock);
	assert_true(hs_bus_last_refusal(f->bus, &refusal));
	pthread_mutex_unlock(&f->lock);
	assert_true(refusal.dialled);
	assert_string_equal(refusal.peer, f->tcp);
	hs_bus_subscriber_close(impostor);
	struct hs_bus_subscriber *controller = open_controller(f, "controller", f->allowed);
	assert_int_equal(next(controller, LIMIT_MS), 0);
	hs_bus_subscriber_close(controller);
}

static void a_controller_takes_reports_only_of_nodes_it_allows(void **state)
{
	struct fixture *f = *state;

	start_publisher(f, "controller");
	struct hs_bus_subscriber *controller = open_controller(f, "controller", f->allowed);
	assert_int_equal(next(controller, 1000), -EAGAIN);
	// The node tries again, though ZeroMQ alone would not.
	allow(f, "node");
	assert_int_equal(next(controller, LIMIT_MS), 0);
	forbid(f, "node");
	await_silence(controller);
	hs_bus_subscriber_close(controller);
}

// What came while nobody looked is judged by what is allowed now.
static void a_controller_that_looks_again_takes_nothing_of_a_key_that_went_meanwhile(void **state)
{
	struct fixture *f = *state;

	allow(f, "node");
	start_publisher(f, "controller");
	struct hs_bus_subscriber *controller = open_controller(f, "controller", f->allowed);
	assert_int_equal(next(controller, LIMIT_MS), 0);
	forbid(f, "node");
	// Longer than the directory is believed, while the node goes on publishing.
	poll(NULL, 0, 700);
	assert_int_equal(next(controller, 300), -EAGAIN);
	hs_bus_subscriber_close(controller);
}

static void a_node_comes_back_to_a_controller_that_was_without_keys_for_a_while(void **state)
{
	struct fixture *f = *state;

	allow(f, "node");
	start_publisher(f, "controller");
	struct hs_bus_subscriber *careless = open_subscriber(f->tcp, true, NULL);
	assert_int_equal(next(careless, 1000), -EAGAIN);
	hs_bus_subscriber_close(careless);
	struct hs_bus_subscriber *controller = open_controller(f, "controller", f->allowed);
	assert_int_equal(next(controller, LIMIT_MS), 0);
	hs_bus_subscriber_close(controller);
}

// ---- what is refused at start ----

static void keys_that_are_not_complete_are_refused_with_their_place(void **state)
{
	struct fixture *f = *state;
	char secret[96], open_secret[96], pub[96];
	const char *api = f->ipc, *to = "tcp://192.0.2.1:5556";
	snprintf(secret, sizeof(secret), "%s/node.secret", f->folder);
	snprintf(open_secret, sizeof(open_secret), "%s/alice.secret", f->folder);
	snprintf(pub, sizeof(pub), "%s/controller.pub", f->folder);
	assert_int_equal(chmod(open_secret, 0644), 0);
	const struct {
		struct hs_bus_keys keys;
		bool insecure;
		const char *code, *path; // NULL: it opens
	} cases[] = {
			{{.allowed_dir = f->allowed}, true, "missing_field", "keys.secret"},
			{{.secret_file = secret}, true, "missing_field", "keys.allowed"},
			{{.secret_file = secret, .allowed_dir = f->allowed}, false, "missing_field",
					"keys.controller"},
			{{.secret_file = open_secret,
					 .allowed_dir = f->allowed,
					 .server_file = pub},
					false, "bad_permissions", "keys.secret"},
			{{.secret_file = pub, .allowed_dir = f->allowed, .server_file = pub}, false,
					"bad_permissions", "keys.secret"},
			{{.secret_file = secret, .allowed_dir = secret, .server_file = pub}, false,
					"not_readable", "keys.allowed"},
			{{.secret_file = secret, .allowed_dir = f->allowed, .server_file = "/none"},
					false, "not_readable", "keys.controller"},
			{{.secret_file = secret, .allowed_dir = f->allowed, .server_file = pub},
					false, NULL, NULL},
			{{.secret_file = secret, .allowed_dir = f->allowed}, true, NULL, NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_bus *bus = NULL;
		struct hs_error err = {0};
		struct hs_bus_config config = {.bind = &api,
				.n_bind = 1,
				.publish_to = &to,
				.n_publish_to = 1,
				.insecure = cases[i].insecure,
				.keys = &cases[i].keys};
		int rc = hs_bus_open(&config, &bus, &err);
		if (cases[i].code) {
			assert_true(rc < 0);
			assert_string_equal(err.code, cases[i].code);
			assert_string_equal(err.path, cases[i].path);
		} else {
			assert_int_equal(rc, 0);
		}
		hs_bus_close(bus);
	}
}

static void with_keys_a_node_may_be_reached_from_everywhere(void **state)
{
	struct fixture *f = *state;
	const char *bind[] = {"tcp://0.0.0.0:*", "ipc://@hopsight-keys-test"};
	char secret[96];
	struct hs_error err = {0};
	snprintf(secret, sizeof(secret), "%s/node.secret", f->folder);
	struct hs_bus_keys keys = {.secret_file = secret, .allowed_dir = f->allowed};
	struct hs_bus_config config = {.bind = bind, .n_bind = 2, .keys = &keys};
	if (hs_bus_open(&config, &f->bus, &err))
		fail_msg("%s: %s", err.path, err.message);
	hs_bus_close(f->bus);
	config.keys = NULL;
	assert_int_equal(hs_bus_open(&config, &f->bus, &err), -EINVAL);
	assert_string_equal(err.code, "insecure");
}

static void half_a_key_is_refused_to_clients(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_client *client;
	struct hs_bus_peer *peer;
	struct hs_bus_subscriber *subscriber;
	struct hs_bus_keys keys;
	struct hs_error err = {0};
	keys_of(f, "alice", "node", &keys);
	keys.server_file = NULL;
	assert_int_equal(hs_bus_client_open(f->ipc, &keys, &client, &err), -EINVAL);
	assert_string_equal(err.path, "controller");
	keys_of(f, "alice", "node", &keys);
	keys.secret_file = NULL;
	assert_int_equal(hs_bus_peer_open(f->ipc, &keys, &peer, &err), -EINVAL);
	assert_string_equal(err.path, "secret");
	assert_int_equal(hs_bus_subscriber_open(f->ipc, "", false, &keys, &subscriber, &err),
			-EINVAL);
	keys_of(f, "alice", "node", &keys);
	assert_int_equal(hs_bus_subscriber_open(f->ipc, "", true, &keys, &subscriber, &err),
			-EINVAL);
	assert_string_equal(err.path, "allowed");
}

int main(void)
{
#define WITH_KEYS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
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
			WITH_KEYS(a_listener_may_read_with_a_reading_key_and_is_cut_off_when_it_goes),
			WITH_KEYS(a_node_publishes_to_the_controller_whose_key_it_has_and_to_no_other),
			WITH_KEYS(a_controller_takes_reports_only_of_nodes_it_allows),
			WITH_KEYS(a_controller_that_looks_again_takes_nothing_of_a_key_that_went_meanwhile),
			WITH_KEYS(a_node_comes_back_to_a_controller_that_was_without_keys_for_a_while),
			WITH_KEYS(keys_that_are_not_complete_are_refused_with_their_place),
			WITH_KEYS(with_keys_a_node_may_be_reached_from_everywhere),
			WITH_KEYS(half_a_key_is_refused_to_clients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
