// SPDX-License-Identifier: BSD-3-Clause
// What is restored after a restart.
//
// Thread rule: owner (the control thread).
#pragma once

#include "error.h"
#include "metric.h"
#include "state.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_control;

// Restores what the API had changed before the last start of the node, and saves what it changes
// from now on, in a file. The file's name is borrowed for the life of the control; now_ns of the
// configuration is not used. Call this after installing what the configuration asks for, which has
// priority. Lines that are left out or refused are logged. Returns 0, or a negative errno with
// *err.
int hs_control_open_state(struct hs_control *control, int64_t now_ns,
		const struct hs_state_config *config, struct hs_error *err);

void hs_control_close_state(struct hs_control *control);
void hs_control_state_step(struct hs_control *control);
bool hs_control_state_is_busy(const struct hs_control *control);
// Reports errors as an event.
void hs_control_watch_state(struct hs_control *control);
// Shifts all times, after the clock stepped.
void hs_control_shift_state(struct hs_control *control, int64_t by_ns);
// Sets the totals of the state.
void hs_control_state_totals(const struct hs_control *control, struct hs_node_totals *totals);
