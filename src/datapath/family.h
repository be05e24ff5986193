// SPDX-License-Identifier: BSD-3-Clause
// A family of telemetry formats, as the data path knows it: its steps over a burst, over a run of
// packets that leave by one port, and over one packet. Each family has a folder. The code that all
// families share is in this folder.
//
// Thread rule: constant; the functions by the owner lcore.
#pragma once

#include "telemetry_model.h"
#include "worker.h"

// Takes the packets [first, end), which all leave by `out`, to that port's transmit queue.
typedef void (*hs_run_fn)(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);

struct hs_family {
	const struct hs_telemetry_family *format; // decodes what the family's sink copied out
	bool in_ipv4;				  // its telemetry may be in IPv4 packets, too
	bool names_rules;			  // its telemetry has the namespace of a rule
	// Parses a burst's headers and telemetry, and looks up rules: an instance of
	// hs_classify_as, or hs_classify_general for a family without a fast parser.
	void (*classify)(struct hs_worker *worker, struct hs_burst *burst);
	// Parses one packet's headers and telemetry, by a profile of the family.
	void (*parse)(const struct hs_profile *profile, const uint8_t *frame, size_t len,
			size_t frame_len, struct hs_packet *packet);

	// Returns the DSCP of the packet without telemetry. NULL: telemetry leaves the DSCP as it
	// is.
	uint8_t (*dscp)(const struct hs_profile *profile, const uint8_t *frame,
			const struct hs_packet *packet);

	// Returns by how many bytes a packet grows at most on its path, if all nodes that may add
	// values do what a rule with this trace type asks for. 0: such a rule adds nothing here.
	// NULL: 0 for every rule.
	uint16_t (*path_bytes)(const struct hs_profile *profile, uint32_t trace_type);
	uint32_t every_field; // the trace type of a rule that asks for all that the family has

	// ---- the fast path ----

	// Instances of the skeleton (skeleton.h) with the family's steps inlined. NULL: the steps
	// below are called for each packet.
	hs_run_fn fast_source, fast_transit, fast_sink;

	// Returns whether a run to `out` needs the family's steps though no packet of the run has
	// telemetry or a rule. A family with this function needs no rule, and its fast_source,
	// fast_transit and fast_sink are the general path, too. NULL: the family needs rules.
	bool (*is_due)(const struct hs_worker *worker, const struct hs_burst *burst,
			const struct hs_port *out);

	// Joins fragments before the sink or the strip, where telemetry ends. Takes the packets
	// that must wait out of [first, end), which leave by `out`, and puts each packet that
	// became whole into its place. Returns the new end of the packets. `out` of a packet that
	// is flooded is the port that it came by. The function is called for packets of which some
	// is a fragment. NULL: nothing waits.
	unsigned (*join)(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
			unsigned end, const struct hs_port *out);

	// Looks at a run before its steps, on the general path. NULL: nothing to do.
	void (*watch)(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
			unsigned end, struct hs_port *out);

	// ---- one packet, counted already ----

	// Inserts telemetry into a packet that is due, as hs_flow_due said.
	void (*source)(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
			struct hs_port *out);
	// Adds values to the packet's telemetry.
	void (*transit)(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
			struct hs_port *out);
	// Reports the packet's telemetry and takes it out. Returns false if the telemetry could not
	// be taken out: the packet must not reach a host.
	bool (*sink)(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
	// Takes telemetry out without a report, of a packet that a host sent or of one that is
	// flooded (then it is `ours`). Returns what `sink` returns.
	bool (*strip)(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours);
};

static inline uint16_t hs_profile_path_bytes(const struct hs_profile *profile, uint32_t trace_type)
{
	const struct hs_family *family = profile->family;

	return family->path_bytes ? family->path_bytes(profile, trace_type) : 0;
}
