// SPDX-License-Identifier: BSD-3-Clause
#include "bench_run.h"

#include "bench_frames.h"
#include "bench_peer.h"
#include "bench_process.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEASURE_LIMIT_S 120.0 // a million rules take long
#define SOCKET_LIMIT_S	10.0
#define STEP_S		0.02

struct run {
	const struct hs_bench_plan *plan;
	char folder[PATH_MAX / 2];
	char prefix[32];
};

// ---- rows ----

static bool has_yardstick(const struct hs_bench_case *spec)
{
	return spec->kind == HS_BENCH_PACKETS && spec->target != HS_BENCH_MEMIF;
}

static void name_peer(const struct hs_bench_case *spec, const char *mode, char *name, size_t size)
{
	const struct hs_bench_traffic *t = &spec->traffic;
	int used = snprintf(name, size, "testpmd %s", mode);

	if (t->frame_bytes != 128)
		used += snprintf(name + used, size - (size_t)used, " %u B", t->frame_bytes);
	if (t->frames != 4096)
		used += snprintf(name + used, size - (size_t)used, " %u frames", t->frames);
	if (t->hops >= 0)
		snprintf(name + used, size - (size_t)used, " %d hops", t->hops);
}

static int find_peer(const struct hs_bench_result *result, const struct hs_bench_case *spec)
{
	for (int i = 0; i < result->n; i++)
		if (result->rows[i].peer && !result->rows[i].csum &&
				hs_bench_traffic_alike(
						&result->rows[i].spec->traffic, &spec->traffic))
			return i;
	return HS_BENCH_NO_ROW;
}

static int add_peer(struct hs_bench_result *result, const struct hs_bench_case *spec, bool csum)
{
	struct hs_bench_row *row = &result->rows[result->n];

	*row = (struct hs_bench_row){
			.spec = spec,
			.peer = true,
			.csum = csum,
			.yardstick = csum ? find_peer(result, spec) : HS_BENCH_NO_ROW,
	};
	name_peer(spec, csum ? "csum" : "mac", row->name, sizeof(row->name));
	return result->n++;
}

static void add_peers(struct hs_bench_result *result, const struct hs_bench_plan *plan)
{
	for (int i = 0; i < plan->n_cases; i++)
		if (has_yardstick(plan->cases[i]) &&
				find_peer(result, plan->cases[i]) == HS_BENCH_NO_ROW)
			add_peer(result, plan->cases[i], false);
	if (result->n && !plan->quick)
		add_peer(result, result->rows[0].spec, true);
}

int hs_bench_result_init(struct hs_bench_result *result, const struct hs_bench_plan *plan)
{
	// A case has at most one peer of its own, and there is one more.
	result->rows = calloc((size_t)plan->n_cases * 2 + 1, sizeof(*result->rows));
	result->n = 0;
	if (!result->rows)
		return -ENOMEM;
	if (plan->peers)
		add_peers(result, plan);
	for (int i = 0; i < plan->n_cases; i++) {
		const struct hs_bench_case *spec = plan->cases[i];
		struct hs_bench_row *row = &result->rows[result->n];
		*row = (struct hs_bench_row){
				.spec = spec,
				.yardstick = has_yardstick(spec) ? find_peer(result, spec)
								 : HS_BENCH_NO_ROW,
		};
		snprintf(row->name, sizeof(row->name), "%s", spec->name);
		result->n++;
	}
	return 0;
}

void hs_bench_result_fini(struct hs_bench_result *result)
{
	free(result->rows);
	json_decref(result->machine);
	*result = (struct hs_bench_result){0};
}

// ---- capture files ----

static void traffic_path(
		const struct run *run, const struct hs_bench_traffic *t, char *path, size_t size)
{
	snprintf(path, size, "%s/%u-%u-%u-%d-%u.pcap", run->folder, t->frame_bytes, t->frames,
			t->flows, t->hops, t->routes);
}

static int write_traffic(
		const struct run *run, const struct hs_bench_result *result, struct hs_error *err)
{
	char path[PATH_MAX];

	for (int i = 0; i < result->n; i++) {
		const struct hs_bench_case *spec = result->rows[i].spec;
		if (!spec->traffic.frames)
			continue;
		traffic_path(run, &spec->traffic, path, sizeof(path));
		int rc = access(path, F_OK) == 0 ? 0
						 : hs_bench_frames_write(&spec->traffic, path, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

// ---- one measurement ----

static int measure_peer(const struct run *run, struct hs_bench_row *row)
{
	char pcap[PATH_MAX], in[PATH_MAX + 64];
	struct hs_error err = {0};
	double ns;

	traffic_path(run, &row->spec->traffic, pcap, sizeof(pcap));
	snprintf(in, sizeof(in), "net_pcap0,rx_pcap=%s,infinite_rx=1", pcap);
	const struct hs_bench_peer_config config = {
			.mode = row->csum ? "csum" : "mac",
			.devices = {in, "net_null0,no-rx=1"},
			.worker_core = run->plan->worker_core,
			.control_core = run->plan->control_core,
			.prefix = run->prefix,
	};
	int rc = hs_bench_peer_measure(&config, run->plan->seconds, &ns, &err);
	if (rc < 0)
		snprintf(row->error, sizeof(row->error), "%s", err.message);
	else
		hs_bench_samples_add(&row->samples, ns);
	return rc;
}

// Reads the line that a measurement's process printed (bench_child.h).
static int take_line(const char *text, struct hs_bench_row *row)
{
	json_t *line = text ? json_loads(text, 0, NULL) : NULL;
	const char *error = json_string_value(json_object_get(line, "error"));
	double packets = json_number_value(json_object_get(line, "packets"));
	double per_second = json_number_value(json_object_get(line, "per_second"));
	int rc = 0;

	if (error || (packets <= 0 && per_second <= 0)) {
		snprintf(row->error, sizeof(row->error), "%s",
				error ? error : "the measurement ended without a result");
		rc = -EINVAL;
	} else if (per_second > 0) {
		hs_bench_samples_add(&row->samples, per_second);
	} else {
		double ns = json_number_value(json_object_get(line, "cpu_ns")) / packets;
		hs_bench_samples_add(&row->samples, ns);
		hs_bench_samples_add(&row->cycles,
				ns * json_number_value(json_object_get(line, "tsc_ghz")));
		row->reports_made +=
				(uint64_t)json_integer_value(json_object_get(line, "reports_made"));
		row->reports_lost +=
				(uint64_t)json_integer_value(json_object_get(line, "reports_lost"));
	}
	json_decref(line);
	return rc;
}

static int start_child(const struct run *run, const struct hs_bench_row *row,
		struct hs_bench_process *child, struct hs_error *err)
{
	char pcap[PATH_MAX], seconds[32], worker[16], control[16];
	char *argv[] = {"/proc/self/exe", "--measure", (char *)row->name, "--pcap", pcap,
			"--seconds", seconds, "--worker", worker, "--control", control, "--prefix",
			(char *)run->prefix, "--sockets", (char *)run->folder, NULL};

	traffic_path(run, &row->spec->traffic, pcap, sizeof(pcap));
	snprintf(seconds, sizeof(seconds), "%.9g", run->plan->seconds);
	snprintf(worker, sizeof(worker), "%d", run->plan->worker_core);
	snprintf(control, sizeof(control), "%d", run->plan->control_core);
	return hs_bench_process_start(child, argv, true, err);
}

// ---- memif ----

static bool wait_for_file(const char *path)
{
	for (double waited = 0; waited < SOCKET_LIMIT_S; waited += STEP_S)
		if (access(path, F_OK) == 0)
			return true;
		else if (!hs_bench_sleep(STEP_S))
			return false;
	return false;
}

// Starts dpdk-testpmd between a memif to our port `port` and another device, on the control core.
static int start_end(const struct run *run, int port, const char *device,
		struct hs_bench_process *process, struct hs_error *err)
{
	char memif[PATH_MAX + 64], socket[PATH_MAX], prefix[48];

	snprintf(socket, sizeof(socket), "%s/%d.sock", run->folder, port);
	snprintf(memif, sizeof(memif), "net_memif0,role=client,socket=%s,socket-abstract=no",
			socket);
	snprintf(prefix, sizeof(prefix), "%s-%d", run->prefix, port);
	const struct hs_bench_peer_config config = {
			.mode = "io",
			.devices = {device, memif},
			.worker_core = run->plan->control_core,
			.control_core = run->plan->control_core,
			.prefix = prefix,
	};
	if (!wait_for_file(socket))
		return hs_error_set(err, "peer", "memif", "", "our socket does not appear");
	return hs_bench_peer_start(process, &config, err);
}

static void stop_ends(const struct run *run, struct hs_bench_process ends[2])
{
	char prefix[48], path[PATH_MAX];

	for (int port = 0; port < 2; port++) {
		hs_bench_process_stop(&ends[port]);
		snprintf(prefix, sizeof(prefix), "%s-%d", run->prefix, port);
		hs_bench_runtime_folder(prefix, path, sizeof(path));
		hs_bench_folder_remove(path);
		snprintf(path, sizeof(path), "%s/%d.sock", run->folder, port);
		unlink(path);
	}
}

static int start_ends(const struct run *run, const struct hs_bench_row *row,
		struct hs_bench_process ends[2], struct hs_error *err)
{
	char pcap[PATH_MAX], device[PATH_MAX + 64];

	traffic_path(run, &row->spec->traffic, pcap, sizeof(pcap));
	snprintf(device, sizeof(device), "net_pcap0,rx_pcap=%s,infinite_rx=1", pcap);
	int rc = start_end(run, 1, "net_null0,no-rx=1", &ends[1], err);

	return rc == 0 ? start_end(run, 0, device, &ends[0], err) : rc;
}

static int measure_case(const struct run *run, struct hs_bench_row *row)
{
	struct hs_bench_process child, ends[2] = {{.out = -1}, {.out = -1}};
	bool memif = row->spec->target == HS_BENCH_MEMIF;
	struct hs_error err = {0};
	char *text = NULL;
	int rc = start_child(run, row, &child, &err);

	if (rc == 0 && memif)
		rc = start_ends(run, row, ends, &err);
	if (rc == 0)
		text = hs_bench_process_read(&child, run->plan->seconds + MEASURE_LIMIT_S);
	hs_bench_process_stop(&child);
	if (memif)
		stop_ends(run, ends);
	if (rc < 0)
		snprintf(row->error, sizeof(row->error), "%s", err.message);
	else
		rc = take_line(text, row);
	free(text);
	return rc;
}

// ---- rounds ----

static void say(const struct run *run, unsigned round, const struct hs_bench_row *row, int rc)
{
	const struct hs_bench_samples *s = &row->samples;

	fprintf(stderr, "round %u/%u %s: ", round + 1, run->plan->rounds, row->name);
	if (rc < 0)
		fprintf(stderr, "failed: %s\n", row->error);
	else if (row->spec->kind == HS_BENCH_PACKETS)
		fprintf(stderr, "%.1f ns\n", s->values[s->n - 1]);
	else
		fprintf(stderr, "%.0f per second\n", s->values[s->n - 1]);
}

// A case that is measured again is measured together with what it is compared with.
static bool wanted(const struct hs_bench_result *result, const bool *again, int index)
{
	if (!again || again[index])
		return true;
	for (int i = 0; i < result->n; i++) {
		const struct hs_bench_row *row = &result->rows[i];
		if (again[i] && (row->yardstick == index ||
						(row->spec->limit_of &&
								strcmp(row->spec->limit_of,
										result->rows[index]
												.name) ==
										0)))
			return true;
	}
	return false;
}

static int run_rounds(const struct run *run, struct hs_bench_result *result, const bool *again)
{
	for (unsigned round = 0; round < run->plan->rounds; round++) {
		for (int i = 0; i < result->n; i++) {
			struct hs_bench_row *row = &result->rows[i];
			if (!wanted(result, again, i) || row->error[0])
				continue;
			int rc = row->peer ? measure_peer(run, row) : measure_case(run, row);
			if (hs_bench_interrupted()) {
				row->error[0] = '\0';
				return -EINTR;
			}
			say(run, round, row, rc);
		}
	}
	return 0;
}

int hs_bench_run(const struct hs_bench_plan *plan, struct hs_bench_result *result,
		const bool *again, struct hs_error *err)
{
	struct run run = {.plan = plan};
	int rc = hs_bench_folder_make(run.folder, sizeof(run.folder), err);

	if (rc < 0)
		return rc;
	snprintf(run.prefix, sizeof(run.prefix), "hsbench%d", (int)getpid());
	rc = write_traffic(&run, result, err);
	if (rc == 0)
		rc = run_rounds(&run, result, again);
	hs_bench_folder_remove(run.folder);
	// EAL leaves an empty runtime folder for every caller.
	hs_bench_runtime_folder(run.prefix, run.folder, sizeof(run.folder));
	hs_bench_folder_remove(run.folder);
	return rc;
}
