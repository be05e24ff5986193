// SPDX-License-Identifier: BSD-3-Clause
// What a worker does after a round that found no packets: it looks again at once, it rests for a
// short time so that some packets come together, or it sleeps until a packet comes.
//
// - A worker looks again at once for 50 us after its last packet, because an answer often comes
//   soon. If the packet ended a pause, the worker does so for 120 us: peers that slept have to wake
//   up before they answer. If packets are so frequent that the looking would never end, the worker
//   may spend a tenth of the time on it. A worker whose looks bring nothing sleeps at once and
//   tries one look of 128: whoever would answer may be waiting for this very core.
// - A worker rests for HS_PACE_REST_US while more than two packets come in such a time, because a
//   wake-up costs more than a packet. No packet waits longer than a rest. The worker stops resting
//   if rests bring fewer packets: the packets before were answers to packets that it had sent.
// - A worker that works more than half of the time, or gets a full burst in the time of a rest,
//   looks again at once whatever the cost, because the worker has little to save.
//
// The rule is pure: time is an argument, in ticks of the caller's clock. Rules about ports and
// descriptors are in idle.h.
//
// Thread rule: the worker's own.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HS_PACE_SPIN_US	     50
#define HS_PACE_SPIN_LONG_US 120 // after a pause
#define HS_PACE_REST_US	     80
// How often a worker looks at ports that wake no worker: soon after a packet, later, and after ten
// seconds without a packet.
#define HS_PACE_LOOK_SOON_US  50
#define HS_PACE_LOOK_LATER_US 1000
#define HS_PACE_LOOK_QUIET_US 2000
#define HS_PACE_QUIET_US      10000000
// The same for ports whose other end rings a bell, from HS_PACE_LOOK_SOON_US after a packet on.
// Such looks only find packets without a bell.
#define HS_PACE_LOOK_RUNG_SOON_US  1000
#define HS_PACE_LOOK_RUNG_LATER_US 20000

enum hs_pace_step {
	HS_PACE_SPIN,  // look again at once
	HS_PACE_REST,  // rest, for HS_PACE_REST_US
	HS_PACE_SLEEP, // sleep until something comes
};

// What looks of one kind have brought.
struct hs_pace_look {
	uint32_t gain;	  // share that brought packets, in 1,024ths
	uint32_t skipped; // looks, since the last one
};

struct hs_pace {
	uint64_t ticks_per_us; // 0: time is not known
	uint64_t last;	       // the last call; 0: none yet
	uint64_t empty_since;  // 0: packets came since the last empty round
	uint64_t credit;       // ticks that may be spent on spinning
	uint64_t spin;	       // ticks after which spinning ends
	bool looking, paused;  // a look is under way; the last one came after a pause
	struct hs_pace_look after_pause, after_packets;
	uint64_t sample_start, sample_work;
	uint64_t sample_packets;
	uint64_t new_packets;  // since the last call; a loaded worker may never call
	uint32_t rest_packets; // packets that come in the time of one rest, in 1,024ths
	uint32_t work_share;   // share of the time that packets take, in 1,024ths
	uint64_t rests;	       // since resting began; 0: the worker does not rest
	uint64_t retry;	       // time before which no rest begins
	uint64_t backoff;
};

// Sets the state. With ticks_per_us 0, every step is HS_PACE_SLEEP, except the first after packets.
void hs_pace_init(struct hs_pace *pace, uint64_t ticks_per_us);

// Call this after a round with packets.
static inline void hs_pace_work(struct hs_pace *pace, uint32_t packets)
{
	pace->new_packets += packets;
}

// Call this after an empty round.
enum hs_pace_step hs_pace_next(struct hs_pace *pace, uint64_t now);
// Call this after a rest or a sleep. `early`: something ended the sleep before its time, so that
// the worker may spin again.
void hs_pace_woke(struct hs_pace *pace, uint64_t now, bool early);

// Returns how long, in us, a worker with ports that wake nobody may sleep. The time grows with the
// time without packets before the last call. `rung`: all such ports have bells that ring. A bell
// rings for no packet that soon follows another: a sleep so soon is as short as without a bell.
uint32_t hs_pace_look_us(const struct hs_pace *pace, bool rung);
