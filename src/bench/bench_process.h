// SPDX-License-Identifier: BSD-3-Clause
// Processes that a measurement starts and ends, and the folder for its files; none of them is left
// when this one ends, however it ends.
//
// Thread rule: the main thread.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hs_bench_process {
	pid_t pid; // 0: none
	int out;   // what it says on stdout, or -1
};

// Ctrl-C and SIGTERM are noticed from now on.
void hs_bench_catch_signals(void);
bool hs_bench_interrupted(void);

// argv[0] is looked for in PATH. `listen`: its stdout is ours to read, else it is thrown away.
// It ends with this process. 0 or negative errno with *err.
int hs_bench_process_start(struct hs_bench_process *process, char *const argv[], bool listen,
		struct hs_error *err);
// All that it says until it ends, at most limit_s seconds. The caller frees it; NULL: nothing, too
// late or interrupted; the process is gone in each case.
char *hs_bench_process_read(struct hs_bench_process *process, double limit_s);
// Ends it with SIGINT, then by force. Accepts one that was not started.
void hs_bench_process_stop(struct hs_bench_process *process);

// Sleeps; false where a signal came.
bool hs_bench_sleep(double seconds);

// A new folder under /tmp (or TMPDIR). 0 or negative errno with *err.
int hs_bench_folder_make(char *path, size_t size, struct hs_error *err);
// With all files in it.
void hs_bench_folder_remove(const char *path);
// EAL's runtime folder of a prefix: where dpdk-testpmd has its socket.
void hs_bench_runtime_folder(const char *prefix, char *path, size_t size);
