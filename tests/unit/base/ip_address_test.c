// SPDX-License-Identifier: BSD-3-Clause
#include "ip_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void each_version_is_read_and_written(void **state)
{
	static const struct {
		const char *text, *again;
		bool is_4;
	} rows[] = {
			{"192.0.2.1", NULL, true},
			{"0.0.0.0", NULL, true},
			{"255.255.255.255", NULL, true},
			{"2001:DB8::1", "2001:db8::1", false},
			{"::", NULL, false},
			{"::1", NULL, false},
			{"::192.0.2.1", NULL, false}, // "compatible", which is not mapped
			{"64:ff9b::c000:201", NULL, false},
			{"::ffff:0:c000:201", NULL, false},
	};
	char text[HS_IP_ADDRESS_TEXT];
	uint8_t address[16];
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_null(hs_ip_address_read(rows[i].text, address));
		assert_int_equal(hs_ip_address_is_ipv4(address), rows[i].is_4);
		assert_string_equal(hs_ip_address_write(address, text),
				rows[i].again ? rows[i].again : rows[i].text);
	}
}

static void a_value_has_one_text(void **state)
{
	static const char *const none[] = {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4",
			"1.2.3.4 ", "1.2.3.4/32", "::ffff:1.2.3.4", "::FFFF:102:304",
			"0:0:0:0:0:ffff:1.2.3.4", "fe80::1%eth0", "2001:db8::/32", "localhost",
			"0x7f.1", "2130706433"};
	uint8_t address[16], before[16];
	(void)state;
	memset(before, 0x5a, sizeof(before));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		memcpy(address, before, sizeof(address));
		assert_non_null(hs_ip_address_read(none[i], address));
		assert_memory_equal(address, before, sizeof(address));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_version_is_read_and_written),
			cmocka_unit_test(a_value_has_one_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
