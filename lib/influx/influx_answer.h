// SPDX-License-Identifier: BSD-3-Clause
// What an answer of a database means for the batch that it answers.
//
// Source: InfluxDB 1.8 and 2.7, write API; InfluxDB 1.6, tsdb.PartialWriteError.
// Thread rule: any; values.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define INFLUX_WORDS_BYTES 256

struct influx_answer {
	long status;	   // 0: no answer came, and `body` says why
	const char *error; // the header X-Influxdb-Error, or ""
	const char *body;  // the beginning of the body, or ""
	int64_t retry_ns;  // Retry-After, 0: none
};

enum influx_fate {
	INFLUX_WRITTEN,	    // all lines but `dropped`
	INFLUX_UNREACHABLE, // no answer: the batch is sent again
	INFLUX_BUSY,	    // the server cannot now: the batch is sent again
	INFLUX_REFUSED,	    // sending it again would not help
};

struct influx_verdict {
	enum influx_fate fate;
	unsigned dropped;		// of a batch that was written in part
	char words[INFLUX_WORDS_BYTES]; // "HTTP 404: database not found: \"x\"", clean; "" if fine
};

// Judges an answer to a batch of `lines` lines.
struct influx_verdict influx_judge(const struct influx_answer *answer, unsigned lines);
