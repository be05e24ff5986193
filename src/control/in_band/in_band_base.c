// SPDX-License-Identifier: BSD-3-Clause
#include "in_band_base.h"

#include <stdarg.h>
#include <stdio.h>

void hs_in_band_event(const struct in_band_base *base, const char *kind, json_t *details,
		const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	base->host.event(base->host.context, kind, details, text);
}
