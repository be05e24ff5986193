// SPDX-License-Identifier: BSD-3-Clause
#include "egress.h"

#include "clock.h"
#include "exporter.h"
#include "stage.h"

#include <math.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_pause.h>

// Bits of a byte, times ns of a second.
#define BYTE INT64_C(8000000000)
// The rounding of the time of so many bytes adds less than 10^-12 ns. Exact departures are
// multiples of 1 / rate_bps ns, which is no less: make_exact finds them.
#define MANY_BYTES (1u << 20)

// Multiplies, because C does not define the left shift of a negative number.
static inline hs_egress_time whole(int64_t ns)
{
	return ns * ((hs_egress_time)1 << 64);
}

static uint32_t places(uint32_t queue_packets)
{
	return rte_align32pow2(queue_packets + 1); // one more for the packet that is being sent
}

struct hs_egress *hs_egress_create(uint64_t rate_bps, uint32_t queue_packets)
{
	uint32_t n = places(queue_packets);
	struct hs_egress *egress = rte_zmalloc("egress",
			sizeof(*egress) + n * sizeof(egress->departures[0]), RTE_CACHE_LINE_SIZE);

	if (!egress)
		return NULL;
	egress->byte = (whole(BYTE) + rate_bps - 1) / rate_bps;
	egress->rate_bps = rate_bps;
	egress->limit = queue_packets;
	egress->mask = n - 1;
	egress->now_ns = INT64_MIN / 2;
	egress->departs = whole(egress->now_ns);
	return egress;
}

struct hs_egress *hs_egress_create_by_packet(uint32_t rate_pps, uint32_t queue_packets)
{
	struct hs_egress *egress = hs_egress_create(UINT64_C(8) * rate_pps, queue_packets);

	if (egress)
		egress->by_packet = true;
	return egress;
}

void hs_egress_destroy(struct hs_egress *egress)
{
	rte_free(egress);
}

#define WAITING_BYTES                                                                              \
	(sizeof(struct rte_mbuf *) + sizeof(int64_t) + sizeof(uint32_t) +                          \
			sizeof(struct hs_egress_mark))

struct hs_egress_worker *hs_egress_join(struct hs_egress *egress)
{
	uint32_t n = egress->mask + 1;
	struct hs_egress_worker *own = rte_zmalloc(
			"egress worker", sizeof(*own) + n * WAITING_BYTES, RTE_CACHE_LINE_SIZE);

	if (!own)
		return NULL;
	own->port = egress;
	own->mask = egress->mask;
	own->marks = (struct hs_egress_mark *)(own + 1);
	own->mbufs = (struct rte_mbuf **)(own->marks + n);
	own->departs_ns = (int64_t *)(own->mbufs + n);
	own->sums = (uint32_t *)(own->departs_ns + n);
	return own;
}

uint64_t hs_egress_bytes(uint32_t queue_packets, unsigned n_workers)
{
	uint64_t n = places(queue_packets);
	uint64_t own = sizeof(struct hs_egress_worker) + n * WAITING_BYTES;

	return sizeof(struct hs_egress) + n * sizeof(int64_t) + n_workers * own + 4096;
}

// ---- utilisation ----

// Returns the share of an average that is left after so much time.
static double left_after(int64_t ns)
{
	double x = (double)ns * (1.0 / HS_EGRESS_AVERAGE_NS);

	if (likely(x < 0.01)) // x^4 / 24 < 5e-10
		return 1 - x * (1 - x * (0.5 - x / 6));
	return exp(-x);
}

// Averages from egress->now_ns on: the port sent until its last departure and then nothing.
static void average(struct hs_egress *egress, int64_t now_ns)
{
	int64_t from_ns = egress->now_ns;
	int64_t busy_until_ns = RTE_MIN(RTE_MAX(hs_egress_ns(egress->departs), from_ns), now_ns);

	if (busy_until_ns > from_ns)
		egress->busy = 1 - (1 - egress->busy) * left_after(busy_until_ns - from_ns);
	if (now_ns > busy_until_ns)
		egress->busy *= left_after(now_ns - busy_until_ns);
}

void hs_egress_advance(struct hs_egress *egress, int64_t now_ns)
{
	if (unlikely(now_ns <= egress->now_ns))
		return; // a worker that was faster has read a later time
	average(egress, now_ns);
	egress->now_ns = now_ns;
	if (hs_egress_ns(egress->departs) <= now_ns) {
		egress->head = egress->tail = 0; // reuses the same cache lines
		return;
	}
	while (egress->head != egress->tail &&
			egress->departures[egress->head & egress->mask] <= now_ns)
		egress->head++;
}

// ---- runs ----

static inline void lock(struct hs_egress *egress)
{
	while (unlikely(__atomic_exchange_n(&egress->lock, 1, __ATOMIC_ACQUIRE))) {
		while (__atomic_load_n(&egress->lock, __ATOMIC_RELAXED))
			rte_pause();
	}
}

static inline void unlock(struct hs_egress *egress)
{
	__atomic_store_n(&egress->lock, 0, __ATOMIC_RELEASE);
}

static inline void hold(struct hs_egress_worker *own)
{
	if (!own->port->shared || own->locked)
		return;
	lock(own->port);
	own->locked = true;
}

// Returns the bytes whose time a packet takes.
static inline uint32_t timed(const struct hs_egress *egress, uint32_t bytes)
{
	return egress->by_packet ? 1 : bytes;
}

// Rounds the departure down to a multiple of 1 / rate_bps ns, then up to a multiple of 2^-64 ns.
static __attribute__((noinline)) void make_exact(struct hs_egress *egress)
{
	__extension__ typedef unsigned __int128 wide;
	wide rate = egress->rate_bps, rest = (uint64_t)egress->departs * rate >> 64;

	egress->departs = whole(hs_egress_ns(egress->departs)) +
			  (hs_egress_time)(((rest << 64) + rate - 1) / rate);
	egress->inexact = 0;
}

// Makes the next packet begin when the port has sent what was queued, at the earliest now.
static inline void begin(struct hs_egress *egress)
{
	if (hs_egress_ns(egress->departs) < egress->now_ns) {
		egress->departs = whole(egress->now_ns);
		egress->inexact = 0;
	} else if (unlikely(egress->inexact >= MANY_BYTES)) {
		make_exact(egress);
	}
}

// Computes the departures of the packets that were put without one.
static void settle(struct hs_egress_worker *own)
{
	struct hs_egress *egress = own->port;
	uint32_t mask = own->mask, n = own->pending, at = own->tail, tail = egress->tail;
	uint32_t sum = own->sum;

	if (!n)
		return;
	begin(egress);
	hs_egress_time departs = egress->departs, byte = egress->byte;
	for (uint32_t i = 0; i < n; i++, at++, tail++) {
		uint32_t bytes = rte_pktmbuf_pkt_len(own->mbufs[at & mask]);
		departs += timed(egress, bytes) * byte;
		sum += bytes;
		own->departs_ns[at & mask] = hs_egress_ns(departs);
		own->sums[at & mask] = sum;
		egress->departures[tail & mask] = hs_egress_ns(departs);
	}
	egress->departs = departs;
	egress->inexact += egress->by_packet ? n : sum - own->sum;
	egress->tail = tail;
	own->tail = at;
	own->sum = sum;
	own->pending = 0;
}

static inline void note_depth(struct hs_egress_worker *own, uint32_t depth)
{
	if (depth > own->depth_max)
		__atomic_store_n(&own->depth_max, depth, __ATOMIC_RELAXED);
}

static unsigned send_burst(struct hs_worker *worker, struct hs_port *port, int64_t now_ns);

// Sends packets of a late worker, which the queue no longer counts, until the run has places.
static void make_room(struct hs_worker *worker, struct hs_port *port, int64_t now_ns)
{
	struct hs_egress_worker *own = hs_egress_of(worker, port);

	while (own->mask + 1 - (own->tail - own->head) < own->places &&
			send_burst(worker, port, now_ns))
		;
}

void hs_egress_open(struct hs_worker *worker, struct hs_port *port, int64_t now_ns, uint32_t n)
{
	struct hs_egress_worker *own = hs_egress_of(worker, port);
	struct hs_egress *egress = own->port;

	if (egress->shared)
		lock(egress);
	hs_egress_advance(egress, now_ns);
	uint32_t free = egress->limit + 1 - hs_egress_depth(egress) - egress->reserved;
	own->places = own->reserved = RTE_MIN(free, n);
	now_ns = egress->now_ns;
	if (egress->shared) {
		egress->reserved += own->reserved;
		unlock(egress);
	}
	if (unlikely(own->mask + 1 - (own->tail - own->head) < own->places))
		make_room(worker, port, now_ns);
}

void hs_egress_close(struct hs_egress_worker *own)
{
	struct hs_egress *egress = own->port;

	if (own->places == own->reserved && !own->reserved)
		return;
	hold(own);
	settle(own);
	if (own->places != own->reserved)
		note_depth(own, hs_egress_depth(egress) - 1);
	own->places = 0; // a request between runs finds no place
	if (!egress->shared)
		return;
	egress->reserved -= own->reserved;
	own->locked = false;
	unlock(egress);
}

bool hs_egress_take(struct hs_egress_worker *own, uint32_t bytes)
{
	struct hs_egress *egress = own->port;
	uint8_t *field = own->field; // kept for a second request of the packet in hand

	hs_egress_give_back(own);
	if (unlikely(!hs_egress_fits(own)))
		return false;
	hold(own);
	settle(own);
	begin(egress);
	own->before = egress->departs;
	own->depth = hs_egress_depth(egress);
	own->bytes = bytes;
	own->field = field;
	egress->departs += timed(egress, bytes) * egress->byte;
	egress->inexact += timed(egress, bytes);
	egress->departures[egress->tail++ & egress->mask] = hs_egress_ns(egress->departs);
	return true;
}

void hs_egress_give_back(struct hs_egress_worker *own)
{
	if (!own->bytes)
		return;
	own->port->departs = own->before;
	own->port->inexact -= timed(own->port, own->bytes);
	own->port->tail--;
	own->bytes = 0;
	own->field = NULL;
}

void hs_egress_put_taken(struct hs_egress_worker *own, struct rte_mbuf *mbuf)
{
	uint32_t bytes = rte_pktmbuf_pkt_len(mbuf), at = own->tail & own->mask;
	uint8_t *field = own->field;

	if (own->bytes != bytes) {
		own->places++;
		hs_egress_take(own, bytes);
		own->places--;
	}
	own->mbufs[at] = mbuf;
	own->departs_ns[at] = hs_egress_ns(own->port->departs);
	own->sums[at] = own->sum += bytes;
	if (field)
		own->marks[own->marks_tail++ & own->mask] =
				(struct hs_egress_mark){field, own->tail};
	own->tail++;
	own->bytes = 0;
	own->field = NULL;
}

void hs_egress_put_run(struct hs_egress_worker *own, struct rte_mbuf **mbufs, uint32_t n)
{
	uint32_t at = (own->tail + own->pending) & own->mask;
	uint32_t piece = RTE_MIN(n, own->mask + 1 - at);

	memcpy(&own->mbufs[at], mbufs, piece * sizeof(mbufs[0]));
	memcpy(own->mbufs, mbufs + piece, (n - piece) * sizeof(mbufs[0]));
	own->places -= n;
	own->pending += n;
}

bool hs_egress_refuse(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	hs_count_forwarded(worker, burst, out, 1);
	if (unlikely(worker->exporter))
		hs_export_drop(worker, HS_DROP_QUEUE_FULL, burst->mbufs[i], burst->slots[i], out);
	hs_drop(worker, out->index, HS_DROP_QUEUE_FULL, burst->mbufs[i]);
	return false;
}

// ---- what telemetry writes ----

static uint32_t share(double part)
{
	return (uint32_t)(part * HS_EGRESS_WHOLE + 0.5);
}

static uint32_t buffer_share(struct hs_worker *worker, int64_t now_ns)
{
	struct hs_worker_buffer *buffer = &worker->buffer;

	if (now_ns - buffer->read_ns >= HS_EGRESS_BUFFER_NS || now_ns < buffer->read_ns) {
		buffer->read_ns = now_ns;
		buffer->share = share((double)rte_mempool_in_use_count(worker->pool) /
				      worker->pool->size);
	}
	return buffer->share;
}

bool hs_egress_read(struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out, uint32_t bytes, struct hs_egress_values *values)
{
	struct hs_egress_worker *own = hs_egress_of(worker, out);

	if (!own || !hs_egress_take(own, bytes))
		return false;
	*values = (struct hs_egress_values){
			.departs_ns = hs_egress_ns(own->port->departs) + burst->stepped_ns,
			.depth = own->depth,
			.congestion = (uint32_t)((uint64_t)own->depth * HS_EGRESS_WHOLE /
						 own->port->limit),
			.utilisation = share(own->port->busy),
			.buffer = buffer_share(worker, hs_burst_steady_ns(burst)),
	};
	return true;
}

// ---- sending ----

// Returns the number of packets that depart later than departs_ns.
static uint32_t behind(const struct hs_egress *egress, int64_t departs_ns)
{
	uint32_t first = egress->head, end = egress->tail;

	while (first != end) {
		uint32_t middle = first + (end - first) / 2;
		if (egress->departures[middle & egress->mask] <= departs_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return egress->tail - first;
}

static void write_left(uint8_t *field, uint32_t packets)
{
	for (unsigned i = HS_EGRESS_LEFT_BYTES; i > 0; i--, packets >>= 8)
		field[i - 1] = (uint8_t)packets;
}

// Writes into the packets before `end` how many are behind each.
static __attribute__((noinline)) void write_marks(struct hs_egress_worker *own, uint32_t end)
{
	struct hs_egress *egress = own->port;

	if (egress->shared)
		lock(egress);
	while (own->marks_head != own->marks_tail) {
		const struct hs_egress_mark *mark = &own->marks[own->marks_head & own->mask];
		if (mark->place - own->head >= end - own->head)
			break;
		write_left(mark->field, behind(egress, own->departs_ns[mark->place & own->mask]));
		own->marks_head++;
	}
	if (egress->shared)
		unlock(egress);
}

// Returns the end of the packets that are due: at most a burst, in one piece of the ring.
static uint32_t due_end(const struct hs_egress_worker *own, int64_t now_ns)
{
	uint32_t at = own->head, piece = own->mask + 1 - (at & own->mask);
	uint32_t end = at + RTE_MIN(RTE_MIN(own->tail - at, piece), (uint32_t)HS_BURST);

	if (at != end && own->departs_ns[(end - 1) & own->mask] <= now_ns)
		return end;
	while (at != end && own->departs_ns[at & own->mask] <= now_ns)
		at++;
	return at;
}

// Sends due packets, at most a burst. The rule counts a packet that waited as sent, whatever the
// device does with the packet: later packets of the flow may carry the count.
static unsigned send_burst(struct hs_worker *worker, struct hs_port *port, int64_t now_ns)
{
	struct hs_egress_worker *own = hs_egress_of(worker, port);
	uint32_t end = due_end(own, now_ns), n = end - own->head;

	if (!n)
		return 0;
	if (unlikely(own->marks_head != own->marks_tail))
		write_marks(own, end);
	struct rte_mbuf **mbufs = &own->mbufs[own->head & own->mask];
	uint32_t sum = own->sums[(end - 1) & own->mask], bytes = sum - own->sum_sent;
	own->sum_sent = sum;
	own->head = end;
	if (end == own->tail)
		own->head = own->tail = 0; // reuses the same cache lines
	hs_port_stats_of(worker, port->index)->queued -= n;
	enum hs_drop reason;
	for (unsigned i = hs_send(worker, port, mbufs, n, bytes, &reason); i < n; i++)
		hs_drop(worker, port->index, reason, mbufs[i]);
	return n;
}

static unsigned send_until(struct hs_worker *worker, int64_t now_ns)
{
	unsigned sent = 0, n;

	for (uint16_t p = 0; p < worker->n_ports; p++) {
		if (!worker->egress[p])
			continue;
		while ((n = send_burst(worker, worker->ports[p], now_ns)))
			sent += n;
	}
	return sent;
}

unsigned hs_egress_send_due(struct hs_worker *worker)
{
	int64_t stepped_ns, now_ns = hs_clock_read(worker->clock, &stepped_ns);

	now_ns -= stepped_ns;
	if (hs_egress_next_ns(worker) > now_ns)
		return 0;
	hs_worker_begin(worker);
	unsigned sent = send_until(worker, now_ns);
	hs_worker_end(worker);
	return sent;
}

int64_t hs_egress_next_ns(const struct hs_worker *worker)
{
	int64_t next_ns = INT64_MAX;

	for (uint16_t p = 0; p < worker->n_ports; p++) {
		const struct hs_egress_worker *own = worker->egress[p];
		if (own && own->head != own->tail)
			next_ns = RTE_MIN(next_ns, own->departs_ns[own->head & own->mask]);
	}
	return next_ns;
}

void hs_egress_drop_all(struct hs_worker *worker)
{
	for (uint16_t p = 0; p < worker->n_ports; p++) {
		struct hs_egress_worker *own = worker->egress[p];
		while (own && own->head != own->tail) {
			hs_port_stats_of(worker, p)->queued--;
			hs_drop(worker, p, HS_DROP_PORT_DOWN, own->mbufs[own->head++ & own->mask]);
		}
		if (own) {
			own->sum_sent = own->sum;
			own->marks_head = own->marks_tail;
		}
	}
}
