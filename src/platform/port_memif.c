// SPDX-License-Identifier: BSD-3-Clause
// Work that net_memif (DPDK 22.11) leaves to its user. A server does not start over the socket file
// of a killed one. A client calls its server only once, when it is started. Rings are unmapped when
// a peer leaves, even while they are in use.
#include "port.h"

#include "port_private.h"

#include "log.h"

#include <rte_dev.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool is_memif(const char *devargs)
{
	return strncmp(devargs, "net_memif", strlen("net_memif")) == 0;
}

static bool is_server(const char *devargs)
{
	return strstr(devargs, "role=server") || strstr(devargs, "role=master");
}

bool port_memif_is_client(const char *devargs)
{
	return is_memif(devargs) && !is_server(devargs); // a client unless told otherwise
}

bool port_is_memif(const struct hs_port *port)
{
	return port->config.kind == HS_PORT_DEVARGS && is_memif(port->config.device);
}

bool hs_port_frees_rings(const struct hs_port *port)
{
	return port_is_memif(port);
}

// Returns the path of the socket if it is a file.
static bool socket_path(const char *devargs, struct sockaddr_un *address)
{
	const char *at = strstr(devargs, ",socket=");

	if (!at || !strstr(devargs, "socket-abstract=no"))
		return false;
	at += strlen(",socket=");
	size_t len = strcspn(at, ",");
	if (len == 0 || len >= sizeof(address->sun_path))
		return false;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address->sun_path, at, len);
	return true;
}

static bool is_orphan(const struct sockaddr_un *address)
{
	struct stat status;

	if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode))
		return false;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	int ret = connect(fd, (const struct sockaddr *)address, sizeof(*address));
	bool refused = ret < 0 && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

static void make_directory(const char *path)
{
	char directory[sizeof(((struct sockaddr_un *)0)->sun_path)];

	snprintf(directory, sizeof(directory), "%s", path);
	char *slash = strrchr(directory, '/');
	if (!slash || slash == directory)
		return;
	*slash = '\0';
	if (mkdir(directory, 0755) == 0)
		chmod(directory, 0755); // with any umask
}

void port_memif_prepare(const char *devargs)
{
	struct sockaddr_un address;

	if (!is_memif(devargs) || !is_server(devargs) || !socket_path(devargs, &address))
		return;
	make_directory(address.sun_path);
	if (!is_orphan(&address))
		return;
	hs_log(HS_LOG_NOTICE, "port", "nobody listens on %s: removing what a killed process left",
			address.sun_path);
	unlink(address.sun_path);
}

int port_memif_probe(const char *devargs)
{
	if (!is_memif(devargs))
		return rte_dev_probe(devargs);
	// The mode must be right from the first moment, because it is the only protection against
	// connections.
	mode_t mask = umask(0117);
	int ret = rte_dev_probe(devargs);
	umask(mask);
	return ret;
}
