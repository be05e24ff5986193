// SPDX-License-Identifier: BSD-3-Clause
#include "bus_client.h"

#include "bus_frames.h"
#include "bus_gate.h"
#include "bus_line.h"
#include "bus_socket.h"
#include "bus_zap.h"
#include "clean_text.h"

#include <zmq.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LOOK_MS	      500 // the longest wait between two looks at keys and lost connections
#define LOOK_MESSAGES 64

struct hs_bus_subscriber {
	void *context;
	struct hs_bus_line line;
	struct hs_bus_gate *gate; // before a bound socket, else NULL
	bool guarded;
	struct hs_bus_zap zap;
	int epoll;	   // of both sockets, if there is a gate
	unsigned untended; // messages taken since the last look at the rest
	int64_t look_ms;   // when the next look is due, however few messages came
};

static int open_socket(
		struct hs_bus_subscriber *subscriber, const char *topic, struct hs_error *err)
{
	subscriber->context = zmq_ctx_new();
	int rc = subscriber->context ? hs_bus_line_open(&subscriber->line, subscriber->context,
						       ZMQ_SUB, 0)
				     : -errno;
	if (rc) {
		errno = -rc;
		return hs_bus_error(err, "internal", "", "a ZeroMQ socket cannot be made");
	}
	// libzmq 4.3.4 aborts if a connection breaks between two parts of a message that is being
	// read, unless the queue may stay when the connection ends. A subscriber sends nothing that
	// could become out of date.
	hs_bus_socket_set(subscriber->line.socket, ZMQ_IMMEDIATE, 0);
	if (zmq_setsockopt(subscriber->line.socket, ZMQ_SUBSCRIBE, topic, strlen(topic)))
		return hs_bus_error(err, "internal", "", "subscribing failed");
	return 0;
}

static int fd_of(void *socket)
{
	int fd = -1;
	size_t size = sizeof(fd);

	zmq_getsockopt(socket, ZMQ_FD, &fd, &size);
	return fd;
}

static int watch_both(struct hs_bus_subscriber *subscriber)
{
	struct epoll_event event = {.events = EPOLLIN};
	int messages = fd_of(subscriber->line.socket), handshakes = fd_of(subscriber->zap.socket);

	subscriber->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (subscriber->epoll < 0 ||
			epoll_ctl(subscriber->epoll, EPOLL_CTL_ADD, messages, &event) ||
			epoll_ctl(subscriber->epoll, EPOLL_CTL_ADD, handshakes, &event))
		return -errno;
	return 0;
}

static int guard(struct hs_bus_subscriber *subscriber, const struct hs_bus_keys *keys,
		struct hs_error *err)
{
	if (!keys->secret_file || !keys->allowed_dir)
		return hs_error_set(err, "missing_field", keys->secret_file ? "allowed" : "secret",
				"a key of our own and a directory of those allowed",
				"only one of the two is given");
	int rc = hs_bus_zap_open(subscriber->context, keys->allowed_dir, &subscriber->zap, err);
	if (rc)
		return rc;
	subscriber->guarded = true;
	rc = hs_bus_zap_guard(subscriber->line.socket, keys, err);
	if (rc)
		return rc;
	rc = watch_both(subscriber);
	if (rc) {
		errno = -rc;
		hs_bus_error(err, "internal", "", "epoll");
	}
	return rc;
}

static int bind_gate(
		struct hs_bus_subscriber *subscriber, const char *endpoint, struct hs_error *err)
{
	int rc = hs_bus_gate_open(subscriber->guarded, &subscriber->gate, err);

	rc = rc ? rc
		: hs_bus_gate_bind(subscriber->gate, subscriber->line.socket, HS_BUS_GATE_FEEDS,
				  endpoint, "", err);
	return rc ? rc : hs_bus_gate_start(subscriber->gate, err);
}

int hs_bus_subscriber_open(const char *endpoint, const char *topic, bool bind,
		const struct hs_bus_keys *keys, struct hs_bus_subscriber **out,
		struct hs_error *err)
{
	struct hs_bus_subscriber *subscriber = calloc(1, sizeof(*subscriber));

	if (!subscriber) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	subscriber->epoll = -1;
	int rc = open_socket(subscriber, topic, err);
	if (rc == 0 && bind && keys)
		rc = guard(subscriber, keys, err);
	if (rc == 0)
		rc = bind ? bind_gate(subscriber, endpoint, err)
			  : hs_bus_line_dial(&subscriber->line, endpoint, "", keys, err);
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
	hs_bus_gate_shut(subscriber->gate);
	hs_bus_line_close(&subscriber->line);
	if (subscriber->guarded)
		hs_bus_zap_close(&subscriber->zap);
	if (subscriber->epoll >= 0)
		close(subscriber->epoll);
	while (subscriber->context && zmq_ctx_term(subscriber->context) && errno == EINTR)
		;
	hs_bus_gate_close(subscriber->gate);
	free(subscriber);
}

static void look_after(struct hs_bus_subscriber *subscriber)
{
	subscriber->untended = 0;
	subscriber->look_ms = hs_bus_now_ms() + LOOK_MS;
	hs_bus_line_look(&subscriber->line);
	if (!subscriber->guarded)
		return;
	// A single publisher cannot be disconnected, so all are.
	if (hs_bus_zap_look(&subscriber->zap) == HS_BUS_ZAP_FEWER)
		hs_bus_gate_cut(subscriber->gate, HS_BUS_GATE_FEEDS);
	hs_bus_zap_serve(&subscriber->zap);
}

// Returns 0 if a message waits.
static int await_message(struct hs_bus_subscriber *subscriber, int64_t end_ms, bool for_ever)
{
	zmq_pollitem_t items[] = {{.socket = subscriber->line.socket, .events = ZMQ_POLLIN},
			{.socket = subscriber->zap.socket, .events = ZMQ_POLLIN}};

	for (;;) {
		look_after(subscriber);
		int64_t left = for_ever ? LOOK_MS : end_ms - hs_bus_now_ms();
		left = left < 0 ? 0 : left > LOOK_MS ? LOOK_MS : left;
		if (zmq_poll(items, subscriber->guarded ? 2 : 1, (long)left) < 0)
			return -errno;
		if (items[0].revents & ZMQ_POLLIN)
			return 0;
		if (!for_ever && hs_bus_now_ms() >= end_ms && !(items[1].revents & ZMQ_POLLIN))
			return -EAGAIN;
	}
}

static int receive_part(struct hs_bus_subscriber *subscriber, zmq_msg_t *part, uint64_t *weight)
{
	if (zmq_msg_recv(part, subscriber->line.socket, ZMQ_DONTWAIT) < 0)
		return -errno;
	*weight += hs_bus_frame_weight(zmq_msg_size(part), subscriber->guarded);
	return 0;
}

static void give_credit(struct hs_bus_subscriber *subscriber, zmq_msg_t *part, uint64_t weight)
{
	if (subscriber->gate)
		hs_bus_gate_taken(subscriber->gate, hs_bus_gate_visit(subscriber->gate, part),
				weight, false);
}

static int take_message(struct hs_bus_subscriber *subscriber, struct hs_bus_message *message)
{
	zmq_msg_t part;
	uint64_t weight = 0;

	zmq_msg_init(&part);
	int rc = receive_part(subscriber, &part, &weight);
	if (rc == 0) {
		snprintf(message->topic, sizeof(message->topic), "%.*s", (int)zmq_msg_size(&part),
				(const char *)zmq_msg_data(&part));
		hs_clean_mend(message->topic);
		// The second part is the JSON. If a peer sends more parts, the last one is used.
		while (rc == 0 && zmq_msg_more(&part))
			rc = receive_part(subscriber, &part, &weight);
		give_credit(subscriber, &part, weight);
	} else if (rc == -EAGAIN && subscriber->gate)
		hs_bus_gate_drained(subscriber->gate);
	if (rc == 0 && subscriber->guarded && !hs_bus_zap_user(&subscriber->zap, &part))
		rc = -EACCES;
	if (rc == 0) {
		message->json = hs_bus_take_text(&part, &message->len);
		rc = message->json ? 0 : -ENOMEM;
	}
	zmq_msg_close(&part);
	return rc;
}

int hs_bus_subscriber_next(struct hs_bus_subscriber *subscriber, int timeout_ms,
		struct hs_bus_message *message)
{
	int64_t now = hs_bus_now_ms(), end = now + timeout_ms;

	if (subscriber->untended >= LOOK_MESSAGES || now >= subscriber->look_ms)
		look_after(subscriber);
	for (bool waited = false;; waited = true) {
		int rc = take_message(subscriber, message);
		subscriber->untended++;
		if (rc != -EAGAIN && rc != -EACCES)
			return rc;
		// The wait ends in time, however many messages come from a removed key.
		if (waited && timeout_ms >= 0 && hs_bus_now_ms() >= end)
			return -EAGAIN;
		rc = await_message(subscriber, end, timeout_ms < 0);
		if (rc)
			return rc;
	}
}

int hs_bus_subscriber_fd(const struct hs_bus_subscriber *subscriber)
{
	return subscriber->guarded ? subscriber->epoll : fd_of(subscriber->line.socket);
}
