// SPDX-License-Identifier: BSD-3-Clause
// What events are as JSON.
//
// Thread rule: any; the table is constant.
#pragma once

#include "schema.h"

#include <jansson.h>

extern const struct hs_schema_field hs_event_log_fields[]; // of the reply to `events`
// Returns the JSON Schema of a published event. New reference.
json_t *hs_event_schema(void);
