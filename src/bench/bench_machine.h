// SPDX-License-Identifier: BSD-3-Clause
// Facts about the machine and the build, without which no figure means anything.
//
// Thread rule: control.
#pragma once

#include <jansson.h>

// The caller owns it. `command`: how the program was called.
json_t *hs_bench_machine(const char *command);
