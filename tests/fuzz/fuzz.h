// SPDX-License-Identifier: BSD-3-Clause
// Runs one input of a fuzzer. Called by libFuzzer and by replay.c.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A property that does not hold is a finding, also in release builds.
#define HOLDS(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
					#condition);                                               \
			abort();                                                                   \
		}                                                                                  \
	} while (0)
