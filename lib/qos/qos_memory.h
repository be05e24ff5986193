// SPDX-License-Identifier: BSD-3-Clause
// How much memory flows take.
//
// Thread rule: owner.
#pragma once

#include "qos_config.h"

#include <stdint.h>

struct hs_qos;

void hs_qos_memory(const struct hs_qos *qos, struct hs_qos_memory *memory);
// Returns the most bytes that one flow takes, for any reports.
uint64_t hs_qos_most_bytes(void);
