// SPDX-License-Identifier: BSD-3-Clause
#include "lab_progress.h"

#include "lab_words.h"
#include "text_table.h"

#include <math.h>

#define NS_PER_S 1e9

void hs_lab_progress_text(const struct hs_lab_progress *p, char text[HS_LAB_LINE_TEXT])
{
	double done = p->duration_ns > 0 ? (double)p->done_ns / (double)p->duration_ns : 0;
	double per_s = p->wall_s > 0 ? (double)p->events / p->wall_s : 0;
	char rate[HS_LAB_WORD], left[32] = "";

	hs_lab_number(floor(per_s), rate);
	// An estimate needs a minimum of time and some progress.
	if (done > 0 && p->wall_s >= 0.5)
		snprintf(left, sizeof(left), "  %.0f s left", p->wall_s * (1 - done) / done);
	snprintf(text, HS_LAB_LINE_TEXT, "%.0f %%  %.1f of %.6g s  %s events/s%s", done * 100,
			(double)p->done_ns / NS_PER_S, (double)p->duration_ns / NS_PER_S, rate,
			left);
}

void hs_lab_line_clear(struct hs_lab_line *line)
{
	if (line->width)
		fprintf(line->to, "\r%*s\r", (int)line->width, "");
	line->width = 0;
	fflush(line->to);
}

void hs_lab_line_show(void *context, const struct hs_lab_progress *progress)
{
	struct hs_lab_line *line = context;
	char text[HS_LAB_LINE_TEXT];
	size_t width;

	hs_lab_progress_text(progress, text);
	width = hs_text_width(text);
	fprintf(line->to, "\r%s%*s", text, line->width > width ? (int)(line->width - width) : 0,
			"");
	line->width = width > line->width ? width : line->width;
	fflush(line->to);
}
