// SPDX-License-Identifier: BSD-3-Clause
// EAL starts once in a process, so each case runs in a child; what it asserts is its exit status.
#include "eal.h"

#include "log.h"

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include <dirent.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void run_in_child(void (*body)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		hs_log_setup(HS_LOG_ERROR, false);
		body();
		exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int first_core(void)
{
	cpu_set_t set;
	int core = 0;

	sched_getaffinity(0, sizeof(set), &set);
	while (!CPU_ISSET(core, &set))
		core++;
	return core;
}

static struct hs_eal_config config_for(uint64_t memory_bytes)
{
	struct hs_eal_config config = {
			.memory_bytes = memory_bytes,
			.control_core = first_core(),
			.worker_cores = {first_core(), first_core()},
			.n_workers = 2,
	};

	snprintf(config.file_prefix, sizeof(config.file_prefix), "hs-test-eal-%d", (int)getpid());
	return config;
}

static void a_pool_fits(uint32_t n, uint16_t room)
{
	struct hs_eal_config config = config_for(hs_pool_bytes(n, room));
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs = calloc(n, sizeof(*mbufs));

	CHECK(hs_eal_init(&config, NULL) == 0);
	CHECK(hs_pool_create("pool", n, room, &pool) == 0);
	CHECK(rte_pktmbuf_data_room_size(pool) == room);
	// Every buffer is there, writable to its end, and nobody else's.
	CHECK(rte_pktmbuf_alloc_bulk(pool, mbufs, n) == 0);
	for (uint32_t i = 0; i < n; i++) {
		CHECK(rte_pktmbuf_tailroom(mbufs[i]) == room - RTE_PKTMBUF_HEADROOM);
		memcpy(rte_pktmbuf_append(mbufs[i], room - RTE_PKTMBUF_HEADROOM) + room -
						RTE_PKTMBUF_HEADROOM - sizeof(i),
				&i, sizeof(i));
	}
	for (uint32_t i = 0; i < n; i++)
		CHECK(memcmp(rte_pktmbuf_mtod_offset(mbufs[i], char *,
					     room - RTE_PKTMBUF_HEADROOM - (int)sizeof(i)),
				      &i, sizeof(i)) == 0);
	rte_pktmbuf_free_bulk(mbufs, n);
	rte_mempool_free(pool);
	hs_eal_fini();
	free(mbufs);
}

static void small_buffers(void)
{
	a_pool_fits(16384, 2176);
}

static void jumbo_buffers(void)
{
	a_pool_fits(16384, 9600);
}

// An area that was overwritten by a neighbour's data would differ when it is read back.
static void private_areas(void)
{
	enum {
		N = 16384,
		PRIVATE = 1160,
		ROOM = 2176
	};
	struct hs_eal_config config = config_for(hs_pool_bytes_private(N, PRIVATE, ROOM));
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs = calloc(N, sizeof(*mbufs));

	CHECK(hs_eal_init(&config, NULL) == 0);
	CHECK(hs_pool_create_private("pool", N, PRIVATE, ROOM, &pool) == 0);
	CHECK(rte_pktmbuf_priv_size(pool) == PRIVATE);
	CHECK(rte_pktmbuf_alloc_bulk(pool, mbufs, N) == 0);
	for (unsigned i = 0; i < N; i++) {
		memset(rte_mbuf_to_priv(mbufs[i]), (int)(i % 251), PRIVATE);
		CHECK(rte_pktmbuf_tailroom(mbufs[i]) == ROOM - RTE_PKTMBUF_HEADROOM);
		memset(rte_pktmbuf_append(mbufs[i], ROOM - RTE_PKTMBUF_HEADROOM), 0xee,
				ROOM - RTE_PKTMBUF_HEADROOM);
	}
	for (unsigned i = 0; i < N; i++) {
		const uint8_t *area = rte_mbuf_to_priv(mbufs[i]);
		CHECK(area[0] == i % 251 && area[PRIVATE - 1] == i % 251);
	}
	rte_pktmbuf_free_bulk(mbufs, N);
	rte_mempool_free(pool);
	hs_eal_fini();
	free(mbufs);
}

static void private_areas_of_buffers_fit_and_are_their_own(void **state)
{
	(void)state;
	run_in_child(private_areas);
}

static void sixteen_thousand_buffers_fit_into_the_memory_computed_for_them(void **state)
{
	(void)state;
	run_in_child(small_buffers);
}

static void sixteen_thousand_jumbo_buffers_fit_into_the_memory_computed_for_them(void **state)
{
	(void)state;
	run_in_child(jumbo_buffers);
}

static void pools_and_tables(void)
{
	struct hs_eal_config config = config_for(hs_pool_bytes(4096, 2176) + (64u << 20));
	struct rte_mempool *pool;

	CHECK(hs_eal_init(&config, NULL) == 0);
	CHECK(hs_pool_create("pool", 4096, 2176, &pool) == 0);
	CHECK(rte_malloc("table", 64u << 20, 64) != NULL);
	CHECK(hs_pool_create("too-much", 1u << 20, 2176, &pool) < 0);
	hs_eal_fini();
}

static void what_was_asked_for_fits_beside_a_pool_and_more_is_refused(void **state)
{
	(void)state;
	run_in_child(pools_and_tables);
}

static void lcores(void)
{
	struct hs_eal_config config = config_for(0);

	CHECK(hs_eal_init(&config, NULL) == 0);
	CHECK(rte_lcore_count() == 3);
	CHECK(rte_get_main_lcore() == 0);
	CHECK(rte_lcore_is_enabled(1) && rte_lcore_is_enabled(2) && !rte_lcore_is_enabled(3));
	hs_eal_fini();
}

static void worker_i_is_lcore_i_plus_1_and_control_is_lcore_0(void **state)
{
	(void)state;
	run_in_child(lcores);
}

// The mask of blocked signals of a thread, from the kernel.
static unsigned long long blocked_by(const char *thread)
{
	char path[300], line[256];
	unsigned long long mask = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "SigBlk: %llx", &mask);
	if (f)
		fclose(f);
	return mask;
}

static void signals(void)
{
	struct hs_eal_config config = config_for(0);
	unsigned long long term = 1ull << (SIGTERM - 1);
	unsigned others = 0;
	struct dirent *entry;
	DIR *dir;

	CHECK(hs_eal_init(&config, NULL) == 0);
	dir = opendir("/proc/self/task");
	CHECK(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (atoi(entry->d_name) == getpid()) {
			CHECK(!(blocked_by(entry->d_name) & term));
			continue;
		}
		CHECK(blocked_by(entry->d_name) & term);
		others++;
	}
	closedir(dir);
	CHECK(others >= 2); // the workers at least
	hs_eal_fini();
}

static void no_thread_of_eals_takes_a_signal(void **state)
{
	(void)state;
	run_in_child(signals);
}

static void no_directory(void)
{
	struct hs_eal_config config = config_for(0);

	setenv("RUNTIME_DIRECTORY", "/proc/nowhere", 1);
	CHECK(hs_eal_init(&config, NULL) == 0);
	hs_eal_fini();
}

static void a_telemetry_socket_that_cannot_be_made_is_not_fatal(void **state)
{
	(void)state;
	run_in_child(no_directory);
}

static void directory_is_removed(void)
{
	struct hs_eal_config config = config_for(0);
	char path[PATH_MAX];
	struct stat st;

	CHECK(hs_eal_init(&config, NULL) == 0);
	snprintf(path, sizeof(path), "%s", rte_eal_get_runtime_dir());
	CHECK(strstr(path, config.file_prefix));
	CHECK(stat(path, &st) == 0);
	hs_eal_fini();
	CHECK(stat(path, &st) < 0);
}

static void nothing_is_left_of_the_runtime_directory(void **state)
{
	(void)state;
	run_in_child(directory_is_removed);
}

static void bad_words(void)
{
	char *words[] = {"--no-such-word"};
	struct hs_eal_config config = config_for(0);
	struct hs_error err = {0};

	config.argc = 1;
	config.argv = words;
	// EAL prints its help.
	CHECK(freopen("/dev/null", "w", stderr) != NULL);
	CHECK(freopen("/dev/null", "w", stdout) != NULL);
	CHECK(hs_eal_init(&config, &err) < 0);
	CHECK(strcmp(err.code, "eal") == 0);
}

static void a_word_that_eal_does_not_know_is_an_error(void **state)
{
	(void)state;
	run_in_child(bad_words);
}

static void a_core_that_is_not_there_is_named(void **state)
{
	struct hs_eal_config config = config_for(0);
	struct hs_error err = {0};

	(void)state;
	config.worker_cores[1] = 1000;
	assert_true(hs_eal_init(&config, &err) < 0);
	assert_string_equal(err.path, "workers[1]");
	assert_non_null(strstr(err.message, "1000"));

	config = config_for(0);
	config.control_core = -1;
	assert_true(hs_eal_init(&config, &err) < 0);
	assert_string_equal(err.path, "control_core");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					sixteen_thousand_buffers_fit_into_the_memory_computed_for_them),
			cmocka_unit_test(
					sixteen_thousand_jumbo_buffers_fit_into_the_memory_computed_for_them),
			cmocka_unit_test(private_areas_of_buffers_fit_and_are_their_own),
			cmocka_unit_test(what_was_asked_for_fits_beside_a_pool_and_more_is_refused),
			cmocka_unit_test(worker_i_is_lcore_i_plus_1_and_control_is_lcore_0),
			cmocka_unit_test(no_thread_of_eals_takes_a_signal),
			cmocka_unit_test(a_telemetry_socket_that_cannot_be_made_is_not_fatal),
			cmocka_unit_test(nothing_is_left_of_the_runtime_directory),
			cmocka_unit_test(a_word_that_eal_does_not_know_is_an_error),
			cmocka_unit_test(a_core_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests_name("eal", tests, NULL, NULL);
}
