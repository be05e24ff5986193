// SPDX-License-Identifier: BSD-3-Clause
// What is printed fits the terminal.
#include "hopsight_cli.h"

#include "terminal.h"
#include "text_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST 16 // columns of a text whose lines begin below each other

static size_t line_width; // 0: no limit

void hs_cli_fit_tables(bool wide)
{
	line_width = wide || !isatty(STDOUT_FILENO) ? 0 : hs_terminal_size().ws_col;
}

size_t hs_cli_line_width(void)
{
	return line_width;
}

void hs_cli_print_words(size_t indent, const char *text, size_t *used)
{
	for (size_t gap, len; *text; text += gap + len) {
		gap = strspn(text, " ");
		len = strcspn(text + gap, " ");
		char *word = strndup(text + gap, len);
		size_t width = word ? hs_text_width(word) : 0;
		size_t before = *used == indent ? 0 : gap ? gap : 1;
		bool fits = !before || !line_width || *used + before + width <= line_width;
		if (fits)
			printf("%*s%s", (int)before, "", word ? word : "");
		else
			printf("\n%*s%s", (int)indent, "", word ? word : "");
		*used = fits ? *used + before + width : indent + width;
		free(word);
	}
}

void hs_cli_print_text(size_t indent, const char *text)
{
	size_t used = indent;

	if (line_width && indent + LEAST > line_width)
		printf("%s", text);
	else
		hs_cli_print_words(indent, text, &used);
	printf("\n");
}
