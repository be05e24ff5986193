// SPDX-License-Identifier: BSD-3-Clause
// Lines of the line protocol, as the reference of InfluxDB writes them.
#include "influx_line.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char buffer[512];
static struct hs_influx_line line;

static void expect(const char *wanted)
{
	size_t len = hs_influx_line_end(&line, 1556813561098000000);

	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(buffer, wanted, len);
}

static void begin(const char *measurement)
{
	hs_influx_line_begin(&line, buffer, sizeof(buffer), measurement);
}

static void tags_come_first_and_fields_say_their_type(void **state)
{
	(void)state;
	begin("hopsight_hop");
	hs_influx_line_tag(&line, "node", "a");
	hs_influx_line_tag_uint(&line, "ns_id", 4294967295);
	hs_influx_line_int(&line, "delay", -5);
	hs_influx_line_uint(&line, "packets", 7);
	hs_influx_line_real(&line, "ratio", 0.25);
	hs_influx_line_bool(&line, "stale", false);
	hs_influx_line_bool(&line, "up", true);
	hs_influx_line_text(&line, "path", "1>2");
	expect("hopsight_hop,node=a,ns_id=4294967295 delay=-5i,packets=7i,ratio=0.25,stale=false,"
	       "up=true,path=\"1>2\" 1556813561098000000\n");
}

static void a_whole_number_stays_a_real_one(void **state)
{
	(void)state;
	begin("m");
	hs_influx_line_real(&line, "a", 3);
	hs_influx_line_real(&line, "b", 1e300);
	hs_influx_line_real(&line, "c", 0.1);
	expect("m a=3,b=1.0000000000000001e+300,c=0.10000000000000001 1556813561098000000\n");
}

static void bytes_with_a_meaning_are_escaped(void **state)
{
	(void)state;
	begin("my, mea=surement");
	hs_influx_line_tag(&line, "ta g", "a,b c=d");
	hs_influx_line_text(&line, "fi=eld", "say \"a\\b\", c=d");
	expect("my\\,\\ mea=surement,ta\\ g=a\\,b\\ c\\=d fi\\=eld=\"say \\\"a\\\\b\\\", c=d\" "
	       "1556813561098000000\n");
}

static void a_line_end_never_ends_a_line(void **state)
{
	(void)state;
	begin("a\nb");
	hs_influx_line_tag(&line, "t", "c\nd");
	hs_influx_line_text(&line, "f", "e\nf");
	expect("a\\nb,t=c\\nd f=\"e\\nf\" 1556813561098000000\n");
}

static void a_backslash_escapes_nothing_by_accident(void **state)
{
	(void)state;
	begin("m");
	hs_influx_line_tag(&line, "alone", "a\\b");
	hs_influx_line_tag(&line, "end", "a\\");
	hs_influx_line_tag(&line, "comma", "a\\,b");
	hs_influx_line_tag(&line, "two", "a\\\\b");
	hs_influx_line_int(&line, "f", 1);
	expect("m,alone=a\\b,end=a/,comma=a/\\,b,two=a/\\b f=1i 1556813561098000000\n");
}

static void what_the_protocol_lacks_is_left_out(void **state)
{
	(void)state;
	begin("m");
	hs_influx_line_tag(&line, "empty", "");
	hs_influx_line_uint(&line, "most", INT64_MAX);
	hs_influx_line_uint(&line, "more", (uint64_t)INT64_MAX + 1);
	hs_influx_line_int(&line, "least", INT64_MIN);
	hs_influx_line_real(&line, "nan", NAN);
	hs_influx_line_real(&line, "infinite", -INFINITY);
	expect("m most=9223372036854775807i,least=-9223372036854775808i 1556813561098000000\n");
}

static void a_line_without_fields_is_no_line(void **state)
{
	(void)state;
	begin("m");
	hs_influx_line_tag(&line, "t", "v");
	hs_influx_line_real(&line, "nan", NAN);
	assert_int_equal(hs_influx_line_end(&line, 1), 0);
}

static void a_name_can_be_escaped_already(void **state)
{
	(void)state;
	hs_influx_line_begin_as(&line, buffer, sizeof(buffer), "queue\\,sw_id\\=4");
	hs_influx_line_real(&line, "value", 600);
	expect("queue\\,sw_id\\=4 value=600 1556813561098000000\n");
}

static void a_line_that_does_not_fit_is_left_out_whole(void **state)
{
	(void)state;
	static const char whole[] = "m,t=v f=1i,g=\"ab\" 1556813561098000000\n";

	for (size_t size = 0; size <= sizeof(whole); size++) {
		hs_influx_line_begin(&line, buffer, size, "m");
		hs_influx_line_tag(&line, "t", "v");
		hs_influx_line_int(&line, "f", 1);
		hs_influx_line_text(&line, "g", "ab");
		size_t len = hs_influx_line_end(&line, 1556813561098000000);
		assert_int_equal(len, size < sizeof(whole) - 1 ? 0 : sizeof(whole) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(tags_come_first_and_fields_say_their_type),
			cmocka_unit_test(a_whole_number_stays_a_real_one),
			cmocka_unit_test(bytes_with_a_meaning_are_escaped),
			cmocka_unit_test(a_line_end_never_ends_a_line),
			cmocka_unit_test(a_backslash_escapes_nothing_by_accident),
			cmocka_unit_test(what_the_protocol_lacks_is_left_out),
			cmocka_unit_test(a_line_without_fields_is_no_line),
			cmocka_unit_test(a_name_can_be_escaped_already),
			cmocka_unit_test(a_line_that_does_not_fit_is_left_out_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
