// SPDX-License-Identifier: BSD-3-Clause
// A port on a kernel interface: which driver serves it, and what the kernel reports about it.
#include "port_private.h"

#include "log.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <rte_common.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef IFLA_GSO_IPV4_MAX_SIZE
#define IFLA_GSO_IPV4_MAX_SIZE 63 // since Linux 6.3
#endif

#define GSO_BYTES_MAX 65536u

// ---- ioctl ----

int iface_ioctl(const char *name, unsigned long request, struct ifreq *ifr)
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

int iface_ethtool(const char *name, void *command)
{
	struct ifreq ifr = {.ifr_data = command};

	return iface_ioctl(name, SIOCETHTOOL, &ifr);
}

// ---- rtnetlink: what the kernel knows of one interface ----

struct link_request {
	struct nlmsghdr header;
	struct ifinfomsg info;
};

struct link {
	struct rtnl_link_stats64 stats;
	unsigned flags;
	uint32_t gso_bytes, gso_packets; // of one frame, at most
	uint32_t other;			 // the index of a veth's other end in its namespace
	bool queue;			 // a queueing discipline
};

static void read_attribute(const struct rtattr *attr, struct link *link)
{
	size_t size = RTA_PAYLOAD(attr); // newer kernels send more
	uint32_t number = 0;

	memcpy(&number, RTA_DATA(attr), RTE_MIN(size, sizeof(number)));
	switch (attr->rta_type) {
	case IFLA_STATS64:
		memcpy(&link->stats, RTA_DATA(attr), RTE_MIN(size, sizeof(link->stats)));
		break;
	case IFLA_GSO_MAX_SIZE:
	case IFLA_GSO_IPV4_MAX_SIZE:
		link->gso_bytes = RTE_MIN(link->gso_bytes, number);
		break;
	case IFLA_LINK:
		link->other = number;
		break;
	case IFLA_QDISC:
		link->queue = strncmp(RTA_DATA(attr), "noqueue", size) != 0;
		break;
	case IFLA_GSO_MAX_SEGS:
		link->gso_packets = number;
		break;
	}
}

// Reads the interface's state from the kernel. Returns false if the interface is gone.
static bool ask_link(unsigned index, struct link *link)
{
	struct link_request request = {
			.header = {.nlmsg_len = sizeof(request),
					.nlmsg_type = RTM_GETLINK,
					.nlmsg_flags = NLM_F_REQUEST},
			.info = {.ifi_family = AF_UNSPEC, .ifi_index = (int)index},
	};
	alignas(struct nlmsghdr) char reply[16384];
	const struct nlmsghdr *message = (const struct nlmsghdr *)reply;
	ssize_t n = -1;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return false;
	// The kernel answers within the send, so that the receive never waits.
	if (send(fd, &request, sizeof(request), 0) > 0)
		n = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
	close(fd);
	if (n < 0 || !NLMSG_OK(message, (size_t)n) || message->nlmsg_type != RTM_NEWLINK)
		return false;
	*link = (struct link){
			.flags = ((const struct ifinfomsg *)NLMSG_DATA(message))->ifi_flags,
			.gso_bytes = GSO_BYTES_MAX,
	};
	const struct rtattr *attr = IFLA_RTA(NLMSG_DATA(message));
	int left = (int)IFLA_PAYLOAD(message);
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		read_attribute(attr, link);
	return true;
}

bool iface_flags_say_up(unsigned flags)
{
	// The kernel reports a new interface as running before it has looked for a carrier.
	const unsigned lower_up = 1u << 16; // IFF_LOWER_UP

	return (flags & IFF_UP) && (flags & IFF_RUNNING) && (flags & lower_up);
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

struct iface_drops iface_drops(struct iface *iface)
{
	const struct iface_drops *before = &iface->drops_before;
	struct link link;

	if (ask_link(iface->index, &link))
		iface->drops = (struct iface_drops){
				.rx = since(link.stats.rx_dropped, before->rx),
				.tx = since(link.stats.tx_dropped, before->tx),
		};
	return iface->drops;
}

static void begin_drops(struct iface *iface)
{
	iface->drops_before = iface->drops = (struct iface_drops){0};
	iface->drops_before = iface_drops(iface);
	iface->drops = (struct iface_drops){0};
}

struct iface_gso iface_gso(const struct iface *iface)
{
	struct link link;

	if (!ask_link(iface->index, &link) || link.gso_packets < HS_BURST)
		return (struct iface_gso){0};
	return (struct iface_gso){
			// The kernel cuts a frame of gso_bytes.
			.bytes = link.gso_bytes ? link.gso_bytes - 1 : 0,
			.queue = link.queue,
			.up = iface_flags_say_up(link.flags),
	};
}

int iface_find(struct iface *iface)
{
	struct ifreq ifr = {0};
	struct link link;

	iface->index = if_nametoindex(iface->name);
	if (iface->index == 0)
		return -ENODEV;
	if (iface_ioctl(iface->name, SIOCGIFMTU, &ifr) < 0)
		return -ENODEV;
	iface->mtu = (uint16_t)(ifr.ifr_mtu > UINT16_MAX ? UINT16_MAX : ifr.ifr_mtu);
	if (!ask_link(iface->index, &link))
		return -ENODEV;
	iface->up = iface_flags_say_up(link.flags);
	return 0;
}

unsigned iface_rx_channels(const struct iface *iface)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};

	if (iface_ethtool(iface->name, &channels) < 0)
		return 1;
	return channels.rx_count + channels.combined_count ?: 1;
}

// ---- one node for an interface ----

// Claims the interface for this node. Two nodes on one interface would both receive every packet,
// and the first to end would restore the settings while the other runs. An abstract name belongs to
// the interface's own network namespace and ends with the process, however the process ends.
static int claim(struct iface *iface, struct hs_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "hopsight-if-%s",
			iface->name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address,
			    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ==
			0) {
		iface->claim_fd = fd;
		return 0;
	}
	ret = -errno;
	close(fd);
	hs_error_set(err, "in_use", "iface", "an interface that no other node has",
			"interface %s is in use by another node", iface->name);
	return ret;
}

static void release(struct iface *iface)
{
	if (iface->claim_fd >= 0)
		close(iface->claim_fd);
	iface->claim_fd = -1;
}

// ---- addresses ----

static void warn_of_address(const char *name, const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (address->sa_family == AF_INET) {
		inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text,
				sizeof(text));
		hs_log(HS_LOG_WARNING, "port",
				"interface %s has the address %s: the kernel answers for it, too",
				name, text);
		return;
	}
	const struct in6_addr *ip6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
	if (IN6_IS_ADDR_LINKLOCAL(ip6)) // the kernel's own address, which comes and goes with IPv6
		return;
	inet_ntop(AF_INET6, ip6, text, sizeof(text));
	hs_log(HS_LOG_WARNING, "port",
			"interface %s has the address %s: the kernel loses it as IPv6 is disabled "
			"there, and nobody gives it back",
			name, text);
}

static void warn_of_addresses(const struct iface *iface)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next)
		if (one->ifa_addr && strcmp(one->ifa_name, iface->name) == 0 &&
				(one->ifa_addr->sa_family == AF_INET ||
						one->ifa_addr->sa_family == AF_INET6))
			warn_of_address(iface->name, one->ifa_addr);
	freeifaddrs(all);
}

// ---- sockets of a driver ----

struct fd_list {
	size_t n;
	int fds[4096];
};

static bool contains(const struct fd_list *list, int fd)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->fds[i] == fd)
			return true;
	return false;
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

struct fd_list *fd_list_take(void)
{
	struct fd_list *list = calloc(1, sizeof(*list));
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (list && dir && (entry = readdir(dir)) && list->n < RTE_DIM(list->fds))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
			list->fds[list->n++] = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	if (list)
		qsort(list->fds, list->n, sizeof(list->fds[0]), compare_ints);
	return list;
}

unsigned fd_list_new_xdp_sockets(struct fd_list *before, int *fds, unsigned max)
{
	struct fd_list *now = fd_list_take();
	unsigned n = 0;

	for (size_t i = 0; before && now && i < now->n && n < max; i++) {
		int domain = 0;
		socklen_t len = sizeof(domain);

		if (!contains(before, now->fds[i]) &&
				getsockopt(now->fds[i], SOL_SOCKET, SO_DOMAIN, &domain, &len) ==
						0 &&
				domain == AF_XDP)
			fds[n++] = now->fds[i];
	}
	free(now);
	free(before);
	return n;
}

// ---- the port ----

// Returns the driver. af_xdp is used only if requested. It is the faster driver. However, it
// removes the tags of packets that a veth peer's kernel tagged, keeps buffers of the pool when it
// closes, and refuses veths whose peer has more transmit queues.
static const struct port_driver *pick(const struct hs_port *port)
{
	return strcmp(port->config.driver, "af_xdp") == 0 ? &port_xdp_driver : &port_packet_driver;
}

// Warns if the other end may send packets without a checksum or a tag. Nothing marks such a packet
// on a veth, so that the port cannot know.
static void warn_of_other_end(const struct iface *iface)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct link link;

	if (iface_ethtool(iface->name, &info) < 0 || strcmp(info.driver, "veth") != 0 ||
			!ask_link(iface->index, &link))
		return;
	hs_log(HS_LOG_WARNING, "port",
			"interface %s on af_xdp: the other end of the veth (interface %u of its "
			"namespace) must leave no checksums and no tags to hardware: switch its "
			"offloads tx and txvlan off",
			iface->name, link.other);
}

static void read_mac(const struct iface *iface, uint8_t mac[6])
{
	struct ifreq ifr = {0};

	if (iface_ioctl(iface->name, SIOCGIFHWADDR, &ifr) == 0)
		memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
}

static int iface_attach(struct hs_port *port, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	struct iface *iface = &p->iface;
	int ret;

	snprintf(iface->name, sizeof(iface->name), "%.15s", port->config.device);
	if (iface_find(iface) < 0) {
		hs_error_set(err, "no_such_interface", "iface",
				"an interface of this network namespace",
				"there is no interface \"%s\"", port->config.device);
		return -ENODEV;
	}
	ret = claim(iface, err);
	if (ret < 0)
		return ret;
	warn_of_addresses(iface);
	iface_prepare(iface);
	port_follow_mtu(port, iface->mtu);
	read_mac(iface, port->mac);
	begin_drops(iface);
	p->iface_driver = pick(port);
	ret = p->iface_driver->attach(port, err);
	if (ret < 0) {
		iface_restore(iface);
		release(iface);
		return ret;
	}
	if (p->iface_driver == &port_xdp_driver)
		warn_of_other_end(iface);
	iface_find(iface); // it may have come up just now
	port_set_link(port, iface->up);
	port_follow_offloads(port);
	hs_log(HS_LOG_NOTICE, "port", "%s: interface %s on %s (%s), %u queue%s, mtu %u",
			port->config.name, iface->name, port->driver_name,
			port->config.driver[0] ? "as configured" : "the safe choice",
			port->rx_queues, port->rx_queues == 1 ? "" : "s", port->mtu);
	return 0;
}

static void iface_detach(struct hs_port *port)
{
	struct port_private *p = port_private(port);

	p->iface_driver->detach(port);
	iface_restore(&p->iface);
	release(&p->iface);
	p->iface.index = 0;
	port_set_link(port, false);
}

static void iface_stats(struct hs_port *port, struct hs_port_device_stats *stats)
{
	port_private(port)->iface_driver->stats(port, stats);
}

static bool iface_link_up(const struct hs_port *port)
{
	return port_private(port)->link_up;
}

const struct port_driver port_iface_driver = {
		.attach = iface_attach,
		.detach = iface_detach,
		.stats = iface_stats,
		.link_up = iface_link_up,
};
