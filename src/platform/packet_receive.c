// SPDX-License-Identifier: BSD-3-Clause
// Receiving by packet sockets.
//
// The kernel copies a frame into the ring. Of a frame that is larger than a place of the ring, the
// ring has only the beginning. The whole frame is in the socket's queue, from which its packets'
// payloads are read straight into buffers.
#include "packet_queue.h"

#include "checksum.h"

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define ADDRESSES   (2 * RTE_ETHER_ADDR_LEN)
#define TAG_BYTES   4
#define RING_BYTES  (8u << 20) // over 5,000 packets of 1,500 bytes while the worker is away
#define BLOCK_BYTES (256u << 10)
#define QUEUE_BYTES (32 << 20) // of large frames that wait whole
#define SKIP_BYTES  128	       // of a frame that is skipped, by which the frame is recognised
#define WAIT_MS	    10	       // for buffers for a large frame
// The offset of a packet in its ring frame: behind both headers, with its network part aligned.
#define FRAME_OFFSET                                                                               \
	(TPACKET_ALIGN(TPACKET2_HDRLEN + 16) + 16 + TPACKET_ALIGN(sizeof(struct virtio_net_hdr)))

// ---- the ring ----

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

static inline const uint8_t *bytes_of(const struct tpacket2_hdr *frame)
{
	return (const uint8_t *)frame + frame->tp_mac;
}

static inline const struct virtio_net_hdr *vnet_of(const struct tpacket2_hdr *frame)
{
	return (const void *)(bytes_of(frame) - sizeof(struct virtio_net_hdr));
}

// Returns whether the node itself sent the frame. In a fanout group, older kernels ignore
// PACKET_IGNORE_OUTGOING.
static inline bool is_outgoing(const struct tpacket2_hdr *frame)
{
	const struct sockaddr_ll *address =
			(const void *)((const uint8_t *)frame + TPACKET_ALIGN(sizeof(*frame)));

	return address->sll_pkttype == PACKET_OUTGOING;
}

static inline uint16_t tag_bytes(const struct tpacket2_hdr *frame)
{
	return frame->tp_status & TP_STATUS_VLAN_VALID ? TAG_BYTES : 0;
}

// Copies the beginning of a frame and restores its outer tag, which the kernel removes and keeps
// beside the packet.
static inline void copy_head(uint8_t *to, const struct tpacket2_hdr *frame, uint32_t len)
{
	const uint8_t *from = bytes_of(frame);

	if (likely(!tag_bytes(frame))) {
		memcpy(to, from, len);
		return;
	}
	bool known = frame->tp_status & TP_STATUS_VLAN_TPID_VALID;
	uint16_t tag[2] = {htons(known ? frame->tp_vlan_tpid : ETH_P_8021Q),
			htons(frame->tp_vlan_tci)};

	memcpy(to, from, ADDRESSES);
	memcpy(to + ADDRESSES, tag, sizeof(tag));
	memcpy(to + ADDRESSES + sizeof(tag), from + ADDRESSES, len - ADDRESSES);
}

static inline void set_length(struct rte_mbuf *mbuf, uint32_t len)
{
	mbuf->data_len = (uint16_t)len;
	mbuf->pkt_len = len;
}

// Copies a packet from its frame. Returns false if the packet is incomplete there, too long for a
// buffer, or not what its virtio header says.
static inline bool copy_packet(
		const struct packet_rx *rx, const struct tpacket2_hdr *frame, struct rte_mbuf *mbuf)
{
	const struct virtio_net_hdr *vnet = vnet_of(frame);
	uint32_t len = frame->tp_snaplen, total = len + tag_bytes(frame);
	uint8_t *to = rte_pktmbuf_mtod(mbuf, uint8_t *);

	if (unlikely(frame->tp_len > len || total > rx->room || len < RTE_ETHER_HDR_LEN))
		return false;
	copy_head(to, frame, len);
	set_length(mbuf, total);
	return !(vnet->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
	       hs_checksum_complete(to, total, vnet->csum_start + (size_t)tag_bytes(frame),
			       vnet->csum_offset);
}

// ---- large frames ----

// Reads the whole frame of the ring from the socket's queue. iov[0] is for the virtio header, and
// the bytes of iov[1] that the ring has, too, must be equal. An interface that goes down leaves an
// error that the next call returns instead of a frame. A frame that was never read stays before all
// others in the queue, so that frames other than the one of the ring are discarded.
static bool take_whole(const struct packet_rx *rx, const struct tpacket2_hdr *frame,
		struct iovec *iov, size_t n)
{
	size_t known = RTE_MIN(iov[1].iov_len, (size_t)frame->tp_snaplen);
	struct msghdr message = {.msg_iov = iov, .msg_iovlen = n};

	for (uint32_t tries = 0; tries < rx->frames; tries++) {
		ssize_t bytes = recvmsg(rx->fd, &message, MSG_DONTWAIT | MSG_TRUNC);

		if (bytes == (ssize_t)(iov[0].iov_len + frame->tp_len) &&
				memcmp(iov[1].iov_base, bytes_of(frame), known) == 0)
			return true;
		if (bytes < 0 && errno == EAGAIN)
			return false;
	}
	return false;
}

// Removes from the socket's queue a frame of which the ring has only the beginning.
static void skip_rest(const struct packet_rx *rx, const struct tpacket2_hdr *frame)
{
	struct virtio_net_hdr vnet;
	uint8_t begin[SKIP_BYTES];
	struct iovec iov[] = {{&vnet, sizeof(vnet)}, {begin, sizeof(begin)}};

	if (frame->tp_status & TP_STATUS_COPY)
		take_whole(rx, frame, iov, RTE_DIM(iov));
}

// Reads the payloads of a frame from the socket's queue. Returns false if the frame is not there.
static bool receive_payloads(const struct packet_rx *rx, const struct tpacket2_hdr *frame,
		const struct hs_gso *gso, uint32_t n)
{
	struct virtio_net_hdr vnet;
	struct iovec iov[HS_GSO_MAX_PACKETS + 1];
	uint16_t tag = tag_bytes(frame);

	iov[0] = (struct iovec){&vnet, sizeof(vnet)};
	// The first packet's header comes with its payload, and is written anew later.
	iov[1] = (struct iovec){rte_pktmbuf_mtod_offset(rx->cut[0], void *, tag),
			gso->header + hs_gso_payload_of(gso, 0)};
	for (uint32_t i = 1; i < n; i++)
		iov[i + 1] = (struct iovec){
				rte_pktmbuf_mtod_offset(rx->cut[i], void *, tag + gso->header),
				hs_gso_payload_of(gso, i),
		};
	return take_whole(rx, frame, iov, n + 1);
}

static bool copy_payloads(struct packet_rx *rx, const struct tpacket2_hdr *frame,
		const struct hs_gso *gso, uint32_t n)
{
	const uint8_t *from = bytes_of(frame) + gso->header;
	uint16_t header = gso->header + tag_bytes(frame);

	if (frame->tp_status & TP_STATUS_COPY)
		return receive_payloads(rx, frame, gso, n);
	for (uint32_t i = 0; i < n; i++, from += gso->payload)
		memcpy(rte_pktmbuf_mtod_offset(rx->cut[i], void *, header), from,
				hs_gso_payload_of(gso, i));
	return true;
}

static void finish_packets(struct packet_rx *rx, const struct tpacket2_hdr *frame,
		const struct hs_gso *gso, uint32_t n)
{
	struct hs_gso tagged = *gso;

	tagged.l3 += tag_bytes(frame);
	tagged.l4 += tag_bytes(frame);
	tagged.header += tag_bytes(frame);
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = rx->cut[i];
		uint8_t *to = rte_pktmbuf_mtod(mbuf, uint8_t *);

		copy_head(to, frame, gso->header);
		hs_gso_finish_packet(&tagged, i, to);
		set_length(mbuf, tagged.header + (uint32_t)hs_gso_payload_of(&tagged, i));
		mbuf->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	}
	rx->cut_next = 0;
	rx->cut_n = (uint16_t)n;
}

// Returns whether the frame can be cut into packets of this port.
static bool read_frame(
		const struct packet_rx *rx, const struct tpacket2_hdr *frame, struct hs_gso *gso)
{
	if (!hs_gso_read(vnet_of(frame), bytes_of(frame), frame->tp_snaplen, frame->tp_len, gso))
		return false;
	uint32_t longest = gso->header + (uint32_t)hs_gso_payload_of(gso, 0);
	return longest - gso->l3 <= rx->mtu && longest + tag_bytes(frame) <= rx->room;
}

// Returns whether buffers for so many packets may come while the frame waits. The pool may never
// have them, because other ports keep buffers. A frame that has waited in vain is given up, and
// later ones do not wait.
static bool may_wait(struct packet_rx *rx, uint32_t packets)
{
	uint64_t now = rte_rdtsc();

	if (packets <= HS_BURST)
		return true;
	if (rx->too_many && packets >= rx->too_many)
		return false;
	if (!rx->waits_since)
		rx->waits_since = now;
	if (now - rx->waits_since < rte_get_tsc_hz() / 1000 * WAIT_MS)
		return true;
	rx->too_many = packets;
	return false;
}

static bool take_buffers(struct packet_rx *rx, uint32_t n)
{
	if (rte_pktmbuf_alloc_bulk(rx->pool, rx->cut, n))
		return false;
	rx->waits_since = 0;
	if (n >= rx->too_many)
		rx->too_many = 0;
	return true;
}

// Drops a frame. Returns true.
static bool give_up(
		struct packet_rx *rx, const struct tpacket2_hdr *frame, _Atomic uint64_t *counter)
{
	skip_rest(rx, frame);
	packet_count(counter, 1);
	rx->waits_since = 0;
	return true;
}

// Cuts a large frame into packets. Returns false, with nothing taken, if there are not enough
// buffers now.
static bool cut_frame(struct packet_rx *rx, const struct tpacket2_hdr *frame)
{
	struct hs_gso gso;

	if (!read_frame(rx, frame, &gso))
		return give_up(rx, frame, &rx->broken);
	uint32_t n = hs_gso_packets(&gso);
	if (n > rx->pool->size / 2)
		return give_up(rx, frame, &rx->no_room);
	if (!take_buffers(rx, n)) {
		packet_count(&rx->no_mbuf, 1);
		return may_wait(rx, n) ? false : give_up(rx, frame, &rx->no_room);
	}
	if (copy_payloads(rx, frame, &gso, n)) {
		finish_packets(rx, frame, &gso, n);
		return true;
	}
	rte_pktmbuf_free_bulk(rx->cut, n);
	packet_count(&rx->broken, 1);
	return true;
}

static uint16_t take_cut(struct packet_rx *rx, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t taken = RTE_MIN(n, (uint16_t)(rx->cut_n - rx->cut_next));

	memcpy(mbufs, &rx->cut[rx->cut_next], taken * sizeof(mbufs[0]));
	rx->cut_next += taken;
	return taken;
}

// ---- bursts ----

static inline bool is_large(const struct tpacket2_hdr *frame)
{
	return frame->tp_len > frame->tp_snaplen || vnet_of(frame)->gso_type;
}

// Takes a frame that is not one whole packet in the ring. Returns false if the frame must wait.
static bool take_large(struct packet_rx *rx, const struct tpacket2_hdr *frame)
{
	bool whole = frame->tp_len <= frame->tp_snaplen || frame->tp_status & TP_STATUS_COPY;

	if (whole)
		return cut_frame(rx, frame);
	packet_count(&rx->no_room, 1);
	return true;
}

uint16_t packet_rx_take(struct packet_rx *rx, struct rte_mbuf **mbufs, uint16_t n)
{
	struct rte_mbuf *mbuf = NULL;
	uint16_t taken = take_cut(rx, mbufs, n);

	while (taken < n) {
		struct tpacket2_hdr *frame = frame_at(rx, rx->next);

		if (!(__atomic_load_n(&frame->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			break;
		if (unlikely(is_outgoing(frame))) {
			skip_rest(rx, frame);
			next_frame(rx, frame);
			continue;
		}
		if (unlikely(is_large(frame))) {
			if (!take_large(rx, frame))
				break;
			next_frame(rx, frame);
			taken += take_cut(rx, &mbufs[taken], n - taken);
			continue;
		}
		if (!mbuf && !(mbuf = rte_pktmbuf_alloc(rx->pool))) {
			packet_count(&rx->no_mbuf, 1);
			break;
		}
		if (likely(copy_packet(rx, frame, mbuf))) {
			mbufs[taken++] = mbuf;
			mbuf = NULL;
		} else {
			packet_count(&rx->broken, 1);
		}
		next_frame(rx, frame);
	}
	rte_pktmbuf_free(mbuf);
	packet_count(&rx->packets, taken);
	return taken;
}

// ---- opening ----

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

int packet_rx_prepare(struct packet_rx *rx, struct rte_mempool *pool, uint16_t mtu)
{
	int bytes = QUEUE_BYTES;
	int ret = packet_set_option(rx->fd, PACKET_VERSION, TPACKET_V2);

	rx->pool = pool;
	rx->room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	rx->mtu = mtu;
	rx->cut_next = rx->cut_n = 0;
	if (ret == 0)
		ret = packet_set_option(rx->fd, PACKET_VNET_HDR, 1);
	if (ret == 0)
		ret = packet_set_option(rx->fd, PACKET_COPY_THRESH, 1);
	if (ret == 0 && setsockopt(rx->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		ret = setsockopt(rx->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) ? -errno : 0;
	return ret ? ret : map_ring(rx, mtu);
}

void packet_rx_close(struct packet_rx *rx)
{
	if (rx->cut_n)
		rte_pktmbuf_free_bulk(&rx->cut[rx->cut_next], rx->cut_n - rx->cut_next);
	rx->cut_next = rx->cut_n = 0;
	if (rx->ring)
		munmap(rx->ring, RING_BYTES);
	if (rx->fd >= 0)
		close(rx->fd);
}
