// SPDX-License-Identifier: BSD-3-Clause
// The settings that a port changes on its kernel interface, and restores.
#include "port_private.h"

#include "log.h"

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <rte_common.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int ethtool_get(const char *name, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	int ret = iface_ethtool(name, &value);

	return ret < 0 ? ret : (int)value.data;
}

static int ethtool_set(const char *name, uint32_t command, uint32_t data)
{
	struct ethtool_value value = {.cmd = command, .data = data};

	return iface_ethtool(name, &value);
}

static int set_up(const char *name, bool up)
{
	struct ifreq ifr = {0};
	int ret = iface_ioctl(name, SIOCGIFFLAGS, &ifr);

	if (ret < 0)
		return ret;
	if (up)
		ifr.ifr_flags |= IFF_UP;
	else
		ifr.ifr_flags &= (short)~IFF_UP;
	return iface_ioctl(name, SIOCSIFFLAGS, &ifr);
}

// Opens the setting. Returns -1 for a kernel without IPv6, where nothing has to be disabled.
static int ipv6_open(const char *name, int flags)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	return open(path, flags | O_CLOEXEC);
}

static int ipv6_is_disabled(const char *name)
{
	char now[8] = "";
	int fd = ipv6_open(name, O_RDONLY);

	if (fd < 0)
		return -1;
	ssize_t n = read(fd, now, sizeof(now) - 1);
	close(fd);
	return n > 0 ? atoi(now) != 0 : -1;
}

static bool ipv6_disable(const char *name, bool disabled)
{
	int fd = ipv6_open(name, O_WRONLY);
	bool done = fd >= 0 && pwrite(fd, disabled ? "1\n" : "0\n", 2, 0) == 2;

	if (fd >= 0)
		close(fd);
	return done;
}

static bool flag_is_on(const char *name, uint32_t flag)
{
	int flags = ethtool_get(name, ETHTOOL_GFLAGS);

	return flags >= 0 && (uint32_t)flags & flag;
}

static bool flag_off(const char *name, uint32_t flag)
{
	int flags = ethtool_get(name, ETHTOOL_GFLAGS);

	return flags >= 0 && ethtool_set(name, ETHTOOL_SFLAGS, (uint32_t)flags & ~flag) == 0;
}

static void flag_on(const char *name, uint32_t flag)
{
	int flags = ethtool_get(name, ETHTOOL_GFLAGS);

	if (flags >= 0)
		ethtool_set(name, ETHTOOL_SFLAGS, (uint32_t)flags | flag);
}

// Makes the interface promiscuous by a socket's membership, which ends with the socket, even if the
// process is killed.
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

// Finds the settings to change and to restore. For settings that a killed node had already changed,
// these are the values that the killed node had found.
static void look(struct iface *iface)
{
	struct iface_saved *saved = &iface->saved, kept;
	struct ifreq ifr = {0};

	saved->disable_ipv6 = ipv6_is_disabled(iface->name);
	saved->gro = ethtool_get(iface->name, ETHTOOL_GGRO) > 0 ? 1 : -1;
	saved->lro = flag_is_on(iface->name, ETH_FLAG_LRO) ? 1 : -1;
	saved->rx_vlan = -1;
	bool down = iface_ioctl(iface->name, SIOCGIFFLAGS, &ifr) == 0 && !(ifr.ifr_flags & IFF_UP);
	saved->was_down = down ? 1 : -1;
	if (!iface_kept_read(iface, &kept))
		return;
	hs_log(HS_LOG_NOTICE, "port",
			"interface %s was left as an earlier node had changed it: what it was "
			"before is known",
			iface->name);
	if (kept.disable_ipv6 == 0)
		saved->disable_ipv6 = 0;
	saved->gro = RTE_MAX(saved->gro, kept.gro);
	saved->lro = RTE_MAX(saved->lro, kept.lro);
	saved->rx_vlan = RTE_MAX(saved->rx_vlan, kept.rx_vlan);
	saved->was_down = RTE_MAX(saved->was_down, kept.was_down);
}

void iface_prepare(struct iface *iface)
{
	struct iface_saved *saved = &iface->saved;
	const char *name = iface->name;

	look(iface);
	iface_kept_write(iface);
	bool silent = saved->disable_ipv6 == 0 && ipv6_disable(name, true);
	if (saved->gro == 1 && ethtool_set(name, ETHTOOL_SGRO, 0) < 0)
		saved->gro = -1;
	if (saved->lro == 1 && !flag_off(name, ETH_FLAG_LRO))
		saved->lro = -1;
	iface->promiscuous_fd = join_promiscuous(iface->index);
	if (saved->was_down == 1 && set_up(name, true) < 0)
		saved->was_down = -1;

	hs_log(HS_LOG_NOTICE, "port", "interface %s: IPv6 %s, GRO %s, LRO %s, promiscuous %s%s",
			name,
			silent			   ? "disabled"
			: saved->disable_ipv6 == 1 ? "was disabled already"
						   : "cannot be disabled",
			saved->gro == 1 ? "switched off" : "was off",
			saved->lro == 1 ? "switched off" : "was off",
			iface->promiscuous_fd >= 0 ? "on" : "refused",
			saved->was_down == 1 ? ", set up" : "");
}

void iface_keep_tags(struct iface *iface)
{
	struct iface_saved *saved = &iface->saved;

	if (!flag_is_on(iface->name, ETH_FLAG_RXVLAN))
		return;
	saved->rx_vlan = 1;
	iface_kept_write(iface);
	if (!flag_off(iface->name, ETH_FLAG_RXVLAN))
		saved->rx_vlan = -1;
}

void iface_restore(struct iface *iface)
{
	struct iface_saved *saved = &iface->saved;
	const char *name = iface->name;

	if (iface->promiscuous_fd >= 0)
		close(iface->promiscuous_fd);
	iface->promiscuous_fd = -1;
	// The interface is gone, or another one has its name: nothing of ours has to be undone.
	if (iface->index == 0 || if_nametoindex(name) != iface->index) {
		iface_kept_remove(iface);
		return;
	}
	if (saved->was_down == 1)
		set_up(name, false);
	if (saved->rx_vlan == 1)
		flag_on(name, ETH_FLAG_RXVLAN);
	if (saved->lro == 1)
		flag_on(name, ETH_FLAG_LRO);
	if (saved->gro == 1)
		ethtool_set(name, ETHTOOL_SGRO, 1);
	if (saved->disable_ipv6 == 0)
		ipv6_disable(name, false);
	iface_kept_remove(iface);
	*saved = (struct iface_saved){-1, -1, -1, -1, -1};
	hs_log(HS_LOG_NOTICE, "port", "interface %s: settings restored", name);
}
