// SPDX-License-Identifier: BSD-3-Clause
// Packets that a packet socket keeps for those that follow, without a kernel: what a call of
// sendmmsg gets is cut into packets again and compared with what was given.
#include "bytes.h"
#include "checksum.h"
#include "dpdk_env.h"
#include "packet_queue.h"
#include "port_watch.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cmocka.h>

#define FAKE_FD	    12345
#define MTU	    1500
#define HEADER	    54 // Ethernet, IPv4, TCP
#define PAYLOAD	    1400
#define MAX_PACKETS 256
#define FRAME_MAX   70000
#define ROOM	    (RTE_PKTMBUF_HEADROOM + MTU + 200)

// ---- the kernel ----

static uint8_t wire[MAX_PACKETS][MTU + 14]; // what left, as packets
static size_t wire_bytes[MAX_PACKETS];
static unsigned n_wire, n_frames;
static int refuses; // errno of each call; 0: none

static void put_on_wire(const uint8_t *bytes, size_t n)
{
	assert_true(n_wire < MAX_PACKETS && n <= sizeof(wire[0]));
	memcpy(wire[n_wire], bytes, n);
	wire_bytes[n_wire++] = n;
}

// Cuts a frame as an interface does.
static void cut(const struct virtio_net_hdr *vnet, const uint8_t *frame, size_t len)
{
	struct hs_gso gso;
	uint8_t packet[MTU + 14];

	if (!vnet->gso_type) {
		put_on_wire(frame, len);
		return;
	}
	assert_true(hs_gso_read(vnet, frame, len, len, &gso));
	for (uint32_t i = 0; i < hs_gso_packets(&gso); i++) {
		size_t n = hs_gso_payload_of(&gso, i);
		memcpy(packet, frame, gso.header);
		memcpy(packet + gso.header, frame + gso.header + (size_t)i * gso.payload, n);
		hs_gso_finish_packet(&gso, i, packet);
		put_on_wire(packet, gso.header + n);
	}
}

static void take_message(const struct msghdr *message)
{
	static uint8_t bytes[FRAME_MAX];
	struct virtio_net_hdr vnet;
	size_t n = 0;

	for (size_t i = 0; i < message->msg_iovlen; i++) {
		assert_true(n + message->msg_iov[i].iov_len <= sizeof(bytes));
		memcpy(bytes + n, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
		n += message->msg_iov[i].iov_len;
	}
	memcpy(&vnet, bytes, sizeof(vnet));
	cut(&vnet, bytes + sizeof(vnet), n - sizeof(vnet));
	n_frames++;
}

int sendmmsg(int fd, struct mmsghdr *vector, unsigned n, int flags)
{
	(void)flags;
	assert_int_equal(fd, FAKE_FD);
	errno = refuses;
	if (refuses)
		return -1;
	for (unsigned i = 0; i < n; i++)
		take_message(&vector[i].msg_hdr);
	return (int)n;
}

// ---- packets ----

static struct rte_mempool *pool;
static struct packet_tx *tx;
static uint8_t given[MAX_PACKETS][MTU + 14];
static unsigned n_given;
static uint32_t sequence_more; // than a flow without gaps has
static struct port_private port;

static void make_tcp(uint8_t *at, uint16_t i, uint8_t flags)
{
	memset(at, 0, HEADER);
	at[12] = 0x08;
	at[14] = 0x45, at[22] = 64, at[23] = 6;
	hs_be16_store(at + 16, HEADER - 14 + PAYLOAD);
	hs_be16_store(at + 18, i);
	uint16_t sum = (uint16_t)~hs_checksum_fold(hs_checksum_add(0, at + 14, 20));
	memcpy(at + 24, &sum, sizeof(sum));
	hs_be32_store(at + 38, (uint32_t)i * PAYLOAD + sequence_more);
	at[46] = 0x50, at[47] = flags;
	for (size_t k = 0; k < PAYLOAD; k++)
		at[HEADER + k] = (uint8_t)(i * 31 + k * 7 + k / 251);
	const uint8_t pseudo[4] = {0, 6, (20 + PAYLOAD) >> 8, (20 + PAYLOAD) & 255};
	uint64_t add = hs_checksum_add(hs_checksum_add(0, at + 26, 8), pseudo, 4);
	sum = (uint16_t)~hs_checksum_fold(hs_checksum_add(add, at + 34, 20 + PAYLOAD));
	memcpy(at + 50, &sum, sizeof(sum));
}

// The next packet of the flow, with these flags of TCP.
static struct rte_mbuf *next_packet(uint8_t flags)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint8_t *at = (uint8_t *)rte_pktmbuf_append(mbuf, HEADER + PAYLOAD);

	assert_true(n_given < MAX_PACKETS);
	make_tcp(at, (uint16_t)n_given, flags);
	memcpy(given[n_given++], at, HEADER + PAYLOAD);
	return mbuf;
}

#define ACK 0x10
#define PSH 0x08

// Gives a burst of packets to the socket. Returns how many it takes; the rest is freed.
static unsigned give(unsigned n, bool keep, uint8_t last_flags)
{
	struct rte_mbuf *mbufs[HS_BURST];

	for (unsigned i = 0; i < n; i++)
		mbufs[i] = next_packet(i + 1 == n ? last_flags : ACK);
	unsigned taken = packet_tx_send(tx, &port, mbufs, (uint16_t)n, keep);
	rte_pktmbuf_free_bulk(mbufs + taken, n - taken);
	return taken;
}

static void flush(void)
{
	assert_int_equal(packet_tx_send(tx, &port, NULL, 0, false), 0);
}

static void expect_on_wire(unsigned n)
{
	assert_int_equal(n_wire, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(wire_bytes[i], HEADER + PAYLOAD);
		assert_memory_equal(wire[i], given[i], HEADER + PAYLOAD);
	}
}

static void expect_all_sent(void)
{
	expect_on_wire(n_given);
	assert_int_equal(tx->packets, n_given);
	assert_int_equal(tx->frames, n_frames);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static int begin(void **state)
{
	(void)state;
	memset(tx, 0, sizeof(*tx));
	tx->fd = FAKE_FD;
	n_wire = n_frames = n_given = sequence_more = 0;
	refuses = 0;
	port = (struct port_private){
			.joins = PORT_JOINS_FOR_INTERFACE,
			.join_bytes = 65536,
			.max_frame = MTU + 14,
			.link_up = true,
	};
	return 0;
}

// ---- tests ----

static void packets_of_several_bursts_leave_as_one_frame(void **state)
{
	(void)state;
	assert_int_equal(give(20, true, ACK), 20);
	assert_int_equal(n_wire, 0);
	assert_int_equal(give(20, true, ACK), 20);
	assert_int_equal(give(5, false, ACK), 5);
	assert_int_equal(n_frames, 1);
	expect_all_sent();
}

static void nothing_is_kept_behind_what_ends_a_frame(void **state)
{
	(void)state;
	assert_int_equal(give(20, true, ACK | PSH), 20);
	assert_int_equal(n_frames, 1);
	assert_int_equal(give(1, true, ACK | PSH), 1);
	assert_int_equal(n_frames, 2);
	expect_all_sent();
}

// 46 packets of this size have 64 KiB.
static void a_frame_that_is_full_leaves(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(give(16, true, ACK), 16);
	assert_int_equal(n_frames, 2);
	expect_on_wire(92);
	flush();
	assert_int_equal(n_frames, 3);
	expect_all_sent();
	give(23, true, ACK);
	give(23, true, ACK); // no packet more has room
	assert_int_equal(n_frames, 4);
	expect_all_sent();
}

static void what_is_kept_goes_before_a_packet_that_does_not_follow(void **state)
{
	(void)state;
	give(7, true, ACK);
	n_given++; // one is missing
	given[7][0] = 0;
	unsigned gap = n_given - 1;
	give(3, false, ACK);
	assert_int_equal(n_frames, 2);
	memmove(given[gap], given[gap + 1], 3 * sizeof(given[0]));
	n_given--;
	expect_all_sent();
}

// A packet with telemetry never fits its neighbours. Its timestamps say when it leaves.
static void a_packet_that_joins_nothing_is_not_kept(void **state)
{
	(void)state;
	assert_int_equal(give(1, true, ACK), 1);
	assert_int_equal(n_frames, 1);
	assert_int_equal(give(7, true, ACK), 7);
	assert_int_equal(n_frames, 1);
	sequence_more += PAYLOAD / 2;
	assert_int_equal(give(1, true, ACK), 1);
	assert_int_equal(n_frames, 3);
	expect_all_sent();
}

static void nothing_is_kept_where_nothing_is_joined(void **state)
{
	(void)state;
	port.joins = PORT_JOINS_NOTHING;
	assert_int_equal(give(5, true, ACK), 5);
	expect_all_sent();
}

static void what_is_kept_and_cannot_be_sent_is_counted(void **state)
{
	(void)state;
	assert_int_equal(give(6, true, ACK), 6);
	refuses = EAGAIN;
	assert_int_equal(give(4, true, ACK | PSH), 0); // the caller still has these
	assert_int_equal(tx->refused, 6);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	assert_int_equal(n_wire, 0);
	refuses = 0;
	flush();
	assert_int_equal(n_wire, 0);
}

static void closing_frees_what_is_kept(void **state)
{
	(void)state;
	give(6, true, ACK);
	assert_int_equal(rte_mempool_in_use_count(pool), 6);
	tx->fd = -1;
	packet_tx_close(tx);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

// A frame that gets few packets a burst does not wait for its end.
static void a_frame_that_grows_slowly_leaves(void **state)
{
	(void)state;
	assert_int_equal(give(2, true, ACK), 2);
	for (unsigned addition = 1; addition < 4; addition++)
		assert_int_equal(give(1, true, ACK), 1);
	assert_int_equal(n_wire, 0);
	assert_int_equal(give(1, true, ACK), 1); // the fourth addition
	assert_int_equal(n_frames, 1);
	expect_all_sent();
	assert_int_equal(give(2, true, ACK), 2);
	assert_int_equal(n_frames, 1);
	flush();
	expect_all_sent();
}

// ---- a port ----

static uint16_t receive(struct hs_port *of, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)of, (void)queue, (void)mbufs, (void)n;
	return 0;
}

static uint16_t send_now(struct hs_port *of, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)of;
	assert_int_equal(queue, 0);
	return packet_tx_send(tx, &port, mbufs, n, false);
}

static uint16_t keep(struct hs_port *of, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)of, (void)queue;
	return packet_tx_send(tx, &port, mbufs, n, true);
}

static void read_stats(struct hs_port *of, struct hs_port_device_stats *stats)
{
	(void)of;
	stats->tx_packets = tx->packets;
	stats->tx_errors = tx->refused;
}

static void close_socket(struct hs_port *of)
{
	(void)of;
	tx->fd = -1;
	packet_tx_close(tx);
}

static void what_is_kept_is_sent_or_counted_when_the_port_goes(void **state)
{
	static const struct port_driver driver = {.stats = read_stats, .detach = close_socket};
	static const int errors[] = {0, ENXIO, EAGAIN};
	const struct hs_port_config config = {.name = "p"};

	for (size_t i = 0; i < RTE_DIM(errors); i++) {
		struct hs_port_device_stats stats;
		struct hs_port *of;

		begin(state);
		assert_int_equal(hs_port_open_custom(receive, send_now, NULL, &config, 0, 1, &of),
				0);
		of->tx_keep = keep;
		port_private(of)->driver = &driver;
		give(6, true, ACK);
		refuses = errors[i];
		assert_int_equal(hs_port_detach(of), 0);
		hs_port_device_stats(of, &stats);
		assert_int_equal(stats.tx_packets, errors[i] ? 0 : 6);
		assert_int_equal(stats.tx_errors, errors[i] ? 6 : 0);
		assert_int_equal(n_wire, stats.tx_packets);
		assert_int_equal(rte_mempool_in_use_count(pool), 0);
		hs_port_close(of);
	}
}

static int start(void **state)
{
	(void)state;
	dpdk_env_init("64");
	tx = aligned_alloc(alignof(struct packet_tx), sizeof(*tx));
	pool = rte_pktmbuf_pool_create("pool", 511, 0, 0, ROOM, 0);
	return pool && tx ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(tx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_setup(packets_of_several_bursts_leave_as_one_frame, begin),
			cmocka_unit_test_setup(nothing_is_kept_behind_what_ends_a_frame, begin),
			cmocka_unit_test_setup(a_frame_that_is_full_leaves, begin),
			cmocka_unit_test_setup(
					what_is_kept_goes_before_a_packet_that_does_not_follow,
					begin),
			cmocka_unit_test_setup(a_packet_that_joins_nothing_is_not_kept, begin),
			cmocka_unit_test_setup(nothing_is_kept_where_nothing_is_joined, begin),
			cmocka_unit_test_setup(what_is_kept_and_cannot_be_sent_is_counted, begin),
			cmocka_unit_test_setup(closing_frees_what_is_kept, begin),
			cmocka_unit_test_setup(a_frame_that_grows_slowly_leaves, begin),
			cmocka_unit_test(what_is_kept_is_sent_or_counted_when_the_port_goes),
	};
	return cmocka_run_group_tests_name("keep", tests, start, end);
}
