// SPDX-License-Identifier: BSD-3-Clause
// What became of the lines for a database.
//
// Thread rule: any; values.
#pragma once

#include "schema_table.h"

#include <stdint.h>

// Why lines were dropped.
enum hs_influx_drop {
	HS_INFLUX_QUEUE_FULL, // the queue had no room
	HS_INFLUX_REFUSED,    // the database does not take them
	HS_INFLUX_SHUTDOWN,   // no time was left to write them
	HS_INFLUX_DROPS,
};

struct hs_influx_counters {
	uint64_t made, written, waiting;
	uint64_t dropped[HS_INFLUX_DROPS];
	uint64_t waiting_bytes;
	uint64_t requests; // that were answered, or failed
	uint64_t failures; // of these: no answer, or the database was busy; they are repeated
	uint64_t refusals; // of these: answered with an error that repeating does not mend
};

// Rows that print the counters.
extern const struct hs_schema_field hs_influx_counter_rows[];
