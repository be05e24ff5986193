// SPDX-License-Identifier: BSD-3-Clause
#include "service.h"

#include "log.h"
#include "privileges.h"
#include "sd_notify.h"
#include "stop.h"
#include "syscall_filter.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS 65536 // open files: no higher soft limit is of use

void hs_service_say_error(const struct hs_service *service, const struct hs_error *err)
{
	char text[HS_ERROR_TEXT];

	hs_log(HS_LOG_ERROR, service->module, "%s", hs_error_text(err, text));
}

bool hs_service_ends(const struct hs_service *service)
{
	int signal_number = hs_stop_read(service->signal_fd);

	if (signal_number == 0)
		return false;
	hs_log(HS_LOG_NOTICE, service->module, "stopping: %s", strsignal(signal_number));
	return true;
}

// Raises the soft limit to the hard limit, as far as is useful.
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS)
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int drop_privileges(const struct hs_service *service, struct hs_error *err)
{
	char kept[512];

	if (!service->sandbox) {
		hs_log(HS_LOG_WARNING, service->module,
				"sandbox off: every capability and system call is kept");
		return 0;
	}
	uint64_t had = hs_privileges_held();
	int rc = hs_privileges_keep(service->privileges);
	if (rc < 0)
		return hs_error_set(err, "sandbox", "sandbox", "false to run without",
				"capabilities cannot be given up: %s", strerror(-rc));
	uint64_t has = hs_privileges_held();
	hs_log(HS_LOG_NOTICE, service->module, "capabilities kept: %s; given up: %d",
			hs_privileges_text(has, kept, sizeof(kept)),
			__builtin_popcountll(had & ~has));
	return 0;
}

static int filter_syscalls(struct hs_service *service, struct hs_error *err)
{
	int rc = service->sandbox ? hs_syscall_filter(service->syscalls) : -ENOTSUP;

	if (rc < 0 && rc != -ENOTSUP)
		return hs_error_set(err, "sandbox", "sandbox", "false to run without",
				"system calls cannot be filtered: %s", strerror(-rc));
	service->filtered = rc == 0;
	if (service->sandbox)
		hs_log(rc < 0 ? HS_LOG_WARNING : HS_LOG_NOTICE, service->module, "%s",
				rc < 0 ? "no filter of system calls: this kernel or build has none"
				       : "system calls are filtered, no new privileges");
	return 0;
}

static int start(struct hs_service *service)
{
	struct hs_error err = {0};
	int exit_code = HS_EXIT_FAILED;
	int rc = drop_privileges(service, &err)
		?: service->open(service->context, &exit_code, &err)
		?: filter_syscalls(service, &err);

	if (rc == 0)
		return HS_EXIT_OK;
	if (!hs_error_is_set(&err))
		hs_error_set(&err, "internal", "", "", "%s", strerror(-rc));
	hs_service_say_error(service, &err);
	return exit_code;
}

int hs_service_run(struct hs_service *service)
{
	hs_boot_id_make(service->boot_id);
	raise_descriptors();
	service->signal_fd = hs_stop_open();
	int code = service->signal_fd < 0 ? HS_EXIT_FAILED : start(service);
	if (code == HS_EXIT_OK) {
		service->ready(service->context);
		hs_sd_notify("READY=1");
		service->serve(service->context);
		hs_sd_notify("STOPPING=1");
		hs_stop_at_once(service->program);
	}
	service->close(service->context);
	if (service->signal_fd >= 0)
		close(service->signal_fd);
	return code;
}
