// SPDX-License-Identifier: BSD-3-Clause
#include "terminal.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned short number_of(const char *name, unsigned short otherwise)
{
	const char *text = getenv(name);
	char *end;
	unsigned long number = text ? strtoul(text, &end, 10) : 0;

	return number && !*end && number <= USHRT_MAX ? (unsigned short)number : otherwise;
}

struct winsize hs_terminal_size(void)
{
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		size = (struct winsize){.ws_row = 24, .ws_col = 80};
	size.ws_col = number_of("COLUMNS", size.ws_col);
	size.ws_row = number_of("LINES", size.ws_row);
	return size;
}
