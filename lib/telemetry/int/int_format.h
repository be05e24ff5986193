// SPDX-License-Identifier: BSD-3-Clause
// INT in the one decoded form (telemetry_model.h), a family for each version: the width of its
// times differs.
//
// Thread rule: constant; pure functions.
#pragma once

#include "int.h"
#include "telemetry_model.h"

#define HS_INT_MAX_RECORD 255 // bytes of a header with its stack that a report's record holds

extern const struct hs_telemetry_family hs_int_formats[HS_INT_N_VERSIONS];
