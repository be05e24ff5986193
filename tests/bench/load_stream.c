// SPDX-License-Identifier: BSD-3-Clause
#include "load_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rte_mempool.h>

#define TICKS_MASK ((UINT64_C(1) << 48) - 1)
#define PORTS_OFF  54

// What a frame carries: twelve bytes, so that it fits the smallest IPv6 frame that is commonly
// benchmarked (78 bytes with FCS). In the machine's own byte order: sender and receiver are one.
struct mark {
	uint16_t trial;
	uint16_t number[2];
	uint16_t ticks[3]; // the low 48 bits
};

static uint32_t sum_words(const uint8_t *bytes, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i += 2) {
		uint16_t word;
		memcpy(&word, bytes + i, sizeof(word));
		sum += word;
	}
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	uint16_t checksum = (uint16_t)~sum;
	return checksum ? checksum : 0xffff; // RFC 8200, 8.1: never 0
}

static void put16(uint8_t *at, uint16_t value)
{
	uint16_t network = htons(value);

	memcpy(at, &network, sizeof(network));
}

static void make_head(struct load_stream *s, const struct load_addresses *a)
{
	uint16_t udp_bytes = (uint16_t)(s->frame_bytes - PORTS_OFF);
	uint8_t *head = s->head;

	memset(head, 0, LOAD_HEAD_BYTES);
	memcpy(head, a->dst_mac, 6);
	memcpy(head + 6, a->src_mac, 6);
	put16(head + 12, 0x86dd);
	head[14] = 0x60;
	put16(head + 18, udp_bytes);
	head[20] = IPPROTO_UDP;
	head[21] = 64;
	memcpy(head + 22, a->src_ip, 16);
	memcpy(head + 38, a->dst_ip, 16);
	put16(head + PORTS_OFF + 2, a->dst_port);
	put16(head + PORTS_OFF + 4, udp_bytes);
	// Pseudo-header (RFC 8200, 8.1): addresses, length, next header; then the UDP header
	// itself.
	s->base_sum = sum_words(head + 22, 32) + htons(udp_bytes) + htons(IPPROTO_UDP) +
		      sum_words(head + PORTS_OFF, 8);
}

void load_stream_begin(struct load_stream *stream, const struct load_addresses *addresses,
		uint32_t flows, uint16_t frame_bytes)
{
	stream->trial++;
	stream->frame_bytes = frame_bytes;
	stream->flows = flows;
	stream->next = 0;
	stream->src_port = addresses->src_port;
	stream->counts = (struct load_counts){0};
	load_histogram_clear(&stream->latency);
	memset(stream->newest, 0, sizeof(stream->newest));
	make_head(stream, addresses);
}

void load_stream_write(struct load_stream *stream, struct rte_mbuf *mbuf, uint64_t now)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t number = stream->next++;
	uint16_t port = htons((uint16_t)(stream->src_port + number % stream->flows));
	struct mark mark = {
			.trial = stream->trial,
			.number = {(uint16_t)number, (uint16_t)(number >> 16)},
			.ticks = {(uint16_t)now, (uint16_t)(now >> 16), (uint16_t)(now >> 32)},
	};

	memcpy(frame, stream->head, LOAD_HEAD_BYTES);
	memcpy(frame + PORTS_OFF, &port, sizeof(port));
	memcpy(frame + LOAD_HEAD_BYTES, &mark, sizeof(mark));
	uint16_t checksum = folded(stream->base_sum + port + mark.trial + mark.number[0] +
				   mark.number[1] + mark.ticks[0] + mark.ticks[1] + mark.ticks[2]);
	memcpy(frame + PORTS_OFF + 6, &checksum, sizeof(checksum));
	mbuf->data_len = stream->frame_bytes;
	mbuf->pkt_len = stream->frame_bytes;
}

// Where the mark is: behind UDP, and a Hop-by-Hop header where a node has put one in; NULL where
// it is no frame of ours.
static const uint8_t *find_mark(const struct rte_mbuf *mbuf, uint8_t copy[sizeof(struct mark)])
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint32_t off = PORTS_OFF;

	if (mbuf->data_len < LOAD_HEAD_BYTES || frame[12] != 0x86 || frame[13] != 0xdd)
		return NULL;
	uint8_t protocol = frame[20];
	if (protocol == IPPROTO_HOPOPTS) {
		protocol = frame[PORTS_OFF];
		off += 8u + 8u * frame[PORTS_OFF + 1];
	}
	if (protocol != IPPROTO_UDP)
		return NULL;
	return rte_pktmbuf_read(mbuf, off + 8, sizeof(struct mark), copy);
}

void load_stream_read(struct load_stream *stream, const struct rte_mbuf *mbuf, uint64_t now)
{
	uint8_t copy[sizeof(struct mark)];
	const uint8_t *at = find_mark(mbuf, copy);
	struct mark mark = {0};

	if (at)
		memcpy(&mark, at, sizeof(mark));
	uint32_t number = mark.number[0] | (uint32_t)mark.number[1] << 16;
	if (!at || mark.trial != stream->trial || number >= stream->next) {
		stream->counts.strays++;
		return;
	}
	uint32_t *newest = &stream->newest[number % stream->flows];
	if (number + 1 == *newest) {
		stream->counts.duplicates++;
		return;
	}
	stream->counts.received++;
	if (number + 1 < *newest)
		stream->counts.out_of_order++;
	else
		*newest = number + 1;
	uint64_t sent = mark.ticks[0] | (uint64_t)mark.ticks[1] << 16 |
			(uint64_t)mark.ticks[2] << 32;
	load_histogram_add(&stream->latency, (now - sent) & TICKS_MASK);
}

static void zero_object(struct rte_mempool *pool, void *context, void *object, unsigned index)
{
	struct rte_mbuf *mbuf = object;

	(void)pool;
	(void)context;
	(void)index;
	memset(mbuf->buf_addr, 0, mbuf->buf_len);
}

void load_stream_clear(struct rte_mempool *pool)
{
	rte_mempool_obj_iter(pool, zero_object, NULL);
}
