// SPDX-License-Identifier: BSD-3-Clause
// Arrays that grow by doubling.
//
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Grows an array to at least n members. Returns false if memory is out; nothing has changed then.
bool hs_lab_grow(void **array, size_t *room, size_t n, size_t member_bytes);

// Does the same for a typed pointer. Returns whether there is room for n members now.
#define HS_LAB_ROOM(array, room, n)                                                                \
	({                                                                                         \
		void *grown = (array);                                                             \
		bool enough = hs_lab_grow(&grown, &(room), (n), sizeof(*(array)));                 \
		(array) = grown;                                                                   \
		enough;                                                                            \
	})

// Appends a copy of the member to an array of *n members, which nothing else appends to. `array` is
// the address of the pointer. Returns false if memory is out; nothing has changed then.
bool hs_lab_append(void *array, size_t *n, const void *member, size_t member_bytes);
