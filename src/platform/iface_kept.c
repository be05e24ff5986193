// SPDX-License-Identifier: BSD-3-Clause
// Keeps an interface's original settings in a file until they are restored. A node that is killed
// cannot restore them, and the next node finds the changed interface.
//
// There is one file for each interface of each network namespace. It is written completely beside
// its place and then moved there. A file is ignored if others could have written it, if it is
// damaged, or if its interface has been deleted since.
#include "port_private.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/run/hopsight"
#define KEPT_FORMAT                                                                                \
	"hopsight interface 1\nindex %u\ndisable_ipv6 %d\ngro %d\nlro %d\nrx_vlan %d\n"            \
	"was_down %d\nend\n"
#define KEPT_BYTES 256

// Returns an id that is never used for a second namespace before the machine restarts, unlike the
// number of the namespace's file.
static uint64_t namespace_id(void)
{
	uint64_t id = 0;
#ifdef SO_NETNS_COOKIE
	socklen_t len = sizeof(id);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &id, &len) < 0)
		id = 0;
	if (fd >= 0)
		close(fd);
#endif
	struct stat status;
	if (id == 0 && stat("/proc/self/ns/net", &status) == 0)
		id = status.st_ino;
	return id;
}

static void file_name(const struct iface *iface, const char *suffix, char *name, size_t size)
{
	snprintf(name, size, FOLDER "/interface-%" PRIu64 "-%s%s", namespace_id(), iface->name,
			suffix);
}

static bool is_trusted(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       (status.st_uid == geteuid() || status.st_uid == 0) &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

// Reads exactly what keep() writes, with values that keep() can have written. Returns false for any
// other text.
static bool parse(const char *text, unsigned *index, struct iface_saved *saved)
{
	char again[KEPT_BYTES];

	if (sscanf(text, KEPT_FORMAT, index, &saved->disable_ipv6, &saved->gro, &saved->lro,
			    &saved->rx_vlan, &saved->was_down) != 6)
		return false;
	const int values[] = {saved->disable_ipv6, saved->gro, saved->lro, saved->rx_vlan,
			saved->was_down};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i] < -1 || values[i] > 1)
			return false;
	snprintf(again, sizeof(again), KEPT_FORMAT, *index, saved->disable_ipv6, saved->gro,
			saved->lro, saved->rx_vlan, saved->was_down);
	return strcmp(text, again) == 0;
}

bool iface_kept_read(const struct iface *iface, struct iface_saved *saved)
{
	char name[128], text[KEPT_BYTES] = "";
	unsigned index = 0;

	file_name(iface, "", name, sizeof(name));
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		if (errno != ENOENT)
			hs_log(HS_LOG_WARNING, "port", "%s cannot be read and is ignored: %s", name,
					strerror(errno));
		return false;
	}
	bool trusted = is_trusted(fd);
	bool whole = trusted && read(fd, text, sizeof(text) - 1) > 0 && parse(text, &index, saved);
	close(fd);
	if (!whole) {
		hs_log(HS_LOG_WARNING, "port",
				"%s is %s and is ignored: what interface %s was before an earlier "
				"node changed it is not known",
				name,
				trusted ? "damaged" : "not a file that only this user can write",
				iface->name);
		return false;
	}
	return index == iface->index; // else it belongs to an earlier interface
}

static bool write_whole(int fd, const char *text)
{
	size_t len = strlen(text);
	bool written = write(fd, text, len) == (ssize_t)len;

	return close(fd) == 0 && written;
}

void iface_kept_write(const struct iface *iface)
{
	const struct iface_saved *saved = &iface->saved;
	char name[128], aside[128], text[KEPT_BYTES];

	file_name(iface, "", name, sizeof(name));
	file_name(iface, ".new", aside, sizeof(aside));
	snprintf(text, sizeof(text), KEPT_FORMAT, iface->index, saved->disable_ipv6, saved->gro,
			saved->lro, saved->rx_vlan, saved->was_down);
	mkdir(FOLDER, 0755);
	unlink(aside); // left by a node that was killed meanwhile
	int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && write_whole(fd, text) && rename(aside, name) == 0)
		return;
	hs_log(HS_LOG_WARNING, "port",
			"%s cannot be written: if the node is killed, interface %s stays as it is "
			"now: %s",
			name, iface->name, strerror(errno));
	unlink(aside);
}

void iface_kept_remove(const struct iface *iface)
{
	char name[128];

	file_name(iface, "", name, sizeof(name));
	unlink(name);
}
