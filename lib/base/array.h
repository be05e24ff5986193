// SPDX-License-Identifier: BSD-3-Clause
// Arrays on the heap that grow by doubling. Their room follows from the number of members, so that
// an owner keeps only the pointer and the number.
//
// Thread rule: owner.
#pragma once

#include <stddef.h>

// Adds a member to an array of *n members and returns the member, which has no value yet. Only this
// function may add members to the array. `array` is the address of the pointer. Returns NULL if
// memory is out; nothing has changed then.
void *hs_array_add(void *array, size_t *n, size_t member_bytes);

// Does the same for a typed pointer.
#define HS_ARRAY_ADD(array, n) ((__typeof__(array))hs_array_add(&(array), &(n), sizeof(*(array))))

// Does the same with a value for the member.
#define HS_ARRAY_APPEND(array, n, ...)                                                             \
	({                                                                                         \
		__typeof__(array) appended = HS_ARRAY_ADD(array, n);                               \
		if (appended)                                                                      \
			*appended = (__VA_ARGS__);                                                 \
		appended;                                                                          \
	})
