// SPDX-License-Identifier: BSD-3-Clause
#include "http.h"
#include "http_parts.h"

#include "os_clock.h"
#include "socket_address.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_CONNECTIONS	 256
#define CONNECTION_BYTES 8192 // the head of a request, and that of its answer
#define BACKLOG		 128
#define LOOK_MS		 250
#define PAGES_PER_S	 10
#define SECOND_NS	 INT64_C(1000000000)

// ---- the owner's side ----

static void take_line(struct hs_http *http, bool openmetrics, struct http_line *line)
{
	TAILQ_INIT(line);
	pthread_mutex_lock(&http->lock);
	TAILQ_CONCAT(line, &http->lines[openmetrics], in_line);
	pthread_mutex_unlock(&http->lock);
}

// Hands connections and their page to the server thread, because only this thread calls the
// library.
static void give(struct hs_http *http, struct http_line *line, struct http_page *page)
{
	struct http_connection *connection;

	TAILQ_FOREACH (connection, line, in_line)
		connection->page = page;
	pthread_mutex_lock(&http->lock);
	TAILQ_CONCAT(&http->served, line, in_line);
	pthread_mutex_unlock(&http->lock);
	eventfd_write(http->work_fd, 1);
}

static void make_page(struct hs_http *http, bool openmetrics, struct http_line *line)
{
	const struct http_connection *connection;
	unsigned n = 0;
	size_t len = 0;

	TAILQ_FOREACH (connection, line, in_line)
		n++;
	char *text = http->config.page(http->config.context, openmetrics, &len);
	http_count(&http->counters.pages);
	give(http, line, text ? http_page_make(text, len, openmetrics, n) : NULL);
}

static bool is_woken(struct hs_http *http)
{
	eventfd_t ignored;

	if (!__atomic_load_n(&http->woken, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&http->lock);
	eventfd_read(http->wake_fd, &ignored);
	__atomic_store_n(&http->woken, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&http->lock);
	return true;
}

int64_t hs_http_serve(struct hs_http *http, int64_t now_ns)
{
	struct http_line line;

	if (!http)
		return INT64_MAX;
	__atomic_store_n(&http->owner_ns, now_ns, __ATOMIC_RELAXED);
	if (is_woken(http))
		http->due_ns = http->next_ns;
	if (now_ns < http->due_ns)
		return http->due_ns;
	http->due_ns = INT64_MAX;
	int64_t begin_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	for (unsigned openmetrics = 0; openmetrics < 2; openmetrics++) {
		take_line(http, openmetrics, &line);
		if (TAILQ_EMPTY(&line))
			continue;
		make_page(http, openmetrics, &line);
		// Pages have at most half of the owner's time, however long one takes.
		int64_t twice_ns = 2 * (hs_os_clock_ns(CLOCK_MONOTONIC) - begin_ns);
		int64_t pause_ns = SECOND_NS / http->config.pages_per_s;
		http->next_ns = now_ns + (twice_ns > pause_ns ? twice_ns : pause_ns);
	}
	return http->due_ns;
}

int hs_http_fd(const struct hs_http *http)
{
	return http ? http->wake_fd : -1;
}

void hs_http_set_ready(struct hs_http *http, const char *why_not)
{
	if (!http)
		return;
	pthread_mutex_lock(&http->lock);
	snprintf(http->why_not_ready, sizeof(http->why_not_ready), "%s", why_not ? why_not : "");
	pthread_mutex_unlock(&http->lock);
}

void hs_http_counters(const struct hs_http *http, struct hs_http_counters *counters)
{
	const uint64_t *from = http ? (const uint64_t *)&http->counters : NULL;
	uint64_t *to = (uint64_t *)counters;

	memset(counters, 0, sizeof(*counters));
	for (size_t i = 0; http && i < sizeof(*counters) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

// ---- the thread ----

static int wait_ms(struct hs_http *http)
{
	MHD_UNSIGNED_LONG_LONG soon_ms;
	int ms = http->n_connections ? LOOK_MS : -1;

	if (MHD_get_timeout(http->mhd, &soon_ms) != MHD_YES)
		return ms;
	return ms < 0 || soon_ms < (unsigned)ms ? (int)(soon_ms < INT32_MAX ? soon_ms : INT32_MAX)
						: ms;
}

static void resume_served(struct hs_http *http)
{
	struct http_connection *connection;
	struct http_line served = TAILQ_HEAD_INITIALIZER(served);

	pthread_mutex_lock(&http->lock);
	TAILQ_CONCAT(&served, &http->served, in_line);
	pthread_mutex_unlock(&http->lock);
	TAILQ_FOREACH (connection, &served, in_line) {
		connection->answered = true;
		MHD_resume_connection(connection->mhd);
	}
}

static void *run(void *context)
{
	struct hs_http *http = context;
	eventfd_t ignored;
	struct pollfd fds[] = {
			{.fd = MHD_get_daemon_info(http->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
					.events = POLLIN},
			{.fd = http->work_fd, .events = POLLIN},
	};

	while (!__atomic_load_n(&http->stop, __ATOMIC_RELAXED)) {
		poll(fds, 2, wait_ms(http));
		if (fds[1].revents & POLLIN)
			eventfd_read(http->work_fd, &ignored);
		resume_served(http);
		MHD_run(http->mhd);
		http_connection_look(http);
	}
	return NULL;
}

// Starts the thread with all signals blocked, because the owner handles signals.
static int start_thread(struct hs_http *http)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&http->thread, NULL, run, http);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	http->runs = rc == 0;
	if (http->runs)
		pthread_setname_np(http->thread, "http");
	return -rc;
}

// ---- opening ----

static int say_no_socket(const struct hs_ip_port *bind, int rc, struct hs_error *err)
{
	char at[HS_IP_PORT_TEXT];

	hs_ip_port_write(bind, at);
	if (rc == -EADDRINUSE)
		hs_error_set(err, "address_in_use", "bind", "a port that nobody listens at",
				"somebody listens at %s already", at);
	else if (rc == -EADDRNOTAVAIL)
		hs_error_set(err, "no_such_address", "bind",
				"an address of this machine, 0.0.0.0 or [::]",
				"no interface has the address of %s", at);
	else if (rc == -EACCES)
		hs_error_set(err, "not_allowed", "bind", "a port from 1024 to 65535",
				"this process may not listen at %s", at);
	else
		hs_error_set(err, "not_listening", "bind", "", "%s: %s", at, strerror(-rc));
	return rc;
}

// Returns a descriptor, or a negative errno with *err.
static int listen_at(const struct hs_ip_port *at, struct hs_error *err)
{
	struct sockaddr_storage address;
	socklen_t len = hs_socket_address_of(at, &address);
	int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, rc = fd < 0 ? -errno : 0;

	if (rc == 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (rc == 0 && (bind(fd, (const struct sockaddr *)&address, len) < 0 ||
				       listen(fd, BACKLOG) < 0))
		rc = -errno;
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return say_no_socket(at, rc, err);
}

static int start_library(struct hs_http *http, int fd)
{
	http->mhd = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0,
			http_connection_admit, http, http_answer, http, MHD_OPTION_LISTEN_SOCKET,
			fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
			MHD_OPTION_NOTIFY_CONNECTION, http_connection_notify, http,
			MHD_OPTION_NOTIFY_COMPLETED, http_connection_done, http, MHD_OPTION_END);
	if (!http->mhd)
		close(fd);
	return http->mhd ? 0 : -ENOMEM;
}

static int start(struct hs_http *http, struct hs_error *err)
{
	http->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	http->work_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int rc = http->wake_fd < 0 || http->work_fd < 0 ? -errno : http_answer_init(http);
	int fd = rc < 0 ? rc : listen_at(&http->config.bind, err);

	if (fd < 0)
		return fd;
	rc = start_library(http, fd);
	return rc < 0 ? rc : start_thread(http);
}

int hs_http_open(const struct hs_http_config *config, struct hs_http **http, struct hs_error *err)
{
	struct hs_http *opened = calloc(1, sizeof(*opened));

	if (!opened)
		return hs_error_set(err, "no_memory", "bind", "", "memory is out"), -ENOMEM;
	opened->config = *config;
	if (!opened->config.pages_per_s)
		opened->config.pages_per_s = PAGES_PER_S;
	opened->wake_fd = opened->work_fd = -1;
	opened->due_ns = INT64_MAX;
	opened->owner_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	snprintf(opened->why_not_ready, sizeof(opened->why_not_ready), "starting");
	TAILQ_INIT(&opened->connections);
	TAILQ_INIT(&opened->lines[0]);
	TAILQ_INIT(&opened->lines[1]);
	TAILQ_INIT(&opened->served);
	pthread_mutex_init(&opened->lock, NULL);
	int rc = start(opened, err);
	if (rc < 0) {
		if (!hs_error_is_set(err))
			hs_error_set(err, "internal", "bind", "", "no server: %s", strerror(-rc));
		hs_http_close(opened);
		return rc;
	}
	*http = opened;
	return 0;
}

// The library does not end while connections are suspended.
static void stop_library(struct hs_http *http)
{
	struct http_line line;

	if (http->runs) {
		__atomic_store_n(&http->stop, true, __ATOMIC_RELAXED);
		eventfd_write(http->work_fd, 1);
		pthread_join(http->thread, NULL);
	}
	for (unsigned openmetrics = 0; openmetrics < 2; openmetrics++) {
		take_line(http, openmetrics, &line);
		give(http, &line, NULL);
	}
	resume_served(http);
	if (http->mhd)
		MHD_stop_daemon(http->mhd);
}

void hs_http_close(struct hs_http *http)
{
	if (!http)
		return;
	stop_library(http);
	http_answer_fini(http);
	if (http->wake_fd >= 0)
		close(http->wake_fd);
	if (http->work_fd >= 0)
		close(http->work_fd);
	pthread_mutex_destroy(&http->lock);
	free(http);
}
