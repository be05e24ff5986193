// SPDX-License-Identifier: BSD-3-Clause
// Sending by packet sockets: a burst in one call.
#include "packet_queue.h"

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_IOV (HS_BURST * 6)
// Cutting a frame costs the kernel as much as it saves if the frame has three packets.
#define LEAST_TO_CUT 4

// The headers in front of a frame's payload.
struct head {
	struct virtio_net_hdr vnet;
	uint8_t header[HS_JOIN_HEADER_MAX];
};

struct batch {
	struct mmsghdr messages[HS_BURST];
	uint16_t packets[HS_BURST]; // of each message
	struct head heads[HS_BURST];
	struct iovec iov[MAX_IOV];
	unsigned n, n_iov;
};

static const struct virtio_net_hdr plain; // a packet as it is

// ---- messages ----

static void add_iov(struct batch *batch, void *bytes, size_t n)
{
	batch->iov[batch->n_iov++] = (struct iovec){.iov_base = bytes, .iov_len = n};
}

static void add_packet(struct batch *batch, struct rte_mbuf *mbuf)
{
	add_iov(batch, (void *)&plain, sizeof(plain));
	for (; mbuf; mbuf = mbuf->next)
		add_iov(batch, rte_pktmbuf_mtod(mbuf, void *), mbuf->data_len);
	batch->packets[batch->n] = 1;
}

static const uint8_t *bytes_of(const struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_mtod(mbuf, const uint8_t *);
}

// Returns whether a packet may be joined. A frame gets a new TCP checksum, which must not repair a
// broken one.
static bool may_join(const struct rte_mbuf *mbuf)
{
	return mbuf->nb_segs == 1 &&
	       (mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_GOOD ||
			       hs_join_verify(bytes_of(mbuf), mbuf->data_len));
}

// Returns how many packets from the first on follow each other.
static uint16_t add_packets(
		struct hs_join *join, struct rte_mbuf **mbufs, uint16_t n, uint32_t max_bytes)
{
	uint16_t i = 1;

	if (!hs_join_begin(join, bytes_of(mbufs[0]), mbufs[0]->data_len))
		return 1;
	while (i < n && hs_join_add(join, bytes_of(mbufs[i]), mbufs[i]->data_len, max_bytes))
		i++;
	return i;
}

static uint16_t count_right(struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t i = 0;

	while (i < n && may_join(mbufs[i]))
		i++;
	return i;
}

// Returns how many packets from the first on form one frame. No packet is longer than the first.
// The kernel does not compare the packets of a frame with the interface's MTU. A packet that is too
// long goes alone, so that the kernel refuses the packet.
static uint16_t join(struct hs_join *join, const struct port_private *p, struct rte_mbuf **mbufs,
		uint16_t n)
{
	enum port_joins joins = atomic_load_explicit(&p->joins, memory_order_relaxed);
	uint32_t max_bytes = atomic_load_explicit(&p->join_bytes, memory_order_relaxed);
	uint32_t max_packet = atomic_load_explicit(&p->max_frame, memory_order_relaxed);
	uint16_t least = joins == PORT_JOINS_FOR_KERNEL ? LEAST_TO_CUT : 2;

	if (n < least || joins == PORT_JOINS_NOTHING || mbufs[0]->data_len > max_packet)
		return 1;
	n = add_packets(join, mbufs, n, max_bytes);
	if (n < least)
		return 1;
	// Checksums are verified last: most packets that cannot follow need no verification.
	uint16_t right = count_right(mbufs, n);
	if (right < n)
		add_packets(join, mbufs, right, max_bytes);
	return right < least ? 1 : right;
}

static void add_frame(struct batch *batch, const struct hs_join *join, struct rte_mbuf **mbufs)
{
	struct head *head = &batch->heads[batch->n];

	hs_join_finish(join, &head->vnet, head->header);
	add_iov(batch, head, sizeof(head->vnet) + join->header);
	for (uint16_t i = 0; i < join->n; i++)
		add_iov(batch, rte_pktmbuf_mtod_offset(mbufs[i], void *, join->header),
				mbufs[i]->data_len - join->header);
	batch->packets[batch->n] = join->n;
}

// Adds the first packets as one message. Returns the number of packets, or 0 if no room is left.
static uint16_t add_message(struct batch *batch, struct rte_mbuf **mbufs, uint16_t n,
		const struct port_private *p)
{
	struct msghdr *message = &batch->messages[batch->n].msg_hdr;
	unsigned from = batch->n_iov;
	struct hs_join joined;
	uint16_t taken = join(&joined, p, mbufs, n);

	if (batch->n == HS_BURST || from + 1u + RTE_MAX(taken, mbufs[0]->nb_segs) > MAX_IOV)
		return 0;
	if (taken > 1)
		add_frame(batch, &joined, mbufs);
	else
		add_packet(batch, mbufs[0]);
	*message = (struct msghdr){
			.msg_iov = &batch->iov[from],
			.msg_iovlen = batch->n_iov - from,
	};
	batch->n++;
	return taken;
}

// ---- sending ----

static bool kernel_cuts(const struct port_private *p)
{
	return atomic_load_explicit(&p->joins, memory_order_relaxed) == PORT_JOINS_FOR_KERNEL;
}

static void count_sent(struct packet_tx *tx, const struct port_private *p, int packets, int frames)
{
	packet_count(&tx->packets, (uint64_t)packets);
	packet_count(&tx->frames, (uint64_t)(kernel_cuts(p) ? packets : frames));
}

// Counts a message that is taken and lost, because it is too long for the interface, or because the
// interface's queue or peer had no room. Only some packets of a frame that the kernel cuts may be
// lost: the interface counts them.
static void count_lost(
		struct packet_tx *tx, const struct port_private *p, uint16_t packets, int error)
{
	if (error != -ENOBUFS) {
		packet_count(&tx->refused, packets);
	} else if (kernel_cuts(p)) {
		count_sent(tx, p, packets, 1);
	} else {
		packet_count(&tx->dropped, packets);
		packet_count(&tx->dropped_frames, 1);
	}
}

// Sends as many packets as the kernel takes at once. Returns their number, or -errno of the first
// message, which has *first packets.
static int send_batch(struct packet_tx *tx, const struct port_private *p, struct rte_mbuf **mbufs,
		uint16_t n, uint16_t *first)
{
	struct batch batch; // not cleared: only added members are read
	uint16_t added = 0, more = 1;
	int sent, packets = 0;

	batch.n = batch.n_iov = 0;
	while (added < n && (more = add_message(&batch, &mbufs[added], n - added, p)))
		added += more;
	*first = 1;
	if (batch.n == 0)
		return -EMSGSIZE; // a chain longer than any batch
	*first = batch.packets[0];
	sent = sendmmsg(tx->fd, batch.messages, batch.n, MSG_DONTWAIT);
	if (sent < 0)
		return -errno;
	for (int i = 0; i < sent; i++)
		packets += batch.packets[i];
	count_sent(tx, p, packets, sent);
	return packets;
}

// Returns whether the error means "not now" rather than "not this packet".
static bool is_for_all(int error)
{
	return error == -EAGAIN || error == -ENETDOWN || error == -ENXIO || error == -ENODEV ||
	       error == -EINTR;
}

static uint16_t send_all(struct packet_tx *tx, const struct port_private *p,
		struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t done = 0, first;

	while (done < n) {
		int sent = send_batch(tx, p, &mbufs[done], n - done, &first);

		if (sent <= 0 && is_for_all(sent))
			break;
		if (sent == -ENOBUFS && !p->link_up) {
			packet_count(&tx->given_back, 1);
			break;
		}
		if (sent <= 0) {
			count_lost(tx, p, first, sent);
			sent = first;
		}
		rte_pktmbuf_free_bulk(&mbufs[done], (unsigned)sent);
		done += (uint16_t)sent;
	}
	return done;
}

// ---- keeping ----

// Returns how many of the last packets form a frame to which a later packet may be added. A packet
// that joins no other mostly has telemetry, whose timestamps say when it leaves.
static uint16_t count_open(const struct port_private *p, struct rte_mbuf **mbufs, uint16_t n)
{
	uint32_t max_bytes = atomic_load_explicit(&p->join_bytes, memory_order_relaxed);
	uint16_t taken = 0;
	struct hs_join join = {.ended = true};

	if (atomic_load_explicit(&p->joins, memory_order_relaxed) == PORT_JOINS_NOTHING)
		return 0;
	for (uint16_t at = 0; at < n; at += taken) {
		join.ended = true; // stays if no packet can follow
		taken = add_packets(&join, &mbufs[at], n - at, max_bytes);
	}
	if (join.ended || join.bytes + join.payload > max_bytes)
		return 0;
	return taken > 1 && taken <= PACKET_KEPT_MAX ? taken : 0;
}

// Drops and counts the packets that were kept, from this one on: their senders cannot take them
// back.
static void lose_kept(struct packet_tx *tx, uint16_t from)
{
	if (from >= tx->n_kept)
		return;
	packet_count(&tx->refused, tx->n_kept - from);
	rte_pktmbuf_free_bulk(&tx->kept[from], tx->n_kept - from);
}

// Returns how many of the last packets to keep. One flow may have few of many bursts' packets: its
// frame does not wait until it is full.
static uint16_t count_to_keep(struct packet_tx *tx, const struct port_private *p,
		struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t kept = count_open(p, mbufs, n);

	tx->keeps = tx->n_kept && kept == n ? tx->keeps + 1 : 0;
	return tx->keeps < PACKET_KEEPS_MAX ? kept : 0;
}

static uint16_t send_with_kept(struct packet_tx *tx, const struct port_private *p,
		struct rte_mbuf **mbufs, uint16_t n, bool keep)
{
	struct rte_mbuf *all[PACKET_KEPT_MAX + HS_BURST];
	uint16_t before = tx->n_kept, total = before + n;

	memcpy(all, tx->kept, before * sizeof(all[0]));
	if (n)
		memcpy(&all[before], mbufs, n * sizeof(all[0]));
	uint16_t kept = keep ? count_to_keep(tx, p, all, total) : 0, end = total - kept;
	uint16_t sent = send_all(tx, p, all, end);
	if (sent < end) {
		lose_kept(tx, sent);
		tx->n_kept = 0;
		return sent > before ? sent - before : 0;
	}
	memcpy(tx->kept, &all[end], kept * sizeof(all[0]));
	tx->n_kept = kept;
	return n;
}

uint16_t packet_tx_send(struct packet_tx *tx, const struct port_private *p, struct rte_mbuf **mbufs,
		uint16_t n, bool keep)
{
	if (likely(!keep && !tx->n_kept))
		return send_all(tx, p, mbufs, n);
	return send_with_kept(tx, p, mbufs, n, keep);
}

void packet_tx_close(struct packet_tx *tx)
{
	rte_pktmbuf_free_bulk(tx->kept, tx->n_kept);
	tx->n_kept = 0;
	if (tx->fd >= 0)
		close(tx->fd);
}

// ---- counters ----

// Returns the packets that were dropped unreported. A veth of older kernels reports frames as sent
// though its peer had no room for them, and only counts them as dropped. A recent drop may not have
// been reported yet, so that a surplus over the reported drops counts only after it has lasted.
// Which frames were dropped is not known: each counts as many packets as the frames have on
// average, which is one where the kernel cuts them.
uint64_t packet_tx_hidden(
		struct packet_hidden *hidden, const struct packet_sent *sent, uint64_t dropped)
{
	uint64_t reported = sent->given_back + sent->dropped_frames;
	uint64_t surplus = dropped > reported ? dropped - reported : 0;
	uint64_t lasted = RTE_MIN(surplus, hidden->surplus);

	hidden->surplus = surplus;
	if (lasted <= hidden->frames)
		return hidden->packets;
	uint64_t more = lasted - hidden->frames;
	hidden->frames = lasted;
	hidden->packets += sent->frames ? (more * sent->packets + sent->frames / 2) / sent->frames
					: more;
	return hidden->packets;
}
