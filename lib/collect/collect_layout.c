// SPDX-License-Identifier: BSD-3-Clause
#include "collect_layout.h"

#include "int_fields.h"

// Returns the bytes of the value of a bitmap's bit.
static unsigned bytes_of(enum hs_int_version version, unsigned bit, bool narrow)
{
	if (narrow && bit == 6)
		return 4;
	return 4 * hs_int_hop_words(version, (uint16_t)(0x8000 >> bit));
}

static void place(struct hs_collect_layout *layout, enum hs_int_version version, unsigned bit,
		uint8_t at)
{
	bool is_2016 = version == HS_INT_2016_06;

	if (bit == 0)
		layout->node = at;
	else if (bit == 1 && !is_2016)
		layout->port = (uint8_t)(at + 2);
	else if (bit == 2)
		layout->latency = at;
	else if (bit == 3)
		layout->queue = at;
	else if (bit == 4)
		layout->ingress = at;
	else if (bit == 5 && is_2016)
		layout->port = at;
	else if (bit == 5)
		layout->egress = at;
	else if (bit == 6 && version <= HS_INT_0_5)
		layout->congestion = at;
	else if (bit == 7)
		layout->utilisation = at;
}

static void make_layout(struct hs_collect_layout *layout, enum hs_int_version version,
		unsigned byte, bool narrow)
{
	unsigned at = 0;

	memset(layout, HS_COLLECT_NOT_THERE, sizeof(*layout));
	for (unsigned bit = 0; bit < 8; bit++) {
		if (!(byte & 0x80 >> bit))
			continue;
		place(layout, version, bit, (uint8_t)at);
		at += bytes_of(version, bit, narrow);
	}
	layout->words = (uint8_t)(at / 4);
	bool derived = layout->latency == HS_COLLECT_NOT_THERE &&
		       layout->ingress != HS_COLLECT_NOT_THERE &&
		       layout->egress != HS_COLLECT_NOT_THERE;
	layout->fast = version != HS_INT_2016_06 && layout->node != HS_COLLECT_NOT_THERE &&
		       layout->congestion == HS_COLLECT_NOT_THERE && !derived;
	layout->form = HS_COLLECT_LAYOUT_ANY;
}

void hs_collect_dialect_init(struct hs_collect_dialect *dialect,
		const struct hs_int_settings *packet, bool lenient)
{
	bool is_2016 = packet->version == HS_INT_2016_06;

	*dialect = (struct hs_collect_dialect){.taken = true,
			.fast = !lenient && !is_2016 && packet->carrier == HS_INT_TCP_UDP &&
				packet->mark == HS_INT_MARK_DSCP && packet->mode != HS_INT_XD,
			.lenient = lenient,
			.wide_times = packet->version == HS_INT_2_1,
			.wide_ports = is_2016,
			.queue_bits = is_2016	? 32
				      : lenient ? 16
						: 24,
			.mask = is_2016 ? 0x7fffffff : UINT32_MAX,
			.packet = *packet};
	for (unsigned byte = 0; byte < 256; byte++) {
		make_layout(&dialect->layouts[0][byte], packet->version, byte, false);
		if (lenient)
			make_layout(&dialect->layouts[1][byte], packet->version, byte, true);
	}
	if (dialect->layouts[0][0x80].fast)
		dialect->layouts[0][0x80].form = HS_COLLECT_LAYOUT_NODES;
	if (!lenient && packet->version == HS_INT_1_0)
		dialect->layouts[0][0xff].form = HS_COLLECT_LAYOUT_1_0;
	if (!lenient && packet->version == HS_INT_2_1)
		dialect->layouts[0][0xff].form = HS_COLLECT_LAYOUT_2_1;
}
