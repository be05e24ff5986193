// SPDX-License-Identifier: BSD-3-Clause
#include "influx_counters.h"

#define COUNTER(...) HS_SCHEMA_ROW(struct hs_influx_counters, UINT, __VA_ARGS__)
#define DROPPED(name, reason, text)                                                                \
	HS_SCHEMA_ROW_AS(struct hs_influx_counters, UINT, name, dropped[reason], text)
const struct hs_schema_field hs_influx_counter_rows[] = {
		COUNTER(made, "lines made for databases"),
		COUNTER(written, "lines that databases took"),
		DROPPED("queue_full", HS_INFLUX_QUEUE_FULL, "lines lost because a queue was full"),
		DROPPED("refused", HS_INFLUX_REFUSED,
				"lines lost because the database refused them"),
		DROPPED("shutdown", HS_INFLUX_SHUTDOWN, "lines lost because the process ended"),
		COUNTER(waiting, "lines that wait for databases"),
		COUNTER(waiting_bytes, "their bytes"),
		COUNTER(requests, "requests to databases"),
		COUNTER(failures,
				"requests that are repeated: no answer, or the database was busy"),
		COUNTER(refusals, "requests that were refused, in whole or in part"),
		{NULL},
};
