// SPDX-License-Identifier: BSD-3-Clause
// What a node publishes, and who misses it.
#include "bus_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
			WITH_FILES(a_subscriber_gets_topic_and_json_of_what_it_asked_for),
			WITH_FILES(a_subscriber_outlives_its_node_with_messages_yet_to_read),
			WITH_FILES(a_publisher_connects_to_a_controller_that_comes_later),
			WITH_FILES(a_listener_that_does_not_read_is_counted_while_the_other_gets_all),
			WITH_FILES(what_a_controller_that_does_not_read_misses_is_counted_exactly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
