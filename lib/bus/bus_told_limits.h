// SPDX-License-Identifier: BSD-3-Clause
// The limits that the sockets of hs_bus_open enforce, as `hello` tells them. Thread rule: any.
#pragma once

#include "api_limits.h"

// `publish_queue` is that of struct hs_bus_config.
struct hs_api_connection_limits hs_bus_told_limits(unsigned publish_queue);
