// SPDX-License-Identifier: BSD-3-Clause
// The controller's connections to nodes, and those of nodes' publishers to it. Nothing here waits.
//
// Thread rule: owner.
#pragma once

#include "bus_keys.h"
#include "fleet.h"
#include "fleet_config.h"

struct hs_fleet_links;

// The keys that the configuration names for sockets that bind. False: none.
bool hs_fleet_links_keys(const struct hs_fleet_config *config, struct hs_bus_keys *keys);
// Are all keys and endpoints right? 0 or a negative errno with *err, whose path is as in the
// configuration.
int hs_fleet_links_check(const struct hs_fleet_config *config, struct hs_error *err);

// `config` is borrowed. 0 or a negative errno with *err. close accepts NULL.
int hs_fleet_links_open(const struct hs_fleet_config *config, struct hs_fleet_links **links,
		struct hs_error *err);
void hs_fleet_links_close(struct hs_fleet_links *links);

// Readable when something has come; for poll(2).
int hs_fleet_links_fd(const struct hs_fleet_links *links);
// As hs_fleet_output.send.
int hs_fleet_links_send(struct hs_fleet_links *links, unsigned node, const char *text, size_t len);
// Hands what has come to the fleet, a few milliseconds' worth; true where more may wait. Tells it
// which nodes refuse our key.
bool hs_fleet_links_take(struct hs_fleet_links *links, struct hs_fleet *fleet);
