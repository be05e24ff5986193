// SPDX-License-Identifier: BSD-3-Clause
// Tells the service manager how a process is doing: one datagram, no library (sd_notify(3)).
//
// Thread rule: any.
#pragma once

// "READY=1", "STOPPING=1", ... Does nothing where no manager asked. 0 or negative errno.
int hs_sd_notify(const char *state);
