// SPDX-License-Identifier: BSD-3-Clause
// Shows the progress of a run in one line of a terminal, which is rewritten.
//
// Thread rule: owner.
#pragma once

#include "lab.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HS_LAB_LINE_TEXT 160

struct hs_lab_line {
	FILE *to;
	size_t width; // of the text that is shown
};

// Shows the progress. This function has the type of hs_lab_config.progress, with the line as its
// context.
void hs_lab_line_show(void *line, const struct hs_lab_progress *progress);
// Erases the text that is shown.
void hs_lab_line_clear(struct hs_lab_line *line);

// Writes "42 %  50.4 of 120 s  4,812,223 events/s  4 s left".
void hs_lab_progress_text(const struct hs_lab_progress *progress, char text[HS_LAB_LINE_TEXT]);
