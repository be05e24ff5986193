// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the tables of a run share.
//
// Thread rule: owner.
#pragma once

#include "run.h"

#include "text_table.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HOP_WIDTH 20

void hs_lab_table_cut(struct hs_text_table *table, const char *text, size_t width);
// NAN: nothing.
void hs_lab_table_number(struct hs_text_table *table, double value, int decimals);
// Prints the table below its title, if it has rows, and destroys it. 0 or -ENOMEM.
int hs_lab_table_finish(FILE *to, struct hs_text_table *table, const char *title);

// Each 0 or -ENOMEM.
int hs_lab_table_run(FILE *to, uint32_t ns_id, const json_t *result);
int hs_lab_table_trips(FILE *to, const json_t *result);
int hs_lab_table_links(FILE *to, const struct hs_run *run);
