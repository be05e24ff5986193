// SPDX-License-Identifier: BSD-3-Clause
// Stands before gcc's x86intrin.h, which DPDK's headers include, with the instructions of every x86
// processor. gcc takes 0.3 s to read them, longer than the rest of most files. Builds for
// processors without AVX need few.
#pragma once

#ifdef __AVX__
#include_next <x86intrin.h>
#else
#include <nmmintrin.h> // SSE 4.2 and all before it
#endif
