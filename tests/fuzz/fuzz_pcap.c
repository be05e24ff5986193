// SPDX-License-Identifier: BSD-3-Clause
// A capture file of any bytes is either refused with a code and a message or read to its end. Each
// frame has a length that can be sent, and times do not go back.
#include "fuzz_file.h"

#include "stream_replay.h"

#include "ip.h"

static void replay_all(struct hs_stream_replay *replay)
{
	int64_t before_ns = replay->offset_ns;

	while (!replay->ended) {
		HOLDS(replay->offset_ns >= before_ns);
		before_ns = replay->offset_ns;
		hs_stream_replay_take(replay);
		HOLDS(replay->latest.len >= HS_ETHER_BYTES);
		HOLDS(replay->latest.len <= HS_STREAM_REPLAY_BYTES);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hs_stream_replay replay;
	struct hs_error err = {0};
	char name[64];
	int fd = fuzz_file(data, size, name);

	if (hs_stream_replay_init(&replay, name, &err)) {
		HOLDS(err.code[0] && err.message[0]);
	} else {
		replay_all(&replay);
		hs_stream_replay_fini(&replay);
	}
	close(fd);
	return 0;
}
