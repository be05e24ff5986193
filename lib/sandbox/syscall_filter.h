// SPDX-License-Identifier: BSD-3-Clause
// The system calls that a process may make from some moment on: a list of those that are allowed
// (docs/security.md).
//
// Thread rule: called once; counts for every thread there is (TSYNC) and those to come.
#pragma once

#include <stdbool.h>

enum hs_syscall_group {
	HS_SYSCALLS_NODE = 1 << 0,    // threads on cores, shared memory, netlink
	HS_SYSCALLS_PACKETS = 1 << 1, // packet sockets and the settings of interfaces
	HS_SYSCALLS_XDP = 1 << 2,     // af_xdp: its sockets and programs
	HS_SYSCALLS_DEVICES = 1 << 3, // PCI and what else drivers of hardware do
};

// What every long-running program does, and the groups. A call that is not listed fails with EPERM
// and is audited by the kernel; those that only an intruder makes (execve, ptrace, mount, ...) end
// the process. Sets no_new_privs. Returns 0; -ENOTSUP where the kernel has no filters or the build
// is a sanitizer's (those make calls of their own); else a negative errno.
//
// With HS_SANDBOX_KILL=1 in the environment a call that is not listed ends the process, after a
// line on stderr with its number: for tests, in which nothing may be refused unseen.
int hs_syscall_filter(unsigned groups);
