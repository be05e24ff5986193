// SPDX-License-Identifier: BSD-3-Clause
// A page of metrics as text, in the two formats that Prometheus reads. Series may be added in any
// order: each family has one heading, and its series stand together under it.
//
// Sources: Prometheus, Exposition formats (text format 0.0.4); OpenMetrics 1.0.0.
// Thread rule: owner. Nothing here reads a clock or uses a socket.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_PROMETHEUS_SERIES	 10000 // the default of a page
#define HS_PROMETHEUS_MAX_LABELS 8

enum hs_prometheus_type {
	HS_PROMETHEUS_COUNTER, // the name ends in "_total"
	HS_PROMETHEUS_GAUGE,
	HS_PROMETHEUS_INFO, // the name ends in "_info", the value is 1, the labels have the
			    // information
	HS_PROMETHEUS_SUMMARY,
	HS_PROMETHEUS_HISTOGRAM,
};

// A family of series. The strings must live until the page ends; the struct need not.
struct hs_prometheus_family {
	const char *name; // "hopsight_port_rx_bytes_total"
	const char *help;
	const char *unit; // "bytes"; NULL or "": none. Shown only if the name has it, too
	enum hs_prometheus_type type;
};

// A label without a value (NULL) is left out. Values may be any text.
struct hs_prometheus_label {
	const char *name, *value;
};

// The labels of one series: HS_PROMETHEUS_LABELS({"port", name}, {"reason", reason}).
struct hs_prometheus_labels {
	unsigned n; // at most HS_PROMETHEUS_MAX_LABELS
	struct hs_prometheus_label of[HS_PROMETHEUS_MAX_LABELS];
};
#define HS_PROMETHEUS_LABELS(...)                                                                  \
	(&(const struct hs_prometheus_labels){                                                     \
			sizeof((struct hs_prometheus_label[]){__VA_ARGS__}) /                      \
					sizeof(struct hs_prometheus_label),                        \
			{__VA_ARGS__}})

struct hs_prometheus_config {
	bool openmetrics;
	uint32_t max_series; // lines with a value; 0: HS_PROMETHEUS_SERIES
	// Counts the series that had no place. The page shows this count as a metric. NULL: there
	// is no such count.
	uint64_t *capped;
};

struct hs_prometheus;

// Begins a page. Returns NULL if memory is out. All functions below accept NULL for the page.
struct hs_prometheus *hs_prometheus_begin(const struct hs_prometheus_config *config);

// Each of these functions adds one series; labels may be NULL. A series must not be added twice.
void hs_prometheus_uint(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, uint64_t value);
void hs_prometheus_int(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, int64_t value);
// Adds nanoseconds as seconds with all digits.
void hs_prometheus_ns(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, int64_t value_ns);
void hs_prometheus_real(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels, double value);

// A histogram of nanoseconds since some start, shown in seconds. Its labels leave room for "le".
struct hs_prometheus_histogram {
	unsigned n;		  // bounds
	const int64_t *bounds_ns; // ascending
	const uint64_t *counts; // n + 1: values at or below each bound and above the one before it,
				// and those above all
	int64_t sum_ns;
	int64_t created_ns; // since 1970; 0: not shown
};
void hs_prometheus_histogram(struct hs_prometheus *page, const struct hs_prometheus_family *family,
		const struct hs_prometheus_labels *labels,
		const struct hs_prometheus_histogram *histogram);

// Returns how many series still have a place. A caller that has more series need not add the
// others: it counts them with hs_prometheus_leave_out.
uint32_t hs_prometheus_room(const struct hs_prometheus *page);
void hs_prometheus_leave_out(struct hs_prometheus *page, uint64_t series);

// Ends the page and frees it. Returns its text, which the caller frees, and *len without the
// terminator. Returns NULL if memory is out.
char *hs_prometheus_end(struct hs_prometheus *page, size_t *len);

// ---- which format ----

// Returns whether an Accept header (NULL: there is none) asks for OpenMetrics rather than for text.
bool hs_prometheus_wants_openmetrics(const char *accept);
const char *hs_prometheus_content_type(bool openmetrics);
