// SPDX-License-Identifier: BSD-3-Clause
// The instructions that a rule asks for, in the bits of a version.
//
// Thread rule: any; pure functions.
#pragma once

#include "error.h"
#include "int_settings.h"

#include <stdint.h>

// Returns the instructions that a rule asks for. `trace_type` is of a rule of method int
// (HS_RULE_TRACE_INT). Instructions that the version lacks are left out; *lacks has their bits of
// enum hs_rule_instruction. `lacks` may be NULL.
uint16_t hs_int_ask(enum hs_int_version version, uint32_t trace_type, uint16_t *lacks);

// Checks that each instruction of a rule of method int is one of a version, or that one version has
// all bits of its bitmap. `versions` has bit 1 << enum hs_int_version of each that may be used, one
// at least. Returns 0, or -EINVAL with *err ("unsupported" at instructions or instruction_bitmap).
int hs_int_ask_check(unsigned versions, uint32_t trace_type, struct hs_error *err);
