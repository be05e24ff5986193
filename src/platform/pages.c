// SPDX-License-Identifier: BSD-3-Clause
#include "pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#define HUGE_BYTES ((size_t)2 << 20)

static size_t whole(size_t bytes)
{
	return RTE_ALIGN_CEIL(bytes, HUGE_BYTES);
}

static bool is_mapped(size_t bytes)
{
	return bytes >= HS_PAGES_LARGE_BYTES && !rte_eal_has_hugepages();
}

// Maps aligned memory. The kernel uses a huge page only at an aligned address, so that one more
// huge page is mapped and the unused parts are unmapped.
static void *map(size_t bytes)
{
	size_t mapped = bytes + HUGE_BYTES;
	uint8_t *at = mmap(
			NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	uint8_t *begin = RTE_PTR_ALIGN_CEIL(at, HUGE_BYTES);
	if (begin > at)
		munmap(at, (size_t)(begin - at));
	munmap(begin + bytes, (size_t)(at + mapped - (begin + bytes)));
	madvise(begin, bytes, MADV_HUGEPAGE); // a kernel without this uses common pages
	return begin;
}

void *hs_pages_take(const char *name, size_t bytes)
{
	if (is_mapped(bytes))
		return map(whole(bytes));
	return rte_zmalloc(name, bytes, 2 * RTE_CACHE_LINE_SIZE);
}

void hs_pages_give(void *pages, size_t bytes)
{
	if (pages && is_mapped(bytes))
		munmap(pages, whole(bytes));
	else
		rte_free(pages);
}

size_t hs_pages_dpdk_bytes(size_t bytes)
{
	return bytes < HS_PAGES_LARGE_BYTES ? bytes : 0;
}
