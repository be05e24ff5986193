// SPDX-License-Identifier: BSD-3-Clause
#include "log.h"

#include "clean_text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048
#define TEXT_MAX_BYTES 1024
// At most this many lines of one text are written in a period. The rest is counted and reported at
// the end of the period.
#define BURST_LINES	 5
#define PERIOD_NS	 (INT64_C(5) * 1000000000)
#define REMEMBERED_TEXTS 64

struct level_words {
	const char *name;
	int journal; // syslog's number, for a journal behind stderr
};

static const struct level_words levels[] = {
		[HS_LOG_ERROR] = {"error", 3},
		[HS_LOG_WARNING] = {"warning", 4},
		[HS_LOG_NOTICE] = {"notice", 5},
		[HS_LOG_INFO] = {"info", 6},
		[HS_LOG_DEBUG] = {"debug", 7},
};

// A text that was logged in the running period.
struct repeated {
	char module[24];
	char text[96]; // the beginning of the text, enough to tell texts apart
	uint32_t hash;
	enum hs_log_level level;
	int64_t since_ns;
	unsigned lines; // 0: free
	unsigned suppressed;
};

// This is global because a process has one stderr.
static struct {
	atomic_int level;
	atomic_bool json;
	bool journal;
	pthread_mutex_t lock;
	struct repeated texts[REMEMBERED_TEXTS];
} state = {.level = HS_LOG_INFO, .lock = PTHREAD_MUTEX_INITIALIZER};

// Returns whether stderr leads to systemd's journal, which takes the levels of lines. systemd names
// the journal's file in JOURNAL_STREAM.
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	struct stat st;
	unsigned long long device, inode;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void hs_log_setup(enum hs_log_level level, bool json)
{
	pthread_mutex_lock(&state.lock);
	state.level = (int)level;
	state.json = json;
	state.journal = stderr_is_journal();
	memset(state.texts, 0, sizeof(state.texts));
	pthread_mutex_unlock(&state.lock);
}

static void format_time(int64_t now_ns, char *out, size_t size)
{
	time_t seconds = (time_t)(now_ns / 1000000000);
	long micros = (long)(now_ns % 1000000000 / 1000);
	struct tm tm;
	char day[32];

	gmtime_r(&seconds, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, size, "%s.%06ldZ", day, micros);
}

// Writes one character of a message so that it fits in a line. A character that would break the
// line or the JSON around it, or control a terminal, is escaped. Bytes that are not text become a
// question mark.
static size_t escape_one(
		const char *s, size_t left, bool json, char out[HS_CLEAN_ONE], size_t *taken)
{
	int32_t code;

	*taken = hs_clean_next(s, left, &code);
	if (*taken == 0 || code < 0) {
		*taken = 1;
		out[0] = '?';
		return 1;
	}
	if (!json && hs_clean_is_unsafe(code) && code < 0x80)
		return (size_t)snprintf(out, HS_CLEAN_ONE, "\\x%02x", (unsigned)code);
	if (hs_clean_is_unsafe(code))
		return hs_clean_escape(code, out);
	if (json && (*s == '"' || *s == '\\'))
		return (size_t)snprintf(out, HS_CLEAN_ONE, "\\%c", *s);
	memcpy(out, s, *taken);
	return *taken;
}

static void escape(const char *text, bool json, char *out, size_t size)
{
	size_t used = 0, left = strlen(text);

	while (left > 0) {
		char one[HS_CLEAN_ONE];
		size_t taken, n = escape_one(text, left, json, one, &taken);

		if (used + n >= size)
			break;
		memcpy(out + used, one, n);
		used += n;
		text += taken;
		left -= taken;
	}
	out[used] = '\0';
}

// Writes a whole line in one call, so that lines of several threads and processes do not mix.
static void write_line(
		int64_t now_ns, enum hs_log_level level, const char *module, const char *text)
{
	char line[LINE_MAX_BYTES], stamp[64], escaped[TEXT_MAX_BYTES + 512], prefix[8] = "";
	int n;

	format_time(now_ns, stamp, sizeof(stamp));
	escape(text, state.json, escaped, sizeof(escaped));
	if (state.journal)
		snprintf(prefix, sizeof(prefix), "<%d>", levels[level].journal);
	if (state.json)
		n = snprintf(line, sizeof(line),
				"%s{\"time\": \"%s\", \"level\": \"%s\", \"module\": \"%s\", "
				"\"message\": \"%s\"}\n",
				prefix, stamp, levels[level].name, module, escaped);
	else
		n = snprintf(line, sizeof(line), "%s%s %s %s: %s\n", prefix, stamp,
				levels[level].name, module, escaped);
	// If the log cannot be written, there is no place to report it.
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

static void close_period(struct repeated *r, int64_t now_ns)
{
	char text[160];

	if (r->suppressed) {
		snprintf(text, sizeof(text), "%u more of \"%s\" suppressed", r->suppressed,
				r->text);
		write_line(now_ns, r->level, r->module, text);
	}
	r->lines = 0;
	r->suppressed = 0;
}

static uint32_t hash_of(const char *module, const char *text)
{
	uint32_t h = 2166136261u; // FNV-1a

	for (; *module; module++)
		h = (h ^ (unsigned char)*module) * 16777619u;
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static bool period_is_over(const struct repeated *r, int64_t now_ns)
{
	// A period also ends when the wall clock was set back.
	return r->lines && (now_ns - r->since_ns >= PERIOD_NS || now_ns < r->since_ns);
}

// Returns whether this line may be written. Reports what was suppressed in past periods.
static bool admit(int64_t now_ns, enum hs_log_level level, const char *module, const char *text)
{
	uint32_t hash = hash_of(module, text);
	struct repeated *found = NULL, *victim = &state.texts[0];

	for (unsigned i = 0; i < REMEMBERED_TEXTS; i++) {
		struct repeated *r = &state.texts[i];

		if (period_is_over(r, now_ns))
			close_period(r, now_ns);
		if (r->lines && r->hash == hash)
			found = r;
		if (!r->lines || (victim->lines && r->since_ns < victim->since_ns))
			victim = r;
	}
	if (!found) {
		close_period(victim, now_ns);
		found = victim;
		*found = (struct repeated){.hash = hash, .level = level, .since_ns = now_ns};
		snprintf(found->module, sizeof(found->module), "%.23s", module);
		snprintf(found->text, sizeof(found->text), "%.95s", text);
	}
	if (found->lines < BURST_LINES) {
		found->lines++;
		return true;
	}
	found->suppressed++;
	return false;
}

static void log_va(int64_t now_ns, enum hs_log_level level, const char *module, const char *format,
		va_list args)
{
	char text[TEXT_MAX_BYTES];

	vsnprintf(text, sizeof(text), format, args);
	pthread_mutex_lock(&state.lock);
	if (admit(now_ns, level, module, text))
		write_line(now_ns, level, module, text);
	pthread_mutex_unlock(&state.lock);
}

void hs_log(enum hs_log_level level, const char *module, const char *format, ...)
{
	struct timespec now;
	va_list args;

	if ((int)level > state.level)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	va_start(args, format);
	log_va((int64_t)now.tv_sec * 1000000000 + now.tv_nsec, level, module, format, args);
	va_end(args);
}

void hs_log_at(int64_t now_ns, enum hs_log_level level, const char *module, const char *format, ...)
{
	va_list args;

	if ((int)level > state.level)
		return;
	va_start(args, format);
	log_va(now_ns, level, module, format, args);
	va_end(args);
}
