// SPDX-License-Identifier: BSD-3-Clause
// The slots of the rule table: an index into every array that has one entry for each rule.
//
// Thread rule: values.
#pragma once

#include <stdint.h>

#define HS_FLOW_NONE UINT32_MAX // no slot
