// SPDX-License-Identifier: BSD-3-Clause
// A node with keys, over tcp on loopback and over ipc, and those who may ask it or not.
#pragma once

#include "bus.h"

#include <zmq.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

static inline const struct hs_bus_keys *keys_of(
		struct fixture *f, const char *name, const char *server, struct hs_bus_keys *keys)
{
	snprintf(f->files[0], sizeof(f->files[0]), "%s/%s.secret", f->folder, name);
	snprintf(f->files[1], sizeof(f->files[1]), "%s/%s.pub", f->folder, server);
	*keys = (struct hs_bus_keys){.secret_file = f->files[0], .server_file = f->files[1]};
	return keys;
}

static inline void allow(const struct fixture *f, const char *name)
{
	char from[96], to[128];
	snprintf(from, sizeof(from), "%s/%s.pub", f->folder, name);
	snprintf(to, sizeof(to), "%s/%s.pub", f->allowed, name);
	assert_int_equal(link(from, to), 0);
}

static inline void forbid(const struct fixture *f, const char *name)
{
	char file[128];
	snprintf(file, sizeof(file), "%s/%s.pub", f->allowed, name);
	assert_int_equal(unlink(file), 0);
}

static inline int setup(void **state)
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

static inline void *serve(void *argument)
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

static inline void start(struct fixture *f, const struct hs_bus_config *config)
{
	struct hs_error err = {0};
	if (hs_bus_open(config, &f->bus, &err))
		fail_msg("%s: %s", err.path, err.message);
	f->stop = false;
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
	f->running = true;
}

static inline void start_node(struct fixture *f)
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

static inline void stop_node(struct fixture *f)
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

static inline int teardown(void **state)
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

static inline struct hs_bus_counters counters_of(struct fixture *f)
{
	struct hs_bus_counters counters;
	pthread_mutex_lock(&f->lock);
	hs_bus_counters(f->bus, &counters);
	pthread_mutex_unlock(&f->lock);
	return counters;
}

static inline void await_failures(struct fixture *f, unsigned n)
{
	for (unsigned i = 0; i < LIMIT_MS; i++, poll(NULL, 0, 1))
		if (counters_of(f).handshakes_failed >= n)
			return;
	fail();
}

static inline struct hs_bus_client *open_client(
		const char *endpoint, const struct hs_bus_keys *keys)
{
	struct hs_bus_client *client = NULL;
	struct hs_error err = {0};
	if (hs_bus_client_open(endpoint, keys, &client, &err))
		fail_msg("%s: %s", err.path, err.message);
	return client;
}

static inline int call(struct hs_bus_client *client, int timeout_ms, char reply[64])
{
	char *text;
	size_t len;
	int rc = hs_bus_client_call(client, "x", 1, timeout_ms, &text, &len);
	snprintf(reply, 64, "%s", rc ? "" : text);
	if (rc == 0)
		free(text);
	return rc;
}

static inline int call_once(struct fixture *f, const char *endpoint, const char *name,
		const char *server, char reply[64])
{
	struct hs_bus_keys keys;
	struct hs_bus_client *client =
			open_client(endpoint, name ? keys_of(f, name, server, &keys) : NULL);
	int rc = call(client, 3000, reply);
	hs_bus_client_close(client);
	return rc;
}

static inline int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#define WITH_KEYS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
