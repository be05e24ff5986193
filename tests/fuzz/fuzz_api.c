// SPDX-License-Identifier: BSD-3-Clause
// A message of any bytes gets a JSON reply, and one that is refused has run nothing.
#include "fuzz.h"

#include "fake_backend.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fake fake;

	fake_init(&fake);
	struct hs_api_backend backend = fake_backend(&fake);
	char *reply = hs_api_handle(&backend, (const char *)data, size);
	json_t *json = reply ? json_loads(reply, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const json_t *error = json_object_get(json, "error");
	HOLDS(json && !error == !!json_object_get(json, "ok"));
	if (error) {
		HOLDS(json_string_length(json_object_get(error, "code")) > 0);
		HOLDS(fake.runs == 0 && fake.generation == 41);
	}
	json_decref(json);
	free(reply);
	return 0;
}
