// SPDX-License-Identifier: BSD-3-Clause
#include "stream_replay.h"

#include "ip.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

// Beyond this, differences of times may not fit 64 bits of nanoseconds. pcapng has 64 bits of
// seconds.
#define TIME_MAX_S (INT64_MAX / 1000000000 / 2 - 1)

static bool can_be_sent(const struct pcap_pkthdr *header)
{
	return header->caplen == header->len && header->len >= HS_ETHER_BYTES &&
	       header->len <= HS_STREAM_REPLAY_BYTES && header->ts.tv_sec >= -TIME_MAX_S &&
	       header->ts.tv_sec <= TIME_MAX_S && header->ts.tv_usec >= 0 &&
	       header->ts.tv_usec < 1000000000;
}

// Reads the next frame that can be sent. Returns false at the end.
static bool read_frame(struct hs_stream_replay *replay, int64_t *captured_ns)
{
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	int got;

	while ((got = pcap_next_ex(replay->pcap, &header, &bytes)) == 1) {
		if (!can_be_sent(header)) {
			replay->skipped++;
			continue;
		}
		memcpy(replay->ahead.bytes, bytes, header->len);
		replay->ahead.len = header->len;
		// The file is open with nanosecond precision, so that tv_usec holds nanoseconds.
		*captured_ns = (int64_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec;
		return true;
	}
	replay->skipped += got != PCAP_ERROR_BREAK;
	replay->ended = true;
	return false;
}

static void copy(struct hs_stream_replayed *to, const struct hs_stream_replayed *from)
{
	memcpy(to->bytes, from->bytes, from->len);
	to->len = from->len;
}

void hs_stream_replay_take(struct hs_stream_replay *replay)
{
	int64_t captured_ns;

	copy(&replay->latest, &replay->ahead);
	// Captures of several queues are not always in order of time. A late frame follows at once.
	if (read_frame(replay, &captured_ns) && captured_ns - replay->first_ns > replay->offset_ns)
		replay->offset_ns = captured_ns - replay->first_ns;
}

static int check(struct hs_stream_replay *replay, const char *file, struct hs_error *err)
{
	int type = pcap_datalink(replay->pcap);
	if (type != DLT_EN10MB) {
		const char *name = pcap_datalink_val_to_name(type);
		return hs_error_set(err, "unsupported", "", "a capture of Ethernet frames",
				"%s holds frames of link type %s", file, name ? name : "unknown");
	}
	if (!read_frame(replay, &replay->first_ns))
		return hs_error_set(err, "bad_value", "", "whole frames of 14 to 9200 bytes",
				"%s holds no frame that can be sent", file);
	copy(&replay->latest, &replay->ahead);
	return 0;
}

int hs_stream_replay_init(struct hs_stream_replay *replay, const char *file, struct hs_error *err)
{
	char text[PCAP_ERRBUF_SIZE];

	memset(replay, 0, sizeof(*replay));
	// The file is opened here, because libpcap does not return errno.
	FILE *from = fopen(file, "rb");
	if (!from) {
		int code = errno;
		hs_error_set(err, "not_readable", "", "a capture file", "%s: %s", file,
				strerror(code));
		return -code;
	}
	replay->pcap = pcap_fopen_offline_with_tstamp_precision(
			from, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!replay->pcap) {
		fclose(from);
		return hs_error_set(
				err, "not_readable", "", "a capture file", "%s: %s", file, text);
	}
	int ret = check(replay, file, err);
	if (ret)
		hs_stream_replay_fini(replay);
	return ret;
}

void hs_stream_replay_fini(struct hs_stream_replay *replay)
{
	if (replay->pcap)
		pcap_close(replay->pcap);
	replay->pcap = NULL;
}
