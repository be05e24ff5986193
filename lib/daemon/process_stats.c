// SPDX-License-Identifier: BSD-3-Clause
#include "process_stats.h"

#include "os_clock.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// The values of /proc/self/stat behind the name of the program (proc(5) counts from 1; the state
// is 3).
enum stat_field {
	FIRST_FIELD = 3,
	THREADS = 20,
	START_TICKS = 22,
	VIRTUAL_BYTES = 23,
	RESIDENT_PAGES = 24,
	LAST_FIELD = RESIDENT_PAGES
};

static void read_stat(uint64_t values[LAST_FIELD + 1])
{
	char line[1024];
	FILE *file = fopen("/proc/self/stat", "re");
	size_t n = file ? fread(line, 1, sizeof(line) - 1, file) : 0;

	memset(values, 0, (LAST_FIELD + 1) * sizeof(*values));
	if (file)
		fclose(file);
	line[n] = '\0';
	// The name is in parentheses and may contain anything.
	char *at = strrchr(line, ')'), *rest;
	char *word = at ? strtok_r(at + 1, " ", &rest) : NULL;
	for (int i = FIRST_FIELD; word && i <= LAST_FIELD; i++, word = strtok_r(NULL, " ", &rest))
		sscanf(word, "%" SCNu64, &values[i]);
}

static uint64_t count_fds(void)
{
	uint64_t n = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n > 3 ? n - 3 : 0; // ".", ".." and the one of the directory itself
}

static uint64_t limit_of(__rlimit_resource_t which)
{
	struct rlimit limit;

	return getrlimit(which, &limit) == 0 ? limit.rlim_cur : 0;
}

void hs_process_stats_read(struct hs_process_stats *stats)
{
	uint64_t values[LAST_FIELD + 1];

	read_stat(values);
	*stats = (struct hs_process_stats){
			.cpu_ns = (uint64_t)hs_os_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
			.resident_bytes = values[RESIDENT_PAGES] * (uint64_t)sysconf(_SC_PAGESIZE),
			.virtual_bytes = values[VIRTUAL_BYTES],
			.virtual_max_bytes = limit_of(RLIMIT_AS),
			.open_fds = count_fds(),
			.max_fds = limit_of(RLIMIT_NOFILE),
			.threads = values[THREADS],
	};
}

int64_t hs_process_start_ns(void)
{
	uint64_t values[LAST_FIELD + 1];

	read_stat(values);
	if (!values[START_TICKS])
		return 0;
	int64_t tick_ns = INT64_C(1000000000) / sysconf(_SC_CLK_TCK);
	int64_t booted_ns = hs_os_clock_wall_ns() - hs_os_clock_ns(CLOCK_BOOTTIME);
	return booted_ns + (int64_t)values[START_TICKS] * tick_ns;
}
