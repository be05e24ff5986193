// SPDX-License-Identifier: BSD-3-Clause
#include "http.h"

#include "ip_address.h"
#include "os_clock.h"
#include "scrape.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define LIMIT_NS INT64_C(5000000000)
#define MANY	 40
#define LINE	 "one_metric_total 123456\n"
#define LINES	 1000

struct owner {
	struct hs_http *http;
	uint16_t port;
	pthread_t thread;
	unsigned pages[2]; // by format
	bool none;
};

static int64_t now_ns(void)
{
	return hs_os_clock_ns(CLOCK_MONOTONIC);
}

static char *make_page(void *context, bool openmetrics, size_t *len)
{
	struct owner *owner = context;
	char *text = owner->none ? NULL : malloc(LINES * strlen(LINE) + 1);

	assert_true(pthread_equal(owner->thread, pthread_self()));
	owner->pages[openmetrics]++;
	*len = 0;
	for (unsigned i = 0; text && i < LINES; i++)
		*len += (size_t)sprintf(text + *len, "%s", LINE);
	return text;
}

static uint16_t free_port(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(any);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	getsockname(fd, (struct sockaddr *)&any, &len);
	close(fd);
	return ntohs(any.sin_port);
}

static int open_at(struct owner *owner, const char *address, uint16_t port, struct hs_error *err)
{
	struct hs_http_config config = {
			.program = "ship", .page = make_page, .context = owner, .bind.port = port};

	assert_null(hs_ip_address_read(address, config.bind.address));
	owner->thread = pthread_self();
	owner->port = port;
	return hs_http_open(&config, &owner->http, err);
}

static int setup(void **state)
{
	struct owner *owner = calloc(1, sizeof(*owner));
	struct hs_error err = {0};

	*state = owner;
	return open_at(owner, "127.0.0.1", free_port(), &err);
}

static int teardown(void **state)
{
	struct owner *owner = *state;

	hs_http_close(owner->http);
	free(owner);
	return 0;
}

static int dial_from(const struct owner *owner, uint32_t address)
{
	const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
	struct sockaddr_in to = {.sin_family = AF_INET,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
			.sin_port = htons(owner->port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static int dial(const struct owner *owner)
{
	return dial_from(owner, INADDR_LOOPBACK);
}

static void ask(int fd, const char *method, const char *path, const char *headers)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n", method, path,
			headers);

	assert_int_equal(send(fd, text, (size_t)n, 0), n);
}

struct answer {
	char text[1 << 16];
	size_t len;
	const char *body;
	size_t body_len;
};

// Whether the answer is whole.
static bool is_whole(struct answer *answer, bool head)
{
	answer->text[answer->len] = '\0';
	char *end = strstr(answer->text, "\r\n\r\n");
	if (!end)
		return false;
	const char *length = strcasestr(answer->text, "content-length: ");
	answer->body = end + 4;
	answer->body_len = (size_t)(answer->text + answer->len - answer->body);
	return head || (length && answer->body_len >= strtoul(length + 16, NULL, 10));
}

// The owner serves as long as the answer is not there.
static struct answer *receive(struct owner *owner, int fd, bool head)
{
	static struct answer answer;
	int64_t end_ns = now_ns() + LIMIT_NS;

	answer.len = 0;
	while (!is_whole(&answer, head)) {
		struct pollfd fds[] = {{.fd = fd, .events = POLLIN},
				{.fd = hs_http_fd(owner->http), .events = POLLIN}};
		poll(fds, 2, 10);
		hs_http_serve(owner->http, now_ns());
		ssize_t n = recv(fd, answer.text + answer.len, sizeof(answer.text) - 1 - answer.len,
				MSG_DONTWAIT);
		answer.len += n > 0 ? (size_t)n : 0;
		assert_true(now_ns() < end_ns && n != 0);
	}
	return &answer;
}

static struct answer *get(
		struct owner *owner, const char *method, const char *path, const char *headers)
{
	int fd = dial(owner);

	ask(fd, method, path, headers);
	struct answer *answer = receive(owner, fd, strcmp(method, "HEAD") == 0);
	close(fd);
	return answer;
}

static void expect_status(const struct answer *answer, int status)
{
	char start[32];

	snprintf(start, sizeof(start), "HTTP/1.1 %d ", status);
	assert_memory_equal(answer->text, start, strlen(start));
}

static void a_page_is_made_by_the_owner_in_the_format_asked_for(void **state)
{
	struct owner *owner = *state;
	struct answer *answer = get(owner, "GET", "/metrics", "");

	expect_status(answer, 200);
	assert_non_null(strstr(answer->text, "Content-Type: text/plain; version=0.0.4"));
	assert_int_equal(answer->body_len, LINES * strlen(LINE));
	assert_int_equal(owner->pages[0], 1);
	answer = get(owner, "GET", "/metrics", "Accept: application/openmetrics-text\r\n");
	assert_non_null(strstr(answer->text, "Content-Type: application/openmetrics-text"));
	assert_int_equal(owner->pages[1], 1);
}

static void head_tells_the_length_alone(void **state)
{
	struct answer *answer = get(*state, "HEAD", "/metrics", "");

	expect_status(answer, 200);
	assert_non_null(strstr(answer->text, "Content-Length: 24000\r\n"));
	assert_int_equal(answer->body_len, 0);
}

static void a_page_is_compressed_where_the_client_takes_it(void **state)
{
	static char text[LINES * sizeof(LINE)];
	struct answer *answer = get(*state, "GET", "/metrics", "Accept-Encoding: br, gzip\r\n");
	z_stream stream = {.next_in = (Bytef *)answer->body,
			.avail_in = (uInt)answer->body_len,
			.next_out = (Bytef *)text,
			.avail_out = sizeof(text)};

	assert_non_null(strstr(answer->text, "Content-Encoding: gzip"));
	assert_true(answer->body_len < 2000);
	assert_int_equal(inflateInit2(&stream, 31), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	assert_int_equal(stream.total_out, LINES * strlen(LINE));
	assert_memory_equal(text, LINE LINE, 2 * strlen(LINE));
	answer = get(*state, "GET", "/metrics", "Accept-Encoding: gzip;q=0\r\n");
	assert_null(strstr(answer->text, "Content-Encoding"));
}

static void one_page_serves_all_who_wait(void **state)
{
	struct owner *owner = *state;
	int fds[MANY];
	struct hs_http_counters counters = {0};

	for (unsigned i = 0; i < MANY; i++)
		ask(fds[i] = dial(owner), "GET", "/metrics", "");
	for (int64_t end_ns = now_ns() + LIMIT_NS; counters.connections < MANY;
			assert_true(now_ns() < end_ns))
		hs_http_counters(owner->http, &counters);
	usleep(20000); // the last request's head
	for (unsigned i = 0; i < MANY; i++) {
		expect_status(receive(owner, fds[i], false), 200);
		close(fds[i]);
	}
	assert_in_range(owner->pages[0], 1, 2);
	hs_http_counters(owner->http, &counters);
	assert_int_equal(counters.requests, MANY);
	assert_int_equal(counters.pages, owner->pages[0]);
}

static void pages_are_made_so_many_times_a_second_at_most(void **state)
{
	struct owner *owner = *state;
	int64_t start_ns = INT64_C(1000000000000), due_ns = INT64_MAX;
	int fds[2] = {dial(owner), dial(owner)};

	for (unsigned i = 0; i < 2; i++) {
		struct pollfd woken = {.fd = hs_http_fd(owner->http), .events = POLLIN};
		ask(fds[i], "GET", "/metrics", "");
		assert_int_equal(poll(&woken, 1, 5000), 1);
		due_ns = hs_http_serve(owner->http, start_ns + i);
		assert_int_equal(poll(&woken, 1, 0), 0); // it does not spin
	}
	assert_int_equal(owner->pages[0], 1);
	assert_int_equal(due_ns, start_ns + 100000000);
	assert_int_equal(hs_http_serve(owner->http, due_ns - 1), due_ns);
	assert_int_equal(hs_http_serve(owner->http, due_ns), INT64_MAX);
	assert_int_equal(owner->pages[0], 2);
	for (unsigned i = 0; i < 2; i++) {
		expect_status(receive(owner, fds[i], false), 200);
		close(fds[i]);
	}
}

// The least of several, because other work on the machine only adds to it.
static void an_answer_leaves_as_soon_as_its_page_is_made(void **state)
{
	struct owner *owner = *state;
	int64_t least_ns = INT64_MAX;

	for (unsigned i = 0; i < 4; i++) {
		int64_t start_ns = now_ns();
		get(owner, "GET", "/metrics", "");
		int64_t ns = now_ns() - start_ns;
		least_ns = ns < least_ns ? ns : least_ns;
	}
	assert_true(least_ns < 110000000); // pages are 100 ms apart
}

static void a_connection_is_kept_for_the_next_request(void **state)
{
	struct owner *owner = *state;
	int fd = dial(owner);

	for (unsigned i = 0; i < 3; i++) {
		ask(fd, "GET", i == 1 ? "/-/healthy" : "/metrics", "");
		expect_status(receive(owner, fd, false), 200);
	}
	close(fd);
}

static void what_is_not_served_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *method, *path, *headers, *says;
		int status;
	} rows[] = {
			{"GET", "/other", "", "the pages are /metrics", 404},
			{"GET", "/metrics/", "", "the pages are /metrics", 404},
			{"POST", "/metrics", "Content-Length: 5\r\n", "Allow: GET, HEAD", 405},
			{"DELETE", "/metrics", "", "Allow: GET, HEAD", 405},
			{"GET", "/metrics", "Content-Length: 99999999\r\n", "no content", 413},
			{"GET", "/metrics", "Transfer-Encoding: chunked\r\n", "no content", 413},
			{"GET", "/-/ready", "", "starting", 503},
			{"GET", "/", "", "<h1>ship</h1>", 200},
			{"GET", "/metrics?x=y", "", LINE, 200},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer *answer = get(*state, rows[i].method, rows[i].path, rows[i].headers);
		expect_status(answer, rows[i].status);
		assert_non_null(strstr(answer->text, rows[i].says));
	}
	struct owner *owner = *state;
	struct hs_http_counters counters;
	hs_http_counters(owner->http, &counters);
	assert_int_equal(counters.refused, 7);
}

static void a_head_that_is_too_long_is_refused(void **state)
{
	struct owner *owner = *state;
	static char line[16 << 10];
	int fd = dial(owner);

	memset(line, 'a', sizeof(line));
	ask(fd, "GET", "/metrics", "");
	receive(owner, fd, false);
	send(fd, "GET /", 5, MSG_NOSIGNAL);
	send(fd, line, sizeof(line), MSG_NOSIGNAL);
	expect_status(receive(owner, fd, false), 414);
	close(fd);
	assert_int_equal(owner->pages[0], 1);
}

static void readiness_is_what_the_owner_said_last(void **state)
{
	struct owner *owner = *state;

	hs_http_set_ready(owner->http, NULL);
	expect_status(get(owner, "GET", "/-/ready", ""), 200);
	hs_http_set_ready(owner->http, "port \"a\" is down");
	struct answer *answer = get(owner, "GET", "/-/ready", "");
	expect_status(answer, 503);
	assert_string_equal(answer->body, "port \"a\" is down\n");
	hs_http_set_ready(owner->http, NULL);
	int fd = dial(owner);
	hs_http_serve(owner->http, now_ns() - INT64_C(4000000000));
	ask(fd, "GET", "/-/ready", "");
	struct pollfd in = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&in, 1, 5000), 1);
	answer = receive(owner, fd, false);
	expect_status(answer, 503);
	assert_non_null(strstr(answer->body, "busy for 4 s"));
	close(fd);
}

static void without_a_page_the_client_is_to_come_again(void **state)
{
	struct owner *owner = *state;

	owner->none = true;
	struct answer *answer = get(owner, "GET", "/metrics", "");
	expect_status(answer, 503);
	assert_non_null(strstr(answer->text, "Retry-After: 1"));
}

// A process of this machine can use each address of 127.0.0.0/8.
static void one_host_has_so_many_connections_at_most(void **state)
{
	struct owner *owner = *state;
	int fds[80];
	struct hs_http_counters counters = {0};

	for (unsigned i = 0; i < 80; i++)
		fds[i] = dial_from(owner, INADDR_LOOPBACK + i % 4);
	for (int64_t end_ns = now_ns() + LIMIT_NS; counters.connections + counters.turned_away < 80;
			assert_true(now_ns() < end_ns))
		hs_http_counters(owner->http, &counters);
	assert_int_equal(counters.connections, 64);
	for (unsigned i = 0; i < 80; i++)
		close(fds[i]);
	for (int64_t end_ns = now_ns() + LIMIT_NS; now_ns() < end_ns;) { // places become free
		int fd = dial(owner);
		struct pollfd in = {.fd = fd, .events = POLLIN};
		char byte;
		ask(fd, "GET", "/-/healthy", "");
		poll(&in, 1, 1000);
		ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
		close(fd);
		if (n == 1)
			return;
	}
	fail();
}

static void a_server_ends_while_clients_wait(void **state)
{
	struct owner *owner = *state;
	struct pollfd woken = {.fd = hs_http_fd(owner->http), .events = POLLIN};
	int fd = dial(owner);
	char byte;

	ask(fd, "GET", "/metrics", "");
	assert_int_equal(poll(&woken, 1, 5000), 1);
	hs_http_close(owner->http);
	owner->http = NULL;
	while (recv(fd, &byte, 1, 0) > 0)
		;
	close(fd);
}

static void an_address_that_cannot_be_had_is_explained(void **state)
{
	struct owner *owner = *state, other = {0};
	struct hs_error err = {0};

	assert_int_equal(open_at(&other, "127.0.0.1", owner->port, &err), -EADDRINUSE);
	assert_string_equal(err.code, "address_in_use");
	assert_string_equal(err.path, "bind");
	assert_non_null(strstr(err.message, "somebody listens at 127.0.0.1:"));
	assert_int_equal(open_at(&other, "192.0.2.1", owner->port, &err), -EADDRNOTAVAIL);
	assert_string_equal(err.code, "no_such_address");
	assert_null(other.http);
}

static void a_program_without_a_server_needs_no_case_of_its_own(void **state)
{
	(void)state;
	struct hs_scrape_settings settings = HS_SCRAPE_SETTINGS(9463);
	struct hs_scrape *scrape;
	struct hs_error err = {0};

	assert_int_equal(hs_scrape_open(&(const struct hs_scrape_config){.settings = &settings},
					 &scrape, &err),
			0);
	assert_null(scrape);
	assert_int_equal(hs_scrape_fd(scrape), -1);
	assert_int_equal(hs_scrape_serve(scrape, 1), INT64_MAX);
	hs_scrape_set_ready(scrape, NULL);
	hs_scrape_close(scrape);
}

#define SERVED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			SERVED(a_page_is_made_by_the_owner_in_the_format_asked_for),
			SERVED(head_tells_the_length_alone),
			SERVED(a_page_is_compressed_where_the_client_takes_it),
			SERVED(one_page_serves_all_who_wait),
			SERVED(pages_are_made_so_many_times_a_second_at_most),
			SERVED(an_answer_leaves_as_soon_as_its_page_is_made),
			SERVED(a_connection_is_kept_for_the_next_request),
			SERVED(what_is_not_served_is_refused_with_a_reason),
			SERVED(a_head_that_is_too_long_is_refused),
			SERVED(readiness_is_what_the_owner_said_last),
			SERVED(without_a_page_the_client_is_to_come_again),
			SERVED(one_host_has_so_many_connections_at_most),
			SERVED(a_server_ends_while_clients_wait),
			SERVED(an_address_that_cannot_be_had_is_explained),
			cmocka_unit_test(a_program_without_a_server_needs_no_case_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
