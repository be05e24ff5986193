// SPDX-License-Identifier: BSD-3-Clause
// What the sessions of a monitoring host came to, by what the host sent and got, and by which links
// and nodes were up. No counter of a node contributes.
//
// Source: 002_e7f573228cf2597b.txt section V.
// Thread rule: owner.
#pragma once

#include <stdint.h>

struct hs_probing_counts {
	uint64_t paths; // of the plan
	uint64_t sessions, sessions_failed;
	uint64_t probes_sent, probes_lost; // lost: that did not come back from the end in time
	uint64_t recovery_probes;	   // of those sent: over the rest of a path again
	uint64_t check_probes;		   // of those sent: over one suspect link
	uint64_t recovery_packets;	   // that came: copies with DSCP 0x21
	uint64_t probes_lost_on_links;	   // by links, of packets with DSCP 0x17
	uint64_t switches;
	uint64_t switches_covered;		     // in the session that covered the fewest
	uint64_t unavailable_links, congested_links; // that the host named, of all sessions
	uint64_t false_unavailable;		     // links and nodes that were up, and were named
	uint64_t missed_unavailable;   // links of paths that were dead throughout, and were not
	uint64_t values, wrong_values; // hops whose values were compared; that differ
	uint64_t switches_overloaded;  // to which more packets came than they serve (rate_of node)
	uint64_t max_probe_bytes;      // of an IP packet at the host
	int64_t elapsed_sum_ns, elapsed_max_ns;
	uint32_t min_hops, max_hops; // of paths
	double mean_hops;
	double busiest_pps; // packets of all kinds that came to a switch, at most
};
