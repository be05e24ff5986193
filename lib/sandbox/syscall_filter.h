// SPDX-License-Identifier: BSD-3-Clause
// The system calls that a process may make from some moment on, as a list of allowed calls
// (docs/security.md).
//
// Thread rule: call it once; it applies to every existing thread (TSYNC) and to later ones.
#pragma once

#include <stdbool.h>

enum hs_syscall_group {
	HS_SYSCALLS_NODE = 1 << 0,    // threads on cores, shared memory, netlink
	HS_SYSCALLS_PACKETS = 1 << 1, // packet sockets and the settings of interfaces
	HS_SYSCALLS_XDP = 1 << 2,     // af_xdp: its sockets and programs
	HS_SYSCALLS_DEVICES = 1 << 3, // PCI, and other needs of hardware drivers
};

// Allows the calls of every long-running program and those of the groups. A call that is not listed
// fails with EPERM, and the kernel audits it. Calls that only an intruder makes (execve, ptrace,
// mount, ...) end the process. Sets no_new_privs. Returns 0; -ENOTSUP if the kernel has no filters
// or the build has sanitizers (which make calls of their own); otherwise a negative errno.
//
// With HS_SANDBOX_KILL=1 in the environment, a call that is not listed ends the process after a
// line on stderr with its number. Tests use this, so that no refusal stays unseen.
int hs_syscall_filter(unsigned groups);
