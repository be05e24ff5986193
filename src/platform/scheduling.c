// SPDX-License-Identifier: BSD-3-Clause
#include "scheduling.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The shortest slice that Linux grants.
#define SLICE_NS 100000

// Returns the thread's nice value. The call never fails for the own thread, so that -1 is a value
// of nice.
static int present_nice(void)
{
	return getpriority(PRIO_PROCESS, (id_t)gettid());
}

static int apply_nice(int nice)
{
	// Without a change, neither a limit nor a filter of system calls can refuse.
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

// Asks for short slices. A thread that wakes up takes the core at once from a thread with a longer
// slice, and its share of the core stays the same. A kernel that has no such slices (before Linux
// 6.12) or a filter that refuses the call changes nothing.
static void ask_short_slice(void)
{
	// The kernel's struct sched_attr, whose header and sched.h exclude each other.
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} attr = {
			.size = sizeof(attr),
			.policy = SCHED_OTHER,
			.nice = present_nice(),
			.runtime_ns = SLICE_NS,
	};

	if (sched_getscheduler(0) == SCHED_OTHER)
		syscall(SYS_sched_setattr, 0, &attr, 0);
}

static int apply_given(const struct hs_scheduling *scheduling)
{
	int ret = apply_class(scheduling);

	if (ret == 0 && scheduling->class == HS_SCHEDULING_NORMAL)
		ret = apply_nice(scheduling->nice);
	return ret;
}

int hs_scheduling_apply(const struct hs_scheduling *scheduling)
{
	int ret = scheduling->given ? apply_given(scheduling) : 0;

	if (ret == 0)
		ask_short_slice();
	return ret;
}
