// SPDX-License-Identifier: BSD-3-Clause
#include "log.h"

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
// Of one text, this many lines pass in a period; the rest is counted and said when it is over.
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
	char text[96]; // its beginning, enough to tell texts apart
	uint32_t hash;
	enum hs_log_level level;
	int64_t since_ns;
	unsigned lines; // 0: free
	unsigned suppressed;
};

// The one global of the switch: a process has one stderr.
static struct {
	atomic_int level;
	atomic_bool json;
	bool journal;
	pthread_mutex_t lock;
	struct repeated texts[REMEMBERED_TEXTS];
} state = {.level = HS_LOG_INFO, .lock = PTHREAD_MUTEX_INITIALIZER};

// systemd tells a service which file its journal is behind, so that it can mark its levels.
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

// Length of the well-formed UTF-8 sequence at s, 0 if there is none (RFC 3629 without the finer
// points of surrogates: a reader of the log replaces those itself).
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80			  ? 1
		   : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
		   : (s[0] & 0xf0) == 0xe0	  ? 3
		   : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
						  : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

// One character of a message as it may stand in a line: what would break the line or the JSON
// around it is escaped, what is not text becomes a question mark.
static size_t escape_one(const unsigned char *s, bool json, char out[8], size_t *taken)
{
	size_t n = utf8_length(s);

	*taken = n ? n : 1;
	if (n == 0) {
		out[0] = '?';
		return 1;
	}
	if (s[0] < 0x20 || s[0] == 0x7f)
		return (size_t)snprintf(out, 8, json ? "\\u%04x" : "\\x%02x", s[0]);
	if (json && (s[0] == '"' || s[0] == '\\')) {
		out[0] = '\\';
		out[1] = (char)s[0];
		return 2;
	}
	memcpy(out, s, n);
	return n;
}

static void escape(const char *text, bool json, char *out, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t used = 0;

	while (*s) {
		char one[8];
		size_t taken, n = escape_one(s, json, one, &taken);

		if (used + n >= size)
			break;
		memcpy(out + used, one, n);
		used += n;
		s += taken;
	}
	out[used] = '\0';
}

// A whole line in one write, so that lines of several threads and processes do not mix.
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
	// A log that cannot be written has nowhere to complain.
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
	// The wall clock may have been set back: that ends a period too.
	return r->lines && (now_ns - r->since_ns >= PERIOD_NS || now_ns < r->since_ns);
}

// True if this line may be written. Says what was suppressed in periods that are over.
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
