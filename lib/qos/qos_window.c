// SPDX-License-Identifier: BSD-3-Clause
#include "qos_window.h"

#include <stddef.h>
#include <string.h>

double hs_qos_loss_ratio(const struct hs_qos_hop *hop)
{
	if (hop->tx_packets <= 0)
		return 0;
	double ratio = (double)hop->shown_lost_packets / (double)hop->tx_packets;
	return ratio > 1 ? 1 : ratio;
}

#define MAX_WORD  39 // bytes of a boot id or flag
#define MAX_FLAGS 32

// One row for each integer of a hop, in the order in which it is printed.
struct field {
	const char *key;
	uint32_t has;
	uint32_t offset; // of an 8-byte integer in struct hs_qos_hop
	bool hop;	 // not in e2e
};

#define AT(member) (uint32_t) offsetof(struct hs_qos_hop, member)

static const struct field delay_fields[] = {
		{"mean", HS_QOS_HAS_DELAY, AT(delay.mean), false},
		{"min", HS_QOS_HAS_DELAY, AT(delay.min), false},
		{"p50", HS_QOS_HAS_P50, AT(delay.p50), false},
		{"p99", HS_QOS_HAS_P99, AT(delay.p99), false},
		{"p999", HS_QOS_HAS_P999, AT(delay.p999), false},
		{"max", HS_QOS_HAS_DELAY, AT(delay.max), false},
};

static const struct field before_delay[] = {
		{"throughput_bps", HS_QOS_HAS_THROUGHPUT, AT(throughput_bps), false},
		{"window_throughput_bps", HS_QOS_HAS_WINDOW_THROUGHPUT, AT(window_throughput_bps),
				false},
};

static const struct field after_delay[] = {
		{"pdv_ns", HS_QOS_HAS_P999, AT(pdv_ns), false},
		{"jitter_ns", HS_QOS_HAS_JITTER, AT(jitter_ns), false},
		{"jitter_rfc3550_ns", HS_QOS_HAS_JITTER_RFC3550, AT(jitter_rfc3550_ns), false},
		{"lost_packets", HS_QOS_HAS_LOSS, AT(lost_packets), false},
		{"node_lost_packets", HS_QOS_HAS_NODE_LOSS, AT(node_lost_packets), true},
		{"tx_packets", HS_QOS_HAS_LOSS, AT(tx_packets), false},
		{"rx_packets", HS_QOS_HAS_RX_PACKETS, AT(rx_packets), false},
		{"rx_bytes", HS_QOS_HAS_BYTES, AT(rx_bytes), false},
		{"span_start_ns", HS_QOS_HAS_SPAN, AT(span_start_ns), false},
		{"span_end_ns", HS_QOS_HAS_SPAN, AT(span_end_ns), false},
		{"loss_reports", HS_QOS_HAS_REPORTS, AT(loss_reports), true},
		{"delay_reports", HS_QOS_HAS_REPORTS, AT(delay_reports), true},
		{"throughput_reports", HS_QOS_HAS_REPORTS, AT(throughput_reports), true},
};

#define PUT_FIELDS(to, fields, hop, e2e)                                                           \
	put_fields(to, fields, sizeof(fields) / sizeof((fields)[0]), hop, e2e)

static int put_fields(json_t *to, const struct field *fields, size_t n,
		const struct hs_qos_hop *hop, bool e2e)
{
	int rc = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t value;
		if (!(hop->has & fields[i].has) || (e2e && fields[i].hop))
			continue;
		memcpy(&value, (const char *)hop + fields[i].offset, sizeof(value));
		rc |= json_object_set_new(to, fields[i].key, json_integer(value));
	}
	return rc;
}

static int put_delay(json_t *to, const struct hs_qos_hop *hop)
{
	if (!(hop->has & HS_QOS_HAS_DELAY))
		return 0;
	json_t *delay = json_object();
	int rc = json_object_set_new(to, "delay_ns", delay);
	return rc | PUT_FIELDS(delay, delay_fields, hop, false);
}

static int put_hop(json_t *to, const struct hs_qos_hop *hop, bool e2e)
{
	int rc = PUT_FIELDS(to, before_delay, hop, e2e);
	rc |= put_delay(to, hop);
	if (hop->has & HS_QOS_HAS_LOSS)
		rc |= json_object_set_new(to, "loss_ratio", json_real(hs_qos_loss_ratio(hop)));
	return rc | PUT_FIELDS(to, after_delay, hop, e2e);
}

static int put_hops(json_t *to, const struct hs_qos_window *window)
{
	json_t *hops = json_array();
	int rc = json_object_set_new(to, "hops", hops);
	for (unsigned i = 0; i < window->n_hops; i++) {
		json_t *hop = json_object();
		rc |= json_array_append_new(hops, hop);
		rc |= json_object_set_new(hop, "from", json_integer(window->hops[i].from));
		rc |= json_object_set_new(hop, "to", json_integer(window->hops[i].to));
		rc |= put_hop(hop, &window->hops[i], false);
	}
	return rc;
}

static int put_e2e(json_t *to, const struct hs_qos_window *window)
{
	json_t *e2e = json_object();
	int rc = json_object_set_new(to, "e2e", e2e);
	rc |= put_hop(e2e, &window->e2e, true);
	if (window->e2e.has & HS_QOS_HAS_LOSS)
		rc |= json_object_set_new(e2e, "unattributed_lost_packets",
				json_integer(window->unattributed_lost_packets));
	return rc;
}

static int put_path(json_t *to, const struct hs_qos_window *window)
{
	json_t *path = json_array();
	int rc = json_object_set_new(to, "path", path);
	for (unsigned i = 0; i < window->n_path; i++)
		rc |= json_array_append_new(path, json_integer(window->path[i]));
	return rc | json_object_set_new(to, "path_changed", json_boolean(window->path_changed));
}

static int put_flags(json_t *to, uint32_t flags)
{
	static const char *const names[] = {"multipath", "rules_differ", "counter_ambiguous",
			"negative_delay", "epoch", "counts_missing", "clock_step", "bypassed",
			"entries_missing"};
	json_t *list = json_array();
	int rc = json_object_set_new(to, "flags", list);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & 1u << i)
			rc |= json_array_append_new(list, json_string(names[i]));
	return rc;
}

// What is not known is left out, the whole of it if need be.
static int put_clock(json_t *to, const struct hs_qos_window *window)
{
	json_t *clock = json_object();
	int rc = json_object_set_new(to, "clock", clock);
	if (!window->clock.known)
		return rc;
	rc |= json_object_set_new(clock, "synchronised", json_boolean(window->clock.synchronised));
	rc |= json_object_set_new(clock, "error_ns", json_integer(window->clock.error_ns));
	if (!window->clock.told)
		return rc;
	json_t *kernel = json_pack("{s:I, s:I, s:I, s:I, s:i}", "offset_ns",
			(json_int_t)window->clock.offset_ns, "kernel_offset_ns",
			(json_int_t)window->clock.kernel_offset_ns, "esterror_ns",
			(json_int_t)window->clock.esterror_ns, "maxerror_ns",
			(json_int_t)window->clock.maxerror_ns, "status", window->clock.status);
	rc |= json_object_update_new(clock, kernel);
	return rc;
}

static int put_origin(json_t *to, const struct hs_report_origin *origin)
{
	if (!origin)
		return 0;
	int rc = json_object_set_new(to, "seq", json_integer((json_int_t)origin->seq));
	rc |= json_object_set_new(to, "node_id", json_integer(origin->node_id));
	return rc | json_object_set_new(to, "boot_id", json_string(origin->boot_id));
}

static int put_head(json_t *to, const struct hs_qos_window *window)
{
	int rc = json_object_set_new(to, "ns_id", json_integer(window->ns_id));
	rc |= json_object_set_new(to, "app_id", json_integer(window->app_id));
	rc |= json_object_set_new(to, "window_ns", json_integer(window->window_ns));
	if (window->run)
		rc |= json_object_set_new(to, "run", json_true());
	rc |= json_object_set_new(to, "start_ns", json_integer(window->start_ns));
	rc |= json_object_set_new(to, "end_ns", json_integer(window->end_ns));
	rc |= json_object_set_new(to, "reports", json_integer((json_int_t)window->reports));
	rc |= json_object_set_new(to, "stale", json_boolean(window->stale));
	if (window->stale)
		rc |= json_object_set_new(to, "age_ns", json_integer(window->age_ns));
	return rc;
}

json_t *hs_qos_window_json(
		const struct hs_qos_window *window, const struct hs_report_origin *origin)
{
	json_t *root = json_object();
	json_t *body = json_object();
	int rc = json_object_set_new(root, "qos_report", body);
	rc |= put_origin(body, origin);
	rc |= put_head(body, window);
	rc |= put_path(body, window);
	rc |= put_hops(body, window);
	rc |= put_e2e(body, window);
	rc |= put_flags(body, window->flags);
	rc |= put_clock(body, window);
	if (!rc)
		return root;
	json_decref(root);
	return NULL;
}

// ---- from another process ----

typedef bool (*fit_fn)(json_t *value);

struct member {
	const char *key;
	fit_fn fits;
};

#define FIND(rows, key)	 find(rows, sizeof(rows) / sizeof((rows)[0]), key)
#define HAS(fields, key) has(fields, sizeof(fields) / sizeof((fields)[0]), key)

static fit_fn find(const struct member *rows, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].key, key) == 0)
			return rows[i].fits;
	return NULL;
}

static bool has(const struct field *fields, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(fields[i].key, key) == 0)
			return true;
	return false;
}

static bool is_integer(json_t *value)
{
	return json_is_integer(value);
}

static bool is_up_to(json_t *value, json_int_t least, json_int_t most)
{
	return json_is_integer(value) && json_integer_value(value) >= least &&
	       json_integer_value(value) <= most;
}

static bool is_count(json_t *value)
{
	return is_up_to(value, 0, INT64_MAX);
}

static bool is_id(json_t *value)
{
	return is_up_to(value, 0, UINT32_MAX);
}

static bool is_ns_id(json_t *value)
{
	return is_up_to(value, 1, UINT32_MAX);
}

static bool is_node_id(json_t *value)
{
	return is_up_to(value, 0, UINT16_MAX);
}

static bool is_boolean(json_t *value)
{
	return json_is_boolean(value);
}

static bool is_number(json_t *value)
{
	return json_is_number(value);
}

static bool is_word(json_t *value)
{
	static const char allowed[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const char *text = json_string_value(value);

	return text && json_string_length(value) <= MAX_WORD && text[strspn(text, allowed)] == '\0';
}

static bool is_list(json_t *value, size_t most, fit_fn fits)
{
	bool all = json_is_array(value) && json_array_size(value) <= most;

	for (size_t i = 0; all && i < json_array_size(value); i++)
		all = fits(json_array_get(value, i));
	return all;
}

// Checks the members that `find_fit` knows and removes the others.
static bool is_object(json_t *object, fit_fn (*find_fit)(const char *key))
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value)
	{
		fit_fn fits = find_fit(key);
		if (!fits)
			json_object_del(object, key);
		else if (!fits(value))
			return false;
	}
	return json_is_object(object);
}

static fit_fn fit_of_delay(const char *key)
{
	return HAS(delay_fields, key) ? is_integer : NULL;
}

static bool is_delay(json_t *value)
{
	return is_object(value, fit_of_delay);
}

static fit_fn fit_of_hop(const char *key)
{
	static const struct member rows[] = {
			{"from", is_id},
			{"to", is_id},
			{"delay_ns", is_delay},
			{"loss_ratio", is_number},
			{"unattributed_lost_packets", is_integer},
	};

	if (HAS(before_delay, key) || HAS(after_delay, key))
		return is_integer;
	return FIND(rows, key);
}

static bool is_hop(json_t *value)
{
	return is_object(value, fit_of_hop);
}

static fit_fn fit_of_clock(const char *key)
{
	static const struct member rows[] = {
			{"synchronised", is_boolean},
			{"error_ns", is_integer},
			{"offset_ns", is_integer},
			{"kernel_offset_ns", is_integer},
			{"esterror_ns", is_integer},
			{"maxerror_ns", is_integer},
			{"status", is_integer},
	};
	return FIND(rows, key);
}

static bool is_clock(json_t *value)
{
	return is_object(value, fit_of_clock);
}

static bool is_path(json_t *value)
{
	return is_list(value, HS_TELEMETRY_MAX_HOPS + 2, is_id);
}

static bool is_hops(json_t *value)
{
	return is_list(value, HS_TELEMETRY_MAX_HOPS + 1, is_hop);
}

static bool is_flags(json_t *value)
{
	return is_list(value, MAX_FLAGS, is_word);
}

static fit_fn fit_of_window(const char *key)
{
	static const struct member rows[] = {
			{"seq", is_count},
			{"node_id", is_node_id},
			{"boot_id", is_word},
			{"ns_id", is_ns_id},
			{"app_id", is_id},
			{"window_ns", is_count},
			{"run", is_boolean},
			{"start_ns", is_integer},
			{"end_ns", is_integer},
			{"reports", is_count},
			{"stale", is_boolean},
			{"age_ns", is_integer},
			{"path", is_path},
			{"path_changed", is_boolean},
			{"hops", is_hops},
			{"e2e", is_hop},
			{"flags", is_flags},
			{"clock", is_clock},
	};
	return FIND(rows, key);
}

bool hs_qos_window_take(json_t *content)
{
	return is_object(content, fit_of_window) && json_object_get(content, "ns_id") &&
	       json_object_get(content, "window_ns");
}
