// SPDX-License-Identifier: BSD-3-Clause
#include "int_report_writer.h"

#include "int_report_head.h"

#include <errno.h>
#include <string.h>

// Stores an occupancy in 24 bits. A greater value is stored as the greatest.
static inline void store_24(uint8_t *at, uint32_t v)
{
	v = v > 0xffffff ? 0xffffff : v;
	at[0] = (uint8_t)(v >> 16);
	hs_be16_store(at + 1, (uint16_t)v);
}

#define STORE_1(at, v) (*(at) = (uint8_t)(v))
#define STORE_2(at, v) hs_be16_store(at, (uint16_t)(v))
#define STORE_3(at, v) store_24(at, (uint32_t)(v))
#define STORE_4(at, v) hs_be32_store(at, (uint32_t)(v))
#define STORE_8(at, v) hs_be64_store(at, v)

static inline void store_words(uint8_t *to, const uint32_t *words, size_t bytes)
{
	for (size_t i = 0; i < bytes / 4; i++)
		hs_be32_store(to + 4 * i, words[i]);
}

static inline void set_flags(struct hs_int_report_head *head, const struct hs_int_report *r)
{
	head->dropped = r->dropped;
	head->congested = r->congested;
	head->tracked = r->tracked;
	head->intermediate = r->intermediate;
	head->hw_id = r->hw_id;
}

static size_t copy_packet(
		struct hs_int_report_writer *w, const uint8_t *packet, size_t packet_bytes)
{
	size_t n = w->room - w->len;
	if (n > packet_bytes)
		n = packet_bytes;
	if (n)
		memcpy(w->bytes + w->len, packet, n);
	w->len += n;
	return n;
}

// ---- 0.5 ----

static enum hs_int_report_0_5_next next_0_5(const struct hs_int_report *r)
{
	if (r->has & HS_INT_REPORT_DROP)
		return HS_INT_REPORT_0_5_DROP;
	if (r->has & (HS_INT_REPORT_PORTS | HS_INT_REPORT_QUEUE | HS_INT_REPORT_EGRESS_TIME))
		return HS_INT_REPORT_0_5_LOCAL;
	return HS_INT_REPORT_0_5_ETHERNET;
}

static size_t bytes_0_5(enum hs_int_report_0_5_next next)
{
	static const uint8_t behind[] = {
			[HS_INT_REPORT_0_5_ETHERNET] = 0,
			[HS_INT_REPORT_0_5_DROP] = HS_INT_REPORT_0_5_DROP_BYTES,
			[HS_INT_REPORT_0_5_LOCAL] = HS_INT_REPORT_0_5_LOCAL_BYTES,
	};
	return (size_t)HS_INT_REPORT_0_5_BYTES + behind[next];
}

static void put_drop(uint8_t *at, const struct hs_int_report *r)
{
	memset(at, 0, HS_INT_REPORT_0_5_DROP_BYTES);
#define HS_REPORT_0_5_DROP(mask, bytes, member, there, name)                                       \
	STORE_##bytes(at, r->has &(there) ? r->member : UINT32_MAX);                               \
	at += (bytes);
#include "int_report_fields.def"
}

static void put_local(uint8_t *at, const struct hs_int_report *r)
{
#define HS_REPORT_0_5_LOCAL(mask, bytes, member, there, name)                                      \
	STORE_##bytes(at, r->has &(there) ? r->member : UINT32_MAX);                               \
	at += (bytes);
#include "int_report_fields.def"
}

static int add_0_5(struct hs_int_report_writer *w, const struct hs_int_report *r)
{
	enum hs_int_report_0_5_next next = next_0_5(r);
	size_t bytes = bytes_0_5(next);
	if (r->inner != HS_INT_INNER_ETHERNET || !(r->has & HS_INT_REPORT_INGRESS_TIME) ||
			(next != HS_INT_REPORT_0_5_ETHERNET && !(r->has & HS_INT_REPORT_NODE)))
		return -EINVAL;
	if (w->full || w->room < bytes)
		return -ENOSPC;
	struct hs_int_report_head head = {.next = next,
			.sequence = r->sequence,
			.ingress_ns = (uint32_t)r->ingress_ns};
	uint32_t words[HS_INT_REPORT_0_5_BYTES / 4] = {0};
	set_flags(&head, r);
#define HS_REPORT_0_5_HEAD(first, bits, member, name) HS_HEAD_PUT(words, &head, first, bits, member)
#include "int_report_fields.def"
	store_words(w->bytes, words, HS_INT_REPORT_0_5_BYTES);
	if (next == HS_INT_REPORT_0_5_DROP)
		put_drop(w->bytes + HS_INT_REPORT_0_5_BYTES, r);
	else if (next == HS_INT_REPORT_0_5_LOCAL)
		put_local(w->bytes + HS_INT_REPORT_0_5_BYTES, r);
	w->len = bytes;
	return 0;
}

// ---- 1.0 ----

static uint32_t md_bits_1_0(const struct hs_int_report *r)
{
	uint32_t md_bits = 0;
#define HS_REPORT_1_0_VALUE(mask, bytes, member, there, name)                                      \
	md_bits |= r->has & (there) ? (mask) : 0u;
#include "int_report_fields.def"
	return md_bits;
}

static void put_values_1_0(uint8_t *at, uint32_t md_bits, const struct hs_int_report *r)
{
#define HS_REPORT_1_0_VALUE(mask, bytes, member, there, name)                                      \
	if (md_bits & (mask)) {                                                                    \
		STORE_##bytes(at, r->member);                                                      \
		at += (bytes);                                                                     \
	}
#define HS_REPORT_1_0_PAD(mask, bytes)                                                             \
	if (md_bits & (mask)) {                                                                    \
		memset(at, 0, bytes);                                                              \
		at += (bytes);                                                                     \
	}
#include "int_report_fields.def"
}

static int add_1_0(struct hs_int_report_writer *w, const struct hs_int_report *r)
{
	const uint16_t needed = HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME;
	if (r->inner < HS_INT_INNER_ETHERNET || r->inner > HS_INT_INNER_IPV6 ||
			(r->has & needed) != needed)
		return -EINVAL;
	uint32_t md_bits = md_bits_1_0(r);
	size_t bytes = HS_INT_REPORT_1_0_BYTES + hs_int_report_1_0_value_bytes(md_bits);
	if (w->full || w->room < bytes)
		return -ENOSPC;
	struct hs_int_report_head head = {
			.version = 1,
			.length = (uint32_t)bytes / 4,
			.next = r->inner - (uint32_t)HS_INT_INNER_ETHERNET,
			.md_bits = md_bits,
			.node_id = r->node_id,
			.sequence = r->sequence,
			.ingress_ns = (uint32_t)r->ingress_ns,
	};
	uint32_t words[HS_INT_REPORT_1_0_BYTES / 4] = {0};
	set_flags(&head, r);
#define HS_REPORT_1_0_HEAD(first, bits, member, name) HS_HEAD_PUT(words, &head, first, bits, member)
#include "int_report_fields.def"
	store_words(w->bytes, words, HS_INT_REPORT_1_0_BYTES);
	put_values_1_0(w->bytes + HS_INT_REPORT_1_0_BYTES, md_bits, r);
	w->len = bytes;
	return 0;
}

// ---- 2.0 ----

#define HS_REPORT_2_0_VALUE(mask, bytes, member, there, name)                                      \
	_Static_assert((mask) == (there), "a bit of RepMdBits is the report's");
#include "int_report_fields.def"

static uint32_t md_bits_2_0(const struct hs_int_report *r)
{
	uint32_t known = 0;
#define HS_REPORT_2_0_VALUE(mask, bytes, member, there, name) known |= (mask);
#include "int_report_fields.def"
	return r->has & known;
}

// Returns whether a report has values, so that its type is INT.
static bool has_main(const struct hs_int_report *r, uint32_t md_bits)
{
	return md_bits || r->domain_id || r->domain_bits || r->domain_status || r->domain_words;
}

static size_t bytes_2_0(const struct hs_int_report *r, uint32_t md_bits)
{
	size_t bytes = HS_INT_REPORT_2_0_BYTES;
	if (has_main(r, md_bits))
		bytes += HS_INT_REPORT_2_0_MAIN_BYTES + hs_int_report_2_0_value_bytes(md_bits) +
			 4u * r->domain_words;
	return bytes;
}

static void put_group(struct hs_int_report_writer *w, const struct hs_int_report *r)
{
	const struct hs_int_report_head head = {.version = 2,
			.hw_id = r->hw_id,
			.sequence = r->sequence,
			.node_id = r->node_id};
	uint32_t words[HS_INT_REPORT_2_0_GROUP_BYTES / 4] = {0};
#define HS_REPORT_2_0_GROUP_HEAD(first, bits, member, name)                                        \
	HS_HEAD_PUT(words, &head, first, bits, member)
#include "int_report_fields.def"
	store_words(w->bytes, words, HS_INT_REPORT_2_0_GROUP_BYTES);
	w->len = HS_INT_REPORT_2_0_GROUP_BYTES;
	w->node_id = r->node_id;
	w->hw_id = r->hw_id;
}

static void put_values_2_0(uint8_t *at, uint32_t md_bits, const struct hs_int_report *r)
{
#define HS_REPORT_2_0_VALUE(mask, bytes, member, there, name)                                      \
	if (md_bits & (mask)) {                                                                    \
		STORE_##bytes(at, r->member);                                                      \
		at += (bytes);                                                                     \
	}
#define HS_REPORT_2_0_PAD(mask, bytes)                                                             \
	if (md_bits & (mask)) {                                                                    \
		memset(at, 0, bytes);                                                              \
		at += (bytes);                                                                     \
	}
#include "int_report_fields.def"
	if (r->domain_words)
		memcpy(at, r->domain, 4u * r->domain_words);
}

static void put_main(uint8_t *at, uint32_t md_bits, const struct hs_int_report *r)
{
	const struct hs_int_report_head head = {.md_bits = md_bits,
			.domain_id = r->domain_id,
			.domain_bits = r->domain_bits,
			.domain_status = r->domain_status};
	uint32_t words[HS_INT_REPORT_2_0_MAIN_BYTES / 4] = {0};
#define HS_REPORT_2_0_MAIN_HEAD(first, bits, member, name)                                         \
	HS_HEAD_PUT(words, &head, first, bits, member)
#include "int_report_fields.def"
	store_words(at, words, HS_INT_REPORT_2_0_MAIN_BYTES);
	put_values_2_0(at + HS_INT_REPORT_2_0_MAIN_BYTES, md_bits, r);
}

// Writes the first word of a report. The word has the report's length, so it is written last.
static void put_first_word(uint8_t *at, const struct hs_int_report *r, bool main, size_t md_bytes,
		size_t all_bytes)
{
	size_t behind = all_bytes / 4 - 1;
	struct hs_int_report_head head = {.type = main,
			.next = r->inner,
			.length = behind < 0xff ? (uint32_t)behind : 0xff,
			.md_length = (uint32_t)md_bytes / 4};
	uint32_t words[HS_INT_REPORT_2_0_BYTES / 4] = {0};
	set_flags(&head, r);
#define HS_REPORT_2_0_HEAD(first, bits, member, name) HS_HEAD_PUT(words, &head, first, bits, member)
#include "int_report_fields.def"
	store_words(at, words, HS_INT_REPORT_2_0_BYTES);
}

static int add_2_0(struct hs_int_report_writer *w, const struct hs_int_report *r,
		const uint8_t *packet, size_t packet_bytes)
{
	uint32_t md_bits = md_bits_2_0(r);
	bool main = has_main(r, md_bits);
	size_t bytes = bytes_2_0(r, md_bits);
	size_t md_bytes = main ? bytes - HS_INT_REPORT_2_0_BYTES - HS_INT_REPORT_2_0_MAIN_BYTES : 0;
	size_t group = w->len ? 0 : HS_INT_REPORT_2_0_GROUP_BYTES;
	if (!(r->has & HS_INT_REPORT_NODE) || r->inner > 15 || md_bytes > 255 * 4 ||
			(w->len && (r->node_id != w->node_id || r->hw_id != w->hw_id)))
		return -EINVAL;
	w->room -= w->room % 4; // reports are whole words
	if (w->full || w->room - w->len < group + bytes)
		return -ENOSPC;
	if (!w->len)
		put_group(w, r);
	uint8_t *first = w->bytes + w->len;
	if (main)
		put_main(first + HS_INT_REPORT_2_0_BYTES, md_bits, r);
	w->len += bytes;
	size_t copied = r->inner ? copy_packet(w, packet, packet_bytes) : 0;
	size_t padding = -copied & 3;
	memset(w->bytes + w->len, 0, padding);
	w->len += padding;
	size_t all = (size_t)(w->bytes + w->len - first);
	put_first_word(first, r, main, md_bytes, all);
	w->full = all / 4 > 0xff; // such a report runs to the end of the datagram
	return 0;
}

// ---- all versions ----

int hs_int_report_add(struct hs_int_report_writer *w, const struct hs_int_report *report,
		const uint8_t *packet, size_t packet_bytes)
{
	if (report->hw_id > HS_INT_REPORT_MAX_HW_ID)
		return -EINVAL;
	if (w->version == HS_INT_REPORT_2_0)
		return add_2_0(w, report, packet, packet_bytes);
	int rc = w->version == HS_INT_REPORT_1_0 ? add_1_0(w, report) : add_0_5(w, report);
	if (rc)
		return rc;
	copy_packet(w, packet, packet_bytes);
	w->full = true;
	return 0;
}

size_t hs_int_report_bytes(enum hs_int_report_version version, const struct hs_int_report *report)
{
	switch (version) {
	case HS_INT_REPORT_0_5:
		return bytes_0_5(next_0_5(report));
	case HS_INT_REPORT_1_0:
		return HS_INT_REPORT_1_0_BYTES + hs_int_report_1_0_value_bytes(md_bits_1_0(report));
	default:
		return HS_INT_REPORT_2_0_GROUP_BYTES + bytes_2_0(report, md_bits_2_0(report));
	}
}
