// SPDX-License-Identifier: BSD-3-Clause
#include "int_format.h"

#include <errno.h>
#include <string.h>

// Returns the time with these low bits that is nearest to `near_ns`.
static uint64_t unwrap(uint64_t low, unsigned bits, uint64_t near_ns)
{
	if (bits == 64)
		return low;
	uint64_t span = UINT64_C(1) << bits;
	uint64_t behind = (near_ns - low) & (span - 1); // how much `low` is before near_ns

	return behind <= span / 2 ? near_ns - behind : near_ns + (span - behind);
}

// Decodes a record. `e2e` has the sink's receive time, which the sink wrote there.
static int decode(enum hs_int_version version, const uint8_t *hops, size_t hops_len,
		const uint8_t *e2e, size_t e2e_len, struct hs_decoded *out)
{
	unsigned bits = hs_int_time_bits(version);
	struct hs_int_settings settings;
	uint64_t sink_ns;

	if (e2e_len != sizeof(sink_ns))
		return -EBADMSG;
	memcpy(&sink_ns, e2e, sizeof(sink_ns));
	hs_int_settings_init(&settings, version, HS_INT_TCP_UDP);
	if (hs_int_decode(&settings, hops, hops_len, out) < 0)
		return -EBADMSG;
	out->ns_id = 0; // INT names no rule
	out->trace_type = (uint32_t)HS_E2E_TIMESTAMP << 16 | HS_HOP_TIMESTAMP;
	if (out->e2e.bitmap & HS_E2E_TIMESTAMP)
		out->e2e.ts_ns = unwrap(out->e2e.ts_ns, bits, sink_ns);
	for (unsigned i = 0; i < out->n_hops; i++)
		if (out->hops[i].bitmap & HS_HOP_TIMESTAMP)
			out->hops[i].ts_ns = unwrap(out->hops[i].ts_ns, bits, sink_ns);
	return 0;
}

#define DECODER(name, version)                                                                     \
	static int name(const uint8_t *hops, size_t hops_len, const uint8_t *e2e, size_t e2e_len,  \
			struct hs_decoded *out)                                                    \
	{                                                                                          \
		return decode(version, hops, hops_len, e2e, e2e_len, out);                         \
	}
DECODER(decode_2016, HS_INT_2016_06)
DECODER(decode_0_5, HS_INT_0_5)
DECODER(decode_1_0, HS_INT_1_0)
DECODER(decode_2_1, HS_INT_2_1)

// The stamps. The other values are in hs_decoded.locals.
static const struct hs_telemetry_field fields[] = {
		{.hop = false,
				.bit = HS_E2E_TIMESTAMP,
				.bytes = 8,
				.width = 8,
				.offset = offsetof(struct hs_e2e, ts_ns),
				.key = "ts_ns",
				.name = "Ingress timestamp of the source"},
		{.hop = true,
				.bit = HS_HOP_TIMESTAMP,
				.bytes = 8,
				.width = 8,
				.offset = offsetof(struct hs_hop, ts_ns),
				.key = "ts_ns",
				.name = "Ingress timestamp"},
};

#define FORMAT(of_version, of, how)                                                                \
	{                                                                                          \
		.name = "int-" of_version, .method = "int", .version = of_version, .number = of,   \
		.fields = fields, .n_fields = sizeof(fields) / sizeof(fields[0]),                  \
		.hop_known = HS_HOP_TIMESTAMP, .packet_bits = 32, .max_node_id = UINT32_MAX,       \
		.has_locals = true, .decode = how                                                  \
	}
const struct hs_telemetry_family hs_int_formats[HS_INT_N_VERSIONS] = {
		[HS_INT_2016_06] = FORMAT("2016-06", HS_TELEMETRY_INT_2016_06, decode_2016),
		[HS_INT_0_5] = FORMAT("0.5", HS_TELEMETRY_INT_0_5, decode_0_5),
		[HS_INT_1_0] = FORMAT("1.0", HS_TELEMETRY_INT_1_0, decode_1_0),
		[HS_INT_2_1] = FORMAT("2.1", HS_TELEMETRY_INT_2_1, decode_2_1),
};
