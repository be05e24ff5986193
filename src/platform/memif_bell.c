// SPDX-License-Identifier: BSD-3-Clause
#include "memif_bell.h"

#include "port_private.h"

#include <rte_cycles.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// A worker that received packets looks at its ports again after at most HS_PACE_LOOK_SOON_US, and
// sleeps longer only if this look found none. That is more than two such pauses.
#define PAUSE_US      20
#define QUIET_AT_ONCE 64 // datagrams

// The default of net_memif.
#define DEFAULT_SOCKET "/run/memif.sock"

struct name {
	struct sockaddr_un address;
	socklen_t len;
};

struct memif_bell {
	int fd, other_fd; // own: bound; other_fd: connected
	struct name own, other;
	_Atomic bool known; // the other end's bell was found
	struct {
		alignas(PORT_APART) uint64_t last; // ticks: packets were sent
	} queues[HS_MAX_WORKERS];
};

// ---- names ----

static size_t find_value(const char *devargs, const char *key, const char **value)
{
	const char *at = strstr(devargs, key);

	if (!at)
		return 0;
	*value = at + strlen(key);
	return strcspn(*value, ",");
}

// Makes the name of a bell. An abstract name of memif has an abstract bell: both end with their
// process.
static bool make_name(struct name *name, const char *devargs, const char *role)
{
	const char *path = DEFAULT_SOCKET, *id = "0";
	size_t path_bytes = find_value(devargs, ",socket=", &path) ?: strlen(path);
	size_t id_bytes = find_value(devargs, ",id=", &id) ?: 1;
	size_t hidden = !strstr(devargs, "socket-abstract=no");
	char *to = name->address.sun_path;
	size_t room = sizeof(name->address.sun_path) - hidden;

	name->address = (struct sockaddr_un){.sun_family = AF_UNIX};
	int n = snprintf(to + hidden, room, "%.*s.%.*s.%s", (int)path_bytes, path, (int)id_bytes,
			id, role);
	name->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + hidden + (size_t)n);
	return n > 0 && (size_t)n < room;
}

static bool is_file(const struct name *name)
{
	return name->address.sun_path[0] != '\0';
}

static const struct sockaddr *address_of(const struct name *name)
{
	return (const struct sockaddr *)&name->address;
}

// ---- opening ----

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// Returns whether the bell's socket was left by a process that ended. Linux also refuses
// connections to files that are no sockets.
static bool is_left_over(struct memif_bell *bell)
{
	struct stat status;

	return is_file(&bell->own) && lstat(bell->own.address.sun_path, &status) == 0 &&
	       S_ISSOCK(status.st_mode) &&
	       connect(bell->other_fd, address_of(&bell->own), bell->own.len) < 0 &&
	       errno == ECONNREFUSED;
}

// Binds the bell's own socket. The mode must be right from the first moment, as for memif's own
// socket.
static int bind_own(struct memif_bell *bell)
{
	mode_t mask = umask(0117);
	int ret = bind(bell->fd, address_of(&bell->own), bell->own.len);

	if (ret < 0 && errno == EADDRINUSE && is_left_over(bell)) {
		unlink(bell->own.address.sun_path);
		ret = bind(bell->fd, address_of(&bell->own), bell->own.len);
	}
	umask(mask);
	return ret;
}

static void free_bell(struct memif_bell *bell)
{
	if (bell->fd >= 0)
		close(bell->fd);
	if (bell->other_fd >= 0)
		close(bell->other_fd);
	free(bell);
}

struct memif_bell *memif_bell_open(const char *devargs)
{
	bool client = port_memif_is_client(devargs);
	struct memif_bell *bell = aligned_alloc(alignof(struct memif_bell), sizeof(*bell));

	if (!bell)
		return NULL;
	memset(bell, 0, sizeof(*bell));
	bell->fd = open_socket();
	bell->other_fd = open_socket();
	if (bell->fd >= 0 && bell->other_fd >= 0 &&
			make_name(&bell->own, devargs, client ? "client" : "server") &&
			make_name(&bell->other, devargs, client ? "server" : "client") &&
			bind_own(bell) == 0)
		return bell;
	free_bell(bell);
	return NULL;
}

void memif_bell_close(struct memif_bell *bell)
{
	if (!bell)
		return;
	if (is_file(&bell->own))
		unlink(bell->own.address.sun_path);
	free_bell(bell);
}

// ---- ringing ----

static void send_ring(struct memif_bell *bell)
{
	// A full socket rings already. After other errors, the other end's process is gone.
	if (send(bell->other_fd, NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
		bell->known = false;
}

void memif_bell_connect(struct memif_bell *bell)
{
	if (bell->known || connect(bell->other_fd, address_of(&bell->other), bell->other.len) < 0)
		return;
	bell->known = true;
	send_ring(bell); // so that the other end knows that this one rings
}

void memif_bell_ring(struct memif_bell *bell, uint16_t queue)
{
	uint64_t now = rte_rdtsc(), pause = now - bell->queues[queue].last;

	bell->queues[queue].last = now;
	if (pause >= rte_get_tsc_hz() / 1000000 * PAUSE_US &&
			atomic_load_explicit(&bell->known, memory_order_relaxed))
		send_ring(bell);
}

int memif_bell_fd(const struct memif_bell *bell)
{
	return bell->fd;
}

bool memif_bell_quiet(int fd)
{
	char byte;
	unsigned n = 0;

	// A peer that rings without end costs a worker no more than this at once.
	while (n < QUIET_AT_ONCE && recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) >= 0)
		n++;
	return n > 0;
}
