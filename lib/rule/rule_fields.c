// SPDX-License-Identifier: BSD-3-Clause
#include "rule_fields.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct one {
	struct hs_partial partial; // padding is zeroed, because it is compared as bytes
	uint32_t number;
};

static void *by_value; // a tree of tsearch(3)
static struct one **all;
static uint32_t n;

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct hs_partial));
}

static struct one *add(const struct hs_partial *partial)
{
	struct one **grown = reallocarray(all, n + 1, sizeof(*all));
	struct one *one = grown ? calloc(1, sizeof(*one)) : NULL;

	all = grown ? grown : all;
	if (!one)
		return NULL;
	one->partial = *partial;
	one->number = n + 1;
	if (!tsearch(one, &by_value, compare)) {
		free(one);
		return NULL;
	}
	all[n++] = one;
	return one;
}

uint32_t hs_rule_fields_number(const struct hs_partial *partial)
{
	struct one *const *found = tfind(partial, &by_value, compare);
	const struct one *one = found ? *found : NULL;

	if (!one && n < HS_RULE_FIELDS_MOST)
		one = add(partial);
	return one ? one->number : 0;
}

const struct hs_partial *hs_rule_fields_of(uint32_t number)
{
	return &all[number - 1]->partial;
}
