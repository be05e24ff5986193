// SPDX-License-Identifier: BSD-3-Clause
#include "collect_plain.h"

#include "collect_fast.h"
#include "int_report_head.h"

enum {
	REPORT = HS_INT_REPORT_1_0_BYTES,
	LIKE = 64, // bytes of the packet that are compared
	IPV4_SRC = 14 + 12,
	PORTS = 14 + 20,
	HOPS_AT = PORTS + 8 + 4 + 8,
	LEAST = REPORT + LIKE,
};

#define PLAIN	   0x14000000 // version and length; no RepMdBits
#define PLAIN_MASK 0xff1f8000
#define LIKE_MASK  UINT32_C(0x7fffffff) // of a report's first word as it lies in memory: all but Q

// What must be the same in Ethernet, IPv4, UDP and INT before the hops: all but addresses,
// identification, time to live, checksums and ports.
static const _Alignas(16) uint8_t like_mask[LIKE] = {
		[12 ... 17] = 0xff,
		[20 ... 21] = 0xff,
		[23] = 0xff,
		[38 ... 39] = 0xff,
		[42 ... 53] = 0xff,
};

typedef uint64_t vector __attribute__((vector_size(16)));

static vector differs_at(const uint8_t *a, const uint8_t *b, size_t at)
{
	vector x, y, mask;

	memcpy(&x, a + at, sizeof(x));
	memcpy(&y, b + at, sizeof(y));
	memcpy(&mask, like_mask + at, sizeof(mask));
	return (x ^ y) & mask;
}

static bool is_like_last(const struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	const struct hs_collect_datagram *last = c->last;
	uint32_t here, there;

	if (!last || datagram->len != last->len || datagram->len < LEAST)
		return false;
	memcpy(&here, datagram->bytes, sizeof(here));
	memcpy(&there, last->bytes, sizeof(there));
	if ((here ^ there) & LIKE_MASK)
		return false;
	const uint8_t *packet = datagram->bytes + REPORT, *other = last->bytes + REPORT;
	vector differs = differs_at(packet, other, 0) | differs_at(packet, other, 16) |
			 differs_at(packet, other, 32) | differs_at(packet, other, 48);
	return !(differs[0] | differs[1]);
}

// What the datagram says, which is like the last one, but for addresses, ports and hops.
static void read_like_last(struct hs_collect *c, const struct hs_collect_datagram *datagram,
		struct hs_collect_view *view)
{
	const uint8_t *packet = datagram->bytes + REPORT, *other = c->last->bytes + REPORT;
	uint32_t ports, before;

	memcpy(view, c->last_view, HS_COLLECT_VIEW_BARE);
	memcpy(&ports, packet + PORTS, sizeof(ports));
	memcpy(&before, other + PORTS, sizeof(before));
	view->hops = packet + HOPS_AT;
	view->own.node_id = hs_be32_load(datagram->bytes + 4);
	view->has_reporter = view->own.node_id != UINT32_MAX;
	view->same = ports == before &&
		     hs_collect_word(packet + IPV4_SRC) == hs_collect_word(other + IPV4_SRC);
	if (view->same)
		return;
	memcpy(view->key.src, packet + IPV4_SRC, 4);
	memcpy(view->key.dst, packet + IPV4_SRC + 4, 4);
	view->key.src_port = hs_be16_load(packet + PORTS);
	view->key.dst_port = hs_be16_load(packet + PORTS + 2);
	view->hash = hs_collect_hash_flow(&c->secret, &view->key);
}

// The usual case of hs_collect_note_exporter: the exporter of the datagram before, and the number
// behind its last. False: nothing was done.
static bool note_next(struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	const uint8_t *at = datagram->bytes;

	if (c->last_exporter == HS_COLLECT_NONE)
		return false;
	struct hs_collect_exporter_entry *e = &c->exporter[c->last_exporter];
	const struct hs_collect_exporter_key *key = &e->key;
	uint32_t sequence = hs_be32_load(at + 8);
	uint64_t differs = (hs_collect_word(key->address) ^ hs_collect_word(datagram->address)) |
			   (hs_collect_word(key->address + 8) ^
					   hs_collect_word(datagram->address + 8)) |
			   (key->node_id ^ hs_be32_load(at + 4)) | (key->hw_id ^ (at[3] & 63u)) |
			   (key->listener ^ datagram->listener) |
			   (uint64_t)(key->is_ipv4 ^ datagram->is_ipv4);
	bool is_usual = key->has_node && e->version == HS_INT_REPORT_1_0 && e->last_ns == c->now_ns;

	if (differs || !is_usual || !e->datagrams || !hs_collect_is_next(e, sequence))
		return false;
	e->datagrams++;
	e->reports++;
	hs_collect_go_next(e, sequence);
	return true;
}

static void note_exporter(struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	const uint8_t *at = datagram->bytes;
	struct hs_collect_exporter_key key = {.node_id = hs_be32_load(at + 4),
			.is_ipv4 = datagram->is_ipv4,
			.hw_id = at[3] & 63,
			.listener = datagram->listener,
			.has_node = true};

	memcpy(key.address, datagram->address, sizeof(key.address));
	struct hs_collect_exporter_entry *exporter =
			hs_collect_note_exporter(c, &key, HS_INT_REPORT_1_0, hs_be32_load(at + 8));
	if (exporter)
		exporter->reports++;
}

// Returns -1, why the report is refused, or HS_COLLECT_FAST_NOT.
static int read_anew(struct hs_collect *c, const struct hs_collect_datagram *datagram,
		uint32_t word, struct hs_collect_view *view)
{
	uint8_t next = word >> 21 & 7;

	if ((word & PLAIN_MASK) != PLAIN || next > 2)
		return HS_COLLECT_FAST_NOT;
	hs_collect_clear_view(view);
	view->own.node_id = hs_be32_load(datagram->bytes + 4);
	view->has_reporter = view->own.node_id != UINT32_MAX;
	view->dropped = word >> 8 & 1;
	view->dialect = &c->dialects[HS_INT_REPORT_1_0];
	int rc = hs_collect_fast_packet(view->dialect, (uint8_t)(HS_INT_INNER_ETHERNET + next),
			word & 0x40, datagram->bytes + REPORT, datagram->len - REPORT, view);
	if (rc == -1)
		hs_collect_close_view(c, view, false);
	return rc;
}

// The next datagram may be like this one, if the hops begin where all that is compared ends, and
// nothing behind them counts. The flow of a report without a stack is its reporter's.
static bool is_usual(const struct hs_collect_datagram *datagram, const struct hs_collect_view *view)
{
	return view->has_stack && view->hops == datagram->bytes + REPORT + HOPS_AT &&
	       view->dialect->packet.version == HS_INT_1_0;
}

int hs_collect_take_plain(struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	struct hs_collect_view *view = &c->views[c->n_views];
	int rc = -1;

	if (datagram->len < REPORT)
		return HS_COLLECT_FAST_NOT;
	uint32_t word = hs_be32_load(datagram->bytes);
	bool is_like = is_like_last(c, datagram);
	if (is_like)
		read_like_last(c, datagram, view);
	else
		rc = read_anew(c, datagram, word, view);
	if (rc == HS_COLLECT_FAST_NOT)
		return rc;
	if (!note_next(c, datagram))
		note_exporter(c, datagram);
	c->counters.datagrams_read++;
	c->counters.reports++;
	if (rc >= 0)
		return rc;
	view->own.q = word >> 7 & 1;
	view->device_ns = hs_be32_load(datagram->bytes + 12);
	c->last = is_like || is_usual(datagram, view) ? datagram : NULL;
	c->last_view = view;
	hs_collect_keep_view(c, view);
	return rc;
}
