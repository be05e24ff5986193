// SPDX-License-Identifier: BSD-3-Clause
// What x86intrin.h does for gcc, for clang, with which DPDK's headers include this one instead.
#pragma once

#ifdef __AVX__
#include_next <immintrin.h>
#else
#include <nmmintrin.h> // SSE 4.2 and all before it
#endif
