// SPDX-License-Identifier: BSD-3-Clause
#include "collector_udp.h"

#include "ip_address.h"
#include "udp_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// A report of a whole jumbo frame. The number of cache lines is odd, so that the beginnings of
// datagrams do not compete for the same places of the cache.
#define BUFFER_BYTES (147 * 64)

// Parts of the kernel's memory for a datagram.
#define LEAST_MEMORY 1024
#define AROUND	     392 // bytes of headers, headroom and the kernel's data behind
#define HEAD	     256

struct hs_collector_udp {
	struct hs_udp_socket socket;
	uint8_t listener;
	bool ipv4;
	struct mmsghdr messages[HS_COLLECTOR_BATCH];
	struct iovec vectors[HS_COLLECTOR_BATCH];
	struct sockaddr_storage senders[HS_COLLECTOR_BATCH];
	uint8_t buffers[HS_COLLECTOR_BATCH][BUFFER_BYTES];
};

static void point_buffers(struct hs_collector_udp *udp)
{
	for (unsigned i = 0; i < HS_COLLECTOR_BATCH; i++) {
		udp->vectors[i] = (struct iovec){udp->buffers[i], BUFFER_BYTES};
		udp->messages[i].msg_hdr = (struct msghdr){.msg_name = &udp->senders[i],
				.msg_namelen = sizeof(udp->senders[i]),
				.msg_iov = &udp->vectors[i],
				.msg_iovlen = 1};
	}
}

int hs_collector_udp_open(const struct hs_collector_listen *listen, uint8_t listener,
		struct hs_collector_udp **udp, uint32_t *got_kib, struct hs_error *err)
{
	struct hs_collector_udp *made = calloc(1, sizeof(*made));
	char text[HS_IP_PORT_TEXT];

	if (!made)
		return -ENOMEM;
	made->listener = listener;
	made->ipv4 = hs_ip_address_is_ipv4(listen->udp.address);
	int rc = hs_udp_socket_open(&made->socket, &listen->udp, listen->buffer_kib);
	*got_kib = made->socket.buffer_kib;
	if (rc < 0) {
		hs_error_set(err, "not_opened", "udp", "an address of this machine and a free port",
				"%s: %s", hs_ip_port_write(&listen->udp, text), strerror(-rc));
		hs_collector_udp_close(made);
		return rc;
	}
	point_buffers(made);
	*udp = made;
	return 0;
}

void hs_collector_udp_close(struct hs_collector_udp *udp)
{
	if (!udp)
		return;
	hs_udp_socket_close(&udp->socket);
	free(udp);
}

int hs_collector_udp_fd(const struct hs_collector_udp *udp)
{
	return udp->socket.fd;
}

uint32_t hs_collector_udp_room(const struct hs_collector_udp *udp, uint32_t len)
{
	// The kernel doubles the size that is requested.
	uint64_t bytes = UINT64_C(2048) * udp->socket.buffer_kib, each = LEAST_MEMORY;

	while (each < len + AROUND)
		each *= 2;
	return (uint32_t)(bytes / (each + HEAD));
}

static void read_sender(const struct hs_collector_udp *udp, unsigned i,
		struct hs_collect_datagram *datagram)
{
	const struct sockaddr_storage *sender = &udp->senders[i];

	if (udp->ipv4)
		memcpy(datagram->address, &((const struct sockaddr_in *)sender)->sin_addr, 4);
	else
		memcpy(datagram->address, &((const struct sockaddr_in6 *)sender)->sin6_addr, 16);
}

int hs_collector_udp_receive(struct hs_collector_udp *udp,
		struct hs_collect_datagram datagrams[HS_COLLECTOR_BATCH], unsigned *cut)
{
	int n = recvmmsg(udp->socket.fd, udp->messages, HS_COLLECTOR_BATCH, MSG_DONTWAIT, NULL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (unsigned i = 0; i < (unsigned)n; i++) {
		struct msghdr *header = &udp->messages[i].msg_hdr;
		datagrams[i] = (struct hs_collect_datagram){.bytes = udp->buffers[i],
				.len = udp->messages[i].msg_len,
				.is_ipv4 = udp->ipv4,
				.listener = udp->listener};
		read_sender(udp, i, &datagrams[i]);
		*cut += (header->msg_flags & MSG_TRUNC) != 0;
		header->msg_namelen = sizeof(udp->senders[i]); // the kernel wrote the length
	}
	return n;
}

uint64_t hs_collector_udp_lost(struct hs_collector_udp *udp)
{
	return hs_udp_socket_lost(&udp->socket);
}
