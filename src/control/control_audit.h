// SPDX-License-Identifier: BSD-3-Clause
// Checks that every packet on every port and every report adds up.
//
// Thread rule: owner (the control thread).
#pragma once

#include "schema.h"

struct control_export;
struct hs_control;
struct hs_node;

extern const struct hs_schema_field hs_control_audit_fields[];
// Takes the reports that wait from the rings of the node. Returns a new reference, or NULL if
// memory is out.
json_t *hs_control_audit(struct hs_control *control, struct hs_node *node,
		const struct control_export *exports);
