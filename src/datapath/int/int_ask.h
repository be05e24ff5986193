// SPDX-License-Identifier: BSD-3-Clause
// What a rule asks for, in the bits of a version.
//
// Thread rule: any; pure functions.
#pragma once

#include "int_settings.h"

#include <stdint.h>

// `trace_type` is of a rule of method int (HS_RULE_TRACE_INT). What the version does not have is
// left out, and its bits of enum hs_rule_instruction are in *lacks, which may be NULL.
uint16_t hs_int_ask(enum hs_int_version version, uint32_t trace_type, uint16_t *lacks);
