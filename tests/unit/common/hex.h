// SPDX-License-Identifier: BSD-3-Clause
// Golden bytes, written as hexadecimal digits.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// `bytes` has room for half of the digits. Returns their number.
static inline size_t unhex(const char *hex, uint8_t *bytes)
{
	size_t n = strlen(hex) / 2;
	for (size_t i = 0; i < n; i++) {
		unsigned byte;
		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return n;
}
