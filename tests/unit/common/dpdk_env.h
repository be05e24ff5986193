// SPDX-License-Identifier: BSD-3-Clause
// DPDK for a unit test: no huge pages, no devices, no shared files.
#pragma once

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

static inline void dpdk_env_init_on(const char *memory_mib, const char *lcores)
{
	char *argv[] = {"test", "--no-huge", "-m", (char *)memory_mib, "--no-shconf", "--no-pci",
			"--no-telemetry", "--log-level=3", "--lcores", (char *)lcores};
	if (rte_eal_init(sizeof(argv) / sizeof(argv[0]), argv) < 0) {
		fprintf(stderr, "EAL does not start\n");
		exit(1);
	}
}

static inline void dpdk_env_init(const char *memory_mib)
{
	dpdk_env_init_on(memory_mib, "0");
}

// EAL keeps its thread, and those that it makes, to one core: a thread that races goes where it
// can.
static inline void dpdk_env_unpin(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}
