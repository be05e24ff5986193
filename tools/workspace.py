# SPDX-License-Identifier: BSD-3-Clause
"""A folder, processes and network namespaces that end together, in whatever way their owner
ends."""

import ctypes
import functools
import glob
import os
import re
import shutil
import signal
import subprocess

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_CLONE_NEWNET = 0x40000000

# By default a Linux host reports its multicast groups and asks for routers for some seconds after
# an address or a link comes up. With these settings, the host sends all of this in the first
# milliseconds, so that a test that counts packets counts only its own.
_SILENT_SOON = [f"net.ipv6.conf.default.{key}" for key in (
    "mldv1_unsolicited_report_interval=1", "mldv2_unsolicited_report_interval=1",
    "router_solicitations=0", "router_solicitation_delay=0", "dad_transmits=0")]


def run(*argv, **kwargs):
    """Runs a command to its end. Returns its output, or raises an error with the output."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **kwargs)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def die_with(parent):
    """Makes the calling process die with its parent, which may have died before."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # pylint: disable=protected-access


class InNamespace:
    """Moves the calling thread into a namespace for a while; sockets opened there stay there."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        other = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        try:
            self._enter(other)
        finally:
            os.close(other)

    def __exit__(self, *_):
        self._enter(self.own)
        os.close(self.own)

    @staticmethod
    def _enter(descriptor):
        if _LIBC.setns(descriptor, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")


class Workspace:
    def __init__(self, folder, prefix=None):
        self.folder = folder
        # Namespace names are global. The folder's random part separates runs.
        self.prefix = prefix or \
            "hs" + re.sub(r"[^a-z0-9]", "", os.path.basename(folder).lower())[-6:]
        self.processes = []
        self.at_close = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def namespace(self, name):
        """Makes a namespace with loopback up; returns its name for `ip -n`."""
        whole = f"{self.prefix}-{name}"
        run("ip", "netns", "add", whole)
        run("ip", "-n", whole, "link", "set", "lo", "up")
        run("ip", "netns", "exec", whole, "sysctl", "-qw", *_SILENT_SOON)
        return whole

    def spawn(self, argv, namespace=None, log=None, **kwargs):
        """Starts a program that dies with this process; log names the file for both outputs."""
        if namespace:
            argv = ["ip", "netns", "exec", namespace, *argv]
        if log:
            with open(self.path(log), "ab") as f:
                return self.spawn(argv, stdout=f, stderr=f, **kwargs)
        process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            argv, stdin=subprocess.DEVNULL, preexec_fn=functools.partial(die_with, os.getpid()),
            start_new_session=True, **kwargs)
        self.processes.append(process)
        return process

    def close(self):
        """Ends everything in order. Raises what at_close functions raised."""
        problems = []
        for function in reversed(self.at_close):
            try:
                function()
            except Exception as problem:  # pylint: disable=broad-except
                problems.append(problem)
        self.at_close = []
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.remove_namespaces()
        # EAL leaves its folder for the next process of the same name.
        for folder in glob.glob(f"/run/dpdk/hopsight-{self.prefix}-*"):
            shutil.rmtree(folder, ignore_errors=True)
        if problems:
            raise problems[0]

    def remove_namespaces(self):
        try:
            names = os.listdir("/run/netns")
        except FileNotFoundError:
            return
        for name in names:
            if name.startswith(self.prefix + "-"):
                subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
