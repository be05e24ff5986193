// SPDX-License-Identifier: BSD-3-Clause
// The parts of struct hs_control that the files of src/control share. For them only.
#pragma once

#include "control.h"
#include "in_band.h"
#include "event_log.h"

#include "api.h"
#include "qos.h"
#include "report_json.h"
#include "route_text.h"
#include "state.h"

#include <sys/queue.h>

// What control keeps for a rule once there is something to keep. Of a million rules, most have no
// note.
struct rule_note {
	uint32_t slot;
	bool monitored, unmonitored;	    // both false: no report came
	bool ends_here;			    // a report was made by this node
	uint64_t no_room_said;		    // no_room_mtu at the last event about it
	int64_t no_room_next_ns;	    // no further event of this rule before this time
	struct hs_event_limit shadow_limit; // limits events about telemetry in packets that another
					    // rule takes
	uint64_t shadow_marked;	      // the part of it for which windows are marked
	TAILQ_ENTRY(rule_note) order; // list of the monitored rules by their first reports
};

struct hs_control {
	struct hs_control_config config;
	struct hs_control_output output;
	struct hs_node *node;
	struct hs_flow_table *flows;
	struct hs_clock *clock;
	struct hs_qos *qos;
	struct hs_route_book *routes; // NULL: the node does not route
	struct hs_api_backend backend;
	struct hs_event_log events;

	int64_t now_ns, start_ns;
	int64_t next_tick_ns, next_second_ns;
	uint64_t seq;		      // number of published messages
	uint64_t generation;	      // of the rules
	struct hs_node_totals counts; // control's own counters

	// Number of reports to take before the due windows may close: those that waited when the
	// windows became due. 0: no window is due.
	uint64_t close_after_reports;
	bool request_drained; // the rings were emptied for the current request

	struct rule_note **notes;   // indexed by slot
	uint8_t *origins;	    // indexed by slot, enum hs_rule_origin
	enum hs_rule_origin origin; // origin of the current requests

	struct hs_in_band *in_band;
	struct control_state *state; // NULL: nothing survives a restart
	char state_error[160];	     // text of the last error
	TAILQ_HEAD(note_list, rule_note) monitored;
	uint32_t n_monitored, n_unmonitored;

	// The walk that finds rules whose telemetry does not fit, or is in packets of other rules.
	uint64_t walk_seen; // events of all ports that require a walk, when the last walk began
	int64_t untold_ns;  // when a rule that grew since may be reported; INT64_MAX: none
	bool walking;
	uint32_t walk_slot;

	uint64_t shadow_marked; // events of all ports when windows were marked last
	struct hs_event_limit lost_limit, cap_limit, memory_limit, state_limit, signals_limit;
	struct hs_event_limit rx_error_limits[HS_MAX_PORTS];
	uint64_t cap_refused; // reports of rules beyond the limit of monitored rules
	struct hs_clock_status clock_status;
	bool clock_told;
	int64_t step_ns, step_amount_ns; // time of the clock's last step in the new time, 0: none;
					 // its amount

	// Where the last requested page of rules ended.
	uint64_t page_offset, page_generation;
	uint32_t page_slot;

	char text[HS_REPORT_TEXT_BYTES];
};

// control.c
unsigned hs_control_drain(struct hs_control *control, unsigned at_most);
void hs_control_monitor(struct hs_control *control, uint32_t slot, const struct hs_report *report,
		uint16_t sink_node_id);
// Returns 0, or a negative errno if the message was lost.
int hs_control_publish_report(struct hs_control *control, const struct hs_report *report,
		uint32_t app_id, uint16_t sink_node_id);
// Returns the present number of reports in the workers' rings.
unsigned hs_control_waiting(const struct hs_control *control);

// control_watch.c: checks at intervals
void hs_control_tick(struct hs_control *control);
void hs_control_second(struct hs_control *control);

// Starts another walk over the rules at this time, or as soon as there is something new to report.
void hs_control_walk_again(struct hs_control *control, int64_t at_ns);

// control_shadow.c: sums over all ports.
uint64_t hs_control_port_events(const struct hs_control *control, enum hs_event_count event);
// Reports telemetry of the rule in packets that another rule takes.
void hs_control_shadow_watch(
		struct hs_control *control, uint32_t slot, const struct hs_flow_counters *counters);
// Marks the windows of rules with such telemetry, before the windows close.
void hs_control_shadow_mark(struct hs_control *control);

// control_clock.c
void hs_control_open_clock(struct hs_control *control);
void hs_control_close_clock(struct hs_control *control);
void hs_control_watch_clock(struct hs_control *control);
// Returns whether the packet was received before the clock's last step and its report comes only
// now.
bool hs_control_is_of_old_time(const struct hs_control *control, const struct hs_report *report);

// control_rule.c: notes about rules
struct rule_note *hs_control_note(struct hs_control *control, uint32_t slot);
void hs_control_note_monitored(struct hs_control *control, struct rule_note *note, bool monitored);
void hs_control_forget(struct hs_control *control, uint32_t slot);
// Installs a rule for whom it came from. *shadowed_by may be NULL.
int hs_control_install_rule(struct hs_control *control, const struct hs_rule *rule,
		enum hs_rule_origin origin, uint32_t *shadowed_by, struct hs_error *err);
int hs_control_update_rule(struct hs_control *control, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err);
// Removes an installed rule and everything that depends on it.
int hs_control_remove_rule(struct hs_control *control, uint32_t ns_id, struct hs_error *err);

// control_app.c: {"applications": [...]} of qos_get; NULL: memory is out
json_t *hs_control_application(struct hs_control *control, const struct hs_api_args *args);

// control_verbs.c
int hs_control_run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err);

// control_route.c
int hs_control_open_routes(struct hs_control *control);
int hs_control_change_routes(struct hs_control *control, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
int hs_control_list_routes(struct hs_control *control, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);
// Returns the request that creates a route or neighbour again: a new reference.
json_t *hs_control_route_change(
		const struct hs_control *control, const struct hs_route_entry *entry);

// control_state.c: what survives a restart
void hs_control_close_state(struct hs_control *control);
void hs_control_state_step(struct hs_control *control);
bool hs_control_state_is_busy(const struct hs_control *control);
void hs_control_state_totals(const struct hs_control *control, struct hs_node_totals *totals);

// control_audit.c: returns a new reference, or NULL if memory is out.
json_t *hs_control_audit(struct hs_control *control);

// control_ports.c: return new references.
json_t *hs_control_ports(struct hs_control *control);
json_t *hs_control_drops(struct hs_control *control);
json_t *hs_control_stats(struct hs_control *control);
json_t *hs_control_scope(enum hs_metric_scope scope, const struct hs_metric_view *view);
