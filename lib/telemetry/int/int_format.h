// SPDX-License-Identifier: BSD-3-Clause
// INT as families of telemetry_model.h. Each version is a family, because the width of its times
// differs.
//
// Thread rule: constant; pure functions.
#pragma once

#include "int.h"
#include "telemetry_model.h"

#define HS_INT_MAX_RECORD 255 // most bytes of header and stack in a report's record

extern const struct hs_telemetry_family hs_int_formats[HS_INT_N_VERSIONS];
