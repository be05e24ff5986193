// SPDX-License-Identifier: BSD-3-Clause
#include "cbor_reader.h"

#include <cbor.h>
#include <errno.h>

// The decoder's callbacks fill this.
struct found {
	struct hs_cbor_item item;
	bool indefinite; // an indefinite length, or the break that ends it
};

static void set_number(void *context, enum hs_cbor_type type, uint64_t number)
{
	struct found *found = context;
	found->item.type = type;
	found->item.number = number;
}

static void on_uint8(void *context, uint8_t v)
{
	set_number(context, HS_CBOR_UNSIGNED, v);
}

static void on_uint16(void *context, uint16_t v)
{
	set_number(context, HS_CBOR_UNSIGNED, v);
}

static void on_uint32(void *context, uint32_t v)
{
	set_number(context, HS_CBOR_UNSIGNED, v);
}

static void on_uint64(void *context, uint64_t v)
{
	set_number(context, HS_CBOR_UNSIGNED, v);
}

// CBOR stores -1 - v.
static void on_negint8(void *context, uint8_t v)
{
	set_number(context, HS_CBOR_NEGATIVE, (uint64_t)v + 1);
}

static void on_negint16(void *context, uint16_t v)
{
	set_number(context, HS_CBOR_NEGATIVE, (uint64_t)v + 1);
}

static void on_negint32(void *context, uint32_t v)
{
	set_number(context, HS_CBOR_NEGATIVE, (uint64_t)v + 1);
}

static void on_negint64(void *context, uint64_t v)
{
	set_number(context, HS_CBOR_NEGATIVE, v == UINT64_MAX ? v : v + 1);
}

static void set_bytes(void *context, enum hs_cbor_type type, cbor_data bytes, size_t len)
{
	struct found *found = context;
	found->item.type = type;
	found->item.bytes = bytes;
	found->item.len = len;
}

static void on_text(void *context, cbor_data text, size_t len)
{
	set_bytes(context, HS_CBOR_TEXT, text, len);
}

static void on_bytes(void *context, cbor_data bytes, size_t len)
{
	set_bytes(context, HS_CBOR_BYTES, bytes, len);
}

static void on_boolean(void *context, bool v)
{
	struct found *found = context;
	found->item.type = HS_CBOR_BOOL;
	found->item.boolean = v;
}

static void on_double(void *context, double v)
{
	struct found *found = context;
	found->item.type = HS_CBOR_REAL;
	found->item.real = v;
}

static void on_float(void *context, float v)
{
	on_double(context, (double)v);
}

static void on_map(void *context, size_t n)
{
	set_number(context, HS_CBOR_MAP, n);
}

static void on_array(void *context, size_t n)
{
	set_number(context, HS_CBOR_ARRAY, n);
}

static void on_tag(void *context, uint64_t tag)
{
	set_number(context, HS_CBOR_TAG, tag);
}

static void on_indefinite(void *context)
{
	((struct found *)context)->indefinite = true;
}

static void on_leaf(void *context)
{
	(void)context;
}

static const struct cbor_callbacks callbacks = {
		.uint8 = on_uint8,
		.uint16 = on_uint16,
		.uint32 = on_uint32,
		.uint64 = on_uint64,
		.negint8 = on_negint8,
		.negint16 = on_negint16,
		.negint32 = on_negint32,
		.negint64 = on_negint64,
		.byte_string = on_bytes,
		.byte_string_start = on_indefinite,
		.string = on_text,
		.string_start = on_indefinite,
		.array_start = on_array,
		.indef_array_start = on_indefinite,
		.map_start = on_map,
		.indef_map_start = on_indefinite,
		.tag = on_tag,
		.float2 = on_float,
		.float4 = on_float,
		.float8 = on_double,
		.boolean = on_boolean,
		.null = on_leaf,
		.undefined = on_leaf,
		.indef_break = on_indefinite,
};

int hs_cbor_fail(const struct hs_cbor_reader *reader, const char *what)
{
	return hs_error_set(reader->err, "not_cbor", "", reader->expected, "the %s %s",
			reader->noun, what);
}

int hs_cbor_next(struct hs_cbor_reader *reader, struct hs_cbor_item *item)
{
	struct found found = {.item = {.type = HS_CBOR_OTHER}};
	struct cbor_decoder_result result =
			cbor_stream_decode(reader->at, reader->left, &callbacks, &found);
	if (result.status == CBOR_DECODER_NEDATA)
		return hs_cbor_fail(reader, "ends too early");
	if (result.status != CBOR_DECODER_FINISHED || result.read == 0 ||
			result.read > reader->left)
		return hs_cbor_fail(reader, "is not CBOR");
	reader->at += result.read;
	reader->left -= result.read;
	if (found.indefinite)
		return hs_cbor_fail(reader, "has an indefinite length, which is not allowed");
	*item = found.item;
	if (item->type == HS_CBOR_MAP || item->type == HS_CBOR_ARRAY) {
		size_t least = item->type == HS_CBOR_MAP ? 2 : 1;
		if (item->number > reader->left / least)
			return hs_cbor_fail(reader, "ends too early");
	}
	return 0;
}

static int skip(struct hs_cbor_reader *reader, const struct hs_cbor_item *item, unsigned depth)
{
	uint64_t items = 0;

	if (item->type == HS_CBOR_TAG)
		items = 1;
	else if (item->type == HS_CBOR_ARRAY)
		items = item->number;
	else if (item->type == HS_CBOR_MAP)
		items = 2 * item->number;
	else
		return 0;
	if (depth >= HS_CBOR_MAX_DEPTH)
		return hs_cbor_fail(reader, "is nested too deep");
	while (items-- > 0) {
		struct hs_cbor_item child;
		if (hs_cbor_next(reader, &child) || skip(reader, &child, depth + 1))
			return -EINVAL;
	}
	return 0;
}

int hs_cbor_skip(struct hs_cbor_reader *reader, const struct hs_cbor_item *item)
{
	return skip(reader, item, 0);
}

int hs_cbor_end(const struct hs_cbor_reader *reader)
{
	return reader->left ? hs_cbor_fail(reader, "has bytes behind it") : 0;
}
