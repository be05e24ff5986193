// SPDX-License-Identifier: BSD-3-Clause
#include "bus_socket.h"

#include <zmq.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int hs_bus_error(struct hs_error *err, const char *code, const char *path, const char *what)
{
	int error = errno;
	hs_error_set(err, code, path, "", "%s: %s", what, zmq_strerror(error));
	return -error;
}

int hs_bus_socket_set(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value)) ? -errno : 0;
}

int hs_bus_socket_tune(void *socket, int linger_ms)
{
	const struct {
		int option, value;
	} options[] = {
			{ZMQ_LINGER, linger_ms},
			{ZMQ_HANDSHAKE_IVL, 3000},
			// ZMQ_HEARTBEAT_* must not be set: libzmq 4.3.4 aborts if a heartbeat is
			// due while its peer has gone and a queue is full (libzmq's issues 4364,
			// 4767). The kernel detects a machine that has gone. A client detects a
			// peer that does not answer.
			{ZMQ_TCP_KEEPALIVE, 1},
			{ZMQ_TCP_KEEPALIVE_IDLE, 5},
			{ZMQ_TCP_KEEPALIVE_INTVL, 2},
			{ZMQ_TCP_KEEPALIVE_CNT, 3},
			{ZMQ_TCP_MAXRT, 10000},
			{ZMQ_RECONNECT_IVL, 100},
			{ZMQ_RECONNECT_IVL_MAX,
					800}, // a node that is back is in use within a second
			{ZMQ_IPV6, 1},
			// Nothing is queued for an absent peer, because it would be out of date
			// when the peer comes.
			{ZMQ_IMMEDIATE, 1},
	};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		int rc = hs_bus_socket_set(socket, options[i].option, options[i].value);
		if (rc)
			return rc;
	}
	int64_t max = HS_BUS_MAX_MESSAGE;
	return zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max, sizeof(max)) ? -errno : 0;
}

int64_t hs_bus_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// ---- messages ----

char *hs_bus_take_text(void *message, size_t *len)
{
	*len = zmq_msg_size(message);
	char *text = malloc(*len + 1);
	if (text) {
		memcpy(text, zmq_msg_data(message), *len);
		text[*len] = '\0';
	}
	return text;
}
