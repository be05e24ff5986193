// SPDX-License-Identifier: BSD-3-Clause
#include "scheduling.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

// The call never fails for the own thread, so that -1 is a value of nice.
static int present_nice(void)
{
	return getpriority(PRIO_PROCESS, (id_t)gettid());
}

static int apply_nice(int nice)
{
	// Without a change, no limit and no system call of a filter is needed.
	if (present_nice() == nice)
		return 0;
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), nice) == 0)
		return 0;
	return errno == EACCES ? -EPERM : -errno;
}

static int apply_class(const struct hs_scheduling *scheduling)
{
	static const int policies[] = {
			[HS_SCHEDULING_NORMAL] = SCHED_OTHER,
			[HS_SCHEDULING_RR] = SCHED_RR,
			[HS_SCHEDULING_FIFO] = SCHED_FIFO,
	};
	struct sched_param param = {.sched_priority = scheduling->priority};

	return -pthread_setschedparam(pthread_self(), policies[scheduling->class], &param);
}

bool hs_scheduling_needs_privilege(const struct hs_scheduling *scheduling)
{
	return scheduling->given &&
	       (scheduling->class != HS_SCHEDULING_NORMAL || scheduling->nice < present_nice());
}

int hs_scheduling_apply(const struct hs_scheduling *scheduling)
{
	if (!scheduling->given)
		return 0;
	int ret = apply_class(scheduling);
	if (ret == 0 && scheduling->class == HS_SCHEDULING_NORMAL)
		ret = apply_nice(scheduling->nice);
	return ret;
}
