// SPDX-License-Identifier: BSD-3-Clause
// A configuration of any bytes is refused, or complete: its printed form is the same configuration.
#pragma once

#include "fuzz.h"

#include <jansson.h>
#include <stdbool.h>

#include <string.h>

struct fuzz_config {
	// Returns false if the text is refused.
	bool (*parse)(const char *text, size_t len, void *config);
	void (*check)(const void *config);
	json_t *(*print)(const void *config);
	void (*fini)(void *config);
};

static inline char *fuzz_print(const struct fuzz_config *kind, const void *config)
{
	json_t *json = kind->print(config);
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

	json_decref(json);
	HOLDS(text);
	return text;
}

static inline void fuzz_config(const struct fuzz_config *kind, const uint8_t *data, size_t size,
		void *config, void *again)
{
	if (!kind->parse((const char *)data, size, config))
		return;
	kind->check(config);
	char *text = fuzz_print(kind, config);
	HOLDS(kind->parse(text, strlen(text), again));
	char *second = fuzz_print(kind, again);
	HOLDS(strcmp(text, second) == 0);
	free(second);
	free(text);
	kind->fini(again);
	kind->fini(config);
}
