// SPDX-License-Identifier: BSD-3-Clause
#include "stream.h"

#include "array.h"
#include "ip.h"

#include <rte_common.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWERED UINT64_MAX

// A reply that the far host sends at at_ns. For ping, `what` is the request's number. For window,
// its upper half is the expected segment, and its lower half is the segment that the reply
// acknowledges.
struct hs_stream_reply {
	int64_t at_ns;
	uint64_t what;
};

// ---- creation ----

static int open_file(
		struct hs_stream *stream, const struct hs_scenario *scenario, struct hs_error *err)
{
	char path[HS_SCENARIO_PATH], prefix[32];
	const char *file = hs_scenario_path(scenario, stream->traffic->file, path);
	int ret = hs_stream_replay_init(&stream->replay, file, err);
	snprintf(prefix, sizeof(prefix), "traffic[%u].file", stream->traffic->entry);
	if (ret)
		hs_error_prefix(err, prefix);
	stream->counters.skipped = stream->replay.skipped;
	return ret;
}

// Returns the seed of a stream. Each stream has its own random numbers, which do not change when
// another stream changes.
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

	stream->extra_ns = HS_STREAM_NEVER_NS;
	hs_stream_pace_init(&stream->pace, traffic, seed, first_ns, stop_ns);
	if (traffic->kind == HS_TRAFFIC_PCAP)
		return open_file(stream, scenario, err);
	if (traffic->kind != HS_TRAFFIC_WINDOW)
		return 0;
	// A word of an acknowledgement has room for two segment numbers of 32 bits.
	uint64_t segments = stream->pace.left < UINT32_MAX ? stream->pace.left : UINT32_MAX;
	return hs_stream_window_init(&stream->window,
			traffic->window_packets ? traffic->window_packets : 65535,
			traffic->window_fixed, segments, first_ns, stop_ns);
}

int hs_stream_create(const struct hs_scenario *scenario, uint32_t traffic, uint64_t seed,
		int64_t start_ns, const struct hs_stream_macs *macs, struct hs_stream **stream,
		struct hs_error *err)
{
	struct hs_stream *made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->traffic = &scenario->traffic[traffic];
	made->macs = *macs;
	for (int direction = 0; direction < 2 && made->traffic->kind != HS_TRAFFIC_PCAP;
			direction++)
		hs_stream_template_init(&made->templates[direction], scenario, traffic, macs,
				direction == 1);
	int ret = init_source(made, scenario, seed_of(seed, traffic), start_ns, err);
	if (ret == 0)
		*stream = made;
	else
		hs_stream_destroy(made);
	return ret;
}

void hs_stream_destroy(struct hs_stream *stream)
{
	if (!stream)
		return;
	hs_stream_window_fini(&stream->window);
	hs_stream_replay_fini(&stream->replay);
	free(stream->sent);
	free(stream->replies);
	free(stream->trips);
	free(stream);
}

// ---- sending ----

static int64_t replay_due_ns(const struct hs_stream *stream)
{
	const struct hs_stream_replay *replay = &stream->replay;
	int64_t due_ns;
	if (replay->ended || !stream->pace.left ||
			__builtin_add_overflow(stream->pace.start_ns, replay->offset_ns, &due_ns))
		return HS_STREAM_NEVER_NS;
	return due_ns < stream->pace.stop_ns ? due_ns : HS_STREAM_NEVER_NS;
}

static int64_t planned_ns(const struct hs_stream *stream)
{
	switch (stream->traffic->kind) {
	case HS_TRAFFIC_WINDOW:
		return hs_stream_window_due(&stream->window);
	case HS_TRAFFIC_PCAP:
		return replay_due_ns(stream);
	case HS_TRAFFIC_RELAY:
		return stream->relayed ? stream->relay_ns : HS_STREAM_NEVER_NS;
	default:
		return stream->pace.next_ns;
	}
}

static int64_t reply_ns(const struct hs_stream *stream)
{
	uint64_t next = stream->counters.sent[1];
	return next < stream->n_replies ? stream->replies[next].at_ns : HS_STREAM_NEVER_NS;
}

int64_t hs_stream_next_ns(const struct hs_stream *stream)
{
	int64_t unplanned_ns = RTE_MIN(reply_ns(stream), stream->extra_ns);
	return stream->status ? HS_STREAM_NEVER_NS : RTE_MIN(planned_ns(stream), unplanned_ns);
}

// Makes the frame of this number as it was sent. Do not call this for traffic of a pcap file.
static const struct hs_stream_template *frame_of(
		struct hs_stream *stream, bool reply, uint64_t number)
{
	struct hs_stream_template *template = &stream->templates[reply];
	uint32_t payload_bytes = stream->traffic->payload_bytes;
	uint64_t segment = number - 1;

	if (stream->traffic->kind == HS_TRAFFIC_WINDOW)
		segment = reply ? stream->replies[number - 1].what >> 32 : stream->sent[number - 1];
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

// Takes the next frame that `from` sends. Returns the frame's word for hs_stream.sent.
static uint64_t take_next(struct hs_stream *stream, int64_t now_ns, bool extra)
{
	struct hs_stream_replayed *taken = &stream->replay.latest;
	uint64_t segment;
	bool again = false;

	switch (stream->traffic->kind) {
	case HS_TRAFFIC_WINDOW:
		segment = extra ? hs_stream_window_push(&stream->window, now_ns)
				: hs_stream_window_send(&stream->window, now_ns, &again);
		stream->counters.retransmitted += again;
		return segment;
	case HS_TRAFFIC_PCAP:
		if (!extra)
			hs_stream_replay_take(&stream->replay);
		stream->counters.skipped = stream->replay.skipped;
		stream->pace.left -= !extra;
		memcpy(taken->bytes, stream->macs.next[0], 6);
		memcpy(taken->bytes + 6, stream->macs.own[0], 6);
		return hs_stream_frame_hash(taken->bytes, taken->len);
	case HS_TRAFFIC_RELAY:
		stream->relayed -= !extra;
		return (uint64_t)now_ns;
	default:
		if (!extra)
			hs_stream_pace_step(&stream->pace);
		return (uint64_t)now_ns;
	}
}

static bool remember(struct hs_stream *stream, uint64_t word)
{
	if (stream->traffic->kind < HS_TRAFFIC_PING)
		return true;
	if (!HS_ARRAY_APPEND(stream->sent, stream->n_sent, word))
		stream->status = -ENOMEM;
	return !stream->status;
}

bool hs_stream_send(struct hs_stream *stream, int64_t now_ns, struct hs_stream_frame *frame)
{
	int64_t due_ns = hs_stream_next_ns(stream);
	if (due_ns > now_ns || due_ns == HS_STREAM_NEVER_NS)
		return false;
	bool reply = reply_ns(stream) == due_ns;
	bool extra = !reply && planned_ns(stream) != due_ns;
	uint64_t n = stream->counters.sent[reply];

	if (extra)
		stream->extra_ns = HS_STREAM_NEVER_NS;
	if (!reply && !remember(stream, take_next(stream, now_ns, extra)))
		return false;
	*frame = (struct hs_stream_frame){.reply = reply, .number = n + 1};
	if (reply && stream->traffic->kind == HS_TRAFFIC_PING)
		frame->number = stream->replies[n].what;
	if (stream->traffic->kind == HS_TRAFFIC_PCAP) {
		frame->bytes = stream->replay.latest.bytes;
		frame->len = stream->replay.latest.len;
	} else {
		const struct hs_stream_template *made = frame_of(stream, reply, frame->number);
		frame->bytes = made->bytes;
		frame->len = made->len;
	}
	stream->latest_ns = now_ns;
	stream->counters.sent[reply]++;
	stream->counters.bytes_sent[reply] += frame->len;
	return true;
}

void hs_stream_stop(struct hs_stream *stream, int64_t now_ns)
{
	stream->pace.stop_ns = RTE_MIN(stream->pace.stop_ns, now_ns);
	stream->window.stop_ns = RTE_MIN(stream->window.stop_ns, now_ns);
	hs_stream_pace_set_rate(&stream->pace, now_ns, 0);
}

void hs_stream_relay(struct hs_stream *stream, int64_t now_ns)
{
	struct hs_stream_pace *pace = &stream->pace;

	if (now_ns < pace->start_ns || now_ns >= pace->stop_ns || !pace->left)
		return;
	pace->left--;
	if (!stream->relayed++)
		stream->relay_ns = now_ns;
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
		       stream->sent[number - 1] == hs_stream_frame_hash(bytes, len);
	return hs_stream_template_equals(frame_of(stream, reply, number), bytes, len);
}

static void answer(struct hs_stream *stream, int64_t now_ns, uint64_t what)
{
	const struct hs_stream_reply reply = {now_ns + stream->traffic->reply_delay_ns, what};

	if (!HS_ARRAY_APPEND(stream->replies, stream->n_replies, reply))
		stream->status = -ENOMEM;
}

static void record_trip(struct hs_stream *stream, int64_t now_ns, uint64_t number)
{
	int64_t sent_ns = (int64_t)stream->sent[number - 1];
	const struct hs_stream_trip trip = {number, sent_ns, now_ns - sent_ns};

	if (stream->sent[number - 1] == ANSWERED)
		return; // a duplicate
	if (!HS_ARRAY_APPEND(stream->trips, stream->n_trips, trip))
		stream->status = -ENOMEM;
	stream->sent[number - 1] = ANSWERED;
}

static void take_request(struct hs_stream *stream, int64_t now_ns, uint64_t number, uint32_t len)
{
	uint64_t payload_bytes = stream->traffic->payload_bytes, segment;

	switch (stream->traffic->kind) {
	case HS_TRAFFIC_WINDOW:
		segment = stream->sent[number - 1];
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
	uint64_t what = stream->replies[number - 1].what;
	hs_stream_window_acknowledge(&stream->window, now_ns, what >> 32, what & UINT32_MAX);
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
