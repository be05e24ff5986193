// SPDX-License-Identifier: BSD-3-Clause
#include "bench_peer.h"

#include <jansson.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PROGRAM	     "dpdk-testpmd"
#define WARM_PACKETS 1000000
#define PATIENCE_S   30.0
#define STEP_S	     0.02
#define ANSWER_BYTES 65536

bool hs_bench_peer_is_there(void)
{
	const char *path = getenv("PATH");
	char *copy = strdup(path ? path : ""), *rest = copy, *folder, file[4096];
	bool found = false;

	while (!found && (folder = strsep(&rest, ":"))) {
		snprintf(file, sizeof(file), "%s/" PROGRAM, folder);
		found = access(file, X_OK) == 0;
	}
	free(copy);
	return found;
}

int hs_bench_peer_start(struct hs_bench_process *process, const struct hs_bench_peer_config *config,
		struct hs_error *err)
{
	char cores[32], prefix[64], mode[32];
	char *argv[] = {PROGRAM, "--no-huge", "-m", "512", "--no-shconf", "--no-pci", prefix,
			"--lcores", cores, "--main-lcore", "0", "--vdev",
			(char *)config->devices[0], "--vdev", (char *)config->devices[1], "--",
			mode, "--nb-cores=1", "--total-num-mbufs=16384", "--stats-period=3600",
			NULL};

	snprintf(cores, sizeof(cores), "0@%d,1@%d", config->control_core, config->worker_core);
	snprintf(prefix, sizeof(prefix), "--file-prefix=%s", config->prefix);
	snprintf(mode, sizeof(mode), "--forward-mode=%s", config->mode);
	return hs_bench_process_start(process, argv, false, err);
}

// ---- asking ----

static int connect_to(const char *prefix)
{
	const struct timeval limit = {.tv_sec = 2};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[96];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	hs_bench_runtime_folder(prefix, folder, sizeof(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/dpdk_telemetry.v2", folder);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

// The first message is the server's greeting.
static json_t *ask(const char *prefix, const char *command)
{
	static char answer[ANSWER_BYTES];
	int fd = connect_to(prefix);
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (recv(fd, answer, sizeof(answer), 0) > 0 && send(fd, command, strlen(command), 0) > 0)
		n = recv(fd, answer, sizeof(answer), 0);
	close(fd);
	return n > 0 ? json_loadb(answer, (size_t)n, 0, NULL) : NULL;
}

// A request to DPDK's telemetry socket: a number of the object that it answers. false: no answer.
static bool telemetry_number(
		const char *prefix, const char *command, const char *key, uint64_t *number)
{
	char verb[64];
	json_t *answer = ask(prefix, command);

	snprintf(verb, sizeof(verb), "%.*s", (int)strcspn(command, ","), command);
	const json_t *value = json_object_get(json_object_get(answer, verb), key);
	bool good = json_is_integer(value);
	if (good)
		*number = (uint64_t)json_integer_value(value);
	json_decref(answer);
	return good;
}

static bool received(const char *prefix, uint64_t *packets)
{
	return telemetry_number(prefix, "/ethdev/stats,0", "ipackets", packets);
}

// ---- its worker thread ----

static bool is_worker(pid_t pid, const char *tid)
{
	char path[80], name[32] = "";
	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/comm", (int)pid, tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	bool read = fgets(name, sizeof(name), file) != NULL;
	fclose(file);
	return read && strstr(name, "worker");
}

static long worker_thread(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	long found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks)))
		if (is_worker(pid, entry->d_name))
			found = strtol(entry->d_name, NULL, 10);
	if (tasks)
		closedir(tasks);
	return found;
}

static bool cpu_ns_of(pid_t pid, long tid, uint64_t *ns)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/task/%ld/schedstat", (int)pid, tid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool good = fscanf(file, "%" SCNu64, ns) == 1;
	fclose(file);
	return good;
}

static bool wait_until_warm(const char *prefix)
{
	uint64_t packets;

	for (double waited = 0; waited < PATIENCE_S; waited += STEP_S) {
		if (received(prefix, &packets) && packets > WARM_PACKETS)
			return true;
		if (!hs_bench_sleep(STEP_S))
			return false;
	}
	return false;
}

struct reading {
	uint64_t packets, cpu_ns;
};

static bool read_both(const char *prefix, pid_t pid, long tid, struct reading *reading)
{
	return received(prefix, &reading->packets) && cpu_ns_of(pid, tid, &reading->cpu_ns);
}

static int refuse(const char *why, struct hs_error *err)
{
	return hs_error_set(err, "peer", PROGRAM, "", "%s", why);
}

static int measure(const struct hs_bench_process *process, const char *prefix, double seconds,
		double *ns_per_packet, struct hs_error *err)
{
	struct reading begin, end;

	if (!wait_until_warm(prefix))
		return refuse("it did not begin to forward", err);
	long tid = worker_thread(process->pid);
	if (!tid || !read_both(prefix, process->pid, tid, &begin))
		return refuse("its worker thread cannot be read", err);
	if (!hs_bench_sleep(seconds) || !read_both(prefix, process->pid, tid, &end) ||
			end.packets <= begin.packets)
		return refuse("it stopped forwarding", err);
	*ns_per_packet =
			(double)(end.cpu_ns - begin.cpu_ns) / (double)(end.packets - begin.packets);
	return 0;
}

int hs_bench_peer_measure(const struct hs_bench_peer_config *config, double seconds,
		double *ns_per_packet, struct hs_error *err)
{
	struct hs_bench_process process;
	char folder[96];
	int rc = hs_bench_peer_start(&process, config, err);

	if (rc < 0)
		return rc;
	rc = measure(&process, config->prefix, seconds, ns_per_packet, err);
	hs_bench_process_stop(&process);
	hs_bench_runtime_folder(config->prefix, folder, sizeof(folder));
	hs_bench_folder_remove(folder);
	return rc;
}
