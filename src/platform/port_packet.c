// SPDX-License-Identifier: BSD-3-Clause
// A port on packet sockets. It receives from a ring that the kernel fills, and sends in batches.
//
// DPDK has such a driver. But that driver joins a fanout group that reassembles IPv4 fragments, so
// that no fragmented packet passes through it. It also shows every tag as 802.1Q, truncates long
// packets, and does not report what the kernel refused (docs/decisions/0005-interface-driver.md).
#include "port_private.h"

#include "checksum.h"
#include "log.h"

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23 // since Linux 4.20
#endif

#define RING_BYTES  (8u << 20) // over 5,000 packets of 1,500 bytes, while the worker is off its core
#define BLOCK_BYTES (256u << 10)
#define SEND_BYTES  (4 << 20)
#define MAX_IOV	    (HS_BURST * 4)
// Where the kernel puts a packet in its frame: behind the header, with its network part aligned.
#define FRAME_OFFSET (TPACKET_ALIGN(TPACKET2_HDRLEN + 16) + 16)

// One queue's ring, and the counters that only its worker writes.
struct packet_rx {
	alignas(64) int fd;
	uint8_t *ring;
	uint32_t frame_bytes, frames_per_block, frames;
	uint32_t next;
	struct rte_mempool *pool;
	uint16_t room;
	_Atomic uint64_t packets, too_long, no_mbuf;
	uint64_t missed; // control's: the kernel's count restarts with each reading
};

// One worker's socket. It receives nothing, so that sending has no cost for receiving.
struct packet_tx {
	alignas(64) int fd;
	_Atomic uint64_t packets, refused; // refused: this packet failed, the next may not
	_Atomic uint64_t dropped;	   // ... of them, dropped by the kernel's own queue
	_Atomic uint64_t given_back;	   // dropped by the kernel without a carrier, not taken
};

struct packet_device {
	struct packet_rx rx[PORT_MAX_QUEUES];
	struct packet_tx tx[HS_MAX_WORKERS];
	uint64_t hidden, surplus; // drops that the kernel counted and no send reported
};

uint16_t port_packet_mbuf_bytes(uint16_t mtu)
{
	return RTE_PKTMBUF_HEADROOM + mtu + PORT_FRAME_OVERHEAD;
}

static inline void count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
			memory_order_relaxed);
}

// ---- receiving ----

static inline struct tpacket2_hdr *frame_at(const struct packet_rx *rx, uint32_t index)
{
	// Frames do not cross blocks, so that a block may end in unused bytes.
	uint32_t block = index / rx->frames_per_block, slot = index % rx->frames_per_block;

	return (struct tpacket2_hdr *)(rx->ring + (size_t)block * BLOCK_BYTES +
				       (size_t)slot * rx->frame_bytes);
}

static inline void next_frame(struct packet_rx *rx, struct tpacket2_hdr *frame)
{
	__atomic_store_n(&frame->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	if (++rx->next == rx->frames)
		rx->next = 0;
}

// The kernel removes the outer tag and keeps it beside the packet. This function restores the tag.
static void copy_tagged(
		uint8_t *to, const uint8_t *from, uint32_t len, const struct tpacket2_hdr *frame)
{
	bool known = frame->tp_status & TP_STATUS_VLAN_TPID_VALID;
	uint16_t tag[2] = {htons(known ? frame->tp_vlan_tpid : ETH_P_8021Q),
			htons(frame->tp_vlan_tci)};

	memcpy(to, from, 2 * RTE_ETHER_ADDR_LEN);
	memcpy(to + 2 * RTE_ETHER_ADDR_LEN, tag, sizeof(tag));
	memcpy(to + 2 * RTE_ETHER_ADDR_LEN + sizeof(tag), from + 2 * RTE_ETHER_ADDR_LEN,
			len - 2 * RTE_ETHER_ADDR_LEN);
}

// Copies a packet from its frame. Returns false if the packet is incomplete there, or too long for
// a buffer.
static inline bool copy_packet(
		const struct packet_rx *rx, const struct tpacket2_hdr *frame, struct rte_mbuf *mbuf)
{
	const uint8_t *from = (const uint8_t *)frame + frame->tp_mac;
	bool tagged = frame->tp_status & TP_STATUS_VLAN_VALID;
	uint32_t len = frame->tp_snaplen, total = len + (tagged ? 4 : 0);

	if (unlikely(frame->tp_len > len || total > rx->room || len < RTE_ETHER_HDR_LEN))
		return false;
	if (unlikely(tagged))
		copy_tagged(rte_pktmbuf_mtod(mbuf, uint8_t *), from, len, frame);
	else
		memcpy(rte_pktmbuf_mtod(mbuf, uint8_t *), from, len);
	mbuf->data_len = (uint16_t)total;
	mbuf->pkt_len = total;
	if (unlikely(frame->tp_status & TP_STATUS_CSUMNOTREADY))
		hs_checksum_complete(rte_pktmbuf_mtod(mbuf, uint8_t *), total);
	return true;
}

static uint16_t packet_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct packet_device *device = port_private(port)->device;
	struct packet_rx *rx = &device->rx[queue];
	struct rte_mbuf *mbuf = NULL;
	uint16_t taken = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct tpacket2_hdr *frame = frame_at(rx, rx->next);

		if (!(__atomic_load_n(&frame->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			break;
		if (!mbuf && !(mbuf = rte_pktmbuf_alloc(rx->pool))) {
			count(&rx->no_mbuf, 1);
			break;
		}
		if (likely(copy_packet(rx, frame, mbuf))) {
			mbufs[taken++] = mbuf;
			mbuf = NULL;
		} else {
			count(&rx->too_long, 1);
		}
		next_frame(rx, frame);
	}
	rte_pktmbuf_free(mbuf);
	count(&rx->packets, taken);
	return taken;
}

// ---- sending ----

struct batch {
	struct mmsghdr messages[HS_BURST];
	struct iovec iov[MAX_IOV];
	unsigned n, n_iov;
};

static bool add_to_batch(struct batch *batch, struct rte_mbuf *mbuf)
{
	struct msghdr *message = &batch->messages[batch->n].msg_hdr;

	if (batch->n == HS_BURST || batch->n_iov + mbuf->nb_segs > MAX_IOV)
		return false;
	*message = (struct msghdr){
			.msg_iov = &batch->iov[batch->n_iov],
			.msg_iovlen = mbuf->nb_segs,
	};
	for (; mbuf; mbuf = mbuf->next)
		batch->iov[batch->n_iov++] = (struct iovec){
				.iov_base = rte_pktmbuf_mtod(mbuf, void *),
				.iov_len = mbuf->data_len,
		};
	batch->n++;
	return true;
}

// Sends as many packets as the kernel takes at once. A result of 0 or less is -errno of the first
// packet.
static int send_batch(const struct packet_tx *tx, struct rte_mbuf **mbufs, uint16_t n)
{
	struct batch batch; // not cleared: only added members are read
	int sent;

	batch.n = batch.n_iov = 0;
	while (batch.n < n && add_to_batch(&batch, mbufs[batch.n]))
		continue;
	if (batch.n == 0)
		return -EMSGSIZE; // a chain longer than any batch
	sent = sendmmsg(tx->fd, batch.messages, batch.n, MSG_DONTWAIT);
	return sent < 0 ? -errno : sent;
}

// Returns whether the error means "not now" rather than "not this packet".
static bool is_for_all(int error)
{
	return error == -EAGAIN || error == -ENETDOWN || error == -ENXIO || error == -ENODEV ||
	       error == -EINTR;
}

static uint16_t packet_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct packet_device *device = port_private(port)->device;
	struct packet_tx *tx = &device->tx[queue];
	uint16_t done = 0;

	while (done < n) {
		int sent = send_batch(tx, &mbufs[done], n - done);

		if (sent <= 0 && is_for_all(sent))
			break;
		if (sent == -ENOBUFS && !port_private(port)->link_up) {
			count(&tx->given_back, 1);
			break;
		}
		if (sent <= 0) {
			// The packet is too long for the interface, or its queue dropped it: taken
			// and lost.
			count(sent == -ENOBUFS ? &tx->dropped : &tx->refused, 1);
			rte_pktmbuf_free(mbufs[done++]);
			continue;
		}
		rte_pktmbuf_free_bulk(&mbufs[done], (unsigned)sent);
		count(&tx->packets, (uint64_t)sent);
		done += (uint16_t)sent;
	}
	return done;
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

static int set_option(int fd, int option, int value)
{
	return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int map_ring(struct packet_rx *rx, uint16_t mtu)
{
	uint32_t frame = TPACKET_ALIGN(FRAME_OFFSET + mtu + PORT_FRAME_OVERHEAD);
	struct tpacket_req request = {
			.tp_block_size = BLOCK_BYTES,
			.tp_block_nr = RING_BYTES / BLOCK_BYTES,
			.tp_frame_size = frame,
			.tp_frame_nr = RING_BYTES / BLOCK_BYTES * (BLOCK_BYTES / frame),
	};

	if (setsockopt(rx->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) < 0)
		return -errno;
	rx->ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, rx->fd, 0);
	if (rx->ring == MAP_FAILED) {
		rx->ring = NULL;
		return -errno;
	}
	rx->frame_bytes = frame;
	rx->frames_per_block = BLOCK_BYTES / frame;
	rx->frames = request.tp_frame_nr;
	rx->next = 0;
	return 0;
}

// All options are set before the socket receives its first packet.
static int open_rx(struct packet_rx *rx, const struct hs_port *port)
{
	const struct port_private *p = port_private(port);
	int ret;

	rx->pool = p->pool;
	rx->room = rte_pktmbuf_data_room_size(p->pool) - RTE_PKTMBUF_HEADROOM;
	rx->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (rx->fd < 0)
		return -errno;
	ret = set_option(rx->fd, PACKET_VERSION, TPACKET_V2);
	if (ret == 0)
		ret = map_ring(rx, port->config.mtu);
	if (ret == 0)
		ret = set_option(rx->fd, PACKET_IGNORE_OUTGOING, 1);
	if (ret == 0)
		ret = bind_to(rx->fd, p->iface.index, ETH_P_ALL);
	return ret;
}

// Several queues share the interface's packets by flow.
static int join_fanout(struct packet_device *device, uint16_t n_queues)
{
	int group = PACKET_FANOUT_HASH << 16 | PACKET_FANOUT_FLAG_UNIQUEID << 16, ret;
	socklen_t len = sizeof(group);

	if (n_queues == 1)
		return 0;
	ret = set_option(device->rx[0].fd, PACKET_FANOUT, group);
	if (ret < 0)
		return ret;
	if (getsockopt(device->rx[0].fd, SOL_PACKET, PACKET_FANOUT, &group, &len) < 0)
		return -errno;
	for (uint16_t q = 1; q < n_queues && ret == 0; q++)
		ret = set_option(device->rx[q].fd, PACKET_FANOUT,
				(group & 0xffff) | PACKET_FANOUT_HASH << 16);
	return ret;
}

static int open_tx(struct packet_tx *tx, unsigned ifindex)
{
	int bytes = SEND_BYTES, ret;

	tx->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (tx->fd < 0)
		return -errno;
	ret = set_option(tx->fd, PACKET_QDISC_BYPASS, 1);
	if (ret < 0)
		return ret;
	// A burst of large packets may be on its way in the kernel. If the call is refused, the
	// default remains.
	setsockopt(tx->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	return bind_to(tx->fd, ifindex, 0);
}

static void close_device(struct packet_device *device)
{
	for (unsigned i = 0; i < PORT_MAX_QUEUES; i++) {
		if (device->rx[i].ring)
			munmap(device->rx[i].ring, RING_BYTES);
		if (device->rx[i].fd >= 0)
			close(device->rx[i].fd);
	}
	for (unsigned i = 0; i < HS_MAX_WORKERS; i++)
		if (device->tx[i].fd >= 0)
			close(device->tx[i].fd);
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
	for (unsigned i = 0; i < port->rx_queues; i++)
		p->wake_fds[i] = device->rx[i].fd;
	port->rx_burst = packet_rx;
	port->tx_burst = packet_tx;
	port->tx_multi_seg = true;
	port->needs_timed_poll = false;
	snprintf(port->driver_name, sizeof(port->driver_name), "af_packet");
	return 0;
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
	stats->rx_errors += load(&rx->too_long);
	stats->rx_nombuf += load(&rx->no_mbuf);
	stats->rx_missed += rx->missed;
}

// A veth of older kernels reports packets as sent though its peer had no room for them, and only
// counts them as dropped. If sends report drops, their count is used. A recent drop may not have
// been reported yet, so a surplus counts after it has lasted.
static uint64_t hidden_drops(struct packet_device *device, uint64_t kernel, uint64_t reported,
		uint64_t given_back)
{
	uint64_t surplus = reported == 0 && kernel > given_back ? kernel - given_back : 0;
	uint64_t lasted = RTE_MIN(surplus, device->surplus);

	device->surplus = surplus;
	device->hidden = RTE_MAX(device->hidden, lasted);
	return device->hidden;
}

static void packet_stats(struct hs_port *port, struct hs_port_device_stats *stats)
{
	struct port_private *p = port_private(port);
	struct packet_device *device = p->device;
	struct iface_drops kernel = iface_drops(&p->iface);
	uint64_t dropped = 0, given_back = 0;

	for (unsigned i = 0; i < port->rx_queues; i++)
		add_rx(&device->rx[i], stats);
	for (unsigned i = 0; i < p->n_workers; i++) {
		stats->tx_packets += load(&device->tx[i].packets);
		stats->tx_errors += load(&device->tx[i].refused);
		dropped += load(&device->tx[i].dropped);
		given_back += load(&device->tx[i].given_back);
	}
	stats->tx_errors += dropped + hidden_drops(device, kernel.tx - p->iface.drops_before.tx,
						      dropped, given_back);
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
