// SPDX-License-Identifier: BSD-3-Clause
// The controller's connections to nodes, and the connections of nodes' publishers to it. No
// function waits.
//
// Thread rule: owner.
#pragma once

#include "bus_keys.h"
#include "controller.h"
#include "controller_config.h"

struct hs_controller_connections;

// Returns the keys that the configuration names for bound sockets. False: there are none.
bool hs_controller_connections_keys(
		const struct hs_controller_config *config, struct hs_bus_keys *keys);
// Checks all keys and endpoints. Keeps the errors with their paths in the configuration.
void hs_controller_connections_check(
		const struct hs_controller_config *config, struct hs_errors *errors);

// Opens all sockets. `config` is borrowed. Returns 0, or a negative errno with *err. close accepts
// NULL.
int hs_controller_connections_open(const struct hs_controller_config *config,
		struct hs_controller_connections **links, struct hs_error *err);
void hs_controller_connections_close(struct hs_controller_connections *links);

// Returns a descriptor for poll(2) that is readable when something has come.
int hs_controller_connections_fd(const struct hs_controller_connections *links);
// Sends a request to a node, as hs_controller_output.send says.
int hs_controller_connections_send(struct hs_controller_connections *links, unsigned node,
		const char *text, size_t len);
// Passes what has come to the controller, for a few milliseconds. Returns true if more may wait.
// Also reports to the controller which nodes refuse its key.
bool hs_controller_connections_take(
		struct hs_controller_connections *links, struct hs_controller *controller);
