// SPDX-License-Identifier: BSD-3-Clause
#include "nearest.h"

#include <stddef.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

// Returns the number of changes between two words: the optimal string alignment. `rows` has the
// numbers of changes from the first letters of `a` to the first letters of `b`, for the last three
// lengths of `a`.
static unsigned changes_between(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][HS_NEAREST_BYTES];

	for (size_t i = 0; i <= a_len; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			if (i == 0) {
				row[j] = (unsigned)j;
				continue;
			}
			row[j] = least(before[j], row[j - 1]) + 1;
			row[j] = least(row[j], before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_before[j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

void hs_nearest_try(struct hs_nearest *nearest, const char *word)
{
	size_t typed_len = strlen(nearest->typed), len = strlen(word);
	size_t longer = len > typed_len ? len : typed_len;

	if (longer >= HS_NEAREST_BYTES || typed_len == 0)
		return;
	unsigned changes = changes_between(nearest->typed, typed_len, word, len);
	if (typed_len > 1 && strncmp(word, nearest->typed, typed_len) == 0)
		changes = least(changes, 1);
	if (changes > (longer < 6 ? 1 : longer / 3))
		return;
	if (nearest->word && nearest->changes <= changes)
		return;
	nearest->word = word;
	nearest->changes = changes;
}
