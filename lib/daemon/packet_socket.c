// SPDX-License-Identifier: BSD-3-Clause
#include "packet_socket.h"

#include "socket_buffer.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

// Makes the interface take frames to any Ethernet address, not only to its own.
static int listen_to_all(int fd, int ifindex)
{
	struct packet_mreq request = {.mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC};

	return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) < 0
			       ? -errno
			       : 0;
}

int hs_packet_socket_bind(int fd, const char *iface, uint16_t ether_type)
{
	struct sockaddr_ll address = {
			.sll_family = AF_PACKET,
			.sll_protocol = htons(ether_type),
			.sll_ifindex = (int)if_nametoindex(iface),
	};

	if (!address.sll_ifindex)
		return -errno;
	int rc = listen_to_all(fd, address.sll_ifindex);
	if (rc < 0)
		return rc;
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

bool hs_packet_socket_is_bound(int fd)
{
	struct sockaddr_ll address = {0};
	socklen_t len = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &len) == 0 && address.sll_ifindex > 0;
}

// Sets the options and binds the socket last, so that no frame comes before the filter is there.
static int set_up(int fd, const struct hs_packet_socket_config *config)
{
	int ignored = !config->both_ways;

	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &ignored, sizeof(ignored));
	hs_socket_buffer_set(fd, config->buffer_kib);
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &config->filter, sizeof(config->filter)) <
			0)
		return -errno;
	return hs_packet_socket_bind(fd, config->iface, config->ether_type);
}

int hs_packet_socket_open(const struct hs_packet_socket_config *config)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	int rc = set_up(fd, config);
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

uint32_t hs_packet_socket_lost(int fd)
{
	struct tpacket_stats stats = {0};
	socklen_t len = sizeof(stats);

	return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) < 0 ? 0 : stats.tp_drops;
}
