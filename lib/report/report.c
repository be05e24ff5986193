// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <errno.h>

int hs_report_decode(const struct hs_report_record *record,
		const struct hs_telemetry_family *family, struct hs_report *report)
{
	size_t trace_len = record->trace_len;
	size_t e2e_len = record->e2e_len;
	if (!family || trace_len + e2e_len > sizeof(record->data))
		return -EBADMSG;
	report->sink_ts_ns = record->sink_ts_ns;
	report->sink_rx_packets = record->sink_rx_packets;
	report->sink_rx_bytes = record->sink_rx_bytes;
	report->telemetry.family = family;
	return family->decode(record->data, trace_len, record->data + trace_len, e2e_len,
			&report->telemetry);
}
