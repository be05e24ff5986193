// SPDX-License-Identifier: BSD-3-Clause
#include "measured_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// One row for each number of a hop. A hop has all rows of a bit or none.
struct field {
	const char *key;
	uint32_t has;
	bool real;
	size_t offset; // of an int64_t or a double in struct hs_measured_hop
};

#define INTEGER(key, has, member)                                                                  \
	{                                                                                          \
		key, has, false, offsetof(struct hs_measured_hop, member)                          \
	}
#define REAL(key, has, member)                                                                     \
	{                                                                                          \
		key, has, true, offsetof(struct hs_measured_hop, member)                           \
	}

static const struct field hop_fields[] = {
		REAL("throughput_bps", HS_MEASURED_THROUGHPUT, throughput_bps),
		REAL("window_throughput_bps", HS_MEASURED_WINDOW_THROUGHPUT, window_throughput_bps),
		INTEGER("jitter_ns", HS_MEASURED_JITTER, jitter_ns),
		REAL("loss_ratio", HS_MEASURED_LOSS, loss_ratio),
		INTEGER("lost_packets", HS_MEASURED_LOSS, lost_packets),
		INTEGER("tx_packets", HS_MEASURED_LOSS, tx_packets),
		INTEGER("node_lost_packets", HS_MEASURED_NODE_LOSS, node_lost_packets),
		INTEGER("rx_packets", HS_MEASURED_RX_PACKETS, rx_packets),
		INTEGER("rx_bytes", HS_MEASURED_BYTES, rx_bytes),
		INTEGER("span_start_ns", HS_MEASURED_SPAN, span_start_ns),
		INTEGER("span_end_ns", HS_MEASURED_SPAN, span_end_ns),
};

static const struct field delay_fields[] = {
		INTEGER("mean", HS_MEASURED_DELAY, delay_mean_ns),
		INTEGER("min", HS_MEASURED_DELAY, delay_min_ns),
		INTEGER("max", HS_MEASURED_DELAY, delay_max_ns),
		INTEGER("p50", HS_MEASURED_P50, delay_p50_ns),
		INTEGER("p99", HS_MEASURED_P99, delay_p99_ns),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool hs_measured_integer(
		const json_t *object, const char *key, int64_t min, int64_t max, int64_t *value)
{
	const json_t *member = json_object_get(object, key);
	*value = json_integer_value(member);
	return json_is_integer(member) && *value >= min && *value <= max;
}

static bool read_boolean(const json_t *object, const char *key, bool *value)
{
	const json_t *member = json_object_get(object, key);
	*value = json_is_true(member);
	return json_is_boolean(member);
}

// ---- hops ----

static bool read_field(const json_t *value, const struct field *field, struct hs_measured_hop *hop)
{
	char *at = (char *)hop + field->offset;
	if (field->real) {
		double real = json_number_value(value);
		memcpy(at, &real, sizeof(real));
		return json_is_number(value);
	}
	int64_t integer = json_integer_value(value);
	memcpy(at, &integer, sizeof(integer));
	return json_is_integer(value);
}

static bool read_fields(const json_t *object, const struct field *fields, size_t n,
		struct hs_measured_hop *hop)
{
	uint32_t missing = 0;
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_object_get(object, fields[i].key);
		if (!value)
			missing |= fields[i].has;
		else if (!read_field(value, &fields[i], hop))
			return false;
		else
			hop->has |= fields[i].has;
	}
	return !(hop->has & missing);
}

static bool read_numbers(const json_t *object, struct hs_measured_hop *hop)
{
	const json_t *delay = json_object_get(object, "delay_ns");
	if (!json_is_object(object) || !read_fields(object, hop_fields, COUNT(hop_fields), hop))
		return false;
	if (!delay)
		return true;
	return read_fields(delay, delay_fields, COUNT(delay_fields), hop) &&
	       hop->has & HS_MEASURED_DELAY;
}

static bool read_hop(const json_t *object, struct hs_measured_hop *hop)
{
	int64_t from, to;
	if (!hs_measured_integer(object, "from", 0, UINT16_MAX, &from) ||
			!hs_measured_integer(object, "to", 0, UINT16_MAX, &to))
		return false;
	hop->from = (uint16_t)from;
	hop->to = (uint16_t)to;
	return read_numbers(object, hop);
}

static bool read_hops(const json_t *body, struct hs_measured_window *window)
{
	const json_t *hops = json_object_get(body, "hops");
	for (uint32_t i = 0; i < window->n_hops; i++)
		if (!read_hop(json_array_get(hops, i), &window->hops[i]))
			return false;
	return true;
}

// ---- the window ----

static bool read_head(const json_t *body, bool run, struct hs_measured_window *window)
{
	int64_t reports;
	const json_t *is_run = json_object_get(body, "run");
	if (run ? !json_is_true(is_run) : is_run != NULL)
		return false;
	if (!hs_measured_integer(body, "window_ns", run ? INT64_MIN : 1, INT64_MAX,
			    &window->window_ns) ||
			!hs_measured_integer(body, "start_ns", INT64_MIN, INT64_MAX,
					&window->start_ns) ||
			!hs_measured_integer(
					body, "end_ns", INT64_MIN, INT64_MAX, &window->end_ns) ||
			!hs_measured_integer(body, "reports", 0, INT64_MAX, &reports) ||
			!read_boolean(body, "stale", &window->stale) ||
			!read_boolean(body, "path_changed", &window->path_changed))
		return false;
	window->reports = (uint64_t)reports;
	// In unsigned, for nothing here is known to be sane.
	return (uint64_t)window->end_ns - (uint64_t)window->start_ns == (uint64_t)window->window_ns;
}

// A reply has no origin: the sink is the last of the path.
static bool read_node(const json_t *body, bool run, struct hs_measured_window *window)
{
	const json_t *path = json_object_get(body, "path");
	size_t n = json_array_size(path);
	int64_t node = -1;
	for (size_t i = 0; i < n; i++) {
		const json_t *id = json_array_get(path, i);
		node = json_integer_value(id);
		if (!json_is_integer(id) || node < 0 || node > UINT16_MAX)
			return false;
	}
	if (n < 2 || (!run && !hs_measured_integer(body, "node_id", 0, UINT16_MAX, &node)))
		return false;
	window->node_id = (uint16_t)node;
	return true;
}

static bool read_e2e(const json_t *body, struct hs_measured_window *window)
{
	const json_t *e2e = json_object_get(body, "e2e");
	if (!read_numbers(e2e, &window->e2e))
		return false;
	return !(window->e2e.has & HS_MEASURED_LOSS) ||
	       hs_measured_integer(e2e, "unattributed_lost_packets", INT64_MIN, INT64_MAX,
			       &window->unattributed_lost_packets);
}

static uint32_t flag_of(const char *name)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} flags[] = {
			{"multipath", HS_MEASURED_MULTIPATH},
			{"rules_differ", HS_MEASURED_RULES_DIFFER},
			{"counter_ambiguous", HS_MEASURED_COUNTER_AMBIGUOUS},
			{"negative_delay", HS_MEASURED_NEGATIVE_DELAY},
			{"epoch", HS_MEASURED_EPOCH},
			{"counts_missing", HS_MEASURED_COUNTS_MISSING},
			{"clock_step", HS_MEASURED_CLOCK_STEP},
			{"bypassed", HS_MEASURED_BYPASSED},
			{"entries_missing", HS_MEASURED_ENTRIES_MISSING},
	};
	for (size_t i = 0; i < COUNT(flags); i++)
		if (strcmp(flags[i].name, name) == 0)
			return flags[i].flag;
	return HS_MEASURED_OTHER;
}

static bool read_flags(const json_t *body, struct hs_measured_window *window)
{
	const json_t *flags = json_object_get(body, "flags");
	for (size_t i = 0; i < json_array_size(flags); i++) {
		const char *name = json_string_value(json_array_get(flags, i));
		if (!name)
			return false;
		window->flags |= flag_of(name);
	}
	return json_is_array(flags);
}

static bool read_clock(const json_t *body, struct hs_measured_window *window)
{
	const json_t *clock = json_object_get(body, "clock");
	window->clock_known = json_object_size(clock) > 0;
	return json_is_object(clock) &&
	       (!window->clock_known || read_boolean(clock, "synchronised", &window->synchronised));
}

int hs_measured_read_window(const json_t *body, bool run, struct hs_measured_window **out)
{
	const json_t *hops = json_object_get(body, "hops");
	size_t n = json_array_size(hops);
	if (!json_is_array(hops) || n > UINT16_MAX)
		return -EINVAL;
	struct hs_measured_window *window = calloc(1, sizeof(*window) + n * sizeof(*window->hops));
	if (!window)
		return -ENOMEM;
	window->n_hops = (uint32_t)n;
	window->hops = (struct hs_measured_hop *)(window + 1);
	if (!read_head(body, run, window) || !read_node(body, run, window) ||
			!read_hops(body, window) || !read_e2e(body, window) ||
			!read_flags(body, window) || !read_clock(body, window)) {
		free(window);
		return -EINVAL;
	}
	window->e2e.to = window->node_id;
	*out = window;
	return 0;
}

// ---- reports ----

int hs_measured_read_trip(const json_t *body, struct hs_trip *trip)
{
	const json_t *e2e = json_object_get(body, "e2e");
	if (!json_is_object(e2e) || !hs_measured_integer(json_object_get(body, "sink"), "ts_ns", 0,
						    INT64_MAX, &trip->sink_ns))
		return -EINVAL;
	if (!json_object_get(e2e, "ts_ns"))
		return 0;
	return hs_measured_integer(e2e, "ts_ns", 0, INT64_MAX, &trip->source_ns) ? 1 : -EINVAL;
}
