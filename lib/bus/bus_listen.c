// SPDX-License-Identifier: BSD-3-Clause
#include "bus_listen.h"

#include "bus_endpoint.h"
#include "bus_socket.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define IPC	"ipc://"
#define TCP	"tcp://"
#define BACKLOG 1024

struct address {
	struct sockaddr_storage bytes;
	socklen_t len;
};

static int failed(struct hs_error *err, const char *path, const char *endpoint, int fd)
{
	int rc = hs_bus_error(err, errno == EADDRINUSE ? "in_use" : "endpoint", path, endpoint);

	if (fd >= 0)
		close(fd);
	return rc;
}

static int open_at(const struct address *address)
{
	int on = 1,
	    fd = socket(address->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (address->bytes.ss_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	else
		fchmod(fd, 0600); // until the file gets its final mode
	if (bind(fd, (const struct sockaddr *)&address->bytes, address->len) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

// ---- ipc ----

static int listen_ipc(const char *endpoint, const char *path, struct hs_error *err)
{
	struct address address = {.len = 0};
	struct sockaddr_un *name = (struct sockaddr_un *)&address.bytes;
	const char *file = endpoint + strlen(IPC);
	bool abstract = file[0] == '@';

	int rc = hs_bus_ipc_prepare(endpoint, path, err);
	if (rc)
		return rc;
	name->sun_family = AF_UNIX;
	snprintf(name->sun_path, sizeof(name->sun_path), "%s", file);
	if (abstract)
		name->sun_path[0] = '\0';
	address.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(file));
	address.len += abstract ? 0 : 1;
	int fd = open_at(&address);
	if (fd < 0)
		return failed(err, path, endpoint, -1);
	if ((!abstract && chmod(file, 0660)) || listen(fd, BACKLOG))
		return failed(err, path, endpoint, fd);
	return fd;
}

// ---- tcp ----

static bool take_nic(const char *host, uint16_t port, struct address *address)
{
	struct ifaddrs *all = NULL;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (int v6 = 0; v6 <= 1 && !found; v6++)
		for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
			if (!one->ifa_addr || strcmp(one->ifa_name, host) != 0 ||
					one->ifa_addr->sa_family != (v6 ? AF_INET6 : AF_INET))
				continue;
			address->len = v6 ? sizeof(struct sockaddr_in6)
					  : sizeof(struct sockaddr_in);
			memcpy(&address->bytes, one->ifa_addr, address->len);
			if (v6)
				((struct sockaddr_in6 *)&address->bytes)->sin6_port = htons(port);
			else
				((struct sockaddr_in *)&address->bytes)->sin_port = htons(port);
			found = true;
		}
	freeifaddrs(all);
	return found;
}

static bool take_name(const char *host, uint16_t port, struct address *address)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *found = NULL;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(host, service, &hints, &found))
		return false;
	memcpy(&address->bytes, found->ai_addr, found->ai_addrlen);
	address->len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

// Listens on all addresses, of both families if there are two.
static int open_any(uint16_t port)
{
	struct address address = {.len = sizeof(struct sockaddr_in6)};
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address.bytes;

	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	int off = 0, fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0) {
		int on = 1;
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		if (bind(fd, (struct sockaddr *)v6, sizeof(*v6)) == 0)
			return fd;
		int error = errno;
		close(fd);
		errno = error;
		if (error != EADDRNOTAVAIL)
			return -1;
	}
	struct address v4 = {.len = sizeof(struct sockaddr_in)};
	((struct sockaddr_in *)&v4.bytes)->sin_family = AF_INET;
	((struct sockaddr_in *)&v4.bytes)->sin_port = htons(port);
	return open_at(&v4);
}

static int listen_tcp(const char *endpoint, const char *path, struct hs_error *err)
{
	const char *from = endpoint + strlen(TCP), *colon = strrchr(from, ':');
	struct address address = {.len = 0};
	char host[256];
	uint16_t port;
	size_t len = colon ? (size_t)(colon - from) : 0;

	if (len == 0 || len >= sizeof(host) || !hs_bus_take_port(colon + 1, &port))
		return hs_error_set(err, "endpoint", path, "tcp://address:port", "%s is none",
				endpoint);
	bool braced = from[0] == '[' && from[len - 1] == ']';
	snprintf(host, sizeof(host), "%.*s", (int)(braced ? len - 2 : len), from + braced);
	int fd;
	if (strcmp(host, "*") == 0)
		fd = open_any(port);
	else if (take_nic(host, port, &address) || take_name(host, port, &address))
		fd = open_at(&address);
	else {
		errno = ENODEV;
		fd = -1;
	}
	if (fd < 0)
		return failed(err, path, endpoint, -1);
	return listen(fd, BACKLOG) ? failed(err, path, endpoint, fd) : fd;
}

int hs_bus_listen(const char *endpoint, const char *path, struct hs_error *err)
{
	return strncmp(endpoint, IPC, strlen(IPC)) == 0 ? listen_ipc(endpoint, path, err)
							: listen_tcp(endpoint, path, err);
}
