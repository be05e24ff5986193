// SPDX-License-Identifier: BSD-3-Clause
#include "rule_fields.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct one {
	const void *value; // padding is zeroed, because it is compared as bytes
	size_t bytes;
	uint32_t number;
};

// All values of one kind, which have the same size.
struct pool {
	void *by_value; // a tree of tsearch(3)
	struct one **all;
	uint32_t n;
};

static struct pool fields, owners;

static int compare(const void *a, const void *b)
{
	const struct one *left = a, *right = b;
	return memcmp(left->value, right->value, left->bytes);
}

static struct one *add(struct pool *pool, const void *value, size_t bytes)
{
	struct one **grown = reallocarray(pool->all, pool->n + 1, sizeof(*pool->all));
	struct one *one = grown ? malloc(sizeof(*one) + bytes) : NULL;

	pool->all = grown ? grown : pool->all;
	if (!one)
		return NULL;
	*one = (struct one){memcpy(one + 1, value, bytes), bytes, pool->n + 1};
	if (!tsearch(one, &pool->by_value, compare)) {
		free(one);
		return NULL;
	}
	pool->all[pool->n++] = one;
	return one;
}

static uint32_t number_of(struct pool *pool, const void *value, size_t bytes)
{
	const struct one key = {value, bytes, 0};
	struct one *const *found = tfind(&key, &pool->by_value, compare);
	const struct one *one = found ? *found : NULL;

	if (!one && pool->n < HS_RULE_FIELDS_MOST)
		one = add(pool, value, bytes);
	return one ? one->number : 0;
}

static void shrink(struct pool *pool, uint32_t n)
{
	while (pool->n > n) {
		struct one *one = pool->all[--pool->n];
		tdelete(one, &pool->by_value, compare);
		free(one);
	}
}

struct hs_rule_fields_mark hs_rule_fields_mark(void)
{
	return (struct hs_rule_fields_mark){fields.n, owners.n};
}

void hs_rule_fields_release(struct hs_rule_fields_mark mark)
{
	shrink(&fields, mark.fields);
	shrink(&owners, mark.owners);
}

uint32_t hs_rule_fields_number(const struct hs_partial *partial)
{
	return number_of(&fields, partial, sizeof(*partial));
}

const struct hs_partial *hs_rule_fields_of(uint32_t number)
{
	return fields.all[number - 1]->value;
}

uint16_t hs_rule_owner_number(const char *name)
{
	char padded[HS_RULE_OWNER_BYTES] = "";

	memcpy(padded, name, strnlen(name, sizeof(padded) - 1));
	return name[0] ? (uint16_t)number_of(&owners, padded, sizeof(padded)) : 0;
}

const char *hs_rule_owner_name(uint16_t number)
{
	return number ? owners.all[number - 1]->value : "";
}
