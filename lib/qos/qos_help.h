// SPDX-License-Identifier: BSD-3-Clause
// Help for the owner of a monitor: other threads add up reports that the owner placed. If the owner
// needs a flow meanwhile, it waits some microseconds. The windows are the same with and without
// help.
//
// Thread rule: hs_qos_help: any thread, several at once. hs_qos_want_help: owner.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hs_qos;

// Sets whether flows are offered from now on, which costs the owner time. At first they are not.
// Has no effect unless hs_qos_config.help is set.
void hs_qos_want_help(struct hs_qos *qos, bool wanted);

// Adds up the placed reports of an offered flow, which takes some microseconds and may allocate
// memory. Returns how many reports; 0: no flow was offered, or memory is out.
uint32_t hs_qos_help(struct hs_qos *qos);
