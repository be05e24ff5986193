// SPDX-License-Identifier: BSD-3-Clause
#include "http_parts.h"

#include "os_clock.h"
#include "prometheus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <zlib.h>

#define SMALLEST_GZIP	4096
#define GZIP_WINDOW	(15 + 16) // zlib: with a header of gzip
#define LONGEST_SILENCE INT64_C(3000000000)
#define RETRY_S		"1"
#define METHODS		"GET, HEAD"
#define PLAIN_TEXT	"text/plain; charset=utf-8"

// ---- answers that are always the same ----

static struct MHD_Response *fixed(const char *type, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
			strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);

	if (response)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return response;
}

int http_answer_init(struct hs_http *http)
{
	char text[1024];

	snprintf(text, sizeof(text),
			"<!DOCTYPE html><html lang=\"en\"><title>%s</title><h1>%s</h1><ul>"
			"<li><a href=\"/metrics\">/metrics</a>: the metrics"
			"<li><a href=\"/-/healthy\">/-/healthy</a>: whether the process is there"
			"<li><a href=\"/-/ready\">/-/ready</a>: whether it does its work"
			"</ul></html>\n",
			http->config.program, http->config.program);
	http->index = fixed("text/html; charset=utf-8", text);
	http->healthy = fixed(PLAIN_TEXT, "healthy\n");
	http->ready = fixed(PLAIN_TEXT, "ready\n");
	return http->index && http->healthy && http->ready ? 0 : -ENOMEM;
}

static void destroy(struct MHD_Response *response)
{
	if (response)
		MHD_destroy_response(response);
}

void http_answer_fini(struct hs_http *http)
{
	destroy(http->index);
	destroy(http->healthy);
	destroy(http->ready);
}

// ---- pages ----

static void add_page_headers(struct MHD_Response *response, bool openmetrics)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
			hs_prometheus_content_type(openmetrics));
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
}

struct http_page *http_page_make(char *text, size_t len, bool openmetrics, unsigned refs)
{
	struct http_page *page = calloc(1, sizeof(*page));
	struct MHD_Response *plain =
			page ? MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE)
			     : NULL;

	if (!plain) {
		free(text);
		free(page);
		return NULL;
	}
	add_page_headers(plain, openmetrics);
	*page = (struct http_page){.refs = refs, .plain = plain, .text = text, .len = len};
	return page;
}

// Drops a reference to the page. The library keeps a text that it still sends.
void http_page_drop(struct http_page *page)
{
	if (!page || --page->refs)
		return;
	destroy(page->plain);
	destroy(page->gzip);
	free(page);
}

// Returns the number of compressed bytes, or 0 if the compression failed or makes nothing smaller.
static size_t compress_to(char *to, const char *text, size_t len)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)len};

	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY))
		return 0;
	stream.next_out = (Bytef *)to;
	stream.avail_out = (uInt)len;
	int rc = deflate(&stream, Z_FINISH);
	size_t n = stream.total_out;
	deflateEnd(&stream);
	return rc == Z_STREAM_END ? n : 0;
}

static struct MHD_Response *compressed(const struct http_page *page, bool openmetrics)
{
	char *bytes = page->len < UINT32_MAX ? malloc(page->len) : NULL;
	size_t n = bytes ? compress_to(bytes, page->text, page->len) : 0;
	struct MHD_Response *response =
			n ? MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE) : NULL;

	if (!response) {
		free(bytes);
		return NULL;
	}
	add_page_headers(response, openmetrics);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	return response;
}

static bool takes_gzip(struct MHD_Connection *mhd)
{
	const char *accept = MHD_lookup_connection_value(
			mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	const char *word = accept ? strstr(accept, "gzip") : NULL;

	if (!word)
		return false;
	word += strlen("gzip");
	word += strspn(word, " ;");
	return strncmp(word, "q=", 2) != 0 || strtod(word + 2, NULL) > 0;
}

// Returns the answer with the page. The first client that takes gzip waits for the compression.
static struct MHD_Response *response_of(struct http_connection *connection)
{
	struct http_page *page = connection->page;

	if (page->len < SMALLEST_GZIP || page->not_smaller || !takes_gzip(connection->mhd))
		return page->plain;
	if (!page->gzip)
		page->gzip = compressed(page, connection->openmetrics);
	page->not_smaller = !page->gzip;
	return page->gzip ? page->gzip : page->plain;
}

// ---- requests ----

static enum MHD_Result say(
		struct http_connection *connection, unsigned status, struct MHD_Response *response)
{
	struct hs_http *http = connection->http;

	http_count(&http->counters.requests);
	if (status >= MHD_HTTP_BAD_REQUEST)
		http_count(&http->counters.refused);
	return MHD_queue_response(connection->mhd, status, response);
}

static enum MHD_Result refuse(struct http_connection *connection, unsigned status,
		const char *header, const char *value, const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "%s\n", why);
	struct MHD_Response *response = fixed(PLAIN_TEXT, text);
	if (!response)
		return MHD_NO;
	if (header)
		MHD_add_response_header(response, header, value);
	enum MHD_Result result = say(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result show_ready(struct http_connection *connection)
{
	struct hs_http *http = connection->http;
	int64_t silent_ns = hs_os_clock_ns(CLOCK_MONOTONIC) -
			    __atomic_load_n(&http->owner_ns, __ATOMIC_RELAXED);
	char why[sizeof(http->why_not_ready)];

	pthread_mutex_lock(&http->lock);
	memcpy(why, http->why_not_ready, sizeof(why));
	pthread_mutex_unlock(&http->lock);
	if (silent_ns > LONGEST_SILENCE)
		snprintf(why, sizeof(why), "the control thread has been busy for %lld s",
				(long long)(silent_ns / 1000000000));
	if (why[0])
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, NULL, why);
	return say(connection, MHD_HTTP_OK, http->ready);
}

static enum MHD_Result wait_for_page(struct http_connection *connection)
{
	struct hs_http *http = connection->http;

	connection->openmetrics = hs_prometheus_wants_openmetrics(MHD_lookup_connection_value(
			connection->mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
	connection->answered = false;
	http_connection_enter(connection, HTTP_WAITING);
	MHD_suspend_connection(connection->mhd); // before the owner can resume it
	pthread_mutex_lock(&http->lock);
	TAILQ_INSERT_TAIL(&http->lines[connection->openmetrics], connection, in_line);
	bool wake = !http->woken;
	__atomic_store_n(&http->woken, true, __ATOMIC_RELAXED);
	if (wake)
		eventfd_write(http->wake_fd, 1);
	pthread_mutex_unlock(&http->lock);
	return MHD_YES;
}

static enum MHD_Result show_page(struct http_connection *connection)
{
	http_connection_enter(connection, HTTP_ANSWERING);
	if (!connection->page)
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, MHD_HTTP_HEADER_RETRY_AFTER,
				RETRY_S, "there is no page now");
	enum MHD_Result result = say(connection, MHD_HTTP_OK, response_of(connection));
	http_page_drop(connection->page);
	connection->page = NULL;
	return result;
}

static bool has_body(struct MHD_Connection *mhd)
{
	const char *length = MHD_lookup_connection_value(
			mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0") != 0) ||
	       MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

// Begins a request when its head has come. A request that is refused here is not read further.
static enum MHD_Result begin(struct http_connection *connection, const char *method)
{
	http_connection_enter(connection, HTTP_ANSWERING);
	connection->answered = false;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, MHD_HTTP_HEADER_ALLOW,
				METHODS, "the methods are GET and HEAD");
	if (has_body(connection->mhd))
		return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, NULL, NULL,
				"a request has no content here");
	return MHD_YES;
}

enum MHD_Result http_answer(void *context, struct MHD_Connection *mhd, const char *url,
		const char *method, const char *version, const char *upload, size_t *upload_len,
		void **request)
{
	struct hs_http *http = context;
	struct http_connection *connection = http_connection_of(mhd);

	(void)version;
	(void)upload;
	(void)upload_len;
	if (!connection)
		return MHD_NO;
	if (!*request) {
		*request = connection;
		return begin(connection, method);
	}
	if (connection->answered)
		return show_page(connection);
	if (strcmp(url, "/metrics") == 0)
		return wait_for_page(connection);
	if (strcmp(url, "/-/healthy") == 0)
		return say(connection, MHD_HTTP_OK, http->healthy);
	if (strcmp(url, "/-/ready") == 0)
		return show_ready(connection);
	if (strcmp(url, "/") == 0)
		return say(connection, MHD_HTTP_OK, http->index);
	return refuse(connection, MHD_HTTP_NOT_FOUND, NULL, NULL,
			"the pages are /metrics, /-/healthy and /-/ready");
}
