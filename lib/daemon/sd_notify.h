// SPDX-License-Identifier: BSD-3-Clause
// Tells the service manager the state of the process: one datagram, without a library
// (sd_notify(3)).
//
// Thread rule: any.
#pragma once

// Sends "READY=1", "STOPPING=1", ... Does nothing without a service manager. Returns 0 or a
// negative errno.
int hs_sd_notify(const char *state);
