// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_env.h"
#include "memif_bell.h"

#include <rte_cycles.h>

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define QUIET_US 10 // packets within such a time need no bell

static char path[64];

static struct memif_bell *open_end(const char *role, const char *more)
{
	char devargs[256];

	snprintf(devargs, sizeof(devargs), "net_memif0,role=%s,socket=%s%s", role, path, more);
	return memif_bell_open(devargs);
}

static struct memif_bell *open_file(const char *role)
{
	struct memif_bell *bell = open_end(role, ",socket-abstract=no");

	assert_non_null(bell);
	return bell;
}

static bool rings(const struct memif_bell *bell)
{
	struct pollfd fd = {.fd = memif_bell_fd(bell), .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

static void ring_after_a_pause(struct memif_bell *bell)
{
	rte_delay_us_block(100);
	memif_bell_ring(bell, 0);
}

static void expect_rings(struct memif_bell *from, struct memif_bell *to)
{
	assert_false(rings(to));
	ring_after_a_pause(from);
	assert_true(rings(to));
	memif_bell_quiet(memif_bell_fd(to));
	assert_false(rings(to));
}

// The other end learns at once that this one rings.
static void find(struct memif_bell *from, struct memif_bell *to)
{
	assert_false(rings(to));
	memif_bell_connect(from);
	assert_true(memif_bell_quiet(memif_bell_fd(to)));
	memif_bell_connect(from);
	assert_false(memif_bell_quiet(memif_bell_fd(to)));
}

static void each_end_rings_at_the_other(void **state)
{
	static const char *const kinds[] = {",socket-abstract=no", ",socket-abstract=yes", "",
			",id=7,socket-abstract=no"};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct memif_bell *server = open_end("server", kinds[i]);
		struct memif_bell *client = open_end("client", kinds[i]);
		find(server, client);
		find(client, server);
		expect_rings(server, client);
		expect_rings(client, server);
		memif_bell_close(server);
		memif_bell_close(client);
	}
	memif_bell_close(NULL);
}

static void links_of_one_socket_have_bells_of_their_own(void **state)
{
	struct memif_bell *server = open_end("server", ",id=1"), *client = open_end("client", "");

	(void)state;
	memif_bell_connect(client);
	ring_after_a_pause(client);
	assert_false(rings(server));
	memif_bell_close(server);
	memif_bell_close(client);
}

// The other worker looks all the time then. A slow machine may make a pause of its own.
static void packets_one_after_the_other_ring_once(void **state)
{
	struct memif_bell *server = open_file("server"), *client = open_file("client");
	uint64_t quick = rte_get_tsc_hz() / 1000000 * QUIET_US;
	unsigned seen = 0;

	(void)state;
	memif_bell_connect(client);
	for (unsigned i = 0; i < 100000 && seen < 100; i++) {
		uint64_t from = rte_rdtsc();
		memif_bell_ring(client, 1);
		memif_bell_quiet(memif_bell_fd(server));
		memif_bell_ring(client, 1);
		if (rte_rdtsc() - from > quick)
			continue;
		assert_false(rings(server));
		seen++;
	}
	assert_int_equal(seen, 100);
	memif_bell_quiet(memif_bell_fd(server));
	memif_bell_ring(client, 2); // another worker's first packets
	assert_true(rings(server));
	memif_bell_close(server);
	memif_bell_close(client);
}

static void an_end_that_starts_again_is_found_again(void **state)
{
	struct memif_bell *server = open_file("server"), *client;

	(void)state;
	ring_after_a_pause(server); // nobody is there
	memif_bell_connect(server);
	ring_after_a_pause(server);
	for (unsigned i = 0; i < 3; i++) {
		client = open_file("client");
		find(server, client);
		expect_rings(server, client);
		memif_bell_close(client);
		ring_after_a_pause(server);
	}
	memif_bell_close(server);
}

static void a_full_socket_is_no_error(void **state)
{
	struct memif_bell *server = open_file("server"), *client = open_file("client");

	(void)state;
	find(client, server);
	for (unsigned i = 0; i < 1000; i++)
		ring_after_a_pause(client);
	assert_true(rings(server));
	memif_bell_quiet(memif_bell_fd(server));
	expect_rings(client, server);
	memif_bell_close(server);
	memif_bell_close(client);
}

static void name_of_file(struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%s.0.server", path);
}

static void the_file_belongs_to_a_living_process(void **state)
{
	struct sockaddr_un address;
	struct stat status;

	(void)state;
	name_of_file(&address);
	int killed = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(killed, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_null(open_end("server", ",socket-abstract=no"));
	close(killed);
	struct memif_bell *server = open_file("server");
	assert_int_equal(stat(address.sun_path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0660);
	assert_null(open_end("server", ",socket-abstract=no"));
	assert_int_equal(access(address.sun_path, F_OK), 0);
	memif_bell_close(server);
	assert_int_equal(access(address.sun_path, F_OK), -1);
}

static void a_file_that_is_no_socket_stays(void **state)
{
	struct sockaddr_un address;

	(void)state;
	name_of_file(&address);
	FILE *file = fopen(address.sun_path, "w");
	assert_non_null(file);
	fclose(file);
	assert_null(open_end("server", ",socket-abstract=no"));
	assert_int_equal(unlink(address.sun_path), 0);
}

static void a_name_that_is_too_long_has_no_bell(void **state)
{
	char devargs[256];

	(void)state;
	snprintf(devargs, sizeof(devargs), "net_memif0,socket=/tmp/%.*s,socket-abstract=no", 102,
			"0123456789012345678901234567890123456789012345678901234567890123456789"
			"0123456789012345678901234567890123456789");
	assert_null(memif_bell_open(devargs));
}

static int start(void **state)
{
	(void)state;
	dpdk_env_init("64");
	snprintf(path, sizeof(path), "/tmp/hs-test-bell-%d", (int)getpid());
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_end_rings_at_the_other),
			cmocka_unit_test(links_of_one_socket_have_bells_of_their_own),
			cmocka_unit_test(packets_one_after_the_other_ring_once),
			cmocka_unit_test(an_end_that_starts_again_is_found_again),
			cmocka_unit_test(a_full_socket_is_no_error),
			cmocka_unit_test(the_file_belongs_to_a_living_process),
			cmocka_unit_test(a_file_that_is_no_socket_stays),
			cmocka_unit_test(a_name_that_is_too_long_has_no_bell),
	};
	return cmocka_run_group_tests_name("bell", tests, start, NULL);
}
