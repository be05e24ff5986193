// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_prober.h"

#include "array.h"
#include "probe_stack.h"
#include "u32_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_IDS (HS_PROBE_MAX_ID + 1)
#define STALLS	    2 // attempts over the whole rest of a path, before attempts over one switch

enum progress {
	WAITS,
	SENT,
	FINISHED,
};

// A path of the plan, or a link that is suspect.
struct probe {
	const struct hs_gpint_hop *hops; // NULL: the two of the link
	struct hs_gpint_hop pair[2];
	uint32_t n, index; // the hop from which it goes on
	uint32_t attempt;  // the newest
	uint32_t tries;	   // without an answer, since the index changed
	uint32_t stalls;   // with feedback only, since the index changed
	uint32_t sent;	   // attempts
	enum progress progress;
	bool alive;	// the first switch gave feedback to the newest attempt
	int64_t due_ns; // if SENT: when the answer is late
};

struct attempt {
	uint32_t probe, first, n; // hops of the probe
	uint32_t reached;	  // switches from which an answer came
	int64_t sent_ns;
};

struct hs_gpint_prober {
	struct hs_gpint_prober_config config;
	struct hs_gpint_session session;
	struct hs_gpint_measure measure;
	const struct hs_gpint_plan *plan;
	int64_t check_ns;	      // when timeouts are looked for
	uint32_t under_way, open;     // probes that are SENT; that are not FINISHED
	uint32_t open_paths;	      // of the latter, those of the plan
	uint32_t first_id;	      // the request ID of attempt 0
	uint8_t *switches;	      // enum hs_gpint_state of each
	struct hs_gpint_hop *scratch; // hops of an attempt
	size_t n_probes, n_attempts, n_links;
	struct probe *probes; // paths in their order, then suspect links
	struct attempt *attempts;
	struct hs_gpint_crossing *links;
	struct hs_u32_map link_map; // from a switch and its port to the place in links
};

// ---- making ----

int hs_gpint_prober_create(
		const struct hs_gpint_prober_config *config, struct hs_gpint_prober **prober)
{
	struct hs_gpint_prober *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->config = *config;
	*prober = made;
	return 0;
}

static void clear(struct hs_gpint_prober *r)
{
	hs_u32_map_fini(&r->link_map);
	free(r->switches);
	free(r->scratch);
	free(r->probes);
	free(r->attempts);
	free(r->links);
	r->link_map = (struct hs_u32_map){0};
	r->switches = NULL;
	r->scratch = NULL;
	r->probes = NULL;
	r->attempts = NULL;
	r->links = NULL;
	r->n_probes = r->n_attempts = r->n_links = 0;
	r->under_way = r->open = r->open_paths = 0;
	r->session = (struct hs_gpint_session){0};
}

void hs_gpint_prober_destroy(struct hs_gpint_prober *r)
{
	if (!r)
		return;
	clear(r);
	free(r);
}

static struct probe *add_probe(
		struct hs_gpint_prober *r, const struct hs_gpint_hop *hops, uint32_t n)
{
	struct probe *probe = HS_ARRAY_APPEND(
			r->probes, r->n_probes, (struct probe){.hops = hops, .n = n});

	if (!probe)
		return NULL;
	r->open++;
	r->open_paths += hops != NULL;
	return probe;
}

// ---- links ----

static uint32_t key_of(const struct hs_gpint_hop *from)
{
	return from->at << 8 | from->next_port;
}

static struct hs_gpint_crossing *find_link(
		const struct hs_gpint_prober *r, const struct hs_gpint_hop *from)
{
	uint32_t at = hs_u32_map_find(&r->link_map, key_of(from));

	return at == HS_U32_MAP_NONE ? NULL : &r->links[at];
}

static struct hs_gpint_crossing *need_link(
		struct hs_gpint_prober *r, const struct hs_gpint_hop *from, uint32_t to)
{
	struct hs_gpint_crossing *link = find_link(r, from);

	if (link || hs_u32_map_add(&r->link_map, key_of(from), (uint32_t)r->n_links) < 0)
		return link;
	link = HS_ARRAY_APPEND(r->links, r->n_links,
			(struct hs_gpint_crossing){
					.from = from->at, .to = to, .port = from->next_port});
	if (!link)
		hs_u32_map_erase(&r->link_map, key_of(from), (uint32_t)r->n_links);
	return link;
}

static const struct hs_gpint_hop *hops_of(const struct probe *probe)
{
	return probe->hops ? probe->hops : probe->pair;
}

static void finish(struct hs_gpint_prober *r, struct probe *probe)
{
	r->under_way -= probe->progress == SENT;
	r->open -= probe->progress != FINISHED;
	r->open_paths -= probe->progress != FINISHED && probe->hops;
	probe->progress = FINISHED;
}

static void wait(struct hs_gpint_prober *r, struct probe *probe)
{
	r->under_way -= probe->progress == SENT;
	probe->progress = WAITS;
}

static void finish_check(struct hs_gpint_prober *r, const struct hs_gpint_hop *from)
{
	for (size_t i = r->plan->n_paths; i < r->n_probes; i++)
		if (key_of(&r->probes[i].pair[0]) == key_of(from))
			finish(r, &r->probes[i]);
}

static void prove(struct hs_gpint_prober *r, const struct hs_gpint_hop *from, uint32_t to)
{
	struct hs_gpint_crossing *link = need_link(r, from, to);

	if (!link)
		return;
	if (link->state == HS_GPINT_SUSPECT || link->state == HS_GPINT_UNTRIED)
		finish_check(r, from);
	if (link->state == HS_GPINT_SUSPECT || link->state == HS_GPINT_UNAVAILABLE)
		link->state = HS_GPINT_CONGESTED;
	else if (link->state == HS_GPINT_UNKNOWN || link->state == HS_GPINT_UNTRIED)
		link->state = HS_GPINT_AVAILABLE;
}

// Suspects a link on which a probe or its feedback was lost (`copy`), or over which no probe was
// sent. Without memory, the link stays unknown. May move the array of probes.
static void suspect(
		struct hs_gpint_prober *r, const struct hs_gpint_hop *from, uint32_t to, bool copy)
{
	struct hs_gpint_crossing *link = need_link(r, from, to);

	if (link && copy && link->state == HS_GPINT_AVAILABLE)
		link->state = HS_GPINT_CONGESTED;
	if (link && copy && link->state == HS_GPINT_UNTRIED)
		link->state = HS_GPINT_SUSPECT;
	if (!link || link->state != HS_GPINT_UNKNOWN)
		return;
	if (r->switches[to] == HS_GPINT_UNAVAILABLE) {
		link->state = HS_GPINT_UNAVAILABLE;
		return;
	}
	struct probe *probe = add_probe(r, NULL, 2);
	if (!probe)
		return;
	probe->pair[0] = (struct hs_gpint_hop){.at = from->at, .next_port = from->next_port};
	probe->pair[1] = (struct hs_gpint_hop){.at = to};
	link->state = copy ? HS_GPINT_SUSPECT : HS_GPINT_UNTRIED;
}

static void give_up_link(struct hs_gpint_prober *r, struct probe *probe)
{
	find_link(r, &probe->pair[0])->state = HS_GPINT_UNAVAILABLE;
	finish(r, probe);
}

// ---- switches ----

static void give_up_switch(struct hs_gpint_prober *r, uint32_t at)
{
	if (r->switches[at] == HS_GPINT_AVAILABLE)
		return;
	r->switches[at] = HS_GPINT_UNAVAILABLE;
	for (size_t i = r->plan->n_paths; i < r->n_probes; i++) {
		struct probe *probe = &r->probes[i];
		if (probe->progress != FINISHED &&
				(probe->pair[0].at == at || probe->pair[1].at == at))
			give_up_link(r, probe);
	}
}

// Lets a path go on from a hop, or from the next hop whose switch is not unavailable.
static void go_on(struct hs_gpint_prober *r, struct probe *probe, uint32_t index)
{
	if (probe->progress == FINISHED || index <= probe->index)
		return;
	while (index < probe->n && r->switches[probe->hops[index].at] == HS_GPINT_UNAVAILABLE)
		index++;
	probe->index = index;
	probe->tries = probe->stalls = 0;
	if (index < probe->n)
		wait(r, probe);
	else
		finish(r, probe);
}

// ---- a session ----

static bool adapts_feedback(const struct hs_gpint_prober *r)
{
	return r->config.adaptive && (!r->config.fixed_feedback || r->config.switch_feedback_ns);
}

// Returns the time after which an answer over n_hops switches is late. A copy comes that late.
static int64_t late_ns(const struct hs_gpint_prober *r, uint32_t n_hops, int64_t otherwise_ns)
{
	int64_t measured_ns = hs_gpint_measure_timeout_ns(&r->measure, n_hops);

	return adapts_feedback(r) && measured_ns ? r->config.switch_feedback_ns + measured_ns
						 : otherwise_ns;
}

int hs_gpint_prober_begin(
		struct hs_gpint_prober *r, int64_t now_ns, const struct hs_gpint_plan *plan)
{
	int64_t timeout_ns = late_ns(r, 1, r->config.feedback_ns);

	r->first_id = (r->first_id + (uint32_t)r->n_attempts) % REQUEST_IDS;
	clear(r);
	r->plan = plan;
	r->switches = calloc(plan->n_switches, sizeof(*r->switches));
	r->scratch = calloc((size_t)plan->max_hops + 2, sizeof(*r->scratch));
	bool enough = r->switches && r->scratch;
	for (uint32_t p = 0; enough && p < plan->n_paths; p++)
		enough = add_probe(r, plan->paths[p].hops, plan->paths[p].n_hops);
	if (!enough) {
		clear(r);
		return -ENOMEM;
	}
	r->check_ns = now_ns + r->config.resolution_ns;
	r->session = (struct hs_gpint_session){
			.running = true,
			.began_ns = now_ns,
			.feedback_ns = timeout_ns < r->config.feedback_ns ? timeout_ns
									  : r->config.feedback_ns,
			.paths = plan->n_paths,
	};
	return 0;
}

// Makes the links of the plan's paths from and to an unavailable switch unavailable, too.
static void judge_links(struct hs_gpint_prober *r)
{
	for (uint32_t p = 0; p < r->plan->n_paths; p++)
		for (uint32_t i = 1; i < r->plan->paths[p].n_hops; i++) {
			const struct hs_gpint_hop *hops = r->plan->paths[p].hops;
			struct hs_gpint_crossing *link;
			if (r->switches[hops[i - 1].at] != HS_GPINT_UNAVAILABLE &&
					r->switches[hops[i].at] != HS_GPINT_UNAVAILABLE)
				continue;
			link = need_link(r, &hops[i - 1], hops[i].at);
			if (link && link->state == HS_GPINT_UNKNOWN)
				link->state = HS_GPINT_UNAVAILABLE;
		}
}

static void judge_attempts(struct hs_gpint_prober *r)
{
	uint32_t crossed = 0, lost = 0;

	for (size_t i = 0; i < r->n_attempts; i++) {
		const struct attempt *attempt = &r->attempts[i];
		r->session.lost += attempt->reached < attempt->n;
		crossed += attempt->reached ? attempt->reached - 1 : 0;
		lost += attempt->reached && attempt->reached < attempt->n;
	}
	hs_gpint_measure_links(&r->measure, crossed, lost);
}

static void end(struct hs_gpint_prober *r, int64_t now_ns)
{
	struct hs_gpint_session *session = &r->session;

	judge_links(r);
	judge_attempts(r);
	for (uint32_t at = 0; at < r->plan->n_switches; at++) {
		session->covered += r->switches[at] == HS_GPINT_AVAILABLE;
		session->unavailable += r->switches[at] == HS_GPINT_UNAVAILABLE;
	}
	for (size_t i = 0; i < r->n_links; i++) {
		session->unavailable_links += r->links[i].state == HS_GPINT_UNAVAILABLE;
		session->congested_links += r->links[i].state == HS_GPINT_CONGESTED;
	}
	session->failed = session->covered + session->unavailable < r->plan->n_switches;
	session->ended_ns = now_ns;
	session->running = false;
}

// ---- sending ----

// Gives a hop the values that an earlier hop of its switch, not sent again, would have brought.
static void take_values(const struct probe *probe, uint32_t i, struct hs_gpint_hop *hop)
{
	for (uint32_t k = 0; k < probe->index && hop->first == hop->end; k++)
		if (probe->hops[k].at == hop->at) {
			hop->first = probe->hops[k].first;
			hop->end = probe->hops[k].end;
		}
	for (uint32_t k = probe->index; k < i; k++)
		if (probe->hops[k].at == hop->at)
			hop->first = hop->end = 0;
}

static uint32_t write_hops(struct hs_gpint_prober *r, const struct probe *probe)
{
	uint32_t n = probe->hops && probe->stalls >= STALLS ? 1 : probe->n - probe->index;

	memcpy(r->scratch, hops_of(probe) + probe->index, n * sizeof(*r->scratch));
	for (uint32_t i = 0; probe->hops && probe->index && i < n; i++)
		take_values(probe, probe->index + i, &r->scratch[i]);
	r->scratch[n - 1].next_port = 0;
	return n;
}

// Returns the time until the first answer is late.
static int64_t first_timeout_ns(const struct hs_gpint_prober *r, const struct probe *probe)
{
	return probe->hops ? r->session.feedback_ns : late_ns(r, 2, 2 * r->session.feedback_ns);
}

static void send_probe(struct hs_gpint_prober *r, uint32_t index, int64_t now_ns,
		hs_gpint_send_fn send, void *context)
{
	struct attempt *attempt = r->n_attempts < REQUEST_IDS
						  ? HS_ARRAY_ADD(r->attempts, r->n_attempts)
						  : NULL;
	struct probe *probe = &r->probes[index];

	if (!attempt) {
		if (r->n_attempts == REQUEST_IDS)
			finish(r, probe);
		return;
	}
	probe->attempt = (uint32_t)r->n_attempts - 1;
	probe->progress = SENT;
	probe->alive = false;
	probe->due_ns = now_ns + first_timeout_ns(r, probe);
	r->under_way++;
	r->session.sent++;
	r->session.checks += !probe->hops;
	r->session.recovery += probe->hops && probe->sent;
	probe->sent++;
	*attempt = (struct attempt){.probe = index,
			.first = probe->index,
			.n = write_hops(r, probe),
			.sent_ns = now_ns};
	send(context, (uint16_t)((r->first_id + probe->attempt) % REQUEST_IDS), r->scratch,
			attempt->n);
}

// ---- timeouts ----

static uint32_t attempts_of(const struct hs_gpint_prober *r)
{
	uint32_t measured = hs_gpint_measure_attempts(&r->measure);

	return r->config.adaptive && measured > r->config.attempts ? measured : r->config.attempts;
}

static void time_out(struct hs_gpint_prober *r, struct probe *probe)
{
	bool last;

	wait(r, probe);
	if (!probe->hops) {
		if (++probe->tries > attempts_of(r))
			give_up_link(r, probe);
		return;
	}
	last = (probe->alive ? ++probe->stalls : ++probe->tries) > attempts_of(r);
	if (!last)
		return;
	if (!probe->alive)
		give_up_switch(r, probe->hops[probe->index].at);
	go_on(r, probe, probe->index + 1);
}

// Sends the probes that wait. A path goes on behind a switch that another path found unavailable.
static void send_waiting(
		struct hs_gpint_prober *r, int64_t now_ns, hs_gpint_send_fn send, void *context)
{
	for (uint32_t i = 0; i < r->n_probes && r->under_way < r->config.concurrent; i++) {
		struct probe *probe = &r->probes[i];
		if (probe->progress == WAITS && probe->hops &&
				r->switches[probe->hops[probe->index].at] == HS_GPINT_UNAVAILABLE)
			go_on(r, probe, probe->index + 1);
		if (probe->progress == WAITS)
			send_probe(r, i, now_ns, send, context);
	}
}

static void look_for_timeouts(struct hs_gpint_prober *r, int64_t now_ns)
{
	if (now_ns < r->check_ns)
		return;
	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i].progress == SENT && r->probes[i].due_ns <= now_ns)
			time_out(r, &r->probes[i]);
	r->check_ns = now_ns + r->config.resolution_ns;
}

bool hs_gpint_prober_step(
		struct hs_gpint_prober *r, int64_t now_ns, hs_gpint_send_fn send, void *context)
{
	if (!r->session.running)
		return false;
	look_for_timeouts(r, now_ns);
	send_waiting(r, now_ns, send, context);
	if (!r->open_paths && !r->session.collected_ns)
		r->session.collected_ns = now_ns;
	if (!r->open)
		end(r, now_ns);
	return r->session.running;
}

int64_t hs_gpint_prober_next_ns(const struct hs_gpint_prober *r)
{
	return r->session.running ? r->check_ns : INT64_MAX;
}

// ---- answers ----

static struct attempt *find_attempt(const struct hs_gpint_prober *r, uint16_t request_id)
{
	uint32_t i = (request_id + REQUEST_IDS - r->first_id) % REQUEST_IDS;

	return i < r->n_attempts ? &r->attempts[i] : NULL;
}

const struct hs_gpint_hop *hs_gpint_prober_attempt_hops(
		const struct hs_gpint_prober *r, uint16_t request_id, uint32_t *n_hops)
{
	const struct attempt *attempt = find_attempt(r, request_id);

	*n_hops = attempt ? attempt->n : 0;
	return attempt ? hops_of(&r->probes[attempt->probe]) + attempt->first : NULL;
}

// Marks the switches up to the sender, and the links between them, as available.
static void take_hops(struct hs_gpint_prober *r, struct attempt *attempt, uint32_t n_hops)
{
	const struct hs_gpint_hop *hops = hops_of(&r->probes[attempt->probe]) + attempt->first;

	for (uint32_t i = 0; i < n_hops; i++) {
		r->switches[hops[i].at] = HS_GPINT_AVAILABLE;
		if (i)
			prove(r, &hops[i - 1], hops[i].at);
	}
	if (n_hops > attempt->reached)
		attempt->reached = n_hops;
}

static void take_feedback(struct hs_gpint_prober *r, struct attempt *attempt, int64_t now_ns)
{
	struct probe *probe = &r->probes[attempt->probe];
	int64_t switch_ns = r->config.switch_feedback_ns ? 0 : r->session.feedback_ns;
	int64_t rest_ns = late_ns(
			r, attempt->n, r->session.feedback_ns + r->config.switch_feedback_ns);

	hs_gpint_measure_rtt(&r->measure, now_ns - attempt->sent_ns);
	if (probe->progress != SENT || &r->attempts[probe->attempt] != attempt || probe->alive)
		return;
	probe->alive = true;
	if (!probe->hops)
		return;
	hs_gpint_measure_answer(&r->measure, probe->tries);
	probe->tries = 0;
	// The last copy on the way is sent back after t_f.
	probe->due_ns = now_ns + switch_ns + rest_ns;
}

// Lets a path go on behind the switches that answered. For a suspect link, a copy is a failure.
static void take_data(struct hs_gpint_prober *r, struct attempt *attempt, uint32_t n_hops)
{
	struct probe *probe = &r->probes[attempt->probe];
	uint32_t next = attempt->first + n_hops, index = attempt->probe;

	if (!probe->hops) {
		if (n_hops < attempt->n)
			suspect(r, &probe->pair[0], probe->pair[1].at, true);
		if (probe->progress == SENT && &r->attempts[probe->attempt] == attempt)
			time_out(r, probe);
		return;
	}
	if (next < probe->n)
		suspect(r, &probe->hops[next - 1], probe->hops[next].at, n_hops < attempt->n);
	go_on(r, &r->probes[index], next);
}

void hs_gpint_prober_take(struct hs_gpint_prober *r, int64_t now_ns, enum hs_gpint_answer answer,
		uint16_t request_id, uint32_t n_hops)
{
	struct attempt *attempt = r->session.running ? find_attempt(r, request_id) : NULL;
	bool right = attempt &&
		     (answer == HS_GPINT_DONE			   ? n_hops == attempt->n
				     : answer == HS_GPINT_FEEDBACK ? n_hops == 0
								   : n_hops && n_hops < attempt->n);

	if (!right) {
		r->session.strange++;
		return;
	}
	if (answer == HS_GPINT_FEEDBACK) {
		take_feedback(r, attempt, now_ns);
		return;
	}
	take_hops(r, attempt, n_hops);
	if (answer == HS_GPINT_DONE)
		hs_gpint_measure_path(&r->measure, now_ns - attempt->sent_ns, n_hops);
	take_data(r, attempt, n_hops);
}

// ---- what is known ----

const struct hs_gpint_session *hs_gpint_prober_session(const struct hs_gpint_prober *r)
{
	return &r->session;
}

const struct hs_gpint_crossing *hs_gpint_prober_links(const struct hs_gpint_prober *r, size_t *n)
{
	*n = r->n_links;
	return r->links;
}

enum hs_gpint_state hs_gpint_prober_switch(const struct hs_gpint_prober *r, uint32_t at)
{
	return r->switches ? r->switches[at] : HS_GPINT_UNKNOWN;
}

const struct hs_gpint_measure *hs_gpint_prober_measure(const struct hs_gpint_prober *r)
{
	return &r->measure;
}
