// SPDX-License-Identifier: BSD-3-Clause
// A port on packet sockets. It receives from a ring that the kernel fills, and sends in batches.
//
// DPDK has such a driver. But that driver joins a fanout group that reassembles IPv4 fragments, so
// that no fragmented packet passes through it. It also shows every tag as 802.1Q, truncates long
// packets, and does not report what the kernel refused (docs/decisions/0005-interface-driver.md).
#include "packet_queue.h"

#include "log.h"

#include <rte_mbuf.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23 // since Linux 4.20
#endif
#ifndef PACKET_FANOUT_FLAG_IGNORE_OUTGOING
#define PACKET_FANOUT_FLAG_IGNORE_OUTGOING 0x4000 // older kernels ignore it
#endif

#define SEND_BYTES (4 << 20)

struct packet_device {
	struct packet_rx rx[PORT_MAX_QUEUES];
	struct packet_tx tx[HS_MAX_WORKERS];
	struct packet_hidden hidden;
};

uint16_t port_packet_mbuf_bytes(uint16_t mtu)
{
	return RTE_PKTMBUF_HEADROOM + mtu + PORT_FRAME_OVERHEAD;
}

static uint16_t packet_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct packet_device *device = port_private(port)->device;

	return packet_rx_take(&device->rx[queue], mbufs, n);
}

static uint16_t packet_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct packet_device *device = port_private(port)->device;

	return packet_tx_send(&device->tx[queue], port_private(port), mbufs, n, false);
}

static uint16_t packet_keep(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct packet_device *device = port_private(port)->device;

	return packet_tx_send(&device->tx[queue], port_private(port), mbufs, n, true);
}

// ---- opening ----

static int bind_to(int fd, unsigned ifindex, uint16_t protocol)
{
	struct sockaddr_ll address = {
			.sll_family = AF_PACKET,
			.sll_protocol = htons(protocol),
			.sll_ifindex = (int)ifindex,
	};

	return bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

// Makes a socket deaf or not. A deaf socket receives nothing.
static int set_deaf(int fd, bool deaf)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = {.len = 1, .filter = &nothing};
	int option = deaf ? SO_ATTACH_FILTER : SO_DETACH_FILTER;

	return setsockopt(fd, SOL_SOCKET, option, &program, sizeof(program)) < 0 ? -errno : 0;
}

// Opens a receive socket. All options are set before the socket receives its first packet.
static int open_rx(struct packet_rx *rx, const struct hs_port *port)
{
	const struct port_private *p = port_private(port);
	int ret;

	rx->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (rx->fd < 0)
		return -errno;
	ret = packet_rx_prepare(rx, p->pool, port->config.mtu);
	if (ret == 0)
		ret = packet_set_option(rx->fd, PACKET_IGNORE_OUTGOING, 1);
	if (ret == 0 && port->rx_queues > 1)
		ret = set_deaf(rx->fd, true);
	if (ret == 0)
		ret = bind_to(rx->fd, p->iface.index, ETH_P_ALL);
	return ret;
}

// Joins the sockets to a fanout group: several queues share the interface's packets by flow. The
// group also receives packets that its sockets ignore, unless the group ignores them, too. A socket
// gets all packets before it joins, so that no socket receives any before all have joined.
static int join_fanout(struct packet_device *device, uint16_t n_queues)
{
	const int kind = (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_IGNORE_OUTGOING) << 16;
	int group = kind | PACKET_FANOUT_FLAG_UNIQUEID << 16, ret;
	socklen_t len = sizeof(group);

	if (n_queues == 1)
		return 0;
	ret = packet_set_option(device->rx[0].fd, PACKET_FANOUT, group);
	if (ret < 0)
		return ret;
	if (getsockopt(device->rx[0].fd, SOL_PACKET, PACKET_FANOUT, &group, &len) < 0)
		return -errno;
	for (uint16_t q = 1; q < n_queues && ret == 0; q++)
		ret = packet_set_option(device->rx[q].fd, PACKET_FANOUT, (group & 0xffff) | kind);
	for (uint16_t q = 0; q < n_queues && ret == 0; q++)
		ret = set_deaf(device->rx[q].fd, false);
	return ret;
}

static int open_tx(struct packet_tx *tx, unsigned ifindex)
{
	int bytes = SEND_BYTES, ret;

	tx->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (tx->fd < 0)
		return -errno;
	ret = packet_set_option(tx->fd, PACKET_QDISC_BYPASS, 1);
	if (ret == 0)
		ret = packet_set_option(tx->fd, PACKET_VNET_HDR, 1);
	if (ret < 0)
		return ret;
	// A burst of large packets may be on its way in the kernel. If the call is refused, the
	// default remains.
	setsockopt(tx->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	return bind_to(tx->fd, ifindex, 0);
}

static void close_device(struct packet_device *device)
{
	for (unsigned i = 0; i < PORT_MAX_QUEUES; i++)
		packet_rx_close(&device->rx[i]);
	for (unsigned i = 0; i < HS_MAX_WORKERS; i++)
		packet_tx_close(&device->tx[i]);
	free(device);
}

static int open_device(struct packet_device *device, const struct hs_port *port)
{
	const struct port_private *p = port_private(port);
	int ret = 0;

	for (unsigned i = 0; i < PORT_MAX_QUEUES; i++)
		device->rx[i].fd = -1;
	for (unsigned i = 0; i < HS_MAX_WORKERS; i++)
		device->tx[i].fd = -1;
	for (unsigned i = 0; i < p->n_workers && ret == 0; i++)
		ret = open_tx(&device->tx[i], p->iface.index);
	for (unsigned i = 0; i < port->rx_queues && ret == 0; i++)
		ret = open_rx(&device->rx[i], port);
	return ret ? ret : join_fanout(device, port->rx_queues);
}

static int packet_attach(struct hs_port *port, struct hs_error *err)
{
	struct port_private *p = port_private(port);
	struct packet_device *device;
	int ret;

	if (rte_pktmbuf_data_room_size(p->pool) < port_packet_mbuf_bytes(port->config.mtu))
		return hs_error_set(err, "out_of_range", "mtu", "",
				"the node's buffers are too small for an MTU of %u",
				port->config.mtu);
	device = aligned_alloc(alignof(struct packet_device), sizeof(*device));
	if (!device)
		return -ENOMEM;
	memset(device, 0, sizeof(*device));
	ret = open_device(device, port);
	if (ret < 0) {
		close_device(device);
		hs_error_set(err, "device", "iface", "CAP_NET_RAW, and memory for a ring of 8 MiB",
				"a packet socket on interface %s cannot be set up: %s",
				p->iface.name, strerror(-ret));
		return ret;
	}
	p->device = device;
	// The new sockets have the bypass, whatever the kernel reported of the interface without
	// them.
	atomic_store(&p->joins, PORT_JOINS_NOTHING);
	atomic_store(&p->join_bytes, 0);
	for (unsigned i = 0; i < port->rx_queues; i++)
		p->wake_fds[i] = device->rx[i].fd;
	port->rx_burst = packet_rx;
	port->tx_burst = packet_tx;
	port->tx_keep = packet_keep;
	port->tx_multi_seg = true;
	port->needs_timed_poll = false;
	snprintf(port->driver_name, sizeof(port->driver_name), "af_packet");
	return 0;
}

void port_packet_bypass(struct hs_port *port, bool on)
{
	struct port_private *p = port_private(port);
	struct packet_device *device = p->device;

	for (unsigned i = 0; device && i < p->n_workers; i++)
		packet_set_option(device->tx[i].fd, PACKET_QDISC_BYPASS, on);
}

static void packet_detach(struct hs_port *port)
{
	struct port_private *p = port_private(port);

	close_device(p->device);
	p->device = NULL;
}

// ---- counters ----

static uint64_t load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_rx(struct packet_rx *rx, struct hs_port_device_stats *stats)
{
	struct tpacket_stats kernel = {0};
	socklen_t len = sizeof(kernel);

	if (getsockopt(rx->fd, SOL_PACKET, PACKET_STATISTICS, &kernel, &len) == 0)
		rx->missed += kernel.tp_drops;
	stats->rx_packets += load(&rx->packets);
	stats->rx_errors += load(&rx->broken);
	stats->rx_nombuf += load(&rx->no_mbuf);
	stats->rx_missed += rx->missed + load(&rx->no_room);
}

static void packet_stats(struct hs_port *port, struct hs_port_device_stats *stats)
{
	struct port_private *p = port_private(port);
	struct packet_device *device = p->device;
	struct iface_drops kernel = iface_drops(&p->iface);
	struct packet_sent sent = {0};

	for (unsigned i = 0; i < port->rx_queues; i++)
		add_rx(&device->rx[i], stats);
	for (unsigned i = 0; i < p->n_workers; i++) {
		stats->tx_errors += load(&device->tx[i].refused);
		sent.packets += load(&device->tx[i].packets);
		sent.frames += load(&device->tx[i].frames);
		sent.dropped += load(&device->tx[i].dropped);
		sent.dropped_frames += load(&device->tx[i].dropped_frames);
		sent.given_back += load(&device->tx[i].given_back);
	}
	stats->tx_packets += sent.packets;
	stats->tx_errors += sent.dropped + packet_tx_hidden(&device->hidden, &sent, kernel.tx);
}

static bool packet_link_up(const struct hs_port *port)
{
	return port_private(port)->link_up;
}

const struct port_driver port_packet_driver = {
		.attach = packet_attach,
		.detach = packet_detach,
		.stats = packet_stats,
		.link_up = packet_link_up,
};
