// SPDX-License-Identifier: BSD-3-Clause
#include "http_parts.h"

#include "ip_address.h"
#include "os_clock.h"
#include "socket_address.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MAX_OF_ADDRESS 64
#define CROWDED	       (2 * MAX_OF_ADDRESS) // from so many connections on, none is kept open
#define SECOND_NS      INT64_C(1000000000)

static const int64_t longest_ns[] = {
		[HTTP_READING_FIRST] = 10 * SECOND_NS,
		[HTTP_ANSWERING] = 30 * SECOND_NS,
		[HTTP_WAITING] = 5 * SECOND_NS,
		[HTTP_IDLE] = 75 * SECOND_NS, // Prometheus asks every 15 to 60 s
};

struct http_connection *http_connection_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void http_connection_enter(struct http_connection *connection, enum http_state state)
{
	connection->state = state;
	connection->since_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
}

static void take_address(const struct sockaddr *from, uint8_t address[16])
{
	hs_socket_address_read(from, address);
	hs_ip_address_of_host(address);
}

enum MHD_Result http_connection_admit(void *context, const struct sockaddr *address, socklen_t len)
{
	struct hs_http *http = context;
	const struct http_connection *other;
	uint8_t own[16];
	unsigned n = 0;

	(void)len;
	take_address(address, own);
	TAILQ_FOREACH (other, &http->connections, order)
		n += memcmp(other->address, own, sizeof(own)) == 0;
	if (n < MAX_OF_ADDRESS)
		return MHD_YES;
	http_count(&http->counters.turned_away);
	return MHD_NO;
}

static void begin(struct hs_http *http, struct MHD_Connection *mhd, void **socket_context)
{
	struct http_connection *connection = calloc(1, sizeof(*connection));

	*socket_context = connection;
	if (!connection)
		return;
	connection->http = http;
	connection->mhd = mhd;
	connection->fd =
			MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	take_address(MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr,
			connection->address);
	http_connection_enter(connection, HTTP_READING_FIRST);
	TAILQ_INSERT_TAIL(&http->connections, connection, order);
	http->n_connections++;
	http_count(&http->counters.connections);
}

static void end(struct hs_http *http, struct http_connection *connection)
{
	TAILQ_REMOVE(&http->connections, connection, order);
	http->n_connections--;
	http_page_drop(connection->page);
	free(connection);
}

void http_connection_notify(void *context, struct MHD_Connection *mhd, void **socket_context,
		enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		begin(context, mhd, socket_context);
	else if (*socket_context)
		end(context, *socket_context);
}

void http_connection_done(void *context, struct MHD_Connection *mhd, void **request,
		enum MHD_RequestTerminationCode code)
{
	struct hs_http *http = context;
	struct http_connection *connection = http_connection_of(mhd);

	(void)code;
	*request = NULL;
	if (!connection)
		return;
	http_connection_enter(connection, HTTP_IDLE);
	// The answer still goes out. No further request is read, so that the place becomes free.
	if (http->n_connections >= CROWDED)
		shutdown(connection->fd, SHUT_RD);
}

// Answers that there is no page, if the connection still waits in line.
static void give_up(struct http_connection *connection)
{
	struct hs_http *http = connection->http;
	struct http_line *line = &http->lines[connection->openmetrics];
	struct http_connection *other;

	pthread_mutex_lock(&http->lock);
	TAILQ_FOREACH (other, line, in_line)
		if (other == connection)
			break;
	if (other)
		TAILQ_REMOVE(line, connection, in_line);
	pthread_mutex_unlock(&http->lock);
	if (!other)
		return;
	connection->answered = true;
	MHD_resume_connection(connection->mhd);
}

void http_connection_look(struct hs_http *http)
{
	int64_t now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	struct http_connection *connection;

	TAILQ_FOREACH (connection, &http->connections, order) {
		if (now_ns - connection->since_ns < longest_ns[connection->state])
			continue;
		if (connection->state == HTTP_WAITING) {
			give_up(connection);
			continue;
		}
		if (connection->state != HTTP_IDLE)
			http_count(&http->counters.too_slow);
		shutdown(connection->fd, SHUT_RDWR); // the library then ends it
		connection->since_ns = now_ns;
	}
}
