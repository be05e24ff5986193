// SPDX-License-Identifier: BSD-3-Clause
#include "sd_notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int hs_sd_notify(const char *state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	if (!path || !path[0])
		return 0;
	size_t len = strlen(path);
	if (len >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, len);
	if (path[0] == '@')
		address.sun_path[0] = '\0'; // selects the abstract namespace

	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	int rc = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
				 size) < 0
				 ? -errno
				 : 0;
	close(fd);
	return rc;
}
