// SPDX-License-Identifier: BSD-3-Clause
// The cases and the build as JSON, for the programs that start measurements (tools).
//
// Thread rule: any.
#pragma once

#include "bench_case.h"

#include <jansson.h>

// Returns {"release", "version", "dpdk", "compiler", "options", "cases": [...]}. The caller owns
// the result. Returns NULL if memory is out.
json_t *hs_bench_list(void);
// Returns {"routes": ["2001:db8::/48", ...]}, the routes of a case, of which some may be equal.
// Those of IPv4 are as in ip_address.h. The caller owns the result. Returns NULL if memory is out.
json_t *hs_bench_list_routes(const struct hs_bench_case *spec);
