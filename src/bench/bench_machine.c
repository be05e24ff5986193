// SPDX-License-Identifier: BSD-3-Clause
#include "bench_machine.h"

#include "bench_version.h"

#include <rte_version.h>

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void cpu_model(char *model, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(model, size, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		const char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		snprintf(model, size, "%s", colon + 2);
		model[strcspn(model, "\n")] = '\0';
		break;
	}
	if (file)
		fclose(file);
}

json_t *hs_bench_machine(const char *command)
{
	struct utsname system;
	char model[128], date[32];
	time_t now = time(NULL);
	struct tm utc;

	cpu_model(model, sizeof(model));
	uname(&system);
	gmtime_r(&now, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "cpu", model, "cores",
			(json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "kernel", system.release, "dpdk",
			rte_version(), "compiler", HS_BENCH_COMPILER, "options", HS_BENCH_OPTIONS,
			"version", HS_BENCH_DESCRIBE, "date", date, "command", command);
}
