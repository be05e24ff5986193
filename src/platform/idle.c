// SPDX-License-Identifier: BSD-3-Clause
#include "idle.h"

#include "memif_bell.h"
#include "port_private.h"

#include <rte_cycles.h>
#include <rte_spinlock.h>

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// A sleep and its wake-up take about as long.
#define SHORTEST_NS   20000
#define LONG_SLEEP_NS 100000000
#define ALL_QUEUES    UINT16_MAX
#define MAX_ENTRIES   (HS_MAX_PORTS * PORT_MAX_QUEUES)
#define MAX_OWN_FDS   16
#define MAX_FDS	      (MAX_ENTRIES + PORT_MAX_QUEUES + MAX_OWN_FDS)

struct entry {
	struct hs_port *port;
	uint16_t queue;
};

// The descriptors of one sleep, and whether the sleep is limited for ports without a wake-up: for
// some whose other end rings no bell, or only for such with a bell.
struct waits {
	unsigned n;
	bool timed, timed_without_bell;
	struct pollfd fds[MAX_FDS]; // the first is the worker's own
};

// The queues of a port that an entry has: from `first` to `end` - 1.
struct queues {
	uint16_t first, end;
};

struct hs_idle {
	// Only the worker uses the following members.
	struct hs_pace pace;
	bool adaptive;
	bool exact_timers;
	bool armed; // receive interrupts are on
	bool bells_may_ring;
	bool looked; // the last sleep was long, took its whole time, and no round came after it

	alignas(64) rte_spinlock_t
			lock; // protects entries: control changes them while the worker sleeps
	struct entry entries[MAX_ENTRIES];
	unsigned n_entries;
	int fds[MAX_OWN_FDS];
	unsigned n_fds;
	_Atomic uint32_t sleeps; // odd while the worker sleeps
	int wake_fd;
};

int hs_idle_create(bool adaptive, struct hs_idle **idle)
{
	struct hs_idle *made = aligned_alloc(alignof(struct hs_idle), sizeof(*made));

	if (!made)
		return -ENOMEM;
	*made = (struct hs_idle){.adaptive = adaptive};
	rte_spinlock_init(&made->lock);
	hs_pace_init(&made->pace, rte_get_tsc_hz() / 1000000);
	made->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (made->wake_fd < 0) {
		int ret = -errno;

		free(made);
		return ret;
	}
	*idle = made;
	return 0;
}

void hs_idle_destroy(struct hs_idle *idle)
{
	if (!idle)
		return;
	close(idle->wake_fd);
	free(idle);
}

int hs_idle_add_queue(struct hs_idle *idle, struct hs_port *port, uint16_t queue)
{
	int ret = -ENOSPC;

	rte_spinlock_lock(&idle->lock);
	if (idle->n_entries < MAX_ENTRIES) {
		idle->entries[idle->n_entries++] = (struct entry){port, queue};
		ret = 0;
	}
	rte_spinlock_unlock(&idle->lock);
	hs_idle_wake(idle); // the next sleep includes the port
	return ret;
}

int hs_idle_add_fd(struct hs_idle *idle, int fd)
{
	int ret = -ENOSPC;

	rte_spinlock_lock(&idle->lock);
	if (idle->n_fds < MAX_OWN_FDS) {
		idle->fds[idle->n_fds++] = fd;
		ret = 0;
	}
	rte_spinlock_unlock(&idle->lock);
	hs_idle_wake(idle);
	return ret;
}

int hs_idle_add_port(struct hs_idle *idle, struct hs_port *port)
{
	return hs_idle_add_queue(idle, port, ALL_QUEUES);
}

void hs_idle_remove_port(struct hs_idle *idle, struct hs_port *port)
{
	unsigned kept = 0;
	uint32_t sleeps;

	rte_spinlock_lock(&idle->lock);
	for (unsigned i = 0; i < idle->n_entries; i++)
		if (idle->entries[i].port != port)
			idle->entries[kept++] = idle->entries[i];
	idle->n_entries = kept;
	sleeps = atomic_load(&idle->sleeps);
	rte_spinlock_unlock(&idle->lock);

	// A sleeping worker holds the port's sockets open, so it must wake first.
	hs_idle_wake(idle);
	while ((sleeps & 1) && atomic_load(&idle->sleeps) == sleeps)
		sched_yield();
}

static struct queues queues_of(const struct entry *entry)
{
	if (entry->queue == ALL_QUEUES)
		return (struct queues){0, RTE_MIN(entry->port->rx_queues, PORT_MAX_QUEUES)};
	return (struct queues){entry->queue, RTE_MIN(entry->queue + 1, PORT_MAX_QUEUES)};
}

// Switches receive interrupts on or off. Interrupts may be on or off more often than needed: a port
// that comes later is switched with the next sleep.
static void switch_interrupts(
		struct hs_idle *idle, void (*change)(struct hs_port *port, uint16_t queue))
{
	rte_spinlock_lock(&idle->lock);
	for (unsigned i = 0; i < idle->n_entries; i++) {
		struct entry *entry = &idle->entries[i];
		struct queues queues = queues_of(entry);
		if (!port_private(entry->port)->interrupts)
			continue;
		for (uint16_t q = queues.first; q < queues.end; q++)
			change(entry->port, q);
	}
	rte_spinlock_unlock(&idle->lock);
}

static int wake_fd_of(const struct entry *entry, uint16_t queue)
{
	return atomic_load_explicit(
			&port_private(entry->port)->wake_fds[queue], memory_order_relaxed);
}

static bool has_bell(const struct entry *entry)
{
	return entry->port->needs_timed_poll && !port_private(entry->port)->interrupts;
}

// Quiets the bells of the worker's queues. The worker looks at its queues once more before it
// sleeps: a packet whose bell is quieted here is already in its ring. Nobody relies on a bell that
// several workers share, because one may quiet it before another wakes.
static void quiet_bells(struct hs_idle *idle)
{
	if (!idle->bells_may_ring)
		return;
	idle->bells_may_ring = false;
	rte_spinlock_lock(&idle->lock);
	for (unsigned i = 0; i < idle->n_entries; i++) {
		const struct entry *entry = &idle->entries[i];
		struct queues queues = queues_of(entry);
		for (uint16_t q = queues.first; has_bell(entry) && q < queues.end; q++)
			if (memif_bell_quiet(wake_fd_of(entry, q)) && entry->port->rx_queues == 1)
				port_private(entry->port)->rung = true;
	}
	rte_spinlock_unlock(&idle->lock);
}

// Packets came that rang no bell, so bells cannot be relied on until they ring again.
static void miss_bells(struct hs_idle *idle)
{
	idle->looked = false;
	rte_spinlock_lock(&idle->lock);
	for (unsigned i = 0; i < idle->n_entries; i++)
		port_private(idle->entries[i].port)->rung = false;
	rte_spinlock_unlock(&idle->lock);
}

static void disarm(struct hs_idle *idle)
{
	if (!idle->armed)
		return;
	idle->armed = false;
	switch_interrupts(idle, port_interrupt_quiet);
}

void hs_idle_work(struct hs_idle *idle, unsigned packets)
{
	disarm(idle);
	idle->bells_may_ring = true;
	if (idle->looked)
		miss_bells(idle);
	hs_pace_work(&idle->pace, packets);
}

enum hs_pace_step hs_idle_next(struct hs_idle *idle)
{
	idle->looked = false;
	return idle->adaptive ? hs_pace_next(&idle->pace, rte_rdtsc()) : HS_PACE_SPIN;
}

// Removes the slack of 50 us that each timer of this thread would get otherwise.
static void make_timers_exact(struct hs_idle *idle)
{
	if (!idle->exact_timers)
		prctl(PR_SET_TIMERSLACK, 1);
	idle->exact_timers = true;
}

void hs_idle_arm(struct hs_idle *idle)
{
	make_timers_exact(idle);
	quiet_bells(idle);
	// Sockets need no arming: they are readable while packets wait in their rings.
	if (!idle->armed)
		switch_interrupts(idle, port_interrupt_arm);
	idle->armed = true;
}

static void add_fd(struct waits *waits, int fd)
{
	waits->fds[waits->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void add_fds(const struct entry *entry, struct waits *waits)
{
	struct queues queues = queues_of(entry);

	for (uint16_t q = queues.first; q < queues.end; q++) {
		int fd = wake_fd_of(entry, q);

		if (fd >= 0)
			add_fd(waits, fd);
	}
}

// Collects the descriptors to wait for. This happens at each sleep, because ports come and go while
// the worker sleeps.
static void begin_sleep(struct hs_idle *idle, struct waits *waits)
{
	waits->n = 0;
	waits->timed = waits->timed_without_bell = false;
	add_fd(waits, idle->wake_fd);
	rte_spinlock_lock(&idle->lock);
	atomic_fetch_add(&idle->sleeps, 1);
	for (unsigned i = 0; i < idle->n_entries; i++) {
		const struct hs_port *port = idle->entries[i].port;
		waits->timed |= port->needs_timed_poll;
		waits->timed_without_bell |= port->needs_timed_poll && !port_private(port)->rung;
		if (waits->n + PORT_MAX_QUEUES + MAX_OWN_FDS <= MAX_FDS)
			add_fds(&idle->entries[i], waits);
	}
	for (unsigned i = 0; i < idle->n_fds; i++)
		add_fd(waits, idle->fds[i]);
	rte_spinlock_unlock(&idle->lock);
}

// Reads the sockets' errors. An interface that goes down leaves an error on its sockets, which
// would end every sleep at once. Reading the error removes it.
static void clear_sockets(const struct waits *waits)
{
	for (unsigned i = 1; i < waits->n; i++) {
		int error;
		socklen_t len = sizeof(error);

		if (waits->fds[i].revents & (POLLERR | POLLHUP))
			getsockopt(waits->fds[i].fd, SOL_SOCKET, SO_ERROR, &error, &len);
	}
}

static void clear_wake(struct hs_idle *idle)
{
	uint64_t count;

	if (read(idle->wake_fd, &count, sizeof(count)) < 0)
		return;
}

void hs_idle_nap(struct hs_idle *idle, int64_t ns)
{
	struct pollfd fd = {.fd = idle->wake_fd, .events = POLLIN};
	const struct timespec limit = {.tv_nsec = ns};

	if (!idle->adaptive)
		return;
	make_timers_exact(idle);
	if (ppoll(&fd, 1, &limit, NULL) > 0)
		clear_wake(idle);
}

void hs_idle_rest(struct hs_idle *idle, int64_t limit_ns)
{
	if (limit_ns < SHORTEST_NS)
		return;
	hs_idle_nap(idle, RTE_MIN(HS_PACE_REST_US * INT64_C(1000), limit_ns));
	hs_pace_woke(&idle->pace, rte_rdtsc(), false);
}

void hs_idle_sleep(struct hs_idle *idle, int64_t limit_ns)
{
	if (limit_ns < SHORTEST_NS)
		return;

	struct waits waits; // not cleared: only added members are read
	begin_sleep(idle, &waits);
	if (waits.timed)
		limit_ns = RTE_MIN(
				limit_ns, hs_pace_look_us(&idle->pace, !waits.timed_without_bell) *
							  INT64_C(1000));
	struct timespec limit = {.tv_nsec = RTE_MIN(LONG_SLEEP_NS, limit_ns)};
	int ready = ppoll(waits.fds, waits.n, &limit, NULL);

	if (ready > 0)
		clear_sockets(&waits);
	idle->bells_may_ring |= ready > 0;
	idle->looked = ready == 0 && limit_ns > HS_PACE_LOOK_SOON_US * INT64_C(1000);
	disarm(idle); // afterwards, a port may be detached
	atomic_fetch_add(&idle->sleeps, 1);
	// After a sleep that nothing interrupted, the next empty round may sleep again at once.
	hs_pace_woke(&idle->pace, rte_rdtsc(), ready > 0);
	if (ready > 0 && waits.fds[0].revents)
		clear_wake(idle);
}

void hs_idle_wake(struct hs_idle *idle)
{
	uint64_t one = 1;

	if (write(idle->wake_fd, &one, sizeof(one)) < 0)
		return; // full: the worker is already awake
}
