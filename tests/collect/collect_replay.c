// SPDX-License-Identifier: BSD-3-Clause
// Gives datagrams from a file to a collector, and prints what it tells and what it knows then, as a
// line of JSON each: collect_replay FILE. tests/collect/replay.py writes the file.
//
// The file begins with lines "key number", the last of them is "end". Records follow, each with
// struct record in front, in this machine's byte order. They are given "repeat" times, each time
// "repeat_ns" later.
#include "collect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RECORD_DATAGRAM,
	RECORD_PUSH
};
enum {
	MAX_BATCH = 64,
	ENTRIES = 64
};

struct record {
	int64_t time_ns;
	uint32_t len;
	uint8_t kind;
	uint8_t listener;
	uint8_t is_ipv4;
	uint8_t zero;
	uint8_t address[16];
};

struct replay {
	struct hs_collect_config config;
	struct hs_collect *collect;
	unsigned batch;
	uint64_t quiet; // prints no event
	uint64_t repeat;
	uint64_t repeat_ns;
	uint64_t index; // of the last record that was given
	uint8_t room[MAX_BATCH][65536];
	struct hs_collect_datagram datagrams[MAX_BATCH];
};

// ---- configuration ----

static bool set_format(struct hs_collect_config *config, const char *key, uint64_t value)
{
	size_t at = strlen(key) - 1;
	unsigned which = (unsigned)(key[at] - '0');

	if (strncmp(key, "format.", 7) != 0 || which > 2)
		return false;
	struct hs_collect_format *format = &config->formats[which];
	if (strstr(key, ".taken."))
		format->taken = value;
	else if (strstr(key, ".mark."))
		format->packet.mark = (uint8_t)value;
	else if (strstr(key, ".dscp."))
		format->packet.dscp = (uint8_t)value;
	else if (strstr(key, ".dscp_mask."))
		format->packet.dscp_mask = (uint8_t)value;
	else if (strstr(key, ".udp_port."))
		format->packet.udp_port = (uint16_t)value;
	else if (strstr(key, ".probe_marker."))
		format->packet.probe_marker = value;
	else if (strstr(key, ".version_carrier."))
		hs_int_settings_init(&format->packet, value >> 8, value & 0xff);
	else
		return false;
	return true;
}

static bool set_threshold(struct hs_collect_config *config, const char *key, uint64_t value)
{
	unsigned which = (unsigned)(key[strlen(key) - 1] - '0');

	if (which >= HS_COLLECT_MEASURES)
		return false;
	if (strncmp(key, "off.", 4) == 0)
		config->thresholds[which].off = value;
	else if (strncmp(key, "absolute.", 9) == 0)
		config->thresholds[which].absolute = value;
	else if (strncmp(key, "relative.", 9) == 0)
		config->thresholds[which].relative = (uint32_t)value;
	else
		return false;
	return true;
}

static bool set(struct replay *r, const char *key, uint64_t value)
{
	struct hs_collect_config *config = &r->config;
	const struct {
		const char *key;
		uint32_t *value;
	} numbers[] = {
			{"max_flows", &config->max_flows},
			{"max_queues", &config->max_queues},
			{"max_links", &config->max_links},
			{"max_exporters", &config->max_exporters},
			{"max_drops", &config->max_drops},
			{"new_keys_per_s", &config->new_keys_per_s},
			{"batch", &r->batch},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(key, numbers[i].key) == 0) {
			*numbers[i].value = (uint32_t)value;
			return true;
		}
	if (strcmp(key, "intercollector") == 0)
		config->intercollector = value;
	else if (strcmp(key, "interval") == 0)
		config->interval = value;
	else if (strcmp(key, "gap_ns") == 0)
		config->gap_ns = (int64_t)value;
	else if (strcmp(key, "push_ns") == 0)
		config->push_ns = (int64_t)value;
	else if (strcmp(key, "quiet") == 0)
		r->quiet = value;
	else if (strcmp(key, "repeat") == 0)
		r->repeat = value;
	else if (strcmp(key, "repeat_ns") == 0)
		r->repeat_ns = value;
	else
		return set_format(config, key, value) || set_threshold(config, key, value);
	return true;
}

static bool read_config(struct replay *r, FILE *file)
{
	char line[256], key[64];
	uint64_t value;

	hs_collect_config_init(&r->config);
	r->batch = 1;
	r->repeat = 1;
	while (fgets(line, sizeof(line), file)) {
		if (strcmp(line, "end\n") == 0)
			return r->batch >= 1 && r->batch <= MAX_BATCH;
		if (sscanf(line, "%63s %" SCNu64, key, &value) != 2 || !set(r, key, value)) {
			fprintf(stderr, "collect_replay: %s", line);
			return false;
		}
	}
	return false;
}

// ---- output ----

static void print_hex(const uint8_t *bytes, unsigned n)
{
	putchar('"');
	for (unsigned i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	putchar('"');
}

static void print_key(const struct hs_collect_flow_key *key)
{
	printf("[%u,", key->is_ipv4);
	print_hex(key->src, 16);
	putchar(',');
	print_hex(key->dst, 16);
	printf(",%u,%u,%u,%u,%u]", key->src_port, key->dst_port, key->vlan, key->protocol,
			key->reporter);
}

static void print_flow(const struct hs_collect_flow *flow)
{
	print_key(&flow->key);
	printf(",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", flow->reports, flow->first_ns,
			flow->last_ns, flow->event_ns);
	if (flow->has_latency)
		printf("%" PRIu64 ",[", flow->latency);
	else
		printf("null,[");
	for (unsigned i = 0; i < flow->n_hops; i++) {
		const struct hs_collect_hop *hop = &flow->hops[i];

		printf(hop->has_latency ? "%s[%u,%u]" : "%s[%u,null]", i ? "," : "", hop->node_id,
				hop->latency);
	}
	printf("],%s", flow->entries_missing ? "true" : "false");
}

static void on_event(void *context, const struct hs_collect_event *event)
{
	const struct replay *r = context;

	if (r->quiet)
		return;
	printf("[\"event\",%" PRIu64 ",%" PRId64 ",", r->index, event->told_ns);
	if (event->flow) {
		putchar('[');
		print_flow(event->flow);
		printf("],[");
	} else {
		printf("null,[");
	}
	for (unsigned i = 0; i < event->n_points; i++) {
		const struct hs_collect_point *p = &event->points[i];

		printf("%s[%u,%u,%u,%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
				p->kind, p->cause, p->has_value, p->by_q, p->node_id, p->id,
				p->value, p->cause == HS_COLLECT_CHANGE ? p->before : 0,
				p->device_ns);
	}
	puts("]]");
}

static void print_flows(const struct replay *r)
{
	static struct hs_collect_flow out[ENTRIES];
	uint64_t cursor = 0;
	unsigned n;

	while ((n = hs_collect_flows(r->collect, &cursor, out, ENTRIES)))
		for (unsigned i = 0; i < n; i++) {
			printf("[\"flow\",");
			print_flow(&out[i]);
			puts("]");
		}
}

static void print_number(bool has, uint32_t value)
{
	if (has)
		printf(",%u", value);
	else
		printf(",null");
}

static void print_queues(const struct replay *r)
{
	struct hs_collect_queue out[ENTRIES];
	uint64_t cursor = 0;
	unsigned n;

	while ((n = hs_collect_queues(r->collect, &cursor, out, ENTRIES)))
		for (unsigned i = 0; i < n; i++) {
			printf("[\"queue\",%u,%u", out[i].node_id, out[i].queue_id);
			print_number(out[i].has_occupancy, out[i].occupancy);
			print_number(out[i].has_congestion, out[i].congestion);
			printf(",%u,%" PRId64 ",%" PRIu64 "]\n", out[i].congested, out[i].last_ns,
					out[i].device_ns);
		}
}

static void print_links(const struct replay *r)
{
	struct hs_collect_link out[ENTRIES];
	uint64_t cursor = 0;
	unsigned n;

	while ((n = hs_collect_links(r->collect, &cursor, out, ENTRIES)))
		for (unsigned i = 0; i < n; i++)
			printf("[\"link\",%u,%u,%u,%" PRId64 ",%" PRIu64 "]\n", out[i].node_id,
					out[i].port, out[i].utilisation, out[i].last_ns,
					out[i].device_ns);
}

static void print_drops(const struct replay *r)
{
	struct hs_collect_drop out[ENTRIES];
	uint64_t cursor = 0;
	unsigned n;

	while ((n = hs_collect_drops(r->collect, &cursor, out, ENTRIES)))
		for (unsigned i = 0; i < n; i++)
			printf("[\"drop\",%u,%u,%" PRIu64 ",%" PRId64 ",%" PRId64 "]\n",
					out[i].node_id, out[i].reason, out[i].reports,
					out[i].first_ns, out[i].last_ns);
}

static void print_exporters(const struct replay *r)
{
	struct hs_collect_exporter out[ENTRIES];
	uint64_t cursor = 0;
	unsigned n;

	while ((n = hs_collect_exporters(r->collect, &cursor, out, ENTRIES)))
		for (unsigned i = 0; i < n; i++) {
			const struct hs_collect_exporter *e = &out[i];

			printf("[\"exporter\",");
			print_hex(e->address, 16);
			printf(",%u,%u,%u,%u,%u,%u,%" PRIu64 ",%" PRIu64, e->listener, e->hw_id,
					e->has_node, e->node_id, e->version, e->is_ipv4,
					e->datagrams, e->reports);
			printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, e->missing, e->late,
					e->duplicates, e->restarts);
			printf(",%" PRId64 ",%" PRId64 "]\n", e->first_ns, e->last_ns);
		}
}

static void print_counters(const struct hs_collect_counters *c)
{
	printf("[\"counters\",{");
#define HS_COLLECT_COUNTER(name, text) printf("\"" #name "\":%" PRIu64 ",", c->name);
#include "collect_counter.def"
#define HS_COLLECT_REFUSAL(NAME, name, text)                                                       \
	printf("\"refused_" #name "\":%" PRIu64 ",", c->refused[HS_COLLECT_REFUSED_##NAME]);
#include "collect_counter.def"
	for (unsigned kind = 0; kind < HS_COLLECT_POINT_KINDS; kind++) {
		for (unsigned cause = 0; cause < HS_COLLECT_CAUSES; cause++)
			printf("\"events_%u_%u\":%" PRIu64 ",", kind, cause,
					c->events[kind][cause]);
		printf("\"suppressed_%u\":%" PRIu64 "%s", kind, c->suppressed[kind],
				kind + 1 < HS_COLLECT_POINT_KINDS ? "," : "}]\n");
	}
}

// The first datagram of each reason, which call shows.
static void print_first_refused(const struct replay *r)
{
	for (unsigned reason = 0; reason < HS_COLLECT_REFUSALS; reason++) {
		size_t len, whole;
		const uint8_t *bytes = hs_collect_first_refused(r->collect, reason, &len, &whole);

		if (!bytes)
			continue;
		printf("[\"refused\",%u,%zu,", reason, whole);
		print_hex(bytes, (unsigned)len);
		puts("]");
	}
}

// ---- datagrams ----

static void give(struct replay *r, unsigned n, int64_t now_ns)
{
	if (n)
		hs_collect_take(r->collect, r->datagrams, n, now_ns);
}

static void push(struct replay *r, const struct record *record)
{
	int64_t next = hs_collect_push(r->collect, record->time_ns, record->len);

	if (!r->quiet)
		printf("[\"pushed\",%" PRIu64 ",%" PRId64 "]\n", r->index, next);
}

static int run(struct replay *r, FILE *file, int64_t later_ns)
{
	struct record record;
	int64_t now_ns = 0;
	unsigned n = 0;

	while (fread(&record, sizeof(record), 1, file) == 1) {
		bool is_push = record.kind == RECORD_PUSH;

		record.time_ns += later_ns;
		if (n == r->batch || record.time_ns != now_ns || is_push) {
			give(r, n, now_ns);
			n = 0;
		}
		r->index++;
		now_ns = record.time_ns;
		if (is_push) {
			push(r, &record);
			continue;
		}
		if (record.len > sizeof(r->room[0]) ||
				fread(r->room[n], 1, record.len, file) != record.len)
			return -EINVAL;
		r->datagrams[n] = (struct hs_collect_datagram){
				.bytes = r->room[n],
				.len = record.len,
				.is_ipv4 = record.is_ipv4,
				.listener = record.listener,
		};
		memcpy(r->datagrams[n].address, record.address, 16);
		n++;
	}
	give(r, n, now_ns);
	return 0;
}

static int run_all(struct replay *r, FILE *file)
{
	long begin = ftell(file);
	int ret = 0;

	r->index = UINT64_MAX; // of no record yet
	for (uint64_t i = 0; i < r->repeat && ret == 0; i++) {
		if (fseek(file, begin, SEEK_SET) != 0)
			return -errno;
		ret = run(r, file, (int64_t)(i * r->repeat_ns));
	}
	return ret;
}

static int replay(struct replay *r, FILE *file)
{
	struct hs_error err = {0};

	if (!read_config(r, file))
		return -EINVAL;
	int ret = hs_collect_create(&r->config, on_event, r, &r->collect, &err);
	if (ret < 0) {
		char text[HS_ERROR_TEXT];

		fprintf(stderr, "collect_replay: %s\n", hs_error_text(&err, text));
		return ret;
	}
	ret = run_all(r, file);
	print_flows(r);
	print_queues(r);
	print_links(r);
	print_drops(r);
	print_exporters(r);
	print_first_refused(r);
	print_counters(hs_collect_counters(r->collect));
	hs_collect_destroy(r->collect);
	return ret;
}

int main(int argc, char **argv)
{
	static char output[1 << 20];
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	struct replay *r = calloc(1, sizeof(*r));
	int ret = -ENOMEM;

	if (!file) {
		fprintf(stderr, "usage: collect_replay FILE\n");
		free(r);
		return 2;
	}
	setvbuf(stdout, output, _IOFBF, sizeof(output));
	if (r)
		ret = replay(r, file);
	free(r);
	fclose(file);
	return ret < 0;
}
