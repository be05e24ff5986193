// SPDX-License-Identifier: BSD-3-Clause
#include "ip_address.h"
#include "socket_address.h"

#include <netdb.h>

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

static void an_address_with_a_port_is_read_and_written(void **state)
{
	static const struct {
		const char *text, *wrong;
	} rows[] = {
			{"192.0.2.9:32766", NULL},
			{"[2001:db8::9]:1", NULL},
			{"[::]:65535", NULL},
			{"192.0.2.9", "is not an address and a port"},
			{":80", "is not an address and a port"},
			{"", "is not an address and a port"},
			{"[::1:80", "is not an address and a port"},
			{"192.0.2.9:0", "has no port from 1 to 65535"},
			{"192.0.2.9:65536", "has no port from 1 to 65535"},
			{"192.0.2.9:+1", "has no port from 1 to 65535"},
			{"192.0.2.9:1x", "has no port from 1 to 65535"},
			{"192.0.2.9:", "has no port from 1 to 65535"},
			{"localhost:80", "is not an IP address"},
			{"::1:80", "has brackets around IPv4, or none around IPv6"},
			{"[192.0.2.9]:80", "has brackets around IPv4, or none around IPv6"},
	};
	char text[HS_IP_PORT_TEXT];
	struct hs_ip_port at = {.port = 0};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *wrong = hs_ip_port_read(rows[i].text, &at);
		if (rows[i].wrong) {
			assert_non_null(wrong);
			assert_string_equal(wrong, rows[i].wrong);
			continue;
		}
		assert_null(wrong);
		assert_string_equal(hs_ip_port_write(&at, text), rows[i].text);
	}
}

// As libc reads the same text.
static void a_socket_has_the_address_that_libc_makes(void **state)
{
	static const struct {
		const char *text, *host, *port;
	} rows[] = {{"192.0.2.9:32766", "192.0.2.9", "32766"}, {"0.0.0.0:1", "0.0.0.0", "1"},
			{"[2001:db8::9]:65535", "2001:db8::9", "65535"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				.ai_socktype = SOCK_DGRAM};
		struct sockaddr_storage made;
		struct addrinfo *libc;
		struct hs_ip_port at;
		memset(&made, 0x5a, sizeof(made));
		assert_null(hs_ip_port_read(rows[i].text, &at));
		assert_int_equal(getaddrinfo(rows[i].host, rows[i].port, &hints, &libc), 0);
		assert_int_equal(hs_socket_address_of(&at, &made), libc->ai_addrlen);
		assert_memory_equal(&made, libc->ai_addr, libc->ai_addrlen);
		freeaddrinfo(libc);
	}
}

static void loopback_is_told_from_other_addresses(void **state)
{
	static const struct {
		const char *text;
		bool loopback;
	} rows[] = {{"127.0.0.1", true}, {"127.255.0.3", true}, {"::1", true}, {"128.0.0.1", false},
			{"0.0.0.0", false}, {"::", false}, {"::2", false}, {"fe80::1", false}};
	uint8_t address[16];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_null(hs_ip_address_read(rows[i].text, address));
		assert_int_equal(hs_ip_address_is_loopback(address), rows[i].loopback);
	}
}

static void prefixes_are_read_cleared_and_compared(void **state)
{
	static const struct {
		const char *text, *cleared, *in, *out;
		uint8_t host_bits;
	} rows[] = {
			{"10.1.2.3/8", "10.0.0.0/8", "10.255.0.1", "11.0.0.0", 24},
			{"0.0.0.0/0", "0.0.0.0/0", "255.255.255.255", "::", 32},
			{"192.0.2.7/30", "192.0.2.4/30", "192.0.2.6", "192.0.2.8", 2},
			{"192.0.2.7/32", "192.0.2.7", "192.0.2.7", "192.0.2.6", 0},
			{"192.0.2.7", "192.0.2.7", "192.0.2.7", "2001:db8::1", 0},
			{"2001:db8::1/33", "2001:db8::/33", "2001:db8:7fff::1",
					"2001:db8:8000::", 95},
			{"::/0", "::/0", "ffff::", "192.0.2.1", 128},
			{"2001:db8::1/128", "2001:db8::1", "2001:db8::1", "2001:db8::", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t prefix[16], address[16], host_bits = 255;
		char text[HS_IP_ADDRESS_TEXT];
		assert_null(hs_ip_prefix_read(rows[i].text, prefix, &host_bits));
		assert_int_equal(host_bits, rows[i].host_bits);
		hs_ip_prefix_clear(prefix, host_bits);
		assert_string_equal(hs_ip_prefix_write(prefix, host_bits, text), rows[i].cleared);
		assert_null(hs_ip_address_read(rows[i].in, address));
		assert_true(hs_ip_prefix_has(prefix, host_bits, address));
		assert_null(hs_ip_address_read(rows[i].out, address));
		assert_false(hs_ip_prefix_has(prefix, host_bits, address));
	}
}

static void what_is_no_prefix_is_refused(void **state)
{
	static const char *const none[] = {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08",
			"10.0.0.0/+8", "10.0.0.0/8 ", "10.0.0.0/8/8", "10/8", "2001:db8::/129",
			"2001:db8::/-1", "::ffff:10.0.0.0/104", "2001:db8::/0032",
			"2001:db8::/4294967328"};
	uint8_t prefix[16], before[16], host_bits = 77;
	(void)state;
	memset(prefix, 0x5a, sizeof(prefix));
	memcpy(before, prefix, sizeof(prefix));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_non_null(hs_ip_prefix_read(none[i], prefix, &host_bits));
		assert_memory_equal(prefix, before, sizeof(prefix));
		assert_int_equal(host_bits, 77);
	}
}

static void a_host_has_many_addresses(void **state)
{
	static const struct {
		const char *address, *of_host;
	} cases[] = {{"127.0.0.1", "127.0.0.0"}, {"127.9.8.7", "127.0.0.0"},
			{"192.0.2.7", "192.0.2.7"}, {"2001:db8:0:1::7", "2001:db8:0:1::"},
			{"2001:db8:0:1:2:3:4:5", "2001:db8:0:1::"}, {"::1", "::"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[HS_IP_ADDRESS_TEXT];
		uint8_t bytes[16];
		assert_null(hs_ip_address_read(cases[i].address, bytes));
		hs_ip_address_of_host(bytes);
		assert_string_equal(hs_ip_address_write(bytes, text), cases[i].of_host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_host_has_many_addresses),
			cmocka_unit_test(each_version_is_read_and_written),
			cmocka_unit_test(a_value_has_one_text),
			cmocka_unit_test(an_address_with_a_port_is_read_and_written),
			cmocka_unit_test(a_socket_has_the_address_that_libc_makes),
			cmocka_unit_test(loopback_is_told_from_other_addresses),
			cmocka_unit_test(prefixes_are_read_cleared_and_compared),
			cmocka_unit_test(what_is_no_prefix_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
