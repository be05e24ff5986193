// SPDX-License-Identifier: BSD-3-Clause
// The headers in front of a payload, byte for byte as scapy makes them, and checksums of any
// payload.
#include "hex.h"
#include "udp_front.h"

#include "bytes.h"

#define REPORT "140000430000000300000007075bcd15"

static const struct hs_udp_front_settings ipv4 = {
		.src_mac = {2, 0, 0, 0, 0, 1},
		.dst_mac = {2, 0, 0, 0, 0, 9},
		.src_ip = {192, 0, 2, 1},
		.dst_ip = {192, 0, 2, 9},
		.dst_port = 32766,
		.hop_limit = 64,
};
static const struct hs_udp_front_settings ipv6 = {
		.src_mac = {2, 0, 0, 0, 0, 1},
		.dst_mac = {2, 0, 0, 0, 0, 9},
		.ipv6 = true,
		.src_ip = {0x20, 0x01, 0x0d, 0xb8, [15] = 1},
		.dst_ip = {0x20, 0x01, 0x0d, 0xb8, [15] = 9},
		.dst_port = 32766,
		.hop_limit = 64,
};

static void writes(const struct hs_udp_front_settings *settings, const char *payload,
		uint16_t src_port, const char *expected)
{
	uint8_t frame[256], bytes[256];
	struct hs_udp_front front;
	hs_udp_front_init(&front, settings);
	memset(frame, 0xa5, sizeof(frame));
	size_t len = unhex(payload, frame + front.len);
	hs_udp_front_write(&front, frame, len, src_port);
	assert_int_equal(unhex(expected, bytes), front.len + len);
	assert_memory_equal(frame, bytes, front.len + len);
	assert_int_equal(frame[front.len + len], 0xa5);
}

static void ipv4_is_as_scapy_makes_it(void **state)
{
	(void)state;
	const char front[] =
			"02000000000902000000000108004500002c000040004011b6b6c0000201c000020904d2"
			"7ffe0018";
	char expected[256];
	struct hs_udp_front_settings settings = ipv4;
	snprintf(expected, sizeof(expected), "%s0000%s", front, REPORT);
	writes(&settings, REPORT, 1234, expected);
	settings.ipv4_checksum = true;
	snprintf(expected, sizeof(expected), "%s0e25%s", front, REPORT);
	writes(&settings, REPORT, 1234, expected);
}

static void ipv6_always_has_a_checksum(void **state)
{
	(void)state;
	struct hs_udp_front_settings settings = ipv6;
	settings.dscp = 46;
	writes(&settings, REPORT "ff", 65535,
			"02000000000902000000000186dd6b8000000019114020010db80000000000000000000000"
			"0120010db8000000000000000000000009ffff7ffe00193c83" REPORT "ff");
}

static void a_checksum_of_zero_is_sent_as_ones(void **state)
{
	(void)state;
	writes(&ipv6, "1f8e", 1234,
			"02000000000902000000000186dd60000000000a114020010db80000000000000000000000"
			"0120010db800000000000000000000000904d27ffe000affff1f8e");
}

// The sum of a receiver: RFC 1071, one 16-bit word after the other.
static uint16_t plain_sum(uint32_t sum, const uint8_t *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)sum;
}

static void every_length_and_byte_has_a_right_checksum(void **state)
{
	(void)state;
	static uint8_t frame[HS_UDP_FRONT_MAX_BYTES + 2000];
	for (size_t len = 0; len < 2000; len += len < 70 ? 1 : 61) {
		for (unsigned i = 0; i < 4; i++) {
			struct hs_udp_front_settings settings = i & 1 ? ipv6 : ipv4;
			struct hs_udp_front front;
			settings.ipv4_checksum = true;
			hs_udp_front_init(&front, &settings);
			for (size_t b = 0; b < len; b++)
				frame[front.len + b] = i & 2 ? 0xff : (uint8_t)(b * 7 + len);
			hs_udp_front_write(&front, frame, len, (uint16_t)(len * 31));
			uint16_t udp = (uint16_t)(8 + len);
			const uint8_t *addresses = frame + 14 + (i & 1 ? 8 : 12);
			uint16_t sum = plain_sum(17u + udp, addresses, i & 1 ? 32 : 8);
			assert_int_equal(plain_sum(sum, frame + front.len - 8, udp), 0xffff);
			assert_int_equal(hs_be16_load(frame + front.len - 4), udp);
			if (!(i & 1)) {
				assert_int_equal(plain_sum(0, frame + 14, 20), 0xffff);
				assert_int_equal(hs_be16_load(frame + 16), 20 + udp);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(ipv4_is_as_scapy_makes_it),
			cmocka_unit_test(ipv6_always_has_a_checksum),
			cmocka_unit_test(a_checksum_of_zero_is_sent_as_ones),
			cmocka_unit_test(every_length_and_byte_has_a_right_checksum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
