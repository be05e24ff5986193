// SPDX-License-Identifier: BSD-3-Clause
// Writes lines to InfluxDB 1.x, InfluxDB 2 or VictoriaMetrics. A thread of its own talks to the
// databases: name look-ups, TLS and compression take as long as they take, and the owner never
// waits for them. Between the owner and this thread is a queue of at most `queue_bytes` for each
// database. A line that finds no room there is dropped and counted.
//
// Lines made = written + dropped + waiting, for each database and at all times.
//
// Thread rule: open and close by the main thread; everything else by any thread except a worker in
// a burst. A call holds a lock for the copy of its lines only.
#pragma once

#include "influx_config.h"
#include "influx_counters.h"

#include "error.h"

#include <stddef.h>
#include <stdint.h>

struct hs_influx;

#define HS_INFLUX_ALL UINT32_MAX

// Starts the thread, and reads the files of secrets. Without databases, *influx is NULL, which
// every function here accepts. `module` is the word in lines of the log; a constant. Returns 0, or
// a negative errno with *err. The caller owns *influx.
int hs_influx_open(const struct hs_influx_list *config, const char *module,
		struct hs_influx **influx, struct hs_error *err);
// Writes what waits, for at most HS_INFLUX_FLUSH_NS, drops the rest, and ends the thread.
void hs_influx_close(struct hs_influx *influx);
#define HS_INFLUX_FLUSH_NS INT64_C(2000000000)

// Return the number of databases, and one database in the order of the configuration.
unsigned hs_influx_count(const struct hs_influx *influx);
const struct hs_influx_config *hs_influx_config(const struct hs_influx *influx, unsigned index);

// Copies n whole lines, `len` bytes, each with its newline, into the queue of one database or of
// all. If there is no room for all lines, the first ones are taken.
void hs_influx_add(struct hs_influx *influx, unsigned index, const char *lines, size_t len,
		unsigned n);

// Copies the counters of a database, or for HS_INFLUX_ALL their sum over all databases, at one
// moment: the equation above holds in the copy.
void hs_influx_counters(
		struct hs_influx *influx, unsigned index, struct hs_influx_counters *counters);
