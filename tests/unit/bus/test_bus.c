// SPDX-License-Identifier: BSD-3-Clause
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
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_MS 5000

struct fixture {
	char folder[64];
	char api[100], reports[100]; // endpoints below a directory that does not exist yet
	struct hs_bus *bus;
	void *context;
	void *sockets[4]; // closed by the teardown, so that a failure does not wait for them
};

static struct hs_bus *open_bus(const char *api, const char *publish_bind, unsigned queue)
{
	struct hs_bus *bus = NULL;
	struct hs_error err = {0};
	struct hs_bus_config config = {.bind = &api,
			.n_bind = 1,
			.publish_bind = &publish_bind,
			.n_publish_bind = publish_bind ? 1 : 0,
			.publish_queue = queue};
	int rc = hs_bus_open(&config, &bus, &err);
	if (rc)
		fail_msg("%s", err.message);
	return bus;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	strcpy(f->folder, "/tmp/hs-bus-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->api, sizeof(f->api), "ipc://%s/a/b/node.api", f->folder);
	snprintf(f->reports, sizeof(f->reports), "ipc://%s/a/node.pub", f->folder);
	f->context = zmq_ctx_new();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];
	for (size_t i = 0; i < 4; i++)
		if (f->sockets[i])
			zmq_close(f->sockets[i]);
	hs_bus_close(f->bus);
	zmq_ctx_term(f->context);
	snprintf(command, sizeof(command), "rm -r %s", f->folder);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static void *new_socket(struct fixture *f, int type)
{
	void *socket = zmq_socket(f->context, type);
	size_t i = 0;
	assert_non_null(socket);
	while (f->sockets[i])
		i++;
	f->sockets[i] = socket;
	return socket;
}

static void *open_socket(struct fixture *f, int type, const char *endpoint)
{
	void *socket = new_socket(f, type);
	int linger = 0, limit = LIMIT_MS;
	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(socket, ZMQ_RCVTIMEO, &limit, sizeof(limit));
	zmq_setsockopt(socket, ZMQ_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(zmq_connect(socket, endpoint), 0);
	return socket;
}

static struct hs_bus_request next_request(struct hs_bus *bus)
{
	struct hs_bus_request request = {0};
	assert_true(hs_bus_poll(bus, LIMIT_MS, NULL, 0));
	assert_int_equal(hs_bus_next_request(bus, &request), 0);
	return request;
}

static void assert_body(const struct hs_bus_request *request, const char *text)
{
	assert_int_equal(request->len, strlen(text));
	assert_memory_equal(request->body, text, request->len);
}

static void assert_part(void *socket, const char *text, bool more)
{
	char bytes[256];
	int is_more;
	size_t size = sizeof(is_more);
	int n = zmq_recv(socket, bytes, sizeof(bytes), 0);
	assert_int_equal(n, strlen(text));
	assert_memory_equal(bytes, text, strlen(text));
	zmq_getsockopt(socket, ZMQ_RCVMORE, &is_more, &size);
	assert_int_equal(is_more, more);
}

static void only_loopback_and_guarded_files_are_allowed_without_insecure(void **state)
{
	static const struct {
		const char *endpoint, *code; // NULL: allowed
	} cases[] = {
			{"ipc:///run/hopsight/x.api", NULL},
			{"tcp://127.0.0.1:5556", NULL},
			{"tcp://127.8.9.1:*", NULL},
			{"tcp://localhost:1", NULL},
			{"tcp://[::1]:1", NULL},
			{"tcp://0.0.0.0:5556", "insecure"},
			{"tcp://*:5556", "insecure"},
			{"tcp://192.0.2.1:5556", "insecure"},
			{"tcp://[::]:5556", "insecure"},
			{"tcp://eth0:5556", "insecure"},
			{"tcp://127.0.0.1.example.org:1", "insecure"},
			{"tcp://127.0.0.999:1", "insecure"},
			{"ipc://@hopsight", "insecure"},
			{"ipc://relative", "bad_value"},
			{"tcp://127.0.0.1", "bad_value"},
			{"inproc://x", "bad_value"},
			{"udp://127.0.0.1:1", "bad_value"},
			{"", "bad_value"},
			{"ipc:///"
			 "0123456789012345678901234567890123456789012345678901234567890123456789"
			 "01234567890123456789012345678901234567890",
					"out_of_range"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_error err = {0};
		int rc = hs_bus_check_endpoint(cases[i].endpoint, false, "bind[3]", &err);
		if (!cases[i].code) {
			assert_int_equal(rc, 0);
			continue;
		}
		assert_int_equal(rc, -EINVAL);
		assert_string_equal(err.code, cases[i].code);
		assert_string_equal(err.path, "bind[3]");
		if (strcmp(err.code, "insecure") == 0)
			assert_int_equal(hs_bus_check_endpoint(cases[i].endpoint, true, "", &err),
					0);
	}
}

static void a_refused_endpoint_is_named_and_leaves_nothing_open(void **state)
{
	struct fixture *f = *state;
	struct hs_bus *bus = NULL;
	struct hs_error err = {0};
	const char *bind[] = {f->api, "tcp://0.0.0.0:5556"};
	struct hs_bus_config config = {.bind = bind, .n_bind = 2};
	assert_int_equal(hs_bus_open(&config, &bus, &err), -EINVAL);
	assert_string_equal(err.path, "bind[1]");
	assert_null(bus);
	assert_int_not_equal(access(f->api + strlen("ipc://"), F_OK), 0);
}

static void the_socket_file_is_made_with_its_directory_and_for_the_group_only(void **state)
{
	struct fixture *f = *state;
	struct stat status;
	f->bus = open_bus(f->api, NULL, 0);
	assert_int_equal(stat(f->api + strlen("ipc://"), &status), 0);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0660);
}

static void the_socket_file_of_a_dead_process_is_taken_over(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char endpoint[120];
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/stale.api", f->folder);
	snprintf(endpoint, sizeof(endpoint), "ipc://%s", address.sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd); // as a killed process leaves it
	f->bus = open_bus(endpoint, NULL, 0);
	struct hs_bus_client *client = NULL;
	assert_int_equal(hs_bus_client_open(endpoint, NULL, &client, NULL), 0);
	hs_bus_client_close(client);
}

static void the_socket_of_a_living_process_is_not_taken(void **state)
{
	struct fixture *f = *state;
	struct hs_bus *second = NULL;
	struct hs_error err = {0};
	const char *api = f->api;
	struct hs_bus_config config = {.bind = &api, .n_bind = 1};
	f->bus = open_bus(f->api, NULL, 0);
	assert_int_equal(hs_bus_open(&config, &second, &err), -EADDRINUSE);
	assert_string_equal(err.code, "in_use");
	// The first one still answers.
	void *req = open_socket(f, ZMQ_REQ, f->api);
	zmq_send(req, "x", 1, 0);
	struct hs_bus_request request = next_request(f->bus);
	hs_bus_drop_request(&request);
}

static void a_file_that_is_no_socket_is_not_touched(void **state)
{
	struct fixture *f = *state;
	struct hs_bus *bus = NULL;
	char endpoint[120];
	snprintf(endpoint, sizeof(endpoint), "ipc://%s/notes.txt", f->folder);
	int fd = open(endpoint + strlen("ipc://"), O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "keep", 4), 4);
	close(fd);
	const char *bind = endpoint;
	struct hs_bus_config config = {.bind = &bind, .n_bind = 1};
	assert_int_equal(hs_bus_open(&config, &bus, NULL), -EEXIST);
	struct stat status;
	assert_int_equal(stat(endpoint + strlen("ipc://"), &status), 0);
	assert_int_equal(status.st_size, 4);
}

static void a_plain_req_socket_gets_its_reply(void **state)
{
	struct fixture *f = *state;
	f->bus = open_bus(f->api, NULL, 0);
	void *req = open_socket(f, ZMQ_REQ, f->api);
	zmq_send(req, "{\"hello\":{}}", 12, 0);
	struct hs_bus_request request = next_request(f->bus);
	assert_body(&request, "{\"hello\":{}}");
	assert_int_equal(hs_bus_reply(f->bus, &request, "{\"ok\":{}}"), 0);
	assert_part(req, "{\"ok\":{}}", false);
}

static void a_dealer_gets_its_reply_with_the_envelope_it_sent(void **state)
{
	static const struct {
		const char *parts[4];
		const char *body;
		unsigned reply_parts;
	} cases[] = {
			{{"question"}, "question", 0},
			{{"", "question"}, "question", 1},
			{{"id-1", "", "question"}, "question", 2},
			{{"hop", "id-1", "", "question"}, "question", 3},
			// Several parts are no request, but their sender is told so.
			{{"a", "b"}, "", 0},
			{{"", "a", "b"}, "", 1},
			{{""}, "", 0},
	};
	struct fixture *f = *state;
	f->bus = open_bus(f->api, NULL, 0);
	void *dealer = open_socket(f, ZMQ_DEALER, f->api);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned n = 0;
		while (n < 4 && cases[i].parts[n])
			n++;
		for (unsigned p = 0; p < n; p++)
			zmq_send(dealer, cases[i].parts[p], strlen(cases[i].parts[p]),
					p + 1 < n ? ZMQ_SNDMORE : 0);
		struct hs_bus_request request = next_request(f->bus);
		assert_body(&request, cases[i].body);
		assert_int_equal(hs_bus_reply(f->bus, &request, "answer"), 0);
		for (unsigned p = 0; p < cases[i].reply_parts; p++)
			assert_part(dealer, cases[i].parts[p], true);
		assert_part(dealer, "answer", false);
	}
}

static void an_envelope_without_end_is_dropped_and_counted(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_counters counters;
	struct hs_bus_request request;
	f->bus = open_bus(f->api, NULL, 0);
	void *dealer = open_socket(f, ZMQ_DEALER, f->api);
	for (int i = 0; i < 100; i++)
		zmq_send(dealer, "x", 1, i < 99 ? ZMQ_SNDMORE : 0);
	zmq_send(dealer, "good", 4, 0);
	request = next_request(f->bus);
	assert_body(&request, "good");
	hs_bus_drop_request(&request);
	hs_bus_counters(f->bus, &counters);
	assert_int_equal(counters.requests_malformed, 1);
	assert_int_equal(counters.requests, 1);
}

static void a_request_longer_than_the_api_takes_still_arrives(void **state)
{
	struct fixture *f = *state;
	size_t len = 2u << 20;
	char *text = calloc(1, len);
	f->bus = open_bus(f->api, NULL, 0);
	void *req = open_socket(f, ZMQ_REQ, f->api);
	assert_non_null(text);
	zmq_send(req, text, len, 0);
	struct hs_bus_request request = next_request(f->bus);
	assert_int_equal(request.len, len);
	hs_bus_reply(f->bus, &request, "too large");
	assert_part(req, "too large", false);
	free(text);
}

static void a_reply_to_a_client_that_has_gone_is_counted_as_lost(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_counters counters;
	f->bus = open_bus(f->api, NULL, 0);
	void *req = open_socket(f, ZMQ_REQ, f->api);
	zmq_send(req, "x", 1, 0);
	struct hs_bus_request request = next_request(f->bus);
	zmq_close(f->sockets[0]);
	f->sockets[0] = NULL;
	do {
		hs_bus_poll(f->bus, 10, NULL, 0);
		hs_bus_counters(f->bus, &counters);
	} while (counters.disconnections == 0);
	assert_int_equal(hs_bus_reply(f->bus, &request, "y"), -EHOSTUNREACH);
	hs_bus_counters(f->bus, &counters);
	assert_int_equal(counters.replies_lost, 1);
	assert_int_equal(counters.replies, 0);
	assert_int_equal(counters.connections, 1);
}

static void a_poll_wakes_for_another_descriptor(void **state)
{
	struct fixture *f = *state;
	int pipes[2];
	f->bus = open_bus(f->api, NULL, 0);
	assert_int_equal(pipe(pipes), 0);
	struct pollfd fds[] = {{.fd = pipes[0], .events = POLLIN}};
	assert_false(hs_bus_poll(f->bus, 0, fds, 1));
	assert_int_equal(fds[0].revents, 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_false(hs_bus_poll(f->bus, LIMIT_MS, fds, 1));
	assert_int_equal(fds[0].revents, POLLIN);
	close(pipes[0]);
	close(pipes[1]);
}

static void the_queue_of_requests_ends_with_eagain(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_request request;
	f->bus = open_bus(f->api, NULL, 0);
	assert_int_equal(hs_bus_next_request(f->bus, &request), -EAGAIN);
}

// ---- publishing ----

// Publishes until the first one arrives; what was published before the subscription is not seen.
static void await_subscription(struct hs_bus *bus, struct hs_bus_subscriber *subscriber)
{
	struct hs_bus_message message;
	for (int i = 0; i < LIMIT_MS / 10; i++) {
		hs_bus_publish(bus, "report.0", "{}");
		hs_bus_poll(bus, 0, NULL, 0);
		if (hs_bus_subscriber_next(subscriber, 10, &message) == 0) {
			free(message.json);
			while (hs_bus_subscriber_next(subscriber, 20, &message) == 0)
				free(message.json);
			return;
		}
	}
	fail();
}

static void a_subscriber_gets_topic_and_json_of_what_it_asked_for(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_subscriber *subscriber = NULL;
	struct hs_bus_message message;
	f->bus = open_bus(f->api, f->reports, 0);
	assert_int_equal(hs_bus_subscriber_open(
					 f->reports, "report.", false, NULL, &subscriber, NULL),
			0);
	await_subscription(f->bus, subscriber);
	assert_int_equal(hs_bus_publish(f->bus, "qos.7", "{\"a\":1}"), 0);
	assert_int_equal(hs_bus_publish(f->bus, "report.7", "{\"b\":2}"), 0);
	assert_int_equal(hs_bus_subscriber_next(subscriber, LIMIT_MS, &message), 0);
	assert_string_equal(message.topic, "report.7");
	assert_string_equal(message.json, "{\"b\":2}");
	free(message.json);
	hs_bus_subscriber_close(subscriber);
}

// libzmq aborts where it learns in the middle of a message that its connection has gone.
static void a_subscriber_outlives_its_node_with_messages_yet_to_read(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_subscriber *subscriber = NULL;
	struct hs_bus_message message;

	assert_int_equal(hs_bus_subscriber_open(f->reports, "", false, NULL, &subscriber, NULL), 0);
	for (unsigned round = 0; round < 4; round++) {
		f->bus = open_bus(f->api, f->reports, 0);
		await_subscription(f->bus, subscriber);
		for (unsigned i = 0; i < 300; i++)
			assert_int_equal(hs_bus_publish(f->bus, "report.1", "{}"), 0);
		assert_int_equal(hs_bus_subscriber_next(subscriber, LIMIT_MS, &message), 0);
		free(message.json);
		hs_bus_close(f->bus);
		f->bus = NULL;
		unsigned got = 1;
		for (; hs_bus_subscriber_next(subscriber, 100, &message) == 0; got++)
			free(message.json);
		assert_int_equal(got, 300);
	}
	hs_bus_subscriber_close(subscriber);
}

static void a_publisher_connects_to_a_controller_that_comes_later(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_subscriber *controller = NULL;
	const char *api = f->api, *to = f->reports;
	struct hs_bus_config config = {
			.bind = &api, .n_bind = 1, .publish_to = &to, .n_publish_to = 1};
	assert_int_equal(hs_bus_open(&config, &f->bus, NULL), 0);
	// Nobody there: nothing waits, nothing counts as lost.
	for (int i = 0; i < 5000; i++)
		assert_int_equal(hs_bus_publish(f->bus, "report.1", "{}"), 0);
	assert_int_equal(hs_bus_subscriber_open(f->reports, "", true, NULL, &controller, NULL), 0);
	await_subscription(f->bus, controller);
	hs_bus_subscriber_close(controller);
}

// A subscriber that takes nothing in before it is read.
static void *open_slow(struct fixture *f, bool bind)
{
	void *slow = new_socket(f, ZMQ_SUB);
	int one = 1, zero = 0;
	zmq_setsockopt(slow, ZMQ_LINGER, &zero, sizeof(zero));
	zmq_setsockopt(slow, ZMQ_RCVHWM, &one, sizeof(one));
	zmq_setsockopt(slow, ZMQ_SUBSCRIBE, "", 0);
	assert_int_equal(bind ? zmq_bind(slow, f->reports) : zmq_connect(slow, f->reports), 0);
	return slow;
}

// Publishes until something arrives.
static void await_slow(struct hs_bus *bus, void *slow)
{
	zmq_pollitem_t item = {.socket = slow, .events = ZMQ_POLLIN};
	for (int i = 0; i < LIMIT_MS / 10; i++) {
		hs_bus_publish(bus, "first", "{}");
		hs_bus_poll(bus, 0, NULL, 0);
		if (zmq_poll(&item, 1, 10) == 1)
			return;
	}
	fail();
}

static char *long_text(size_t len)
{
	char *text = malloc(len + 1);
	assert_non_null(text);
	memset(text, 'x', len);
	text[len] = '\0';
	return text;
}

static void a_listener_that_does_not_read_is_counted_while_the_other_gets_all(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_subscriber *good = NULL;
	struct hs_bus_counters counters;
	struct hs_bus_message message;
	unsigned lost = 0;
	char *text = long_text(64u << 10);

	f->bus = open_bus(f->api, f->reports, 8);
	assert_int_equal(hs_bus_subscriber_open(f->reports, "", false, NULL, &good, NULL), 0);
	await_subscription(f->bus, good);
	void *slow = open_slow(f, false);
	await_slow(f->bus, slow);
	while (hs_bus_subscriber_next(good, 20, &message) == 0)
		free(message.json);

	for (unsigned sent = 0, after = 0; after < 100; sent++) {
		assert_in_range(sent, 0, 2000);
		lost += hs_bus_publish(f->bus, "report.1", text) == -EAGAIN;
		after += lost > 0;
		assert_int_equal(hs_bus_subscriber_next(good, LIMIT_MS, &message), 0);
		assert_string_equal(message.topic, "report.1");
		free(message.json);
	}
	hs_bus_counters(f->bus, &counters);
	assert_int_equal(counters.publish_lost, lost);
	hs_bus_subscriber_close(good);
	free(text);
}

static void what_a_controller_that_does_not_read_misses_is_counted_exactly(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_counters counters;
	const char *api = f->api, *to = f->reports;
	struct hs_bus_config config = {.bind = &api,
			.n_bind = 1,
			.publish_to = &to,
			.n_publish_to = 1,
			.publish_queue = 8};
	unsigned sent = 0, lost = 0, got = 0;
	int limit = 200;
	char part[16], *text = long_text(64u << 10);

	assert_int_equal(hs_bus_open(&config, &f->bus, NULL), 0);
	void *slow = open_slow(f, true);
	await_slow(f->bus, slow);
	hs_bus_counters(f->bus, &counters);
	assert_int_equal(counters.publish_lost, 0);

	while (lost < 100) {
		assert_in_range(sent, 0, 2000);
		lost += hs_bus_publish(f->bus, "report.1", text) == -EAGAIN;
		sent++;
	}
	zmq_setsockopt(slow, ZMQ_RCVTIMEO, &limit, sizeof(limit));
	while (zmq_recv(slow, part, sizeof(part), 0) >= 0)
		got += memcmp(part, "report.1", 8) == 0;
	assert_int_equal(got, sent - lost);
	hs_bus_counters(f->bus, &counters);
	assert_int_equal(counters.publish_lost, lost);
	free(text);
}

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

	struct hs_bus_counters counters;
	do {
		hs_bus_poll(f->bus, LIMIT_MS, NULL, 0);
		hs_bus_counters(f->bus, &counters);
	} while (counters.disconnections == 0);
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
	assert_int_equal(hs_bus_peer_open(endpoint, NULL, &peer, NULL), 0);
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

int main(void)
{
#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					only_loopback_and_guarded_files_are_allowed_without_insecure),
			WITH_FILES(a_refused_endpoint_is_named_and_leaves_nothing_open),
			WITH_FILES(the_socket_file_is_made_with_its_directory_and_for_the_group_only),
			WITH_FILES(the_socket_file_of_a_dead_process_is_taken_over),
			WITH_FILES(the_socket_of_a_living_process_is_not_taken),
			WITH_FILES(a_file_that_is_no_socket_is_not_touched),
			WITH_FILES(a_plain_req_socket_gets_its_reply),
			WITH_FILES(a_dealer_gets_its_reply_with_the_envelope_it_sent),
			WITH_FILES(an_envelope_without_end_is_dropped_and_counted),
			WITH_FILES(a_request_longer_than_the_api_takes_still_arrives),
			WITH_FILES(a_reply_to_a_client_that_has_gone_is_counted_as_lost),
			WITH_FILES(a_poll_wakes_for_another_descriptor),
			WITH_FILES(the_queue_of_requests_ends_with_eagain),
			WITH_FILES(a_subscriber_gets_topic_and_json_of_what_it_asked_for),
			WITH_FILES(a_subscriber_outlives_its_node_with_messages_yet_to_read),
			WITH_FILES(a_publisher_connects_to_a_controller_that_comes_later),
			WITH_FILES(a_listener_that_does_not_read_is_counted_while_the_other_gets_all),
			WITH_FILES(what_a_controller_that_does_not_read_misses_is_counted_exactly),
			WITH_FILES(a_client_gets_replies_and_a_late_one_is_not_mixed_up),
			WITH_FILES(a_client_of_a_dead_node_is_told_so_at_once),
			WITH_FILES(a_client_of_nobody_is_told_so),
			WITH_FILES(a_peer_sends_many_requests_and_gets_their_replies_in_order),
			WITH_FILES(a_peer_queues_nothing_for_a_node_that_is_away_and_finds_it_when_it_comes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
