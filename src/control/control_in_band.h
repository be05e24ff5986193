// SPDX-License-Identifier: BSD-3-Clause
// Opens the in-band part with the callbacks of control that it needs.
//
// Thread rule: owner (the control thread).
#pragma once

struct hs_control;

int hs_control_open_in_band(struct hs_control *control);
