// SPDX-License-Identifier: BSD-3-Clause
#include "bus.h"

#include "bus_socket.h"

#include <zmq.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct hs_bus_client {
	void *context;
	void *socket;
};

struct hs_bus_subscriber {
	void *context;
	void *socket;
	char *bound; // endpoint whose file goes with us
};

static void close_both(void *context, void *socket)
{
	if (socket)
		zmq_close(socket);
	while (context && zmq_ctx_term(context) && errno == EINTR)
		;
}

static int open_both(int type, void **context, void **socket, struct hs_error *err)
{
	*context = zmq_ctx_new();
	*socket = *context ? zmq_socket(*context, type) : NULL;
	if (*socket && hs_bus_socket_tune(*socket, 0) == 0)
		return 0;
	return hs_bus_error(err, "internal", "", "a ZeroMQ socket cannot be made");
}

// ---- client ----

int hs_bus_client_open(const char *endpoint, const struct hs_bus_keys *keys,
		struct hs_bus_client **out, struct hs_error *err)
{
	struct hs_bus_client *client = calloc(1, sizeof(*client));

	if (!client) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	int rc = open_both(ZMQ_REQ, &client->context, &client->socket, err);
	if (rc == 0) {
		// A reply that came too late for its call is not taken for the next one's.
		hs_bus_socket_set(client->socket, ZMQ_REQ_RELAXED, 1);
		hs_bus_socket_set(client->socket, ZMQ_REQ_CORRELATE, 1);
		int64_t no_limit = -1;
		zmq_setsockopt(client->socket, ZMQ_MAXMSGSIZE, &no_limit, sizeof(no_limit));
		rc = hs_bus_keys_connect(client->socket, keys, err);
		if (rc == 0)
			rc = hs_bus_socket_reach(client->context, client->socket, endpoint, err);
	}
	if (rc)
		hs_bus_client_close(client);
	else
		*out = client;
	return rc;
}

void hs_bus_client_close(struct hs_bus_client *client)
{
	if (!client)
		return;
	close_both(client->context, client->socket);
	free(client);
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int hs_bus_client_call(struct hs_bus_client *client, const char *request, size_t len,
		int timeout_ms, char **reply, size_t *reply_len)
{
	int64_t end = now_ms() + timeout_ms;
	zmq_msg_t message;

	// Sending waits for a connection (ZMQ_IMMEDIATE).
	hs_bus_socket_set(client->socket, ZMQ_SNDTIMEO,
			timeout_ms < HS_BUS_CONNECT_MS ? timeout_ms : HS_BUS_CONNECT_MS);
	if (zmq_send(client->socket, request, len, 0) < 0)
		return errno == EAGAIN ? -EHOSTUNREACH : -errno;

	int64_t left = end - now_ms();
	hs_bus_socket_set(client->socket, ZMQ_RCVTIMEO, left > 0 ? (int)left : 0);
	zmq_msg_init(&message);
	int rc = zmq_msg_recv(&message, client->socket, 0) < 0 ? -errno : 0;
	if (rc == 0) {
		*reply = hs_bus_take_text(&message, reply_len);
		rc = *reply ? 0 : -ENOMEM;
	}
	zmq_msg_close(&message);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

// ---- subscriber ----

int hs_bus_subscriber_open(const char *endpoint, const char *topic, bool bind,
		const struct hs_bus_keys *keys, struct hs_bus_subscriber **out,
		struct hs_error *err)
{
	struct hs_bus_subscriber *subscriber = calloc(1, sizeof(*subscriber));

	if (!subscriber) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	int rc = open_both(ZMQ_SUB, &subscriber->context, &subscriber->socket, err);
	if (rc == 0 && zmq_setsockopt(subscriber->socket, ZMQ_SUBSCRIBE, topic, strlen(topic)) != 0)
		rc = hs_bus_error(err, "internal", "", "subscribing failed");
	if (rc == 0)
		rc = hs_bus_keys_connect(subscriber->socket, keys, err);
	if (rc == 0)
		rc = bind ? hs_bus_socket_bind(subscriber->socket, endpoint, "", err)
			  : hs_bus_socket_connect(subscriber->socket, endpoint, "", err);
	if (rc == 0 && bind)
		subscriber->bound = strdup(endpoint);
	if (rc)
		hs_bus_subscriber_close(subscriber);
	else
		*out = subscriber;
	return rc;
}

void hs_bus_subscriber_close(struct hs_bus_subscriber *subscriber)
{
	if (!subscriber)
		return;
	if (subscriber->bound)
		hs_bus_ipc_remove(subscriber->bound);
	free(subscriber->bound);
	close_both(subscriber->context, subscriber->socket);
	free(subscriber);
}

int hs_bus_subscriber_next(struct hs_bus_subscriber *subscriber, int timeout_ms,
		struct hs_bus_message *message)
{
	zmq_msg_t part;

	hs_bus_socket_set(subscriber->socket, ZMQ_RCVTIMEO, timeout_ms);
	zmq_msg_init(&part);
	int rc = zmq_msg_recv(&part, subscriber->socket, 0) < 0 ? -errno : 0;
	if (rc == 0) {
		snprintf(message->topic, sizeof(message->topic), "%.*s", (int)zmq_msg_size(&part),
				(const char *)zmq_msg_data(&part));
		// The second part is the JSON; a peer that sends others gets the last one taken.
		while (rc == 0 && zmq_msg_more(&part))
			rc = zmq_msg_recv(&part, subscriber->socket, 0) < 0 ? -errno : 0;
	}
	if (rc == 0) {
		message->json = hs_bus_take_text(&part, &message->len);
		rc = message->json ? 0 : -ENOMEM;
	}
	zmq_msg_close(&part);
	return rc;
}

int hs_bus_subscriber_fd(const struct hs_bus_subscriber *subscriber)
{
	int fd = -1;
	size_t size = sizeof(fd);

	zmq_getsockopt(subscriber->socket, ZMQ_FD, &fd, &size);
	return fd;
}
