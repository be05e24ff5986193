// SPDX-License-Identifier: BSD-3-Clause
// Parts of schema_value.c for lib/schema only.
#pragma once

#include "schema.h"

// Says what a row takes; NULL: nothing is to say.
const char *hs_schema_bounds(const struct hs_schema_field *field, char text[80]);
int hs_schema_refuse_type(const struct hs_schema_field *field, const struct hs_schema_value *value,
		const char *path, const char *wanted, struct hs_error *err);

// Stores the value of a word of the field. Returns false if there is no such word.
bool hs_schema_find_word(
		const struct hs_schema_field *field, const char *text, size_t len, void *at);
const char *hs_schema_word_of(const struct hs_schema_field *field, uint64_t value); // or NULL

void hs_schema_store_bits(void *at, size_t size, uint64_t value);
uint64_t hs_schema_load_bits(const void *at, size_t size);
