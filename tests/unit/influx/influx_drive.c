// SPDX-License-Identifier: BSD-3-Clause
// A client of databases that a script drives (tests/integration/test_influx.py). The first argument
// is {"influx": [...]}. Commands come on stdin, one on a line, and each has one line of JSON as its
// answer: `add N` adds N lines, one at a time; `counters`; `close`.
#include "influx.h"
#include "influx_text.h"

#include "log.h"
#include "os_clock.h"
#include "schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NS INT64_C(1700000000000000000)

struct drive {
	struct hs_influx_list influx;
};

static const struct hs_schema_field fields[] = {
		{"influx", HS_SCHEMA_LIST, HS_INFLUX_COLLECTOR_LIST(struct drive, influx)},
		{NULL},
};

static int refuse(const struct hs_error *err)
{
	char text[HS_ERROR_TEXT];

	fprintf(stderr, "%s\n", hs_error_text(err, text));
	return 2;
}

static void say(json_t *object)
{
	json_dumpf(object, stdout, JSON_COMPACT);
	printf("\n");
	fflush(stdout);
	json_decref(object);
}

// Says how long the slowest call took.
static void add(struct hs_influx *influx, struct hs_influx_text *text, unsigned n)
{
	static int64_t number;
	int64_t longest_ns = 0;

	for (unsigned i = 0; i < n; i++, number++) {
		hs_influx_text_clear(text);
		struct hs_influx_line *line = hs_influx_text_line(text, "drive");
		hs_influx_line_tag(line, "tag", "a, b=c");
		hs_influx_line_int(line, "value", number);
		hs_influx_line_text(line, "text", "say \"hi\\");
		hs_influx_text_end(text, FIRST_NS + number * 1000000);
		int64_t begin_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
		hs_influx_add(influx, HS_INFLUX_ALL, text->bytes, text->len, text->lines);
		int64_t took_ns = hs_os_clock_ns(CLOCK_MONOTONIC) - begin_ns;
		longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
	}
	say(json_pack("{s:I}", "longest_ns", (json_int_t)longest_ns));
}

static void counters(struct hs_influx *influx)
{
	struct hs_influx_counters of;

	hs_influx_counters(influx, HS_INFLUX_ALL, &of);
	say(hs_schema_print(hs_influx_counter_rows, &of));
}

static void drive(struct hs_influx *influx)
{
	struct hs_influx_text text = {0};
	char command[64];

	while (fgets(command, sizeof(command), stdin) && strncmp(command, "close", 5) != 0) {
		if (strncmp(command, "add ", 4) == 0)
			add(influx, &text, (unsigned)strtoul(command + 4, NULL, 10));
		else
			counters(influx);
	}
	int64_t begin_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	hs_influx_close(influx);
	say(json_pack("{s:I}", "took_ns",
			(json_int_t)(hs_os_clock_ns(CLOCK_MONOTONIC) - begin_ns)));
	hs_influx_text_fini(&text);
}

int main(int argc, char **argv)
{
	json_t *root = argc == 2 ? json_loads(argv[1], 0, NULL) : NULL;
	struct hs_error err = {0};
	struct hs_errors errors = {0};
	struct drive config = {0};
	struct hs_influx *influx;

	hs_log_setup(HS_LOG_INFO, false);
	int rc = root ? hs_schema_read(fields, root, "", &config, &err) : -1;
	json_decref(root);
	if (rc == 0)
		hs_influx_check(&config.influx, &errors);
	if (errors.n)
		return refuse(&errors.list[0]);
	if (rc < 0 || hs_influx_open(&config.influx, "influx", &influx, &err) < 0)
		return refuse(&err);
	drive(influx);
	return 0;
}
