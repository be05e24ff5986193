// SPDX-License-Identifier: BSD-3-Clause
// Memory for large tables with random access, in huge pages, also where DPDK has none. Without huge
// pages, nearly every access to a table of some hundred MiB first walks the page tables, which
// takes longer than the access in a virtual machine.
//
// Thread rule: any.
#pragma once

#include <stddef.h>

// Smaller pieces always come from DPDK's memory, because a huge page would be mostly empty.
#define HS_PAGES_LARGE_BYTES ((size_t)1 << 20)

// Returns zeroed memory, aligned to 128 bytes, or NULL. From 1 MiB on and without DPDK's huge
// pages, the kernel is asked for its own huge pages (madvise; it uses common pages if it has to).
void *hs_pages_take(const char *name, size_t bytes);
// Frees memory that hs_pages_take returned for this number of bytes. `pages` may be NULL.
void hs_pages_give(void *pages, size_t bytes);

// Returns how many of these bytes come from DPDK's memory if DPDK runs without huge pages.
size_t hs_pages_dpdk_bytes(size_t bytes);
