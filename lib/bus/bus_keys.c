// SPDX-License-Identifier: BSD-3-Clause
#include "bus_keys.h"

#include "bus_socket.h"

#include <errno.h>

int hs_bus_keys_connect(void *socket, const struct hs_bus_keys *keys, struct hs_error *err)
{
	(void)socket;
	if (!keys)
		return 0;
	hs_error_set(err, "unsupported", "secret", "", "keys are not supported yet");
	return -ENOTSUP;
}
