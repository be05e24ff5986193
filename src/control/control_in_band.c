// SPDX-License-Identifier: BSD-3-Clause
#include "control_in_band.h"
#include "control_event.h"
#include "control_parts.h"
#include "control_report.h"
#include "control_rule.h"

static int install_rule(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	struct hs_control *control = context;
	return hs_control_install_rule(&control->rules, rule, HS_ORIGIN_IN_BAND, NULL, err);
}

static int update_rule(void *context, uint32_t ns_id, const struct hs_rule_update *update,
		struct hs_error *err)
{
	struct hs_control *control = context;
	return hs_control_update_rule(&control->rules, ns_id, update, err);
}

static int remove_rule(void *context, uint32_t ns_id, struct hs_error *err)
{
	struct hs_control *control = context;
	return hs_control_remove_rule(&control->rules, ns_id, err);
}

static void take_report(void *context, const struct hs_report *report,
		const struct hs_report_sender *sender)
{
	hs_control_take_returned(context, report, sender);
}

int hs_control_open_in_band(struct hs_control *control)
{
	struct hs_in_band_settings settings;
	struct hs_in_band_host host = {
			.context = control,
			.node = control->node,
			.now_ns = &control->now_ns,
			.counts = &control->counts,
			.install = install_rule,
			.update = update_rule,
			.remove = remove_rule,
			.report = take_report,
			.event = hs_control_event,
			.events = &control->events,
	};

	hs_in_band_init(&settings);
	return hs_in_band_create(&host,
			control->config.in_band ? control->config.in_band : &settings,
			&control->in_band);
}
