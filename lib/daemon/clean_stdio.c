// SPDX-License-Identifier: BSD-3-Clause
#include "clean_stdio.h"

#include "clean_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OUT_BYTES 4096

struct stream {
	int fd;
	// The first bytes of a character whose rest comes with the next write.
	char begun[4];
	size_t n_begun;
};

// These are global because the process has one of each.
static struct stream streams[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, bytes, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return -1;
		bytes += written;
		n -= (size_t)written;
	}
	return 0;
}

static const char *kept = "";

static bool is_layout(int32_t code)
{
	return code > 0 && code < 0x20 && strchr(kept, code);
}

// Writes the characters of `bytes`. Returns how many bytes at the end are the beginning of a
// character, or -1.
static ssize_t write_clean(int fd, const char *bytes, size_t n)
{
	char out[OUT_BYTES];
	size_t used = 0, taken = 0;

	for (size_t i = 0; i < n; i += taken) {
		int32_t code;
		taken = hs_clean_next(bytes + i, n - i, &code);
		if (taken == 0)
			return write_all(fd, out, used) ? -1 : (ssize_t)(n - i);
		if (hs_clean_is_unsafe(code) && !is_layout(code)) {
			used += hs_clean_escape(code, out + used);
		} else {
			memcpy(out + used, bytes + i, taken);
			used += taken;
		}
		if (used + HS_CLEAN_ONE <= sizeof(out))
			continue;
		if (write_all(fd, out, used))
			return -1;
		used = 0;
	}
	return write_all(fd, out, used) ? -1 : 0;
}

// Completes the character that was begun. Returns how many of the new bytes it used, or -1.
static ssize_t complete(struct stream *stream, const char *bytes, size_t n)
{
	char one[sizeof(stream->begun) + 1];
	size_t begun = stream->n_begun, taken = 0;

	if (!begun)
		return 0;
	memcpy(one, stream->begun, begun);
	for (int32_t code; taken < n && begun < sizeof(stream->begun);) {
		one[begun++] = bytes[taken++];
		size_t whole = hs_clean_next(one, begun, &code);
		if (whole == 0)
			continue;
		// If the bytes are no character, one mark stands for those that were kept. The
		// newest byte is scanned again.
		stream->n_begun = 0;
		if (code < 0)
			return write_clean(stream->fd, "\xff", 1) < 0 ? -1 : (ssize_t)taken - 1;
		return write_clean(stream->fd, one, begun) < 0 ? -1 : (ssize_t)taken;
	}
	memcpy(stream->begun, one, begun);
	stream->n_begun = begun;
	return (ssize_t)taken;
}

static ssize_t put(void *cookie, const char *bytes, size_t n)
{
	struct stream *stream = cookie;
	ssize_t taken = complete(stream, bytes, n);

	if (taken < 0)
		return 0; // fopencookie(3) demands this
	ssize_t left = write_clean(stream->fd, bytes + taken, n - (size_t)taken);
	if (left < 0)
		return 0;
	if (!stream->n_begun) {
		memcpy(stream->begun, bytes + n - left, (size_t)left);
		stream->n_begun = (size_t)left;
	}
	return (ssize_t)n;
}

int hs_clean_stdio(const char *layout)
{
	const cookie_io_functions_t functions = {.write = put};
	FILE *out = fopencookie(&streams[0], "w", functions);
	FILE *err = fopencookie(&streams[1], "w", functions);

	if (!out || !err) {
		if (out)
			fclose(out);
		if (err)
			fclose(err);
		return -ENOMEM;
	}
	kept = layout;
	setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	setvbuf(err, NULL, _IONBF, 0);
	stdout = out;
	stderr = err;
	return 0;
}

int hs_clean_end(const char *program)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "%s: stdout cannot be written\n", program);
	return -EIO;
}

void hs_clean_screen(void)
{
	static const char home_and_erase[] = "\033[H\033[J";

	fflush(stdout);
	write_all(STDOUT_FILENO, home_and_erase, sizeof(home_and_erase) - 1);
}
