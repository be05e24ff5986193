// SPDX-License-Identifier: BSD-3-Clause
// How many descriptors the process may have.
//
// Thread rule: the first thread, at start.
#pragma once

// Raises the soft limit to the hard one, but not beyond what a table of descriptors is worth.
// Returns the soft limit in force.
unsigned hs_descriptors_raise(void);
