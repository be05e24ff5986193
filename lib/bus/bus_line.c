// SPDX-License-Identifier: BSD-3-Clause
#include "bus_line.h"

#include "bus_endpoint.h"
#include "bus_key_file.h"
#include "bus_socket.h"

#include <zmq.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REDIAL_MS 1000

int hs_bus_line_open(struct hs_bus_line *line, void *context, int type, int linger_ms)
{
	char name[64];

	line->socket = zmq_socket(context, type);
	if (!line->socket)
		return -errno;
	int rc = hs_bus_socket_tune(line->socket, linger_ms);
	if (rc)
		return rc;
	snprintf(name, sizeof(name), "inproc://monitor-%p", line->socket);
	if (zmq_socket_monitor(line->socket, name,
			    ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CONNECT_RETRIED |
					    ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
					    ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
					    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
					    ZMQ_EVENT_HANDSHAKE_FAILED_AUTH))
		return -errno;
	line->monitor = zmq_socket(context, ZMQ_PAIR);
	if (!line->monitor || hs_bus_socket_set(line->monitor, ZMQ_LINGER, 0) ||
			zmq_connect(line->monitor, name))
		return -errno;
	return 0;
}

void hs_bus_line_close(struct hs_bus_line *line)
{
	free(line->dialled);
	if (line->socket)
		zmq_socket_monitor(line->socket, NULL, 0);
	if (line->monitor)
		zmq_close(line->monitor);
	if (line->socket)
		zmq_close(line->socket);
	*line = (struct hs_bus_line){0};
}

// ---- endpoints ----

static int use_keys(void *socket, const struct hs_bus_keys *keys, struct hs_error *err)
{
	struct hs_bus_key own, server;

	if (!keys->secret_file || !keys->server_file)
		return hs_error_set(err, "missing_field",
				keys->secret_file ? "controller" : "secret",
				"a key of our own and that of the other side",
				"only one of two keys is given");
	int rc = hs_bus_key_read(keys->server_file, false, "controller", &server, err);
	rc = rc ? rc : hs_bus_key_read(keys->secret_file, true, "secret", &own, err);
	if (rc)
		return rc;
	if (zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server.public_key, HS_BUS_KEY_TEXT) ||
			zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own.public_key,
					HS_BUS_KEY_TEXT) ||
			zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own.secret_key,
					HS_BUS_KEY_TEXT))
		rc = hs_bus_error(err, "internal", "secret", "CURVE");
	explicit_bzero(&own, sizeof(own));
	return rc;
}

static int dial(struct hs_bus_line *line, const char *path, struct hs_error *err)
{
	return zmq_connect(line->socket, line->dialled)
			       ? hs_bus_error(err, "endpoint", path, line->dialled)
			       : 0;
}

int hs_bus_line_dial(struct hs_bus_line *line, const char *endpoint, const char *path,
		const struct hs_bus_keys *keys, struct hs_error *err)
{
	int rc = keys ? use_keys(line->socket, keys, err) : 0;

	if (rc)
		return rc;
	line->dialled = strdup(endpoint);
	if (!line->dialled) {
		hs_error_set(err, "internal", path, "", "memory is out");
		return -ENOMEM;
	}
	return dial(line, path, err);
}

int hs_bus_line_reach(struct hs_bus_line *line, struct hs_error *err)
{
	zmq_pollitem_t item = {.socket = line->monitor, .events = ZMQ_POLLIN};
	int64_t end = hs_bus_now_ms() + HS_BUS_CONNECT_MS;

	if (!hs_bus_ipc_is_file(line->dialled))
		return 0;
	for (int64_t left; !line->reached && (left = end - hs_bus_now_ms()) > 0;) {
		zmq_poll(&item, 1, (long)left);
		hs_bus_line_look(line);
	}
	if (line->connections > 0)
		return 0;
	// The probe finds the reason. Probing only now keeps a node that answers from counting a
	// connection that says nothing. A full backlog also means that somebody is there.
	int rc = hs_bus_ipc_probe(line->dialled);
	if (rc == 0 || rc == -EAGAIN)
		return 0;
	hs_error_set(err, "unreachable", "", "", "%s: %s", line->dialled, strerror(-rc));
	return -EHOSTUNREACH;
}

// ---- events ----

static void fail(struct hs_bus_line *line, enum hs_bus_failure failure)
{
	line->handshakes_failed++;
	if (!line->dialled && failure == HS_BUS_UNFINISHED)
		return;
	line->failure = failure;
	line->with_reason++;
	if (line->dialled && failure != HS_BUS_UNFINISHED)
		line->redial_ms = hs_bus_now_ms() + REDIAL_MS;
}

static void note(struct hs_bus_line *line, uint16_t event, uint32_t value)
{
	switch (event) {
	case ZMQ_EVENT_ACCEPTED:
	case ZMQ_EVENT_CONNECTED:
		line->connections++;
		line->reached = true;
		line->redial_ms = 0;
		break;
	case ZMQ_EVENT_CONNECT_RETRIED:
		line->reached = true;
		line->redial_ms = 0; // ZeroMQ reconnects by itself
		break;
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		line->handshakes++;
		line->connected = true;
		if (line->dialled)
			line->failure = HS_BUS_NO_FAILURE;
		break;
	case ZMQ_EVENT_DISCONNECTED:
		line->disconnections++;
		line->connected = false;
		// ZeroMQ reconnects, unless the other side broke the protocol, for example by a
		// message above the limit.
		if (line->dialled)
			line->redial_ms = hs_bus_now_ms() + REDIAL_MS;
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
		fail(line, HS_BUS_REFUSED);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
		fail(line, value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC ? HS_BUS_WRONG_KEY
									  : HS_BUS_MISMATCH);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
		fail(line, HS_BUS_UNFINISHED);
		break;
	default:
		break;
	}
}

// An event has two parts: number and value, then the endpoint.
static void take_events(struct hs_bus_line *line)
{
	uint8_t bytes[6];
	uint16_t event;
	uint32_t value;

	while (zmq_recv(line->monitor, bytes, sizeof(bytes), ZMQ_DONTWAIT) == sizeof(bytes)) {
		memcpy(&event, bytes, sizeof(event));
		memcpy(&value, bytes + sizeof(event), sizeof(value));
		note(line, event, value);
		zmq_recv(line->monitor, bytes, sizeof(bytes), ZMQ_DONTWAIT);
	}
}

static void redial(struct hs_bus_line *line)
{
	line->redial_ms = 0;
	line->failure = HS_BUS_NO_FAILURE;
	zmq_disconnect(line->socket, line->dialled);
	if (dial(line, "", NULL))
		line->redial_ms = hs_bus_now_ms() + REDIAL_MS;
}

void hs_bus_line_look(struct hs_bus_line *line)
{
	take_events(line);
	if (line->redial_ms && hs_bus_now_ms() >= line->redial_ms)
		redial(line);
}
