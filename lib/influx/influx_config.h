// SPDX-License-Identifier: BSD-3-Clause
// "influx" in the configurations of nodes, controllers and collectors: databases that lines are
// written to.
//
// Thread rule: any; values.
#pragma once

#include "error.h"
#include "schema.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_INFLUX_MAX	     4
#define HS_INFLUX_TEXT_BYTES 256

// The form of the lines of collectors.
enum hs_influx_lines {
	HS_INFLUX_LINES_HOPSIGHT,     // tags and fields
	HS_INFLUX_LINES_INTCOLLECTOR, // the names of INTCollector, one line a value
};

struct hs_influx_config {
	char url[HS_INFLUX_TEXT_BYTES];	     // "http://127.0.0.1:8086"
	char database[HS_INFLUX_TEXT_BYTES]; // InfluxDB 1.x and VictoriaMetrics
	char user[HS_INFLUX_TEXT_BYTES];
	char password_file[HS_INFLUX_TEXT_BYTES];
	char org[HS_INFLUX_TEXT_BYTES]; // InfluxDB 2
	char bucket[HS_INFLUX_TEXT_BYTES];
	char token_file[HS_INFLUX_TEXT_BYTES];
	char ca_file[HS_INFLUX_TEXT_BYTES]; // "": the system's
	uint32_t queue_bytes;
	int64_t interval_ns; // between two lines of the same counters; 0: no counters
	uint8_t lines;	     // enum hs_influx_lines; collectors only
	bool flow_tags;	     // a flow's addresses are tags, not fields; collectors only
};

struct hs_influx_list {
	unsigned n;
	struct hs_influx_config of[HS_INFLUX_MAX];
};

// The rest of a row {"influx", HS_SCHEMA_LIST, HS_INFLUX_LIST(struct hs_config, influx)}.
#define HS_INFLUX_LIST(type, member) HS_INFLUX_LIST_OF(type, member, hs_influx_rows)
// The rest of such a row with the keys of collectors.
#define HS_INFLUX_COLLECTOR_LIST(type, member)                                                     \
	HS_INFLUX_LIST_OF(type, member, hs_influx_collector_rows)
#define HS_INFLUX_LIST_OF(type, member, rows)                                                      \
	HS_SCHEMA_MEMBER(type, member.of), .max = HS_INFLUX_MAX,                                   \
					   .expected = "a list of databases", .optional = true,    \
					   .list = &(const struct hs_schema_list)                  \
	{                                                                                          \
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = rows},                                \
		HS_SCHEMA_ITEMS(type, member.of), HS_SCHEMA_COUNT(type, member.n),                 \
		.noun = "databases", .fresh = &hs_influx_fresh                                     \
	}
extern const struct hs_schema_field hs_influx_rows[], hs_influx_collector_rows[];
extern const struct hs_influx_config hs_influx_fresh; // the values of keys that are left out

// Checks what the rows cannot check: keys that exclude or need each other, files of secrets. Paths
// of errors begin with "influx[0]". A database that has errors already is left out.
void hs_influx_check(const struct hs_influx_list *list, struct hs_errors *errors);
