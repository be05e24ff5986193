// SPDX-License-Identifier: BSD-3-Clause
// This uses rtnetlink and not /sys, because /sys shows the namespace in which it was mounted.
#include "kernel_stats.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int ask(int fd, unsigned index)
{
	struct {
		struct nlmsghdr header;
		struct if_stats_msg stats;
	} request = {
			.header = {.nlmsg_len = sizeof(request),
					.nlmsg_type = RTM_GETSTATS,
					.nlmsg_flags = NLM_F_REQUEST},
			.stats = {.ifindex = index,
					.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)},
	};
	return send(fd, &request, sizeof(request), 0) < 0 ? -errno : 0;
}

static int answer(int fd, struct rtnl_link_stats64 *stats)
{
	union {
		struct nlmsghdr header;
		char bytes[4096];
	} reply;
	ssize_t n = recv(fd, &reply, sizeof(reply), 0);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(&reply.header, (size_t)n))
		return -EPROTO;
	if (reply.header.nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)NLMSG_DATA(&reply.header))->error;

	size_t front = NLMSG_LENGTH(NLMSG_ALIGN(sizeof(struct if_stats_msg)));
	if (reply.header.nlmsg_len < front + sizeof(struct rtattr))
		return -ENODATA;
	const struct rtattr *attribute = (const void *)(reply.bytes + front);
	if (attribute->rta_type != IFLA_STATS_LINK_64 ||
			attribute->rta_len < RTA_LENGTH(sizeof(*stats)) ||
			front + attribute->rta_len > reply.header.nlmsg_len)
		return -ENODATA;
	memcpy(stats, RTA_DATA(attribute), sizeof(*stats));
	return 0;
}

int hs_kernel_stats(const char *interface, struct rtnl_link_stats64 *stats)
{
	unsigned index = if_nametoindex(interface);
	if (index == 0)
		return -ENODEV;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	int rc = ask(fd, index);
	if (rc == 0)
		rc = answer(fd, stats);
	close(fd);
	return rc;
}
