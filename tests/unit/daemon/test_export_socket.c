// SPDX-License-Identifier: BSD-3-Clause
// The socket of a receiver of telemetry reports, against real sockets on the loopback interface.
#include "export_socket.h"
#include "ip_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static struct hs_export_config to_address(const char *to, uint16_t port)
{
	struct hs_export_config config = {.port = HS_EXPORT_NO_PORT, .to.port = port};

	assert_null(hs_ip_address_read(to, config.to.address));
	return config;
}

// A receiver on the loopback interface, at this port or (0) at any. Returns its descriptor.
static int receiver(int family, uint16_t *port)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6,
			.sin6_port = htons(*port),
			.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in ipv4 = {.sin_family = AF_INET,
			.sin_port = htons(*port),
			.sin_addr = {htonl(INADDR_LOOPBACK)}};
	bool ipv6 = family == AF_INET6;
	socklen_t bytes = ipv6 ? sizeof(address) : sizeof(ipv4);
	void *at = ipv6 ? (void *)&address : (void *)&ipv4;
	int fd = socket(family, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, at, bytes), 0);
	assert_int_equal(getsockname(fd, at, &bytes), 0);
	*port = ntohs(ipv6 ? address.sin6_port : ipv4.sin_port);
	return fd;
}

static void assert_received(int fd, const char *text)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	char got[64];

	assert_int_equal(poll(&wait, 1, 5000), 1);
	ssize_t bytes = recv(fd, got, sizeof(got), 0);
	assert_int_equal(bytes, strlen(text));
	assert_memory_equal(got, text, (size_t)bytes);
}

static int send_text(struct hs_export_socket *s, int64_t now_ns, const char *text)
{
	return hs_export_socket_send(s, now_ns, (const uint8_t *)text, strlen(text));
}

static void datagrams_arrive_over_both_versions_of_ip(void **state)
{
	static const struct {
		int family;
		const char *to, *from;
	} cases[] = {
			{AF_INET, "127.0.0.1", NULL},
			{AF_INET, "127.0.0.1", "127.0.0.7"},
			{AF_INET6, "::1", NULL},
			{AF_INET6, "::1", "::1"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint16_t port = 0;
		int fd = receiver(cases[i].family, &port);
		struct hs_export_config config = to_address(cases[i].to, port);
		struct hs_export_socket s;
		struct sockaddr_in from;
		socklen_t bytes = sizeof(from);
		if (cases[i].from)
			assert_null(hs_ip_address_read(cases[i].from, config.from));
		assert_int_equal(hs_export_socket_open(&s, &config, 0), 0);
		assert_int_equal(send_text(&s, 0, "one"), 0);
		assert_int_equal(send_text(&s, 0, "two"), 0);
		assert_received(fd, "one");
		if (i == 1) {
			recvfrom(fd, &(char){0}, 1, MSG_PEEK, (struct sockaddr *)&from, &bytes);
			assert_int_equal(from.sin_addr.s_addr, inet_addr("127.0.0.7"));
		}
		assert_received(fd, "two");
		hs_export_socket_close(&s);
		close(fd);
	}
}

static void a_closed_receiver_refuses_until_it_is_back(void **state)
{
	uint16_t port = 0;
	int fd = receiver(AF_INET, &port), refused = 0;
	struct hs_export_config config = to_address("127.0.0.1", port);
	struct hs_export_socket s;
	(void)state;

	assert_int_equal(hs_export_socket_open(&s, &config, 0), 0);
	close(fd);
	for (unsigned i = 0; i < 100; i++) {
		int rc = send_text(&s, 0, "lost");
		assert_true(rc == 0 || rc == -ECONNREFUSED);
		refused += rc != 0;
	}
	assert_in_range(refused, 1, 99);
	fd = receiver(AF_INET, &port);
	while (send_text(&s, 0, "back") == -ECONNREFUSED)
		assert_true(refused++ < 200);
	assert_received(fd, "back");
	hs_export_socket_close(&s);
	close(fd);
}

// 192.0.2.0/24 is nobody's (RFC 5737).
static void a_source_address_of_nobody_is_tried_again_once_a_second(void **state)
{
	uint16_t port = 0;
	int fd = receiver(AF_INET, &port);
	struct hs_export_config config = to_address("127.0.0.1", port);
	struct hs_export_socket s;
	(void)state;

	assert_null(hs_ip_address_read("192.0.2.77", config.from));
	assert_int_equal(hs_export_socket_open(&s, &config, SECOND), -EADDRNOTAVAIL);
	assert_int_equal(send_text(&s, SECOND, "no"), -EADDRNOTAVAIL);
	assert_null(hs_ip_address_read("127.0.0.1", config.from)); // now it exists
	assert_int_equal(send_text(&s, 2 * SECOND - 1, "no"), -EADDRNOTAVAIL);
	assert_int_equal(send_text(&s, 2 * SECOND, "yes"), 0);
	assert_received(fd, "yes");
	hs_export_socket_close(&s);
	hs_export_socket_close(&s);
	close(fd);
}

static void a_socket_that_failed_is_opened_anew(void **state)
{
	static uint8_t long_one[70000];
	uint16_t port = 0;
	int fd = receiver(AF_INET, &port);
	struct hs_export_config config = to_address("127.0.0.1", port);
	struct hs_export_socket s;
	(void)state;

	assert_int_equal(hs_export_socket_open(&s, &config, 0), 0);
	assert_int_equal(hs_export_socket_send(&s, 0, long_one, sizeof(long_one)), -EMSGSIZE);
	assert_int_equal(send_text(&s, 1, "old"), 0);
	assert_true(s.doubtful);
	assert_int_equal(send_text(&s, SECOND, "new"), 0);
	assert_false(s.doubtful);
	assert_received(fd, "old");
	assert_received(fd, "new");
	hs_export_socket_close(&s);
	close(fd);
}

static void a_socket_that_was_never_opened_can_be_closed(void **state)
{
	struct hs_export_socket s = {0};
	(void)state;

	assert_int_equal(dup2(2, 0), 0);
	hs_export_socket_close(&s);
	assert_int_equal(close(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(datagrams_arrive_over_both_versions_of_ip),
			cmocka_unit_test(a_closed_receiver_refuses_until_it_is_back),
			cmocka_unit_test(a_source_address_of_nobody_is_tried_again_once_a_second),
			cmocka_unit_test(a_socket_that_failed_is_opened_anew),
			cmocka_unit_test(a_socket_that_was_never_opened_can_be_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
