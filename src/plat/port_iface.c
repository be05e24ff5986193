// SPDX-License-Identifier: BSD-3-Clause
// A kernel interface made fit to be switched through, and the sockets that a driver opened on it.
#include "port_private.h"

#include "log.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <fcntl.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

// ---- ioctl ----

static int interface_ioctl(const char *name, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0) // a kernel without IPv4
		fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	ret = ioctl(fd, request, ifr) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static int ethtool_call(const char *name, void *command)
{
	struct ifreq ifr = {.ifr_data = command};

	return interface_ioctl(name, SIOCETHTOOL, &ifr);
}

static int ethtool_get(const char *name, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	int ret = ethtool_call(name, &value);

	return ret < 0 ? ret : (int)value.data;
}

static int ethtool_set(const char *name, uint32_t command, uint32_t data)
{
	struct ethtool_value value = {.cmd = command, .data = data};

	return ethtool_call(name, &value);
}

static int set_up(const char *name, bool up)
{
	struct ifreq ifr = {0};
	int ret = interface_ioctl(name, SIOCGIFFLAGS, &ifr);

	if (ret < 0)
		return ret;
	if (up)
		ifr.ifr_flags |= IFF_UP;
	else
		ifr.ifr_flags &= (short)~IFF_UP;
	return interface_ioctl(name, SIOCSIFFLAGS, &ifr);
}

int iface_find(struct iface *iface)
{
	struct ifreq ifr = {0};

	iface->index = if_nametoindex(iface->name);
	if (iface->index == 0)
		return -ENODEV;
	if (interface_ioctl(iface->name, SIOCGIFMTU, &ifr) < 0)
		return -ENODEV;
	iface->mtu = (uint16_t)(ifr.ifr_mtu > UINT16_MAX ? UINT16_MAX : ifr.ifr_mtu);
	if (interface_ioctl(iface->name, SIOCGIFFLAGS, &ifr) < 0)
		return -ENODEV;
	iface->up = (ifr.ifr_flags & IFF_UP) && (ifr.ifr_flags & IFF_RUNNING);
	return 0;
}

unsigned iface_rx_channels(const struct iface *iface)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};

	if (ethtool_call(iface->name, &channels) < 0)
		return 1;
	return channels.rx_count + channels.combined_count ?: 1;
}

// ---- settings that are changed and restored ----

static int ipv6_switch(const char *name, int value)
{
	char path[96], now[8] = "";
	int fd, old = -1;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1; // a kernel without IPv6 has nothing to silence
	if (read(fd, now, sizeof(now) - 1) > 0)
		old = atoi(now);
	if (old >= 0 && old != value && pwrite(fd, value ? "1\n" : "0\n", 2, 0) != 2)
		old = -1;
	close(fd);
	return old;
}

// Switches a feature off; returns 1 if it was on and is off now, else -1.
static int gro_off(const char *name)
{
	if (ethtool_get(name, ETHTOOL_GGRO) <= 0)
		return -1;
	return ethtool_set(name, ETHTOOL_SGRO, 0) == 0 ? 1 : -1;
}

static int flag_off(const char *name, uint32_t flag)
{
	int flags = ethtool_get(name, ETHTOOL_GFLAGS);

	if (flags < 0 || !((uint32_t)flags & flag))
		return -1;
	return ethtool_set(name, ETHTOOL_SFLAGS, (uint32_t)flags & ~flag) == 0 ? 1 : -1;
}

static void flag_on(const char *name, uint32_t flag)
{
	int flags = ethtool_get(name, ETHTOOL_GFLAGS);

	if (flags >= 0)
		ethtool_set(name, ETHTOOL_SFLAGS, (uint32_t)flags | flag);
}

// Promiscuity by membership of a socket: it ends with the socket, even if the process is killed.
static int join_promiscuous(unsigned index)
{
	struct packet_mreq member = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_PROMISC};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &member, sizeof(member)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void iface_prepare(struct iface *iface)
{
	struct iface_saved *saved = &iface->saved;
	const char *name = iface->name;
	struct ifreq ifr = {0};

	saved->disable_ipv6 = ipv6_switch(name, 1);
	saved->gro = gro_off(name);
	saved->lro = flag_off(name, ETH_FLAG_LRO);
	saved->rx_vlan = -1;
	saved->was_down = -1;
	iface->promiscuous_fd = join_promiscuous(iface->index);
	if (interface_ioctl(name, SIOCGIFFLAGS, &ifr) == 0 && !(ifr.ifr_flags & IFF_UP))
		saved->was_down = set_up(name, true) == 0 ? 1 : -1;

	hs_log(HS_LOG_INFO, "port", "interface %s: IPv6 %s, GRO %s, LRO %s, promiscuous %s%s", name,
			saved->disable_ipv6 == 0   ? "disabled"
			: saved->disable_ipv6 == 1 ? "was disabled already"
						   : "cannot be disabled",
			saved->gro == 1 ? "switched off" : "was off",
			saved->lro == 1 ? "switched off" : "was off",
			iface->promiscuous_fd >= 0 ? "on" : "refused",
			saved->was_down == 1 ? ", set up" : "");
}

void iface_restore(struct iface *iface)
{
	struct iface_saved *saved = &iface->saved;
	const char *name = iface->name;

	if (iface->promiscuous_fd >= 0)
		close(iface->promiscuous_fd);
	iface->promiscuous_fd = -1;
	// Gone, or another one under the same name: there is nothing of ours to undo.
	if (iface->index == 0 || if_nametoindex(name) != iface->index)
		return;
	if (saved->was_down == 1)
		set_up(name, false);
	if (saved->rx_vlan == 1)
		flag_on(name, ETH_FLAG_RXVLAN);
	if (saved->lro == 1)
		flag_on(name, ETH_FLAG_LRO);
	if (saved->gro == 1)
		ethtool_set(name, ETHTOOL_SGRO, 1);
	if (saved->disable_ipv6 == 0)
		ipv6_switch(name, 0);
	*saved = (struct iface_saved){-1, -1, -1, -1, -1};
	hs_log(HS_LOG_INFO, "port", "interface %s: settings restored", name);
}

// ---- rtnetlink: the kernel's own counters ----

struct link_request {
	struct nlmsghdr header;
	struct ifinfomsg info;
};

static uint64_t dropped_in(const struct nlmsghdr *message, size_t len)
{
	if (!NLMSG_OK(message, len) || message->nlmsg_type != RTM_NEWLINK)
		return 0;

	const struct rtattr *attr = IFLA_RTA(NLMSG_DATA(message));
	int left = (int)IFLA_PAYLOAD(message);
	struct rtnl_link_stats64 stats;

	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		if (attr->rta_type != IFLA_STATS64 ||
				RTA_PAYLOAD(attr) < sizeof(stats.rx_packets) * 8)
			continue;
		memset(&stats, 0, sizeof(stats));
		memcpy(&stats, RTA_DATA(attr),
				RTA_PAYLOAD(attr) < sizeof(stats) ? RTA_PAYLOAD(attr)
								  : sizeof(stats));
		return stats.tx_dropped;
	}
	return 0;
}

uint64_t iface_tx_dropped(const struct iface *iface)
{
	struct link_request request = {
			.header = {.nlmsg_len = sizeof(request),
					.nlmsg_type = RTM_GETLINK,
					.nlmsg_flags = NLM_F_REQUEST},
			.info = {.ifi_family = AF_UNSPEC, .ifi_index = (int)iface->index},
	};
	alignas(struct nlmsghdr) char reply[16384];
	uint64_t dropped = 0;
	ssize_t n;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || iface->index == 0)
		goto out;
	if (send(fd, &request, sizeof(request), 0) < 0)
		goto out;
	n = recv(fd, reply, sizeof(reply), 0); // the kernel answers within the send
	if (n > 0)
		dropped = dropped_in((const struct nlmsghdr *)reply, (size_t)n);
out:
	if (fd >= 0)
		close(fd);
	return dropped;
}

// ---- sockets of a driver ----

struct fd_set_snapshot {
	size_t n, room;
	int fds[];
};

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

struct fd_set_snapshot *fd_snapshot_take(void)
{
	size_t room = 4096;
	struct fd_set_snapshot *set = malloc(sizeof(*set) + room * sizeof(set->fds[0]));
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!set || !dir) {
		free(set);
		if (dir)
			closedir(dir);
		return NULL;
	}
	set->n = 0;
	while ((entry = readdir(dir)) && set->n < room)
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
			set->fds[set->n++] = atoi(entry->d_name);
	closedir(dir);
	qsort(set->fds, set->n, sizeof(set->fds[0]), compare_ints);
	return set;
}

static bool socket_is(int fd, int family, unsigned ifindex)
{
	int domain = 0;
	socklen_t len = sizeof(domain);
	struct sockaddr_ll address = {0};

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 || domain != family)
		return false;
	if (family != AF_PACKET) // AF_XDP sockets do not tell their interface
		return true;
	len = sizeof(address);
	return getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
	       address.sll_ifindex == (int)ifindex && address.sll_protocol == htons(ETH_P_ALL);
}

unsigned fd_snapshot_new_sockets(struct fd_set_snapshot *before, int family, unsigned ifindex,
		int *fds, unsigned max)
{
	struct fd_set_snapshot *now = fd_snapshot_take();
	unsigned n = 0;

	for (size_t i = 0; before && now && i < now->n && n < max; i++)
		if (!bsearch(&now->fds[i], before->fds, before->n, sizeof(int), compare_ints) &&
				socket_is(now->fds[i], family, ifindex))
			fds[n++] = now->fds[i];
	free(now);
	free(before);
	return n;
}

// Accepts packets by their length as the kernel has them (the tag that it took off apart).
static int attach_length_filter(int fd, unsigned max_frame, bool accept_longer)
{
	struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
			BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, max_frame, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, accept_longer ? 1 : 0),
			BPF_STMT(BPF_RET | BPF_K, accept_longer ? 0 : UINT32_MAX),
	};
	struct sock_fprog program = {.len = RTE_DIM(code), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

// A packet socket that takes only what the device's sockets refuse and is never read: its
// statistics are the count.
static int open_oversize_counter(unsigned ifindex, unsigned max_frame)
{
	struct sockaddr_ll address = {
			.sll_family = AF_PACKET,
			.sll_protocol = htons(ETH_P_ALL),
			.sll_ifindex = (int)ifindex,
	};
	int one = 1;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); // deaf until bound

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &one, sizeof(one)); // as small as there is
	if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0 ||
			attach_length_filter(fd, max_frame, true) < 0 ||
			bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void packet_sockets_setup(struct hs_port *port, unsigned max_frame)
{
	struct port_private *p = port_private(port);
	int one = 1;

	for (unsigned i = 0; i < port->rx_queues; i++) {
		if (p->wake_fds[i] < 0)
			continue;
		if (setsockopt(p->wake_fds[i], SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
				    sizeof(one)) < 0)
			hs_log(HS_LOG_WARNING, "port",
					"%s: packets that the kernel itself sends on "
					"interface %s come in too: %s",
					port->config.name, p->iface.name, strerror(errno));
		if (attach_length_filter(p->wake_fds[i], max_frame, false) < 0)
			hs_log(HS_LOG_WARNING, "port", "%s: packets above %u bytes are cut: %s",
					port->config.name, max_frame, strerror(errno));
	}
	p->oversize_fd = open_oversize_counter(p->iface.index, max_frame);
}

// PACKET_STATISTICS starts anew with each reading.
static struct tpacket_stats take_statistics(int fd)
{
	struct tpacket_stats stats = {0};
	socklen_t len = sizeof(stats);

	if (fd < 0 || getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) < 0)
		return (struct tpacket_stats){0};
	return stats;
}

uint64_t packet_sockets_drops(struct hs_port *port)
{
	struct port_private *p = port_private(port);
	uint64_t drops = 0;

	for (unsigned i = 0; i < port->rx_queues; i++)
		drops += take_statistics(p->wake_fds[i]).tp_drops;
	return drops;
}

uint64_t packet_oversize_count(struct hs_port *port)
{
	// tp_packets counts what passed the filter, whether there was room for it or not.
	return take_statistics(port_private(port)->oversize_fd).tp_packets;
}
