# SPDX-License-Identifier: BSD-3-Clause
"""A real systemd, as the first process of a copy of this machine's files. Changes end with the test."""

import os
import subprocess
import time

from lib import Skip
from workspace import run

# Units that would touch the machine itself: its devices, modules, kernel settings and clock.
_LEFT_OUT = ["systemd-udevd.service", "systemd-udev-trigger.service", "systemd-udevd-control.socket",
             "systemd-udevd-kernel.socket", "systemd-sysctl.service", "systemd-modules-load.service",
             "systemd-remount-fs.service", "systemd-random-seed.service", "systemd-binfmt.service",
             "systemd-timesyncd.service", "getty.target", "timers.target", "swap.target"]

# $1: a folder for the copy. Nothing of /dev but what a container has; /sys can be read only, but for the
# control groups of the copy's own systemd.
_BOOT = r"""
set -e
mount -t tmpfs tmpfs "$1" && cd "$1" && mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount -t proc proc root/proc
mount -t sysfs -o ro sysfs root/sys
if grep -q name=systemd /proc/self/cgroup; then
	mount -t tmpfs tmpfs root/sys/fs/cgroup && mkdir root/sys/fs/cgroup/systemd
	mount -t cgroup -o none,name=systemd cgroup root/sys/fs/cgroup/systemd
else
	mount -t cgroup2 cgroup2 root/sys/fs/cgroup
fi
mount -t tmpfs -o mode=755 tmpfs root/dev && mkdir root/dev/net root/dev/pts root/dev/shm
mknod -m 666 root/dev/null c 1 3 && mknod -m 666 root/dev/zero c 1 5 && mknod -m 666 root/dev/full c 1 7
mknod -m 666 root/dev/random c 1 8 && mknod -m 666 root/dev/urandom c 1 9 && mknod -m 666 root/dev/tty c 5 0
mknod -m 666 root/dev/net/tun c 10 200
mount -t devpts -o newinstance,ptmxmode=666 devpts root/dev/pts && ln -s pts/ptmx root/dev/ptmx
mount -t tmpfs tmpfs root/run && mount -t tmpfs tmpfs root/tmp
for unit in $2; do
	ln -sf /dev/null "root/etc/systemd/system/$unit"
done
mkdir -p root/mnt/before && cd root && pivot_root . mnt/before && umount -l mnt/before
exec /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	/lib/systemd/systemd --unit=basic.target --log-target=journal
"""


class Machine:
    """Files under `root` are those of the machine that started; `run` runs a command in it."""

    def __init__(self, workspace):
        if not os.path.exists("/lib/systemd/systemd"):
            raise Skip("systemd is not installed")
        folder = workspace.path("machine")
        os.mkdir(folder)
        self.log = workspace.path("machine.log")
        self.outer = workspace.spawn(["unshare", "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--fork",
                                      "--kill-child", "bash", "-c", _BOOT, "boot", folder, " ".join(_LEFT_OUT)], log="machine.log")
        self.first = self._first_process()
        self.root = f"/proc/{self.first}/root"
        self._until_up()

    def _first_process(self):
        end = time.monotonic() + 10
        while time.monotonic() < end and self.outer.poll() is None:
            for child in _children(self.outer.pid):
                if _name(child) == "systemd":
                    return child
            time.sleep(0.02)
        with open(self.log, encoding="utf-8") as file:
            raise Skip("no systemd can be started here: " + file.read().strip())

    def _until_up(self):
        end = time.monotonic() + 20
        while True:
            state = self.ask("systemctl", "is-system-running").stdout.strip()
            if state in ("running", "degraded"):
                return
            if time.monotonic() > end:
                raise RuntimeError(f"systemd says {state!r} 20 s after its start")
            time.sleep(0.1)

    def ask(self, *argv):
        """Returns what became of a command, whatever that is."""
        return subprocess.run(self._inside(argv), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def run(self, *argv):
        """Returns the output of a command, or raises an error with it."""
        return run(*self._inside(argv))

    def _inside(self, argv):
        return ["nsenter", "--target", str(self.first), "--mount", "--pid", "--uts", "--ipc", "--net", "--root", "--wd=/", *argv]

    def write(self, path, text):
        with open(self.root + path, "w", encoding="utf-8") as file:
            file.write(text)

    def unit(self, name, *properties):
        """Returns properties of a unit."""
        said = self.run("systemctl", "show", name, "--property=" + ",".join(properties))
        return dict(line.split("=", 1) for line in said.splitlines())


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def _name(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""
