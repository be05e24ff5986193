// SPDX-License-Identifier: BSD-3-Clause
// The errors of one file of a node: all of them at once, and none that another one brings about.
#include "config_read.h"
#include "errors_of_file.h"

#define PORTS                                                                                      \
	"'ports': [{'name': 'a', 'iface': 'a', 'side': 'host'}, "                                  \
	"{'name': 'b', 'iface': 'b', 'side': 'network'}]"
#define PAIR "'forwarding': {'mode': 'patch', 'pairs': [['a', 'b']]}"

#define RULE                                                                                       \
	"'requests': [{'int_request': {'ns_id': 1, 'src_ip': '10.0.0.1', 'dst_ip': '10.0.0.2', "   \
	"'protocol': 'udp', 'method': 'int', 'instructions': ['node_id'], 'mode': 'count', "       \
	"'mode_setting': 1}}]"

static void load(const char *text, struct hs_errors *errors)
{
	char file[] = FILE_OF_TEST;
	struct hs_config config;
	cpu_set_t cores;

	CPU_ZERO(&cores);
	CPU_SET(0, &cores);
	CPU_SET(1, &cores);
	*errors = (struct hs_errors){0};
	make_file(file, text);
	int rc = hs_config_load(file, &cores, &config, errors);
	unlink(file);
	assert_int_equal(rc == 0, errors->n == 0);
	if (rc == 0)
		hs_config_fini(&config);
}

static void assert_errors(const char *text, const char *const paths[])
{
	struct hs_errors errors;

	load(text, &errors);
	assert_paths(&errors, paths);
}

#define ASSERT_ERRORS(text, ...) assert_errors(text, (const char *const[]){__VA_ARGS__, NULL})

static void a_file_without_errors_has_none(void **state)
{
	(void)state;
	assert_errors("{" PORTS ", " PAIR "}", (const char *const[]){NULL});
	assert_errors("{'ports': [{'name': 'a', 'devargs': 'net_vhost0,iface=/a,tso=0', 'side': "
		      "'host'}], 'forwarding': {'mode': 'bridge'}}",
			(const char *const[]){NULL});
}

static void errors_of_values_and_of_what_they_mean_together_come_at_once(void **state)
{
	(void)state;
	ASSERT_ERRORS("{'polling': 'lazy', 'control': {'bind': ['xyz', 'tcp:']}, " PORTS
		      ", 'forwarding': {'mode': 'patch', 'pairs': [['a', 'z'], ['y', 'a']]}}",
			"polling", "control.bind[0]", "control.bind[1]", "forwarding.pairs[0][1]",
			"forwarding.pairs[1][0]", "forwarding.pairs[1][1]");
	ASSERT_ERRORS("{'workers': [7], 'nod': 1, 'ports': [{'name': 'a', 'iface': 'a', 'side': "
		      "'host'}, {'name': 'a', 'iface': 'b', 'side': 'host'}], "
		      "'forwarding': {'mode': 'patch', 'pairs': [['a', 'c']]}}",
			"nod", "workers[0]", "ports[1].name", "forwarding.pairs[0][1]");
}

static void each_element_of_a_list_has_all_its_errors(void **state)
{
	(void)state;
	ASSERT_ERRORS("{'ports': [{'name': 'a', 'side': 'left', 'mtu': 7}, {'name': 'b b', "
		      "'devargs': 'net_ring0', 'driver': 'af_xdp', 'side': 'host', "
		      "'queue_packets': 9}, {'name': 'a', 'iface': 'c', 'side': 'host'}]}",
			"ports[0].side", "ports[0].mtu", "ports[0]", "ports[1].name",
			"ports[1].driver", "ports[1].rate_bps", "ports[2].name",
			"forwarding.pairs");
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'export': [{'to': '192.0.2.1:9', 'mac': "
		      "'02:00:00:00:00:01', 'queue_quota': 3}, {'to': '192.0.2.1:9', 'port': "
		      "'b'}]}",
			"export[0].mac", "export[0].queue_quota", "export[1].from",
			"export[1].mac");
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'export': [{'to': '[fe80::1]:9'}, {'to': "
		      "'[fe80::2]:9'}]}",
			"export[0].to", "export[1].to");
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'export': [{'to': '192.0.2.1:9', 'from': '::2', "
		      "'port': 'z', 'mac': '02:00:00:00:00:01', 'queue_packets': 3}, {'to': "
		      "'192.0.2.1:9', 'from': 'fe80::1'}]}",
			"export[0].from", "export[0].port", "export[0].queue_packets",
			"export[1].from", "export[1].hw_id");
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'profiles': {'p': {'method': 'flexint', 'version': "
		      "'2.1', 'dscp': 3}, 'q': {'method': 'label', 'dscp': 3, 'ip_protocol': 6}}}",
			"profiles.p.version", "profiles.p.dscp", "profiles.q.ip_protocol",
			"profiles.q.dscp");
	ASSERT_ERRORS("{" PAIR ", 'ports': [{'name': 'a', 'iface': 'a', 'side': 'network', "
		      "'profile': 'x', 'id': 7}, {'name': 'b', 'iface': 'b', 'side': 'host', "
		      "'profile': 'y', 'id': 7}], 'telemetry': {'in_band': {'ports': ['z', 'b']}}}",
			"ports[0].id", "ports[0].profile", "ports[1].profile",
			"telemetry.in_band.ports[0]", "telemetry.in_band.ports[1]");
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'workers': [7, 8, 1, 1]}", "workers[0]", "workers[1]",
			"workers[3]");
	ASSERT_ERRORS("{" PORTS ", 'forwarding': {'mode': 'route', 'neighbours': [{'addr': "
		      "'2001:db8::1', 'port': 'y', 'mac': '02:00:00:00:00:01'}], 'routes': "
		      "[{'prefix': '2001:db8:1::/48', 'via': '2001:db8::1'}, {'prefix': "
		      "'2001:db8:2::/48', 'port': 'z', 'next_hop_mac': '02:00:00:00:00:02'}]}}",
			"forwarding.neighbours[0].port", "forwarding.routes[1].port");
}

// What stands behind a device's name does not make another device of it.
static void two_ports_have_no_device_of_the_same_name(void **state)
{
	static const char text[] =
			"{'ports': [{'name': 'a', 'devargs': '%s', 'side': 'host'}, {'name': "
			"'b', 'devargs': '%s', 'side': 'network'}], " PAIR "}";
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
			{"net_memif0,id=0", "net_memif0,id=1", true},
			{"net_memif0", "net_memif0,id=1", true},
			{"net_ring0", "net_ring0", true},
			{"net_memif1,id=0", "net_memif0,id=0", false},
			{"net_memif1,id=0", "net_memif10,id=0", false},
			{"net_memif10,id=0", "net_memif1", false},
	};
	char file[512];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(file, sizeof(file), text, cases[i].a, cases[i].b);
		assert_errors(file, (const char *const[]){cases[i].same ? "ports[1]" : NULL, NULL});
	}
}

#define MAC "'02:00:00:00:00:01'"

static void an_element_that_is_wrong_hides_no_error_of_another_one(void **state)
{
	(void)state;
	ASSERT_ERRORS("{" PORTS ", 'node': {'id': 'x'}, 'forwarding': {'mode': 'route', "
		      "'neighbours': [{'addr': '2001:db8::1', 'port': 'y', 'mac': " MAC "}, "
		      "{'addr': '2001:db8::2', 'port': 'a', 'mac': " MAC "}], 'routes': "
		      "[{'prefix': 'x', 'via': '2001:db8::2'}, {'prefix': '::/0', 'via': "
		      "'2001:db8::3'}, {'prefix': '2001:db8:2::/48', 'port': 'z', "
		      "'next_hop_mac': " MAC "}, {'prefix': '2001:db8:3::/48', 'via': "
		      "'2001:db8::1'}, {'prefix': '2001:db8:2::/48', 'via': '2001:db8::2'}]}, "
		      "'requests': [{'int_delete': {}}, {'route_add': {'prefix': "
		      "'2001:db8:2::/48', 'port': 'v', 'next_hop_mac': " MAC "}}]}",
			"node.id", "forwarding.routes[0].prefix", "requests[0].int_delete.ns_id",
			"forwarding.neighbours[0].port", "forwarding.routes[1].via",
			"forwarding.routes[2].port", "requests[1].route_add.port");
	ASSERT_ERRORS("{'ports': [{'name': 'a', 'iface': 'a', 'side': 'host', 'mtu': 7}, {'name': "
		      "'b', 'iface': 'b', 'side': 'host', 'profile': 'q', 'id': 1}], 'profiles': "
		      "{'p': {'method': 'int', 'version': '3.0'}}, 'export': [{'to': '7'}, {'to': "
		      "'192.0.2.1:9', 'port': 'z', 'from': '192.0.2.2', 'mac': " MAC "}], "
		      "'forwarding': {'mode': 'patch', 'pairs': [['a'], ['b', 'z']]}, "
		      "'telemetry': {'max_hops': 0, 'in_band': {'ports': [7, 'y']}}}",
			"profiles.p.version", "ports[0].mtu", "export[0].to", "forwarding.pairs[0]",
			"telemetry.max_hops", "telemetry.in_band.ports[0]", "ports[1].id",
			"ports[1].profile", "export[1].port", "forwarding.pairs[1][1]",
			"telemetry.in_band.ports[1]");
	ASSERT_ERRORS("{" PORTS ", 'forwarding': {'mode': 'bridge', 'pairs': [['a', 'b']], "
		      "'routes': [], 'neighbours': []}, 'control': {'bind': ['x', 7], 'keys': "
		      "{'secret': '/none'}}}",
			"control.bind[1]", "control.keys.allowed", "control.bind[0]",
			"forwarding.pairs", "forwarding.routes", "forwarding.neighbours");
	ASSERT_ERRORS("{" PAIR ", 'node': {'id': 256}, 'profiles': {'p': {'method': 'probe'}}, "
		      "'ports': [{'name': 'a', 'iface': 'a', 'side': 'network', 'profile': 'p', "
		      "'id': 256}, {'name': 'b', 'iface': 'b', 'side': 'network', 'profile': 'p', "
		      "'id': 257}]}",
			"node.id", "ports[0].id", "ports[1].id");
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'polling': 'busy', 'worker_scheduling': {'class': "
		      "'rr', 'nice': 1}}",
			"worker_scheduling.nice", "worker_scheduling.class");
	// What a request names may have been refused only where requests or routes are wrong.
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'nod': 1, 'requests': [{'int_delete': {'ns_id': 9}}]}",
			"nod", "requests[0].int_delete.ns_id");
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'requests': [{'int_request': {'ns_id': 9}}, "
		      "{'int_delete': {'ns_id': 9}}]}",
			"requests[0].int_request.src_ip", "requests[0].int_request.dst_ip",
			"requests[0].int_request.protocol", "requests[0].int_request.mode",
			"requests[0].int_request.mode_setting");
}

static void a_port_without_a_name_is_called_by_its_index(void **state)
{
	struct hs_errors errors;

	(void)state;
	load("{'ports': [{'side': 'host', 'queue_packets': 9}, {'name': 'a', 'iface': 'a', "
	     "'side': 'host'}, {'iface': 'b', 'side': 'host'}, {'name': 'b', 'iface': 'b', "
	     "'side': 'host'}], 'forwarding': {'mode': 'bridge'}}",
			&errors);
	assert_paths(&errors,
			(const char *const[]){"ports[0].name", "ports[0]", "ports[0].rate_bps",
					"ports[2].name", "ports[3]", NULL});
	for (unsigned i = 0; i < errors.n; i++)
		assert_null(strstr(errors.list[i].message, "\"\""));
}

static void a_wrong_value_brings_no_further_error(void **state)
{
	(void)state;
	// The name that the pair needs is of a wrong type; the pair itself may be right.
	ASSERT_ERRORS("{'ports': [{'name': 7, 'iface': 'a', 'side': 'host'}, {'name': 'b', "
		      "'iface': "
		      "'b', 'side': 'network'}], " PAIR "}",
			"ports[0].name");
	ASSERT_ERRORS("{'ports': [], " PAIR "}", "ports");
	ASSERT_ERRORS("{'ports': 7}", "ports");
	ASSERT_ERRORS("{'ports': [7, {'name': 'b', 'iface': 7, 'side': 'host'}, {'name': 'b', "
		      "'iface': '', 'driver': 'af_xdp', 'side': 'host'}]}",
			"ports[0]", "ports[1].iface", "ports[2].iface", "ports[2].name",
			"forwarding.pairs");
	ASSERT_ERRORS("{'workers': 'all', 'worker_scheduling': {'priority': 5}, " PORTS ", " PAIR
		      "}",
			"workers");
	ASSERT_ERRORS("[]", "");
	// Whether a port has the rule's method is asked when the profiles are right.
	ASSERT_ERRORS("{" PORTS ", 'profiles': {'p': {'method': 'itn'}}, 'forwarding': {'mode': "
		      "'patch', 'pairs': [['a', 'z']]}, " RULE "}",
			"profiles.p.method", "forwarding.pairs[0][1]");
	ASSERT_ERRORS("{" PORTS ", " PAIR ", 'nod': 1, " RULE "}", "nod",
			"requests[0].int_request.method");
	// The port may have the profile, and the route may go via the neighbour.
	ASSERT_ERRORS("{" PAIR ", 'profiles': {'p': 5}, 'ports': [{'name': 'a', 'iface': 'a', "
		      "'side': 'network', 'profile': 'p'}, {'name': 'b', 'iface': 'b', 'side': "
		      "'network', 'profile': 'q'}]}",
			"profiles.p", "ports[1].profile");
	ASSERT_ERRORS("{" PORTS ", 'forwarding': {'mode': 'rout', 'neighbours': 7, 'routes': "
		      "[{'prefix': '::/0', 'via': '2001:db8::1'}]}, 'memory': {'routes': 0}}",
			"memory.routes", "forwarding.mode", "forwarding.neighbours");
	ASSERT_ERRORS("{'ports': [{'name': 7, 'iface': 'a', 'side': 'host'}], 'forwarding': {"
		      "'mode': 'route', 'neighbours': [{'addr': '2001:db8::1', 'mac': 7, 'port': "
		      "'a'}, {'addr': '2001:db8::2', 'port': 'a', 'mac': '02:00:00:00:00:01'}], "
		      "'routes': [{'prefix': '::/0', 'via': '2001:db8::1'}, {'prefix': "
		      "'2001:db8:1::/48', 'via': '2001:db8::3'}]}}",
			"ports[0].name", "forwarding.neighbours[0].mac",
			"forwarding.routes[1].via");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_file_without_errors_has_none),
			cmocka_unit_test(
					errors_of_values_and_of_what_they_mean_together_come_at_once),
			cmocka_unit_test(each_element_of_a_list_has_all_its_errors),
			cmocka_unit_test(two_ports_have_no_device_of_the_same_name),
			cmocka_unit_test(an_element_that_is_wrong_hides_no_error_of_another_one),
			cmocka_unit_test(a_port_without_a_name_is_called_by_its_index),
			cmocka_unit_test(a_wrong_value_brings_no_further_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
