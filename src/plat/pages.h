// SPDX-License-Identifier: BSD-3-Clause
// Memory for large tables that are met at random: in huge pages, also where DPDK has none. Without
// them nearly every access to a table of some hundred MiB walks the page tables first, which in a
// virtual machine takes longer than the access.
//
// Thread rule: any.
#pragma once

#include <stddef.h>

// Less than this comes from DPDK's memory in any case: a huge page would be mostly empty.
#define HS_PAGES_LARGE_BYTES ((size_t)1 << 20)

// Zeroed memory, aligned to 128 bytes; NULL where there is none. From a MiB on and without DPDK's
// huge pages the kernel is asked for huge pages of its own (madvise; it gives common ones if it has
// to).
void *hs_pages_take(const char *name, size_t bytes);
// `bytes` as taken; pages may be NULL.
void hs_pages_give(void *pages, size_t bytes);

// How much of it DPDK has to be given, where it runs without huge pages.
size_t hs_pages_dpdk_bytes(size_t bytes);
