// SPDX-License-Identifier: BSD-3-Clause
#include "cbor_writer.h"

#include "cbor_reader.h"

#include <cbor.h>
#include <string.h>

// libcbor's encoders return the number of bytes written, or 0 if the room is too small.
static void wrote(struct hs_cbor_writer *writer, size_t n)
{
	if (n == 0 || n > writer->left) {
		writer->failed = true;
		writer->left = 0;
		return;
	}
	writer->at += n;
	writer->left -= n;
}

static void put_raw(struct hs_cbor_writer *writer, const void *bytes, size_t len)
{
	if (len > writer->left) {
		writer->failed = true;
		writer->left = 0;
		return;
	}
	if (len) // with len 0, bytes may be NULL
		memcpy(writer->at, bytes, len);
	writer->at += len;
	writer->left -= len;
}

void hs_cbor_put_map(struct hs_cbor_writer *writer, size_t pairs)
{
	wrote(writer, cbor_encode_map_start(pairs, writer->at, writer->left));
}

void hs_cbor_put_array(struct hs_cbor_writer *writer, size_t items)
{
	wrote(writer, cbor_encode_array_start(items, writer->at, writer->left));
}

void hs_cbor_put_unsigned(struct hs_cbor_writer *writer, uint64_t value)
{
	wrote(writer, cbor_encode_uint(value, writer->at, writer->left));
}

void hs_cbor_put_bool(struct hs_cbor_writer *writer, bool value)
{
	wrote(writer, cbor_encode_bool(value, writer->at, writer->left));
}

// Returns whether a half equals the number: the reader widens a half without rounding.
static bool fits_half(double value)
{
	uint8_t bytes[3];
	struct hs_cbor_item item;
	size_t n = cbor_encode_half((float)value, bytes, sizeof(bytes));
	struct hs_cbor_reader reader = hs_cbor_reader_over(bytes, n, "number", "", NULL);
	return hs_cbor_next(&reader, &item) == 0 && item.real == value;
}

void hs_cbor_put_real(struct hs_cbor_writer *writer, double value)
{
	size_t n;
	if ((double)(float)value != value)
		n = cbor_encode_double(value, writer->at, writer->left);
	else if (fits_half(value))
		n = cbor_encode_half((float)value, writer->at, writer->left);
	else
		n = cbor_encode_single((float)value, writer->at, writer->left);
	wrote(writer, n);
}

void hs_cbor_put_text(struct hs_cbor_writer *writer, const char *text)
{
	size_t len = strlen(text);
	wrote(writer, cbor_encode_string_start(len, writer->at, writer->left));
	put_raw(writer, text, len);
}
