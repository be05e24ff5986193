// SPDX-License-Identifier: BSD-3-Clause
// The server as its parts see it: http.c (the owner's side and the thread), http_answer.c
// (requests), http_connection.c (who is connected, and for how long). For lib/http only.
//
// Thread rule: the server thread, except for what `lock` protects.
#pragma once

#include "http_config.h"

#include <microhttpd.h>
#include <pthread.h>
#include <sys/queue.h>

struct hs_http;

enum http_state {
	HTTP_READING_FIRST, // no request has come yet
	HTTP_ANSWERING,	    // from the end of the request's head to the end of the answer
	HTTP_WAITING,	    // for a page
	HTTP_IDLE,	    // kept open for another request
};

// A page of metrics that connections have in common.
struct http_page {
	unsigned refs; // connections that are to answer with it
	struct MHD_Response *plain, *gzip;
	const char *text;
	size_t len;
	bool not_smaller; // compression did not make the page smaller
};

struct http_connection {
	struct hs_http *http;
	struct MHD_Connection *mhd;
	int fd;
	uint8_t address[16];
	enum http_state state;
	int64_t since_ns; // since when the connection has its state
	bool openmetrics; // the format that it waits for
	bool answered;	  // the wait is over: `page` is what it gets; NULL: none
	struct http_page *page;
	TAILQ_ENTRY(http_connection) order, in_line;
};
TAILQ_HEAD(http_line, http_connection);

struct hs_http {
	struct hs_http_config config;
	struct MHD_Daemon *mhd;
	pthread_t thread;
	bool runs;
	int wake_fd; // for the owner
	int work_fd; // for the thread
	bool stop;   // atomic

	struct http_line connections;
	unsigned n_connections;
	struct hs_http_counters counters; // `pages` is the owner's
	struct MHD_Response *healthy, *ready, *index;

	pthread_mutex_t lock;
	struct http_line lines[2]; // connections that wait: for text, for OpenMetrics
	struct http_line served;   // connections that do not wait any more
	bool woken;		   // wake_fd is readable
	char why_not_ready[128];   // "": ready

	int64_t owner_ns; // when the owner served last; atomic
	int64_t next_ns;  // of the owner: the next page is not made before
	int64_t due_ns;	  // of the owner: when a client gets its page; INT64_MAX: none waits
};

static inline void http_count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

// ---- http_connection.c ----

void http_connection_notify(void *context, struct MHD_Connection *mhd, void **socket_context,
		enum MHD_ConnectionNotificationCode code);
// Ends a request.
void http_connection_done(void *context, struct MHD_Connection *mhd, void **request,
		enum MHD_RequestTerminationCode code);
enum MHD_Result http_connection_admit(void *context, const struct sockaddr *address, socklen_t len);
void http_connection_enter(struct http_connection *connection, enum http_state state);
// Ends connections that took too long.
void http_connection_look(struct hs_http *http);
struct http_connection *http_connection_of(struct MHD_Connection *mhd);

// ---- http_answer.c ----

enum MHD_Result http_answer(void *context, struct MHD_Connection *mhd, const char *url,
		const char *method, const char *version, const char *upload, size_t *upload_len,
		void **request);
// Makes and frees the answers that are always the same. Returns 0 or -ENOMEM.
int http_answer_init(struct hs_http *http);
void http_answer_fini(struct hs_http *http);

// Makes a page with this many references. Takes over the text. Returns NULL if memory is out.
struct http_page *http_page_make(char *text, size_t len, bool openmetrics, unsigned refs);
void http_page_drop(struct http_page *page); // accepts NULL
