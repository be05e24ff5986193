# SPDX-License-Identifier: BSD-3-Clause
"""VPP with its ioam plugin, in the roles that Hopsight has: one worker, between two interfaces of its packet
generator. It gets routes to 1,024 neighbours, and where it must choose packets (source and sink), a
session of its classifier for each of 1,024 pairs of addresses: the classifier does not find ports behind a
Hop-by-Hop header."""

import contextlib
import glob
import os
import re
import socket
import subprocess
import time

from bench import measure
from peers import traffic

ROLES = ("route", "uneven", "source", "transit", "sink", "monitor")
PLAIN_ROLES = ("route", "uneven")  # without telemetry
NEIGHBOURS = 1024
WARM_PACKETS = 1000000
START_S = 30
ANSWER_S = 120  # 100,000 routes take some seconds
COLLECTOR = "192.0.2.2"
# What `show errors`, which cuts its words, and `show ioam trace` count for each packet that went through a role.
SHOWN = {
    "source": ("show errors", "Pkts w/ added ip6 hop-by-hop"),
    "transit": ("show ioam trace", "Pkts with trace updated"),
    "sink": ("show errors", "Pkts w/ removed ip6 hop-by-hop"),
    "monitor": ("show errors", "Packets recorded for export"),
}


class Programs:
    """The programs of VPP below a folder, as a build or an installation leaves them."""

    def __init__(self, folder):
        def find(*patterns):
            found = [path for pattern in patterns for path in sorted(glob.glob(os.path.join(folder, pattern)))]
            return found[0] if found else None

        self.vpp, self.vppctl = find("bin/vpp"), find("bin/vppctl")
        self.ioam = find("lib/vpp_plugins/ioam_plugin.so", "lib/*/vpp_plugins/ioam_plugin.so")

    def missing(self, plugin="ioam_plugin.so"):
        there = self.ioam and os.path.exists(os.path.join(os.path.dirname(self.ioam), plugin))
        return [name for name, path in (("bin/vpp", self.vpp), ("bin/vppctl", self.vppctl),
                                        (f"lib/*/vpp_plugins/{plugin}", there)) if not path]


# ---- configuration ----

def startup(programs, folder, worker, control, huge, plugin="ioam_plugin.so"):
    pages = "default-hugepage" if huge else "default"
    return f"""unix {{ nodaemon log {folder}/vpp.log cli-listen {folder}/cli.sock runtime-dir {folder} }}
api-segment {{ prefix hspeer{os.getpid()} }}
cpu {{ main-core {control} corelist-workers {worker} }}
memory {{ main-heap-size 256M main-heap-page-size {pages} }}
buffers {{ buffers-per-numa 16384 page-size {pages} }}
statseg {{ size 32M }}
plugins {{ path {os.path.dirname(programs.ioam)} plugin default {{ disable }} plugin {plugin} {{ enable }} }}
"""


def addresses(frame):
    ip = frame[traffic.ETHER_BYTES:traffic.ETHER_BYTES + traffic.IPV6_BYTES]
    return socket.inet_ntop(socket.AF_INET6, ip[8:24]), socket.inet_ntop(socket.AF_INET6, ip[24:40])


def sessions(frames, end):
    """Yields the commands of the classifier before the routes. `end` is the action for a packet that it knows."""
    yield f"classify table buckets {traffic.ROUTES} memory-size 64M mask l3 ip6 src dst"
    for source, destination in sorted({addresses(frame) for frame in frames}):
        yield f"classify session {end} table-index 0 match l3 ip6 src {source} dst {destination}"
    yield "set interface input acl intfc pg0 ip6-table 0"


def commands(role, frames, pcap, routes):
    for name in ("pg0", "pg1", "pg2"):
        yield f"create packet-generator interface {name}"
    yield f"set interface mac address pg0 {':'.join(f'{byte:02x}' for byte in frames[0][:6])}"
    for name in ("pg0", "pg1", "pg2"):
        yield f"set interface state {name} up"
    yield "set interface ip address pg0 fd00:0::1/64"
    yield "set interface ip address pg1 fd00:1::1/64"
    for number in range(NEIGHBOURS):
        yield f"set ip neighbor pg1 fd00:1::{number + 2:x} {traffic.next_hop_mac(number)} static"
    for number, route in enumerate(routes):
        yield f"ip route add {route} via fd00:1::{number % NEIGHBOURS + 2:x} pg1"
    if role not in PLAIN_ROLES:
        # VPP 23.10 reads 32 bits into a byte for each of the first two: in another order, the type clears the nodes.
        yield (f"set ioam-trace profile trace-elts {traffic.NODES} trace-type {traffic.TRACE_TYPE:#x} trace-tsp 3 "
               "node-id 0x2 app-data 0x1234")
        yield "set ioam rewrite trace"
    if role == "source":
        yield from sessions(frames, "acl-hit-next ip6-node ip6-add-hop-by-hop ioam-encap flow")
    if role in ("sink", "monitor"):
        yield from sessions(frames, "acl-hit-next ip6-node ip6-lookup ioam-decap flow")
    if role == "monitor":
        yield "set interface ip address pg2 192.0.2.1/24"
        yield f"set ip neighbor pg2 {COLLECTOR} 02:00:00:00:03:01 static"
        yield f"set ioam export ipfix collector {COLLECTOR} src 192.0.2.1"
    yield f"packet-generator new {{ name frames limit {10 ** 15} worker 0 interface pg0 node ethernet-input pcap {pcap} }}"


# ---- running ----

class Process:
    """A VPP with some commands done, until it is stopped. `version` is what it says of itself."""

    def __init__(self, programs, folder, start, commands_to_do):
        self.programs, self.folder = programs, folder
        with open(os.path.join(folder, "startup.conf"), "w", encoding="ascii") as f:
            f.write(start)
        script = os.path.join(folder, "commands")
        with open(script, "w", encoding="ascii") as f:
            f.writelines(line + "\n" for line in commands_to_do)
        self.process = measure.start([programs.vpp, "-c", os.path.join(folder, "startup.conf")])
        try:
            if not measure.wait_until(self._answers, START_S) or self.process.poll() is not None:
                raise measure.Failed("VPP does not start")
            said = self.ask(f"exec {script}")
            if re.search("error|unknown|failed|invalid", said, re.I):
                raise measure.Failed(f"VPP: {said.strip()[:300]}")
        except measure.Failed:
            self.stop()
            raise

    def _answers(self):
        self.version = self.ask("show version").strip()
        return self.version or self.process.poll() is not None

    def ask(self, command):
        """Returns the answer of VPP to a command, or "" without one."""
        try:
            done = subprocess.run([self.programs.vppctl, "-s", os.path.join(self.folder, "cli.sock"), command],
                                  capture_output=True, text=True, check=False, timeout=ANSWER_S)
        except subprocess.TimeoutExpired as error:
            raise measure.Failed(f"VPP does not answer: {command}") from error
        return done.stdout if done.returncode == 0 else ""

    def stop(self):
        measure.stop(self.process)


class Vpp(Process):
    """One process in one role, with its packet generator."""

    def __init__(self, programs, folder, role, pcap, routes, worker, control, huge):
        self.role = role
        super().__init__(programs, folder, startup(programs, folder, worker, control, huge),
                         commands(role, traffic.read_pcap(pcap), pcap, routes))
        if role not in PLAIN_ROLES and "not valid" in self.ask("show ioam-trace profile"):
            self.stop()
            raise measure.Failed("VPP has no profile of its trace option")
        self.ask("packet-generator enable-stream frames")

    def sent(self):
        return int((re.findall(r"tx packets +(\d+)", self.ask("show interface pg1")) or [0])[0])

    def worker(self):
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/comm"):
            with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as f:
                if f.read().startswith("vpp_wk"):
                    return os.path.join(os.path.dirname(path), "schedstat")
        raise measure.Failed("VPP has no worker")

    def read(self, schedstat):
        """Returns the packets and the worker's nanoseconds at one moment. The time is the mean of two readings,
        before and after the question for the packets."""
        def cpu_ns():
            with open(schedstat, encoding="ascii") as f:
                return int(f.read().split()[0])

        before = cpu_ns()
        sent = self.sent()
        return sent, (before + cpu_ns()) / 2

    def ns(self, seconds):
        """Returns the worker's nanoseconds for each packet that it sent."""
        if not measure.wait_until(lambda: self.sent() > WARM_PACKETS, START_S):
            raise measure.Failed("VPP forwards nothing")
        schedstat = self.worker()
        sent, cpu_ns = self.read(schedstat)
        time.sleep(seconds)
        sent_now, cpu_ns_now = self.read(schedstat)
        self.check(sent_now)
        return (cpu_ns_now - cpu_ns) / max(1, sent_now - sent)

    def check(self, sent):
        """Checks that packets took the path of the role. Counters increase while they are read, so that 1 % may
        differ."""
        if self.role not in SHOWN:
            return
        command, text = SHOWN[self.role]
        counted = sum(map(int, re.findall(rf"^ *(\d+) .*{re.escape(text)}", self.ask(command), re.M))) or sum(
            map(int, re.findall(rf"{re.escape(text)} - (\d+)", self.ask(command))))
        if counted < 0.99 * sent:
            raise measure.Failed(f"VPP counts {counted} where it sent {sent} packets: {text}")
