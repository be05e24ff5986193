// SPDX-License-Identifier: BSD-3-Clause
// Writes a log line: RFC 3339 UTC time with microseconds, level, module, message. The line goes to
// stderr as text or as a JSON object. Repeated lines are limited, and the number of suppressed
// lines is reported.
//
// Thread rule: any thread except a worker in a burst.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum hs_log_level {
	HS_LOG_ERROR,
	HS_LOG_WARNING,
	HS_LOG_NOTICE,
	HS_LOG_INFO,
	HS_LOG_DEBUG,
};

void hs_log_setup(enum hs_log_level level, bool json);
void hs_log(enum hs_log_level level, const char *module, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

// Does the same at a given time (nanoseconds since the Unix epoch), for tests of the stamp and the
// limit.
void hs_log_at(int64_t now_ns, enum hs_log_level level, const char *module, const char *format, ...)
		__attribute__((format(printf, 4, 5)));
