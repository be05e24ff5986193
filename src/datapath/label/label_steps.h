// SPDX-License-Identifier: BSD-3-Clause
// The data path of the family label: INT-label, by a profile's struct hs_label_profile. Each port
// with a struct hs_label_port labels packets that leave by it, without a rule. A rule of method
// label makes a host's packets those of a specific flow. Where the network ends, all items are
// exported and taken out. The item of a host port is only exported, in the same datagram.
//
// A packet that is flooded is stripped first and is not labelled. A label is noted and counted
// where the packet has its place in the port's egress queue. A port without such a queue may drop
// the packet afterwards, when its transmit queue is full.
//
// Source: 001_72f6b4e6e9dc6295.txt sections 2, 3 and 5.
// Thread rule: owner lcore. struct hs_label_port is shared by all workers of the node.
#pragma once

#include "family.h"
#include "label_profile.h"

extern const struct hs_family hs_label_steps;
