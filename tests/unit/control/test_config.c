// SPDX-License-Identifier: BSD-3-Clause
#include "config_read.h"
#include "flexint.h"
#include "flexint_steps.h"
#include "refusal.h"
#include "text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What the golden files count on: 0 to 3.
#define CORES (&(cpu_set_t){{0xf}})

static const char minimal[] =
		"{\"ports\": [{\"name\": \"a\", \"iface\": \"veth0\", \"side\": \"host\"},"
		"            {\"name\": \"b\", \"pci\": \"3b:00.1\", \"side\": \"network\"}],"
		" \"forwarding\": {\"mode\": \"patch\", \"pairs\": [[\"b\", \"a\"]]}}";

// Loads a text; *err is the first error.
static int load(const char *text, size_t len, const cpu_set_t *cores, struct hs_config *config,
		struct hs_error *err)
{
	struct hs_errors errors = {0};
	char name[64];
	int fd = text_file(text, len, name);
	int rc = hs_config_load(name, cores, config, &errors);

	close(fd);
	*err = errors.list[0];
	return rc;
}

static void parse(const char *text, struct hs_config *config)
{
	struct hs_error err;
	if (load(text, strlen(text), CORES, config, &err) < 0)
		fail_msg("%s: %s", err.path, err.message);
}

// ---- one test for each folder of bad input ----

static void refuses_as_its_folder_says(void **state)
{
	const char *name = *state;
	char folder[384], file[512];
	struct hs_config config;
	struct hs_errors errors = {0};

	snprintf(folder, sizeof(folder), "%s/%s", GOLDEN_DIR, name);
	snprintf(file, sizeof(file), "%s/config.json", folder);
	assert_true(hs_config_load(file, CORES, &config, &errors) < 0);
	assert_refused_as_said(folder, &errors.list[0]);
}

// ---- good input ----

static void absent_keys_have_their_documented_defaults(void **state)
{
	(void)state;
	struct hs_config c;
	parse(minimal, &c);

	assert_int_equal(c.node.id, 0);
	assert_string_equal(c.node.name, "node0");
	assert_int_equal(c.node.n_workers, 1);
	assert_int_equal(c.workers[0], 1);
	assert_int_equal(c.control_core, 0);
	assert_true(c.adaptive);
	assert_false(c.huge_pages);
	assert_int_equal(c.mbufs, 16384);
	assert_int_equal(c.node.rules, 65536);
	assert_int_equal(c.monitored_rules, 4096);
	assert_int_equal(c.ports[0].mtu, 1500);
	assert_int_equal(c.ports[0].rx_queues, 1);
	assert_int_equal(c.clock, HS_CLOCK_UTC);
	assert_int_equal(c.node.layout, 0);
	assert_int_equal(c.in_band.interval_s, 60);
	assert_int_equal(c.in_band.n_repeats, 6);
	assert_int_equal(c.in_band.repeats_ns[0], 100000000);
	assert_int_equal(c.in_band.repeats_ns[5], 30000000000);
	assert_true(c.in_band.accept);
	assert_int_equal(c.in_band.max_rules, 1024);
	assert_int_equal(c.in_band.new_rules_per_s, 10000);
	assert_int_equal(c.in_band.missed_repeats, 3);
	assert_int_equal(c.in_band.max_age_s, 120);
	assert_false(c.in_band.has_key);
	assert_int_equal(c.node.host_side_policy, HS_HOST_STRIP);
	assert_int_equal(c.bind.n, 1);
	assert_string_equal(c.bind.text[0], "ipc:///run/hopsight/node0.api");
	assert_int_equal(c.publish_to.n, 0);
	assert_false(c.insecure);
	assert_string_equal(c.state_file, "");
	hs_config_fini(&c);
}

static void defaults_are_of_the_cores_that_the_process_may_run_on(void **state)
{
	(void)state;
	static const struct {
		cpu_set_t cores;
		int control, worker;
	} cases[] = {
			{{{0x1}}, 0, 0}, // one core: the worker shares it with control
			{{{0x4}}, 2, 2},
			{{{0x28}}, 3, 5},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_config c;
		struct hs_error err = {0};
		assert_int_equal(load(minimal, strlen(minimal), &cases[i].cores, &c, &err), 0);
		assert_int_equal(c.control_core, cases[i].control);
		assert_int_equal(c.workers[0], cases[i].worker);
		assert_int_equal(c.node.n_workers, 1);
		hs_config_fini(&c);
	}
}

static void a_core_that_is_not_the_processes_is_refused_with_those_that_are(void **state)
{
	(void)state;
	static const char text[] =
			"{\"workers\": [1],"
			" \"ports\": [{\"name\": \"a\", \"iface\": \"v\", \"side\": \"host\"}],"
			" \"forwarding\": {\"mode\": \"bridge\"}}";
	const cpu_set_t cores = {{0x10d}};
	struct hs_config c;
	struct hs_error err = {0};
	assert_true(load(text, strlen(text), &cores, &c, &err) < 0);
	assert_string_equal(err.path, "workers[0]");
	assert_string_equal(err.expected, "0, 2 to 3, 8");
}

#define TWO_PORTS                                                                                  \
	" \"ports\": [{\"name\": \"a\", \"iface\": \"v\", \"side\": \"host\"}, "                   \
	"{\"name\": \"b\", \"iface\": \"w\", \"side\": \"network\"}],"                             \
	" \"forwarding\": {\"mode\": \"bridge\"}"

static void ports_of_requests_in_band_become_bits_and_print_as_names(void **state)
{
	(void)state;
	struct hs_config c;
	parse("{\"telemetry\": {\"in_band\": {\"ports\": [\"b\"], \"accept\": false}, "
	      "\"request_schedule_s\": [0.25, 2]}," TWO_PORTS "}",
			&c);
	assert_int_equal(c.in_band.ports, 2);
	assert_int_equal(c.in_band.n_repeats, 2);
	assert_int_equal(c.in_band.repeats_ns[0], 250000000);
	json_t *printed = hs_config_print(&c), *telemetry = json_object_get(printed, "telemetry");
	json_t *in_band = json_object_get(telemetry, "in_band");
	assert_string_equal(json_string_value(json_array_get(json_object_get(in_band, "ports"), 0)),
			"b");
	assert_true(json_is_false(json_object_get(in_band, "accept")));
	assert_int_equal(json_array_size(json_object_get(telemetry, "request_schedule_s")), 2);
	json_decref(printed);
	hs_config_fini(&c);
}

static void windows_have_the_lengths_that_are_listed_and_print_as_such(void **state)
{
	(void)state;
	static const char *const texts[] = {"\"telemetry\": {\"windows_ms\": [100, 600000]}, ", ""};
	static const int64_t ns[][HS_QOS_WINDOWS] = {
			{100000000, 600000000000}, {1000000000, 10000000000, 60000000000}};
	for (unsigned i = 0; i < 2; i++) {
		struct hs_config c;
		char text[512];
		snprintf(text, sizeof(text), "{%s" TWO_PORTS "}", texts[i]);
		parse(text, &c);
		assert_memory_equal(c.window_ns, ns[i], sizeof(ns[i]));
		json_t *printed = hs_config_print(&c);
		json_t *list = json_object_get(json_object_get(printed, "telemetry"), "windows_ms");
		assert_int_equal(json_array_size(list), 2 + i);
		assert_int_equal(json_integer_value(json_array_get(list, 1)), ns[i][1] / 1000000);
		json_decref(printed);
		hs_config_fini(&c);
	}
}

static void fields_of_entries_get_their_policies_and_print_them(void **state)
{
	(void)state;
	struct hs_config c, again;
	parse("{\"telemetry\": {\"fields\": {\"packets\": {\"probability_percent\": 12.5},"
	      " \"timestamp\": {\"supported\": false},"
	      " \"bytes\": {\"min_change\": 1000, \"max_age_ms\": 50}}}," TWO_PORTS "}",
			&c);
	const struct hs_partial *p = &c.node.partial;
	assert_false(p->packets.unsupported);
	assert_int_equal(p->packets.policy, HS_PARTIAL_PROBABILITY);
	assert_true(p->packets.probability_percent == 12.5);
	assert_true(p->timestamp.unsupported);
	assert_int_equal(p->timestamp.policy, HS_PARTIAL_ALWAYS);
	assert_int_equal(p->bytes.policy, HS_PARTIAL_THRESHOLD);
	assert_int_equal(p->bytes.min_change, 1000);
	assert_int_equal(p->bytes.max_age_ns, 50000000);

	json_t *printed = hs_config_print(&c);
	char *text = json_dumps(printed, 0);
	parse(text, &again);
	assert_memory_equal(&again.node.partial, p, sizeof(*p));
	free(text);
	json_decref(printed);
	hs_config_fini(&again);
	hs_config_fini(&c);
}

static void half_a_threshold_is_one_without_the_other(void **state)
{
	(void)state;
	struct hs_config c;
	parse("{\"telemetry\": {\"fields\": {\"packets\": {\"min_change\": 0},"
	      " \"bytes\": {\"max_age_ms\": 1}}}," TWO_PORTS "}",
			&c);
	assert_int_equal(c.node.partial.packets.policy, HS_PARTIAL_THRESHOLD);
	assert_int_equal(c.node.partial.packets.min_change, 0);
	assert_true(c.node.partial.packets.max_age_ns == INT64_MAX);
	assert_true(c.node.partial.bytes.min_change == UINT64_MAX);
	assert_int_equal(c.node.partial.bytes.max_age_ns, 1000000);
	assert_int_equal(c.node.partial.timestamp.policy, HS_PARTIAL_ALWAYS);
	json_t *printed = hs_config_print(&c);
	json_t *fields = json_object_get(json_object_get(printed, "telemetry"), "fields");
	assert_int_equal(json_object_size(json_object_get(fields, "packets")), 2);
	assert_int_equal(json_object_size(json_object_get(fields, "bytes")), 2);
	assert_int_equal(json_object_size(json_object_get(fields, "timestamp")), 1);
	json_decref(printed);
	hs_config_fini(&c);
}

// Writes a key file of this mode and reads a configuration that names it.
static int load_with_key(const char *key, mode_t mode, struct hs_config *c, struct hs_error *err)
{
	char name[] = "/tmp/hopsight-key-XXXXXX", text[512];
	int fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, key, strlen(key)), strlen(key));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	snprintf(text, sizeof(text),
			"{\"telemetry\": {\"in_band\": {\"key_file\": \"%s\"}}," TWO_PORTS "}",
			name);
	int rc = load(text, strlen(text), CORES, c, err);
	unlink(name);
	return rc;
}

static void a_key_is_read_from_a_file_that_only_some_can_read(void **state)
{
	static const char key[] =
			"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
	(void)state;
	struct hs_config c;
	struct hs_error err = {0};
	assert_int_equal(load_with_key(key, 0640, &c, &err), 0);
	assert_true(c.in_band.has_key);
	assert_int_equal(c.in_band.key.bytes[31], 0x1f);
	hs_config_fini(&c);

	assert_true(load_with_key(key, 0644, &c, &err) < 0);
	assert_string_equal(err.path, "telemetry.in_band.key_file");
	assert_string_equal(err.code, "bad_value");
	assert_true(load_with_key("secret", 0600, &c, &err) < 0);
	assert_string_equal(err.path, "telemetry.in_band.key_file");
	assert_null(strstr(err.message, "secret"));
}

static void pairs_name_ports_by_their_index(void **state)
{
	(void)state;
	struct hs_config c;
	parse(minimal, &c);
	assert_int_equal(c.node.n_pairs, 1);
	assert_int_equal(c.node.pairs[0][0], 1);
	assert_int_equal(c.node.pairs[0][1], 0);
	assert_int_equal(c.ports[0].kind, HS_PORT_IFACE);
	assert_int_equal(c.ports[1].kind, HS_PORT_PCI);
	hs_config_fini(&c);
}

static void ports_have_the_profiles_that_they_name(void **state)
{
	static const char text[] =
			"{\"profiles\": {\"lab\": {\"method\": \"flexint\"},"
			" \"wan\": {\"layout\": \"paper\", \"method\": \"flexint\"},"
			" \"unused\": {\"method\": \"flexint\"}},"
			" \"ports\": [{\"name\": \"a\", \"iface\": \"v\", \"side\": \"host\"},"
			"{\"name\": \"b\", \"iface\": \"w\", \"side\": \"network\","
			" \"profile\": \"wan\"},"
			"{\"name\": \"c\", \"iface\": \"x\", \"side\": \"network\","
			" \"profile\": \"lab\"},"
			"{\"name\": \"d\", \"iface\": \"y\", \"side\": \"network\"}],"
			" \"forwarding\": {\"mode\": \"bridge\"}}";
	struct hs_config c, again;
	(void)state;
	parse(text, &c);
	assert_int_equal(c.n_profiles, 3);
	assert_null(c.node.profiles[0].family);
	assert_ptr_equal(c.node.profiles[1].family, &hs_flexint_steps);
	assert_int_equal(c.node.profiles[1].layout, HS_LAYOUT_PAPER);
	assert_ptr_equal(c.node.profiles[2].family, &hs_flexint_steps);
	assert_int_equal(c.node.profiles[2].layout, HS_LAYOUT_ALIGNED);
	assert_null(c.node.profiles[3].family);

	json_t *printed = hs_config_print(&c), *profiles = json_object_get(printed, "profiles");
	assert_int_equal(json_object_size(profiles), 3);
	assert_string_equal(text_of(json_object_get(profiles, "wan"), "layout"), "paper");
	assert_string_equal(text_of(json_object_get(profiles, "lab"), "layout"), "aligned");
	char *text_again = json_dumps(printed, 0);
	parse(text_again, &again);
	for (unsigned i = 0; i < 4; i++) {
		assert_ptr_equal(again.node.profiles[i].family, c.node.profiles[i].family);
		assert_int_equal(again.node.profiles[i].layout, c.node.profiles[i].layout);
	}
	free(text_again);
	json_decref(printed);
	hs_config_fini(&again);
	hs_config_fini(&c);

	parse(minimal, &c);
	printed = hs_config_print(&c);
	assert_null(json_object_get(printed, "profiles"));
	json_decref(printed);
	hs_config_fini(&c);
}

static void reports_without_a_port_are_sent_by_control(void **state)
{
	(void)state;
	static const char text[] =
			"{\"ports\": [{\"name\": \"a\", \"iface\": \"v\", \"side\": \"host\"}],"
			" \"workers\": [1, 2], \"forwarding\": {\"mode\": \"bridge\"},"
			" \"export\": [{\"to\": \"127.0.0.1:32766\"},"
			" {\"to\": \"[2001:db8::9]:9\", \"from\": \"2001:db8::1\"}]}";
	struct hs_config c;

	parse(text, &c);
	assert_int_equal(c.node.n_exports, 2);
	assert_int_equal(c.node.exports[0].port, HS_EXPORT_NO_PORT);
	assert_int_equal(c.node.exports[1].port, HS_EXPORT_NO_PORT);
	assert_int_equal(hs_config_mbufs(&c), c.mbufs + 2 * 2 * HS_EXPORT_RING);
	json_t *printed = hs_config_print(&c), *exports = json_object_get(printed, "export");
	json_t *first = json_array_get(exports, 0), *second = json_array_get(exports, 1);
	assert_string_equal(json_string_value(json_object_get(first, "to")), "127.0.0.1:32766");
	assert_null(json_object_get(first, "from"));
	assert_string_equal(json_string_value(json_object_get(second, "from")), "2001:db8::1");
	assert_null(json_object_get(second, "port"));
	assert_null(json_object_get(second, "mac"));
	char *again = json_dumps(printed, 0);
	hs_config_fini(&c);
	parse(again, &c);
	assert_int_equal(c.node.exports[1].port, HS_EXPORT_NO_PORT);
	assert_int_equal(c.node.exports[1].to.port, 9);
	free(again);
	json_decref(printed);
	hs_config_fini(&c);
}

static void ports_have_ids_and_egress_queues(void **state)
{
	(void)state;
	static const char text[] =
			"{\"ports\": [{\"name\": \"a\", \"iface\": \"v\", \"side\": \"host\","
			" \"id\": 4294967295, \"rate_bps\": 1000000000000, \"queue_packets\": "
			"1000},"
			" {\"name\": \"b\", \"iface\": \"w\", \"side\": \"host\"}],"
			" \"forwarding\": {\"mode\": \"bridge\"}}";
	struct hs_config c, plain;
	struct hs_eal_config eal, plain_eal;

	parse(text, &c);
	parse(minimal, &plain);
	assert_int_equal(c.ports[0].id, UINT32_MAX);
	assert_int_equal(c.ports[0].rate_bps, HS_PORT_RATE_MAX);
	assert_int_equal(c.ports[0].queue_packets, 1000);
	assert_int_equal(c.ports[1].id, 2);
	assert_int_equal(c.ports[1].rate_bps, 0);
	assert_int_equal(hs_config_mbufs(&c), c.mbufs + 1000);
	hs_config_eal(&c, &eal);
	hs_config_eal(&plain, &plain_eal);
	assert_true(eal.memory_bytes > plain_eal.memory_bytes + 1000 * 1500);
	json_t *printed = hs_config_print(&c);
	json_t *ports = json_object_get(printed, "ports");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(ports, 0), "rate_bps")),
			HS_PORT_RATE_MAX);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(ports, 1), "id")), 2);
	assert_null(json_object_get(json_array_get(ports, 1), "rate_bps"));
	json_decref(printed);
	hs_config_fini(&plain);
	hs_config_fini(&c);
}

static void open_endpoints_are_allowed_where_insecure_is_said(void **state)
{
	(void)state;
	static const char text[] =
			"{\"ports\": [{\"name\": \"a\", \"iface\": \"v\", \"side\": \"host\"}],"
			" \"forwarding\": {\"mode\": \"bridge\"},"
			" \"control\": {\"bind\": [\"tcp://0.0.0.0:5555\"],"
			" \"insecure\": true}}";
	struct hs_config c;
	parse(text, &c);
	assert_string_equal(c.bind.text[0], "tcp://0.0.0.0:5555");
	hs_config_fini(&c);
}

static void what_is_printed_is_read_back_the_same(void **state)
{
	(void)state;
	struct hs_config first, second;
	parse(minimal, &first);
	json_t *printed = hs_config_print(&first);
	char *text = json_dumps(printed, 0);
	parse(text, &second);
	json_t *again = hs_config_print(&second);

	assert_true(json_equal(printed, again));
	assert_string_equal(text_of(json_object_get(printed, "node"), "name"), "node0");
	json_decref(printed);
	json_decref(again);
	free(text);
	hs_config_fini(&first);
	hs_config_fini(&second);
}

static void the_file_of_the_state_is_printed_where_there_is_one(void **state)
{
	static const char with[] =
			"{\"state\": {\"file\": \"/var/lib/x\", \"sync\": true}, \"ports\": [{"
			"\"name\": \"a\", \"iface\": \"v\", \"side\": \"host\"}],"
			" \"forwarding\": {\"mode\": \"bridge\"}}";
	struct hs_config c;
	(void)state;
	parse(with, &c);
	assert_string_equal(c.state_file, "/var/lib/x");
	assert_true(c.state_sync);
	json_t *printed = hs_config_print(&c), *section = json_object_get(printed, "state");
	assert_string_equal(text_of(section, "file"), "/var/lib/x");
	assert_true(json_is_true(json_object_get(section, "sync")));
	json_decref(printed);
	hs_config_fini(&c);
	parse(minimal, &c);
	printed = hs_config_print(&c);
	assert_null(json_object_get(printed, "state"));
	json_decref(printed);
	hs_config_fini(&c);
}

static void every_truncation_of_a_good_file_is_refused(void **state)
{
	(void)state;
	for (size_t len = 0; len + 1 < sizeof(minimal); len++) {
		struct hs_config c;
		struct hs_error err = {0};
		assert_true(load(minimal, len, CORES, &c, &err) < 0);
		assert_string_equal(err.code, "not_json");
	}
}

static void a_file_that_is_not_there_is_an_error_with_its_reason(void **state)
{
	(void)state;
	struct hs_config c;
	struct hs_errors errors = {0};
	assert_true(hs_config_load("/nonexistent/x.json", CORES, &c, &errors) < 0);
	assert_string_equal(errors.list[0].code, "not_readable");
	assert_non_null(strstr(errors.list[0].message, "No such file"));
}

static void eal_is_given_room_for_tables_and_buffers(void **state)
{
	(void)state;
	struct hs_config c;
	struct hs_eal_config eal;
	parse(minimal, &c);
	hs_config_eal(&c, &eal);
	assert_true(eal.pci);
	assert_string_equal(eal.file_prefix, "hopsight-node0");
	assert_int_equal(eal.n_workers, 1);
	assert_int_equal(eal.worker_cores[0], 1);
	assert_true(hs_config_mbuf_bytes(&c) >= 1500);
	assert_true(eal.memory_bytes > (uint64_t)c.mbufs * hs_config_mbuf_bytes(&c));
	hs_config_fini(&c);
}

static const struct CMUnitTest fixed[] = {
		cmocka_unit_test(absent_keys_have_their_documented_defaults),
		cmocka_unit_test(defaults_are_of_the_cores_that_the_process_may_run_on),
		cmocka_unit_test(a_core_that_is_not_the_processes_is_refused_with_those_that_are),
		cmocka_unit_test(ports_of_requests_in_band_become_bits_and_print_as_names),
		cmocka_unit_test(windows_have_the_lengths_that_are_listed_and_print_as_such),
		cmocka_unit_test(fields_of_entries_get_their_policies_and_print_them),
		cmocka_unit_test(half_a_threshold_is_one_without_the_other),
		cmocka_unit_test(a_key_is_read_from_a_file_that_only_some_can_read),
		cmocka_unit_test(pairs_name_ports_by_their_index),
		cmocka_unit_test(ports_have_the_profiles_that_they_name),
		cmocka_unit_test(ports_have_ids_and_egress_queues),
		cmocka_unit_test(reports_without_a_port_are_sent_by_control),
		cmocka_unit_test(open_endpoints_are_allowed_where_insecure_is_said),
		cmocka_unit_test(what_is_printed_is_read_back_the_same),
		cmocka_unit_test(the_file_of_the_state_is_printed_where_there_is_one),
		cmocka_unit_test(every_truncation_of_a_good_file_is_refused),
		cmocka_unit_test(a_file_that_is_not_there_is_an_error_with_its_reason),
		cmocka_unit_test(eal_is_given_room_for_tables_and_buffers),
};

int main(void)
{
	return run_with_folders("control-config", GOLDEN_DIR, fixed,
			sizeof(fixed) / sizeof(fixed[0]), refuses_as_its_folder_says);
}
