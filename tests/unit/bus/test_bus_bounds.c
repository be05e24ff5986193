// SPDX-License-Identifier: BSD-3-Clause
// What one client may cost, and that it costs no other anything.
#include "bus_rig.h"

#include "bus_told_limits.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

static struct hs_bus_counters counters_of(const struct fixture *f)
{
	struct hs_bus_counters counters;
	hs_bus_counters(f->bus, &counters);
	return counters;
}

// One whose own queue towards the node has no limit, and that takes a message at a time.
static void *patient_socket(struct fixture *f, int type, const char *endpoint)
{
	void *socket = new_socket(f, type);
	int none = 0, one = 1;

	zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof(none));
	zmq_setsockopt(socket, ZMQ_SNDHWM, &none, sizeof(none));
	zmq_setsockopt(socket, ZMQ_RCVHWM, &one, sizeof(one));
	assert_int_equal(zmq_connect(socket, endpoint), 0);
	return socket;
}

static void drop_all(struct hs_bus *bus)
{
	struct hs_bus_request request;

	hs_bus_poll(bus, 1, NULL, 0);
	while (hs_bus_next_request(bus, &request) == 0)
		hs_bus_drop_request(&request);
}

static void a_client_that_leaves_its_replies_gets_each_of_them_when_it_takes_them(void **state)
{
	struct fixture *f = *state;
	char text[1000], request[16];
	unsigned answered = 0, taken = 0;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	f->bus = open_bus(f->api, NULL, 0);
	void *dealer = patient_socket(f, ZMQ_DEALER, f->api);
	for (unsigned i = 0; i < 5000; i++)
		zmq_send(dealer, request, (size_t)snprintf(request, sizeof(request), "%u", i), 0);

	// As long as nothing is taken, answers come to an end; then all of them arrive.
	for (unsigned idle = 0; idle < 2000 && taken < 5000;) {
		struct hs_bus_request next;
		char reply[1024];
		bool some = false;
		hs_bus_poll(f->bus, taken ? 0 : 10, NULL, 0);
		while (hs_bus_next_request(f->bus, &next) == 0) {
			snprintf(request, sizeof(request), "%u", answered++);
			assert_body(&next, request);
			assert_int_equal(hs_bus_reply(f->bus, &next, text), 0);
			some = true;
		}
		idle = some ? 0 : idle + 1;
		if (idle < 20 && taken == 0)
			continue;
		if (taken == 0)
			assert_in_range(answered, 100, 4900);
		while (zmq_recv(dealer, reply, sizeof(reply), ZMQ_DONTWAIT) >= 0) {
			taken++;
			idle = 20;
		}
		usleep(idle > 20 ? 1000 : 0);
	}
	assert_int_equal(taken, 5000);
	assert_int_equal(counters_of(f).replies_lost, 0);
}

static void as_many_requests_are_under_way_as_the_limits_say(void **state)
{
	struct fixture *f = *state;
	const unsigned most = hs_bus_told_limits(0).requests;
	struct hs_bus_request taken[1024], next;

	assert_in_range(most, 1, 1023);
	f->bus = open_bus(f->api, NULL, 0);
	void *dealer = patient_socket(f, ZMQ_DEALER, f->api);
	for (unsigned i = 0; i < most + 10; i++)
		zmq_send(dealer, "x", 1, 0);
	for (unsigned i = 0; i < most; i++)
		taken[i] = next_request(f->bus);
	for (unsigned i = 0; i < 20; i++) {
		assert_false(hs_bus_poll(f->bus, 5, NULL, 0));
		assert_int_equal(hs_bus_next_request(f->bus, &next), -EAGAIN);
	}
	assert_int_equal(hs_bus_reply(f->bus, &taken[0], "y"), 0);
	taken[0] = next_request(f->bus); // one answer makes room for one request
	assert_int_equal(hs_bus_next_request(f->bus, &next), -EAGAIN);
	for (unsigned i = 0; i < most; i++)
		hs_bus_drop_request(&taken[i]);
}

// Returns a socket that speaks ZMTP 3.0 itself, after its part of the handshake.
static int raw_socket(const char *endpoint, const char *kind)
{
	char greeting[64] = "\xff\0\0\0\0\0\0\0\0\x7f\x03\0NULL";
	char ready[64] = "\x04_\x05READY\x0bSocket-Type\0\0\0_";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t head = 24, len = strlen(kind);

	ready[1] = (char)(head - 2 + len);
	ready[23] = (char)len;
	memcpy(ready + head, kind, len);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", endpoint + strlen("ipc://"));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	send(fd, greeting, sizeof(greeting), 0);
	send(fd, ready, head + len, 0);
	return fd;
}

static void as_many_bytes_of_requests_are_read_as_the_limits_say(void **state)
{
	struct fixture *f = *state;
	const struct hs_api_connection_limits limits = hs_bus_told_limits(0);
	static uint8_t part[9 + 4096] = {2, [7] = 4096 >> 8};
	size_t sent = 0, at = 0;
	int buffers;
	socklen_t size = sizeof(buffers);

	f->bus = open_bus(f->api, NULL, 0);
	int fd = raw_socket(f->api, "DEALER");
	getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffers, &size);
	for (unsigned idle = 0; idle < 30 && sent < 2 * limits.waiting_bytes;) {
		ssize_t n = send(fd, part + at, sizeof(part) - at, MSG_DONTWAIT | MSG_NOSIGNAL);
		idle = n > 0 ? 0 : idle + 1;
		sent += n > 0 ? (size_t)n : 0;
		at = (at + (n > 0 ? (size_t)n : 0)) % sizeof(part);
		usleep(n > 0 ? 0 : 10000);
	}
	close(fd);
	// Each part counts `part_bytes` more than its content. The kernel holds what nobody has
	// read.
	const size_t counted = sent / sizeof(part) * (4096 + limits.part_bytes);
	assert_in_range(counted, limits.waiting_bytes,
			limits.waiting_bytes + 2 * (size_t)buffers + (256 << 10));
}

static void requests_of_two_clients_are_handed_on_in_turn(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_request request;
	unsigned before = 0;

	f->bus = open_bus(f->api, NULL, 0);
	void *many = open_socket(f, ZMQ_DEALER, f->api);
	for (unsigned i = 0; i < 100; i++)
		zmq_send(many, "many", 4, 0);
	request = next_request(f->bus);
	hs_bus_drop_request(&request);
	void *few = open_socket(f, ZMQ_DEALER, f->api);
	zmq_send(few, "few", 3, 0);
	usleep(100000);
	do {
		request = next_request(f->bus);
		before += request.len == 4;
		bool found = request.len == 3;
		hs_bus_drop_request(&request);
		if (found)
			break;
	} while (before < 99);
	assert_in_range(before, 0, 20);
}

static void a_message_without_end_ends_its_connection(void **state)
{
	struct fixture *f = *state;
	char part[257] = "\x01\xff";

	f->bus = open_bus(f->api, NULL, 0);
	int fd = raw_socket(f->api, "DEALER");
	for (unsigned i = 0; i < 5000 && counters_of(f).connections_closed == 0; i++) {
		for (unsigned n = 0; n < 1000; n++)
			if (send(fd, part, sizeof(part), MSG_DONTWAIT | MSG_NOSIGNAL) <= 0)
				break;
		drop_all(f->bus);
	}
	close(fd);
	struct hs_bus_turned_away last;
	assert_true(counters_of(f).connections_closed > 0);
	assert_true(hs_bus_last_turned_away(f->bus, &last));
	assert_non_null(strstr(last.reason, "never ends"));
	// Others never noticed.
	void *req = open_socket(f, ZMQ_REQ, f->api);
	zmq_send(req, "x", 1, 0);
	struct hs_bus_request request = next_request(f->bus);
	assert_int_equal(hs_bus_reply(f->bus, &request, "y"), 0);
	assert_part(req, "y", false);
}

static bool is_closed(struct fixture *f)
{
	for (unsigned i = 0; i < 100 && counters_of(f).connections_closed == 0; i++)
		drop_all(f->bus);
	return counters_of(f).connections_closed > 0;
}

static void a_subscriber_may_have_as_many_subscriptions_as_the_limits_say(void **state)
{
	struct fixture *f = *state;
	const unsigned most = hs_bus_told_limits(0).subscriptions;
	char topic[24] = "\0\x0f\x01";

	f->bus = open_bus(f->api, f->reports, 0);
	int fd = raw_socket(f->reports, "SUB");
	for (unsigned n = 0; n <= most; n++) {
		if (n == most)
			assert_false(is_closed(f));
		snprintf(topic + 3, sizeof(topic) - 3, "report.%07u", n);
		assert_int_equal(send(fd, topic, 17, 0), 17);
	}
	assert_true(is_closed(f));
	close(fd);
}

static void connections_of_one_process_leave_places_to_others(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int held[600];

	f->bus = open_bus(f->api, NULL, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", f->api + strlen("ipc://"));
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur < 3000)
		skip();
	for (unsigned i = 0; i < 600; i++) {
		held[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		assert_int_equal(connect(held[i], (struct sockaddr *)&address, sizeof(address)), 0);
	}
	for (unsigned i = 0; i < 500 && counters_of(f).connections_refused < 88; i++)
		drop_all(f->bus), usleep(2000);
	assert_int_equal(counters_of(f).connections_refused, 88);
	struct hs_bus_turned_away last;
	assert_true(hs_bus_last_turned_away(f->bus, &last));
	assert_non_null(strstr(last.reason, "512"));
	for (unsigned i = 0; i < 600; i++)
		close(held[i]);
	void *req = open_socket(f, ZMQ_REQ, f->api); // as soon as there is a place
	zmq_send(req, "x", 1, 0);
	struct hs_bus_request request = next_request(f->bus);
	hs_bus_drop_request(&request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			WITH_FILES(a_client_that_leaves_its_replies_gets_each_of_them_when_it_takes_them),
			WITH_FILES(as_many_requests_are_under_way_as_the_limits_say),
			WITH_FILES(as_many_bytes_of_requests_are_read_as_the_limits_say),
			WITH_FILES(requests_of_two_clients_are_handed_on_in_turn),
			WITH_FILES(a_message_without_end_ends_its_connection),
			WITH_FILES(a_subscriber_may_have_as_many_subscriptions_as_the_limits_say),
			WITH_FILES(connections_of_one_process_leave_places_to_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
