// SPDX-License-Identifier: BSD-3-Clause
// Allocations that fail: the linker puts these functions in the place of the library's
// (-Wl,--wrap=malloc and so on). The test says when.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Asked at each allocation.
static bool memory_is_out(void);

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
	return memory_is_out() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return memory_is_out() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return memory_is_out() ? NULL : __real_realloc(old, size);
}
