// SPDX-License-Identifier: BSD-3-Clause
// What a controller's configuration may say, and what it says of one that is wrong.
#include "controller.h"
#include "controller_config.h"
#include "refusal.h"
#include "errors_of_file.h"
#include "text_file.h"

#include <errno.h>

static const char minimal[] = "{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"}]}";

static const char everything[] =
		"{\"controller\": {\"name\": \"lab\", \"metrics\": \"always\", \"max_rules\": 5,"
		"  \"monitored_rules\": 6, \"hello_ms\": 70, \"timeout_ms\": 800, \"audit_s\": 9},"
		" \"control\": {\"bind\": [\"tcp://0.0.0.0:5557\"], \"subscribe_bind\":"
		"   [\"ipc:///s\", \"tcp://0.0.0.0:5558\"], \"publish_bind\": [\"ipc:///p\"],"
		"   \"insecure\": true, \"keys\": {\"secret\": \"/k/c.secret\", \"allowed\": "
		"\"/k/a\"}},"
		" \"nodes\": [{\"name\": \"a\", \"id\": 0, \"api\": \"ipc:///a\"},"
		"   {\"name\": \"b\", \"id\": 0, \"api\": \"tcp://192.0.2.2:5555\", \"server_key\":"
		"    \"/k/b.pub\"}, {\"name\": \"c\", \"id\": 65535, \"api\": \"ipc:///c\"}],"
		" \"paths\": [{\"name\": \"p\", \"nodes\": [\"b\", \"a\"]}, {\"name\": \"q\", "
		"\"nodes\":"
		"   [\"c\"]}],"
		" \"state\": {\"file\": \"/s/state\", \"sync\": true},"
		" \"label\": {\"listen\": [\"127.0.0.1:32768\", \"[::1]:32768\"], "
		"   \"buffer_kib\": 64, \"interval_ms\": 50, \"ports\": 7, \"series\": 8, "
		"   \"age_ms\": 900, \"poll_ms\": 70, \"pro\": {\"k\": 1.5, \"interval_ms\": 20, "
		"   \"repeat_ms\": 40, \"max_shift\": 9}},"
		" \"requests\": [{\"int_request\": {\"ns_id\": 7, \"src_ip\": \"2001:db8::1\", "
		"\"dst_ip\":"
		"   \"2001:db8::2\", \"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", "
		"\"mode\":"
		"   \"count\", \"mode_setting\": 2, \"on\": {\"path\": \"p\"}}}]}";

// Node 2 adds 3 values. A probe is 36 bytes, 4 more for each node and for each of up to 4 of its
// way there and of its way back, and 4 for each value.
#define PROBING(mtu)                                                                               \
	"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"                        \
	" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"                                    \
	" {\"name\": \"c\", \"id\": 3, \"api\": \"ipc:///c\"}],"                                   \
	" \"probing\": {\"iface\": \"eth1\", \"first_node\": 1, \"address\": \"10.0.0.1\","        \
	"  \"measure\": \"rule_hits\", \"plan\": \"euler\", \"seed\": 7, \"mtu\": " mtu ","        \
	"  \"period_ms\": 0, \"node_timeout_ms\": 9, \"feedback_ms\": 10, \"attempts\": 0,"        \
	"  \"nodes\": [{\"id\": 1, \"first\": 0, \"end\": 0}, {\"id\": 2, \"first\": 4, \"end\": " \
	"7},"                                                                                      \
	"   {\"id\": 3, \"first\": 2, \"end\": 6}],"                                               \
	"  \"links\": [{\"node\": 1, \"port\": 2, \"peer\": 2, \"peer_port\": 1, \"cost\": 9},"    \
	"   {\"node\": 2, \"port\": 255, \"peer\": 3, \"peer_port\": 1, \"cost\": 1}],"            \
	"  \"reroute\": {\"destinations\": [{\"prefix\": \"10.2.0.0/16\", \"node\": 2},"           \
	"   {\"prefix\": \"2001:db8::/32\", \"node\": 3}], \"hold_ms\": 5}}}"

static int load(const char *text, struct hs_controller_config *config, struct hs_errors *errors)
{
	char name[64];
	int fd = text_file(text, strlen(text), name);
	int rc = hs_controller_config_load(name, config, errors);

	close(fd);
	return rc;
}

static void parse(const char *text, struct hs_controller_config *config)
{
	struct hs_errors errors = {0};

	if (load(text, config, &errors) < 0)
		fail_msg("%s: %s", errors.list[0].path, errors.list[0].message);
}

static int send_nothing(void *context, unsigned node, const char *text, size_t len)
{
	(void)context, (void)node, (void)text, (void)len;
	return -EAGAIN;
}

// As --check does: the requests are the controller's to judge.
static int check_requests(const struct hs_controller_config *config, struct hs_error *err)
{
	struct hs_controller_output output = {.send = send_nothing};
	struct hs_controller *controller = NULL;
	int rc = hs_controller_create(config, "check", &output, 0, &controller, err);

	hs_controller_destroy(controller);
	return rc;
}

static void refuses_as_its_folder_says(void **state)
{
	const char *name = *state;
	struct hs_controller_config config;
	struct hs_errors errors = {0};
	char folder[384], file[512];

	snprintf(folder, sizeof(folder), "%s/%s", GOLDEN_DIR, name);
	snprintf(file, sizeof(file), "%s/config.json", folder);
	int rc = hs_controller_config_load(file, &config, &errors);
	if (rc == 0) {
		rc = check_requests(&config, &errors.list[0]);
		hs_controller_config_fini(&config);
	}
	assert_true(rc < 0);
	assert_refused_as_said(folder, &errors.list[0]);
}

static void a_file_that_is_not_there_is_refused(void **state)
{
	struct hs_controller_config config;
	struct hs_errors errors = {0};

	(void)state;
	assert_int_equal(hs_controller_config_load("/nowhere/at/all.json", &config, &errors),
			-ENOENT);
	assert_string_equal(errors.list[0].code, "not_readable");
}

static void absent_keys_have_their_documented_defaults(void **state)
{
	struct hs_controller_config c;

	(void)state;
	parse(minimal, &c);
	assert_string_equal(c.name, "controller");
	assert_int_equal(c.bind.n, 1);
	assert_string_equal(c.bind.text[0], "ipc:///run/hopsight/controller.api");
	assert_int_equal(c.subscribe_bind.n, 0);
	assert_int_equal(c.publish_bind.n, 0);
	assert_false(c.insecure);
	assert_int_equal(c.metrics, HS_CONTROLLER_METRICS_AUTO);
	assert_int_equal(c.max_rules, 65536);
	assert_int_equal(c.monitored_rules, 65536);
	assert_int_equal(c.hello_ms, 500);
	assert_int_equal(c.timeout_ms, 3000);
	assert_int_equal(c.audit_s, 60);
	assert_string_equal(c.state_file, "");
	assert_false(c.state_sync);
	assert_string_equal(c.secret_key, "");
	assert_string_equal(c.allowed_keys, "");
	assert_string_equal(c.nodes[0].server_key, "");
	assert_int_equal(json_array_size(c.requests), 0);
	assert_false(c.label.on);
	hs_controller_config_fini(&c);
	parse("{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"}], \"label\": "
	      "{\"listen\": [\"0.0.0.0:1\"]}}",
			&c);
	assert_true(c.label.on);
	assert_false(c.label.pro.on);
	assert_int_equal(c.label.buffer_kib, 4096);
	assert_int_equal(c.label.interval_ms, 100);
	assert_int_equal(c.label.ports, 4096);
	assert_int_equal(c.label.series, 64);
	assert_int_equal(c.label.age_ms, 10000);
	assert_int_equal(c.label.poll_ms, 0);
	assert_true(c.label.pro.k == 2);
	assert_int_equal(c.label.pro.interval_ms, 50);
	assert_int_equal(c.label.pro.repeat_ms, 200);
	assert_int_equal(c.label.pro.max_shift, 6);
	hs_controller_config_fini(&c);
}

static void every_key_is_read(void **state)
{
	struct hs_controller_config c;

	(void)state;
	parse(everything, &c);
	assert_string_equal(c.name, "lab");
	assert_int_equal(c.metrics, HS_CONTROLLER_METRICS_ALWAYS);
	assert_int_equal(c.max_rules, 5);
	assert_int_equal(c.monitored_rules, 6);
	assert_int_equal(c.hello_ms, 70);
	assert_int_equal(c.timeout_ms, 800);
	assert_int_equal(c.audit_s, 9);
	assert_string_equal(c.subscribe_bind.text[1], "tcp://0.0.0.0:5558");
	assert_true(c.insecure);
	assert_string_equal(c.secret_key, "/k/c.secret");
	assert_string_equal(c.allowed_keys, "/k/a");
	assert_string_equal(c.nodes[1].server_key, "/k/b.pub");
	assert_int_equal(c.nodes[2].id, 65535);
	assert_string_equal(c.state_file, "/s/state");
	assert_true(c.state_sync);
	assert_int_equal(c.label.n_listen, 2);
	assert_int_equal(c.label.listen[1].port, 32768);
	assert_int_equal(c.label.listen[1].address[15], 1);
	assert_int_equal(c.label.buffer_kib, 64);
	assert_int_equal(c.label.interval_ms, 50);
	assert_int_equal(c.label.ports, 7);
	assert_int_equal(c.label.series, 8);
	assert_int_equal(c.label.age_ms, 900);
	assert_int_equal(c.label.poll_ms, 70);
	assert_true(c.label.pro.on && c.label.pro.k == 1.5);
	assert_int_equal(c.label.pro.interval_ms, 20);
	assert_int_equal(c.label.pro.repeat_ms, 40);
	assert_int_equal(c.label.pro.max_shift, 9);
	assert_int_equal(c.n_paths, 2);
	assert_int_equal(hs_controller_config_path(&c, "p")->nodes[0], 1);
	assert_int_equal(hs_controller_config_path(&c, "p")->nodes[1], 0);
	assert_null(hs_controller_config_path(&c, "r"));
	assert_int_equal(hs_controller_config_node(&c, "c"), 2);
	assert_int_equal(hs_controller_config_node(&c, "d"), -1);
	hs_controller_config_fini(&c);
}

// Printed, read and printed again, and nothing of what was written is left out or altered.
static void check_round_trip(const char *text)
{
	struct hs_controller_config first, second;

	parse(text, &first);
	json_t *printed = hs_controller_config_print(&first);
	char *again = json_dumps(printed, 0);
	parse(again, &second);
	json_t *reprinted = hs_controller_config_print(&second);
	assert_true(json_equal(printed, reprinted));
	json_t *written = json_loads(text, 0, NULL), *merged = json_deep_copy(printed);
	assert_int_equal(json_object_update_recursive(merged, written), 0);
	assert_true(json_equal(merged, printed));
	json_decref(written);
	json_decref(merged);
	json_decref(printed);
	json_decref(reprinted);
	free(again);
	hs_controller_config_fini(&first);
	hs_controller_config_fini(&second);
}

static void what_is_printed_is_read_as_the_same(void **state)
{
	(void)state;
	check_round_trip(minimal);
	check_round_trip(everything);
	check_round_trip(PROBING("1000"));
}

// What ways take is part of the bound, and so is the node that needs most: 36 + 32 + 2 * 4 + 7 * 4.
static void the_least_mtu_of_probes_is_the_one_that_is_told(void **state)
{
	static const char small[] = PROBING("103");
	struct hs_controller_config config;
	struct hs_errors errors = {0};
	const struct hs_error *err = &errors.list[0];

	(void)state;
	assert_int_equal(load(small, &config, &errors), -EINVAL);
	assert_string_equal(err->code, "out_of_range");
	assert_string_equal(err->path, "probing.mtu");
	assert_string_equal(err->expected, "104 or more");
	assert_non_null(strstr(err->message, "103 bytes"));
	parse(PROBING("104"), &config);
	hs_controller_config_fini(&config);
}

static void assert_errors(const char *text, const char *const paths[])
{
	struct hs_controller_config config;
	char file[] = FILE_OF_TEST;
	struct hs_errors errors = {0};

	make_file(file, text);
	assert_true(hs_controller_config_load(file, &config, &errors) < 0);
	unlink(file);
	assert_paths(&errors, paths);
}

// Errors of values, and of what others mean together, in one file.
static void all_errors_of_a_file_come_at_once(void **state)
{
	(void)state;
	assert_errors("{'controller':{'nope':1},'nodes':[]}",
			(const char *const[]){"controller.nope", "nodes", NULL});
	assert_errors("{'nodes':[{'name':'a','id':1,'api':'x'},{'name':'a','id':1,'api':'y'}]}",
			(const char *const[]){"nodes[1].name", "nodes[1].id", NULL});
}

#define NODES "'nodes':[{'name':'a','id':1,'api':'ipc:///a'}]"

static void all_errors_of_a_section_come_at_once(void **state)
{
	(void)state;
	assert_errors("{" NODES ",'influx':[{'url':'http://h','database':'d','bucket':'b',"
		      "'password_file':'/nowhere'},{'url':'nowhere'},{'url':'http://h'},"
		      "{'url':'http://h','bucket':'b','user':'u','token_file':'/nowhere'}]}",
			(const char *const[]){"influx[1].url", "influx[0].bucket", "influx[0].user",
					"influx[0].password_file", "influx[2].database",
					"influx[3].org", "influx[3].user", "influx[3].token_file",
					NULL});
	assert_errors("{" NODES ",'label':{'ports':0,'age_ms':10,'pro':{'k':0.1,'interval_ms':1,"
		      "'max_shift':1}}}",
			(const char *const[]){"label.ports", "label.listen", "label.age_ms",
					"label.pro.k", "label.pro.max_shift", NULL});
	assert_errors("{" NODES ",'probing':{'iface':'eth1','first_node':7,'address':'10.0.0.1',"
		      "'mtu':1,'nodes':[{'id':1},{'id':2},{'id':2,'first':3,'end':2}],"
		      "'links':[{'node':8,'port':1,'peer':9,'peer_port':1}],'dscp':25,'paths':2,"
		      "'max_paths':1,'node_timeout_ms':9,'feedback_ms':9,"
		      "'reroute':{'hold_ms':2,'max_hold_ms':1,"
		      "'destinations':[{'prefix':'::/0','node':6}]}}}",
			(const char *const[]){"probing.nodes[2].id", "probing.nodes[2].end",
					"probing.links[0].node", "probing.links[0].peer",
					"probing.mtu", "probing.first_node", "probing.dscp",
					"probing.node_timeout_ms", "probing.plan",
					"probing.reroute.max_hold_ms",
					"probing.reroute.destinations[0].node", NULL});
	assert_errors("{" NODES ",'probing':{'iface':'eth1','first_node':1,'address':'10.0.0.1',"
		      "'nodes':[{'id':2},{'id':3}],'paths':2,'max_paths':1,'plan':'euler',"
		      "'reroute':{'destinations':[{'prefix':'::/0','node':2}]}}}",
			(const char *const[]){"probing.first_node", "probing.max_paths",
					"probing.nodes[0].id", "probing.nodes[1].id", NULL});
}

// Links and destinations may mean the node whose id is wrong.
static void an_error_of_a_probed_node_brings_no_errors_where_the_node_is_named(void **state)
{
	(void)state;
	assert_errors("{" NODES ",'probing':{'iface':'eth1','first_node':1,'address':'10.0.0.1',"
		      "'plan':'euler','nodes':[{'id':'1'},{'id':2}],"
		      "'links':[{'node':1,'port':1,'peer':2,'peer_port':1}],"
		      "'reroute':{'destinations':[{'prefix':'::/0','node':1}]}}}",
			(const char *const[]){"probing.nodes[0].id", NULL});
}

int main(void)
{
	const struct CMUnitTest fixed[] = {
			cmocka_unit_test(all_errors_of_a_file_come_at_once),
			cmocka_unit_test(all_errors_of_a_section_come_at_once),
			cmocka_unit_test(
					an_error_of_a_probed_node_brings_no_errors_where_the_node_is_named),
			cmocka_unit_test(a_file_that_is_not_there_is_refused),
			cmocka_unit_test(absent_keys_have_their_documented_defaults),
			cmocka_unit_test(every_key_is_read),
			cmocka_unit_test(what_is_printed_is_read_as_the_same),
			cmocka_unit_test(the_least_mtu_of_probes_is_the_one_that_is_told),
	};

	return run_with_folders("controller-config", GOLDEN_DIR, fixed,
			sizeof(fixed) / sizeof(fixed[0]), refuses_as_its_folder_says);
}
