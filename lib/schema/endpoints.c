// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints.h"

unsigned hs_endpoints_point(
		const struct hs_endpoints *endpoints, const char *list[HS_MAX_ENDPOINTS])
{
	for (unsigned i = 0; i < endpoints->n; i++)
		list[i] = endpoints->text[i];
	return endpoints->n;
}

bool hs_endpoints_any(const struct hs_endpoints *endpoints, bool (*holds)(const char *endpoint))
{
	for (unsigned i = 0; i < endpoints->n; i++)
		if (holds(endpoints->text[i]))
			return true;
	return false;
}
