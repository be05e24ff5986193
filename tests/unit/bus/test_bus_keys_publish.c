// SPDX-License-Identifier: BSD-3-Clause
// Publishing with CURVE, and keys that are refused at the start.
#include "bus_keys_rig.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	assert_int_equal(hs_bus_peer_open(f->ipc, &keys, -1, &peer, &err), -EINVAL);
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
	const struct CMUnitTest tests[] = {
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
