// SPDX-License-Identifier: BSD-3-Clause
// Writes telemetry reports into a datagram's payload.
//
// Thread rule: owner of the writer. Nothing allocates.
#pragma once

#include "int_report.h"

#include <stddef.h>
#include <stdint.h>

struct hs_int_report_writer {
	enum hs_int_report_version version;
	uint8_t *bytes; // the payload
	size_t room;
	size_t len;	  // written so far
	uint32_t node_id; // of all reports of the datagram
	uint8_t hw_id;
	bool full; // takes no further report
};

// Begins a datagram in to[0, room).
static inline void hs_int_report_begin(struct hs_int_report_writer *w,
		enum hs_int_report_version version, uint8_t *to, size_t room)
{
	*w = (struct hs_int_report_writer){.version = version, .bytes = to, .room = room};
}

// Adds a report, and as much of packet[0, packet_bytes) as there is room for. A datagram of 0.5 or
// 1.0 takes one report. A datagram of 2.0 takes several reports of one node_id and hw_id, and has
// the sequence number of the first. 2.0 pads the copy of a packet with zeros to four bytes. 0.5
// needs the ingress time, and with any other value also a node_id. 1.0 needs both, and 2.0 needs a
// node_id. 0.5 writes all ones for a missing value of its drop or local header. Returns 0, -ENOSPC:
// the report does not fit into this datagram, or -EINVAL: the version cannot write the report,
// because a needed value is missing, or the kind of packet or the reporter is another. After an
// error, nothing is written.
int hs_int_report_add(struct hs_int_report_writer *w, const struct hs_int_report *report,
		const uint8_t *packet, size_t packet_bytes);

// Returns the bytes of a datagram with this report alone and nothing of a packet.
size_t hs_int_report_bytes(enum hs_int_report_version version, const struct hs_int_report *report);
