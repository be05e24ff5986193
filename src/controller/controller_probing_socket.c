// SPDX-License-Identifier: BSD-3-Clause
#include "controller_probing_socket.h"

#include "os_clock.h"
#include "packet_socket.h"

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_BYTES  (ETH_HLEN + UINT16_MAX)
#define NS_PER_ROUND INT64_C(2000000) // of processor time
#define BUFFER_KIB   4096

struct controller_probing_socket {
	int fd;
	uint8_t frame[FRAME_BYTES];
};

// Opens a packet socket. Its filter passes UDP over IPv4 to the port of probes, except later
// fragments. Other packets cost the kernel a few instructions.
static int open_on(const struct hs_probing_config *config)
{
	struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 8),
			BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 6),
			BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 20),
			BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 4, 0),
			BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 14),
			BPF_STMT(BPF_LD | BPF_H | BPF_IND, 16),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, config->packets.udp_port, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, FRAME_BYTES),
			BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct hs_packet_socket_config socket = {
			.iface = config->iface,
			.ether_type = ETH_P_IP,
			.filter = {sizeof(code) / sizeof(code[0]), code},
			.buffer_kib = BUFFER_KIB,
	};

	return hs_packet_socket_open(&socket);
}

int controller_probing_socket_open(const struct hs_controller_config *config,
		struct controller_probing_socket **out, struct hs_error *err)
{
	struct controller_probing_socket *made;

	*out = NULL;
	if (!config->probing.on)
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return hs_error_set(err, "internal", "probing", "", "memory is out");
	made->fd = open_on(&config->probing);
	if (made->fd < 0) {
		int rc = made->fd;
		controller_probing_socket_close(made);
		hs_error_set(err, "not_opened", "probing.iface",
				"an interface of this machine, and CAP_NET_RAW", "%s: %s",
				config->probing.iface, strerror(-rc));
		return rc;
	}
	*out = made;
	return 0;
}

void controller_probing_socket_close(struct controller_probing_socket *socket)
{
	if (!socket)
		return;
	if (socket->fd >= 0)
		close(socket->fd);
	free(socket);
}

unsigned controller_probing_socket_fds(
		const struct controller_probing_socket *socket, struct pollfd *fds)
{
	if (!socket)
		return 0;
	*fds = (struct pollfd){.fd = socket->fd, .events = POLLIN};
	return 1;
}

int controller_probing_socket_send(
		struct controller_probing_socket *socket, const uint8_t *frame, size_t len)
{
	return send(socket->fd, frame, len, 0) < 0 ? -errno : 0;
}

bool controller_probing_socket_take(
		struct controller_probing_socket *socket, struct hs_controller *controller)
{
	ssize_t len = 0;

	if (!socket)
		return false;
	int64_t end_ns = hs_os_clock_spent_ns() + NS_PER_ROUND;
	while (len >= 0 && hs_os_clock_spent_ns() < end_ns) {
		len = recv(socket->fd, socket->frame, sizeof(socket->frame), 0);
		if (len > 0)
			hs_controller_probe_take(controller, hs_os_clock_wall_ns(), socket->frame,
					(size_t)len);
	}
	return len >= 0;
}
