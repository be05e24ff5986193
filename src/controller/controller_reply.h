// SPDX-License-Identifier: BSD-3-Clause
// What nodes answer and publish, as tables of lib/schema. Keys that a table does not have are
// passed over, because newer nodes say more.
//
// Each reader returns 0, or a negative errno with *err, whose path names the member:
// "ports[3].shift". JSON values and texts that were read are borrowed from the message.
//
// Thread rule: any; values.
#pragma once

#include "api.h"
#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define REPLY_BOOT_ID		24 // bytes, with the end
#define REPLY_WORD		64
#define REPLY_PAGE		250	   // rules that an audit asks for at once
#define REPLY_NO_GENERATION	UINT64_MAX // the reply has none
#define REPLY_LONGEST_WINDOW_NS (INT64_C(86400) * 1000000000)

// ---- answers ----

struct reply {
	uint64_t id, generation;
	json_t *ok, *error; // at least one of them is there
};
int reply_read(json_t *reply, struct reply *into, struct hs_error *err);

// An error of a node. A code that is no word becomes "refused".
struct reply_error {
	char code[REPLY_WORD];
	const char *message, *expected; // NULL: none
};
// After an error, *into has what could be read.
int reply_read_error(json_t *error, struct reply_error *into, struct hs_error *err);

struct reply_hello {
	uint16_t node_id;
	char boot_id[REPLY_BOOT_ID];
	bool keeps_owner; // of a rule; nodes of earlier versions do not
};
int reply_read_hello(json_t *ok, struct reply_hello *into, struct hs_error *err);

struct reply_listed {
	uint32_t ns_id;
	json_t *rule;
};
struct reply_rules {
	unsigned n, n_in_band;
	struct reply_listed rules[REPLY_PAGE];
	uint32_t in_band[REPLY_PAGE]; // ns_id of rules that the node learned in band
	uint64_t next;		      // offset of the next page; 0: this is the last one
};
int reply_read_rules(json_t *ok, struct reply_rules *into, struct hs_error *err);
// Reads int_get.
int reply_read_rule(json_t *ok, json_t **rule, struct hs_error *err);
// Reads an audit: whether everything adds up.
int reply_read_audit(json_t *ok, bool *fine, struct hs_error *err);

// A port. Each reader below fills the members that its comment names.
struct reply_port {
	char name[HS_API_MAX_PORT_NAME + 1];
	char mac[18];
	uint32_t id;
	uint8_t shift;
	bool link_up;
	uint64_t tx_packets;
};
// The caller frees `ports`, also after an error.
struct reply_ports {
	unsigned n;
	struct reply_port *ports;
};
// These functions read label_get (name, id, shift) and label_set (id, shift).
int reply_read_labels(json_t *ok, struct reply_ports *into, struct hs_error *err);
int reply_read_label_set(json_t *ok, struct reply_ports *into, struct hs_error *err);
// These functions read ports_get: what ports sent (name, link_up, tx_packets), and how they are
// reached (name, id, mac).
int reply_read_traffic(json_t *ok, struct reply_ports *into, struct hs_error *err);
int reply_read_addresses(json_t *ok, struct reply_ports *into, struct hs_error *err);

// ---- publications ----

// The publisher of a message.
struct reply_origin {
	uint16_t node_id;
	char boot_id[REPLY_BOOT_ID];
	uint64_t seq;
};
int reply_read_origin(json_t *content, struct reply_origin *into, struct hs_error *err);

struct reply_event {
	char kind[REPLY_WORD];
	const char *message;
};
int reply_read_event(json_t *content, struct reply_event *into, struct hs_error *err);

struct reply_window {
	uint32_t ns_id, app_id;
	int64_t length_ns;
};
int reply_read_window(json_t *content, struct reply_window *into, struct hs_error *err);
// Reads the rule of a report.
int reply_read_report(json_t *content, uint32_t *ns_id, struct hs_error *err);
