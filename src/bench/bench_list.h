// SPDX-License-Identifier: BSD-3-Clause
// The cases and the build as JSON, for the program that starts measurements (tools/bench).
//
// Thread rule: any.
#pragma once

#include <jansson.h>

// Returns {"release", "version", "dpdk", "compiler", "options", "cases": [...]}. The caller owns
// the result. Returns NULL if memory is out.
json_t *hs_bench_list(void);
