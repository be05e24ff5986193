// SPDX-License-Identifier: BSD-3-Clause
// The course of a run: events, requests, limits, the wall clock, and repetition.
#include "lab_fixture.h"

#include <time.h>
#include <unistd.h>

// ---- events and requests ----

static void events_change_links_rates_and_rules_when_they_are_due(void **state)
{
	(void)state;
	lab_runs(PAIR("'duration_s':4", ",'delay_ns':1000000", "'rate_pps':100",
				 ",'events':[{'at_s':1.005,'traffic':'t','set':{'rate_pps':1000}},"
				 "{'at_s':2.005,'traffic':'t','set':{'rate_pps':100}},"
				 "{'at_s':2.5,'link':'a-b','set':{'delay_ns':2000000}},"
				 "{'at_s':3.0025,'every_s':0.105,'until_s':3.5,'traffic':'t',"
				 "'set':{'rate_pps':100}},{'at_s':3.0005,'node':'a',"
				 "'request':{'int_update':{'ns_id':1,'mode':'count',"
				 "'mode_setting':1}}}]"),
			50);
	// 101 packets to 1 s, 1000 to 2.005 s, 100 to 3 s; then pacing restarts five times, each
	// time half a gap early.
	assert_int_equal(traffic_of(0).sent[0], 101 + 1000 + 100 + 4 * 11 + 58);
	const struct hs_measured_window *whole = whole_run();
	assert_int_equal(delay_of(whole, whole->n_hops, "min"), 1000000);
	assert_int_equal(delay_of(whole, whole->n_hops, "max"), 2000000);
	assert_int_equal(r.run->config_changed_ns, HS_LAB_START_NS + 2500 * MS);
	// Each packet of the last second carries telemetry, and each fiftieth before.
	size_t n = r.run->truth->flows[0].n_reports;
	assert_in_range(n, 102 + 1201 / 50, 102 + 1201 / 50 + 1);
}

static void what_a_node_refuses_ends_the_run_and_is_named(void **state)
{
	static const struct {
		uint32_t rules;
		const char *path, *code, *more;
	} rows[] = {
			{1, "requests[2]", "table_full",
					"'requests':[{'node':'a','traffic':'t','int_request':{'ns_"
					"id':1,"
					"'mode':'count','mode_setting':1}},{'node':'b','traffic':'"
					"t',"
					"'int_request':{'ns_id':1,'mode':'count','mode_setting':1}}"
					","
					"{'node':'b','traffic':'t','int_request':{'ns_id':5,"
					"'mode':'count','mode_setting':9}}]"},
			// The error names the place in the file, although the first entry makes two
			// requests.
			{2, "requests[1]", "table_full",
					"'requests':[{'node':'*','traffic':'*','int_request':{"
					"'mode':'count','mode_setting':1}},{'node':'b','traffic':'"
					"t',"
					"'int_request':{'ns_id':5,'mode':'count','mode_setting':9}}"
					"]"},
			{0, "events[1]", "no_such_rule",
					"'requests':[{'node':'*','traffic':'*','int_request':{"
					"'mode':'count','mode_setting':1}}],'events':[{'at_s':0.1,"
					"'link':'a-b','set':{'delay_ns':5}},{'at_s':0.5,'every_s':"
					"0.1,"
					"'node':'b','request':{'int_delete':{'ns_id':1}}}]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		lab_run_with((struct lab_wish){.rules = rows[i].rules},
				"{'name':'refused','duration_s':1,'forwarding':'patch'," TWO ","
				"'links':[{'from':'a','to':'b'}],'traffic':[{'name':'t','from':'a',"
				"'to':'b','rate_pps':100},{'name':'u','from':'a','to':'b',"
				"'rate_pps':100}],%s}",
				rows[i].more);
		assert_true(r.rc < 0);
		assert_int_equal(r.lab == NULL, rows[i].rules > 0); // at the start
		assert_int_equal(strncmp(r.err.path, rows[i].path, strlen(rows[i].path)), 0);
		assert_string_equal(r.err.code, rows[i].code);
	}
	assert_int_equal(r.rc, -EINVAL);
}

// ---- limits ----

static void a_rule_that_is_gone_at_the_end_leaves_its_windows(void **state)
{
	(void)state;
	lab_runs(PAIR("'duration_s':4", "", "'rate_pps':100",
				 ",'events':[{'at_s':2.5,'node':'*','request':{'int_delete':{'ns_"
				 "id':1}}}]"),
			10);
	assert_true(r.run->measured->n_windows >= 3);
	assert_null(r.run->measured->flows[0].run.body);
	assert_int_equal(traffic_of(0).delivered[0], 400);
}

static void a_run_that_has_no_buffers_left_fails_and_says_how_many_were_under_way(void **state)
{
	(void)state;
	static const char scenario[] = PAIR(
			"'duration_s':1,'mbufs':1024", ",'delay_ns':%d", "'rate_pps':10000", "");
	lab_run(scenario, 110000000, 10);
	assert_int_equal(r.rc, -ENOBUFS);
	assert_string_equal(r.err.path, "mbufs");
	assert_non_null(strstr(r.err.message, "1025 packets"));
	lab_runs(scenario, 100000000, 10);
	assert_int_equal(traffic_of(0).delivered[0], 10000);
}

static void a_run_that_is_stopped_keeps_what_it_has(void **state)
{
	(void)state;
	lab_run_with((struct lab_wish){.windows_before_stop = 3},
			PAIR("'duration_s':1000", ",'delay_ns':1000", "'rate_pps':10000", ""), 100);
	assert_int_equal(r.rc, -EINTR);
	assert_true(r.run->partial);
	assert_int_equal(json_array_size(r.run->audit), 0);
	// The stop comes within a few hundred events, some 10 ms here, after the third window
	// closed.
	int64_t ran_ns = r.run->end_ns - r.run->start_ns;
	assert_in_range(ran_ns, 3 * SECOND, 3200 * MS);
	assert_in_range(traffic_of(0).sent[0], 30000, 32000);
	assert_int_equal(r.run->measured->n_windows, 4);
	assert_non_null(r.run->measured->flows[0].run.body);
}

static int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static void on_the_wall_clock_a_run_takes_as_long_as_it_says(void **state)
{
	struct timespec wall;

	(void)state;
	int64_t before_ns = monotonic_ns();
	clock_gettime(CLOCK_REALTIME, &wall);
	lab_run_with((struct lab_wish){.config.real = true},
			PAIR("'duration_s':0.3", ",'delay_ns':1000000", "'rate_pps':1000", ""), 10);
	assert_ran();
	assert_true(monotonic_ns() - before_ns >= 300 * MS);
	assert_true(r.run->wall_s >= 0.3);
	assert_true(r.run->real);
	assert_in_range(r.run->start_ns - (wall.tv_sec * SECOND + wall.tv_nsec), 0, 20 * SECOND);
	struct hs_stream_counters t = traffic_of(0);
	assert_in_range(t.sent[0], 10, 300);
	assert_int_equal(t.delivered[0], t.sent[0]);
	assert_true(delay_of(&r.run->measured->flows[0].run, r.run->measured->flows[0].run.n_hops,
				    "min") >= MS);
}

static unsigned copies_in(const char *csv)
{
	unsigned sum = 0, copy;

	for (const char *line = strchr(csv, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		assert_int_equal(
				sscanf(line, "%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],%u", &copy),
				1);
		sum += copy;
	}
	return sum;
}

static void each_packet_on_each_link_has_a_line(void **state)
{
	char *csv;
	size_t bytes;
	FILE *file = open_memstream(&csv, &bytes);

	(void)state;
	lab_run_with((struct lab_wish){.config.packets = file},
			"{'name':'csv','duration_s':1,'forwarding':'patch'," THREE ","
			"'links':[{'from':'a','to':'b','delay_ns':1000000,'loss_ratio':0.1},"
			"{'from':'b','to':'c','delay_ns':2000000,'duplicate_ratio':0.1}],"
			"'traffic':[{'name':'t','type':'ping','from':'a','to':'c',"
			"'rate_pps':100}]," RULE "}",
			100);
	assert_ran();
	fclose(file);
	uint64_t lines = 0, lost = 0, copies = 0;
	const struct hs_stream_counters counters = r.run->streams[0]->counters;
	for (unsigned direction = 0; direction < 2; direction++)
		lines += counters.delivered[direction];
	for (unsigned l = 0; l < 2; l++) {
		for (unsigned direction = 0; direction < 2; direction++) {
			const struct hs_link_counters *c = &r.run->links[l][direction];
			lines += c->sent_packets + c->copies;
			lost += c->lost[HS_LINK_LOST_RANDOM];
			copies += c->copies;
		}
	}
	assert_int_equal(count_of(csv, "\n"), lines + 1);
	assert_int_equal(count_of(csv, ",random,,,"), lost);
	assert_int_equal(copies_in(csv), copies);
	assert_non_null(strstr(csv, "sent_ns,link,direction,traffic,reply,number,copy,bytes,"
				    "telemetry,fate,wait_ns,arrives_ns,shown_ns,header\n"));
	assert_non_null(strstr(csv, "1767225600000000000,a-b,forward,t,0,1,0,"));
	assert_non_null(strstr(csv, ",1,delivered,0,1767225600001000000,1767225600000000000,3a"));
	assert_non_null(strstr(csv, ",b-c,reverse,t,1,"));
	assert_non_null(strstr(csv, ",c,host,t,0,"));
	free(csv);
}

#define MANY_NODES 1000

// Returns a row of nodes. The caller releases it.
static char *many_nodes(void)
{
	char *text;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	fputs("{\"name\":\"many\",\"duration_s\":1,\"forwarding\":\"patch\",\"nodes\":[", file);
	for (unsigned i = 0; i < MANY_NODES; i++)
		fprintf(file, "%s{\"id\":%u,\"name\":\"n%u\"}", i ? "," : "", i + 1, i);
	fputs("],\"links\":[", file);
	for (unsigned i = 0; i + 1 < MANY_NODES; i++)
		fprintf(file, "%s{\"from\":\"n%u\",\"to\":\"n%u\",\"delay_ns\":1000}", i ? "," : "",
				i, i + 1);
	fprintf(file,
			"],\"traffic\":[{\"name\":\"t\",\"from\":\"n0\",\"to\":\"n%u\","
			"\"rate_pps\":10}],\"requests\":[{\"node\":\"*\",\"traffic\":\"*\","
			"\"int_request\":{\"mode\":\"count\",\"mode_setting\":5}}]}",
			MANY_NODES - 1);
	fclose(file);
	return text;
}

static void a_thousand_nodes_share_one_process(void **state)
{
	char *text = many_nodes();

	(void)state;
	lab_run_text((struct lab_wish){0}, text);
	assert_ran();
	assert_int_equal(r.scenario.n_nodes, MANY_NODES);
	assert_int_equal(traffic_of(0).delivered[0], 10);
	assert_int_equal(r.run->links[MANY_NODES - 2][0].delivered_packets, 10);
	free(text);
}

// ---- repetition ----

#define SEEDED                                                                                     \
	"{'name':'seeded','seed':%d,'duration_s':2,'forwarding':'shortest_path','nodes':[{'id':1," \
	"'name':'a','clock':{'drift_sigma_ppb':15000,'sync':{'interval_s':1,'error_ns':150000,"    \
	"'frequency_error_ppb':8000}}},{'id':2,'name':'b'},{'id':3,'name':'c'}],"                  \
	"'links':[{'from':'a','to':'b','delay_ns':1000000,'jitter_ns':500000,'loss_ratio':0.01},"  \
	"{'from':'b','to':'c','delay_ns':1000000,'jitter_ns':200000,'duplicate_ratio':0.01}],"     \
	"'traffic':[{'name':'t','type':'poisson','from':'a','to':'c','rate_pps':2000},{'name':'w'" \
	","                                                                                        \
	"'type':'window','protocol':'tcp','from':'c','to':'a'}],'requests':[{'node':'*','traffic'" \
	":"                                                                                        \
	"'*','int_request':{'mode':'probability','mode_setting':5}}]}"

static void the_same_seed_publishes_the_same_bytes_and_another_one_others(void **state)
{
	(void)state;
	lab_runs(SEEDED, 1);
	assert_true(r.text_bytes > 10000);
	char *first = strdup(r.text);
	uint64_t events = r.run->events;
	lab_runs(SEEDED, 1);
	assert_string_equal(first, r.text);
	assert_int_equal(events, r.run->events);
	lab_runs(SEEDED, 2);
	assert_string_not_equal(first, r.text);
	free(first);
}

static void another_process_publishes_the_same_bytes(void **state)
{
	char command[4200], path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(len > 0);
	path[len] = '\0';
	snprintf(command, sizeof(command), "'%s' --publish", path);
	FILE *child = popen(command, "r");
	assert_non_null(child);
	lab_runs(SEEDED, 1);
	char *there = calloc(1, r.text_bytes + 2);
	size_t got = fread(there, 1, r.text_bytes + 1, child);
	assert_int_equal(pclose(child), 0);
	assert_int_equal(got, r.text_bytes);
	assert_memory_equal(there, r.text, got);
	free(there);
}

static int publish_here(void)
{
	lab_run(SEEDED, 1);
	fwrite(r.text, 1, r.text_bytes, stdout);
	return r.rc < 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
			TEST(events_change_links_rates_and_rules_when_they_are_due),
			TEST(what_a_node_refuses_ends_the_run_and_is_named),
			TEST(a_rule_that_is_gone_at_the_end_leaves_its_windows),
			TEST(a_run_that_has_no_buffers_left_fails_and_says_how_many_were_under_way),
			TEST(a_thousand_nodes_share_one_process),
			TEST(a_run_that_is_stopped_keeps_what_it_has),
			TEST(on_the_wall_clock_a_run_takes_as_long_as_it_says),
			TEST(each_packet_on_each_link_has_a_line),
			TEST(the_same_seed_publishes_the_same_bytes_and_another_one_others),
			TEST(another_process_publishes_the_same_bytes),
	};
	char *largest = many_nodes();

	lab_start_eal(largest);
	free(largest);
	return lab_end_eal(argc > 1 && strcmp(argv[1], "--publish") == 0
					   ? publish_here()
					   : cmocka_run_group_tests(tests, NULL, NULL));
}
