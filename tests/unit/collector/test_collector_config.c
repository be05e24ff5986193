// SPDX-License-Identifier: BSD-3-Clause
// What a collector's configuration may say, and what it says of one that is wrong.
#include "collector_config.h"
#include "collector_threshold.h"
#include "refusal.h"
#include "errors_of_file.h"
#include "text_file.h"

#include <errno.h>

static const char minimal[] = "{\"listen\": [{\"udp\": \"127.0.0.1:32766\"}]}";

static const char everything[] =
		"{\"name\": \"c1\", \"listen\": [{\"udp\": \"192.0.2.1:1\", \"buffer_kib\": 64},"
		"   {\"udp\": \"[2001:db8::1]:65535\"}],"
		" \"ports\": [{\"name\": \"in\", \"devargs\": \"net_null0\", \"udp_port\": 32766,"
		"   \"mtu\": 9000, \"rx_queues\": 2, \"rx_descriptors\": 4096}, {\"name\": \"k\", "
		"\"iface\": \"eth0\","
		"   \"driver\": \"af_xdp\", \"udp_port\": 6}],"
		" \"workers\": [1], \"control_core\": 2, \"polling\": \"busy\", \"latency_us\": "
		"250,"
		" \"accept\": {\"formats\": [\"1.0\", \"2.0\"], \"lenient\": \"intcollector\","
		"   \"profiles\": {\"2.0\": {\"method\": \"int\", \"version\": \"2.1\","
		"   \"dscp\": 32}}},"
		" \"memory\": {\"flows\": 1, \"queues\": 2, \"links\": 3, \"exporters\": 4,"
		"   \"drops\": 5, \"huge_pages\": true, \"mbufs\": 20480},"
		" \"events\": {\"flow_latency\": \"off\", \"hop_latency\": 20,"
		"   \"queue_occupancy\": \"10%\", \"queue_congestion\": \"0.25%\","
		"   \"link_utilisation\": \"100.5%\", \"gap_ns\": 7, \"interval\": 8,"
		"   \"new_keys_per_s\": 9},"
		" \"units\": [{\"latency\": \"us\"}, {\"node_id\": 3, \"latency\": \"ticks\","
		"   \"occupancy\": \"cells\", \"utilisation\": \"percent\"}],"
		" \"push_interval_s\": 0.5, \"state\": {\"file\": \"/s/x\"},"
		" \"prometheus\": {\"bind\": \"[::1]:9\", \"max_series\": 100, \"flows\": true},"
		" \"control\": {\"bind\": [\"ipc:///a\"], \"publish_bind\": [\"ipc:///p\"],"
		"   \"publish_to\": [\"ipc:///q\"], \"publish_queue\": 10},"
		" \"sandbox\": false}";

static cpu_set_t four_cores(void)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	for (int i = 0; i < 4; i++)
		CPU_SET(i, &cores);
	return cores;
}

static struct hs_collector_config config;

static void parse(const char *text)
{
	struct hs_errors errors = {0};
	const struct hs_error *err = &errors.list[0];
	cpu_set_t cores = four_cores();
	char name[64];
	int fd = text_file(text, strlen(text), name);

	if (hs_collector_config_load(name, &cores, &config, &errors) < 0)
		fail_msg("%s: %s (%s)", err->path, err->message, err->expected);
	close(fd);
}

static void refuses_as_its_folder_says(void **state)
{
	cpu_set_t cores = four_cores();
	struct hs_errors errors = {0};
	char folder[384], file[512];

	snprintf(folder, sizeof(folder), "%s/%s", GOLDEN_DIR, (const char *)*state);
	snprintf(file, sizeof(file), "%s/config.json", folder);
	assert_true(hs_collector_config_load(file, &cores, &config, &errors) < 0);
	assert_refused_as_said(folder, &errors.list[0]);
}

static void absent_keys_have_their_documented_defaults(void **state)
{
	(void)state;
	parse(minimal);
	assert_string_equal(config.base.node.name, "collector");
	assert_string_equal(config.base.bind.text[0], "ipc:///run/hopsight/collector.api");
	assert_int_equal(config.base.workers[0], 1);
	assert_int_equal(config.base.control_core, 0);
	assert_true(config.base.adaptive);
	assert_true(config.base.sandbox);
	assert_int_equal(config.base.mbufs, 16384);
	assert_int_equal(config.listen[0].buffer_kib, 16384);
	assert_int_equal(config.latency_us, 1000);
	assert_int_equal(config.n_ports, 0);
	assert_false(config.prometheus.on);
	assert_int_equal(config.prometheus.bind.port, 9465);
	assert_int_equal(config.prometheus.max_series, 10000);
	assert_false(config.flow_series);
	for (unsigned i = 0; i < HS_COLLECTOR_FORMATS; i++) {
		assert_true(config.collect.formats[i].taken);
		assert_int_equal(config.collect.formats[i].packet.dscp, 0x17);
	}
	assert_false(config.collect.intercollector);
	assert_int_equal(config.collect.max_flows, 100000);
	assert_int_equal(config.collect.max_queues, 3000);
	assert_int_equal(config.collect.max_links, 3000);
	assert_int_equal(config.collect.max_exporters, 1000);
	assert_int_equal(config.collect.max_drops, 1000);
	assert_int_equal(config.collect.new_keys_per_s, 10000);
	assert_int_equal(config.collect.thresholds[HS_COLLECT_HOP_LATENCY].absolute, 1000);
	assert_int_equal(config.collect.thresholds[HS_COLLECT_FLOW_LATENCY].absolute, 1000);
	assert_int_equal(config.collect.thresholds[HS_COLLECT_QUEUE_OCCUPANCY].absolute, 16);
	assert_int_equal(config.collect.thresholds[HS_COLLECT_QUEUE_CONGESTION].absolute, 16);
	assert_int_equal(config.collect.thresholds[HS_COLLECT_LINK_UTILISATION].absolute, 50);
	assert_int_equal(config.collect.gap_ns, 1000000000);
	assert_int_equal(config.collect.interval, 0);
	assert_int_equal(config.collect.push_ns, INT64_C(10000000000));
	assert_int_equal(hs_collector_units_of(&config, 5)->latency, HS_COLLECTOR_NS);
	assert_int_equal(hs_collector_units_of(&config, 5)->occupancy, HS_COLLECTOR_PACKETS);
	assert_int_equal(hs_collector_units_of(&config, 5)->utilisation, HS_COLLECTOR_PER_10000);
	hs_collector_config_fini(&config);
}

static void every_key_is_read(void **state)
{
	const struct hs_collect_threshold *thresholds = config.collect.thresholds;

	(void)state;
	parse(everything);
	assert_string_equal(config.base.node.name, "c1");
	assert_int_equal(config.n_listen, 2);
	assert_int_equal(config.listen[0].udp.port, 1);
	assert_int_equal(config.listen[0].udp.address[12], 192);
	assert_int_equal(config.listen[0].buffer_kib, 64);
	assert_int_equal(config.listen[1].udp.port, 65535);
	assert_int_equal(config.listen[1].udp.address[0], 0x20);
	assert_int_equal(config.n_ports, 2);
	assert_int_equal(config.ports[0].udp_port, 32766);
	assert_int_equal(config.base.ports[0].mtu, 9000);
	assert_int_equal(config.base.ports[0].rx_queues, 2);
	assert_int_equal(config.base.ports[0].rx_descriptors, 4096);
	assert_int_equal(config.base.ports[1].rx_descriptors, 1024);
	assert_int_equal(config.latency_us, 250);
	assert_string_equal(config.base.ports[1].driver, "af_xdp");
	assert_int_equal(config.base.n_ports, 2);
	assert_int_equal(config.base.workers[0], 1);
	assert_int_equal(config.base.control_core, 2);
	assert_false(config.base.adaptive);
	assert_false(config.collect.formats[HS_INT_REPORT_0_5].taken);
	assert_true(config.collect.formats[HS_INT_REPORT_1_0].taken);
	assert_int_equal(config.collect.formats[HS_INT_REPORT_1_0].packet.dscp, 0x17);
	assert_int_equal(config.collect.formats[HS_INT_REPORT_2_0].packet.dscp, 32);
	assert_true(config.collect.intercollector);
	assert_int_equal(config.collect.max_flows, 1);
	assert_int_equal(config.collect.max_queues, 2);
	assert_int_equal(config.collect.max_links, 3);
	assert_int_equal(config.collect.max_exporters, 4);
	assert_int_equal(config.collect.max_drops, 5);
	assert_true(config.base.huge_pages);
	assert_int_equal(config.base.mbufs, 20480);
	assert_true(thresholds[HS_COLLECT_FLOW_LATENCY].off);
	assert_int_equal(thresholds[HS_COLLECT_HOP_LATENCY].absolute, 20);
	assert_int_equal(thresholds[HS_COLLECT_HOP_LATENCY].relative, 0);
	assert_int_equal(thresholds[HS_COLLECT_QUEUE_OCCUPANCY].relative, 1000);
	assert_int_equal(thresholds[HS_COLLECT_QUEUE_CONGESTION].relative, 25);
	assert_int_equal(thresholds[HS_COLLECT_LINK_UTILISATION].relative, 10050);
	assert_int_equal(config.collect.gap_ns, 7);
	assert_int_equal(config.collect.interval, 8);
	assert_int_equal(config.collect.new_keys_per_s, 9);
	assert_int_equal(config.collect.push_ns, 500000000);
	assert_int_equal(hs_collector_units_of(&config, 3)->latency, HS_COLLECTOR_TICKS);
	assert_int_equal(hs_collector_units_of(&config, 4)->latency, HS_COLLECTOR_US);
	assert_int_equal(hs_collector_units_of(&config, 4)->occupancy, HS_COLLECTOR_PACKETS);
	assert_string_equal(config.base.publish_to.text[0], "ipc:///q");
	assert_int_equal(config.base.publish_queue, 10);
	assert_false(config.base.sandbox);
	assert_string_equal(config.base.state_file, "/s/x");
	assert_true(config.prometheus.on);
	assert_int_equal(config.prometheus.bind.port, 9);
	assert_int_equal(config.prometheus.max_series, 100);
	assert_true(config.flow_series);
	hs_collector_config_fini(&config);
}

static void what_is_printed_is_read_again(void **state)
{
	const char *const texts[] = {minimal, everything};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		parse(texts[i]);
		json_t *once = hs_collector_config_print(&config);
		char *text = json_dumps(once, 0);
		hs_collector_config_fini(&config);
		parse(text);
		json_t *twice = hs_collector_config_print(&config);
		hs_collector_config_fini(&config);
		assert_true(json_equal(once, twice));
		free(text);
		json_decref(once);
		json_decref(twice);
	}
}

static void a_threshold_is_printed_as_it_is_read(void **state)
{
	static const char *const texts[] = {
			"\"off\"", "0", "7", "\"1%\"", "\"0.05%\"", "\"12.50%\"", "\"999.99%\""};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		struct hs_collect_threshold threshold;
		struct hs_error err;
		assert_int_equal(hs_collector_threshold_read(value, "", &threshold, &err), 0);
		json_t *printed = hs_collector_threshold_print(&threshold);
		assert_true(json_equal(value, printed));
		json_decref(value);
		json_decref(printed);
	}
}

static void a_file_that_is_not_there_is_refused(void **state)
{
	struct hs_errors errors = {0};

	(void)state;
	assert_int_equal(hs_collector_config_load("/nowhere/at/all.json", NULL, &config, &errors),
			-ENOENT);
	assert_string_equal(errors.list[0].code, "not_readable");
}

static void assert_errors(const char *text, const char *const paths[])
{
	char file[] = FILE_OF_TEST;
	struct hs_errors errors = {0};

	make_file(file, text);
	assert_true(hs_collector_config_load(file, NULL, &config, &errors) < 0);
	unlink(file);
	assert_paths(&errors, paths);
}

// Errors of values, and of what others mean together, in one file.
static void all_errors_of_a_file_come_at_once(void **state)
{
	(void)state;
	assert_errors("{'name':'x y','polling':'lazy','listen':[],'control':{'bind':['xyz']}}",
			(const char *const[]){
					"polling", "name", "listen", "control.bind[0]", NULL});
	assert_errors("{'ports':[{'name':'a','udp_port':9},{'name':'a','devargs':'net_ring0',"
		      "'driver':'af_xdp'}]}",
			(const char *const[]){"ports[1].udp_port", "ports[0]", "ports[1].name",
					"ports[1].driver", NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(all_errors_of_a_file_come_at_once),
			cmocka_unit_test(absent_keys_have_their_documented_defaults),
			cmocka_unit_test(every_key_is_read),
			cmocka_unit_test(what_is_printed_is_read_again),
			cmocka_unit_test(a_threshold_is_printed_as_it_is_read),
			cmocka_unit_test(a_file_that_is_not_there_is_refused),
	};

	return run_with_folders("collector-config", GOLDEN_DIR, tests,
			sizeof(tests) / sizeof(tests[0]), refuses_as_its_folder_says);
}
