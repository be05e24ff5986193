// SPDX-License-Identifier: BSD-3-Clause
#include "eal.h"

#include "eal_log.h"
#include "interrupts.h"
#include "log.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_version.h>

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MIB	       (UINT64_C(1) << 20)
#define POOL_CACHE     256
#define MAX_WORDS      128
#define MAX_WORD_BYTES 512
#define N_WORKERS_MAX  16
// EAL's own bookkeeping, devices' private data and the ends of pages took 11 MiB with 32 ports. The
// share covers what the allocator loses between large pieces.
#define EAL_SLACK_BYTES (32 * MIB)

// Words for rte_eal_init: our own in a fixed store (EAL keeps pointers to them), then the user's.
static struct {
	char words[MAX_WORDS][MAX_WORD_BYTES];
	char *argv[MAX_WORDS + 1];
	int argc;
} line;

__attribute__((format(printf, 1, 2))) static void add_word(const char *format, ...)
{
	va_list args;

	if (line.argc >= MAX_WORDS)
		return;
	va_start(args, format);
	vsnprintf(line.words[line.argc], MAX_WORD_BYTES, format, args);
	va_end(args);
	line.argv[line.argc] = line.words[line.argc];
	line.argv[++line.argc] = NULL;
}

static bool user_says(const struct hs_eal_config *config, const char *word)
{
	for (int i = 0; i < config->argc; i++)
		if (strncmp(config->argv[i], word, strlen(word)) == 0)
			return true;
	return false;
}

// Writes the path where EAL will put its runtime files (eal_create_runtime_dir of 22.11).
static void runtime_directory(const char *prefix, char *out, size_t size)
{
	const char *base = getenv("RUNTIME_DIRECTORY");

	if (!base)
		base = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	snprintf(out, size, "%s/dpdk/%s", base ? base : "/tmp", prefix);
}

static bool make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	return (mkdir(path, 0700) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
}

// Returns whether EAL can bind its telemetry socket. If not, EAL fails as a whole, after all its
// work, so that this is checked first.
static bool telemetry_can_start(const char *prefix)
{
	char directory[300];
	struct sockaddr_un address;

	runtime_directory(prefix, directory, sizeof(directory));
	return strlen(directory) + sizeof("/dpdk_telemetry.v2:1") <= sizeof(address.sun_path) &&
	       make_directories(directory);
}

static bool core_exists(int core)
{
	cpu_set_t set;

	return core >= 0 && core < CPU_SETSIZE && sched_getaffinity(0, sizeof(set), &set) == 0 &&
	       CPU_ISSET(core, &set);
}

static int check_cores(const struct hs_eal_config *config, struct hs_error *err)
{
	if (!core_exists(config->control_core))
		return hs_error_set(err, "out_of_range", "control_core",
				"a core that this process may run on", "core %d is not there",
				config->control_core);
	if (config->n_workers > N_WORKERS_MAX)
		return hs_error_set(err, "out_of_range", "workers", "at most 16",
				"%u workers are too many", config->n_workers);
	for (unsigned i = 0; i < config->n_workers; i++) {
		char path[32];

		if (core_exists(config->worker_cores[i]))
			continue;
		snprintf(path, sizeof(path), "workers[%u]", i);
		return hs_error_set(err, "out_of_range", path,
				"a core that this process may run on", "core %d is not there",
				config->worker_cores[i]);
	}
	return 0;
}

static void add_cores(const struct hs_eal_config *config)
{
	char cores[MAX_WORD_BYTES];
	int used = snprintf(cores, sizeof(cores), "0@%d", config->control_core);

	for (unsigned i = 0; i < config->n_workers; i++)
		used += snprintf(cores + used, sizeof(cores) - (size_t)used, ",%u@%d", i + 1,
				config->worker_cores[i]);
	add_word("--lcores");
	add_word("%s", cores);
	add_word("--main-lcore");
	add_word("0");
}

static uint64_t memory_mib(const struct hs_eal_config *config)
{
	uint64_t bytes = config->memory_bytes + config->memory_bytes / 16 + EAL_SLACK_BYTES;

	return (bytes + MIB - 1) / MIB;
}

static void add_memory(const struct hs_eal_config *config)
{
	if (config->huge_pages) {
		// --in-memory is not used, because memif does not probe under it. Files are
		// unlinked at once, so that a crash leaves no page behind.
		add_word("--huge-unlink");
		return;
	}
	add_word("--no-huge");
	if (user_says(config, "-m"))
		return;
	add_word("-m");
	add_word("%llu", (unsigned long long)memory_mib(config));
}

static void build_line(const struct hs_eal_config *config, bool *telemetry)
{
	line.argc = 0;
	add_word("hopsightd");
	add_cores(config);
	add_memory(config);
	add_word("--no-shconf");
	if (!config->pci)
		add_word("--no-pci");
	else if (!user_says(config, "-a"))
		// Ports probe their own devices one by one. Without a list, EAL would try every
		// device of the machine, including its network card. So the list names a device
		// that does not exist.
		add_word("--allow=ffff:ff:1f.7");
	add_word("--file-prefix");
	add_word("%s", config->file_prefix[0] ? config->file_prefix : "hopsight");
	if (!user_says(config, "--log-level")) {
		// If several options match, EAL uses the first. Telemetry warns that an old format
		// is absent.
		add_word("--log-level=lib.telemetry:error");
		// A client that waits for its server would otherwise log this message once a
		// second. We log it once.
		add_word("--log-level=pmd.net.memif:critical");
		add_word("--log-level=*:warning");
	}
	*telemetry = !user_says(config, "--no-telemetry");
	if (*telemetry && !telemetry_can_start(config->file_prefix)) {
		*telemetry = false;
		add_word("--no-telemetry");
		hs_log(HS_LOG_WARNING, "eal",
				"no runtime directory for a telemetry socket: DPDK's "
				"telemetry is off");
	}
	for (int i = 0; i < config->argc; i++)
		add_word("%s", config->argv[i]);
}

static void say_what_was_made(const struct hs_eal_config *config, bool telemetry)
{
	char memory[64] = "huge pages";

	if (!rte_eal_has_hugepages())
		snprintf(memory, sizeof(memory), "%llu MiB without huge pages",
				(unsigned long long)memory_mib(config));
	hs_log(HS_LOG_INFO, "eal", "%s: %s, %u worker%s, telemetry %s", rte_version(), memory,
			config->n_workers, config->n_workers == 1 ? "" : "s",
			telemetry ? "on" : "off");
}

int hs_eal_init(const struct hs_eal_config *config, struct hs_error *err)
{
	sigset_t all, before;
	bool telemetry;
	int ret = check_cores(config, err);

	if (ret < 0)
		return ret;
	build_line(config, &telemetry);
	hs_eal_log_take(); // without memory, DPDK's lines go to stderr unchanged

	// EAL's threads inherit the mask. Signals must reach only the threads that expect them.
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = rte_eal_init(line.argc, line.argv);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret < 0) {
		hs_error_set(err, "eal", "",
				config->huge_pages ? "huge pages reserved and mounted" : "",
				"DPDK's environment did not start: %s", rte_strerror(rte_errno));
		return rte_errno ? -rte_errno : -EINVAL;
	}
	say_what_was_made(config, telemetry);
	return 0;
}

// Removes the runtime directory that EAL leaves for each prefix that ever ran.
static void remove_runtime_directory(void)
{
	char path[PATH_MAX];
	const char *directory = rte_eal_get_runtime_dir();

	if (snprintf(path, sizeof(path), "%s/dpdk_telemetry.v2", directory) < (int)sizeof(path))
		unlink(path);
	rmdir(directory); // fails if others have files in it
}

// Shuts EAL down. net_memif (22.11) leaves its listening socket registered when it closes. The
// interrupt thread's copy of that registration lies in memory that rte_eal_cleanup unmaps. A
// wake-up that is still under way would then end in SIGSEGV. So the thread is held permanently.
void hs_eal_fini(void)
{
	hs_interrupts_hold();
	rte_eal_cleanup();
	remove_runtime_directory();
}

// Returns the flags of a pool. Without huge pages, DPDK lays out a pool so that no buffer crosses a
// page of 4 KiB, which nearly doubles the pool. Addresses are virtual then, so that contiguity does
// not matter.
static unsigned pool_flags(void)
{
	return rte_eal_has_hugepages() ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
}

static uint32_t element_bytes(uint16_t private_bytes, uint16_t data_room_bytes)
{
	return (uint32_t)sizeof(struct rte_mbuf) + private_bytes + data_room_bytes;
}

static unsigned cache_size(uint32_t n)
{
	return n >= 4 * POOL_CACHE ? POOL_CACHE : 0;
}

int hs_pool_create_private(const char *name, uint32_t n, uint16_t private_bytes,
		uint16_t data_room_bytes, struct rte_mempool **pool)
{
	struct rte_pktmbuf_pool_private private = {
			.mbuf_data_room_size = data_room_bytes,
			.mbuf_priv_size = private_bytes,
	};
	struct rte_mempool *made = rte_mempool_create_empty(name, n,
			element_bytes(private_bytes, data_room_bytes), cache_size(n),
			sizeof(private), SOCKET_ID_ANY, pool_flags());

	if (!made)
		return -ENOMEM;
	rte_pktmbuf_pool_init(made, &private);
	if (rte_mempool_populate_default(made) < 0) {
		rte_mempool_free(made);
		return -ENOMEM;
	}
	rte_mempool_obj_iter(made, rte_pktmbuf_init, NULL);
	*pool = made;
	return 0;
}

int hs_pool_create(
		const char *name, uint32_t n, uint16_t data_room_bytes, struct rte_mempool **pool)
{
	return hs_pool_create_private(name, n, 0, data_room_bytes, pool);
}

uint64_t hs_pool_bytes_private(uint32_t n, uint16_t private_bytes, uint16_t data_room_bytes)
{
	struct rte_mempool_objsz size;
	uint64_t ring_bytes = rte_align64pow2((uint64_t)n + 1) * sizeof(void *);

	rte_mempool_calc_obj_size(element_bytes(private_bytes, data_room_bytes), 0, &size);
	// The sum includes the pool's own header with a cache for each possible lcore.
	return (uint64_t)n * size.total_size + ring_bytes +
	       RTE_MAX_LCORE * sizeof(struct rte_mempool_cache) + MIB;
}

uint64_t hs_pool_bytes(uint32_t n, uint16_t data_room_bytes)
{
	return hs_pool_bytes_private(n, 0, data_room_bytes);
}
