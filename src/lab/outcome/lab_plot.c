// SPDX-License-Identifier: BSD-3-Clause
#include "lab_plot.h"

#include "lab_words.h"
#include "whole_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WIDTH	     960 // of a plot; all in pixels
#define PANEL	     104
#define PANEL_GAP    18
#define TOP	     58
#define BOTTOM	     60
#define LEFT	     108
#define RIGHT	     150 // names of hops
#define HOP_WIDTH    20
#define SMALL_POINTS 400 // windows from which points are drawn smaller

#define PANELS 32

// One plot: the rows of a flow that have points of one metric.
struct plot {
	const struct hs_run *run;
	const struct hs_outcome *outcome;
	size_t n, rows[PANELS];
	enum hs_metric_kind kind;
	char name[HS_LAB_PLOT_NAME];
};

struct extent {
	double low, high;
	bool truth, configured; // has any
};

int hs_lab_plots_prepare(const char *folder, struct hs_error *err)
{
	struct stat status;
	int error = 0;

	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		error = errno;
	else if (stat(folder, &status) < 0)
		error = errno;
	else if (!S_ISDIR(status.st_mode))
		error = ENOTDIR;
	else if (access(folder, W_OK | X_OK) < 0)
		error = errno;
	if (error)
		hs_error_set(err, "file", folder, "", "cannot hold plots: %s", strerror(error));
	return -error;
}

void hs_lab_plots_fini(struct hs_lab_plots *plots)
{
	free(plots->names);
	*plots = (struct hs_lab_plots){0};
}

// ---- what is in a row ----

static const struct hs_outcome_row *row_at(const struct plot *plot, size_t panel)
{
	return hs_outcome_row(plot->outcome, plot->rows[panel]);
}

static const char *title_of(const struct hs_outcome_row *row)
{
	return row->e2e ? "end to end" : row->hop;
}

// When a window ended, in seconds of the run.
static double end_s(const struct plot *plot, const struct hs_outcome_row *row, size_t i)
{
	int64_t ns = row->start_ns[i] + plot->run->scenario->window_ns - plot->run->start_ns;

	return (double)ns / 1e9;
}

static void widen(struct extent *extent, double value)
{
	if (isnan(value))
		return;
	if (isnan(extent->low) || value < extent->low)
		extent->low = value;
	if (isnan(extent->high) || value > extent->high)
		extent->high = value;
}

static struct extent extent_of(const struct hs_outcome_row *row, enum hs_metric_kind kind)
{
	struct extent extent = {.low = NAN, .high = NAN};

	for (size_t i = 0; i < row->n; i++) {
		const struct hs_point *p = &row->points[i][kind];
		widen(&extent, p->measured);
		widen(&extent, p->truth);
		widen(&extent, p->configured);
		extent.truth |= !isnan(p->truth);
		extent.configured |= !isnan(p->configured);
	}
	return extent;
}

static void find_rows(struct plot *plot, size_t first, size_t n)
{
	plot->n = 0;
	for (size_t i = first; i < first + n && plot->n < PANELS; i++) {
		struct extent extent = extent_of(hs_outcome_row(plot->outcome, i), plot->kind);
		if (!isnan(extent.low))
			plot->rows[plot->n++] = i;
	}
}

// ---- data ----

static void put_value(FILE *to, double value)
{
	if (isnan(value))
		fprintf(to, "\tNaN");
	else
		fprintf(to, "\t%.15g", value);
}

// A text without what would end a field or a quote.
static void put_plain(FILE *to, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, to);
}

static void write_data(FILE *to, const struct plot *plot)
{
	const char *word = hs_metric_word(plot->kind);

	fprintf(to, "row\thop\ttime_s\tmeasured_%s\ttruth_%s\tconfigured_%s\n", word, word, word);
	for (size_t panel = 0; panel < plot->n; panel++) {
		const struct hs_outcome_row *row = row_at(plot, panel);
		for (size_t i = 0; i < row->n; i++) {
			const struct hs_point *p = &row->points[i][plot->kind];
			fprintf(to, "%zu\t", panel);
			put_plain(to, row->hop);
			fprintf(to, "\t%.9g", end_s(plot, row, i));
			put_value(to, p->measured);
			put_value(to, p->truth);
			put_value(to, p->configured);
			fputc('\n', to);
		}
	}
}

// ---- script ----

static void put_quoted(FILE *to, const char *text)
{
	fputc('\'', to);
	for (const char *c = text; *c; c++) {
		if (*c == '\'')
			fputc('\'', to);
		fputc((unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c, to);
	}
	fputc('\'', to);
}

static int height_of(const struct plot *plot)
{
	return TOP + BOTTOM + (int)plot->n * PANEL + (int)(plot->n - 1) * PANEL_GAP;
}

static void write_head(FILE *to, const struct plot *plot)
{
	const struct hs_lab_unit *unit = hs_lab_unit_of(plot->kind);
	char flow[HS_LAB_WORD], title[HS_SCENARIO_NAME + 2 * HS_LAB_WORD], label[HS_LAB_WORD];
	double last_s = 0;

	for (size_t panel = 0; panel < plot->n; panel++) {
		const struct hs_outcome_row *row = row_at(plot, panel);
		if (row->n && end_s(plot, row, row->n - 1) > last_s)
			last_s = end_s(plot, row, row->n - 1);
	}
	hs_lab_flow_name(plot->run->scenario, row_at(plot, 0)->flow, flow);
	snprintf(title, sizeof(title), "%s, flow %s: %s", plot->run->scenario->name, flow,
			unit->title);
	snprintf(label, sizeof(label), "%s%s%s", unit->title, unit->unit[0] ? ", " : "",
			unit->unit);
	fprintf(to,
			"# gnuplot %s.gp\n"
			"if (!exists('ending')) ending = ''\n"
			"reset\n"
			"set encoding utf8\n"
			"set terminal svg size %d,%d noenhanced font 'sans-serif,12' "
			"background '#ffffff'\n"
			"set output '%s.svg'.ending\n"
			"set datafile separator \"\\t\"\n"
			"set multiplot\n"
			"set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
			"set border 3 lc rgb '#606060'\nset tics nomirror out font ',11'\n"
			"set grid y lc rgb '#e0e0e0' lt 1\n"
			"set xrange [0:%.9g]\n",
			plot->name, WIDTH, height_of(plot), plot->name, (double)LEFT / WIDTH,
			1 - (double)RIGHT / WIDTH, last_s > 0 ? last_s : 1);
	fprintf(to, "set label 1 ");
	put_quoted(to, title);
	fprintf(to, " at screen %.4f,%.4f left font ',14'\nset label 2 ", (double)LEFT / WIDTH,
			1 - 16.0 / height_of(plot));
	put_quoted(to, label);
	fprintf(to, " at screen %.4f,0.5 center rotate by 90\n", 18.0 / WIDTH);
}

// Some four tics, 1, 2 or 5 apart, with the decimals that tell them apart.
static void write_tics(FILE *to, double height)
{
	static const double steps[] = {1, 2, 5};
	double unit = 1e-9;
	int decimals = 9;
	unsigned i = 0;

	while (steps[i] * unit < height / 5) {
		if (++i == sizeof(steps) / sizeof(steps[0])) {
			i = 0;
			unit *= 10;
			decimals--;
		}
	}
	fprintf(to, "set ytics %.9g\nset format y '%%.%df'\n", steps[i] * unit,
			decimals > 0 ? decimals : 0);
}

// Values that hardly differ are not blown up to fill the panel: a hundredth is its least height.
static void write_range(FILE *to, const struct extent *extent, double scale)
{
	double low = extent->low * scale, high = extent->high * scale;
	double least = fmax(fabs(low), fabs(high)) * 1e-2;
	double pad;

	if (least == 0)
		least = 1;
	if (high - low < least) {
		double middle = (low + high) / 2;
		low = low == 0 ? 0 : middle - least / 2;
		high = middle + least / 2;
	}
	pad = (high - low) * 0.08;
	fprintf(to, "set yrange [%.9g:%.9g]\n", low - pad, high + pad);
	write_tics(to, high - low + 2 * pad);
}

struct series {
	int column;
	const char *title, *style;
	bool shown;
};

static void write_series(
		FILE *to, const struct plot *plot, size_t panel, const struct extent *extent)
{
	size_t n = row_at(plot, panel)->n;
	const struct series all[] = {
			{5, "truth", "lines lw 1.5 lc rgb '#e69f00'", extent->truth},
			{6, "configured", "lines dt 2 lw 1.2 lc rgb '#303030'", extent->configured},
			{4, "measured",
					n < SMALL_POINTS ? "points pt 7 ps 0.45 lc rgb '#0072b2'"
							 : "points pt 7 ps 0.2 lc rgb '#0072b2'",
					true},
	};
	const char *between = "plot ";

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].shown)
			continue;
		fprintf(to, "%s'%s.dat' using ($1==%zu?$3:NaN):($%d*%g) with %s title '%s'",
				between, plot->name, panel, all[i].column,
				hs_lab_unit_of(plot->kind)->scale, all[i].style, all[i].title);
		between = ", \\\n     ";
	}
	fputc('\n', to);
}

static void write_panel(FILE *to, const struct plot *plot, size_t panel)
{
	double height = height_of(plot);
	double top = TOP + (double)panel * (PANEL + PANEL_GAP);
	struct extent extent = extent_of(row_at(plot, panel), plot->kind);
	char hop[HS_LAB_WORD];

	fprintf(to, "\nset tmargin at screen %.4f\nset bmargin at screen %.4f\n", 1 - top / height,
			1 - (top + PANEL) / height);
	if (panel == 0)
		fprintf(to,
				"set key at screen %.4f,%.4f right top horizontal samplen 2 "
				"width 2\n",
				1 - (double)RIGHT / WIDTH, 1 - 28.0 / height);
	else
		fprintf(to, "unset key\nunset label 1\nunset label 2\n");
	if (panel + 1 == plot->n)
		fprintf(to, "set format x '%%g'\nset xlabel 'End of the window, s after the "
			    "start' offset 0,0.3\n");
	else
		fprintf(to, "set format x ''\n");
	hs_lab_cut(title_of(row_at(plot, panel)), HOP_WIDTH, hop, sizeof(hop));
	fprintf(to, "set label 3 ");
	put_quoted(to, hop);
	fprintf(to, " at graph 1.01,0.5 left\n");
	write_range(to, &extent, hs_lab_unit_of(plot->kind)->scale);
	write_series(to, plot, panel, &extent);
}

static void write_script(FILE *to, const struct plot *plot)
{
	write_head(to, plot);
	for (size_t panel = 0; panel < plot->n; panel++)
		write_panel(to, plot, panel);
	fprintf(to, "unset multiplot\nunset output\n");
}

// ---- files ----

static int write_file(const char *folder, const struct plot *plot, const char *end,
		void (*write)(FILE *to, const struct plot *plot), struct hs_error *err)
{
	struct hs_whole_file file;
	char path[HS_WHOLE_FILE_PATH];
	int rc;

	snprintf(path, sizeof(path), "%s/%s.%s", folder, plot->name, end);
	rc = hs_whole_file_open(&file, path, err);
	if (rc < 0)
		return rc;
	write(file.stream, plot);
	return hs_whole_file_commit(&file, err);
}

// Letters that any shell, file system and gnuplot take as they are.
static void name_of(const struct plot *plot, char name[HS_LAB_PLOT_NAME])
{
	char flow[HS_LAB_WORD];

	hs_lab_flow_name(plot->run->scenario, row_at(plot, 0)->flow, flow);
	for (char *c = flow; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			*c = '-';
	snprintf(name, HS_LAB_PLOT_NAME, "%s%s.%s", flow[0] == '-' || flow[0] == '.' ? "flow" : "",
			flow, hs_metric_word(plot->kind));
}

// Two flows whose names differ in nothing but such letters get a number.
static void make_unique(char name[HS_LAB_PLOT_NAME], const struct hs_lab_plots *plots)
{
	char plain[HS_LAB_PLOT_NAME];
	unsigned number = 1;

	memcpy(plain, name, sizeof(plain));
	for (size_t i = 0; i < plots->n; i++) {
		if (strcmp(name, plots->names[i]) == 0) {
			snprintf(name, HS_LAB_PLOT_NAME, "%.*s.%u", HS_LAB_PLOT_NAME - 12, plain,
					++number);
			i = (size_t)-1; // from the first again
		}
	}
}

static int add_plot(const char *folder, struct plot *plot, struct hs_lab_plots *plots,
		struct hs_error *err)
{
	char(*names)[HS_LAB_PLOT_NAME];
	int rc;

	names = reallocarray(plots->names, plots->n + 1, sizeof(*names));
	if (!names) {
		hs_error_set(err, "no_memory", folder, "", "no memory for plots");
		return -ENOMEM;
	}
	plots->names = names;
	name_of(plot, plot->name);
	make_unique(plot->name, plots);
	memcpy(names[plots->n++], plot->name, sizeof(plot->name));
	rc = write_file(folder, plot, "dat", write_data, err);
	return rc < 0 ? rc : write_file(folder, plot, "gp", write_script, err);
}

int hs_lab_plots_write(const char *folder, const struct hs_run *run,
		const struct hs_outcome *outcome, struct hs_lab_plots *plots, struct hs_error *err)
{
	struct plot plot = {.run = run, .outcome = outcome};
	size_t flows = 0, n;
	int rc = 0;

	*plots = (struct hs_lab_plots){0};
	for (size_t first = 0; rc == 0 && first < hs_outcome_rows(outcome); first += n) {
		n = hs_outcome_rows_of_flow(outcome, first);
		if (flows++ >= HS_LAB_PLOT_FLOWS) {
			plots->flows_left_out++;
			continue;
		}
		for (plot.kind = 0; rc == 0 && plot.kind < HS_METRIC_KINDS; plot.kind++) {
			find_rows(&plot, first, n);
			if (plot.n)
				rc = add_plot(folder, &plot, plots, err);
		}
	}
	return rc;
}
