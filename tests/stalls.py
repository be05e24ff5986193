# SPDX-License-Identifier: BSD-3-Clause
"""Notices that nothing ran on a core for a while: the host of a virtual machine took the core away.

A process of the highest real-time priority wakes on each core every 20 ms. Programs under test do not delay
this process for longer than a few milliseconds. A process that spins with a real-time priority can: the kernel
then gives 50 ms of each second to others."""

import multiprocessing
import os
import signal
import time

STALL_S = 0.03  # a wake that is later
_EACH_S = 0.02
_FORK = multiprocessing.get_context("fork")


def _watch(core, last, parent):
    """Keeps in `last` when the core's last stall ended, how long the stall was, and when the watcher woke."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.sched_setaffinity(0, {core})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO)))
    except OSError:
        print(f"core {core} is not watched for stalls: no real-time priority", flush=True)
        return  # each late wake would look like a stall
    end = time.monotonic()
    while os.getppid() == parent:
        begin = end
        time.sleep(_EACH_S)
        end = time.monotonic()
        if end - begin - _EACH_S > STALL_S:
            last[1] = end - begin - _EACH_S
            last[0] = end
        last[2] = end


class Stalls:
    """Watches each core until stop()."""

    def __init__(self):
        self._cores = []
        for core in sorted(os.sched_getaffinity(0)):
            last = _FORK.Array("d", 3, lock=False)
            watcher = _FORK.Process(target=_watch, args=(core, last, os.getpid()), daemon=True)
            watcher.start()
            self._cores.append((watcher, last))

    def pids(self):
        return [watcher.pid for watcher, _ in self._cores]

    def woke(self):
        """Returns whether each core is watched: its watcher woke once."""
        return all(last[2] for _, last in self._cores)

    def since(self, begin):
        """Returns the length in seconds of the longest of the cores' last stalls that ended after `begin`
        (time.monotonic), or 0. Waits up to a second for stalls that have not ended."""
        asked = time.monotonic()
        while any(0 < last[2] < asked for _, last in self._cores) and time.monotonic() < asked + 1:
            time.sleep(0.005)
        return max((last[1] for _, last in self._cores if last[0] > begin), default=0)

    def stop(self):
        for watcher, _ in self._cores:
            watcher.kill()
            watcher.join()
