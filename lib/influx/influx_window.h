// SPDX-License-Identifier: BSD-3-Clause
// What nodes and controllers publish, as lines: hopsight_path and hopsight_hop for a window of
// metrics, hopsight_event for an event (docs/influx.md).
//
// Thread rule: any; the structs belong to the caller.
#pragma once

#include "influx_text.h"

#include "schema_table.h"

#include <jansson.h>
#include <stdint.h>

// Adds the numbers and truth values of an object that these rows print, with the keys of the rows.
// A member of an object in it has both keys: delay_ns_mean. Integers stay integers, and
// numbers that may have a fraction always have one, so that a field keeps its type.
void hs_influx_fields(struct hs_influx_line *line, const struct hs_schema_field *rows,
		const json_t *object);

// Adds a window: the content of a qos_report. `node` is the node that computed the window. A window
// without reports has no numbers of hops.
void hs_influx_window(struct hs_influx_text *text, const char *node, const json_t *content);

// Adds an event, as it is published. Its node is the one that it names, else `node`. Two events
// never have the same time: *last_ns is that of the last one.
void hs_influx_event(struct hs_influx_text *text, const char *node, const json_t *event,
		int64_t *last_ns);
