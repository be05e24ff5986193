// SPDX-License-Identifier: BSD-3-Clause
#include "socket_buffer.h"

#include "log.h"

#include <sys/socket.h>

#include <inttypes.h>

void hs_socket_buffer_set(int fd, uint32_t kib)
{
	int bytes = (int)(kib * 1024);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

// Halves the kernel's number, because the kernel doubles what it is asked for, for its overhead.
uint32_t hs_socket_buffer_kib(int fd)
{
	int bytes = 0;
	socklen_t len = sizeof(bytes);

	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len);
	return (uint32_t)bytes / 2048;
}

void hs_socket_buffer_tell(const char *module, const char *path, uint32_t kib, uint32_t wanted_kib)
{
	if (kib < wanted_kib)
		hs_log(HS_LOG_WARNING, module,
				"%s: the kernel gives a buffer of %" PRIu32
				" KiB in place of %" PRIu32 " (sysctl net.core.rmem_max)",
				path, kib, wanted_kib);
}
