// SPDX-License-Identifier: BSD-3-Clause
#include "udp_socket.h"

#include "socket_address.h"
#include "socket_buffer.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

int hs_udp_socket_open(struct hs_udp_socket *made, const struct hs_ip_port *at, uint32_t buffer_kib)
{
	struct sockaddr_storage to;
	socklen_t len = hs_socket_address_of(at, &to);
	int on = 1;

	*made = (struct hs_udp_socket){
			.fd = socket(to.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
	if (made->fd < 0)
		return -errno;
	// A socket at [::] takes no IPv4, so that another socket can be at 0.0.0.0.
	if (to.ss_family == AF_INET6)
		setsockopt(made->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	hs_socket_buffer_set(made->fd, buffer_kib);
	made->buffer_kib = hs_socket_buffer_kib(made->fd);
	int rc = bind(made->fd, (struct sockaddr *)&to, len) < 0 ? -errno : 0;
	if (rc < 0)
		hs_udp_socket_close(made);
	return rc;
}

void hs_udp_socket_close(struct hs_udp_socket *socket)
{
	if (socket->fd >= 0)
		close(socket->fd);
	socket->fd = -1;
}

uint64_t hs_udp_socket_lost(struct hs_udp_socket *socket)
{
	uint32_t values[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(values);

	if (getsockopt(socket->fd, SOL_SOCKET, SO_MEMINFO, values, &len) == 0) {
		socket->lost += values[SK_MEMINFO_DROPS] - socket->seen_lost;
		socket->seen_lost = values[SK_MEMINFO_DROPS];
	}
	return socket->lost;
}
