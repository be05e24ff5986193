// SPDX-License-Identifier: BSD-3-Clause
#include "bus_client.h"

#include "bus_line.h"
#include "bus_socket.h"

#include <zmq.h>

#include <errno.h>
#include <stdlib.h>

#define LOOK_MS 100 // between two checks whether a new attempt to connect is due

struct hs_bus_client {
	void *context;
	struct hs_bus_line line;
};

static int no_memory(struct hs_error *err)
{
	hs_error_set(err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

static int open_socket(struct hs_bus_client *client, struct hs_error *err)
{
	int64_t no_limit = -1;

	client->context = zmq_ctx_new();
	int rc = client->context ? hs_bus_line_open(&client->line, client->context, ZMQ_REQ, 0)
				 : -errno;
	// A reply that comes too late for its call must not be taken for the next call's reply.
	rc = rc ? rc : hs_bus_socket_set(client->line.socket, ZMQ_REQ_RELAXED, 1);
	rc = rc ? rc : hs_bus_socket_set(client->line.socket, ZMQ_REQ_CORRELATE, 1);
	if (rc == 0 && zmq_setsockopt(client->line.socket, ZMQ_MAXMSGSIZE, &no_limit,
				       sizeof(no_limit)))
		rc = -errno;
	if (rc == 0)
		return 0;
	errno = -rc;
	return hs_bus_error(err, "internal", "", "a ZeroMQ socket cannot be made");
}

int hs_bus_client_open(const char *endpoint, const struct hs_bus_keys *keys,
		struct hs_bus_client **out, struct hs_error *err)
{
	struct hs_bus_client *client = calloc(1, sizeof(*client));

	if (!client)
		return no_memory(err);
	int rc = open_socket(client, err);
	if (rc == 0)
		rc = hs_bus_line_dial(&client->line, endpoint, "", keys, err);
	if (rc == 0)
		rc = hs_bus_line_reach(&client->line, err);
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
	hs_bus_line_close(&client->line);
	while (client->context && zmq_ctx_term(client->context) && errno == EINTR)
		;
	free(client);
}

static int failure_code(enum hs_bus_failure failure)
{
	switch (failure) {
	case HS_BUS_REFUSED:
		return -EACCES;
	case HS_BUS_MISMATCH:
	case HS_BUS_WRONG_KEY:
	case HS_BUS_UNFINISHED:
		return -EPROTO;
	default:
		return -EHOSTUNREACH;
	}
}

// Waits for a connection. Returns 0, or a negative errno for the failure. Returns at once if the
// other side does not allow the key or one side uses no keys. After other failures, the next
// attempt may succeed.
static int await_connection(struct hs_bus_line *line, int64_t end_ms)
{
	zmq_pollitem_t items[] = {{.socket = line->socket, .events = ZMQ_POLLOUT},
			{.socket = line->monitor, .events = ZMQ_POLLIN}};

	for (;;) {
		int64_t left = end_ms - hs_bus_now_ms();
		hs_bus_line_look(line);
		bool final = line->failure == HS_BUS_REFUSED || line->failure == HS_BUS_MISMATCH;
		if (final)
			return failure_code(line->failure);
		left = left < 0 ? 0 : left > LOOK_MS ? LOOK_MS : left;
		if (zmq_poll(items, 2, (long)left) < 0)
			return -errno;
		if (items[0].revents & ZMQ_POLLOUT)
			return 0;
		if (left == 0)
			return failure_code(line->failure);
	}
}

int hs_bus_client_call(struct hs_bus_client *client, const char *request, size_t len,
		int timeout_ms, char **reply, size_t *reply_len)
{
	struct hs_bus_line *line = &client->line;
	int64_t start = hs_bus_now_ms(), end = start + timeout_ms;
	zmq_msg_t message;

	int rc = await_connection(line,
			start + (timeout_ms < HS_BUS_CONNECT_MS ? timeout_ms : HS_BUS_CONNECT_MS));
	if (rc)
		return rc;
	if (zmq_send(line->socket, request, len, ZMQ_DONTWAIT) < 0)
		return errno == EAGAIN ? -EHOSTUNREACH : -errno;

	int64_t left = end - hs_bus_now_ms();
	hs_bus_socket_set(line->socket, ZMQ_RCVTIMEO, left > 0 ? (int)left : 0);
	zmq_msg_init(&message);
	rc = zmq_msg_recv(&message, line->socket, 0) < 0 ? -errno : 0;
	if (rc == 0) {
		*reply = hs_bus_take_text(&message, reply_len);
		rc = *reply ? 0 : -ENOMEM;
	}
	zmq_msg_close(&message);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}
