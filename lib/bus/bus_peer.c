// SPDX-License-Identifier: BSD-3-Clause
#include "bus_client.h"

#include "bus_line.h"
#include "bus_socket.h"

#include <zmq.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SOCKETS 8192 // each peer needs three
#define SEND_QUEUE  1000
#define LOOK_MS	    500

struct hs_bus_peer {
	struct hs_bus_line line;
	int fd;
	int64_t look_ms;
};

// All peers share one context, because each context has its own threads.
static struct {
	pthread_mutex_t lock;
	void *context;
	unsigned users;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *take_context(void)
{
	pthread_mutex_lock(&shared.lock);
	if (!shared.context) {
		shared.context = zmq_ctx_new();
		if (shared.context)
			zmq_ctx_set(shared.context, ZMQ_MAX_SOCKETS, MAX_SOCKETS);
	}
	void *context = shared.context;
	shared.users += context != NULL;
	pthread_mutex_unlock(&shared.lock);
	return context;
}

static void give_context(void)
{
	void *last = NULL;

	pthread_mutex_lock(&shared.lock);
	if (--shared.users == 0) {
		last = shared.context;
		shared.context = NULL;
	}
	pthread_mutex_unlock(&shared.lock);
	while (last && zmq_ctx_term(last) && errno == EINTR)
		;
}

static int open_line(struct hs_bus_peer *peer, void *context, int64_t most_bytes)
{
	size_t size = sizeof(peer->fd);
	int rc = hs_bus_line_open(&peer->line, context, ZMQ_DEALER, 0);

	rc = rc ? rc : hs_bus_socket_set(peer->line.socket, ZMQ_SNDHWM, SEND_QUEUE);
	// There is no limit: at a limit, ZeroMQ would stop reading, and abort if the node died
	// then. There are as many replies as requests, and the queue of requests has a limit.
	rc = rc ? rc : hs_bus_socket_set(peer->line.socket, ZMQ_RCVHWM, 0);
	if (rc == 0 && zmq_setsockopt(peer->line.socket, ZMQ_MAXMSGSIZE, &most_bytes,
				       sizeof(most_bytes)))
		rc = -errno;
	if (rc == 0 && zmq_getsockopt(peer->line.socket, ZMQ_FD, &peer->fd, &size))
		rc = -errno;
	return rc;
}

int hs_bus_peer_open(const char *endpoint, const struct hs_bus_keys *keys, int64_t most_bytes,
		struct hs_bus_peer **out, struct hs_error *err)
{
	struct hs_bus_peer *peer = calloc(1, sizeof(*peer));
	void *context = peer ? take_context() : NULL;

	if (!context) {
		free(peer);
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	int rc = open_line(peer, context, most_bytes);
	if (rc) {
		errno = -rc;
		hs_bus_error(err, "internal", "", "a ZeroMQ socket cannot be made");
	}
	if (rc == 0)
		rc = hs_bus_line_dial(&peer->line, endpoint, "", keys, err);
	if (rc)
		hs_bus_peer_close(peer);
	else
		*out = peer;
	return rc;
}

void hs_bus_peer_close(struct hs_bus_peer *peer)
{
	if (!peer)
		return;
	hs_bus_line_close(&peer->line);
	free(peer);
	give_context();
}

// Looks at the connection twice a second at most, so that a refused connection is tried again even
// if the caller never asks for the state.
static void look_now_and_then(struct hs_bus_peer *peer)
{
	int64_t now_ms = hs_bus_now_ms();

	if (now_ms < peer->look_ms)
		return;
	peer->look_ms = now_ms + LOOK_MS;
	hs_bus_line_look(&peer->line);
}

int hs_bus_peer_send(struct hs_bus_peer *peer, const char *text, size_t len)
{
	int rc = zmq_send(peer->line.socket, text, len, ZMQ_DONTWAIT) < 0 ? -errno : 0;

	if (rc)
		look_now_and_then(peer);
	return rc;
}

int hs_bus_peer_next(struct hs_bus_peer *peer, char **reply, size_t *len)
{
	zmq_msg_t part;

	zmq_msg_init(&part);
	int rc = zmq_msg_recv(&part, peer->line.socket, ZMQ_DONTWAIT) < 0 ? -errno : 0;
	// A node sends one part. If there are several, the last one is the reply.
	while (rc == 0 && zmq_msg_more(&part))
		rc = zmq_msg_recv(&part, peer->line.socket, ZMQ_DONTWAIT) < 0 ? -errno : 0;
	if (rc == 0) {
		*reply = hs_bus_take_text(&part, len);
		rc = *reply ? 0 : -ENOMEM;
	}
	zmq_msg_close(&part);
	if (rc == -EAGAIN)
		look_now_and_then(peer);
	return rc;
}

int hs_bus_peer_fd(const struct hs_bus_peer *peer)
{
	return peer->fd;
}

void hs_bus_peer_state(struct hs_bus_peer *peer, struct hs_bus_peer_state *out)
{
	hs_bus_line_look(&peer->line);
	*out = (struct hs_bus_peer_state){
			.connected = peer->line.connected,
			.refused = peer->line.failure == HS_BUS_REFUSED,
			.connections = peer->line.handshakes,
			.handshakes_failed = peer->line.handshakes_failed,
	};
}
