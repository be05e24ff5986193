// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints.h"

#include <stdio.h>
#include <string.h>

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

static bool is_chosen(const char *endpoint)
{
	const char *port = strncmp(endpoint, "tcp://", 6) == 0 ? strrchr(endpoint, ':') : NULL;

	return port && (strcmp(port, ":*") == 0 || strcmp(port, ":0") == 0);
}

// Refuses the endpoint `at` of list `of` if an earlier endpoint of the lists is the same.
static int check_one(const struct hs_endpoints_named *lists, unsigned of, unsigned at,
		struct hs_error *err)
{
	const char *endpoint = lists[of].endpoints->text[at];
	char path[48];

	for (unsigned list = 0; list <= of && !is_chosen(endpoint); list++) {
		for (unsigned i = 0; i < (list == of ? at : lists[list].endpoints->n); i++) {
			if (strcmp(lists[list].endpoints->text[i], endpoint) != 0)
				continue;
			snprintf(path, sizeof(path), "control.%s[%u]", lists[of].key, at);
			return hs_error_set(err, "bad_value", path, "each endpoint once",
					"control.%s[%u] is %s already", lists[list].key, i,
					endpoint);
		}
	}
	return 0;
}

int hs_endpoints_check_once(
		const struct hs_endpoints_named *lists, unsigned n, struct hs_error *err)
{
	int rc = 0;

	for (unsigned of = 0; of < n; of++)
		for (unsigned at = 0; at < lists[of].endpoints->n && rc == 0; at++)
			rc = check_one(lists, of, at, err);
	return rc;
}
