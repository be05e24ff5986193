// SPDX-License-Identifier: BSD-3-Clause
#include "help_line.h"

#include <string.h>

#define WIDTH 80

void hs_help_wrap(FILE *out, int at, const char *text)
{
	int begin = at + 1;

	while (*text) {
		int bytes = (int)strcspn(text, " ");
		if (at + 1 + bytes > WIDTH && at >= begin)
			at = fprintf(out, "\n%*s", begin - 1, "") - 1;
		at += fprintf(out, " %.*s", bytes, text);
		text += bytes;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void hs_help_line(FILE *out, int columns, const char *name, const char *meaning)
{
	fprintf(out, "  %-*s", columns, name);
	hs_help_wrap(out, columns + 2, meaning);
}
