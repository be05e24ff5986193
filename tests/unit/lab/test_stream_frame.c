// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

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

static void assert_frame_is(const char *name, const char *hex)
{
	char made[2 * HS_STREAM_FRAME_BYTES + 1];
	for (uint32_t i = 0; i < s.frame.len; i++)
		snprintf(made + 2 * (size_t)i, 3, "%02x", s.frame.bytes[i]);
	if (strcmp(made, hex) != 0)
		fail_msg("%s: %s", name, made);
}

// Each frame arrives unaltered, so that requests get replies and segments get acknowledgements.
static void run_case(const char *name, const char *kind, const char *protocol, int payload,
		json_int_t number, bool reply, int src_port, const char *hex)
{
	stream_prepare();
	s.traffic.kind = kind_of(kind);
	s.traffic.protocol = protocol_of(protocol);
	s.traffic.payload_bytes = (uint32_t)payload;
	s.traffic.src_port = (uint16_t)src_port;
	bool ipv4 = strncmp(hex + 24, "0800", 4) == 0;
	if (ipv4)
		stream_use_ipv4();
	stream_open(1);
	do {
		assert_true(stream_next());
		if (!s.frame.reply && reply)
			stream_arrive(s.at_ns);
	} while (s.frame.number != (uint64_t)number || s.frame.reply != reply);
	assert_frame_is(name, hex);
	if (!ipv4)
		assert_int_equal(checksum_left(s.frame.bytes, s.frame.len), 0);
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

	stream_prepare();
	s.traffic.src_port = 65535;
	s.traffic.dst_port = 65534;
	s.traffic.payload_bytes = 1003;
	for (unsigned i = 0; i < 2; i++)
		memset(s.hosts[i].addr, 0xff, 16);
	for (unsigned p = 0; p < 3; p++) {
		s.traffic.protocol = protocols[p];
		hs_stream_template_init(&template, &s.scenario, 0, &stream_macs, false);
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

	stream_prepare();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s.traffic.protocol = rows[i].protocol;
		s.traffic.payload_bytes = HS_PORT_MTU_MAX - rows[i].headers;
		hs_stream_template_init(&template, &s.scenario, 0, &stream_macs, true);
		assert_int_equal(template.len, sizeof(template.bytes));
		assert_int_equal(checksum_left(template.bytes, template.len), 0);
	}
}

// Sends a frame, which then arrives with each of its bytes altered. Returns how many of them
// count, which is all but the addresses and the byte at hop_limit.
static uint64_t alter_bytes(uint8_t bytes[600], uint32_t hop_limit)
{
	uint64_t altered = 0;

	stream_open(1);
	assert_true(stream_next());
	memcpy(bytes, s.frame.bytes, s.frame.len);
	for (uint32_t i = 0; i < s.frame.len; i++) {
		bytes[i] ^= 0x10;
		stream_arrive_as(1, bytes, s.frame.len);
		bytes[i] ^= 0x10;
		altered += i >= 12 && i != hop_limit;
		assert_int_equal(s.stream->counters.altered, altered);
	}
	return altered;
}

static void every_altered_byte_is_counted(void **state)
{
	(void)state;
	uint8_t bytes[600];

	stream_prepare();
	s.traffic.protocol = IPPROTO_TCP;
	s.traffic.payload_bytes = 20;
	uint64_t altered = alter_bytes(bytes, 21);
	uint32_t len = s.frame.len;
	assert_int_equal(s.stream->counters.delivered[0], len);
	assert_int_equal(s.stream->counters.bytes_delivered[0], len * len);
	assert_int_equal(s.stream->counters.bytes_goodput, 20 * 13);

	stream_arrive_as(1, bytes, len - 1);
	stream_arrive_as(1, bytes, len + 1);
	stream_arrive_as(2, bytes, len); // was never sent
	stream_arrive_as(0, bytes, len);
	hs_stream_arrived(s.stream, START_NS, true, 1, bytes, len);
	assert_int_equal(s.stream->counters.altered, altered + 5);
	stream_arrive_as(1, bytes, len);
	assert_int_equal(s.stream->counters.altered, altered + 5);
}

// A router decrements TTL and writes the checksum anew. Each byte that is altered otherwise counts.
static void a_routed_frame_of_ipv4_is_not_altered(void **state)
{
	(void)state;
	uint8_t bytes[600];

	stream_prepare();
	stream_use_ipv4();
	uint64_t altered = alter_bytes(bytes, 0);
	for (unsigned hops = 1; hops < 64; hops++) {
		bytes[22]--; // RFC 1624: the checksum grows by what the TTL loses
		unsigned sum = bytes[24] * 256u + bytes[25] + 0x100;
		sum = (sum & 0xffff) + (sum >> 16);
		bytes[24] = (uint8_t)(sum >> 8);
		bytes[25] = (uint8_t)sum;
		stream_arrive_as(1, bytes, s.frame.len);
	}
	assert_int_equal(s.stream->counters.altered, altered);
}

static void a_frame_that_arrives_late_is_compared_with_its_own_number(void **state)
{
	(void)state;
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_ICMPV6};
	for (int p = 0; p < 2; p++) {
		uint8_t first[600];

		stream_prepare();
		s.traffic.protocol = protocols[p];
		stream_open(1);
		assert_true(stream_next());
		memcpy(first, s.frame.bytes, s.frame.len);
		assert_true(stream_next());
		stream_arrive_as(1, first, s.frame.len);
		assert_int_equal(s.stream->counters.altered, 0);
		stream_arrive_as(2, first, s.frame.len);
		assert_int_equal(s.stream->counters.altered, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(frames_are_those_of_scapy),
			TEST(every_number_has_the_right_checksum),
			TEST(the_longest_payload_of_the_largest_mtu_fits),
			TEST(every_altered_byte_is_counted),
			TEST(a_routed_frame_of_ipv4_is_not_altered),
			TEST(a_frame_that_arrives_late_is_compared_with_its_own_number),
	};
	return cmocka_run_group_tests(tests, NULL, stream_end);
}
