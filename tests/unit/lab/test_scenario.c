// SPDX-License-Identifier: BSD-3-Clause
// Refused scenarios, files, and the options of the command line.
#include "refusal.h"
#include "scenario_text.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

// ---- one test for each folder of bad input ----

static void refuses_as_its_folder_says(void **state)
{
	const char *name = *state;
	char folder[384], file[512];
	struct hs_scenario scenario;
	struct hs_errors errors = {0};

	snprintf(folder, sizeof(folder), "%s/%s", GOLDEN_DIR, name);
	snprintf(file, sizeof(file), "%s/scenario.json", folder);
	assert_true(hs_scenario_load(file, NULL, &scenario, &errors) < 0);
	assert_refused_as_said(folder, &errors.list[0]);
	if (errors.n != 1)
		fail_msg("%s: %s", errors.list[1].path, errors.list[1].message);
}

// ---- what the command line says ----

static void another_duration_cuts_off_what_is_later_or_goes_on_where_no_end_is_said(void **state)
{
	(void)state;
	static const struct {
		struct hs_scenario_override said;
		int64_t start_ns, stop_ns, stop_of_ping_ns, until_ns;
		size_t seed, n_events, n_flows; // an event that is cut off makes no flow
	} cases[] = {
			{{.duration_ns = S}, S, S, S, S, 7, 1, 2},
			{{.duration_ns = 5 * S / 2}, 3 * S / 2, 5 * S / 2, 5 * S / 2, 5 * S / 2, 7,
					2, 2},
			{{true, 0, 100 * S}, 3 * S / 2, 9 * S, 100 * S, 4 * S, 0, 4, 3},
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		parse_with(full, &cases[c].said);
		assert_int_equal(s.duration_ns, cases[c].said.duration_ns);
		assert_int_equal(s.seed, cases[c].seed);
		assert_int_equal(s.traffic[0].start_ns, cases[c].start_ns);
		assert_int_equal(s.traffic[0].stop_ns, cases[c].stop_ns);
		assert_int_equal(s.traffic[1].stop_ns, cases[c].stop_of_ping_ns);
		assert_int_equal(s.n_events, cases[c].n_events);
		assert_int_equal(s.events[0].until_ns, cases[c].until_ns);
		assert_int_equal(s.n_flows, cases[c].n_flows);
		assert_true(s.n_events < 2 || s.events[1].kind == HS_LAB_EVENT_RESTART);
	}
}

static void what_is_left_keeps_its_place_in_the_file(void **state)
{
	(void)state;
	static const char text[] =
			"{'name': 'n', 'duration_s': 5," TWO_NODES
			" 'traffic': [{'name': 't', 'from': 'a', 'to': 'b', 'rate_pps': 1},"
			"             {'name': 'u', 'from': 'a', 'to': 'b', 'rate_pps': 1}],"
			" 'requests': [{'node': '*', 'traffic': '*',"
			"   'int_request': {'mode': 'count', 'mode_setting': 1}},"
			"  {'node': 'a', 'int_delete': {'ns_id': 1}}],"
			" 'events': [{'at_s': 4, 'link': 'a-b', 'set': {'delay_ns': 1}},"
			"  {'at_s': 1, 'link': 'a-b', 'set': {'delay_ns': 2}}]}";
	parse_with(text, &(struct hs_scenario_override){.duration_ns = 2 * S});
	assert_int_equal(s.n_events, 1);
	assert_int_equal(s.events[0].entry, 1);
	assert_int_equal(s.n_requests, 3);
	assert_int_equal(s.requests[1].entry, 0);
	assert_int_equal(s.requests[2].entry, 1);
}

static void a_longer_duration_gives_room_to_later_events(void **state)
{
	(void)state;
	static const char text[] =
			"{'name': 'm', 'duration_s': 1," TWO_NODES
			" 'traffic': [{'name': 'x', 'from': 'a', 'to': 'b', 'rate_pps': 1}],"
			" 'events': [{'at_s': 5, 'link': 'a-b', 'set': {'up': false}}]}";
	struct hs_error err = {0};
	parse_with(text, &(struct hs_scenario_override){.duration_ns = 10 * S});
	assert_int_equal(s.n_events, 1);
	assert_int_equal(s.events[0].until_ns, 5 * S);

	assert_string_equal(refused_at(text, &err), "events[0].at_s");
}

// ---- files ----

static void a_file_of_traffic_is_looked_for_beside_the_scenario(void **state)
{
	(void)state;
	static const char text[] =
			"{'name': 'm', 'duration_s': 1," TWO_NODES
			" 'traffic': [{'name': 'x', 'type': 'pcap', 'from': 'a', 'to': 'b',"
			"              'file': 'frames.pcap'}]}";
	char folder[] = "/tmp/hs-scenario-XXXXXX", pcap[64], file[64];
	struct hs_errors errors = {0};

	assert_non_null(mkdtemp(folder));
	snprintf(pcap, sizeof(pcap), "%s/frames.pcap", folder);
	snprintf(file, sizeof(file), "%s/x.json", folder);
	fclose(fopen(pcap, "w"));
	FILE *out = fopen(file, "w");
	char *json = quoted(text);
	fputs(json, out);
	fclose(out);
	free(json);
	int rc = hs_scenario_load(file, NULL, &s, &errors);
	unlink(pcap);
	unlink(file);
	rmdir(folder);

	assert_int_equal(rc, 0);
	assert_string_equal(s.folder, folder);
	assert_string_equal(s.traffic[0].file, "frames.pcap");
	assert_int_equal(s.traffic[0].kind, HS_TRAFFIC_PCAP);
}

static void a_scenario_that_is_not_there_is_an_error_with_its_reason(void **state)
{
	(void)state;
	struct hs_errors errors = {0};
	struct hs_error err = {0};
	assert_int_equal(hs_scenario_load("/nonexistent/x.json", NULL, &s, &errors), -ENOENT);
	assert_string_equal(errors.list[0].code, "not_readable");
	assert_non_null(strstr(errors.list[0].message, "No such file"));
	assert_int_equal(hs_scenario_peek("/nonexistent/x.json", &s, &err), -ENOENT);
}

static void a_peek_reads_the_title_whatever_else_is_wrong(void **state)
{
	(void)state;
	struct hs_error err = {0};
	assert_int_equal(hs_scenario_peek(GOLDEN_DIR "/no-nodes-are-refused/scenario.json", &s,
					 &err),
			0);
	assert_string_equal(s.name, "t");
	assert_string_equal(s.description, "");
	assert_int_equal(s.n_nodes, 0);

	assert_true(hs_scenario_peek(GOLDEN_DIR "/scenario-without-name-is-refused/scenario.json",
				    &s, &err) < 0);
	assert_string_equal(err.path, "name");
	assert_true(hs_scenario_peek(GOLDEN_DIR "/list-at-the-top-is-refused/scenario.json", &s,
				    &err) < 0);
	assert_string_equal(err.code, "wrong_type");
}

static void every_truncation_of_a_good_scenario_is_refused(void **state)
{
	(void)state;
	char *json = quoted(full);
	for (size_t len = 0; len < strlen(json); len++) {
		struct hs_error err = {0};
		assert_true(hs_scenario_parse(json, len, "", NULL, &s, &err) < 0);
		assert_string_equal(err.code, "not_json");
	}
	free(json);
}

// Replaces each position of the text in turn. Most errors are then found late, after much was
// allocated.
static void no_broken_scenario_leaks_or_crashes(void **state)
{
	(void)state;
	char *json = quoted(full);
	size_t refused = 0, len = strlen(json);
	for (size_t i = 0; i < len; i++) {
		char before = json[i];
		for (const char *c = "9x\"-"; *c; c++) {
			struct hs_error err = {0};
			json[i] = *c;
			hs_scenario_fini(&s);
			if (hs_scenario_parse(json, len, "", NULL, &s, &err) == 0)
				continue;
			refused++;
			assert_true(err.code[0] && err.message[0]);
		}
		json[i] = before;
	}
	assert_true(refused > len);
	free(json);
}

static const struct CMUnitTest fixed[] = {
		TEST(another_duration_cuts_off_what_is_later_or_goes_on_where_no_end_is_said),
		TEST(what_is_left_keeps_its_place_in_the_file),
		TEST(a_longer_duration_gives_room_to_later_events),
		cmocka_unit_test_teardown(a_file_of_traffic_is_looked_for_beside_the_scenario, end),
		cmocka_unit_test_teardown(
				a_scenario_that_is_not_there_is_an_error_with_its_reason, end),
		cmocka_unit_test_teardown(a_peek_reads_the_title_whatever_else_is_wrong, end),
		TEST(every_truncation_of_a_good_scenario_is_refused),
		TEST(no_broken_scenario_leaks_or_crashes),
};

int main(void)
{
	return run_with_folders("lab-scenario", GOLDEN_DIR, fixed, sizeof(fixed) / sizeof(fixed[0]),
			refuses_as_its_folder_says);
}
