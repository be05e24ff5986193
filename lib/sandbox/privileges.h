// SPDX-License-Identifier: BSD-3-Clause
// The capabilities that a process keeps (docs/security.md).
//
// Thread rule: capabilities are a thread's; called before the first thread is made, these count for
// all of them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A set of capabilities (linux/capability.h): HS_PRIVILEGE(CAP_NET_RAW) | ...
#define HS_PRIVILEGE(cap) (UINT64_C(1) << (cap))

// Gives up all capabilities but those of `keep`, in every set, and the chance to gain others by
// running a program (no_new_privs). What of `keep` was not there stays away. Returns 0 or a
// negative errno.
int hs_privileges_keep(uint64_t keep);

// What the calling thread has.
uint64_t hs_privileges_held(void);

// Whether a process that listens at an endpoint needs CAP_NET_BIND_SERVICE: also later, as sockets
// are bound again when keys change.
bool hs_privileges_low_port(const char *endpoint);

// The name of a capability, "net_raw"; NULL beyond the last.
const char *hs_privilege_name(unsigned cap);

// Names with commas between them, "none" for none. Returns `text`.
const char *hs_privileges_text(uint64_t set, char *text, size_t size);
