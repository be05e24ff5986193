// SPDX-License-Identifier: BSD-3-Clause
// Reports of a node, copied off its workers' rings.
#pragma once

#include "node.h"

#include <string.h>

static inline void copy_reports(void *context, const struct hs_report_record *records, unsigned n)
{
	struct hs_report_record **to = context;

	memcpy(*to, records, n * sizeof(*records));
	*to += n;
}

// Takes up to n reports. Returns their number.
static inline unsigned take_reports(
		struct hs_node *node, struct hs_report_record *records, unsigned n)
{
	return hs_node_visit_reports(node, n, copy_reports, &records);
}
