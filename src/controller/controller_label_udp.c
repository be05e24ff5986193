// SPDX-License-Identifier: BSD-3-Clause
#include "controller_label_udp.h"

#include "ip_address.h"
#include "label_export.h"
#include "os_clock.h"
#include "socket_buffer.h"
#include "udp_socket.h"

#include <sys/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH	     32			// datagrams of one call
#define NS_PER_ROUND INT64_C(2000000)	// of processor time
#define LOST_NS	     INT64_C(250000000) // interval of asking the kernel what it dropped

struct controller_label_udp {
	const struct hs_controller_label_config *config;
	unsigned n;
	int64_t lost_ns;
	struct hs_udp_socket sockets[HS_CONTROLLER_MAX_LISTEN];
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	uint8_t buffers[BATCH][HS_LABEL_EXPORT_MAX_BYTES];
};

static int open_socket(struct controller_label_udp *udp, unsigned i, struct hs_error *err)
{
	const struct hs_ip_port *at = &udp->config->listen[i];
	struct hs_udp_socket *socket = &udp->sockets[i];
	char path[32], text[HS_IP_PORT_TEXT];
	int rc = hs_udp_socket_open(socket, at, udp->config->buffer_kib);

	snprintf(path, sizeof(path), "label.listen[%u]", i);
	if (rc < 0) {
		hs_error_set(err, "not_opened", path, "an address of this machine and a free port",
				"%s: %s", hs_ip_port_write(at, text), strerror(-rc));
		return rc;
	}
	udp->n = i + 1;
	hs_socket_buffer_tell("controller", path, socket->buffer_kib, udp->config->buffer_kib);
	return 0;
}

int controller_label_udp_open(const struct hs_controller_config *config,
		struct controller_label_udp **out, struct hs_error *err)
{
	struct controller_label_udp *udp = config->label.on ? calloc(1, sizeof(*udp)) : NULL;
	int rc = 0;

	*out = udp;
	if (!config->label.on)
		return 0;
	if (!udp)
		return hs_error_set(err, "internal", "label", "", "memory is out");
	udp->config = &config->label;
	for (unsigned i = 0; i < BATCH; i++) {
		udp->vectors[i] = (struct iovec){udp->buffers[i], sizeof(udp->buffers[i])};
		udp->messages[i].msg_hdr =
				(struct msghdr){.msg_iov = &udp->vectors[i], .msg_iovlen = 1};
	}
	for (unsigned i = 0; rc == 0 && i < config->label.n_listen; i++)
		rc = open_socket(udp, i, err);
	return rc;
}

void controller_label_udp_close(struct controller_label_udp *udp)
{
	if (!udp)
		return;
	for (unsigned i = 0; i < udp->n; i++)
		hs_udp_socket_close(&udp->sockets[i]);
	free(udp);
}

unsigned controller_label_udp_fds(const struct controller_label_udp *udp, struct pollfd *fds)
{
	unsigned n = udp ? udp->n : 0;

	for (unsigned i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = udp->sockets[i].fd, .events = POLLIN};
	return n;
}

static void tell_lost(struct controller_label_udp *udp, struct hs_controller *controller)
{
	int64_t now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	uint64_t lost = 0;

	if (now_ns < udp->lost_ns)
		return;
	udp->lost_ns = now_ns + LOST_NS;
	for (unsigned i = 0; i < udp->n; i++)
		lost += hs_udp_socket_lost(&udp->sockets[i]);
	hs_controller_label_lost(controller, lost);
}

// Takes a batch of datagrams. Returns false if the socket has no more.
static bool take_batch(
		struct controller_label_udp *udp, unsigned socket, struct hs_controller *controller)
{
	int n = recvmmsg(udp->sockets[socket].fd, udp->messages, BATCH, MSG_DONTWAIT, NULL);
	int64_t now_ns = hs_os_clock_wall_ns();

	for (int i = 0; i < n; i++)
		hs_controller_label_take(controller, now_ns, udp->buffers[i],
				udp->messages[i].msg_len,
				udp->messages[i].msg_hdr.msg_flags & MSG_TRUNC);
	return n == BATCH;
}

bool controller_label_udp_take(struct controller_label_udp *udp, struct hs_controller *controller)
{
	bool more = true;

	if (!udp)
		return false;
	int64_t end_ns = hs_os_clock_spent_ns() + NS_PER_ROUND;
	tell_lost(udp, controller);
	while (more && hs_os_clock_spent_ns() < end_ns) {
		more = false;
		for (unsigned i = 0; i < udp->n; i++)
			more |= take_batch(udp, i, controller);
	}
	return more;
}
