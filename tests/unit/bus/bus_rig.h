// SPDX-License-Identifier: BSD-3-Clause
// Sockets of a node below a directory that each test has for itself.
#pragma once

#include "bus.h"

#include <zmq.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define LIMIT_MS 5000

struct fixture {
	char folder[64];
	char api[100], reports[100]; // endpoints below a directory that does not exist yet
	struct hs_bus *bus;
	void *context;
	void *sockets[4]; // closed by the teardown, so that a failure does not wait for them
};

static inline struct hs_bus *open_bus(const char *api, const char *publish_bind, unsigned queue)
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

static inline int setup(void **state)
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

static inline int teardown(void **state)
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

static inline void *new_socket(struct fixture *f, int type)
{
	void *socket = zmq_socket(f->context, type);
	size_t i = 0;
	assert_non_null(socket);
	while (f->sockets[i])
		i++;
	f->sockets[i] = socket;
	return socket;
}

static inline void *open_socket(struct fixture *f, int type, const char *endpoint)
{
	void *socket = new_socket(f, type);
	int linger = 0, limit = LIMIT_MS;
	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(socket, ZMQ_RCVTIMEO, &limit, sizeof(limit));
	zmq_setsockopt(socket, ZMQ_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(zmq_connect(socket, endpoint), 0);
	return socket;
}

static inline struct hs_bus_request next_request(struct hs_bus *bus)
{
	struct hs_bus_request request = {0};
	assert_true(hs_bus_poll(bus, LIMIT_MS, NULL, 0));
	assert_int_equal(hs_bus_next_request(bus, &request), 0);
	return request;
}

static inline void assert_body(const struct hs_bus_request *request, const char *text)
{
	assert_int_equal(request->len, strlen(text));
	assert_memory_equal(request->body, text, request->len);
}

static inline void assert_part(void *socket, const char *text, bool more)
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

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
