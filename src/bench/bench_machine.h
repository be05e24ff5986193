// SPDX-License-Identifier: BSD-3-Clause
// Facts about the machine and the build, which every figure needs.
//
// Thread rule: control.
#pragma once

#include <jansson.h>

// The caller owns the result. `command` is the command line of the program.
json_t *hs_bench_machine(const char *command);
