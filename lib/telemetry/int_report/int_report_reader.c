// SPDX-License-Identifier: BSD-3-Clause
#include "int_report_reader.h"

#include "int_report_head.h"

#include <errno.h>

#define LOAD_1(at) (*(at))
#define LOAD_2(at) hs_be16_load(at)
#define LOAD_3(at) ((uint32_t)(at)[0] << 16 | hs_be16_load((at) + 1))
#define LOAD_4(at) hs_be32_load(at)
#define LOAD_8(at) hs_be64_load(at)

enum {
	TYPE_INNER_ONLY = 0,
	TYPE_INT = 1,
	RUNS_TO_THE_END = 0xff, // Report Length of 2.0
};

static size_t left(const struct hs_int_report_reader *r)
{
	return r->len - r->at;
}

static void load_words(uint32_t *words, const uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / 4; i++)
		words[i] = hs_be32_load(from + 4 * i);
}

static void get_flags(const struct hs_int_report_head *head, struct hs_int_report *out)
{
	out->dropped = head->dropped;
	out->congested = head->congested;
	out->tracked = head->tracked;
	out->intermediate = head->intermediate;
}

static int is_version(uint8_t first, uint16_t takes, enum hs_int_report_version *version)
{
	bool one_is_0_5 = takes & HS_INT_REPORT_TAKE_1_AS_0_5;
	switch (first >> 4) {
	case 0:
		*version = HS_INT_REPORT_0_5;
		return takes & HS_INT_REPORT_TAKE_0_5;
	case 1:
		*version = one_is_0_5 ? HS_INT_REPORT_0_5 : HS_INT_REPORT_1_0;
		return one_is_0_5 || takes & HS_INT_REPORT_TAKE_1_0;
	case 2:
		*version = HS_INT_REPORT_2_0;
		return takes & HS_INT_REPORT_TAKE_2_0;
	default:
		return false;
	}
}

static int open_group(struct hs_int_report_reader *r)
{
	struct hs_int_report_head head = {0};
	uint32_t words[HS_INT_REPORT_2_0_GROUP_BYTES / 4];
	if (left(r) < HS_INT_REPORT_2_0_GROUP_BYTES)
		return -EBADMSG;
	load_words(words, r->bytes, sizeof(words));
#define HS_REPORT_2_0_GROUP_HEAD(first, bits, member, name)                                        \
	HS_HEAD_GET(words, &head, first, bits, member)
#include "int_report_fields.def"
	r->hw_id = (uint8_t)head.hw_id;
	r->sequence = head.sequence;
	r->node_id = head.node_id;
	r->at += HS_INT_REPORT_2_0_GROUP_BYTES;
	return 0;
}

int hs_int_report_open(
		struct hs_int_report_reader *r, const uint8_t *bytes, size_t len, uint16_t takes)
{
	*r = (struct hs_int_report_reader){.bytes = bytes, .len = len, .takes = takes};
	if (!len)
		return -EBADMSG;
	if (!is_version(bytes[0], takes, &r->version))
		return -EPROTONOSUPPORT;
	return r->version == HS_INT_REPORT_2_0 ? open_group(r) : 0;
}

// ---- 0.5 ----

static void get_drop(const uint8_t *at, struct hs_int_report *out)
{
#define HS_REPORT_0_5_DROP(mask, bytes, member, there, name)                                       \
	out->member = LOAD_##bytes(at);                                                            \
	out->has |= (there);                                                                       \
	at += (bytes);
#include "int_report_fields.def"
}

static void get_local(const uint8_t *at, struct hs_int_report *out)
{
#define HS_REPORT_0_5_LOCAL(mask, bytes, member, there, name)                                      \
	out->member = LOAD_##bytes(at);                                                            \
	out->has |= (there);                                                                       \
	at += (bytes);
#include "int_report_fields.def"
	if (out->queue_id == UINT8_MAX && out->queue_packets == 0xffffff)
		out->has &= (uint16_t)~HS_INT_REPORT_QUEUE;
	if (out->egress_ns == UINT32_MAX)
		out->has &= (uint16_t)~HS_INT_REPORT_EGRESS_TIME;
}

static int next_0_5(struct hs_int_report_reader *r, struct hs_int_report *out)
{
	struct hs_int_report_head head = {0};
	uint32_t words[HS_INT_REPORT_0_5_BYTES / 4];
	const uint8_t *behind = r->bytes + HS_INT_REPORT_0_5_BYTES;
	if (left(r) < HS_INT_REPORT_0_5_BYTES)
		return -EBADMSG;
	load_words(words, r->bytes, sizeof(words));
#define HS_REPORT_0_5_HEAD(first, bits, member, name) HS_HEAD_GET(words, &head, first, bits, member)
#include "int_report_fields.def"
	r->at += HS_INT_REPORT_0_5_BYTES;
	if (head.next == HS_INT_REPORT_0_5_DROP && left(r) >= HS_INT_REPORT_0_5_DROP_BYTES) {
		get_drop(behind, out);
		r->at += HS_INT_REPORT_0_5_DROP_BYTES;
	} else if (head.next == HS_INT_REPORT_0_5_LOCAL &&
			left(r) >= HS_INT_REPORT_0_5_LOCAL_BYTES) {
		get_local(behind, out);
		r->at += HS_INT_REPORT_0_5_LOCAL_BYTES;
	} else if (head.next != HS_INT_REPORT_0_5_ETHERNET) {
		return -EBADMSG;
	}
	if ((out->ingress_port & out->egress_port) == UINT16_MAX)
		out->has &= (uint16_t)~HS_INT_REPORT_PORTS;
	get_flags(&head, out);
	out->hw_id = (uint8_t)head.hw_id;
	out->sequence = head.sequence;
	out->ingress_ns = head.ingress_ns;
	out->has |= HS_INT_REPORT_INGRESS_TIME;
	out->inner = HS_INT_INNER_ETHERNET;
	return 1;
}

// ---- 1.0 ----

static void get_values_1_0(const uint8_t *at, uint32_t md_bits, struct hs_int_report *out)
{
#define HS_REPORT_1_0_VALUE(mask, bytes, member, there, name)                                      \
	if (md_bits & (mask)) {                                                                    \
		out->member = LOAD_##bytes(at);                                                    \
		out->has |= (there);                                                               \
		at += (bytes);                                                                     \
	}
#define HS_REPORT_1_0_PAD(mask, bytes) at += md_bits & (mask) ? (bytes) : 0;
#include "int_report_fields.def"
}

static int next_1_0(struct hs_int_report_reader *r, struct hs_int_report *out)
{
	struct hs_int_report_head head = {0};
	uint32_t words[HS_INT_REPORT_1_0_BYTES / 4];
	if (left(r) < HS_INT_REPORT_1_0_BYTES)
		return -EBADMSG;
	load_words(words, r->bytes, sizeof(words));
#define HS_REPORT_1_0_HEAD(first, bits, member, name) HS_HEAD_GET(words, &head, first, bits, member)
#include "int_report_fields.def"
	size_t bytes = 4u * head.length;
	bool short_one = bytes < HS_INT_REPORT_1_0_BYTES;
	if (short_one && r->takes & HS_INT_REPORT_TAKE_SHORT_1_0)
		bytes = HS_INT_REPORT_1_0_BYTES;
	if (bytes < HS_INT_REPORT_1_0_BYTES || bytes > left(r) ||
			head.next > HS_INT_INNER_IPV6 - HS_INT_INNER_ETHERNET)
		return -EBADMSG;
	size_t values = HS_INT_REPORT_1_0_BYTES + hs_int_report_1_0_value_bytes(head.md_bits);
	r->mismatch = short_one || bytes != values;
	if (bytes == values)
		get_values_1_0(r->bytes + HS_INT_REPORT_1_0_BYTES, head.md_bits, out);
	get_flags(&head, out);
	out->has |= HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME;
	out->hw_id = (uint8_t)head.hw_id;
	out->node_id = head.node_id;
	out->sequence = head.sequence;
	out->ingress_ns = head.ingress_ns;
	out->inner = (uint8_t)(head.next + HS_INT_INNER_ETHERNET);
	r->at += bytes;
	return 1;
}

// ---- 2.0 ----

static void get_values_2_0(const uint8_t *at, uint32_t md_bits, struct hs_int_report *out)
{
#define HS_REPORT_2_0_VALUE(mask, bytes, member, there, name)                                      \
	if (md_bits & (mask)) {                                                                    \
		out->member = LOAD_##bytes(at);                                                    \
		out->has |= (there);                                                               \
		at += (bytes);                                                                     \
	}
#define HS_REPORT_2_0_PAD(mask, bytes) at += md_bits & (mask) ? (bytes) : 0;
#include "int_report_fields.def"
}

// Reads the contents of type INT. body[0, bytes) is the report after its first word. Returns the
// bytes before the packet, -EBADMSG, or -EOVERFLOW: the bitmap's values need more than md_bytes.
static int get_main(const uint8_t *body, size_t bytes, size_t md_bytes, struct hs_int_report *out)
{
	struct hs_int_report_head head = {0};
	uint32_t words[HS_INT_REPORT_2_0_MAIN_BYTES / 4];
	if (bytes < HS_INT_REPORT_2_0_MAIN_BYTES + md_bytes)
		return -EBADMSG;
	load_words(words, body, sizeof(words));
#define HS_REPORT_2_0_MAIN_HEAD(first, bits, member, name)                                         \
	HS_HEAD_GET(words, &head, first, bits, member)
#include "int_report_fields.def"
	size_t values = hs_int_report_2_0_value_bytes(head.md_bits);
	if (values > md_bytes)
		return -EOVERFLOW;
	const uint8_t *at = body + HS_INT_REPORT_2_0_MAIN_BYTES;
	get_values_2_0(at, head.md_bits, out);
	out->domain_id = (uint16_t)head.domain_id;
	out->domain_bits = (uint16_t)head.domain_bits;
	out->domain_status = (uint16_t)head.domain_status;
	out->domain_words = (uint8_t)((md_bytes - values) / 4);
	out->domain = out->domain_words ? at + values : NULL;
	return (int)(HS_INT_REPORT_2_0_MAIN_BYTES + md_bytes);
}

// Reads one report, whose type and length are in its first word.
static int get_report(struct hs_int_report_reader *r, const struct hs_int_report_head *head,
		size_t bytes, struct hs_int_report *out)
{
	const uint8_t *body = r->bytes + r->at;
	int before = 0;
	r->at += bytes;
	if (head->type > TYPE_INT) {
		r->skipped++;
		return 0;
	}
	if (head->type == TYPE_INT)
		before = get_main(body, bytes, 4u * head->md_length, out);
	else if (head->md_length)
		before = -EOVERFLOW;
	r->mismatch = before == -EOVERFLOW;
	if (before < 0)
		return -EBADMSG;
	get_flags(head, out);
	out->has |= HS_INT_REPORT_NODE;
	out->hw_id = r->hw_id;
	out->node_id = r->node_id;
	out->sequence = r->sequence;
	out->inner = (uint8_t)head->next;
	r->packet_at = (size_t)(body - r->bytes) + (size_t)before;
	r->packet_bytes = bytes - (size_t)before;
	return 1;
}

static int next_2_0(struct hs_int_report_reader *r, struct hs_int_report *out)
{
	int rc = 0;
	while (!rc && left(r)) {
		struct hs_int_report_head head = {0};
		uint32_t words[HS_INT_REPORT_2_0_BYTES / 4];
		size_t bytes = 0;
		bool whole = left(r) >= HS_INT_REPORT_2_0_BYTES;
		if (whole) {
			load_words(words, r->bytes + r->at, sizeof(words));
#define HS_REPORT_2_0_HEAD(first, bits, member, name) HS_HEAD_GET(words, &head, first, bits, member)
#include "int_report_fields.def"
			r->at += HS_INT_REPORT_2_0_BYTES;
			bytes = 4u * head.length;
			whole = bytes <= left(r);
		}
		if (!whole) {
			r->at = r->len;
			return -EBADMSG;
		}
		if (head.length == RUNS_TO_THE_END)
			bytes = left(r);
		rc = get_report(r, &head, bytes, out);
	}
	return rc;
}

// ---- all versions ----

int hs_int_report_next(struct hs_int_report_reader *r, struct hs_int_report *report)
{
	r->packet_at = r->len;
	r->packet_bytes = 0;
	r->mismatch = false;
	if (!left(r))
		return 0;
	*report = (struct hs_int_report){0};
	if (r->version == HS_INT_REPORT_2_0)
		return next_2_0(r, report);
	int rc = r->version == HS_INT_REPORT_1_0 ? next_1_0(r, report) : next_0_5(r, report);
	if (rc == 1) {
		r->packet_at = r->at;
		r->packet_bytes = left(r);
	}
	r->at = r->len;
	return rc;
}

int hs_int_report_tlv_next(const struct hs_int_report_reader *r, size_t *cursor, size_t end,
		struct hs_int_report_tlv *tlv)
{
	enum {
		HEAD = 4
	};
	static const uint8_t kinds[] = {HS_INT_INNER_DOMAIN, HS_INT_INNER_ETHERNET,
			HS_INT_INNER_IPV4, HS_INT_INNER_IPV6};
	if (*cursor >= end)
		return 0;
	const uint8_t *at = r->bytes + *cursor;
	if (end - *cursor < HEAD || end - *cursor - HEAD < 4u * at[1])
		return -EBADMSG;
	uint8_t type = at[0] >> 4;
	*tlv = (struct hs_int_report_tlv){
			.inner = type < sizeof(kinds) ? kinds[type] : HS_INT_INNER_RESERVED,
			.template = hs_be16_load(at + 2),
			.at = *cursor + HEAD,
			.bytes = 4u * at[1],
	};
	*cursor += HEAD + tlv->bytes;
	return 1;
}
