// SPDX-License-Identifier: BSD-3-Clause
#include "collector_udp.h"

#include "ip_address.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A report of a whole jumbo frame, and an odd number of cache lines, so that the beginnings of
// datagrams do not compete for the same places of the cache.
#define BUFFER_BYTES (147 * 64)

struct hs_collector_udp {
	int fd;
	uint8_t listener;
	bool ipv4;
	uint32_t seen_lost; // as the kernel counts, modulo 2^32
	uint64_t lost;
	struct mmsghdr messages[HS_COLLECTOR_BATCH];
	struct iovec vectors[HS_COLLECTOR_BATCH];
	struct sockaddr_storage senders[HS_COLLECTOR_BATCH];
	uint8_t buffers[HS_COLLECTOR_BATCH][BUFFER_BYTES];
};

static socklen_t address_of(
		const struct hs_collector_address *udp, bool ipv4, struct sockaddr_storage *to)
{
	*to = (struct sockaddr_storage){0};
	if (ipv4) {
		struct sockaddr_in *in = (struct sockaddr_in *)to;
		in->sin_family = AF_INET;
		in->sin_port = htons(udp->port);
		memcpy(&in->sin_addr, udp->address + 12, 4);
		return sizeof(*in);
	}
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(udp->port);
	memcpy(&in6->sin6_addr, udp->address, 16);
	return sizeof(*in6);
}

// The kernel doubles what it is asked for, for its own overhead.
static uint32_t size_buffer(int fd, uint32_t kib)
{
	int bytes = (int)(kib * 1024), got = 0;
	socklen_t len = sizeof(got);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &len);
	return (uint32_t)got / 2048;
}

static int bind_socket(struct hs_collector_udp *udp, const struct hs_collector_listen *listen,
		uint32_t *got_kib)
{
	struct sockaddr_storage address;
	socklen_t len = address_of(&listen->udp, udp->ipv4, &address);
	int on = 1;

	udp->fd = socket(address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (udp->fd < 0)
		return -errno;
	// [::] beside 0.0.0.0, each with its own senders
	if (!udp->ipv4)
		setsockopt(udp->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	*got_kib = size_buffer(udp->fd, listen->buffer_kib);
	return bind(udp->fd, (struct sockaddr *)&address, len) < 0 ? -errno : 0;
}

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
	int rc = bind_socket(made, listen, got_kib);
	if (rc < 0) {
		hs_error_set(err, "not_opened", "udp", "an address of this machine and a free port",
				"%s: %s",
				hs_ip_port_write(listen->udp.address, listen->udp.port, text),
				strerror(-rc));
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
	if (udp->fd >= 0)
		close(udp->fd);
	free(udp);
}

int hs_collector_udp_fd(const struct hs_collector_udp *udp)
{
	return udp->fd;
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
	int n = recvmmsg(udp->fd, udp->messages, HS_COLLECTOR_BATCH, MSG_DONTWAIT, NULL);

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
	uint32_t values[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(values);

	if (getsockopt(udp->fd, SOL_SOCKET, SO_MEMINFO, values, &len) == 0) {
		udp->lost += values[SK_MEMINFO_DROPS] - udp->seen_lost;
		udp->seen_lost = values[SK_MEMINFO_DROPS];
	}
	return udp->lost;
}
