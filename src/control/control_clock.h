// SPDX-License-Identifier: BSD-3-Clause
// The clock of the node as control sees it: its status and its steps.
//
// Thread rule: owner (the control thread).
#pragma once

struct hs_control;

void hs_control_open_clock(struct hs_control *control);
void hs_control_close_clock(struct hs_control *control);
void hs_control_watch_clock(struct hs_control *control);
