// SPDX-License-Identifier: BSD-3-Clause
#include "descriptors.h"

#include <sys/resource.h>

#define ENOUGH 65536

unsigned hs_descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	struct rlimit wanted = {.rlim_cur = limit.rlim_max < ENOUGH ? limit.rlim_max : ENOUGH,
			.rlim_max = limit.rlim_max};
	if (limit.rlim_cur < wanted.rlim_cur && setrlimit(RLIMIT_NOFILE, &wanted) == 0)
		limit = wanted;
	return limit.rlim_cur < ENOUGH ? (unsigned)limit.rlim_cur : ENOUGH;
}
