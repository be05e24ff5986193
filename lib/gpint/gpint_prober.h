// SPDX-License-Identifier: BSD-3-Clause
// The monitor's half of recovery: it sends the probes of a plan, sends the rest of a path again
// where a probe was lost, and says which switches and links are unavailable or congested. A session
// is one round over all paths. It ends whatever was lost.
//
// A session goes by Algorithms 1 and 2 of the paper, with these additions:
// - Each attempt has a request ID of its own, because a switch gives no feedback to an ID that the
//   switch has seen.
// - A copy that a switch held (0x21) makes a link suspect, not unavailable: the probe goes on
//   behind the link at once, and short probes test the link alone. The link is congested if one
//   of them, or a late probe, crosses it. It is unavailable if none does.
// - A first switch that answers while no probe comes back gets a probe of its own.
// - Timeouts are looked for each t_ro, not after t_ro of silence, which traffic could prevent.
// - t_f, the attempts and k can follow from what was measured (gpint_measure.h).
//
// Source: 002_e7f573228cf2597b.txt section IV, Algorithms 1 and 2.
// Thread rule: owner. Time is the caller's, in ns; it never goes back.
#pragma once

#include "gpint_measure.h"
#include "gpint_plan.h"

struct hs_gpint_prober;

struct hs_gpint_prober_config {
	int64_t feedback_ns;	    // t_f: the paper has 1.5 s; tuned: 0.4 s
	int64_t resolution_ns;	    // t_ro
	uint32_t attempts;	    // r_a: repetitions of an attempt; the paper has 10; tuned: 2
	uint32_t concurrent;	    // probes under way at once; the paper has 12
	bool adaptive;		    // t_f at most, and r_a at least, as above; otherwise exactly
	bool fixed_feedback;	    // t_f is as above even if adaptive: switches have their own t_f
	int64_t switch_feedback_ns; // that of the switches; 0: not known. If known, t_f is
				    // this and what was measured
};

// The kinds of answers from the network, by their DSCP.
enum hs_gpint_answer {
	HS_GPINT_DONE,	    // 0x17: a probe at the end of its path
	HS_GPINT_FEEDBACK,  // 0x19: the first switch has the probe
	HS_GPINT_RECOVERED, // 0x21: a copy, from a switch whose next one gave no feedback
};

enum hs_gpint_state {
	HS_GPINT_UNKNOWN,
	HS_GPINT_UNTRIED,   // only during a session: no probe was sent over the link
	HS_GPINT_SUSPECT,   // only during a session: a copy was sent back
	HS_GPINT_AVAILABLE, // a probe crossed the link, or came from the switch
	HS_GPINT_CONGESTED, // of a link: a probe crossed it, but a copy was sent back too
	HS_GPINT_UNAVAILABLE,
};

// A link, in the direction of the probes.
struct hs_gpint_crossing {
	uint32_t from, to;
	uint8_t port; // by which the probes leave: of parallel links, each is judged by itself
	enum hs_gpint_state state;
};

struct hs_gpint_session {
	bool running;
	bool failed; // a switch was neither covered nor unavailable
	int64_t began_ns, ended_ns;
	int64_t collected_ns; // when all paths were done and only suspect links were still tested
	int64_t feedback_ns;  // t_f, which switches should have, too
	uint32_t paths;
	uint32_t sent;	      // all probes
	uint32_t recovery;    // those that went over the rest of a path again
	uint32_t checks;      // those over one suspect link
	uint32_t lost;	      // probes that did not come back from the end
	uint32_t strange;     // answers to no attempt, or whose length does not fit the attempt
	uint32_t covered;     // switches
	uint32_t unavailable; // switches
	uint32_t unavailable_links, congested_links;
};

// Returns 0 or -ENOMEM. destroy accepts NULL.
int hs_gpint_prober_create(
		const struct hs_gpint_prober_config *config, struct hs_gpint_prober **prober);
void hs_gpint_prober_destroy(struct hs_gpint_prober *prober);

// Begins a session; a session that still runs ends. The plan stays with the caller until the
// session has ended. Returns 0 or -ENOMEM; then no session runs.
int hs_gpint_prober_begin(
		struct hs_gpint_prober *prober, int64_t now_ns, const struct hs_gpint_plan *plan);

// Sends a probe over these switches to the first of them. The array is valid during the call.
typedef void (*hs_gpint_send_fn)(void *context, uint16_t request_id,
		const struct hs_gpint_hop *hops, uint32_t n_hops);

// Does what is due. Returns true while the session runs. Without memory, what is due waits.
bool hs_gpint_prober_step(struct hs_gpint_prober *prober, int64_t now_ns, hs_gpint_send_fn send,
		void *context);
// Returns when the next step is due; INT64_MAX: no session runs. A step is due after an answer,
// too.
int64_t hs_gpint_prober_next_ns(const struct hs_gpint_prober *prober);

// Takes an answer from `n_hops` switches: the number of its device entries, 0 of feedback. The
// caller has compared the entries' switches with the path of the attempt
// (hs_gpint_prober_attempt_hops).
void hs_gpint_prober_take(struct hs_gpint_prober *prober, int64_t now_ns,
		enum hs_gpint_answer answer, uint16_t request_id, uint32_t n_hops);
// Returns the switches of an attempt of this session and writes their number, or NULL.
const struct hs_gpint_hop *hs_gpint_prober_attempt_hops(
		const struct hs_gpint_prober *prober, uint16_t request_id, uint32_t *n_hops);

// Return the present session or the last one, its links, and the state of a switch. A link of the
// plan's paths has a crossing if something is known of the link.
const struct hs_gpint_session *hs_gpint_prober_session(const struct hs_gpint_prober *prober);
const struct hs_gpint_crossing *hs_gpint_prober_links(
		const struct hs_gpint_prober *prober, size_t *n);
enum hs_gpint_state hs_gpint_prober_switch(const struct hs_gpint_prober *prober, uint32_t at);

const struct hs_gpint_measure *hs_gpint_prober_measure(const struct hs_gpint_prober *prober);
