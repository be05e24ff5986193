// SPDX-License-Identifier: BSD-3-Clause
#include "label_fragments.h"

#include "bytes.h"
#include "clock.h"
#include "family.h"
#include "ip.h"
#include "stage.h"

#include <string.h>

#include <rte_ip.h>
#include <rte_ip_frag.h>
#include <rte_malloc.h>

#define BUCKETS	       32
#define BUCKET_ENTRIES 4   // a fragment is looked for in two buckets
#define ENTRY_BYTES    256 // of the table
#define LATE_PARTS     4   // a wait ends late by at most this part of it
#define MACS	       12  // bytes of a frame
#define VLAN_ID	       0xfff

// Bits of hash.usr of a buffer that waits: whether a fragment begins in the buffer, and the port at
// which it waits.
#define BEGINS (UINT32_C(1) << 31)
#define PORT   UINT32_C(0xffff)

// The lowest bits of the type of service (RFC 3168).
#define ECN_MASK     3
#define ECN_NONE     0 // not ECN-capable
#define ECN_CE	     3 // congestion experienced
#define ECN_CONFLICT (1u << ECN_NONE | 1u << ECN_CE)

struct hs_label_fragments {
	struct rte_ip_frag_tbl *table;
	struct rte_ip_frag_death_row dead;
	uint32_t waiting; // buffers
	int64_t next_ns;
};

struct hs_label_fragments *hs_label_fragments_create(void)
{
	struct hs_label_fragments *own =
			rte_zmalloc("label fragments", sizeof(*own), RTE_CACHE_LINE_SIZE);

	if (!own)
		return NULL;
	own->next_ns = INT64_MAX;
	own->table = rte_ip_frag_table_create(BUCKETS, BUCKET_ENTRIES, HS_LABEL_WAITING_PACKETS,
			HS_LABEL_WAIT_NS, SOCKET_ID_ANY);
	if (own->table)
		return own;
	rte_free(own);
	return NULL;
}

void hs_label_fragments_destroy(struct hs_label_fragments *own)
{
	if (!own)
		return;
	rte_ip_frag_table_destroy(own->table);
	rte_free(own);
}

uint64_t hs_label_fragments_bytes(void)
{
	return sizeof(struct hs_label_fragments) + 2 * BUCKETS * BUCKET_ENTRIES * ENTRY_BYTES +
	       1024;
}

// ---- what waits ----

static void begin_wait(struct hs_worker *worker, const struct hs_burst *burst, struct rte_mbuf *m,
		const struct hs_port *out)
{
	for (struct rte_mbuf *segment = m; segment; segment = segment->next)
		segment->hash.usr = out->index;
	m->hash.usr |= BEGINS;
	worker->fragments->waiting += m->nb_segs;
	hs_count_forwarded(worker, burst, out, 1);
	hs_port_stats_of(worker, out->index)->queued++;
}

// Ends the wait of a chain's fragments and counts them as dropped for this reason.
static void end_wait(struct hs_worker *worker, const struct rte_mbuf *chain, enum hs_drop reason)
{
	worker->fragments->waiting -= chain->nb_segs;
	for (; chain; chain = chain->next) {
		if (!(chain->hash.usr & BEGINS))
			continue;
		struct hs_port_counters *stats = hs_port_stats_of(worker, chain->hash.usr & PORT);
		stats->queued--;
		stats->drops[reason]++;
	}
}

static unsigned fragments_of(const struct rte_mbuf *chain)
{
	unsigned n = 0;

	for (; chain; chain = chain->next)
		n += chain->hash.usr >> 31;
	return n;
}

// Drops the fragments that the table gave back. Returns how many chains there were.
static unsigned bury(struct hs_worker *worker, enum hs_drop reason)
{
	struct rte_ip_frag_death_row *dead = &worker->fragments->dead;
	unsigned n = dead->cnt;

	for (unsigned i = 0; i < n; i++)
		end_wait(worker, dead->row[i], reason);
	rte_ip_frag_free_death_row(dead, 0);
	return n;
}

static void expire(struct hs_worker *worker, int64_t steady_ns, enum hs_drop reason)
{
	struct hs_label_fragments *own = worker->fragments;

	do
		rte_ip_frag_table_del_expired_entries(own->table, &own->dead, (uint64_t)steady_ns);
	while (bury(worker, reason));
}

static void set_timer(struct hs_worker *worker, int64_t steady_ns, int64_t wait_ns)
{
	struct hs_label_fragments *own = worker->fragments;

	own->next_ns = own->waiting ? steady_ns + wait_ns + 1 : INT64_MAX;
	worker->serves = own->waiting || hs_worker_always_serves(worker);
}

void hs_label_fragments_serve(struct hs_worker *worker)
{
	const struct hs_label_fragments *own = worker->fragments;
	int64_t stepped_ns, now_ns;

	if (own->next_ns == INT64_MAX)
		return;
	now_ns = hs_clock_read(worker->clock, &stepped_ns);
	now_ns -= stepped_ns;
	if (now_ns < own->next_ns)
		return;
	hs_worker_begin(worker);
	expire(worker, now_ns, HS_DROP_FRAGMENT_EXPIRED);
	set_timer(worker, now_ns, HS_LABEL_WAIT_NS / LATE_PARTS);
	hs_worker_end(worker);
}

int64_t hs_label_fragments_next_ns(const struct hs_label_fragments *own)
{
	return own->next_ns;
}

void hs_label_fragments_drop_all(struct hs_worker *worker)
{
	expire(worker, INT64_MAX, HS_DROP_PORT_DOWN);
	set_timer(worker, 0, 0);
}

// ---- what is whole ----

static const uint8_t *frame_of(const struct rte_mbuf *fragment)
{
	return rte_pktmbuf_mtod(fragment, const uint8_t *);
}

// Returns the frame of a fragment behind the first: the headers are still in front of the data.
static const uint8_t *old_frame_of(const struct rte_mbuf *fragment)
{
	return frame_of(fragment) - fragment->l2_len - fragment->l3_len;
}

static bool is_of_same_packet(const struct rte_mbuf *first, const struct rte_mbuf *other)
{
	const uint8_t *a = frame_of(first), *b = old_frame_of(other);

	return first->hash.usr == other->hash.usr && first->l2_len == other->l2_len &&
	       !memcmp(a + MACS, b + MACS, first->l2_len - MACS) &&
	       a[first->l2_len + HS_IPV4_PROTOCOL] == b[other->l2_len + HS_IPV4_PROTOCOL];
}

static unsigned ecn_of(const uint8_t *frame, const struct rte_mbuf *fragment)
{
	return frame[fragment->l2_len + 1] & ECN_MASK;
}

// Returns whether the chain is one packet. A congestion mark of any fragment becomes the packet's,
// unless another fragment says that the packet is not ECN-capable.
static bool is_sound(const struct rte_mbuf *chain, uint8_t *ip)
{
	unsigned seen = 1u << ecn_of(frame_of(chain), chain);

	for (const struct rte_mbuf *other = chain->next; other; other = other->next) {
		if (!(other->hash.usr & BEGINS))
			continue;
		if (!is_of_same_packet(chain, other))
			return false;
		seen |= 1u << ecn_of(old_frame_of(other), other);
	}
	if (seen & 1u << ECN_CE)
		ip[1] |= ECN_CE;
	// The length has 16 bits, which a longer packet may have wrapped.
	return (seen & ECN_CONFLICT) != ECN_CONFLICT &&
	       chain->pkt_len == chain->l2_len + (uint32_t)hs_be16_load(ip + HS_IPV4_TOTAL);
}

// Returns the packet in one buffer, or in as few as possible. NULL: there was no buffer.
static struct rte_mbuf *compact(struct hs_worker *worker, struct rte_mbuf *chain)
{
	if (!rte_pktmbuf_linearize(chain))
		return chain;
	struct rte_mbuf *copy = rte_pktmbuf_copy(chain, worker->pool, 0, UINT32_MAX);
	rte_pktmbuf_free(chain);
	return copy;
}

// Returns the packet of the fragments, whose wait ends here. NULL: the packet was dropped.
static struct rte_mbuf *finish(
		struct hs_worker *worker, const struct hs_burst *burst, struct rte_mbuf *chain)
{
	struct rte_ipv4_hdr *ip =
			rte_pktmbuf_mtod_offset(chain, struct rte_ipv4_hdr *, chain->l2_len);
	bool sound = is_sound(chain, (uint8_t *)ip);

	end_wait(worker, chain, sound ? HS_DROP_FRAGMENT_JOINED : HS_DROP_FRAGMENT_BAD);
	if (!sound) {
		rte_pktmbuf_free(chain);
		return NULL;
	}
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	chain->tx_offload = 0;
	chain->ol_flags &= ~RTE_MBUF_F_RX_L4_CKSUM_MASK;
	hs_port_stats_of(worker, burst->in->index)->copies++;
	hs_event(worker, burst, HS_EVENT_REASSEMBLED);
	struct rte_mbuf *whole = compact(worker, chain);
	if (!whole)
		hs_port_stats_of(worker, burst->in->index)->drops[HS_DROP_NO_MBUF]++;
	return whole;
}

static uint32_t rule_of(struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	struct hs_burst one = {.in = burst->in,
			.profile = burst->profile,
			.n = 1,
			.flags = burst->packets[i].flags};

	one.mbufs[0] = burst->mbufs[i];
	one.packets[0] = burst->packets[i];
	hs_classify_rules(worker, &one);
	return one.slots[0];
}

static void put_in_place(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct rte_mbuf *whole)
{
	struct hs_packet *packet = &burst->packets[i];

	burst->mbufs[i] = whole;
	hs_parse_anew(burst, i);
	burst->flags |= packet->flags;
	burst->chained |= whole->nb_segs > 1;
	burst->slots[i] = rule_of(worker, burst, i);
	burst->unmatched &= burst->slots[i] == HS_FLOW_NONE;
}

// ---- fragments that come ----

static bool is_labelled_fragment(const struct hs_packet *packet)
{
	const uint16_t is = HS_PACKET_IPV4 | HS_PACKET_FRAGMENT | HS_PACKET_ANY_TELEMETRY;
	const uint16_t no = HS_PACKET_MALFORMED | HS_PACKET_SHORT | HS_PACKET_HIDDEN;

	return (packet->flags & (is | no)) == is;
}

// Returns whether a fragment's header is right. The packet's header is made of the fragments'
// headers: a wrong one must not become right.
static bool is_right(const struct hs_packet *packet, const struct rte_ipv4_hdr *ip)
{
	uint16_t header = rte_ipv4_hdr_len(ip);

	return packet->l3_bytes > header && rte_raw_cksum(ip, header) == UINT16_MAX;
}

// Returns the header by which the library finds the packet. The library tells packets apart by
// addresses and identification alone. The ids of the VLAN tags are mixed into the source address,
// so that packets of two VLANs differ, too.
static struct rte_ipv4_hdr key_of(const struct rte_mbuf *fragment, const struct rte_ipv4_hdr *ip)
{
	const uint8_t *frame = rte_pktmbuf_mtod(fragment, const uint8_t *);
	struct rte_ipv4_hdr key = *ip;
	uint32_t ids = 0;

	for (unsigned at = HS_ETHER_BYTES; at < fragment->l2_len; at += HS_VLAN_BYTES)
		ids = ids << 12 | (hs_be16_load(frame + at) & VLAN_ID);
	key.src_addr ^= ids * UINT32_C(0x9e3779b1); // different for any two tags
	return key;
}

// Returns the packet that the fragment, which waits, makes whole. NULL: the packet is not whole.
static struct rte_mbuf *find_whole(struct hs_worker *worker, const struct hs_burst *burst,
		struct rte_mbuf *fragment, struct rte_ipv4_hdr *ip)
{
	struct hs_label_fragments *own = worker->fragments;
	struct rte_ipv4_hdr key = key_of(fragment, ip);

	if (own->waiting > HS_LABEL_WAITING_BUFFERS) {
		own->dead.row[own->dead.cnt++] = fragment;
		bury(worker, HS_DROP_FRAGMENT_NO_PLACE);
		return NULL;
	}
	struct rte_mbuf *chain = rte_ipv4_frag_reassemble_packet(own->table, &own->dead, fragment,
			(uint64_t)hs_burst_steady_ns(burst), &key);
	// A fragment that comes back alone found no place; else its packet was given up.
	bool alone = own->dead.cnt == 1 && fragments_of(own->dead.row[0]) == 1;
	bury(worker, alone ? HS_DROP_FRAGMENT_NO_PLACE : HS_DROP_FRAGMENT_BAD);
	return chain ? finish(worker, burst, chain) : NULL;
}

static struct rte_mbuf *add(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		struct rte_ipv4_hdr *ip)
{
	int64_t now_ns = hs_burst_steady_ns(burst);
	struct rte_mbuf *m = burst->mbufs[i];

	m->l2_len = burst->packets[i].l3_off;
	m->l3_len = rte_ipv4_hdr_len(ip);
	expire(worker, now_ns, HS_DROP_FRAGMENT_EXPIRED);
	struct rte_mbuf *whole = find_whole(worker, burst, m, ip);
	if (worker->fragments->next_ns == INT64_MAX || !worker->fragments->waiting)
		set_timer(worker, now_ns, HS_LABEL_WAIT_NS);
	return whole;
}

// Takes a fragment. Returns whether packet i goes on, now as the whole packet.
static bool take(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	struct rte_ipv4_hdr *ip;
	struct rte_mbuf *whole;

	hs_event(worker, burst, HS_EVENT_FRAGMENTS);
	if (!hs_make_changeable(worker, burst, i)) {
		hs_drop_packet(worker, burst, i, HS_DROP_NO_MBUF);
		return false;
	}
	ip = rte_pktmbuf_mtod_offset(
			burst->mbufs[i], struct rte_ipv4_hdr *, burst->packets[i].l3_off);
	if (!is_right(&burst->packets[i], ip)) {
		hs_drop_packet(worker, burst, i, HS_DROP_BAD_HEADER);
		return false;
	}
	begin_wait(worker, burst, burst->mbufs[i], out);
	whole = add(worker, burst, i, ip);
	if (whole)
		put_in_place(worker, burst, i, whole);
	return whole;
}

unsigned hs_label_join(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, const struct hs_port *out)
{
	unsigned kept = first;

	if (!worker->fragments || burst->in->side == HS_SIDE_HOST)
		return end;
	for (unsigned i = first; i < end; i++) {
		if (is_labelled_fragment(&burst->packets[i]) && !take(worker, burst, i, out))
			continue;
		burst->mbufs[kept] = burst->mbufs[i];
		burst->packets[kept] = burst->packets[i];
		burst->slots[kept] = burst->slots[i];
		burst->out[kept++] = burst->out[i];
	}
	return kept;
}
