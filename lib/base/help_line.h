// SPDX-License-Identifier: BSD-3-Clause
// Lines of --help, which terminals of 80 columns show whole.
//
// Thread rule: any.
#pragma once

#include <stdio.h>

// Writes a text behind `at` columns of a line, broken between words. Its lines begin below each
// other.
void hs_help_wrap(FILE *out, int at, const char *text);
// Writes a name in `columns` columns, and behind them the meaning as hs_help_wrap does.
void hs_help_line(FILE *out, int columns, const char *name, const char *meaning);
