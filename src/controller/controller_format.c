// SPDX-License-Identifier: BSD-3-Clause
// Finds the format of a published report.
#include "controller_format.h"

#include "controller_rule.h"
#include "controller_state.h"

#include "flexint.h"
#include "int_format.h"
#include "report_json.h"

static const struct hs_telemetry_family *const families[] = {&hs_flexint_family,
		&hs_int_formats[HS_INT_2016_06], &hs_int_formats[HS_INT_0_5],
		&hs_int_formats[HS_INT_1_0], &hs_int_formats[HS_INT_2_1], NULL};

const struct hs_telemetry_family *controller_report_family(struct hs_controller *controller,
		const json_t *message, uint32_t ns_id, struct hs_error *err)
{
	const struct controller_rule *rule = controller_find_rule(controller, ns_id);
	const struct hs_telemetry_family *family = hs_report_family(message, families, err);
	bool is_int = rule && !rule->deleted && rule->rule.method == HS_RULE_INT;

	if (!family || !is_int || family->version)
		return family;
	hs_error_set(err, "missing_field", "int_report.version", "a version of INT",
			"the rule has method int, and the report names no version");
	return NULL;
}
