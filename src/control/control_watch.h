// SPDX-License-Identifier: BSD-3-Clause
// What control checks at intervals.
//
// Thread rule: owner (the control thread).
#pragma once

struct hs_control;

void hs_control_tick(struct hs_control *control);
void hs_control_second(struct hs_control *control);
