// SPDX-License-Identifier: BSD-3-Clause
// Processes that a measurement starts and ends, and the folder for its files. None of them remains
// when the measurement ends in any way.
//
// Thread rule: the main thread.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hs_bench_process {
	pid_t pid; // 0: not started
	int out;   // reads its stdout, or -1
};

// From now on, Ctrl-C and SIGTERM are noticed.
void hs_bench_catch_signals(void);
bool hs_bench_interrupted(void);

// Searches argv[0] in PATH. With `listen`, its stdout can be read; otherwise it is discarded. The
// child ends with this process. Returns 0, or a negative errno with *err.
int hs_bench_process_start(struct hs_bench_process *process, char *const argv[], bool listen,
		struct hs_error *err);
// Reads its output until it ends, for at most limit_s seconds. The caller frees the result. Returns
// NULL if there is none, or it was too late or interrupted. The process has ended in each case.
char *hs_bench_process_read(struct hs_bench_process *process, double limit_s);
// Ends the process with SIGINT, then by force. Accepts a process that was not started.
void hs_bench_process_stop(struct hs_bench_process *process);

// Sleeps. Returns false if a signal came.
bool hs_bench_sleep(double seconds);

// Makes a new folder under /tmp (or TMPDIR). Returns 0, or a negative errno with *err.
int hs_bench_folder_make(char *path, size_t size, struct hs_error *err);
// Removes the folder with all files in it.
void hs_bench_folder_remove(const char *path);
// Returns EAL's runtime folder of a prefix, which contains the socket of dpdk-testpmd.
void hs_bench_runtime_folder(const char *prefix, char *path, size_t size);
