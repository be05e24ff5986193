// SPDX-License-Identifier: BSD-3-Clause
#include "bus_visit.h"

#include <zmq.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct sockaddr_un hs_bus_inner_name(uint64_t gate, unsigned kind, socklen_t *len)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "hopsight-gate-%016llx-%u",
			(unsigned long long)gate, kind);

	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return name;
}

#define CONNECTION_HEAD "hopsight-connection-"
#define NAME_DIGITS	16
#define VISIT_DIGITS	16

struct sockaddr_un hs_bus_visit_name(uint64_t gate, struct hs_bus_visit visit, socklen_t *len)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
			CONNECTION_HEAD "%016llx-%08x%08x", (unsigned long long)gate, visit.place,
			visit.serial);

	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return name;
}

static uint64_t read_digits(const char *text, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value = value << 4 |
			(uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
	return value;
}

// The name of the gate's end of the private connection contains the place and the serial number.
// ZeroMQ knows the descriptor of its own end. The peer of that descriptor is the gate's end as long
// as both are open.
struct hs_bus_visit hs_bus_visit_of(uint64_t gate, void *message)
{
	struct sockaddr_un name;
	socklen_t len = sizeof(name);
	size_t head = strlen(CONNECTION_HEAD);
	const char *text = name.sun_path + 1;
	int fd = zmq_msg_get(message, ZMQ_SRCFD);

	if (fd < 0 || getpeername(fd, (struct sockaddr *)&name, &len) ||
			len != offsetof(struct sockaddr_un, sun_path) + 1 + head + NAME_DIGITS + 1 +
							VISIT_DIGITS ||
			memcmp(text, CONNECTION_HEAD, head) != 0 ||
			read_digits(text + head, NAME_DIGITS) != gate)
		return (struct hs_bus_visit){0};
	uint64_t visit = read_digits(text + head + NAME_DIGITS + 1, VISIT_DIGITS);
	return (struct hs_bus_visit){.place = (uint32_t)(visit >> 32), .serial = (uint32_t)visit};
}
