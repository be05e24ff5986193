// SPDX-License-Identifier: BSD-3-Clause
// Plots of an outcome: for each flow and metric the data (tab-separated, "FLOW.METRIC.dat"), a
// script for gnuplot (".gp") and what gnuplot draws (".svg"): a panel for each hop with what was
// measured, true and configured over time.
//
// Thread rule: the main thread.
#pragma once

#include "outcome.h"

#include "error.h"

#include <stddef.h>

// Flows that are drawn; of more, the result alone has them all.
#define HS_LAB_PLOT_FLOWS 16
#define HS_LAB_PLOT_NAME  128

struct hs_lab_plots {
	size_t n, flows_left_out;
	char (*names)[HS_LAB_PLOT_NAME]; // of files, without their ends
};

// Makes the folder where it is not there; 0: files can be made in it. Negative errno with *err.
int hs_lab_plots_prepare(const char *folder, struct hs_error *err);

// Data and scripts. 0 or negative errno with *err; fini in either case.
int hs_lab_plots_write(const char *folder, const struct hs_run *run,
		const struct hs_outcome *outcome, struct hs_lab_plots *plots, struct hs_error *err);
void hs_lab_plots_fini(struct hs_lab_plots *plots);

// Runs gnuplot on the scripts. 0; -ENOENT: there is no gnuplot; other negative errno with *err.
int hs_lab_plots_draw(const char *folder, const struct hs_lab_plots *plots, struct hs_error *err);
