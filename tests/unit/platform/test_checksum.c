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
	const char *name, *unfinished, *whole;
};

static const struct vector vectors[] = {
		{"udp over ipv6",
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
		{"tcp over ipv6 behind two tags",
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
		{"udp behind options",
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
		{"tcp over ipv4",
				"02000000000202000000000108004500002d000100004006f6c6c0000201c00002"
				"020001"
				"00020000000000000000500220008423000068656c6c6f",
				"02000000000202000000000108004500002d000100004006f6c6c0000201c00002"
				"020001"
				"0002000000000000000050022000c804000068656c6c6f"},
		{"udp over ipv4",
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
		hs_checksum_complete(frame, len);
		if (memcmp(frame, whole, len))
			print_error("%s\n", vectors[i].name);
		assert_memory_equal(frame, whole, len);
	}
}

static void a_frame_cut_anywhere_is_left_alone_or_stays_in_its_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		uint8_t frame[256];
		size_t len = bytes_of(vectors[i].unfinished, frame);
		for (size_t cut = 0; cut < len; cut++) {
			uint8_t *exact = malloc(cut + 1); // a write behind it is found by ASan
			uint8_t guard = 0xa5;
			memcpy(exact, frame, cut);
			exact[cut] = guard;
			hs_checksum_complete(exact, cut);
			assert_int_equal(exact[cut], guard);
			assert_memory_equal(exact, frame, cut); // lengths exceed what is there
			free(exact);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_sum_left_to_hardware_is_completed),
			cmocka_unit_test(a_frame_cut_anywhere_is_left_alone_or_stays_in_its_bounds),
	};
	return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
