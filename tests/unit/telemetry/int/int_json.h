// SPDX-License-Identifier: BSD-3-Clause
// tests/golden/int/*.json as the codec's own structures.
#pragma once

#include "int_test.h"

#include <jansson.h>

json_t *int_json_load(const char *path);
struct frame int_json_frame(const json_t *object, const char *key);
struct hs_int_settings int_json_settings(const json_t *object);
struct hs_int_request int_json_request(const json_t *object);
struct hs_int_values int_json_values(const json_t *object);

// What a reader gets of values that were written as `asked`: those of the bitmap, cut and refused
// as the version does, by the table.
struct hs_int_values int_json_read_back(
		const struct hs_int_values *asked, enum hs_int_version version, uint16_t bitmap);
