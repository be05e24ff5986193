// SPDX-License-Identifier: BSD-3-Clause
#include "instants.h"

#include <stdlib.h>

void hs_instants_fini(struct hs_instants *instants)
{
	free(instants->at_ns);
	*instants = (struct hs_instants){0};
}

bool hs_instants_grow(struct hs_instants *instants)
{
	size_t old = instants->at_ns ? (size_t)instants->mask + 1 : 0;
	size_t capacity = old ? old * 2 : 16;
	if (capacity > (size_t)1 << 31)
		return false;
	int64_t *at_ns = malloc(capacity * sizeof(*at_ns));
	if (!at_ns)
		return false;
	for (uint32_t i = 0; i < instants->count; i++)
		at_ns[i] = instants->at_ns[(instants->head + i) & instants->mask];
	free(instants->at_ns);
	instants->at_ns = at_ns;
	instants->head = 0;
	instants->mask = (uint32_t)(capacity - 1);
	return true;
}
