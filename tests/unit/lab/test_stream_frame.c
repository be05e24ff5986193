// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

#include "stream_frame.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

// Sums over pseudo header and message by the text of RFC 8200, without the code that builds frames.
// The sum is zero if the checksum is right.
static uint16_t checksum_left(const uint8_t *frame, uint32_t len)
{
	uint64_t sum = frame[20] + (len - 54);
	for (uint32_t i = 22; i < len; i++)
		sum += (i % 2 == 0) ? frame[i] * 256u : frame[i];
	while (sum > 0xffff)
		sum = sum / 65536 + sum % 65536;
	return (uint16_t)(0xffff - sum);
}

static uint8_t protocol_of(const char *word)
{
	if (strcmp(word, "tcp") == 0)
		return IPPROTO_TCP;
	return strcmp(word, "icmp") == 0 ? IPPROTO_ICMPV6 : IPPROTO_UDP;
}

static enum hs_traffic_kind kind_of(const char *word)
{
	if (strcmp(word, "poisson") == 0)
		return HS_TRAFFIC_POISSON;
	if (strcmp(word, "ping") == 0)
		return HS_TRAFFIC_PING;
	return strcmp(word, "window") == 0 ? HS_TRAFFIC_WINDOW : HS_TRAFFIC_CONSTANT;
}

static void assert_frame_is(const struct hs_stream_frame *frame, const char *name, const char *hex)
{
	char *made = malloc(2 * (size_t)frame->len + 1);
	assert_non_null(made);
	for (uint32_t i = 0; i < frame->len; i++)
		snprintf(made + 2 * (size_t)i, 3, "%02x", frame->bytes[i]);
	if (strcmp(made, hex) != 0)
		print_error("%s\n", name);
	assert_string_equal(made, hex);
	free(made);
}

// Each frame arrives unaltered, so that requests get replies and segments get acknowledgements.
static void run_case(const char *name, const char *kind, const char *protocol, int payload,
		json_int_t number, bool reply, int src_port, const char *hex)
{
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	stream_prepare(&fixture);
	fixture.traffic.kind = kind_of(kind);
	fixture.traffic.protocol = protocol_of(protocol);
	fixture.traffic.payload_bytes = (uint32_t)payload;
	fixture.traffic.src_port = (uint16_t)src_port;
	bool ipv4 = strncmp(hex + 24, "0800", 4) == 0;
	if (ipv4)
		stream_use_ipv4(&fixture);
	stream_open(&fixture, 1);
	do {
		assert_true(stream_next(&fixture, &at_ns, &frame));
		if (!frame.reply && reply)
			hs_stream_arrived(fixture.stream, START_NS + at_ns, false, frame.number,
					frame.bytes, frame.len);
	} while (frame.number != (uint64_t)number || frame.reply != reply);
	assert_frame_is(&frame, name, hex);
	if (!ipv4)
		assert_int_equal(checksum_left(frame.bytes, frame.len), 0);
	hs_stream_destroy(fixture.stream);
}

static void frames_are_those_of_scapy(void **state)
{
	(void)state;
	json_error_t error;
	json_t *cases = json_load_file(GOLDEN_DIR "/frames.json", 0, &error);
	size_t i;
	json_t *row;

	assert_true(json_array_size(cases) > 15);
	json_array_foreach (cases, i, row) {
		const char *name, *kind, *protocol, *hex;
		int payload, reply, src_port;
		json_int_t number;
		assert_int_equal(
				json_unpack(row, "{s:s, s:s, s:s, s:i, s:I, s:b, s:i, s:s}", "name",
						&name, "kind", &kind, "protocol", &protocol,
						"payload", &payload, "number", &number, "reply",
						&reply, "src_port", &src_port, "hex", &hex),
				0);
		run_case(name, kind, protocol, payload, number, reply, src_port, hex);
	}
	json_decref(cases);
}

static void every_number_has_the_right_checksum(void **state)
{
	(void)state;
	static const uint8_t protocols[] = {IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMPV6};
	static struct hs_stream_template template;
	struct stream_fixture fixture;

	stream_prepare(&fixture);
	fixture.traffic.src_port = 65535;
	fixture.traffic.dst_port = 65534;
	fixture.traffic.payload_bytes = 1003;
	for (unsigned i = 0; i < 2; i++)
		memset(fixture.hosts[i].addr, 0xff, 16);
	for (unsigned p = 0; p < 3; p++) {
		fixture.traffic.protocol = protocols[p];
		hs_stream_template_init(&template, &fixture.scenario, 0, &stream_macs, false);
		for (uint32_t i = 0; i < 200000; i++) {
			hs_stream_template_number(&template, i * 0x9e3779b9u, i * 0x85ebca6bu);
			if (checksum_left(template.bytes, template.len) != 0)
				fail_msg("protocol %u, draw %u", protocols[p], i);
		}
	}
}

static void the_longest_payload_of_the_largest_mtu_fits(void **state)
{
	(void)state;
	static const struct {
		uint8_t protocol;
		uint32_t headers;
	} rows[] = {{IPPROTO_UDP, 48}, {IPPROTO_TCP, 60}, {IPPROTO_ICMPV6, 48}};
	static struct hs_stream_template template;
	struct stream_fixture fixture;

	stream_prepare(&fixture);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fixture.traffic.protocol = rows[i].protocol;
		fixture.traffic.payload_bytes = HS_PORT_MTU_MAX - rows[i].headers;
		hs_stream_template_init(&template, &fixture.scenario, 0, &stream_macs, true);
		assert_int_equal(template.len, sizeof(template.bytes));
		assert_int_equal(checksum_left(template.bytes, template.len), 0);
	}
}

static void every_altered_byte_is_counted(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	struct hs_stream_counters counters;
	uint8_t bytes[600];
	uint64_t altered = 0;
	int64_t at_ns = 0;

	stream_prepare(&fixture);
	fixture.traffic.protocol = IPPROTO_TCP;
	fixture.traffic.payload_bytes = 20;
	stream_open(&fixture, 1);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	uint32_t len = frame.len;
	memcpy(bytes, frame.bytes, len);
	for (uint32_t i = 0; i < len; i++) {
		bytes[i] ^= 0x10;
		hs_stream_arrived(fixture.stream, START_NS, false, 1, bytes, len);
		bytes[i] ^= 0x10;
		altered += i >= 12 && i != 21; // except addresses and hop limit
		counters = fixture.stream->counters;
		assert_int_equal(counters.altered, altered);
	}
	assert_int_equal(counters.delivered[0], len);
	assert_int_equal(counters.bytes_delivered[0], len * len);
	assert_int_equal(counters.bytes_goodput, 20 * 13);

	hs_stream_arrived(fixture.stream, START_NS, false, 1, bytes, len - 1);
	hs_stream_arrived(fixture.stream, START_NS, false, 1, bytes, len + 1);
	hs_stream_arrived(fixture.stream, START_NS, false, 2, bytes, len); // was never sent
	hs_stream_arrived(fixture.stream, START_NS, false, 0, bytes, len);
	hs_stream_arrived(fixture.stream, START_NS, true, 1, bytes, len);
	counters = fixture.stream->counters;
	assert_int_equal(counters.altered, altered + 5);
	hs_stream_destroy(fixture.stream);
}

// A router decrements TTL and writes the checksum anew. Each byte that is altered otherwise counts.
static void a_routed_frame_of_ipv4_is_not_altered(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	struct hs_stream_counters counters;
	uint8_t bytes[600];
	uint64_t altered = 0;
	int64_t at_ns = 0;

	stream_prepare(&fixture);
	stream_use_ipv4(&fixture);
	stream_open(&fixture, 1);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	memcpy(bytes, frame.bytes, frame.len);
	for (uint32_t i = 0; i < frame.len; i++) {
		bytes[i] ^= 0x10;
		hs_stream_arrived(fixture.stream, START_NS, false, 1, bytes, frame.len);
		bytes[i] ^= 0x10;
		altered += i >= 12;
		counters = fixture.stream->counters;
		assert_int_equal(counters.altered, altered);
	}
	for (unsigned hops = 1; hops < 64; hops++) {
		bytes[22]--; // RFC 1624: the checksum grows by what the TTL loses
		unsigned sum = bytes[24] * 256u + bytes[25] + 0x100;
		sum = (sum & 0xffff) + (sum >> 16);
		bytes[24] = (uint8_t)(sum >> 8);
		bytes[25] = (uint8_t)sum;
		hs_stream_arrived(fixture.stream, START_NS, false, 1, bytes, frame.len);
	}
	counters = fixture.stream->counters;
	assert_int_equal(counters.altered, altered);
	hs_stream_destroy(fixture.stream);
}

static void a_frame_that_was_never_sent_is_altered(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	stream_prepare(&fixture);
	stream_open(&fixture, 1);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	for (uint64_t number = 0; number < 3; number++) {
		hs_stream_arrived(fixture.stream, START_NS, false, number, frame.bytes, frame.len);
		const struct hs_stream_counters counters = fixture.stream->counters;
		assert_int_equal(counters.altered, number == 2 ? 2 : 1);
	}
	hs_stream_destroy(fixture.stream);
}

static void a_frame_that_arrives_late_is_compared_with_its_own_number(void **state)
{
	(void)state;
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_ICMPV6};
	for (int p = 0; p < 2; p++) {
		struct stream_fixture fixture;
		struct hs_stream_frame frame;
		struct hs_stream_counters counters;
		uint8_t first[600];
		int64_t at_ns = 0;

		stream_prepare(&fixture);
		fixture.traffic.protocol = protocols[p];
		stream_open(&fixture, 1);
		assert_true(stream_next(&fixture, &at_ns, &frame));
		memcpy(first, frame.bytes, frame.len);
		assert_true(stream_next(&fixture, &at_ns, &frame));
		hs_stream_arrived(fixture.stream, START_NS, false, 1, first, frame.len);
		counters = fixture.stream->counters;
		assert_int_equal(counters.altered, 0);
		hs_stream_arrived(fixture.stream, START_NS, false, 2, first, frame.len);
		counters = fixture.stream->counters;
		assert_int_equal(counters.altered, 1);
		hs_stream_destroy(fixture.stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(frames_are_those_of_scapy),
			cmocka_unit_test(every_number_has_the_right_checksum),
			cmocka_unit_test(the_longest_payload_of_the_largest_mtu_fits),
			cmocka_unit_test(every_altered_byte_is_counted),
			cmocka_unit_test(a_routed_frame_of_ipv4_is_not_altered),
			cmocka_unit_test(a_frame_that_was_never_sent_is_altered),
			cmocka_unit_test(a_frame_that_arrives_late_is_compared_with_its_own_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
