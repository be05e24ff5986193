// SPDX-License-Identifier: BSD-3-Clause
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

const char *hs_scenario_path(
		const struct hs_scenario *scenario, const char *file, char path[HS_SCENARIO_PATH])
{
	bool alone = file[0] == '/' || !scenario->folder[0];

	snprintf(path, HS_SCENARIO_PATH, "%s%s%s", alone ? "" : scenario->folder, alone ? "" : "/",
			file);
	return path;
}

void hs_scenario_fini(struct hs_scenario *scenario)
{
	for (size_t i = 0; i < scenario->n_requests; i++)
		json_decref(scenario->requests[i].request);
	for (size_t i = 0; i < scenario->n_events; i++) {
		json_decref(scenario->events[i].set);
		json_decref(scenario->events[i].request);
	}
	free(scenario->profiles);
	free(scenario->nodes);
	free(scenario->links);
	free(scenario->hosts);
	free(scenario->routes);
	free(scenario->traffic);
	free(scenario->requests);
	free(scenario->flows);
	free(scenario->events);
	free(scenario->expects);
	*scenario = (struct hs_scenario){0};
}
