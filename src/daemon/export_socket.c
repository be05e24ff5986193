// SPDX-License-Identifier: BSD-3-Clause
#include "export_socket.h"

#include "socket_address.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RETRY_NS INT64_C(1000000000)

static bool is_given(const uint8_t ip[16])
{
	static const uint8_t none[16];
	return memcmp(ip, none, sizeof(none)) != 0;
}

// Connects the socket, because only a connected socket learns that the receiver's host refused a
// datagram. Binds the socket to the source address, if one is given.
static int join(int fd, const struct hs_export_config *config)
{
	struct hs_ip_port from = {.port = 0};
	struct sockaddr_storage address;
	socklen_t bytes;

	if (is_given(config->from)) {
		memcpy(from.address, config->from, sizeof(from.address));
		bytes = hs_socket_address_of(&from, &address);
		if (bind(fd, (const struct sockaddr *)&address, bytes) < 0)
			return -errno;
	}
	bytes = hs_socket_address_of(&config->to, &address);
	return connect(fd, (const struct sockaddr *)&address, bytes) < 0 ? -errno : 0;
}

static int open_now(struct hs_export_socket *s, int64_t now_ns)
{
	int family = hs_ip_address_is_ipv4(s->config->to.address) ? AF_INET : AF_INET6;

	hs_export_socket_close(s);
	s->retry_ns = now_ns + RETRY_NS;
	s->fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	s->error = s->fd < 0 ? -errno : join(s->fd, s->config);
	s->doubtful = s->error != 0;
	if (s->error && s->fd >= 0)
		hs_export_socket_close(s);
	return s->error;
}

int hs_export_socket_open(
		struct hs_export_socket *s, const struct hs_export_config *config, int64_t now_ns)
{
	*s = (struct hs_export_socket){.config = config, .fd = -1};
	return open_now(s, now_ns);
}

void hs_export_socket_close(struct hs_export_socket *s)
{
	if (s->config && s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int hs_export_socket_send(
		struct hs_export_socket *s, int64_t now_ns, const uint8_t *datagram, size_t bytes)
{
	if (s->doubtful && now_ns >= s->retry_ns)
		open_now(s, now_ns);
	if (s->fd < 0)
		return s->error;
	if (send(s->fd, datagram, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	switch (errno) {
	case EAGAIN:
	case ENOBUFS:
	case EINTR:
		return -EAGAIN;
	case ECONNREFUSED: // an earlier datagram was refused
		return -ECONNREFUSED;
	default: // the source address may have been removed
		s->doubtful = true;
		return -errno;
	}
}
