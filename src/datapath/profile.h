// SPDX-License-Identifier: BSD-3-Clause
// What telemetry looks like on a port: its family, and how the family writes it.
//
// Thread rule: constant while workers run.
#pragma once

#include <stdint.h>

struct hs_family;

struct hs_profile {
	const struct hs_family *family;
	uint8_t layout; // flexint: enum hs_flexint_layout
};
