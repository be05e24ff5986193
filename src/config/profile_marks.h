// SPDX-License-Identifier: BSD-3-Clause
// The marks by which packets of INT are known, if two profiles are in use at one node.
//
// Thread rule: any; pure functions.
#pragma once

#include "int_settings.h"

#define HS_MARK_TEXT 64

// Returns whether a packet of `a` could be taken for one of `b`. `text` then says by which key of
// `a`: "dscp 23".
bool hs_profile_marks_collide(const struct hs_int_settings *a, const struct hs_int_settings *b,
		char text[HS_MARK_TEXT]);
