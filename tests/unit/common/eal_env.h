// SPDX-License-Identifier: BSD-3-Clause
// The EAL of a node or a collector for a group of unit tests, as it is started by their programs.
#pragma once

#include "eal.h"
#include "log.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

// On the first core that this process has.
static inline int eal_env_start(void **state)
{
	struct hs_eal_config config = {0};
	cpu_set_t set;

	(void)state;
	hs_log_setup(HS_LOG_ERROR, false);
	sched_getaffinity(0, sizeof(set), &set);
	while (!CPU_ISSET(config.control_core, &set))
		config.control_core++;
	snprintf(config.file_prefix, sizeof(config.file_prefix), "hs-test-%d", (int)getpid());
	return hs_eal_init(&config, NULL);
}

static inline int eal_env_stop(void **state)
{
	(void)state;
	hs_eal_fini();
	return 0;
}
