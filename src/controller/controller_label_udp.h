// SPDX-License-Identifier: BSD-3-Clause
// The sockets where datagrams of INT-label come. No function waits.
//
// Thread rule: owner.
#pragma once

#include "controller.h"

#include <poll.h>

struct controller_label_udp;

// Opens the sockets of `label`; without it *udp is NULL, which all functions accept. Returns 0, or
// a negative errno with *err, whose path is that of the configuration.
int controller_label_udp_open(const struct hs_controller_config *config,
		struct controller_label_udp **udp, struct hs_error *err);
void controller_label_udp_close(struct controller_label_udp *udp);

// Fills what poll(2) needs, at most HS_CONTROLLER_MAX_LISTEN. Returns how many.
unsigned controller_label_udp_fds(const struct controller_label_udp *udp, struct pollfd *fds);
// Passes what has come to the controller, for a few milliseconds, and what the kernel dropped.
// Returns true if more may wait.
bool controller_label_udp_take(struct controller_label_udp *udp, struct hs_controller *controller);
