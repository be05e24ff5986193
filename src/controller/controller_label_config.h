// SPDX-License-Identifier: BSD-3-Clause
// `label` of a controller's configuration. docs/controller.md explains every key.
//
// Thread rule: any; the struct belongs to the caller.
#pragma once

#include "error.h"
#include "ip_address.h"
#include "schema_table.h"

#include <net/if.h>

#include <stdbool.h>
#include <stdint.h>

#define HS_CONTROLLER_MAX_LISTEN   8
#define HS_CONTROLLER_MAX_CAPTURES 32

enum hs_controller_format {
	HS_CONTROLLER_PROTOTYPE, // of the paper's prototype
};

// An interface where labelled frames pass.
struct hs_controller_capture {
	char iface[IF_NAMESIZE];
	uint8_t format; // enum hs_controller_format
};

// The settings of the controller's part of INT-label.
struct hs_controller_label_config {
	bool on; // the configuration has the key
	unsigned n_listen;
	struct hs_ip_port listen[HS_CONTROLLER_MAX_LISTEN];
	unsigned n_captures;
	struct hs_controller_capture captures[HS_CONTROLLER_MAX_CAPTURES];
	uint32_t buffer_kib;  // of each socket
	uint32_t interval_ms; // of coverage
	uint32_t ports;	      // the most that are kept
	uint32_t series;      // values kept of each port
	uint32_t age_ms;      // after which an item is forgotten
	uint32_t poll_ms;     // of asking nodes for their ports; 0: the controller chooses
	struct hs_controller_pro_config {
		bool on;  // the configuration has the key; false: the controller does not change S
		double k; // a port may be silent for k x T
		uint32_t interval_ms; // T
		uint32_t repeat_ms;   // after which a change that was not confirmed is repeated
		uint32_t max_shift;   // S at most
	} pro;
};

// The keys of `label`, and a function that sets their defaults.
extern const struct hs_schema_field hs_controller_label_fields[];
void hs_controller_label_defaults(struct hs_controller_label_config *label);

// Checks the rules that concern several keys. A rule is left out if one of its keys has an error.
void hs_controller_label_check(
		const struct hs_controller_label_config *label, struct hs_errors *errors);
