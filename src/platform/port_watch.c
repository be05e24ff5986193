// SPDX-License-Identifier: BSD-3-Clause
#include "port_watch.h"

#include "log.h"
#include "port_private.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct watched {
	struct hs_port *port;
	unsigned index; // the interface's index, 0 while it is gone
	bool up;
};

struct hs_port_watch {
	hs_port_event_fn on_event;
	void *context;
	int fd;
	struct watched ports[HS_MAX_PORTS];
	unsigned n_ports;
};

// One message about an interface.
struct link_news {
	unsigned index;
	char name[IF_NAMESIZE];
	bool exists, up;
	uint32_t mtu;
};

int hs_port_watch_create(hs_port_event_fn on_event, void *context, struct hs_port_watch **watch)
{
	struct sockaddr_nl address = {
			.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_TC};
	struct hs_port_watch *made = calloc(1, sizeof(*made));
	int ret;

	if (!made)
		return -ENOMEM;
	made->on_event = on_event;
	made->context = context;
	made->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (made->fd < 0 || bind(made->fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		ret = -errno;
		hs_port_watch_destroy(made);
		return ret;
	}
	*watch = made;
	return 0;
}

void hs_port_watch_destroy(struct hs_port_watch *watch)
{
	if (!watch)
		return;
	if (watch->fd >= 0)
		close(watch->fd);
	free(watch);
}

int hs_port_watch_fd(const struct hs_port_watch *watch)
{
	return watch->fd;
}

int hs_port_watch_add(struct hs_port_watch *watch, struct hs_port *port)
{
	if (port->config.kind != HS_PORT_IFACE)
		return 0; // the kernel has nothing to watch
	if (watch->n_ports == HS_MAX_PORTS)
		return -ENOSPC;
	watch->ports[watch->n_ports++] = (struct watched){
			.port = port,
			.index = port_private(port)->iface.index,
			.up = port_private(port)->link_up,
	};
	// The interface may have changed between the opening of the port and the creation of the
	// watch.
	hs_port_watch_resync(watch);
	return 0;
}

// ---- events ----

static void say(struct hs_port_watch *watch, struct watched *w, enum hs_port_event event)
{
	static const char *const words[] = {
			[HS_PORT_GONE] = "is gone",
			[HS_PORT_BACK] = "is back",
			[HS_PORT_UP] = "is up",
			[HS_PORT_DOWN] = "is down",
	};

	hs_log(HS_LOG_DEBUG, "port", "%s: interface %s %s", w->port->config.name,
			w->port->config.device, words[event]);
	watch->on_event(watch->context, w->port, event);
}

static void set_up_state(struct hs_port_watch *watch, struct watched *w, bool up)
{
	port_set_link(w->port, up);
	if (w->up == up)
		return;
	w->up = up;
	say(watch, w, up ? HS_PORT_UP : HS_PORT_DOWN);
}

static void set_gone(struct hs_port_watch *watch, struct watched *w)
{
	w->index = 0;
	w->up = false;
	port_set_link(w->port, false);
	say(watch, w, HS_PORT_GONE);
}

static void apply(struct hs_port_watch *watch, struct watched *w, const struct link_news *news)
{
	bool same = w->index && w->index == news->index;

	if (!news->exists) {
		if (same)
			set_gone(watch, w);
		return;
	}
	if (!same) {
		if (strcmp(news->name, w->port->config.device) != 0)
			return;
		// Another interface has the name: the end of the old one was missed.
		if (w->index)
			set_gone(watch, w);
		w->index = news->index;
		say(watch, w, HS_PORT_BACK);
		// The listener reopens the port as it decides; the port's state comes next.
	}
	port_follow_mtu(w->port, news->mtu);
	port_follow_offloads(w->port);
	set_up_state(watch, w, news->up);
}

static void apply_to_all(struct hs_port_watch *watch, const struct link_news *news)
{
	for (unsigned i = 0; i < watch->n_ports; i++)
		apply(watch, &watch->ports[i], news);
}

static bool parse(const struct nlmsghdr *message, struct link_news *news)
{
	const struct ifinfomsg *info = NLMSG_DATA(message);

	if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK)
		return false;
	// A bridge reports its ports' membership in the same messages.
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*info)) || info->ifi_family != AF_UNSPEC)
		return false;

	*news = (struct link_news){
			.index = (unsigned)info->ifi_index,
			.exists = message->nlmsg_type == RTM_NEWLINK,
			.up = iface_flags_say_up(info->ifi_flags),
	};
	const struct rtattr *attr = IFLA_RTA(info);
	int left = (int)IFLA_PAYLOAD(message);

	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		if (attr->rta_type == IFLA_IFNAME)
			strncpy(news->name, RTA_DATA(attr), sizeof(news->name) - 1);
		else if (attr->rta_type == IFLA_MTU && RTA_PAYLOAD(attr) == sizeof(news->mtu))
			memcpy(&news->mtu, RTA_DATA(attr), sizeof(news->mtu));
	}
	return news->name[0] != '\0';
}

// Adapts a port when its interface's queueing discipline changes, because what the port sends at
// once depends on the discipline.
static void follow_discipline(struct hs_port_watch *watch, const struct nlmsghdr *message)
{
	const struct tcmsg *info = NLMSG_DATA(message);

	if (message->nlmsg_type != RTM_NEWQDISC && message->nlmsg_type != RTM_DELQDISC)
		return;
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return;
	for (unsigned i = 0; i < watch->n_ports; i++)
		if (watch->ports[i].index && (int)watch->ports[i].index == info->tcm_ifindex)
			port_follow_offloads(watch->ports[i].port);
}

static void take_message(struct hs_port_watch *watch, const struct nlmsghdr *message)
{
	struct link_news news;

	if (parse(message, &news))
		apply_to_all(watch, &news);
	else
		follow_discipline(watch, message);
}

void hs_port_watch_resync(struct hs_port_watch *watch)
{
	for (unsigned i = 0; i < watch->n_ports; i++) {
		struct watched *w = &watch->ports[i];
		struct iface now = {0};
		struct link_news news = {.index = w->index};

		memcpy(now.name, port_private(w->port)->iface.name, sizeof(now.name));
		if (iface_find(&now) == 0) {
			news = (struct link_news){.index = now.index,
					.exists = true,
					.up = now.up,
					.mtu = now.mtu};
			memcpy(news.name, now.name, sizeof(news.name));
		}
		apply(watch, w, &news);
	}
}

void hs_port_watch_poll(struct hs_port_watch *watch)
{
	alignas(struct nlmsghdr) char buffer[32768];
	ssize_t n;

	while ((n = recv(watch->fd, buffer, sizeof(buffer), 0)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) { // events were lost
			hs_port_watch_resync(watch);
			continue;
		}
		if (n < 0)
			return;
		const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;
		for (; NLMSG_OK(message, n); message = NLMSG_NEXT(message, n))
			take_message(watch, message);
	}
}
