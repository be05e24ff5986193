// SPDX-License-Identifier: BSD-3-Clause
#include "lab_array.h"

#include <stdlib.h>

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
