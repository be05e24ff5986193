// SPDX-License-Identifier: BSD-3-Clause
// What one raw report of four hops costs as JSON. Prints one line.
#include "flexint.h"
#include "report_json.h"

#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(void)
{
	enum {
		N = 200000
	};
	static char text[HS_REPORT_TEXT_BYTES];
	const struct hs_report_origin origin = {1, 9, "01234567-89ab-cdef"};
	struct hs_report report = {.sink_ts_ns = 1700000000000000000};
	report.telemetry.e2e = (struct hs_e2e){0x7000, 0, 1700000000000000000, 1, 562};
	report.telemetry.n_hops = 4;
	for (unsigned i = 0; i < 4; i++)
		report.telemetry.hops[i] = (struct hs_hop){(uint16_t)(4 - i), 0xE000, 40000, 40000,
				1700000000000000000, 1000000000, 1000000000};
	double start = now();
	for (unsigned i = 0; i < N; i++)
		hs_report_text(&report, 1, 9, &origin, text, sizeof(text));
	double direct = (now() - start) / N;
	printf("%.0f ns a report\n", direct);
	return 0;
}
