// SPDX-License-Identifier: BSD-3-Clause
// Gives the in-band part what it needs of control.
//
// Thread rule: owner (the control thread).
#pragma once

struct hs_control;

int hs_control_open_in_band(struct hs_control *control);
