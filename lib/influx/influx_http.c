// SPDX-License-Identifier: BSD-3-Clause
#include "influx_http.h"

#include "influx_secret.h"

#include <curl/curl.h>
#include <zlib.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONNECT_MS   5000L
#define REQUEST_MS   10000L
#define BODY_BYTES   (64u << 10) // of an answer; the rest is not kept
#define ERROR_HEADER "X-Influxdb-Error:"
#define GZIP_WINDOW  (15 + 16) // zlib's word for gzip

struct connection {
	CURL *easy;
	struct curl_slist *headers;
	unsigned char *packed; // the body of the request
	size_t packed_size;
	bool failed;		      // the request could not be started
	char reason[CURL_ERROR_SIZE]; // why there was no answer
	char error[INFLUX_WORDS_BYTES];
	char body[BODY_BYTES + 1];
	size_t body_len;
};

struct influx_http {
	CURLM *multi;
	unsigned n;
	struct connection connections[HS_INFLUX_MAX];
};

// ---- what the server says ----

static size_t take_body(char *bytes, size_t one, size_t n, void *user)
{
	struct connection *c = user;
	size_t room = BODY_BYTES - c->body_len, taken = n < room ? n : room;

	(void)one; // always 1
	memcpy(c->body + c->body_len, bytes, taken);
	c->body_len += taken;
	c->body[c->body_len] = '\0';
	return n;
}

static size_t take_header(char *bytes, size_t one, size_t n, void *user)
{
	static const size_t name = sizeof(ERROR_HEADER) - 1;
	struct connection *c = user;

	(void)one;
	if (n <= name || strncasecmp(bytes, ERROR_HEADER, name) != 0)
		return n;
	int len = (int)(n - name);
	const char *text = bytes + name;
	while (len > 0 && strchr(" \r\n", text[len - 1]))
		len--;
	while (len > 0 && *text == ' ') {
		text++;
		len--;
	}
	snprintf(c->error, sizeof(c->error), "%.*s", len, text);
	return n;
}

// ---- the request ----

static bool pack(struct connection *c, const char *lines, size_t len, size_t *packed)
{
	z_stream stream = {0};

	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
			Z_OK)
		return false;
	size_t most = deflateBound(&stream, len);
	if (most > c->packed_size) {
		free(c->packed);
		c->packed = malloc(most);
		c->packed_size = c->packed ? most : 0;
	}
	stream.next_in = (unsigned char *)(uintptr_t)lines;
	stream.avail_in = (unsigned)len;
	stream.next_out = c->packed;
	stream.avail_out = (unsigned)c->packed_size;
	bool done = c->packed && deflate(&stream, Z_FINISH) == Z_STREAM_END;
	*packed = stream.total_out;
	deflateEnd(&stream);
	return done;
}

void influx_http_send(struct influx_http *http, unsigned index, const char *lines, size_t len)
{
	struct connection *c = &http->connections[index];
	size_t packed;

	c->body_len = 0;
	c->body[0] = c->error[0] = c->reason[0] = '\0';
	c->failed = !pack(c, lines, len, &packed);
	if (!c->failed) {
		curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, c->packed);
		curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)packed);
		c->failed = curl_multi_add_handle(http->multi, c->easy) != CURLM_OK;
	}
	if (c->failed)
		snprintf(c->reason, sizeof(c->reason), "memory is out");
}

void influx_http_wait(struct influx_http *http, int timeout_ms)
{
	int running;

	curl_multi_poll(http->multi, NULL, 0, timeout_ms, NULL);
	curl_multi_perform(http->multi, &running);
}

void influx_http_wake(struct influx_http *http)
{
	curl_multi_wakeup(http->multi);
}

static void fill(struct connection *c, CURLcode code, struct influx_answer *answer)
{
	curl_off_t retry_s = 0;
	long status = 0;

	if (code == CURLE_OK) {
		curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(c->easy, CURLINFO_RETRY_AFTER, &retry_s);
	} else if (!c->reason[0]) {
		snprintf(c->reason, sizeof(c->reason), "%s", curl_easy_strerror(code));
	}
	if (retry_s > INT32_MAX)
		retry_s = INT32_MAX;
	*answer = (struct influx_answer){.status = status,
			.error = c->error,
			.body = status ? c->body : c->reason,
			.retry_ns = retry_s * INT64_C(1000000000)};
}

static bool next_failed(struct influx_http *http, unsigned *index, struct influx_answer *answer)
{
	for (unsigned i = 0; i < http->n; i++) {
		if (!http->connections[i].failed)
			continue;
		http->connections[i].failed = false;
		*index = i;
		fill(&http->connections[i], CURLE_OUT_OF_MEMORY, answer);
		return true;
	}
	return false;
}

bool influx_http_next(struct influx_http *http, unsigned *index, struct influx_answer *answer)
{
	struct connection *c;
	CURLMsg *message;
	int left;

	if (next_failed(http, index, answer))
		return true;
	do {
		message = curl_multi_info_read(http->multi, &left);
	} while (message && message->msg != CURLMSG_DONE);
	if (!message)
		return false;
	CURLcode code = message->data.result;
	CURL *easy = message->easy_handle;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &c);
	curl_multi_remove_handle(http->multi, easy);
	fill(c, code, answer);
	*index = (unsigned)(c - http->connections);
	return true;
}

// ---- opening ----

// Returns the address of the write API, which the caller frees with curl_free; NULL: memory is out.
static char *write_address(const struct hs_influx_config *of)
{
	static const char *const keys[] = {"db=", "org=", "bucket="};
	const char *const values[] = {of->database, of->org, of->bucket};
	CURLU *address = curl_url();
	char *url = NULL, query[INFLUX_SECRET_BYTES], path[INFLUX_SECRET_BYTES];
	char *old = NULL;
	CURLUcode rc = curl_url_set(address, CURLUPART_URL, of->url, 0);

	if (rc == CURLUE_OK)
		rc = curl_url_get(address, CURLUPART_PATH, &old, 0);
	if (rc == CURLUE_OK) {
		size_t len = strlen(old);
		while (len > 0 && old[len - 1] == '/')
			len--;
		snprintf(path, sizeof(path), "%.*s%s", (int)len, old,
				of->database[0] ? "/write" : "/api/v2/write");
		rc = curl_url_set(address, CURLUPART_PATH, path, 0);
	}
	for (size_t i = 0; rc == CURLUE_OK && i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!values[i][0])
			continue;
		snprintf(query, sizeof(query), "%s%s", keys[i], values[i]);
		rc = curl_url_set(address, CURLUPART_QUERY, query,
				CURLU_URLENCODE | CURLU_APPENDQUERY);
	}
	if (rc == CURLUE_OK)
		rc = curl_url_set(address, CURLUPART_QUERY, "precision=ns", CURLU_APPENDQUERY);
	if (rc == CURLUE_OK)
		rc = curl_url_get(address, CURLUPART_URL, &url, 0);
	curl_free(old);
	curl_url_cleanup(address);
	return rc == CURLUE_OK ? url : NULL;
}

// Sets options. They fail only if memory is out, and then the first request fails, too.
static void set_manners(struct connection *c)
{
	CURL *easy = c->easy;

	curl_easy_setopt(easy, CURLOPT_PRIVATE, c);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, c->headers);
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, c);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, c->reason);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, REQUEST_MS);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "hopsight/" HS_VERSION);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	// The configuration alone says where lines go: no proxy of the environment, no redirection.
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
}

static int set_secrets(struct connection *c, const struct hs_influx_config *of, unsigned index,
		struct hs_error *err)
{
	char secret[INFLUX_SECRET_BYTES] = "", header[INFLUX_SECRET_BYTES + 32], path[64];
	const char *file = of->token_file[0] ? of->token_file : of->password_file;
	int rc = 0;

	if (file[0]) {
		snprintf(path, sizeof(path), "influx[%u].%s", index,
				of->token_file[0] ? "token_file" : "password_file");
		rc = influx_secret_read(file, path, secret, err);
	}
	if (rc == 0 && of->token_file[0]) {
		snprintf(header, sizeof(header), "Authorization: Token %s", secret);
		c->headers = curl_slist_append(c->headers, header);
		explicit_bzero(header, sizeof(header));
	} else if (rc == 0 && of->user[0]) {
		curl_easy_setopt(c->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(c->easy, CURLOPT_USERNAME, of->user);
		curl_easy_setopt(c->easy, CURLOPT_PASSWORD, secret);
	}
	explicit_bzero(secret, sizeof(secret));
	return rc;
}

static int open_connection(struct connection *c, const struct hs_influx_config *of, unsigned index,
		struct hs_error *err)
{
	static const char *const headers[] = {"Content-Type: text/plain; charset=utf-8",
			"Content-Encoding: gzip", "Expect:"};
	char path[64];

	c->easy = curl_easy_init();
	char *url = c->easy ? write_address(of) : NULL;
	snprintf(path, sizeof(path), "influx[%u].url", index);
	if (!url)
		return hs_error_set(err, "bad_value", path, "like http://127.0.0.1:8086",
				"\"%s\" is not the address of a server", of->url);
	curl_easy_setopt(c->easy, CURLOPT_URL, url);
	curl_free(url);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		c->headers = curl_slist_append(c->headers, headers[i]);
	if (of->ca_file[0])
		curl_easy_setopt(c->easy, CURLOPT_CAINFO, of->ca_file);
	int rc = set_secrets(c, of, index, err);
	set_manners(c);
	return rc;
}

int influx_http_open(
		const struct hs_influx_list *list, struct influx_http **http, struct hs_error *err)
{
	struct influx_http *h = calloc(1, sizeof(*h));
	int rc = h && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -ENOMEM;

	if (rc == 0) {
		h->multi = curl_multi_init();
		h->n = list->n;
		rc = h->multi ? 0 : -ENOMEM;
	}
	for (unsigned i = 0; rc == 0 && i < list->n; i++)
		rc = open_connection(&h->connections[i], &list->of[i], i, err);
	if (rc < 0) {
		influx_http_close(h);
		return rc;
	}
	*http = h;
	return 0;
}

void influx_http_close(struct influx_http *http)
{
	if (!http)
		return;
	for (unsigned i = 0; i < http->n; i++) {
		struct connection *c = &http->connections[i];
		if (c->easy)
			curl_multi_remove_handle(http->multi, c->easy);
		curl_easy_cleanup(c->easy);
		curl_slist_free_all(c->headers);
		free(c->packed);
	}
	curl_multi_cleanup(http->multi);
	curl_global_cleanup();
	free(http);
}
