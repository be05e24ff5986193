// SPDX-License-Identifier: BSD-3-Clause
#include "lab_array.h"

#include <stdlib.h>
#include <string.h>

bool hs_lab_grow(void **array, size_t *room, size_t n, size_t member_bytes)
{
	size_t more = *room ? *room : 8;
	if (n <= *room)
		return true;
	while (more < n)
		more *= 2;
	void *grown = reallocarray(*array, more, member_bytes);
	if (!grown)
		return false;
	*array = grown;
	*room = more;
	return true;
}

// The room is the power of two that is at least n.
bool hs_lab_append(void *array, size_t *n, const void *member, size_t member_bytes)
{
	void *members;

	memcpy(&members, array, sizeof(members));
	if ((*n & (*n - 1)) == 0) {
		members = reallocarray(members, *n ? 2 * *n : 1, member_bytes);
		if (!members)
			return false;
		memcpy(array, &members, sizeof(members));
	}
	memcpy((char *)members + (*n)++ * member_bytes, member, member_bytes);
	return true;
}
