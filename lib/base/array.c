// SPDX-License-Identifier: BSD-3-Clause
#include "array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 8

// The room of n members is the power of two that is at least n, but at least FIRST_ROOM.
void *hs_array_add(void *array, size_t *n, size_t member_bytes)
{
	char *members;

	memcpy(&members, array, sizeof(members));
	if (*n == 0 || (*n >= FIRST_ROOM && (*n & (*n - 1)) == 0)) {
		members = reallocarray(members, *n ? 2 * *n : FIRST_ROOM, member_bytes);
		if (!members)
			return NULL;
		memcpy(array, &members, sizeof(members));
	}
	return members + (*n)++ * member_bytes;
}
