// SPDX-License-Identifier: BSD-3-Clause
#include "privileges.h"

#include <cap-ng.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

uint64_t hs_privileges_held(void)
{
	uint64_t held = 0;

	if (capng_get_caps_process() != 0)
		return 0;
	for (unsigned cap = 0; cap <= (unsigned)CAP_LAST_CAP; cap++) {
		if (capng_have_capability(CAPNG_PERMITTED, cap))
			held |= HS_PRIVILEGE(cap);
	}
	return held;
}

// Returns whether the process may change the bounding set. A process that may not change the set
// does not have to: no_new_privs makes the set ineffective.
static bool may_change_bounds(void)
{
	return capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);
}

int hs_privileges_keep(uint64_t keep)
{
	uint64_t held = hs_privileges_held();
	bool bounds = may_change_bounds();

	if (!(held & ~keep)) // a service manager may have removed the call together with the
			     // capabilities
		return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
	capng_clear(CAPNG_SELECT_ALL);
	for (unsigned cap = 0; cap <= (unsigned)CAP_LAST_CAP; cap++) {
		if (!(held & keep & HS_PRIVILEGE(cap)))
			continue;
		if (capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
				    cap))
			return -EINVAL;
	}
	if (bounds && capng_apply(CAPNG_SELECT_BOUNDS) != 0)
		return -EPERM;
	if (capng_apply(CAPNG_SELECT_CAPS) != 0)
		return -EPERM;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

bool hs_privileges_low_port(const char *endpoint)
{
	const char *colon = strrchr(endpoint, ':');
	int port = colon ? atoi(colon + 1) : 0; // also 0 for "*": any free port

	return strncmp(endpoint, "tcp://", 6) == 0 && port > 0 && port < IPPORT_RESERVED;
}

const char *hs_privilege_name(unsigned cap)
{
	return cap <= (unsigned)CAP_LAST_CAP ? capng_capability_to_name(cap) : NULL;
}

const char *hs_privileges_text(uint64_t set, char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "none");
	for (unsigned cap = 0; cap <= (unsigned)CAP_LAST_CAP && used < size; cap++) {
		if (set & HS_PRIVILEGE(cap))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
					hs_privilege_name(cap));
	}
	return text;
}
