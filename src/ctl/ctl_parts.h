// SPDX-License-Identifier: BSD-3-Clause
// What the files of src/ctl share of struct hs_ctl. For them only.
#pragma once

#include "ctl.h"
#include "ctl_inband.h"
#include "event_log.h"

#include "api.h"
#include "qos.h"
#include "report_json.h"
#include "route_text.h"
#include "state.h"

#include <sys/queue.h>

// An event that repeats is told at once, then once a minute with what came together since.
struct limiter {
	uint64_t said;
	int64_t next_ns;
};

// What control keeps of a rule once there is something to keep: most rules of a million have none.
struct rule_note {
	uint32_t slot;
	bool monitored, unmonitored;  // neither: no report came
	bool ends_here;		      // a report was made by this node
	uint64_t no_room_said;	      // no_room_mtu when the last event told it
	int64_t no_room_next_ns;      // no further event of this rule before
	struct limiter shadow_limit;  // of telemetry in packets that another rule takes
	uint64_t shadow_marked;	      // of it, what windows are marked for
	TAILQ_ENTRY(rule_note) order; // of the monitored, in the order of their first reports
	struct spreading *spreading;  // each NULL where the rule is nothing of the kind
	struct guest *guest;
	struct backlog *backlog;
};

struct hs_ctl {
	struct hs_ctl_config config;
	struct hs_ctl_output output;
	struct hs_node *node;
	struct hs_flow_table *flows;
	struct hs_clock *clock;
	struct hs_qos *qos;
	struct hs_route_book *routes; // NULL: the node does not route
	struct hs_api_backend backend;
	struct hs_event_log events;

	int64_t now_ns, start_ns;
	int64_t next_tick_ns, next_second_ns;
	uint64_t seq;		      // of what was published
	uint64_t generation;	      // of the rules
	struct hs_node_totals counts; // what control itself counts

	// Reports to take before the windows that are due may close: those that waited when they
	// became due. 0: none are due.
	uint64_t close_after_reports;
	bool request_drained; // the rings have been emptied for the request at hand

	struct rule_note **notes;   // by slot
	uint8_t *origins;	    // by slot, enum hs_rule_origin
	enum hs_rule_origin origin; // of the requests at hand

	struct hs_in_band in_band;
	struct spreading_list spreading;
	uint32_t n_spreading;
	struct spreading *spread_at;		   // where the next look goes on, NULL: anew
	int64_t spread_next_ns, spread_soonest_ns; // next look; what this look found so far
	struct guest_list guests, guest_ranks[GUEST_RANKS];
	uint32_t n_guests;
	struct seen *seen; // signatures; NULL: no key
	struct own_list owns;
	void *owns_by_ns; // tsearch(3)
	uint32_t n_owns;
	int64_t guest_due_ns[HS_MAX_PORTS]; // what was admitted of each port is paid for then
	uint64_t requests_refused;	    // for whatever reason
	int64_t taken_told_ns; // the second in which so many events told of taken requests
	unsigned taken_told;
	struct backlog_list backlogs;
	uint32_t n_backlogs;
	uint32_t backlog_serial;  // of the last report
	uint64_t reports_waiting; // in them
	int64_t carry_next_ns;
	struct ctl_state *state; // NULL: nothing outlives the node
	char state_error[160];	 // the last
	TAILQ_HEAD(note_list, rule_note) monitored;
	uint32_t n_monitored, n_unmonitored;

	// The walk that looks for rules whose telemetry does not fit or is in other rules' packets.
	uint64_t walk_seen; // events of all ports that a walk tells of, when the last one began
	int64_t untold_ns;  // when a rule that grew since may be told; INT64_MAX: none
	bool walking;
	uint32_t walk_slot;

	uint64_t shadow_marked; // events of all ports, when windows were marked last
	struct limiter lost_limit, cap_limit, memory_limit, state_limit, refused_limit,
			signals_limit;
	struct limiter displaced_limit;
	struct limiter rx_error_limits[HS_MAX_PORTS];
	uint64_t cap_refused; // reports of rules over the cap
	struct hs_clock_status clock_status;
	bool clock_told;
	int64_t step_ns, step_amount_ns; // the clock's last step: when, in the new time; 0: none

	// Where the page of rules ended that was asked for last.
	uint64_t page_offset, page_generation;
	uint32_t page_slot;

	char text[HS_REPORT_TEXT_BYTES];
};

// ctl.c
unsigned hs_ctl_drain(struct hs_ctl *ctl, unsigned at_most);
void hs_ctl_monitor(struct hs_ctl *ctl, uint32_t slot, const struct hs_report *report,
		uint16_t sink_node_id);
// 0 or negative errno where it was lost.
int hs_ctl_publish_report(struct hs_ctl *ctl, const struct hs_report *report, uint32_t app_id,
		uint16_t sink_node_id);
// Reports in the workers' rings, now.
unsigned hs_ctl_waiting(const struct hs_ctl *ctl);

// ctl_watch.c: what is looked at now and then
void hs_ctl_tick(struct hs_ctl *ctl);
void hs_ctl_second(struct hs_ctl *ctl);
bool hs_ctl_limit(struct hs_ctl *ctl, struct limiter *limiter, uint64_t now, uint64_t *grown);

// Has the rules walked again at this time, or as soon as something new is to be told.
void hs_ctl_walk_again(struct hs_ctl *ctl, int64_t at_ns);

// ctl_shadow.c
// Of all ports.
uint64_t hs_ctl_port_events(const struct hs_ctl *ctl, enum hs_event_count event);
// Tells of telemetry of the rule in packets that another one takes.
void hs_ctl_shadow_watch(
		struct hs_ctl *ctl, uint32_t slot, const struct hs_flow_counters *counters);
// Before windows close: marks those of rules for which such came.
void hs_ctl_shadow_mark(struct hs_ctl *ctl);

// ctl_clock.c
void hs_ctl_open_clock(struct hs_ctl *ctl);
void hs_ctl_close_clock(struct hs_ctl *ctl);
void hs_ctl_watch_clock(struct hs_ctl *ctl);
// Whether it was received before the clock's last step and comes only now.
bool hs_ctl_is_of_old_time(const struct hs_ctl *ctl, const struct hs_report *report);

// ctl_rule.c: notes about rules
struct rule_note *hs_ctl_note(struct hs_ctl *ctl, uint32_t slot);
void hs_ctl_note_monitored(struct hs_ctl *ctl, struct rule_note *note, bool monitored);
void hs_ctl_forget(struct hs_ctl *ctl, uint32_t slot);
// Of an installed rule: all that hangs on it first.
int hs_ctl_remove_rule(struct hs_ctl *ctl, uint32_t ns_id, struct hs_error *err);

// ctl_app.c: {"applications": [...]} of qos_get; NULL: out of memory
json_t *hs_ctl_application(struct hs_ctl *ctl, const struct hs_api_args *args);

// ctl_verbs.c
int hs_ctl_run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err);

// ctl_route.c
int hs_ctl_open_routes(struct hs_ctl *ctl);
int hs_ctl_change_routes(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err);
int hs_ctl_list_routes(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err);
// The request that makes a route or neighbour again: a new reference.
json_t *hs_ctl_route_change(const struct hs_ctl *ctl, const struct hs_route_entry *entry);

// ctl_state.c: what outlives the node
void hs_ctl_close_state(struct hs_ctl *ctl);
void hs_ctl_state_step(struct hs_ctl *ctl);
bool hs_ctl_state_is_busy(const struct hs_ctl *ctl);
void hs_ctl_state_totals(const struct hs_ctl *ctl, struct hs_node_totals *totals);

// ctl_audit.c: new reference, NULL when memory is out.
json_t *hs_ctl_audit(struct hs_ctl *ctl);

// ctl_ports.c: new references.
json_t *hs_ctl_ports(struct hs_ctl *ctl);
json_t *hs_ctl_drops(struct hs_ctl *ctl);
json_t *hs_ctl_stats(struct hs_ctl *ctl);
json_t *hs_ctl_scope(enum hs_metric_scope scope, const struct hs_metric_view *view);
