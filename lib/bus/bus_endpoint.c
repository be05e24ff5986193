// SPDX-License-Identifier: BSD-3-Clause
#include "bus_endpoint.h"

#include "bus_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define IPC "ipc://"
#define TCP "tcp://"

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_loopback(const char *endpoint)
{
	char host[64];
	const char *from = endpoint + strlen(TCP);
	const char *colon = strrchr(from, ':');
	unsigned a, b, c, d;
	char rest;

	if (!colon || (size_t)(colon - from) >= sizeof(host))
		return false;
	memcpy(host, from, (size_t)(colon - from));
	host[colon - from] = '\0';
	if (strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
		return true;
	return sscanf(host, "%u.%u.%u.%u%c", &a, &b, &c, &d, &rest) == 4 && a == 127 && b < 256 &&
	       c < 256 && d < 256;
}

static int check_ipc(const char *endpoint, bool insecure, const char *path, struct hs_error *err)
{
	const char *file = endpoint + strlen(IPC);
	size_t room = sizeof(((struct sockaddr_un *)0)->sun_path);

	if (file[0] == '@')
		return insecure ? 0
				: hs_error_set(err, "insecure", path,
						  "ipc:///path, keys, or \"insecure\": true",
						  "%s: no file permission guards an abstract name",
						  endpoint);
	if (file[0] != '/')
		return hs_error_set(err, "bad_value", path, "ipc:///path",
				"%s: the path is not absolute", endpoint);
	if (strlen(file) >= room)
		return hs_error_set(err, "out_of_range", path, "a path of at most 107 bytes",
				"%.80s...: the path has %zu bytes", endpoint, strlen(file));
	return 0;
}

bool hs_bus_take_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long number = strcmp(text, "*") == 0 ? 0 : strtoul(text, &end, 10);

	if (strcmp(text, "*") != 0 && (text[0] < '0' || text[0] > '9' || *end || number > 65535))
		return false;
	*port = (uint16_t)number;
	return true;
}

int hs_bus_check_endpoint(
		const char *endpoint, bool insecure, const char *path, struct hs_error *err)
{
	if (starts(endpoint, IPC))
		return check_ipc(endpoint, insecure, path, err);
	if (!starts(endpoint, TCP) || !strrchr(endpoint + strlen(TCP), ':'))
		return hs_error_set(err, "bad_value", path, "ipc:///path or tcp://address:port",
				"%s is not an endpoint", endpoint);
	uint16_t port;
	if (!hs_bus_take_port(strrchr(endpoint, ':') + 1, &port))
		return hs_error_set(err, "bad_value", path, "ipc:///path or tcp://address:port",
				"%s has no port from 0 to 65535", endpoint);
	if (insecure || is_loopback(endpoint))
		return 0;
	return hs_error_set(err, "insecure", path,
			"ipc:///path, tcp://127.0.0.1:port, keys, or \"insecure\": true",
			"%s: anyone who reaches it could read and change rules", endpoint);
}

// ---- ipc files ----

static int make_directories(const char *file, const char *path, struct hs_error *err)
{
	char directory[sizeof(((struct sockaddr_un *)0)->sun_path)];

	snprintf(directory, sizeof(directory), "%s", file);
	for (char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(directory, 0755) == 0)
			chmod(directory, 0755); // with any umask
		else if (errno != EEXIST)
			return hs_bus_error(err, "endpoint", path, directory);
		*slash = '/';
	}
	return 0;
}

bool hs_bus_ipc_is_file(const char *endpoint)
{
	return starts(endpoint, IPC "/");
}

static int probe(const char *file)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", file);
	int rc = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	close(fd);
	return rc;
}

int hs_bus_ipc_probe(const char *endpoint)
{
	return probe(endpoint + strlen(IPC));
}

int hs_bus_ipc_prepare(const char *endpoint, const char *path, struct hs_error *err)
{
	const char *file = endpoint + strlen(IPC);
	struct stat status;

	if (file[0] == '@')
		return 0;
	int rc = make_directories(file, path, err);
	if (rc)
		return rc;
	if (lstat(file, &status))
		return errno == ENOENT ? 0 : hs_bus_error(err, "endpoint", path, file);
	// ZeroMQ would remove any file, even the socket of a living process.
	if (!S_ISSOCK(status.st_mode)) {
		hs_error_set(err, "endpoint", path, "a path that is free, or a socket",
				"%s is a file, not a socket", file);
		return -EEXIST;
	}
	if (probe(file) != -ECONNREFUSED) {
		hs_error_set(err, "in_use", path, "an endpoint of its own for each process",
				"%s: another process answers there", file);
		return -EADDRINUSE;
	}
	return unlink(file) ? hs_bus_error(err, "endpoint", path, file) : 0;
}

void hs_bus_ipc_remove(const char *endpoint)
{
	if (hs_bus_ipc_is_file(endpoint))
		unlink(endpoint + strlen(IPC));
}
