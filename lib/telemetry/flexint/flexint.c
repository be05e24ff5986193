// SPDX-License-Identifier: BSD-3-Clause
#include "flexint.h"

#include "bytes.h"
#include "hbh.h"
#include "ip.h"

#include <errno.h>
#include <string.h>

#define TRACE_HEAD 10 // option type, length, namespace, trace type
#define E2E_HEAD   4  // option type, length, bitmap
#define ENTRY_HEAD 4  // node id, bitmap

// The bitmaps of trace type 0x7000E000, the paper's own, for which the code is compiled without
// branches.
#define FAST_E2E 0x7000
#define FAST_HOP 0xE000

#define LOAD_2(from)   hs_be16_load(from)
#define LOAD_4(from)   hs_be32_load(from)
#define LOAD_8(from)   hs_be64_load(from)
#define STORE_2(to, v) hs_be16_store(to, (uint16_t)(v))
#define STORE_4(to, v) hs_be32_store(to, v)
#define STORE_8(to, v) hs_be64_store(to, v)

#define WIDTH(type, member) sizeof(((struct type *)0)->member)

const struct hs_telemetry_field hs_flexint_fields[] = {
#define HS_E2E_FIELD(bit, bytes, member, name)                                                     \
	{false, bit, bytes, WIDTH(hs_e2e, member), offsetof(struct hs_e2e, member), #member, name},
#define HS_HOP_FIELD(bit, bytes, member, name)                                                     \
	{true, bit, bytes, WIDTH(hs_hop, member), offsetof(struct hs_hop, member), #member, name},
#include "flexint_fields.def"
};
const size_t hs_flexint_n_fields = sizeof(hs_flexint_fields) / sizeof(hs_flexint_fields[0]);

const struct hs_telemetry_family hs_flexint_family = {
		.name = "flexint",
		.method = "flexint",
		.number = HS_TELEMETRY_FLEXINT,
		.fields = hs_flexint_fields,
		.n_fields = sizeof(hs_flexint_fields) / sizeof(hs_flexint_fields[0]),
		.hop_known = HS_HOP_KNOWN,
		.packet_bits = 16,
		.max_node_id = UINT16_MAX,
		.decode = hs_flexint_decode,
		.pack = hs_flexint_pack,
};
_Static_assert(HS_FLEXINT_MAX_HOPS <= HS_TELEMETRY_MAX_HOPS, "the longest path");

#define HS_E2E_FIELD(bit, bytes, member, name)                                                     \
	_Static_assert(WIDTH(hs_e2e, member) >= (bytes), #member);
#define HS_HOP_FIELD(bit, bytes, member, name)                                                     \
	_Static_assert(WIDTH(hs_hop, member) >= (bytes), #member);
#include "flexint_fields.def"

static inline size_t e2e_bytes(uint16_t bitmap)
{
	size_t n = 0;
#define HS_E2E_FIELD(bit, bytes, member, name) n += bitmap & (bit) ? (bytes) : 0u;
#include "flexint_fields.def"
	return n;
}

static inline size_t hop_bytes(uint16_t bitmap)
{
	size_t n = 0;
#define HS_HOP_FIELD(bit, bytes, member, name) n += bitmap & (bit) ? (bytes) : 0u;
#include "flexint_fields.def"
	return n;
}

static inline void put_e2e(uint8_t *at, uint16_t bitmap, const struct hs_e2e *e2e)
{
#define HS_E2E_FIELD(bit, bytes, member, name)                                                     \
	if (bitmap & (bit)) {                                                                      \
		STORE_##bytes(at, e2e->member);                                                    \
		at += (bytes);                                                                     \
	}
#include "flexint_fields.def"
}

static inline void put_hop(uint8_t *at, uint16_t bitmap, const struct hs_hop *hop)
{
#define HS_HOP_FIELD(bit, bytes, member, name)                                                     \
	if (bitmap & (bit)) {                                                                      \
		STORE_##bytes(at, hop->member);                                                    \
		at += (bytes);                                                                     \
	}
#include "flexint_fields.def"
}

static inline void get_e2e(const uint8_t *at, uint16_t bitmap, struct hs_e2e *e2e)
{
#define HS_E2E_FIELD(bit, bytes, member, name)                                                     \
	if (bitmap & (bit)) {                                                                      \
		e2e->member = LOAD_##bytes(at);                                                    \
		at += (bytes);                                                                     \
	}
#include "flexint_fields.def"
}

static inline void get_hop(const uint8_t *at, uint16_t bitmap, struct hs_hop *hop)
{
#define HS_HOP_FIELD(bit, bytes, member, name)                                                     \
	if (bitmap & (bit)) {                                                                      \
		hop->member = LOAD_##bytes(at);                                                    \
		at += (bytes);                                                                     \
	}
#include "flexint_fields.def"
}

void hs_flexint_parse(const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet)
{
	static const struct hs_packet_options options = {
			hs_hbh_parse, hs_hbh_has_telemetry, .ipv6_alone = true};

	hs_packet_parse(frame, len, frame_len, &options, packet);
}

static inline size_t round_up_8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static inline void add_payload(uint8_t *frame, const struct hs_packet *packet, size_t growth)
{
	hs_be16_store(frame + packet->l3_off + HS_IPV6_PAYLOAD,
			(uint16_t)(packet->l3_bytes - HS_IPV6_BYTES + growth));
}

// ---- insertion of a block of options, common to telemetry, requests and reports ----

// Returns by how much the frame grows for `bytes` of options: after the host's options, or after
// `lead` bytes of padding in a new header.
static inline size_t block_growth(const struct hs_packet *packet, size_t bytes, size_t lead)
{
	const uint16_t no = HS_PACKET_MALFORMED | HS_PACKET_SHORT;
	if ((packet->flags & (HS_PACKET_IPV6 | no)) != HS_PACKET_IPV6)
		return 0;
	size_t growth = packet->hbh_bytes ? round_up_8(bytes)
					  : round_up_8(HS_HBH_OPTIONS + lead + bytes);
	if (packet->hbh_bytes + growth > HS_HBH_MAX_BYTES ||
			packet->l3_bytes + growth > HS_IPV6_MAX_BYTES)
		return 0;
	return growth;
}

// Opens `growth` bytes at the end of the Hop-by-Hop header, or a new header, and pads the bytes
// that the `bytes` of options will not cover. Returns where the options go.
static inline uint8_t *open_block(uint8_t *frame, const struct hs_packet *packet, size_t growth,
		size_t bytes, size_t lead)
{
	uint8_t *ip = frame + packet->l3_off;
	uint8_t *hbh = ip + HS_IPV6_BYTES;
	uint8_t *at = hbh + packet->hbh_bytes;
	size_t front = packet->l3_off + (size_t)HS_IPV6_BYTES + packet->hbh_bytes;
	uint8_t next = frame[growth + packet->l3_off + HS_IPV6_NEXT];

	memmove(frame, frame + growth, front);
	hbh[1] = (uint8_t)((packet->hbh_bytes + growth) / 8 - 1);
	if (!packet->hbh_bytes) {
		hbh[0] = next;
		ip[HS_IPV6_NEXT] = HS_IP_HOP_BY_HOP;
		at += HS_HBH_OPTIONS;
		hs_hbh_pad(at, lead);
		at += lead;
	}
	add_payload(frame, packet, growth);
	hs_hbh_pad(at + bytes, (size_t)(frame + front + growth - (at + bytes)));
	return at;
}

// ---- source ----

static inline size_t layout_lead(enum hs_flexint_layout layout)
{
	return layout == HS_LAYOUT_ALIGNED ? 2 : 0;
}

size_t hs_flexint_source_growth(
		const struct hs_packet *packet, uint32_t trace_type, enum hs_flexint_layout layout)
{
	size_t bytes = TRACE_HEAD + E2E_HEAD + e2e_bytes((uint16_t)(trace_type >> 16));
	return block_growth(packet, bytes, layout_lead(layout));
}

size_t hs_flexint_path_growth(uint32_t trace_type, enum hs_flexint_layout layout, unsigned n_nodes)
{
	size_t entry = ENTRY_HEAD + hop_bytes((uint16_t)trace_type);
	size_t most = (HS_FLEXINT_MAX_TRACE - (TRACE_HEAD - 2)) / entry;
	size_t entries = n_nodes && (uint16_t)trace_type ? n_nodes - 1 : 0;
	size_t bytes = TRACE_HEAD + E2E_HEAD + e2e_bytes((uint16_t)(trace_type >> 16));

	bytes += entry * (entries < most ? entries : most);
	return round_up_8(HS_HBH_OPTIONS + layout_lead(layout) + bytes);
}

void hs_flexint_source_insert(uint8_t *frame, const struct hs_packet *packet, size_t growth,
		uint32_t ns_id, uint32_t trace_type, enum hs_flexint_layout layout,
		const struct hs_e2e *e2e)
{
	uint16_t bitmap = (uint16_t)(trace_type >> 16) & HS_E2E_KNOWN;
	size_t data = e2e_bytes(bitmap);
	uint8_t *at = open_block(
			frame, packet, growth, TRACE_HEAD + E2E_HEAD + data, layout_lead(layout));
	at[0] = HS_OPT_TRACE;
	at[1] = TRACE_HEAD - 2;
	hs_be32_store(at + 2, ns_id);
	hs_be32_store(at + 6, trace_type);
	at += TRACE_HEAD;
	at[0] = HS_OPT_E2E;
	at[1] = (uint8_t)(E2E_HEAD - 2 + data);
	hs_be16_store(at + 2, bitmap);
	if (bitmap == FAST_E2E)
		put_e2e(at + E2E_HEAD, FAST_E2E, e2e);
	else
		put_e2e(at + E2E_HEAD, bitmap, e2e);
}

// ---- transit ----

// The part that moves when an entry is added: the older entries and the option 0x11 after them. The
// padding that follows shrinks or grows, so that the bytes after it keep their offset modulo 8.
struct room {
	size_t entry;	// offset of the new entry in the frame
	size_t end;	// end of what moves
	size_t padding; // bytes of padding after `end` now
};

static inline void find_room(
		const uint8_t *frame, const struct hs_packet *packet, struct room *room)
{
	size_t hbh = packet->l3_off + (size_t)HS_IPV6_BYTES;
	room->end = packet->trace_off + 2u + frame[packet->trace_off + 1];
	if (room->end == packet->e2e_off)
		room->end += 2u + frame[room->end + 1];
	room->padding = hs_hbh_padding_end(frame + hbh, packet->hbh_bytes, room->end - hbh) + hbh -
			room->end;
}

static inline size_t entry_growth(const struct room *room, size_t bytes)
{
	return bytes > room->padding ? round_up_8(bytes - room->padding) : 0;
}

int hs_flexint_hop_growth(const uint8_t *frame, const struct hs_packet *packet, uint16_t bitmap)
{
	size_t bytes = ENTRY_HEAD + hop_bytes(bitmap);
	if (!(packet->flags & HS_PACKET_TELEMETRY))
		return -EINVAL;
	if (frame[packet->trace_off + 1] + bytes > HS_FLEXINT_MAX_TRACE)
		return -ENOSPC;
	struct room room;
	find_room(frame, packet, &room);
	size_t growth = entry_growth(&room, bytes);
	if (packet->hbh_bytes + growth > HS_HBH_MAX_BYTES ||
			packet->l3_bytes + growth > HS_IPV6_MAX_BYTES)
		return -ENOSPC;
	return (int)growth;
}

// Makes room for an entry of `bytes` in the general case. The front moves down by the growth. The
// older entries move by the growth less the entry's bytes, and the padding fills the rest.
static void move_all(uint8_t *frame, const struct hs_packet *packet, size_t growth, size_t bytes)
{
	const uint8_t *old = frame + growth;
	size_t entry = packet->trace_off + (size_t)TRACE_HEAD;
	struct room room;
	find_room(old, packet, &room);
	memmove(frame, old, entry);
	memmove(frame + entry + bytes, old + entry, room.end - entry);
	hs_hbh_pad(frame + room.end + bytes, room.padding + growth - bytes);
}

void hs_flexint_hop_insert(uint8_t *frame, const struct hs_packet *packet, size_t growth,
		const struct hs_hop *hop)
{
	uint16_t bitmap = hop->bitmap & HS_HOP_KNOWN;
	size_t bytes = ENTRY_HEAD + hop_bytes(bitmap);
	const uint8_t *old = frame + growth;
	size_t entry = packet->trace_off + (size_t)TRACE_HEAD;
	uint8_t trace_len = old[packet->trace_off + 1];

	if (bytes == growth) // the bytes after the entry, padding included, do not move
		memmove(frame, old, entry);
	else
		move_all(frame, packet, growth, bytes);

	frame[packet->trace_off + 1] = (uint8_t)(trace_len + bytes);
	frame[packet->l3_off + HS_IPV6_BYTES + 1] = (uint8_t)((packet->hbh_bytes + growth) / 8 - 1);
	add_payload(frame, packet, growth);
	uint8_t *at = frame + entry;
	hs_be16_store(at, (uint16_t)hop->node_id);
	hs_be16_store(at + 2, bitmap);
	if (bitmap == FAST_HOP)
		put_hop(at + ENTRY_HEAD, FAST_HOP, hop);
	else
		put_hop(at + ENTRY_HEAD, bitmap, hop);
}

// ---- sink ----

// Cuts the Hop-by-Hop header to its first `kept` bytes; 0 removes it. The frame begins at frame +
// result.
static inline size_t cut_hbh(uint8_t *frame, const struct hs_packet *packet, size_t kept)
{
	size_t front = packet->l3_off + (size_t)HS_IPV6_BYTES;
	size_t taken = packet->hbh_bytes - kept;
	uint8_t next = frame[front];

	memmove(frame + taken, frame, front + kept);
	frame += taken;
	if (kept)
		frame[front + 1] = (uint8_t)(kept / 8 - 1);
	else
		frame[packet->l3_off + HS_IPV6_NEXT] = next;
	hs_be16_store(frame + packet->l3_off + HS_IPV6_PAYLOAD,
			(uint16_t)(packet->l3_bytes - HS_IPV6_BYTES - taken));
	return taken;
}

size_t hs_flexint_strip(uint8_t *frame, const struct hs_packet *packet)
{
	size_t taken = packet->telemetry_bytes;
	if (!taken && !(packet->flags & HS_PACKET_MIXED))
		return 0;
	size_t kept = packet->hbh_bytes - taken;
	if (kept && packet->flags & HS_PACKET_MIXED)
		hs_hbh_repack(frame + packet->l3_off + HS_IPV6_BYTES, packet->hbh_bytes);
	return cut_hbh(frame, packet, kept);
}

size_t hs_flexint_take_type(uint8_t *frame, const struct hs_packet *packet, uint8_t type)
{
	if (!packet->hbh_bytes)
		return 0;
	size_t kept = hs_hbh_take_type(
			frame + packet->l3_off + HS_IPV6_BYTES, packet->hbh_bytes, type);
	return cut_hbh(frame, packet, kept);
}

static int decode_e2e(const uint8_t *at, size_t len, struct hs_e2e *e2e)
{
	*e2e = (struct hs_e2e){0};
	if (len < 2)
		return -EBADMSG;
	uint16_t bitmap = hs_be16_load(at);
	if (bitmap & ~HS_E2E_KNOWN || len - 2 != e2e_bytes(bitmap))
		return -EBADMSG;
	e2e->bitmap = bitmap;
	if (bitmap == FAST_E2E)
		get_e2e(at + 2, FAST_E2E, e2e);
	else
		get_e2e(at + 2, bitmap, e2e);
	return 0;
}

static int decode_hop(struct hs_reader *r, struct hs_hop *hop)
{
	*hop = (struct hs_hop){0};
	hop->node_id = hs_reader_be16(r);
	hop->bitmap = hs_reader_be16(r);
	const uint8_t *at = hs_reader_take(r, hop_bytes(hop->bitmap));
	if (r->failed || hop->bitmap & ~HS_HOP_KNOWN)
		return -EBADMSG;
	if (hop->bitmap == FAST_HOP)
		get_hop(at, FAST_HOP, hop);
	else
		get_hop(at, hop->bitmap, hop);
	return 0;
}

// Decodes the entries with the paper's bitmap, up to the first entry with another.
static void decode_fast_hops(struct hs_reader *r, struct hs_decoded *out)
{
	enum {
		BYTES = ENTRY_HEAD + 20 // of all values
	};
	size_t left = hs_reader_left(r), at;
	const uint8_t *entries = hs_reader_take(r, 0);
	for (at = 0; left - at >= BYTES && hs_be16_load(entries + at + 2) == FAST_HOP;
			at += BYTES) {
		struct hs_hop *hop = &out->hops[out->n_hops++];
		hop->node_id = hs_be16_load(entries + at);
		hop->bitmap = FAST_HOP;
		get_hop(entries + at + ENTRY_HEAD, FAST_HOP, hop);
	}
	hs_reader_take(r, at);
}

int hs_flexint_decode(const uint8_t *trace, size_t trace_len, const uint8_t *e2e, size_t e2e_len,
		struct hs_decoded *out)
{
	out->n_hops = 0;
	out->nodes_missing = false;
	if (trace_len > HS_FLEXINT_MAX_TRACE)
		return -EBADMSG;
	struct hs_reader r = hs_reader_over(trace, trace_len);
	out->ns_id = hs_reader_be32(&r);
	out->trace_type = hs_reader_be32(&r);
	if (r.failed || decode_e2e(e2e, e2e_len, &out->e2e))
		return -EBADMSG;
	decode_fast_hops(&r, out);
	while (hs_reader_left(&r)) {
		// 247 bytes hold 61 of the smallest entries and three more bytes.
		if (out->n_hops == HS_FLEXINT_MAX_HOPS || decode_hop(&r, &out->hops[out->n_hops]))
			return -EBADMSG;
		out->n_hops++;
	}
	return 0;
}

// ---- requests and reports ----

size_t hs_flexint_block_growth(const struct hs_packet *packet, size_t bytes)
{
	return bytes ? block_growth(packet, bytes, 0) : 0;
}

void hs_flexint_block_insert(uint8_t *frame, const struct hs_packet *packet, size_t growth,
		const uint8_t *options, size_t bytes)
{
	memcpy(open_block(frame, packet, growth, bytes, 0), options, bytes);
}

bool hs_flexint_option_next(const uint8_t *frame, const struct hs_packet *packet, uint8_t type,
		size_t *cursor, const uint8_t **data, size_t *len)
{
	const uint8_t *hbh = frame + packet->l3_off + HS_IPV6_BYTES;
	size_t at = *cursor ? *cursor : HS_HBH_OPTIONS;
	while (at < packet->hbh_bytes) {
		size_t n = hs_hbh_option_bytes(hbh, packet->hbh_bytes, at);
		if (!n)
			return false;
		*cursor = at + n;
		if (hbh[at] == type && n >= 2) {
			*data = hbh + at + 2;
			*len = n - 2;
			return true;
		}
		at += n;
	}
	return false;
}
