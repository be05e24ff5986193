// SPDX-License-Identifier: BSD-3-Clause
#include "lab_progress.h"

#include "lab_words.h"

#include <math.h>

#define NS_PER_S 1e9

void hs_lab_line_show(struct hs_lab_line *line, const struct hs_lab_progress *p)
{
	double done = p->duration_ns > 0 ? (double)p->done_ns / (double)p->duration_ns : 0;
	double per_s = p->wall_s > 0 ? (double)p->events / p->wall_s : 0;
	char rate[HS_LAB_WORD], left[32] = "";

	hs_lab_number(floor(per_s), rate);
	// An estimate needs a minimum of time and some progress.
	if (done > 0 && p->wall_s >= 0.5)
		snprintf(left, sizeof(left), "  %.0f s left", p->wall_s * (1 - done) / done);
	int width = fprintf(line->to, "\r%.0f %%  %.1f of %.6g s  %s events/s%s", done * 100,
				    (double)p->done_ns / NS_PER_S,
				    (double)p->duration_ns / NS_PER_S, rate, left) -
		    1;
	if (width < line->width)
		fprintf(line->to, "%*s", line->width - width, "");
	else
		line->width = width;
	fflush(line->to);
}

void hs_lab_line_clear(struct hs_lab_line *line)
{
	if (line->width)
		fprintf(line->to, "\r%*s\r", line->width, "");
	line->width = 0;
	fflush(line->to);
}
