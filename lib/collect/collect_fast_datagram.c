// SPDX-License-Identifier: BSD-3-Clause
#include "collect_fast_datagram.h"

#include "collect_fast_packet.h"
#include "int_report_head.h"

enum {
	REPORT = HS_INT_REPORT_1_0_BYTES,
	Q_AT = 3,
	NODE = 4,
	SEQUENCE = 8,
	LIKE = HS_COLLECT_LIKE,
	IPV4_SRC = 14 + 12,
	PORTS = 14 + 20,
	HOPS_AT = PORTS + 8 + 4 + 8,
	LEAST = REPORT + LIKE,
};

#define HEAD	  0x14000000 // version and length; no RepMdBits
#define HEAD_MASK 0xff1f8000
#define LIKE_MASK UINT32_C(0x7fffffff) // of a report's first word in memory: all but Q

// The bytes of Ethernet, IPv4, UDP and INT before the hops that must be equal: all except
// addresses, identification, time to live, checksums and ports.
static const _Alignas(16) uint8_t like_mask[LIKE] = {
		[12 ... 17] = 0xff,
		[20 ... 21] = 0xff,
		[23] = 0xff,
		[38 ... 39] = 0xff,
		[42 ... 53] = 0xff,
};

static hs_collect_vector differs_at(const uint8_t *packet, const uint8_t *like, size_t at)
{
	const uint8_t *aligned = __builtin_assume_aligned(like, sizeof(hs_collect_vector));

	return (hs_collect_vector_at(packet, at) ^ hs_collect_vector_at(aligned, at)) &
	       hs_collect_vector_at(like_mask, at);
}

// ---- exporters ----

// Datagrams of one exporter with consecutive numbers. The exporter's entry is updated at the end of
// the row.
struct row {
	struct hs_collect_exporter_entry *exporter; // NULL: no row
	uint32_t n;
	uint32_t next; // expected number
};

// Notes a datagram that directly follows the last one of the last exporter. Returns false if the
// datagram does not.
static inline bool note_next(struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	const uint8_t *at = datagram->bytes;
	struct hs_collect_exporter_entry *e = c->last_exporter;

	// An exporter whose last report was of 1.0 has a node in its key.
	if (!e || e->key.node_id != hs_be32_load(at + NODE) ||
			e->key.is_ipv4 != datagram->is_ipv4 || e->key.hw_id != (at[3] & 63) ||
			e->key.listener != datagram->listener || e->version != HS_INT_REPORT_1_0 ||
			e->last_ns != c->now_ns ||
			!hs_collect_is_next(e, hs_be32_load(at + SEQUENCE)) ||
			memcmp(e->key.address, datagram->address, sizeof(e->key.address)))
		return false;
	e->datagrams++;
	e->reports++;
	hs_collect_go_on(e, 1);
	return true;
}

static __attribute__((noinline)) void note_other(
		struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	const uint8_t *at = datagram->bytes;
	struct hs_collect_exporter_key key = {.node_id = hs_be32_load(at + NODE),
			.is_ipv4 = datagram->is_ipv4,
			.hw_id = at[3] & 63,
			.listener = datagram->listener,
			.has_node = true};

	memcpy(key.address, datagram->address, sizeof(key.address));
	struct hs_collect_exporter_entry *exporter = hs_collect_note_exporter(
			c, &key, HS_INT_REPORT_1_0, hs_be32_load(at + SEQUENCE));
	if (exporter)
		exporter->reports++;
}

static inline void note_exporter(struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	if (!note_next(c, datagram))
		note_other(c, datagram);
}

// Begins a row after a datagram whose exporter was noted.
static struct row begin_row(const struct hs_collect *c)
{
	struct row row = {.exporter = NULL};
	struct hs_collect_exporter_entry *e = c->last_exporter;

	if (e && e->key.has_node && e->version == HS_INT_REPORT_1_0 && e->last_ns == c->now_ns &&
			hs_collect_is_next(e, e->sequence + 1))
		row = (struct row){.exporter = e, .next = e->sequence + 1};
	return row;
}

static void end_row(struct row *row)
{
	struct hs_collect_exporter_entry *e = row->exporter;

	if (!row->n)
		return;
	e->datagrams += row->n;
	e->reports += row->n;
	hs_collect_go_on(e, row->n);
}

// Returns whether length, address family, listener and address are equal.
static inline bool is_same_sender(
		const struct hs_collect_datagram *a, const struct hs_collect_datagram *b)
{
	_Static_assert(offsetof(struct hs_collect_datagram, len) == 8 &&
					offsetof(struct hs_collect_datagram, address) == 14,
			"three words have all of it");
	const uint8_t *x = (const uint8_t *)a, *y = (const uint8_t *)b;

	return !((hs_collect_word(x + 8) ^ hs_collect_word(y + 8)) |
			(hs_collect_word(x + 16) ^ hs_collect_word(y + 16)) |
			(hs_collect_word(x + 22) ^ hs_collect_word(y + 22)));
}

static inline bool is_of_row(const struct row *row, const struct hs_collect_datagram *last,
		const struct hs_collect_datagram *datagram)
{
	uint32_t node, before;

	memcpy(&node, datagram->bytes + NODE, sizeof(node));
	memcpy(&before, last->bytes + NODE, sizeof(before));
	return row->exporter && node == before && is_same_sender(last, datagram) &&
	       hs_be32_load(datagram->bytes + SEQUENCE) == row->next;
}

static void note_in_row(struct hs_collect *c, struct row *row,
		const struct hs_collect_datagram *last, const struct hs_collect_datagram *datagram)
{
	if (is_of_row(row, last, datagram)) {
		row->n++;
		row->next++;
		return;
	}
	end_row(row);
	note_exporter(c, datagram);
	*row = begin_row(c);
}

// ---- reports ----

// Reads a report that is not like the one before. Returns -1, why the report is refused, or
// HS_COLLECT_FAST_NOT.
static int read_anew(struct hs_collect *c, const struct hs_collect_datagram *datagram,
		uint32_t word, struct hs_collect_view *view)
{
	uint8_t next = word >> 21 & 7;

	hs_collect_clear_view(view);
	view->own.node_id = hs_be32_load(datagram->bytes + NODE);
	view->has_reporter = view->own.node_id != UINT32_MAX;
	view->dropped = word >> 8 & 1;
	view->dialect = &c->dialects[HS_INT_REPORT_1_0];
	int rc = hs_collect_fast_packet(view->dialect, (uint8_t)(HS_INT_INNER_ETHERNET + next),
			word & 0x40, datagram->bytes + REPORT, datagram->len - REPORT, view);
	if (rc == -1)
		hs_collect_close_view(c, view, false);
	return rc;
}

// Keeps a datagram that the next ones may be like: its hops begin where the compared bytes end, and
// no byte after the hops matters. A report without a stack or of a drop is not kept, because its
// flow depends on its reporter.
static void keep_like(struct hs_collect *c, const struct hs_collect_datagram *datagram,
		const struct hs_collect_view *view)
{
	if (datagram->len < LEAST || !view->has_stack || view->dropped ||
			view->hops != datagram->bytes + REPORT + HOPS_AT ||
			view->dialect->packet.version != HS_INT_1_0)
		return;
	c->last = datagram;
	memcpy(&c->like.view, view, HS_COLLECT_VIEW_BARE);
	memcpy(&c->like.word, datagram->bytes, sizeof(c->like.word));
	memcpy(c->like.packet, datagram->bytes + REPORT, LIKE);
}

static __attribute__((noinline)) int take_head(
		struct hs_collect *c, const struct hs_collect_datagram *datagram, uint32_t word)
{
	struct hs_collect_view *view = &c->views[c->n_views];
	int rc = read_anew(c, datagram, word, view);

	if (rc == HS_COLLECT_FAST_NOT)
		return rc;
	note_exporter(c, datagram);
	c->counters.datagrams_read++;
	c->counters.reports++;
	if (rc >= 0)
		return rc;
	view->datagram = datagram;
	view->own.q = word >> 7 & 1;
	view->device_ns = hs_be32_load(datagram->bytes + HS_COLLECT_TIME_AT);
	keep_like(c, datagram, view);
	hs_collect_keep_view(c, view);
	return rc;
}

int hs_collect_fast_datagram(struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	if (datagram->len < REPORT)
		return HS_COLLECT_FAST_NOT;
	uint32_t word = hs_be32_load(datagram->bytes);
	if ((word & HEAD_MASK) != HEAD || (word >> 21 & 7) > 2)
		return HS_COLLECT_FAST_NOT;
	return take_head(c, datagram, word);
}

// ---- datagrams that are like the one before ----

// Returns whether the datagram equals the one in c->like except for addresses, ports and hops.
static inline bool is_like(const struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	const uint8_t *packet = datagram->bytes + REPORT, *like = c->like.packet;
	uint32_t word;

	if (datagram->len != c->last->len)
		return false;
	memcpy(&word, datagram->bytes, sizeof(word));
	hs_collect_vector differs = differs_at(packet, like, 0) | differs_at(packet, like, 16) |
				    differs_at(packet, like, 32) | differs_at(packet, like, 48);
	return !(((word ^ c->like.word) & LIKE_MASK) | differs[0] | differs[1]);
}

static inline bool is_same_flow(
		const struct hs_collect_datagram *last, const struct hs_collect_datagram *datagram)
{
	const uint8_t *x = last->bytes + REPORT, *y = datagram->bytes + REPORT;
	uint32_t ports, ports_before;

	memcpy(&ports_before, x + PORTS, sizeof(ports_before));
	memcpy(&ports, y + PORTS, sizeof(ports));
	return ports == ports_before &&
	       hs_collect_word(x + IPV4_SRC) == hs_collect_word(y + IPV4_SRC);
}

// Returns whether reporter and Q are the same.
static inline bool is_same_reporter(
		const struct hs_collect_datagram *last, const struct hs_collect_datagram *datagram)
{
	return hs_collect_word(last->bytes) == hs_collect_word(datagram->bytes);
}

// This function is not inlined, so that the loop around it has more registers.
static __attribute__((noinline)) uint32_t hash_of(const struct hs_collect_secret *secret,
		uint64_t src, uint64_t dst, uint64_t last, uint32_t reporter)
{
	return hs_collect_hash_6(secret, src, 0, dst, 0, last, reporter);
}

// Sets the flow's key, of IPv4. Returns the key's hash; where the flow is that of the report
// before, `hash`. Each word is written at once, and hashed from a register: the processor waits
// where it reads a word that was just written in parts.
static inline uint32_t set_key(const struct hs_collect *c, const uint8_t *packet, bool same,
		uint32_t hash, struct hs_collect_flow_key *key)
{
	uint64_t last = hs_collect_word(&c->like.view.key.src_port);
	uint32_t src, dst, ports = hs_be32_load(packet + PORTS);

	memcpy(&src, packet + IPV4_SRC, sizeof(src));
	memcpy(&dst, packet + IPV4_SRC + sizeof(src), sizeof(dst));
	last = last >> 32 << 32 | (ports << 16 | ports >> 16);
	memcpy(key->src, &(uint64_t){src}, sizeof(uint64_t));
	memset(key->src + 8, 0, sizeof(uint64_t));
	memcpy(key->dst, &(uint64_t){dst}, sizeof(uint64_t));
	memset(key->dst + 8, 0, sizeof(uint64_t));
	memcpy(&key->src_port, &last, sizeof(last));
	return same ? hash : hash_of(&c->secret, src, dst, last, key->reporter);
}

// Reads such a datagram. `same` says that its flow is that of the report before.
static inline void read_like(const struct hs_collect *c, const struct hs_collect_datagram *datagram,
		bool same, uint32_t *hash, struct hs_collect_view *view)
{
	const size_t from = offsetof(struct hs_collect_view, key.reporter);
	const uint8_t *packet = datagram->bytes + REPORT;

	memcpy((uint8_t *)view + from, (const uint8_t *)&c->like.view + from,
			HS_COLLECT_VIEW_BARE - from);
	view->datagram = datagram;
	view->hops = packet + HOPS_AT;
	view->device_ns = hs_be32_load(datagram->bytes + HS_COLLECT_TIME_AT);
	view->own.q = datagram->bytes[Q_AT] >> 7;
	view->own.node_id = hs_be32_load(datagram->bytes + NODE);
	view->has_reporter = view->own.node_id != UINT32_MAX;
	view->same = same;
	view->hash = *hash = set_key(c, packet, same, *hash, &view->key);
	if (!same)
		hs_collect_prefetch_map(c, *hash);
}

static inline void add_like(struct hs_collect *c, const struct hs_collect_datagram *datagram,
		bool same, uint32_t *hash)
{
	read_like(c, datagram, same, hash, &c->views[c->n_views]);
	if (++c->n_views == HS_COLLECT_BURST)
		hs_collect_apply_views(c);
}

// Counts n such datagrams.
static void count_likes(struct hs_collect *c, unsigned n)
{
	c->counters.datagrams += n;
	c->counters.datagrams_read += n;
	c->counters.reports += n;
	c->counters.reports_read += n;
	c->counters.reports_partial += c->like.view.partial ? n : 0;
	c->counters.reports_incomplete += c->like.view.incomplete ? n : 0;
	c->counters.reports_without_flow += c->like.view.has_flow ? 0 : n;
}

unsigned hs_collect_take_likes(
		struct hs_collect *c, const struct hs_collect_datagram *datagrams, unsigned n)
{
	const struct hs_collect_datagram *last = c->last;
	uint32_t hash = c->like.view.hash;
	struct row row = begin_row(c);
	unsigned i = 0;

	for (; i < n && is_like(c, &datagrams[i]); i++) {
		hs_collect_ask(&c->asks[0]);
		note_in_row(c, &row, last, &datagrams[i]);
		bool same = is_same_flow(last, &datagrams[i]);
		if (same && c->n_views && is_same_reporter(last, &datagrams[i]))
			c->views[c->n_views - 1].more++;
		else
			add_like(c, &datagrams[i], same, &hash);
		last = &datagrams[i];
	}
	end_row(&row);
	count_likes(c, i);
	return i;
}
