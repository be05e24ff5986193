// SPDX-License-Identifier: BSD-3-Clause
#include "socket_buffer.h"

#include <sys/socket.h>

void hs_socket_buffer_set(int fd, uint32_t kib)
{
	int bytes = (int)(kib * 1024);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

// The kernel doubles what it is asked for, for its own overhead.
uint32_t hs_socket_buffer_kib(int fd)
{
	int bytes = 0;
	socklen_t len = sizeof(bytes);

	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len);
	return (uint32_t)bytes / 2048;
}
