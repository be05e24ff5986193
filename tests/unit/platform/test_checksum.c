// SPDX-License-Identifier: BSD-3-Clause
#include "checksum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Whole frames are scapy's; the unfinished ones have the pseudo header's sum in the field.
struct vector {
	const char *name;
	size_t start, offset; // of the sum, and of its field from there
	const char *unfinished, *whole;
};

static const struct vector vectors[] = {
		{"udp over ipv6", 54, 6,
				"02000000000202000000000186dd600000000013114020010db800000000000000"
				"000000"
				"000120010db80000000000000000000000020001000200135b996f6464206c656e"
				"677468"
				"21",
				"02000000000202000000000186dd600000000013114020010db800000000000000"
				"000000"
				"000120010db800000000000000000000000200010002001360966f6464206c656e"
				"677468"
				"21"},
		{"tcp over ipv6 behind two tags", 62, 16,
				"02000000000202000000000188a800058100000686dd600000000014064020010d"
				"b80000"
				"0000000000000000000120010db800000000000000000000000200010002000000"
				"000000"
				"0000500220005b8f0000",
				"02000000000202000000000188a800058100000686dd600000000014064020010d"
				"b80000"
				"0000000000000000000120010db800000000000000000000000200010002000000"
				"000000"
				"000050022000346b0000"},
		{"udp behind options", 70, 6,
				"02000000000202000000000186dd60000000001c004020010db800000000000000"
				"000000"
				"000120010db80000000000000000000000023c0005020000010011000104000000"
				"000001"
				"0002000c5b9264617461",
				"02000000000202000000000186dd60000000001c004020010db800000000000000"
				"000000"
				"000120010db80000000000000000000000023c0005020000010011000104000000"
				"000001"
				"0002000ccb9b64617461"},
		{"tcp over ipv4", 34, 16,
				"02000000000202000000000108004500002d000100004006f6c6c0000201c00002"
				"020001"
				"00020000000000000000500220008423000068656c6c6f",
				"02000000000202000000000108004500002d000100004006f6c6c0000201c00002"
				"020001"
				"0002000000000000000050022000c804000068656c6c6f"},
		{"udp over ipv4", 34, 6,
				"020000000002020000000001080045000021000100004011f6c7c0000201c00002"
				"020001"
				"0002000d842268656c6c6f",
				"020000000002020000000001080045000021000100004011f6c7c0000201c00002"
				"020001"
				"0002000d37fb68656c6c6f"},
};

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
	size_t n = 0;
	for (; hex[0] && hex[1]; hex += 2) {
		char pair[3] = {hex[0], hex[1], 0};
		bytes[n++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return n;
}

static void a_sum_left_to_hardware_is_completed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		uint8_t frame[256], whole[256];
		size_t len = bytes_of(vectors[i].unfinished, frame);
		bytes_of(vectors[i].whole, whole);
		assert_true(hs_checksum_complete(frame, len, vectors[i].start, vectors[i].offset));
		if (memcmp(frame, whole, len))
			print_error("%s\n", vectors[i].name);
		assert_memory_equal(frame, whole, len);
	}
}

static void a_field_outside_its_frame_is_refused_and_nothing_changes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		uint8_t frame[256];
		size_t end = vectors[i].start + vectors[i].offset + 2;
		bytes_of(vectors[i].unfinished, frame);
		for (size_t cut = 0; cut < end; cut++) {
			uint8_t *exact = malloc(cut + 1); // a write behind it is found by ASan
			uint8_t guard = 0xa5;
			memcpy(exact, frame, cut);
			exact[cut] = guard;
			assert_false(hs_checksum_complete(
					exact, cut, vectors[i].start, vectors[i].offset));
			assert_int_equal(exact[cut], guard);
			assert_memory_equal(exact, frame, cut);
			free(exact);
		}
		assert_false(hs_checksum_complete(frame, end, UINT16_MAX, UINT16_MAX));
		assert_true(hs_checksum_complete(frame, end, vectors[i].start, vectors[i].offset));
	}
}

// As RFC 1071 defines it: 16-bit words, one after the other.
static uint16_t slow_sum(const uint8_t *bytes, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)((sum >> 8) | (sum << 8)); // network order in a register
}

static void a_sum_of_any_length_and_place_is_that_of_its_words(void **state)
{
	static uint8_t bytes[65536 + 8];
	uint32_t seed = 12345;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1103515245 + 12345;
		bytes[i] = (uint8_t)(seed >> 16);
	}
	for (size_t n = 0; n < 200; n++)
		for (size_t at = 0; at < 8; at++)
			assert_int_equal(hs_checksum_fold(hs_checksum_add(0, bytes + at, n)),
					slow_sum(bytes + at, n));
	memset(bytes, 0xff, sizeof(bytes)); // the largest sum
	assert_int_equal(
			hs_checksum_fold(hs_checksum_add(0, bytes, 65535)), slow_sum(bytes, 65535));
}

// With the words of a frame, the sum is 0xffff, whose inverse is 0.
static void a_sum_of_zero_is_written_as_the_protocol_has_it(void **state)
{
	static const struct {
		size_t offset;
		uint8_t byte;
	} cases[] = {{6, 0xff}, {16, 0}}; // UDP (RFC 768), TCP (RFC 9293)

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t frame[34] = {[14] = 0xff, [15] = 0xff};

		assert_true(hs_checksum_complete(frame, sizeof(frame), 14, cases[i].offset));
		assert_int_equal(frame[14 + cases[i].offset], cases[i].byte);
		assert_int_equal(frame[14 + cases[i].offset + 1], cases[i].byte);
	}
}

// CRC32c bit by bit (RFC 9260, appendix A).
static uint32_t slow_crc(const uint8_t *bytes, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < 8 * n; i++) {
		uint32_t bit = (crc ^ bytes[i / 8] >> i % 8) & 1;
		crc = crc >> 1 ^ (bit ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void the_checksum_of_sctp_is_a_crc_of_four_bytes(void **state)
{
	static const uint8_t of_zeros[] = {0xaa, 0x36, 0x91, 0x8a}; // 32 bytes: RFC 3720, B.4
	uint8_t frame[34 + 201] = {0}, before[sizeof(frame)];

	(void)state;
	assert_true(hs_checksum_complete(frame, 34 + 32, 34, 8));
	assert_memory_equal(frame + 34 + 8, of_zeros, 4);
	for (size_t n = 12; n <= 201; n++) {
		for (size_t i = 0; i < sizeof(frame); i++)
			frame[i] = (uint8_t)(n * 31 + i * 7);
		memset(frame + 34 + 8, 0, 4); // as Linux leaves it
		memcpy(before, frame, sizeof(frame));
		uint32_t crc = slow_crc(frame + 34, n);
		for (size_t i = 0; i < 4; i++)
			before[34 + 8 + i] = (uint8_t)(crc >> 8 * i);
		assert_true(hs_checksum_complete(frame, 34 + n, 34, 8));
		assert_memory_equal(frame, before, sizeof(frame));
	}
	assert_false(hs_checksum_complete(frame, 34 + 11, 34, 8));
	assert_memory_equal(frame, before, sizeof(frame));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_sum_left_to_hardware_is_completed),
			cmocka_unit_test(a_field_outside_its_frame_is_refused_and_nothing_changes),
			cmocka_unit_test(a_sum_of_zero_is_written_as_the_protocol_has_it),
			cmocka_unit_test(the_checksum_of_sctp_is_a_crc_of_four_bytes),
			cmocka_unit_test(a_sum_of_any_length_and_place_is_that_of_its_words),
	};
	return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
