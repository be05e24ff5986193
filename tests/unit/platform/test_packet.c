// SPDX-License-Identifier: BSD-3-Clause
// Queues of packet sockets without a kernel: a ring in memory, and calls of the test's own.
#include "bytes.h"
#include "checksum.h"
#include "dpdk_env.h"
#include "packet_queue.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <linux/if_packet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define FAKE_FD	   12345
#define MTU	   1500
#define SLOTS	   8
#define SLOT_BYTES 2048
#define SEEN	   1514 // of a large frame in the ring
#define AT	   128	// of a frame in its slot
#define HEADER	   62	// Ethernet, IPv6, UDP
#define MAX_BYTES  (HEADER + 60000)
#define MBUFS	   511
#define ROOM	   (RTE_PKTMBUF_HEADROOM + MTU + 200)

// ---- the kernel ----

// What one call of recvmsg returns.
struct answer {
	struct virtio_net_hdr vnet;
	uint8_t frame[MAX_BYTES];
	size_t len;
	int error; // 0: a frame
};

static struct answer answers[SLOTS];
static unsigned n_answers, next_answer;
static alignas(4096) uint8_t ring[SLOTS * SLOT_BYTES];
static unsigned messages[64], n_messages; // of each sendmmsg: how many
static unsigned no_room;		  // so many next calls of sendmmsg drop their first message

static size_t copy_out(const struct answer *answer, const struct msghdr *message)
{
	size_t done = 0;

	memcpy(message->msg_iov[0].iov_base, &answer->vnet, sizeof(answer->vnet));
	for (size_t i = 1; i < message->msg_iovlen; i++) {
		size_t n = RTE_MIN(message->msg_iov[i].iov_len, answer->len - done);

		memcpy(message->msg_iov[i].iov_base, answer->frame + done, n);
		done += n;
	}
	return sizeof(answer->vnet) + answer->len; // MSG_TRUNC
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	if (fd != FAKE_FD)
		return syscall(SYS_recvmsg, fd, message, flags);
	assert_true(flags & MSG_TRUNC && flags & MSG_DONTWAIT);
	assert_int_equal(message->msg_iov[0].iov_len, sizeof(struct virtio_net_hdr));
	errno = next_answer == n_answers ? EAGAIN : answers[next_answer].error;
	if (errno == 0)
		return (ssize_t)copy_out(&answers[next_answer++], message);
	next_answer += errno != EAGAIN;
	return -1;
}

int sendmmsg(int fd, struct mmsghdr *vector, unsigned n, int flags)
{
	(void)vector, (void)flags;
	assert_int_equal(fd, FAKE_FD);
	messages[n_messages++] = n;
	if (no_room == 0)
		return (int)n;
	no_room--;
	errno = ENOBUFS;
	return -1;
}

// ---- the ring ----

static struct rte_mempool *pool;
static unsigned n_frames;

static struct packet_rx *open_rx(void)
{
	struct packet_rx *rx = aligned_alloc(alignof(struct packet_rx), sizeof(*rx));

	memset(rx, 0, sizeof(*rx));
	memset(ring, 0, sizeof(ring));
	n_frames = n_answers = next_answer = 0;
	rx->fd = FAKE_FD;
	rx->ring = ring;
	rx->frame_bytes = SLOT_BYTES;
	rx->frames = rx->frames_per_block = SLOTS;
	rx->pool = pool;
	rx->room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	rx->mtu = MTU;
	return rx;
}

static void close_rx(struct packet_rx *rx)
{
	assert_int_equal(rx->cut_next, rx->cut_n);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	free(rx);
}

static uint8_t byte_of(unsigned number, size_t i)
{
	return (uint8_t)(number * 37 + i * 7 + i / 256);
}

// All frames have the same header.
static void fill_frame(uint8_t *frame, unsigned number, size_t payload)
{
	memset(frame, 0, HEADER);
	frame[12] = 0x86, frame[13] = 0xdd;
	frame[14] = 0x60;
	hs_be16_store(frame + 18, (uint16_t)(8 + payload));
	frame[20] = 17, frame[21] = 64;
	hs_be16_store(frame + 58, (uint16_t)(8 + payload));
	for (size_t i = 0; i < payload; i++)
		frame[HEADER + i] = byte_of(number, i);
}

static void queue_error(int error)
{
	answers[n_answers++].error = error;
}

static struct answer *queue_frame(unsigned number, size_t payload)
{
	struct answer *answer = &answers[n_answers++];

	answer->error = 0;
	answer->len = HEADER + payload;
	answer->vnet = (struct virtio_net_hdr){0};
	fill_frame(answer->frame, number, payload);
	return answer;
}

// Puts a frame into the next place of the ring, with as much of it as has room.
static struct tpacket2_hdr *put_frame(unsigned number, size_t payload, uint16_t each)
{
	static uint8_t frame[MAX_BYTES];
	uint8_t *slot = ring + n_frames++ % SLOTS * SLOT_BYTES;
	struct tpacket2_hdr *head = (struct tpacket2_hdr *)slot;
	struct virtio_net_hdr vnet = {
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			.gso_type = each ? VIRTIO_NET_HDR_GSO_UDP_L4 : VIRTIO_NET_HDR_GSO_NONE,
			.gso_size = each,
			.csum_start = 54,
			.csum_offset = 6,
	};

	fill_frame(frame, number, payload);
	head->tp_len = (uint32_t)(HEADER + payload);
	head->tp_snaplen = RTE_MIN(head->tp_len, (uint32_t)SEEN);
	head->tp_mac = AT;
	memcpy(slot + AT - sizeof(vnet), &vnet, sizeof(vnet));
	memcpy(slot + AT, frame, head->tp_snaplen);
	head->tp_status = TP_STATUS_USER | (head->tp_len > SEEN ? TP_STATUS_COPY : 0);
	return head;
}

static void put_large(unsigned number, size_t payload, uint16_t each)
{
	put_frame(number, payload, each);
	queue_frame(number, payload);
}

// Takes packets until `payload` bytes have come and checks that they are those of the frame.
static void expect_frame(struct packet_rx *rx, unsigned number, size_t payload)
{
	size_t got = 0;

	while (got < payload) {
		struct rte_mbuf *mbufs[1];

		assert_int_equal(packet_rx_take(rx, mbufs, 1), 1);
		const uint8_t *bytes = rte_pktmbuf_mtod(mbufs[0], uint8_t *);
		size_t n = mbufs[0]->data_len - HEADER;
		for (size_t i = 0; i < n; i++)
			assert_int_equal(bytes[HEADER + i], byte_of(number, got + i));
		got += n;
		rte_pktmbuf_free(mbufs[0]);
	}
	assert_int_equal(got, payload);
}

static void expect_nothing(struct packet_rx *rx)
{
	struct rte_mbuf *mbuf;

	assert_int_equal(packet_rx_take(rx, &mbuf, 1), 0);
}

// ---- receiving ----

static void an_interface_that_went_down_shifts_no_payload(void **state)
{
	struct packet_rx *rx = open_rx();

	(void)state;
	queue_error(ENETDOWN);
	put_large(1, 9000, 1000);
	put_large(2, 9000, 1000);
	queue_error(ENETDOWN);
	put_large(3, 9000, 1000);
	for (unsigned number = 1; number <= 3; number++)
		expect_frame(rx, number, 9000);
	expect_nothing(rx);
	assert_int_equal(rx->broken, 0);
	close_rx(rx);
}

static void an_interface_that_went_down_shifts_no_frame_behind_a_refused_one(void **state)
{
	struct packet_rx *rx = open_rx();

	(void)state;
	queue_error(ENETDOWN);
	put_large(1, 9000, 0); // not to be cut
	put_large(2, 9000, 1000);
	expect_frame(rx, 2, 9000);
	expect_nothing(rx);
	assert_int_equal(rx->broken, 1);
	close_rx(rx);
}

// The frames have the same lengths and headers.
static void a_frame_that_the_ring_does_not_have_is_discarded(void **state)
{
	struct packet_rx *rx = open_rx();

	(void)state;
	queue_frame(8, 9000);
	queue_frame(9, 9000);
	put_large(1, 9000, 1000);
	queue_frame(7, 8000);
	put_large(2, 9000, 0);
	put_large(3, 9000, 1000);
	expect_frame(rx, 1, 9000);
	expect_frame(rx, 3, 9000);
	assert_int_equal(rx->broken, 1);
	close_rx(rx);
}

static void a_frame_that_never_comes_is_counted_and_ends(void **state)
{
	struct packet_rx *rx = open_rx();

	(void)state;
	put_frame(1, 9000, 1000); // nothing in the queue
	expect_nothing(rx);
	assert_int_equal(rx->broken, 1);
	put_frame(2, 9000, 1000);
	for (unsigned i = 0; i < SLOTS; i++) // errors without end
		queue_error(ENODEV);
	expect_nothing(rx);
	assert_int_equal(rx->broken, 2);
	n_answers = next_answer = 0;
	put_large(3, 9000, 1000);
	expect_frame(rx, 3, 9000);
	close_rx(rx);
}

static void packets_above_the_mtu_are_no_packets_of_the_port(void **state)
{
	struct packet_rx *rx = open_rx();

	(void)state;
	put_large(1, 4000, MTU - 48);
	put_large(2, 4000, MTU - 48 + 1);
	put_frame(3, 400, 300);
	put_frame(4, 400, MTU); // one packet, shorter than it might be
	expect_frame(rx, 1, 4000);
	expect_frame(rx, 3, 400);
	expect_frame(rx, 4, 400);
	assert_int_equal(rx->broken, 1);
	close_rx(rx);
}

static void put_outgoing(struct tpacket2_hdr *head)
{
	struct sockaddr_ll *address =
			(struct sockaddr_ll *)((uint8_t *)head + TPACKET_ALIGN(sizeof(*head)));

	address->sll_pkttype = PACKET_OUTGOING;
}

static void what_leaves_by_the_interface_does_not_come_in(void **state)
{
	struct packet_rx *rx = open_rx();

	(void)state;
	put_outgoing(put_frame(1, 400, 0));
	put_outgoing(put_frame(2, 9000, 1000));
	queue_frame(2, 9000);
	put_frame(3, 400, 0);
	put_large(4, 9000, 1000);
	expect_frame(rx, 3, 400);
	expect_frame(rx, 4, 9000);
	expect_nothing(rx);
	assert_int_equal(next_answer, 2);
	assert_int_equal(rx->broken + rx->no_room, 0);
	close_rx(rx);
}

static void a_frame_that_gets_no_buffers_lets_others_pass(void **state)
{
	struct rte_mbuf *held[MBUFS - 100];
	struct packet_rx *rx = open_rx();

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, held, RTE_DIM(held)), 0);
	put_large(1, 20000, 100);
	put_frame(2, 400, 0);
	time_t limit = time(NULL) + 10;
	expect_nothing(rx); // the frame waits for a short time
	while (rx->no_room == 0 && time(NULL) < limit) {
		struct tpacket2_hdr *second = (struct tpacket2_hdr *)(ring + SLOT_BYTES);
		second->tp_status = TP_STATUS_KERNEL;
		expect_nothing(rx);
		second->tp_status = TP_STATUS_USER;
	}
	expect_frame(rx, 2, 400);
	put_large(3, 20000, 100); // this one does not wait
	put_frame(4, 400, 0);
	expect_frame(rx, 4, 400);
	assert_int_equal(rx->no_room, 2);
	put_large(5, 9000, 100); // there are enough for this one
	expect_frame(rx, 5, 9000);
	rte_pktmbuf_free_bulk(held, RTE_DIM(held));
	put_large(6, 20000, 100);
	expect_frame(rx, 6, 20000);
	put_large(7, 60000, 100); // more than the pool gives to one port
	put_frame(8, 400, 0);
	expect_frame(rx, 8, 400);
	assert_int_equal(rx->no_room, 3);
	assert_int_equal(rx->broken, 0);
	close_rx(rx);
}

// ---- sending ----

static struct rte_mbuf *tcp_packet(uint16_t i, uint16_t payload)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint8_t *at = (uint8_t *)rte_pktmbuf_append(mbuf, 54 + payload);

	memset(at, 0, 54 + payload);
	at[12] = 0x08;
	at[14] = 0x45, at[23] = 6;
	hs_be16_store(at + 16, 40 + payload);
	hs_be16_store(at + 18, i);
	uint16_t sum = (uint16_t)~hs_checksum_fold(hs_checksum_add(0, at + 14, 20));
	memcpy(at + 24, &sum, sizeof(sum));
	hs_be32_store(at + 38, (uint32_t)i * payload);
	at[46] = 0x50, at[47] = 0x10;
	mbuf->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	return mbuf;
}

static void a_frame_that_the_kernel_cuts_has_four_packets_or_more(void **state)
{
	static const struct {
		enum port_joins joins;
		uint16_t packets, wrong; // wrong: has no right checksum; as many as packets: none
		unsigned messages;
	} cases[] = {
			{PORT_JOINS_FOR_INTERFACE, 2, 2, 1},
			{PORT_JOINS_FOR_KERNEL, 3, 3, 3},
			{PORT_JOINS_FOR_KERNEL, 4, 4, 1},
			{PORT_JOINS_FOR_KERNEL, 9, 4, 3},
			{PORT_JOINS_FOR_KERNEL, 8, 3, 5},
			{PORT_JOINS_FOR_KERNEL, 5, 0, 2},
	};
	struct packet_tx *tx = aligned_alloc(alignof(struct packet_tx), sizeof(*tx));

	(void)state;
	for (size_t c = 0; c < RTE_DIM(cases); c++) {
		struct port_private p = {.join_bytes = 65536, .max_frame = MTU + 14};
		struct rte_mbuf *mbufs[9];
		uint16_t n = cases[c].packets;

		p.joins = cases[c].joins;
		memset(tx, 0, sizeof(*tx));
		tx->fd = FAKE_FD;
		n_messages = 0;
		for (uint16_t i = 0; i < n; i++) {
			mbufs[i] = tcp_packet(i, 1000);
			if (i == cases[c].wrong)
				mbufs[i]->ol_flags = 0;
		}
		assert_int_equal(packet_tx_send(tx, &p, mbufs, n, false), n);
		assert_int_equal(messages[0], cases[c].messages);
		assert_int_equal(tx->packets, n);
	}
	free(tx);
}

static void packets_above_the_mtu_of_the_interface_are_not_joined(void **state)
{
	static const struct {
		uint16_t payload;
		unsigned messages;
	} cases[] = {{1460, 1}, {1461, 4}};
	struct port_private p = {
			.joins = PORT_JOINS_FOR_INTERFACE,
			.join_bytes = 65536,
			.max_frame = MTU + 14,
	};
	struct packet_tx *tx = aligned_alloc(alignof(struct packet_tx), sizeof(*tx));

	(void)state;
	for (size_t c = 0; c < RTE_DIM(cases); c++) {
		struct rte_mbuf *mbufs[4];

		memset(tx, 0, sizeof(*tx));
		tx->fd = FAKE_FD;
		n_messages = 0;
		for (uint16_t i = 0; i < RTE_DIM(mbufs); i++)
			mbufs[i] = tcp_packet(i, cases[c].payload);
		assert_int_equal(packet_tx_send(tx, &p, mbufs, RTE_DIM(mbufs), false),
				RTE_DIM(mbufs));
		assert_int_equal(n_messages, 1);
		assert_int_equal(messages[0], cases[c].messages);
		assert_int_equal(tx->packets, RTE_DIM(mbufs));
		assert_int_equal(tx->frames, cases[c].messages);
	}
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	free(tx);
}

// Sends four packets of TCP, which may be one frame, while the kernel has no room for one message.
static void send_without_room(struct packet_tx *tx, enum port_joins joins)
{
	struct port_private p = {
			.joins = joins,
			.join_bytes = 65536,
			.max_frame = MTU + 14,
			.link_up = true,
	};
	struct rte_mbuf *mbufs[4];

	for (uint16_t i = 0; i < RTE_DIM(mbufs); i++)
		mbufs[i] = tcp_packet(i, 1000);
	memset(tx, 0, sizeof(*tx));
	tx->fd = FAKE_FD;
	n_messages = 0;
	no_room = 1;
	assert_int_equal(packet_tx_send(tx, &p, mbufs, RTE_DIM(mbufs), false), RTE_DIM(mbufs));
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void drops_of_a_frame_that_the_kernel_cuts_are_those_of_the_interface(void **state)
{
	static const struct {
		enum port_joins joins;
		unsigned messages, packets, frames, dropped, dropped_frames;
	} cases[] = {
			{PORT_JOINS_FOR_INTERFACE, 1, 0, 0, 4, 1},
			{PORT_JOINS_FOR_KERNEL, 1, 4, 4, 0, 0},
			{PORT_JOINS_NOTHING, 4, 3, 3, 1, 1},
	};
	struct packet_tx *tx = aligned_alloc(alignof(struct packet_tx), sizeof(*tx));

	(void)state;
	for (size_t c = 0; c < RTE_DIM(cases); c++) {
		send_without_room(tx, cases[c].joins);
		assert_int_equal(messages[0], cases[c].messages);
		assert_int_equal(tx->packets, cases[c].packets);
		assert_int_equal(tx->frames, cases[c].frames);
		assert_int_equal(tx->dropped, cases[c].dropped);
		assert_int_equal(tx->dropped_frames, cases[c].dropped_frames);
		assert_int_equal(tx->refused, 0);
	}
	free(tx);
}

static void a_hidden_drop_counts_the_packets_of_its_frame(void **state)
{
	struct packet_sent sent = {.packets = 1000, .frames = 100, .given_back = 3};
	struct packet_hidden hidden = {0};

	(void)state;
	assert_int_equal(packet_tx_hidden(&hidden, &sent, 3), 0);
	assert_int_equal(packet_tx_hidden(&hidden, &sent, 5), 0);  // perhaps soon reported
	assert_int_equal(packet_tx_hidden(&hidden, &sent, 5), 20); // two frames of ten packets
	sent.packets += 100, sent.frames += 100;
	assert_int_equal(packet_tx_hidden(&hidden, &sent, 5), 20);
	packet_tx_hidden(&hidden, &sent, 7);
	assert_int_equal(packet_tx_hidden(&hidden, &sent, 7), 31);
	sent.dropped_frames = 2; // sends report drops
	packet_tx_hidden(&hidden, &sent, 9);
	assert_int_equal(packet_tx_hidden(&hidden, &sent, 9), 31);
	hidden = (struct packet_hidden){0};
	sent = (struct packet_sent){.packets = 5, .frames = 5};
	packet_tx_hidden(&hidden, &sent, 2);
	assert_int_equal(packet_tx_hidden(&hidden, &sent, 2), 2); // a packet is a frame
	hidden = (struct packet_hidden){0};
	sent = (struct packet_sent){0}; // others use the interface
	packet_tx_hidden(&hidden, &sent, 2);
	assert_int_equal(packet_tx_hidden(&hidden, &sent, 2), 2);
}

static int start(void **state)
{
	(void)state;
	dpdk_env_init("64");
	pool = rte_pktmbuf_pool_create("pool", MBUFS, 0, 0, ROOM, 0);
	return pool ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_interface_that_went_down_shifts_no_payload),
			cmocka_unit_test(
					an_interface_that_went_down_shifts_no_frame_behind_a_refused_one),
			cmocka_unit_test(a_frame_that_the_ring_does_not_have_is_discarded),
			cmocka_unit_test(a_frame_that_never_comes_is_counted_and_ends),
			cmocka_unit_test(packets_above_the_mtu_are_no_packets_of_the_port),
			cmocka_unit_test(what_leaves_by_the_interface_does_not_come_in),
			cmocka_unit_test(a_frame_that_gets_no_buffers_lets_others_pass),
			cmocka_unit_test(a_frame_that_the_kernel_cuts_has_four_packets_or_more),
			cmocka_unit_test(packets_above_the_mtu_of_the_interface_are_not_joined),
			cmocka_unit_test(
					drops_of_a_frame_that_the_kernel_cuts_are_those_of_the_interface),
			cmocka_unit_test(a_hidden_drop_counts_the_packets_of_its_frame),
	};
	return cmocka_run_group_tests_name("packet", tests, start, NULL);
}
