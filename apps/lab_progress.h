// SPDX-License-Identifier: BSD-3-Clause
// Shows the progress of a run in one line of a terminal, which is rewritten.
//
// Thread rule: owner.
#pragma once

#include "lab.h"

#include <stdio.h>

struct hs_lab_line {
	FILE *to;
	int width; // of the text that is shown
};

// Shows "42 %  50.4 of 120 s  4,812,223 events/s  4 s left".
void hs_lab_line_show(struct hs_lab_line *line, const struct hs_lab_progress *progress);
// Erases the text that is shown.
void hs_lab_line_clear(struct hs_lab_line *line);
