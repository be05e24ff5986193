// SPDX-License-Identifier: BSD-3-Clause
// The capabilities that a process keeps (docs/security.md).
//
// Thread rule: capabilities belong to a thread. Called before the first thread starts, these
// functions apply to all threads.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A set of capabilities (linux/capability.h): HS_PRIVILEGE(CAP_NET_RAW) | ...
#define HS_PRIVILEGE(cap) (UINT64_C(1) << (cap))

// Drops all capabilities except those of `keep` from every set, and prevents gaining others by
// running a program (no_new_privs). Capabilities of `keep` that were missing stay missing. Returns
// 0 or a negative errno.
int hs_privileges_keep(uint64_t keep);

// Returns the capabilities of the calling thread.
uint64_t hs_privileges_held(void);

// Returns whether a process that listens at an endpoint needs CAP_NET_BIND_SERVICE. It needs the
// capability later, too, because sockets are bound again when keys change.
bool hs_privileges_low_port(const char *endpoint);

// Returns the name of a capability, "net_raw", or NULL beyond the last.
const char *hs_privilege_name(unsigned cap);

// Writes the names with commas between them, or "none". Returns `text`.
const char *hs_privileges_text(uint64_t set, char *text, size_t size);
