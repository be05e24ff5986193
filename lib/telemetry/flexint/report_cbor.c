// SPDX-License-Identifier: BSD-3-Clause
#include "report_cbor.h"

#include "cbor_reader.h"
#include "cbor_writer.h"
#include "telemetry_field.h"

#include <errno.h>
#include <stdio.h>

static_assert(sizeof(((struct hs_report_record *)0)->data) >=
				HS_FLEXINT_MAX_TRACE + HS_FLEXINT_MAX_E2E,
		"the longest options fit a record");

enum key {
	KEY_NS_ID,
	KEY_TRACE_TYPE,
	KEY_E2E,
	KEY_SINK,
	KEY_HOPS,
	KEY_APP_ID,
	KEY_SINK_NODE_ID,
	N_KEYS,
};

#define N_REQUIRED KEY_APP_ID // the paper's own nodes do not know this key and those after it

static const char *const key_names[N_KEYS] = {
		"ns_id", "trace_type", "e2e", "sink", "hops", "app_id", "sink_node_id"};

static bool has_field(const struct hs_telemetry_field *field, bool hop, uint16_t bitmap)
{
	return field->hop == hop && bitmap & field->bit;
}

static size_t count_values(bool hop, uint16_t bitmap)
{
	size_t n = 0;
	for (size_t i = 0; i < hs_flexint_n_fields; i++)
		n += has_field(&hs_flexint_fields[i], hop, bitmap);
	return n;
}

// ---- writing ----

static void put_values(struct hs_cbor_writer *out, bool hop, uint16_t bitmap, const void *values)
{
	for (size_t i = 0; i < hs_flexint_n_fields; i++)
		if (has_field(&hs_flexint_fields[i], hop, bitmap))
			hs_cbor_put_unsigned(out,
					hs_telemetry_field_load(&hs_flexint_fields[i], values));
}

static void put_hop(struct hs_cbor_writer *out, const struct hs_hop *hop)
{
	hs_cbor_put_array(out, 2 + count_values(true, hop->bitmap));
	hs_cbor_put_unsigned(out, hop->node_id);
	hs_cbor_put_unsigned(out, hop->bitmap);
	put_values(out, true, hop->bitmap, hop);
}

// Returns the trace type to write. The reader takes the e2e bitmap from the trace type, so both
// must agree, even if a peer sent another bitmap than its trace type has.
static uint32_t spoken_trace_type(const struct hs_decoded *telemetry)
{
	return (telemetry->trace_type & ~((uint32_t)HS_E2E_KNOWN << 16)) |
	       (uint32_t)telemetry->e2e.bitmap << 16;
}

int hs_report_to_cbor(const struct hs_report *report, const struct hs_report_sender *sender,
		uint8_t *bytes, size_t size)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	struct hs_cbor_writer out = hs_cbor_writer_over(bytes, size);

	hs_cbor_put_map(&out, N_KEYS);
	hs_cbor_put_unsigned(&out, KEY_NS_ID);
	hs_cbor_put_unsigned(&out, telemetry->ns_id);
	hs_cbor_put_unsigned(&out, KEY_TRACE_TYPE);
	hs_cbor_put_unsigned(&out, spoken_trace_type(telemetry));
	hs_cbor_put_unsigned(&out, KEY_E2E);
	hs_cbor_put_array(&out, count_values(false, telemetry->e2e.bitmap));
	put_values(&out, false, telemetry->e2e.bitmap, &telemetry->e2e);
	hs_cbor_put_unsigned(&out, KEY_SINK);
	hs_cbor_put_array(&out, 3);
	hs_cbor_put_unsigned(&out, (uint64_t)(report->sink_ts_ns < 0 ? 0 : report->sink_ts_ns));
	hs_cbor_put_unsigned(&out, report->sink_rx_packets);
	hs_cbor_put_unsigned(&out, report->sink_rx_bytes);
	hs_cbor_put_unsigned(&out, KEY_HOPS);
	hs_cbor_put_array(&out, telemetry->n_hops);
	for (unsigned i = telemetry->n_hops; i-- > 0;)
		put_hop(&out, &telemetry->hops[i]);
	hs_cbor_put_unsigned(&out, KEY_APP_ID);
	hs_cbor_put_unsigned(&out, sender->app_id);
	hs_cbor_put_unsigned(&out, KEY_SINK_NODE_ID);
	hs_cbor_put_unsigned(&out, sender->sink_node_id);
	return out.failed ? -ENOSPC : (int)(out.at - bytes);
}

// ---- reading ----

static int wrong_type(const struct hs_cbor_reader *in, const char *what, const char *expected)
{
	return hs_error_set(in->err, "wrong_type", what, expected, "%s is not %s", what, expected);
}

static int out_of_range(const struct hs_cbor_reader *in, const char *what, uint64_t min,
		uint64_t max, uint64_t value)
{
	char expected[64];
	snprintf(expected, sizeof(expected), "%llu to %llu", (unsigned long long)min,
			(unsigned long long)max);
	return hs_error_set(in->err, "out_of_range", what, expected, "%s is %llu", what,
			(unsigned long long)value);
}

static int read_unsigned(struct hs_cbor_reader *in, const char *what, uint64_t min, uint64_t max,
		uint64_t *value)
{
	struct hs_cbor_item item;

	if (hs_cbor_next(in, &item))
		return -EINVAL;
	if (item.type != HS_CBOR_UNSIGNED)
		return wrong_type(in, what, "an unsigned integer");
	if (item.number < min || item.number > max)
		return out_of_range(in, what, min, max, item.number);
	*value = item.number;
	return 0;
}

static int read_array(struct hs_cbor_reader *in, const char *what, uint64_t min, uint64_t max,
		uint64_t *n)
{
	struct hs_cbor_item item;

	if (hs_cbor_next(in, &item))
		return -EINVAL;
	if (item.type != HS_CBOR_ARRAY)
		return wrong_type(in, what, "an array");
	if (item.number < min || item.number > max)
		return hs_error_set(in->err, "out_of_range", what, "what the bitmaps say",
				"%s has %llu items", what, (unsigned long long)item.number);
	*n = item.number;
	return 0;
}

static int read_values(struct hs_cbor_reader *in, bool hop, uint16_t bitmap, void *values)
{
	for (size_t i = 0; i < hs_flexint_n_fields; i++) {
		const struct hs_telemetry_field *field = &hs_flexint_fields[i];
		uint64_t value = 0;
		if (!has_field(field, hop, bitmap))
			continue;
		if (read_unsigned(in, field->key, 0, hs_telemetry_field_max(field), &value))
			return -EINVAL;
		hs_telemetry_field_store(field, values, value);
	}
	return 0;
}

static int read_hop(struct hs_cbor_reader *in, struct hs_hop *hop)
{
	uint64_t n = 0, id = 0, bitmap = 0;

	if (read_array(in, "hop", 2, 2 + hs_flexint_n_fields, &n) ||
			read_unsigned(in, "node_id", 0, UINT16_MAX, &id) ||
			read_unsigned(in, "bitmap", 0, UINT16_MAX, &bitmap))
		return -EINVAL;
	*hop = (struct hs_hop){.node_id = (uint32_t)id, .bitmap = (uint16_t)bitmap};
	if (bitmap & ~(uint64_t)HS_HOP_KNOWN)
		return hs_error_set(in->err, "out_of_range", "bitmap", "bits of 0xE000",
				"the bitmap of a hop is 0x%04X", (unsigned)bitmap);
	if (n != 2 + count_values(true, hop->bitmap))
		return hs_error_set(in->err, "out_of_range", "hop", "what its bitmap says",
				"a hop of bitmap 0x%04X has %llu values", hop->bitmap,
				(unsigned long long)n - 2);
	return read_values(in, true, hop->bitmap, hop);
}

// Reads the hops, which come from source to sink and are kept in the order of the wire.
static int read_hops(struct hs_cbor_reader *in, struct hs_decoded *telemetry)
{
	uint64_t n = 0;

	if (read_array(in, "hops", 0, HS_FLEXINT_MAX_HOPS, &n))
		return -EINVAL;
	telemetry->n_hops = (uint16_t)n;
	while (n-- > 0)
		if (read_hop(in, &telemetry->hops[n]))
			return -EINVAL;
	return 0;
}

static int read_sink(struct hs_cbor_reader *in, struct hs_report *report)
{
	uint64_t n = 0, ts_ns = 0;

	if (read_array(in, "sink", 3, 3, &n) ||
			read_unsigned(in, "sink_ts_ns", 0, INT64_MAX, &ts_ns) ||
			read_unsigned(in, "rx_packets", 0, UINT64_MAX, &report->sink_rx_packets) ||
			read_unsigned(in, "rx_bytes", 0, UINT64_MAX, &report->sink_rx_bytes))
		return -EINVAL;
	report->sink_ts_ns = (int64_t)ts_ns;
	return 0;
}

// The part that depends on another key. Keys may come in any order, so it is read last.
struct parts {
	uint32_t seen; // one bit for each key
	struct hs_cbor_reader e2e;
};

static int read_number(struct hs_cbor_reader *in, enum key key, struct hs_report *report,
		struct hs_report_sender *sender)
{
	uint64_t value = 0;

	if (read_unsigned(in, key_names[key], key == KEY_NS_ID,
			    key == KEY_SINK_NODE_ID ? UINT16_MAX : UINT32_MAX, &value))
		return -EINVAL;
	if (key == KEY_NS_ID)
		report->telemetry.ns_id = (uint32_t)value;
	else if (key == KEY_TRACE_TYPE)
		report->telemetry.trace_type = (uint32_t)value;
	else if (key == KEY_APP_ID)
		sender->app_id = (uint32_t)value;
	else
		sender->sink_node_id = (uint16_t)value;
	return 0;
}

static int skip_item(struct hs_cbor_reader *in)
{
	struct hs_cbor_item item;
	return hs_cbor_next(in, &item) || hs_cbor_skip(in, &item) ? -EINVAL : 0;
}

static int read_member(struct hs_cbor_reader *in, struct hs_report *report,
		struct hs_report_sender *sender, struct parts *parts)
{
	struct hs_cbor_item key;

	if (hs_cbor_next(in, &key) || hs_cbor_skip(in, &key))
		return -EINVAL;
	if (key.type != HS_CBOR_UNSIGNED || key.number >= N_KEYS)
		return skip_item(in);
	if (parts->seen & 1u << key.number)
		return hs_error_set(in->err, "duplicate_key", key_names[key.number],
				"each key once", "%s comes twice", key_names[key.number]);
	parts->seen |= 1u << key.number;
	switch ((enum key)key.number) {
	case KEY_E2E:
		parts->e2e = *in;
		return skip_item(in);
	case KEY_SINK:
		return read_sink(in, report);
	case KEY_HOPS:
		return read_hops(in, &report->telemetry);
	default:
		return read_number(in, (enum key)key.number, report, sender);
	}
}

static int check_required(const struct hs_cbor_reader *in, uint32_t seen)
{
	for (unsigned key = 0; key < N_REQUIRED; key++)
		if (!(seen & 1u << key))
			return hs_error_set(in->err, "missing_field", key_names[key],
					"the keys 0 to 4", "%s is missing", key_names[key]);
	return 0;
}

static int read_e2e(struct parts *parts, struct hs_decoded *telemetry)
{
	struct hs_e2e *e2e = &telemetry->e2e;
	uint64_t n = 0;

	*e2e = (struct hs_e2e){.bitmap = (uint16_t)(telemetry->trace_type >> 16 & HS_E2E_KNOWN)};
	size_t values = count_values(false, e2e->bitmap);
	if (read_array(&parts->e2e, "e2e", values, values, &n))
		return -EINVAL;
	return read_values(&parts->e2e, false, e2e->bitmap, e2e);
}

static int read_report(struct hs_cbor_reader *in, struct hs_report *report,
		struct hs_report_sender *sender)
{
	struct parts parts = {0};
	struct hs_cbor_item map;

	if (hs_cbor_next(in, &map))
		return -EINVAL;
	if (map.type != HS_CBOR_MAP)
		return hs_cbor_fail(in, "is not a map");
	while (map.number-- > 0)
		if (read_member(in, report, sender, &parts))
			return -EINVAL;
	if (hs_cbor_end(in) || check_required(in, parts.seen))
		return -EINVAL;
	return read_e2e(&parts, &report->telemetry);
}

int hs_report_from_cbor(const uint8_t *bytes, size_t len, struct hs_report *report,
		struct hs_report_sender *sender, struct hs_error *err)
{
	report->telemetry.family = &hs_flexint_family;
	report->telemetry.nodes_missing = false;
	struct hs_cbor_reader in = hs_cbor_reader_over(
			bytes, len, "report", "one map with the keys 0 to 6", err);

	*sender = (struct hs_report_sender){0};
	return read_report(&in, report, sender);
}

// Expects a map of definite length whose first key is 0, then an integer of at most 32 bits.
uint32_t hs_report_cbor_ns_id(const uint8_t *bytes, size_t len)
{
	if (len < 3 || bytes[0] < 0xA1 || bytes[0] > 0xB7 || bytes[1] != KEY_NS_ID)
		return 0;
	uint8_t head = bytes[2];
	if (head < 24)
		return head;
	if (head > 26)
		return 0;
	size_t width = (size_t)1 << (head - 24u);
	if (len < 3 + width)
		return 0;
	uint32_t value = 0;
	for (size_t i = 0; i < width; i++)
		value = value << 8 | bytes[3 + i];
	return value;
}
