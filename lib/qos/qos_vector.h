// SPDX-License-Identifier: BSD-3-Clause
// Four values of 32 bits, on which one instruction works at once.
//
// Thread rule: any; values.
#pragma once

#include <stdint.h>

#define LANES 4
typedef int32_t vector __attribute__((vector_size(4 * LANES)));
typedef uint32_t wide_vector __attribute__((vector_size(4 * LANES)));
typedef float real_vector __attribute__((vector_size(4 * LANES)));
