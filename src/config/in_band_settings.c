// SPDX-License-Identifier: BSD-3-Clause
#include "in_band_settings.h"

#include "schema.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define SECOND	      1e9
#define LEAST_SECONDS 0.01
#define MOST_SECONDS  86400.0

void hs_in_band_init(struct hs_in_band_settings *in_band)
{
	*in_band = (struct hs_in_band_settings){
			.n_repeats = 6,
			.repeats_ns = {100000000, 300000000, 1000000000, 3000000000, 10000000000,
					30000000000},
			.interval_s = 60,
			.accept = true,
			.ports = UINT32_MAX,
			.max_rules = 1024,
			.new_rules_per_s = 10000,
			.missed_repeats = 3,
			.max_age_s = 120,
	};
}

int hs_in_band_write(const struct hs_in_band_settings *in_band, const struct hs_rule *rule,
		uint64_t counter, uint8_t bytes[HS_RULE_CBOR_BYTES], struct hs_error *err)
{
	int len = hs_rule_to_cbor(rule, bytes, HS_RULE_CBOR_BYTES, err);
	if (len < 0 || !in_band->has_key)
		return len;
	return hs_rule_auth_sign(
			&in_band->key, counter, bytes, (size_t)len, HS_RULE_CBOR_BYTES, err);
}

int hs_in_band_check_rule(const struct hs_in_band_settings *in_band, const struct hs_rule *rule,
		struct hs_error *err)
{
	uint8_t bytes[HS_RULE_CBOR_BYTES];
	return rule->in_band && hs_in_band_write(in_band, rule, 0, bytes, err) < 0 ? -EINVAL : 0;
}

static int read_repeat(json_t *value, const char *path, struct hs_in_band_settings *in_band,
		size_t i, struct hs_error *err)
{
	double seconds = json_number_value(value);

	if (!json_is_number(value))
		return hs_schema_wrong_type(value, path, "seconds", err);
	if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS))
		return hs_error_set(err, "out_of_range", path, "0.01 to 86400 seconds",
				"%.15g is out of range", seconds);
	in_band->repeats_ns[i] = (int64_t)llround(seconds * SECOND);
	if (i > 0 && in_band->repeats_ns[i] <= in_band->repeats_ns[i - 1])
		return hs_error_set(err, "out_of_range", path, "more than the one before",
				"%.15g comes no later than the repeat before", seconds);
	return 0;
}

int hs_in_band_read_repeats(json_t *list, const char *path, void *into, struct hs_error *err)
{
	struct hs_in_band_settings *in_band = into;
	size_t i;
	json_t *value;

	if (!json_is_array(list))
		return hs_schema_wrong_type(list, path, "a list of seconds", err);
	if (json_array_size(list) > HS_IN_BAND_MAX_REPEATS)
		return hs_error_set(err, "out_of_range", path, "at most 16 repeats",
				"the list has %zu repeats", json_array_size(list));
	json_array_foreach (list, i, value) {
		char at[112];
		snprintf(at, sizeof(at), "%.80s[%zu]", path, i);
		if (read_repeat(value, at, in_band, i, err) < 0)
			return -EINVAL;
	}
	in_band->n_repeats = (unsigned)json_array_size(list);
	return 0;
}

json_t *hs_in_band_print_repeats(const void *from)
{
	const struct hs_in_band_settings *in_band = from;
	json_t *list = json_array();

	for (unsigned i = 0; i < in_band->n_repeats; i++)
		json_array_append_new(list, json_real((double)in_band->repeats_ns[i] / SECOND));
	return list;
}
