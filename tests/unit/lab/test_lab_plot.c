// SPDX-License-Identifier: BSD-3-Clause
#include "fake_outcome.h"
#include "lab_plot.h"
#include "lab_words.h"

#include <errno.h>
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define START INT64_C(1767225600000000000)

struct fixture {
	struct hs_scenario scenario;
	struct hs_scenario_traffic traffic[FAKE_ROWS];
	struct hs_scenario_flow flows[FAKE_ROWS];
	struct hs_run run;
	struct hs_outcome outcome;
	struct hs_lab_plots plots;
	struct hs_error err;
	char folder[64], text[1 << 17];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->folder, "/tmp/hs-plots-XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	f->scenario = (struct hs_scenario){
			.name = "it's <a> \"name\" & more",
			.window_ns = 1000000000,
			.n_traffic = 1,
			.n_flows = 1,
			.traffic = f->traffic,
			.flows = f->flows,
	};
	strcpy(f->traffic[0].name, "up");
	f->run = (struct hs_run){.scenario = &f->scenario, .start_ns = START};
	fake_outcome_init(&f->outcome, START);
	*state = f;
	return 0;
}

static void remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	char path[512];

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(folder);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	hs_lab_plots_fini(&f->plots);
	remove_folder(f->folder);
	free(f);
	return 0;
}

static unsigned files_in(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static bool exists(const struct fixture *f, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", f->folder, name);
	return access(path, F_OK) == 0;
}

static const char *read_file(struct fixture *f, const char *name)
{
	char path[256];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", f->folder, name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s is not there", path);
	n = fread(f->text, 1, sizeof(f->text) - 1, file);
	f->text[n] = '\0';
	fclose(file);
	return f->text;
}

static void add_delays(struct fixture *f, uint32_t flow, const char *hop)
{
	size_t row = fake_outcome_row(&f->outcome, flow, hop);

	fake_outcome_set(&f->outcome, row, HS_METRIC_DELAY, (double[]){10e6, 10.5e6, 11e6}, 10.25e6,
			10e6, NAN);
}

static void write_plots(struct fixture *f)
{
	int rc = hs_lab_plots_write(f->folder, &f->run, &f->outcome, &f->plots, &f->err);

	if (rc < 0)
		fail_msg("%s: %s", f->err.path, f->err.message);
}

static void data_is_tab_separated_with_a_header_and_a_line_for_each_row_and_window(void **state)
{
	struct fixture *f = *state;

	add_delays(f, 0, "src-sw1");
	add_delays(f, 0, "e2e");
	f->outcome.points[1][1][HS_METRIC_DELAY] = (struct hs_point){NAN, NAN, NAN, NAN};
	write_plots(f);
	assert_int_equal(f->plots.n, 1);
	assert_int_equal(files_in(f->folder), 2);
	assert_string_equal(read_file(f, "up.delay_ns.dat"),
			"row\thop\ttime_s\tmeasured_delay_ns\ttruth_delay_ns\tconfigured_delay_ns\n"
			"0\tsrc-sw1\t1\t10000000\t10250000\t10000000\n"
			"0\tsrc-sw1\t2\t10500000\t10250000\t10000000\n"
			"0\tsrc-sw1\t3\t11000000\t10250000\t10000000\n"
			"1\te2e\t1\t10000000\t10250000\t10000000\n"
			"1\te2e\t2\tNaN\tNaN\tNaN\n"
			"1\te2e\t3\t11000000\t10250000\t10000000\n");
}

static void a_script_has_a_panel_for_each_row_and_only_series_that_there_are(void **state)
{
	struct fixture *f = *state;
	unsigned panels = 0;

	add_delays(f, 0, "src-sw1");
	fake_outcome_set(&f->outcome, fake_outcome_row(&f->outcome, 0, "e2e"), HS_METRIC_DELAY,
			(double[]){1, 2, 3}, NAN, 2, NAN);
	write_plots(f);
	read_file(f, "up.delay_ns.gp");
	assert_non_null(strstr(f->text, "'it''s <a> \"name\" & more, flow up: Delay'"));
	assert_non_null(strstr(f->text, "'Delay, ms'"));
	assert_non_null(strstr(f->text, "'end to end'"));
	// Nanoseconds of the data are ms in the picture, and what is between them fits.
	assert_non_null(strstr(
			f->text, "set yrange [9.92:11.08]\nset ytics 0.5\nset format y '%.1f'"));
	assert_non_null(strstr(
			f->text, "'up.delay_ns.dat' using ($1==0?$3:NaN):($4*1e-06) with points"));
	assert_non_null(strstr(f->text, "($1==0?$3:NaN):($5*1e-06) with lines"));
	assert_non_null(strstr(f->text, "($1==1?$3:NaN):($6*1e-06) with lines dt 2"));
	assert_non_null(strstr(f->text, "set xrange [0:3]"));
	for (char *at = f->text; (at = strstr(at, "\nplot ")); at++)
		panels++;
	assert_int_equal(panels, 2);
	char *second = strstr(f->text, "'end to end'");
	assert_null(strstr(second, "'truth'"));
	assert_non_null(strstr(second, "'configured'"));
	*second = '\0';
	assert_non_null(strstr(f->text, "'truth'"));
}

static void what_hardly_differs_is_not_blown_up_to_fill_its_panel(void **state)
{
	struct fixture *f = *state;

	fake_outcome_set(&f->outcome, fake_outcome_row(&f->outcome, 0, "e2e"), HS_METRIC_DELAY,
			(double[]){10e6, 10e6, 10e6 + 1}, 10e6, NAN, NAN);
	fake_outcome_set(&f->outcome, 0, HS_METRIC_LOSS, (double[]){0, 0, 0}, 0, NAN, NAN);
	write_plots(f);
	assert_non_null(strstr(read_file(f, "up.delay_ns.gp"), "set yrange [9.942000"));
	assert_non_null(strstr(read_file(f, "up.loss_ratio.gp"), "set yrange [-0.04:0.54]"));
}

static void a_metric_without_a_point_makes_no_file(void **state)
{
	struct fixture *f = *state;

	fake_outcome_row(&f->outcome, 0, "e2e");
	write_plots(f);
	assert_int_equal(f->plots.n, 0);
	assert_int_equal(files_in(f->folder), 0);
	assert_int_equal(hs_lab_plots_draw(f->folder, &f->plots, &f->err), 0);
}

static void names_of_files_keep_to_harmless_letters_and_differ(void **state)
{
	struct fixture *f = *state;

	f->scenario.n_flows = f->scenario.n_traffic = 3;
	strcpy(f->traffic[0].name, "a/b 'c'");
	strcpy(f->traffic[1].name, "a b/'c'");
	strcpy(f->traffic[2].name, "../../x");
	for (uint32_t i = 0; i < 3; i++) {
		f->flows[i].traffic = i;
		add_delays(f, i, "e2e");
	}
	write_plots(f);
	assert_int_equal(f->plots.n, 3);
	assert_string_equal(f->plots.names[0], "a-b--c-.delay_ns");
	assert_string_equal(f->plots.names[1], "a-b--c-.delay_ns.2");
	assert_string_equal(f->plots.names[2], "flow..-..-x.delay_ns");
	assert_int_equal(files_in(f->folder), 6);
}

static void flows_beyond_the_limit_are_counted(void **state)
{
	struct fixture *f = *state;

	f->scenario.n_flows = f->scenario.n_traffic = HS_LAB_PLOT_FLOWS + 2;
	for (uint32_t i = 0; i < HS_LAB_PLOT_FLOWS + 2; i++) {
		f->flows[i].traffic = i;
		snprintf(f->traffic[i].name, sizeof(f->traffic[i].name), "f%u", i);
		add_delays(f, i, "e2e");
	}
	write_plots(f);
	assert_int_equal(f->plots.n, HS_LAB_PLOT_FLOWS);
	assert_int_equal(f->plots.flows_left_out, 2);
}

static void a_folder_is_made_and_one_that_cannot_be_is_an_error(void **state)
{
	struct fixture *f = *state;
	char path[128];

	snprintf(path, sizeof(path), "%s/new", f->folder);
	assert_int_equal(hs_lab_plots_prepare(path, &f->err), 0);
	assert_int_equal(hs_lab_plots_prepare(path, &f->err), 0);
	rmdir(path);
	assert_int_equal(hs_lab_plots_prepare("/dev/null", &f->err), -ENOTDIR);
	assert_string_equal(f->err.path, "/dev/null");
	assert_int_equal(hs_lab_plots_prepare("/nonexistent/a/b", &f->err), -ENOENT);
}

static void without_gnuplot_the_data_and_scripts_stay(void **state)
{
	struct fixture *f = *state;
	char *path = strdup(getenv("PATH"));

	add_delays(f, 0, "e2e");
	write_plots(f);
	setenv("PATH", f->folder, 1);
	assert_int_equal(hs_lab_plots_draw(f->folder, &f->plots, &f->err), -ENOENT);
	setenv("PATH", path, 1);
	free(path);
	assert_int_equal(files_in(f->folder), 2);
}

static void put_program(const struct fixture *f, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/gnuplot", f->folder);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	chmod(path, 0700);
}

static void pictures_of_a_gnuplot_that_fails_are_not_left_half_done(void **state)
{
	struct fixture *f = *state;
	char *path = strdup(getenv("PATH"));

	add_delays(f, 0, "e2e");
	write_plots(f);
	put_program(f, "#!/bin/sh\necho half > up.delay_ns.svg.part\nexit 3\n");
	setenv("PATH", f->folder, 1);
	assert_int_equal(hs_lab_plots_draw(f->folder, &f->plots, &f->err), -EIO);
	assert_string_equal(f->err.path, f->folder);
	assert_false(exists(f, "up.delay_ns.svg.part"));
	assert_false(exists(f, "up.delay_ns.svg"));
	put_program(f, "#!/bin/sh\necho whole > up.delay_ns.svg.part\n");
	assert_int_equal(hs_lab_plots_draw(f->folder, &f->plots, &f->err), 0);
	setenv("PATH", path, 1);
	free(path);
	assert_string_equal(read_file(f, "up.delay_ns.svg"), "whole\n");
	assert_false(exists(f, "up.delay_ns.svg.part"));
}

static void gnuplot_takes_the_scripts(void **state)
{
	struct fixture *f = *state;
	int rc;

	add_delays(f, 0, "src & <sw1>");
	fake_outcome_set(&f->outcome, fake_outcome_row(&f->outcome, 0, "e2e"), HS_METRIC_LOSS,
			(double[]){0, 0, 0}, 0, 0, NAN);
	write_plots(f);
	assert_int_equal(f->plots.n, 2);
	rc = hs_lab_plots_draw(f->folder, &f->plots, &f->err);
	if (rc == -ENOENT)
		skip();
	if (rc < 0)
		fail_msg("%s", f->err.message);
	assert_int_equal(files_in(f->folder), 6);
	read_file(f, "up.delay_ns.svg");
	assert_non_null(strstr(f->text, "src &amp; &lt;sw1"));
	assert_non_null(strstr(f->text, "</svg>"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(data_is_tab_separated_with_a_header_and_a_line_for_each_row_and_window),
			TEST(a_script_has_a_panel_for_each_row_and_only_series_that_there_are),
			TEST(what_hardly_differs_is_not_blown_up_to_fill_its_panel),
			TEST(a_metric_without_a_point_makes_no_file),
			TEST(names_of_files_keep_to_harmless_letters_and_differ),
			TEST(flows_beyond_the_limit_are_counted),
			TEST(a_folder_is_made_and_one_that_cannot_be_is_an_error),
			TEST(without_gnuplot_the_data_and_scripts_stay),
			TEST(pictures_of_a_gnuplot_that_fails_are_not_left_half_done),
			TEST(gnuplot_takes_the_scripts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
