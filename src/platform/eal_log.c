// SPDX-License-Identifier: BSD-3-Clause
#include "eal_log.h"

#include "log.h"

#include <rte_log.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#define TEXT_BYTES 512

// This is global because DPDK has one log for the process.
static struct {
	FILE *stream;
	pthread_mutex_t lock;
	char text[TEXT_BYTES]; // the incomplete line
	size_t len;
	char first_error[TEXT_BYTES];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum hs_log_level level_of(int dpdk)
{
	return dpdk <= (int)RTE_LOG_ERR	      ? HS_LOG_ERROR
	       : dpdk == (int)RTE_LOG_WARNING ? HS_LOG_WARNING
					      : HS_LOG_NOTICE;
}

static void end_line(enum hs_log_level level)
{
	if (state.len == 0)
		return;
	state.text[state.len] = '\0';
	state.len = 0;
	if (level == HS_LOG_ERROR && !state.first_error[0] && strncmp(state.text, "EAL: ", 5) != 0)
		memcpy(state.first_error, state.text, sizeof(state.first_error));
	hs_log(level, "dpdk", "%s", state.text);
}

// Takes a message, which is a line or a part of one: the stream is flushed after each message.
static ssize_t take(void *context, const char *bytes, size_t n)
{
	enum hs_log_level level = level_of(rte_log_cur_msg_loglevel());

	(void)context;
	pthread_mutex_lock(&state.lock);
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n')
			end_line(level);
		else if (state.len < TEXT_BYTES - 1)
			state.text[state.len++] = bytes[i];
	}
	pthread_mutex_unlock(&state.lock);
	return (ssize_t)n;
}

int hs_eal_log_take(void)
{
	if (state.stream)
		return 0;
	state.stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
	if (!state.stream)
		return -ENOMEM;
	return rte_openlog_stream(state.stream);
}

void hs_eal_log_forget(void)
{
	pthread_mutex_lock(&state.lock);
	state.first_error[0] = '\0';
	pthread_mutex_unlock(&state.lock);
}

void hs_eal_log_first_error(char *text, size_t size)
{
	pthread_mutex_lock(&state.lock);
	const char *function = strstr(state.first_error, "(): ");
	snprintf(text, size, "%s", function ? function + 4 : state.first_error);
	pthread_mutex_unlock(&state.lock);
}
