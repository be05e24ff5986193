// SPDX-License-Identifier: BSD-3-Clause
// What a node answers at its sockets.
#include "bus_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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
			{"tcp://127.0.0.1:65536", "bad_value"},
			{"tcp://127.0.0.1:-1", "bad_value"},
			{"tcp://127.0.0.1:5x", "bad_value"},
			{"tcp://127.0.0.1:", "bad_value"},
			{"tcp://127.0.0.1:65535", NULL},
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

int main(void)
{
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
