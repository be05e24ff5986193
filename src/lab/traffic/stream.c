// SPDX-License-Identifier: BSD-3-Clause
#include "stream.h"

#include "stream_frame.h"
#include "stream_pace.h"
#include "stream_replay.h"
#include "stream_store.h"
#include "stream_window.h"

#include "ip.h"
#include "lab_array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWERED UINT64_MAX

struct hs_stream {
	const struct hs_scenario_traffic *traffic;
	struct hs_stream_macs macs;
	struct hs_stream_template templates[2]; // [1]: of replies
	struct hs_stream_counters counters;
	int status;

	// The source: one of these.
	struct hs_stream_pace pace; // pcap: only its limits
	struct hs_stream_window window;
	struct hs_stream_replay replay;
	int64_t replay_start_ns;

	// Frames that were not planned.
	struct hs_stream_queue replies; // ping: a request's number; window: a word of sent[1]
	struct hs_stream_queue extras;

	// A word for each frame that was sent. ping: the time ([0]). window: the segment ([0]); the
	// expected segment and the segment that it acknowledges (upper and lower half, [1]). pcap:
	// the hash. Other types need none, because the number determines the frame.
	struct hs_stream_log sent[2];
	struct hs_stream_trip *trips;
	size_t n_trips, trips_room;
};

// ---- creation ----

static uint8_t protocol_of(const struct hs_scenario_traffic *traffic)
{
	if (traffic->kind == HS_TRAFFIC_PING)
		return HS_IP_ICMPV6;
	return traffic->kind == HS_TRAFFIC_WINDOW ? HS_IP_TCP : traffic->protocol;
}

static int check(const struct hs_scenario_traffic *traffic, struct hs_error *err)
{
	uint32_t most = HS_STREAM_FRAME_BYTES - hs_stream_template_overhead(protocol_of(traffic));
	// Without payload, the sequence number never changes and cannot identify segments.
	uint32_t least = traffic->kind == HS_TRAFFIC_WINDOW;
	char expected[32];

	if (traffic->protocol != protocol_of(traffic))
		return hs_error_set(err, "bad_value", "protocol", "ping: icmp; window: tcp",
				"this kind of traffic has a protocol of its own");
	if (traffic->payload_bytes < least || traffic->payload_bytes > most) {
		snprintf(expected, sizeof(expected), "%u to %u", least, most);
		return hs_error_set(err, "out_of_range", "payload_bytes", expected,
				"payload_bytes is %u", traffic->payload_bytes);
	}
	if (traffic->window_packets > HS_STREAM_WINDOW_MAX)
		return hs_error_set(err, "out_of_range", "window_packets", "1 to 1048576",
				"window_packets is %u", traffic->window_packets);
	return 0;
}

static void make_templates(
		struct hs_stream *stream, const struct hs_scenario *scenario, uint16_t identifier)
{
	const struct hs_scenario_traffic *traffic = stream->traffic;
	const struct hs_scenario_host *hosts[2] = {
			&scenario->hosts[traffic->from], &scenario->hosts[traffic->to]};
	uint16_t ports[2] = {traffic->src_port, traffic->dst_port};

	bool answers = traffic->kind == HS_TRAFFIC_PING || traffic->kind == HS_TRAFFIC_WINDOW;

	for (int way = 0; way < 1 + answers; way++) {
		struct hs_stream_flow flow = {
				.protocol = traffic->protocol,
				.src_port = ports[way],
				.dst_port = ports[!way],
				.echo_reply = way == 1,
				.payload_bytes = traffic->payload_bytes,
		};
		if (traffic->protocol == HS_IP_ICMPV6)
			flow.src_port = identifier;
		if (traffic->kind == HS_TRAFFIC_WINDOW && way == 1)
			flow.payload_bytes = 0;
		memcpy(flow.src_mac, stream->macs.own[way], 6);
		memcpy(flow.dst_mac, stream->macs.next[way], 6);
		memcpy(flow.src_addr, hosts[way]->addr, 16);
		memcpy(flow.dst_addr, hosts[!way]->addr, 16);
		hs_stream_template_init(&stream->templates[way], &flow);
	}
}

static int open_file(
		struct hs_stream *stream, const struct hs_scenario *scenario, struct hs_error *err)
{
	const char *file = stream->traffic->file;
	bool alone = file[0] == '/' || scenario->folder[0] == '\0';
	char path[sizeof(scenario->folder) + sizeof(stream->traffic->file) + 1];

	snprintf(path, sizeof(path), "%s%s%s", alone ? "" : scenario->folder, alone ? "" : "/",
			file);
	int ret = hs_stream_replay_init(&stream->replay, path, err);
	if (ret)
		hs_error_prefix(err, "file");
	return ret;
}

// Each stream has its own random numbers, so that they do not change when another stream changes.
static uint64_t seed_of(uint64_t seed, uint32_t traffic)
{
	return seed ^ (UINT64_C(0x73747265616d0000) + traffic) * UINT64_C(0xd6e8feb86659fd93);
}

static int init_source(struct hs_stream *stream, const struct hs_scenario *scenario, uint64_t seed,
		int64_t start_ns, struct hs_error *err)
{
	const struct hs_scenario_traffic *traffic = stream->traffic;
	int64_t first_ns = start_ns + traffic->start_ns + traffic->opening_ns;
	int64_t stop_ns = start_ns + traffic->stop_ns;

	hs_stream_pace_init(&stream->pace, traffic, seed, first_ns, stop_ns);
	stream->replay_start_ns = first_ns;
	if (traffic->kind == HS_TRAFFIC_PCAP)
		return open_file(stream, scenario, err);
	// A word of an acknowledgement has room for two segment numbers of 32 bits.
	uint64_t segments = stream->pace.left < UINT32_MAX ? stream->pace.left : UINT32_MAX;
	if (traffic->kind == HS_TRAFFIC_WINDOW)
		return hs_stream_window_init(&stream->window,
				traffic->window_packets ? traffic->window_packets : 65535,
				traffic->window_fixed, segments, first_ns, stop_ns);
	return 0;
}

int hs_stream_create(const struct hs_scenario *scenario, uint32_t traffic, uint64_t seed,
		int64_t start_ns, const struct hs_stream_macs *macs, struct hs_stream **stream,
		struct hs_error *err)
{
	char prefix[32];
	int ret = -ENOMEM;
	struct hs_stream *made = calloc(1, sizeof(*made));
	if (!made)
		return ret;
	made->traffic = &scenario->traffic[traffic];
	made->macs = *macs;
	// The frames of a file are used unchanged. Nothing of the entry is checked or built.
	if (made->traffic->kind != HS_TRAFFIC_PCAP) {
		ret = check(made->traffic, err);
		if (ret)
			goto fail;
		make_templates(made, scenario, (uint16_t)(traffic + 1));
	}
	ret = init_source(made, scenario, seed_of(seed, traffic), start_ns, err);
	if (ret)
		goto fail;
	*stream = made;
	return 0;
fail:
	if (ret != -ENOMEM) {
		snprintf(prefix, sizeof(prefix), "traffic[%u]", traffic);
		hs_error_prefix(err, prefix);
	}
	hs_stream_destroy(made);
	return ret;
}

void hs_stream_destroy(struct hs_stream *stream)
{
	if (!stream)
		return;
	hs_stream_window_fini(&stream->window);
	hs_stream_replay_fini(&stream->replay);
	hs_stream_queue_fini(&stream->replies);
	hs_stream_queue_fini(&stream->extras);
	for (int way = 0; way < 2; way++)
		hs_stream_log_fini(&stream->sent[way]);
	free(stream->trips);
	free(stream);
}

// ---- sending ----

static int64_t replay_due_ns(const struct hs_stream *stream)
{
	const struct hs_stream_replay *replay = &stream->replay;
	int64_t due_ns;
	if (replay->ended || !stream->pace.left ||
			__builtin_add_overflow(stream->replay_start_ns, replay->offset_ns, &due_ns))
		return INT64_MAX;
	return due_ns < stream->pace.stop_ns ? due_ns : INT64_MAX;
}

static int64_t planned_ns(const struct hs_stream *stream)
{
	switch (stream->traffic->kind) {
	case HS_TRAFFIC_WINDOW:
		return hs_stream_window_due(&stream->window);
	case HS_TRAFFIC_PCAP:
		return replay_due_ns(stream);
	default:
		return stream->pace.next_ns;
	}
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t hs_stream_next_ns(const struct hs_stream *stream)
{
	if (stream->status)
		return INT64_MAX;
	return smaller(planned_ns(stream),
			smaller(hs_stream_queue_next_ns(&stream->replies),
					hs_stream_queue_next_ns(&stream->extras)));
}

// Makes the frame of this number as it was sent. Not for pcap.
static const struct hs_stream_template *frame_of(
		struct hs_stream *stream, bool reply, uint64_t number)
{
	struct hs_stream_template *template = &stream->templates[reply];
	uint32_t payload_bytes = stream->traffic->payload_bytes;
	uint64_t segment = number - 1;

	if (stream->traffic->kind == HS_TRAFFIC_WINDOW)
		segment = stream->sent[reply].words[number - 1] >> (reply ? 32 : 0);
	// The first byte of either direction has number 1, as after a handshake that began at 0.
	uint32_t byte = 1 + (uint32_t)segment * payload_bytes;
	if (template->protocol == HS_IP_ICMPV6)
		hs_stream_template_number(template, (uint32_t)number, 0);
	else if (reply)
		hs_stream_template_number(template, 1, byte);
	else
		hs_stream_template_number(template, byte, 1);
	return template;
}

static bool give(struct hs_stream *stream, bool reply, uint64_t number, const uint8_t *bytes,
		uint32_t len, struct hs_stream_frame *frame)
{
	stream->counters.sent[reply]++;
	stream->counters.bytes_sent[reply] += len;
	*frame = (struct hs_stream_frame){
			.reply = reply,
			.number = number,
			.bytes = bytes,
			.len = len,
	};
	return true;
}

static bool give_template(struct hs_stream *stream, bool reply, uint64_t number,
		struct hs_stream_frame *frame)
{
	const struct hs_stream_template *template = frame_of(stream, reply, number);
	return give(stream, reply, number, template->bytes, template->len, frame);
}

static bool remember(struct hs_stream *stream, bool reply, uint64_t word)
{
	if (!hs_stream_log_add(&stream->sent[reply], word))
		stream->status = -ENOMEM;
	return stream->status == 0;
}

static bool send_segment(
		struct hs_stream *stream, int64_t now_ns, bool extra, struct hs_stream_frame *frame)
{
	bool again = false;
	uint64_t segment = extra ? hs_stream_window_push(&stream->window, now_ns)
				 : hs_stream_window_send(&stream->window, now_ns, &again);
	stream->counters.retransmitted += again;
	return remember(stream, false, segment) &&
	       give_template(stream, false, stream->sent[0].n, frame);
}

static bool send_replayed(struct hs_stream *stream, bool extra, struct hs_stream_frame *frame)
{
	struct hs_stream_replayed *taken = extra ? hs_stream_replay_latest(&stream->replay)
						 : hs_stream_replay_take(&stream->replay);
	stream->pace.left -= !extra;
	memcpy(taken->bytes, stream->macs.next[0], 6);
	memcpy(taken->bytes + 6, stream->macs.own[0], 6);
	return remember(stream, false, hs_stream_frame_hash(taken->bytes, taken->len)) &&
	       give(stream, false, stream->sent[0].n, taken->bytes, taken->len, frame);
}

static bool send_forward(
		struct hs_stream *stream, int64_t now_ns, bool extra, struct hs_stream_frame *frame)
{
	if (stream->traffic->kind == HS_TRAFFIC_WINDOW)
		return send_segment(stream, now_ns, extra, frame);
	if (stream->traffic->kind == HS_TRAFFIC_PCAP)
		return send_replayed(stream, extra, frame);
	if (!extra)
		hs_stream_pace_step(&stream->pace);
	if (stream->traffic->kind == HS_TRAFFIC_PING && !remember(stream, false, (uint64_t)now_ns))
		return false;
	return give_template(stream, false, stream->counters.sent[0] + 1, frame);
}

static bool send_reply(struct hs_stream *stream, struct hs_stream_frame *frame)
{
	uint64_t what = hs_stream_queue_take(&stream->replies);
	if (stream->traffic->kind == HS_TRAFFIC_PING)
		return give_template(stream, true, what, frame);
	return remember(stream, true, what) &&
	       give_template(stream, true, stream->sent[1].n, frame);
}

bool hs_stream_send(struct hs_stream *stream, int64_t now_ns, struct hs_stream_frame *frame)
{
	int64_t due_ns = hs_stream_next_ns(stream);
	if (due_ns > now_ns || due_ns == INT64_MAX)
		return false;
	if (hs_stream_queue_next_ns(&stream->replies) == due_ns)
		return send_reply(stream, frame);
	bool extra = planned_ns(stream) != due_ns;
	if (extra)
		hs_stream_queue_take(&stream->extras);
	return send_forward(stream, now_ns, extra, frame);
}

void hs_stream_set_rate(struct hs_stream *stream, int64_t now_ns, double rate_pps)
{
	hs_stream_pace_set_rate(&stream->pace, now_ns, rate_pps);
}

void hs_stream_extra(struct hs_stream *stream, int64_t at_ns)
{
	if (!hs_stream_queue_add(&stream->extras, at_ns, 0))
		stream->status = -ENOMEM;
}

// ---- arrival ----

static bool is_unaltered(struct hs_stream *stream, bool reply, uint64_t number,
		const uint8_t *bytes, uint32_t len)
{
	bool ping = stream->traffic->kind == HS_TRAFFIC_PING;
	if (number == 0 || number > stream->counters.sent[reply && !ping])
		return false;
	if (stream->traffic->kind == HS_TRAFFIC_PCAP)
		return len >= HS_ETHER_BYTES &&
		       stream->sent[0].words[number - 1] == hs_stream_frame_hash(bytes, len);
	const struct hs_stream_template *template = frame_of(stream, reply, number);
	return len == template->len && hs_stream_frame_equal(template->bytes, bytes, len);
}

static void answer(struct hs_stream *stream, int64_t now_ns, uint64_t what)
{
	if (!hs_stream_queue_add(&stream->replies, now_ns + stream->traffic->reply_delay_ns, what))
		stream->status = -ENOMEM;
}

static void record_trip(struct hs_stream *stream, int64_t now_ns, uint64_t number)
{
	uint64_t *sent_ns = &stream->sent[0].words[number - 1];

	if (*sent_ns == ANSWERED)
		return; // a duplicate
	if (!HS_LAB_ROOM(stream->trips, stream->trips_room, stream->n_trips + 1)) {
		stream->status = -ENOMEM;
		return;
	}
	stream->trips[stream->n_trips++] = (struct hs_stream_trip){
			.number = number,
			.sent_ns = (int64_t)*sent_ns,
			.rtt_ns = now_ns - (int64_t)*sent_ns,
	};
	*sent_ns = ANSWERED;
}

static void take_request(struct hs_stream *stream, int64_t now_ns, uint64_t number, uint32_t len)
{
	uint64_t payload_bytes = stream->traffic->payload_bytes, segment;

	switch (stream->traffic->kind) {
	case HS_TRAFFIC_WINDOW:
		segment = stream->sent[0].words[number - 1];
		stream->counters.bytes_goodput +=
				payload_bytes * hs_stream_window_receive(&stream->window, segment);
		answer(stream, now_ns, stream->window.expected << 32 | segment);
		break;
	case HS_TRAFFIC_PCAP:
		stream->counters.bytes_goodput += len - HS_ETHER_BYTES;
		break;
	case HS_TRAFFIC_PING:
		answer(stream, now_ns, number);
		stream->counters.bytes_goodput += payload_bytes;
		break;
	default:
		stream->counters.bytes_goodput += payload_bytes;
		break;
	}
}

static void take_reply(struct hs_stream *stream, int64_t now_ns, uint64_t number)
{
	if (stream->traffic->kind == HS_TRAFFIC_PING) {
		record_trip(stream, now_ns, number);
		return;
	}
	uint64_t word = stream->sent[1].words[number - 1];
	if (stream->traffic->kind == HS_TRAFFIC_WINDOW)
		hs_stream_window_acknowledge(
				&stream->window, now_ns, word >> 32, word & UINT32_MAX);
}

void hs_stream_arrived(struct hs_stream *stream, int64_t now_ns, bool reply, uint64_t number,
		const uint8_t *bytes, uint32_t len)
{
	stream->counters.delivered[reply]++;
	stream->counters.bytes_delivered[reply] += len;
	if (!is_unaltered(stream, reply, number, bytes, len))
		stream->counters.altered++;
	else if (reply)
		take_reply(stream, now_ns, number);
	else
		take_request(stream, now_ns, number, len);
}

// ---- reading ----

void hs_stream_counters(const struct hs_stream *stream, struct hs_stream_counters *counters)
{
	*counters = stream->counters;
	counters->skipped = stream->replay.skipped;
}

const struct hs_stream_trip *hs_stream_trips(const struct hs_stream *stream, size_t *n)
{
	*n = stream->n_trips;
	return stream->trips;
}

int hs_stream_status(const struct hs_stream *stream)
{
	return stream->status;
}
