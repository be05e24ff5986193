// SPDX-License-Identifier: BSD-3-Clause
// The limit of the process's descriptors.
//
// Thread rule: the first thread, at start.
#pragma once

// Raises the soft limit to the hard limit, but not beyond a useful size of a table of descriptors.
// Returns the soft limit in force.
unsigned hs_descriptors_raise(void);
