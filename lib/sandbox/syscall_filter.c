// SPDX-License-Identifier: BSD-3-Clause
#include "syscall_filter.h"

#include <linux/sockios.h>

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
		__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define CALL(name) SCMP_SYS(name)

static const int base_calls[] = {
		// files: keys, state, the log, sockets in the file system, /proc
		CALL(read), CALL(write), CALL(readv), CALL(writev), CALL(pread64), CALL(pwrite64),
		CALL(lseek), CALL(open), CALL(openat), CALL(close), CALL(dup), CALL(dup2),
		CALL(dup3), CALL(fcntl), CALL(flock), CALL(fstat), CALL(stat), CALL(lstat),
		CALL(newfstatat), CALL(statx), CALL(statfs), CALL(fstatfs), CALL(access),
		CALL(faccessat), CALL(faccessat2), CALL(readlink), CALL(readlinkat),
		CALL(getdents64), CALL(getcwd), CALL(fsync), CALL(fdatasync), CALL(ftruncate),
		CALL(fallocate), CALL(rename), CALL(renameat), CALL(renameat2), CALL(link),
		CALL(linkat), CALL(unlink), CALL(unlinkat), CALL(mkdir), CALL(mkdirat), CALL(rmdir),
		CALL(chmod), CALL(fchmod), CALL(fchmodat), CALL(umask), CALL(utimensat),
		CALL(pipe2), CALL(sync_file_range),
		// waiting
		CALL(poll), CALL(ppoll), CALL(select), CALL(pselect6), CALL(epoll_create),
		CALL(epoll_create1), CALL(epoll_ctl), CALL(epoll_wait), CALL(epoll_pwait),
		CALL(epoll_pwait2), CALL(eventfd2), CALL(signalfd4), CALL(timerfd_create),
		CALL(timerfd_settime), CALL(timerfd_gettime),
		// sockets: those of families below
		CALL(bind), CALL(connect), CALL(listen), CALL(accept), CALL(accept4),
		CALL(shutdown), CALL(getsockname), CALL(getpeername), CALL(setsockopt),
		CALL(getsockopt), CALL(sendto), CALL(sendmsg), CALL(sendmmsg), CALL(recvfrom),
		CALL(recvmsg), CALL(recvmmsg), CALL(socketpair),
		// memory: mmap and mprotect below
		CALL(munmap), CALL(mremap), CALL(madvise), CALL(brk), CALL(mincore), CALL(mlock),
		CALL(mlock2), CALL(munlock), // libsodium locks the memory of secrets
		// threads: clone below
		CALL(futex), CALL(set_robust_list), CALL(get_robust_list), CALL(rseq), CALL(exit),
		CALL(exit_group), CALL(restart_syscall), CALL(sched_yield), CALL(sched_getaffinity),
		CALL(sched_getparam), CALL(sched_getscheduler), CALL(sched_setscheduler),
		CALL(membarrier), CALL(arch_prctl), CALL(set_tid_address), CALL(getpid),
		CALL(gettid), CALL(getppid), CALL(getuid), CALL(geteuid), CALL(getgid),
		CALL(getegid), CALL(capget), CALL(getcpu), CALL(getrusage), CALL(times),
		CALL(sysinfo), CALL(uname), CALL(getrlimit), CALL(prlimit64),
		// signals
		CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(rt_sigtimedwait),
		CALL(rt_sigpending), CALL(sigaltstack), CALL(tgkill),
		// time
		CALL(clock_gettime), CALL(clock_getres), CALL(clock_nanosleep), CALL(nanosleep),
		CALL(gettimeofday), CALL(time), CALL(getrandom)};

static const int node_calls[] = {
		// adjtimex reads: CAP_SYS_TIME is gone
		CALL(adjtimex), CALL(clock_adjtime), CALL(chown), CALL(fchown), CALL(fchownat),
		CALL(sched_setaffinity), CALL(ioctl), CALL(memfd_create), CALL(get_mempolicy),
		CALL(set_mempolicy), CALL(mbind), CALL(setrlimit), CALL(inotify_init1),
		CALL(inotify_add_watch), CALL(inotify_rm_watch)};

static const int xdp_calls[] = {CALL(bpf), CALL(perf_event_open)};

static const int device_calls[] = {CALL(iopl), CALL(ioperm), CALL(move_pages), CALL(mlockall)};

// None of our programs makes these calls.
static const int deadly_calls[] = {CALL(execve), CALL(execveat), CALL(ptrace),
		CALL(process_vm_readv), CALL(process_vm_writev), CALL(init_module),
		CALL(finit_module), CALL(delete_module), CALL(kexec_load), CALL(kexec_file_load),
		CALL(mount), CALL(umount2), CALL(move_mount), CALL(open_tree), CALL(fsopen),
		CALL(pivot_root), CALL(chroot), CALL(setns), CALL(unshare), CALL(userfaultfd),
		CALL(keyctl), CALL(add_key), CALL(request_key), CALL(open_by_handle_at),
		CALL(reboot), CALL(swapon), CALL(swapoff), CALL(setuid), CALL(setgid),
		CALL(setreuid), CALL(setregid), CALL(setresuid), CALL(setresgid), CALL(setgroups),
		CALL(settimeofday), CALL(clock_settime)};
#define N(list) (sizeof(list) / sizeof((list)[0]))

// Returns 0 for the errors of a call that this machine does not have, else rc.
static int settle(int rc)
{
	return rc == -EDOM || rc == -EOPNOTSUPP ? 0 : rc;
}

static int add_list(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = settle(seccomp_rule_add(filter, action, calls[i], 0));
	return rc;
}

static int add_compared(scmp_filter_ctx filter, int call, struct scmp_arg_cmp compared)
{
	return settle(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &compared));
}

static int add_families(scmp_filter_ctx filter, unsigned groups)
{
	static const struct {
		int family;
		unsigned groups; // 0: for every program
	} families[] = {
			{AF_UNIX, 0},
			{AF_INET, 0},
			{AF_INET6, 0},
			{AF_NETLINK, 0}, // getaddrinfo reads addresses; nodes watch interfaces
			{AF_PACKET, HS_SYSCALLS_PACKETS | HS_SYSCALLS_XDP | HS_SYSCALLS_DEVICES},
			{AF_XDP, HS_SYSCALLS_XDP},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < N(families); i++) {
		if (families[i].groups && !(families[i].groups & groups))
			continue;
		rc = add_compared(filter, CALL(socket),
				SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i].family));
	}
	return rc;
}

// Memory is never both writable and executable, and mapped memory never becomes executable later.
// (Libraries that a name look-up loads are mapped executable from their files.)
static int add_memory(scmp_filter_ctx filter)
{
	const scmp_datum_t run = PROT_EXEC, both = PROT_EXEC | PROT_WRITE;
	int rc = add_compared(filter, CALL(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, run, 0));

	if (rc == 0)
		rc = add_compared(filter, CALL(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, both, run));
	if (rc == 0)
		rc = add_compared(filter, CALL(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, run, 0));
	return rc;
}

// Allows threads but no processes. The flags of clone3 are in memory, which a filter cannot read.
// The C library uses clone if clone3 does not exist.
static int add_threads(scmp_filter_ctx filter)
{
	int rc = add_compared(filter, CALL(clone),
			SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));

	if (rc == 0)
		rc = settle(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), CALL(clone3), 0));
	if (rc == 0)
		rc = add_compared(filter, CALL(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
	if (rc == 0) // sets how long an idle worker sleeps
		rc = add_compared(filter, CALL(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_TIMERSLACK));
	return rc;
}

// Allows the requests of a program without ports: whether the log is a terminal, how many bytes
// wait at a socket, and which interface has a name.
static int add_few_ioctls(scmp_filter_ctx filter)
{
	static const scmp_datum_t requests[] = {TCGETS, FIONREAD, SIOCGIFINDEX};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < N(requests); i++)
		rc = add_compared(filter, CALL(ioctl), SCMP_A1(SCMP_CMP_EQ, requests[i]));
	return rc;
}

static int add_all(scmp_filter_ctx filter, unsigned groups)
{
	int rc = add_list(filter, SCMP_ACT_ALLOW, base_calls, N(base_calls));

	if (rc == 0)
		rc = groups & HS_SYSCALLS_NODE
				     ? add_list(filter, SCMP_ACT_ALLOW, node_calls, N(node_calls))
				     : add_few_ioctls(filter);
	if (rc == 0 && groups & HS_SYSCALLS_XDP)
		rc = add_list(filter, SCMP_ACT_ALLOW, xdp_calls, N(xdp_calls));
	if (rc == 0 && groups & HS_SYSCALLS_DEVICES)
		rc = add_list(filter, SCMP_ACT_ALLOW, device_calls, N(device_calls));
	if (rc == 0)
		rc = add_list(filter, SCMP_ACT_KILL_PROCESS, deadly_calls, N(deadly_calls));
	if (rc == 0)
		rc = add_families(filter, groups);
	if (rc == 0)
		rc = add_memory(filter);
	return rc < 0 ? rc : add_threads(filter);
}

// Writes a line without stdio, because this is a signal handler, then dies from the signal.
static void say_refused(int signal_number, siginfo_t *info, void *context)
{
	char line[] = "refused: system call 0000\n";
	int number = info->si_syscall;

	(void)context;
	for (size_t at = sizeof(line) - 3; number > 0 && line[at] == '0'; at--, number /= 10)
		line[at] = (char)('0' + number % 10);
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static bool refusal_kills(void)
{
	const char *word = getenv("HS_SANDBOX_KILL");
	return word && strcmp(word, "1") == 0;
}

static uint32_t default_action(void)
{
	struct sigaction action = {.sa_sigaction = say_refused, .sa_flags = SA_SIGINFO};

	if (!refusal_kills())
		return SCMP_ACT_ERRNO(EPERM);
	sigaction(SIGSYS, &action, NULL);
	return SCMP_ACT_TRAP;
}

int hs_syscall_filter(unsigned groups)
{
	if (SANITIZED)
		return -ENOTSUP;
	scmp_filter_ctx filter = seccomp_init(default_action());
	if (!filter)
		return -ENOMEM;
	int rc = add_all(filter, groups);
	if (rc == 0)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (rc == 0)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (rc == 0)
		settle(seccomp_attr_set(
				filter, SCMP_FLTATR_CTL_LOG, 1)); // older kernels do not log
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc == -EINVAL || rc == -ENOSYS ? -ENOTSUP : rc;
}
