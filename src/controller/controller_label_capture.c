// SPDX-License-Identifier: BSD-3-Clause
#include "controller_label_capture.h"

#include "label.h"
#include "log.h"
#include "os_clock.h"
#include "packet_socket.h"
#include "socket_buffer.h"

#include <linux/if_ether.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH	     32			// frames of one socket in turn
#define NS_PER_ROUND INT64_C(2000000)	// of processor time
#define ASK_NS	     INT64_C(250000000) // interval of asking the kernel

struct controller_label_capture {
	const struct hs_controller_label_config *config;
	unsigned n;
	int64_t ask_ns;
	int fds[HS_CONTROLLER_MAX_CAPTURES];
	uint8_t frame[HS_LABEL_PROTOTYPE_MAX_BYTES];
};

// Opens a packet socket. Its filter passes frames of the prototype, and as much of each frame as
// can be items.
static int open_on(const char *iface, uint32_t buffer_kib)
{
	struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HS_LABEL_PROTOTYPE_INT, 1, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HS_LABEL_PROTOTYPE_ROUTE, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, HS_LABEL_PROTOTYPE_MAX_BYTES),
			BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct hs_packet_socket_config socket = {
			.iface = iface,
			.ether_type = ETH_P_ALL,
			.both_ways = true,
			.filter = {sizeof(code) / sizeof(code[0]), code},
			.buffer_kib = buffer_kib,
	};

	return hs_packet_socket_open(&socket);
}

static int open_next(struct controller_label_capture *capture, struct hs_error *err)
{
	const struct hs_controller_label_config *config = capture->config;
	const char *iface = config->captures[capture->n].iface;
	char path[40];
	int fd = open_on(iface, config->buffer_kib);

	snprintf(path, sizeof(path), "label.capture[%u].iface", capture->n);
	if (fd < 0) {
		hs_error_set(err, "not_opened", path,
				"an interface of this machine, and CAP_NET_RAW", "%s: %s", iface,
				strerror(-fd));
		return fd;
	}
	hs_socket_buffer_tell("controller", path, hs_socket_buffer_kib(fd), config->buffer_kib);
	capture->fds[capture->n++] = fd;
	return 0;
}

int controller_label_capture_open(const struct hs_controller_config *config,
		struct controller_label_capture **out, struct hs_error *err)
{
	struct controller_label_capture *made;
	int rc = 0;

	*out = NULL;
	if (!config->label.n_captures)
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return hs_error_set(err, "internal", "label", "", "memory is out");
	made->config = &config->label;
	while (rc == 0 && made->n < config->label.n_captures)
		rc = open_next(made, err);
	if (rc == 0)
		*out = made;
	else
		controller_label_capture_close(made);
	return rc;
}

void controller_label_capture_close(struct controller_label_capture *capture)
{
	if (!capture)
		return;
	for (unsigned i = 0; i < capture->n; i++)
		close(capture->fds[i]);
	free(capture);
}

unsigned controller_label_capture_fds(
		const struct controller_label_capture *capture, struct pollfd *fds)
{
	unsigned n = capture ? capture->n : 0;

	for (unsigned i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = capture->fds[i], .events = POLLIN};
	return n;
}

// Binds a socket to its interface again. The socket stays open, because the process gave up the
// capability to open another one.
static void bind_again(const struct controller_label_capture *capture, unsigned socket)
{
	const char *iface = capture->config->captures[socket].iface;

	if (!hs_packet_socket_bind(capture->fds[socket], iface, ETH_P_ALL))
		hs_log(HS_LOG_NOTICE, "controller", "label.capture[%u].iface: %s is there again",
				socket, iface);
}

// Asks the kernel what it dropped, and which interfaces are gone.
static void ask(struct controller_label_capture *capture, struct hs_controller *controller)
{
	int64_t now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);

	if (now_ns < capture->ask_ns)
		return;
	capture->ask_ns = now_ns + ASK_NS;
	for (unsigned i = 0; i < capture->n; i++) {
		hs_controller_label_frames_lost(controller, hs_packet_socket_lost(capture->fds[i]));
		if (!hs_packet_socket_is_bound(capture->fds[i]))
			bind_again(capture, i);
	}
}

// Logs an error of a socket. The kernel says once that an interface went down or disappeared.
static void tell_error(const struct controller_label_capture *capture, unsigned socket, int error)
{
	if (error != EAGAIN && error != EINTR)
		hs_log(HS_LOG_WARNING, "controller", "label.capture[%u].iface: %s: %s", socket,
				capture->config->captures[socket].iface, strerror(error));
}

// Takes a batch of frames. Returns false if the socket has no more.
static bool take_batch(struct controller_label_capture *capture, unsigned socket,
		struct hs_controller *controller)
{
	for (unsigned i = 0; i < BATCH; i++) {
		ssize_t len = recv(capture->fds[socket], capture->frame, sizeof(capture->frame), 0);
		if (len < 0) {
			tell_error(capture, socket, errno);
			return false;
		}
		hs_controller_label_frame(
				controller, hs_os_clock_wall_ns(), capture->frame, (size_t)len);
	}
	return true;
}

bool controller_label_capture_take(
		struct controller_label_capture *capture, struct hs_controller *controller)
{
	bool more = true;

	if (!capture)
		return false;
	int64_t end_ns = hs_os_clock_spent_ns() + NS_PER_ROUND;
	ask(capture, controller);
	while (more && hs_os_clock_spent_ns() < end_ns) {
		more = false;
		for (unsigned i = 0; i < capture->n; i++)
			more |= take_batch(capture, i, controller);
	}
	return more;
}
