// SPDX-License-Identifier: BSD-3-Clause
// Packets of the independent encoder (in HS_GOLDEN) with each length and count wrong in each way:
// to a sink, from a host, and through transit. None comes out half stripped or with telemetry in
// it.
#include "int_json.h"
#include "int_row.h"

#include "int_fields.h"
#include "l4.h"

enum side {
	SINK,
	HOST,
	TRANSIT,
	N_SIDES
};
static const unsigned node_of[N_SIDES] = {ROW_NODES - 1, 0, 1};

// A number in a packet: its place, and which bits of one byte or two are the number.
struct number {
	const char *name;
	size_t at;
	uint16_t bits;
	bool wide;
	// What comes of it may be well formed all the same, but shorter or longer.
	bool may_agree;
};

struct attack {
	struct int_row *row;
	struct int_draft draft; // for its random numbers
	struct frame valid, plain;
	struct number numbers[16];
	size_t n_numbers;
	struct frame sent[ROW_BATCH];
	const struct number *of[ROW_BATCH];
	unsigned n;
	uint64_t n_sent, n_arrived;
	uint64_t n_bad, n_dropped[N_SIDES]; // of the row
};

static const char *case_name, *number_name; // the ones under test, for who reads a failure

static int show_case(void **state)
{
	(void)state;
	if (case_name)
		print_error("in the case: %s, %s\n", case_name, number_name);
	return 0;
}

// ---- numbers ----

static void add(struct attack *a, struct number number)
{
	a->numbers[a->n_numbers++] = number;
}

static void add_of_int(struct attack *a, const struct hs_packet *packet)
{
	unsigned version = a->row->settings.version;
	bool geneve = a->row->settings.carrier == HS_INT_GENEVE, counts = version <= HS_INT_0_5;
	size_t head = packet->trace_off, shim = packet->e2e_off;
	size_t length = geneve ? 3 : version == HS_INT_2_1 ? 1 : 2;

	add(a, (struct number){"length of the shim or option", shim + length, geneve ? 31 : 255,
			       .may_agree = !counts});
	add(a, (struct number){"version of INT", head, 0xf0});
	add(a, (struct number){"words of a hop", head + (counts ? 1 : 2), 31, .may_agree = true});
	add(a, (struct number){"greatest or remaining hops", head + (counts ? 2 : 3), 255,
			       .may_agree = true});
	if (counts)
		add(a, (struct number){"total hops", head + 3, 255});
	if (version == HS_INT_0_5 && a->row->settings.carrier == HS_INT_TCP_UDP)
		add(a, (struct number){"tail", shim + 4u * a->valid.bytes[shim + 2] - 4u, 255});
}

static void find_numbers(struct attack *a)
{
	struct hs_packet packet;
	struct hs_l4 l4;

	a->n_numbers = 0;
	int_parse(&a->row->settings, &a->valid, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	assert_true(hs_l4_find(a->valid.bytes, &packet, &l4));
	if (packet.flags & HS_PACKET_IPV4) {
		// The shortest is that of other packets, whose checksum no node looks at.
		add(a, (struct number){"length of the IPv4 header", packet.l3_off, 15,
				       .may_agree = l4.off - packet.l3_off > 20});
		add(a, (struct number){"length of IPv4", packet.l3_off + 2u, 0xffff, true});
	} else {
		add(a, (struct number){"length of IPv6", packet.l3_off + 4u, 0xffff, true});
	}
	if (l4.proto == 17)
		add(a, (struct number){"length of UDP", l4.off + 4u, 0xffff, true});
	if (l4.proto == 6)
		add(a, (struct number){"length of the TCP header", l4.off + 12u, 0xf0,
				       .may_agree = true});
	if (a->row->settings.carrier == HS_INT_GENEVE)
		add(a, (struct number){"length of Geneve's options", l4.off + 8u, 63});
	add_of_int(a, &packet);
}

// ---- packets ----

// A host's packet that merely carries the mark of a DSCP goes on without that.
static size_t length_of_host(const struct attack *a, unsigned i, enum side side)
{
	const struct hs_int_settings *settings = &a->row->settings;
	bool by_dscp = settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP;
	struct hs_packet packet;

	int_parse(settings, &a->sent[i], &packet);
	if (side == HOST && by_dscp && !(packet.flags & HS_PACKET_TELEMETRY))
		return a->sent[i].len;
	return a->plain.len;
}

static void check_at_host(struct attack *a, unsigned i, enum side side)
{
	const struct frame *out = &a->row->frames[i];

	if (!a->row->alive[i]) {
		a->n_dropped[side]++;
		return;
	}
	assert_false(oracle_claims(&a->row->settings, out->bytes, out->len));
	a->n_arrived++;
	if (!a->of[i]->may_agree)
		assert_int_equal(out->len, length_of_host(a, i, side));
}

static void check_in_transit(struct attack *a, unsigned i)
{
	struct frame *out = &a->row->frames[i], *in = &a->sent[i];
	struct hs_packet packet;

	assert_true(a->row->alive[i]);
	int_parse(&a->row->settings, in, &packet);
	int growth = hs_int_transit_growth(&a->row->settings, in->bytes, &packet);
	a->n_bad += packet.flags & HS_PACKET_TELEMETRY
				    ? growth == HS_INT_RESERVED || growth == HS_INT_MISMATCH
				    : !!(packet.flags & HS_PACKET_ANY_TELEMETRY);
	int_strip(&a->row->settings, in);
	int_strip(&a->row->settings, out);
	frame_assert_equal(out, in);
}

static void strike(struct attack *a, enum side side)
{
	for (unsigned i = 0; i < ROW_BATCH; i++) {
		a->row->alive[i] = i < a->n;
		if (i < a->n)
			a->row->frames[i] = frame_of(a->sent[i].bytes, a->sent[i].len);
	}
	int_row_step(a->row, node_of[side]);
	for (unsigned i = 0; i < a->n; i++) {
		number_name = a->of[i]->name;
		if (side == TRANSIT)
			check_in_transit(a, i);
		else
			check_at_host(a, i, side);
		if (a->row->alive[i])
			frame_free(&a->row->frames[i]);
	}
}

static void strike_all(struct attack *a)
{
	for (enum side side = 0; side < N_SIDES; side++)
		strike(a, side);
	for (unsigned i = 0; i < a->n; i++)
		frame_free(&a->sent[i]);
	a->n_sent += a->n;
	a->n = 0;
}

static void send_with(struct attack *a, const struct number *number, unsigned value)
{
	struct frame frame = frame_of(a->valid.bytes, a->valid.len);
	uint8_t *at = frame.bytes + number->at;
	unsigned shift = (unsigned)__builtin_ctz(number->bits);

	frame.bytes[0] = (uint8_t)a->n;
	value = value << shift & number->bits;
	if (number->wide)
		*at++ = (uint8_t)(value >> 8);
	*at = (uint8_t)((*at & ~number->bits) | (value & 255));
	a->of[a->n] = number;
	a->sent[a->n++] = frame;
	if (a->n == ROW_BATCH)
		strike_all(a);
}

static void send_all_of(struct attack *a, const struct number *number)
{
	const uint8_t *at = a->valid.bytes + number->at;
	unsigned most = number->bits >> __builtin_ctz(number->bits);
	unsigned is = ((number->wide ? (unsigned)at[0] << 8 | at[1] : at[0]) & number->bits) >>
		      __builtin_ctz(number->bits);

	for (unsigned value = 0; value <= most; value++) {
		bool is_near = value + 24 >= is && value <= is + 24;
		bool is_edge = value <= 32 || value + 3 >= most || !(value & (value - 1));
		bool once = value != is || number == a->numbers; // the packet as it is, too
		if (once && (most < 64 || is_near || is_edge))
			send_with(a, number, value);
	}
}

// ---- cases ----

static struct hs_port_counters counters_of(struct attack *a, enum side side)
{
	struct hs_port_counters counters;

	hs_node_port_counters(a->row->nodes[1][node_of[side]].node, 0, &counters);
	return counters;
}

static void close_row(struct attack *a)
{
	struct hs_port_counters sink = counters_of(a, SINK), host = counters_of(a, HOST);
	struct hs_port_counters transit = counters_of(a, TRANSIT);

	assert_true(a->n_dropped[SINK]);
	assert_int_equal(sink.drops[HS_DROP_UNSTRIPPABLE] + sink.drops[HS_DROP_DISCARDED],
			a->n_dropped[SINK]);
	assert_int_equal(host.drops[HS_DROP_HOST_TELEMETRY], a->n_dropped[HOST]);
	assert_int_equal(transit.events[HS_EVENT_BAD_TELEMETRY], a->n_bad);
	int_row_close(a->row);
}

static void open_row(struct attack *a, const struct hs_int_settings *settings, unsigned n)
{
	if (a->row && !memcmp(&a->row->settings, settings, sizeof(*settings)))
		return;
	if (a->row)
		close_row(a);
	a->n_bad = a->n_dropped[SINK] = a->n_dropped[HOST] = 0;
	a->row = int_row_open(settings, 1500, n % 2 ? HS_HOST_STRIP : HS_HOST_DROP, n);
}

static void attack_with(struct attack *a, const json_t *object, unsigned n)
{
	struct hs_int_settings settings = int_json_settings(json_object_get(object, "settings"));
	json_t *hops = json_object_get(object, "hops");
	size_t n_hops = json_array_size(hops);

	case_name = json_string_value(json_object_get(object, "name"));
	open_row(a, &settings, n);
	a->plain = int_json_frame(object, "plain");
	a->valid = n_hops ? int_json_frame(json_array_get(hops, n_hops - 1), "frame")
			  : int_json_frame(object, "source");
	find_numbers(a);
	for (size_t i = 0; i < a->n_numbers; i++)
		send_all_of(a, &a->numbers[i]);
	strike_all(a);
	frame_free(&a->plain);
	frame_free(&a->valid);
}

static void no_wrong_number_brings_telemetry_to_a_host(void **state)
{
	static struct attack a;
	json_t *vectors = int_json_load(HS_GOLDEN "/vectors.json"), *object;
	size_t i;
	(void)state;

	json_array_foreach (vectors, i, object)
		attack_with(&a, object, (unsigned)i);
	close_row(&a);
	assert_true(a.n_sent > 100000 && a.n_arrived > 10000);
	case_name = NULL;
	json_decref(vectors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_teardown(
					no_wrong_number_brings_telemetry_to_a_host, show_case),
	};
	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
