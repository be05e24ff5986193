# SPDX-License-Identifier: BSD-3-Clause
"""The order of measurements: every case and every peer once in each round, each in a process of its own. No process
and no file of a measurement remains when it ends in any way."""

import contextlib
import ctypes
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PEER = "dpdk-testpmd"
PEER_WARM_PACKETS = 1000000
PEER_LIMIT_S = 30
CASE_LIMIT_S = 120  # a million rules take long
SOCKET_LIMIT_S = 10
GRACE_S = 5
STEP_S = 0.02
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Failed(Exception):
    """A measurement has no result. The text says why."""


class Interrupted(Exception):
    """Ctrl-C, or a signal to end."""


# ---- signals: they end waiting, and never the removal of what a measurement has started ----

class Signals:
    came = waiting = False


def on_signal(_number, _frame):
    Signals.came = True
    if Signals.waiting:
        Signals.waiting = False
        raise Interrupted


def catch_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)


@contextlib.contextmanager
def interruptible():
    Signals.waiting = True
    try:
        if Signals.came:
            raise Interrupted
        yield
    finally:
        Signals.waiting = False


# ---- processes ----

def start(words, listen=False, log=subprocess.DEVNULL):
    """Starts a program that ends with this process. With `listen`, its stdout can be read. Otherwise, it prints into
    `log`."""
    parent = os.getpid()

    def tie():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)

    try:
        # A session of its own: the parent alone handles Ctrl-C.
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=tie,
                                stdout=subprocess.PIPE if listen else log, stderr=None if listen else log)
    except OSError as error:
        raise Failed(f"{words[0]} cannot be started: {error.strerror}") from error


def stop(process):
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def result_of(process, limit_s):
    """Returns the line of JSON that hopsight-bench-case printed, as a dict."""
    try:
        with interruptible():
            line = json.loads(process.communicate(timeout=limit_s)[0])
    except (subprocess.TimeoutExpired, ValueError):
        line = {"error": "the measurement ended without a result"}
    finally:
        process.kill()
        process.wait()
    if "error" in line:
        raise Failed(line["error"])
    return line


def wait_until(condition, limit_s):
    """Waits for a condition. Returns whether it became true in time."""
    end = time.monotonic() + limit_s
    with interruptible():
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(STEP_S)
    return True


# ---- dpdk-testpmd: its worker thread's own processor time for each packet that it received ----

def peer_is_there():
    return shutil.which(PEER) is not None


def runtime_folder(prefix):
    """Returns EAL's folder of a prefix, which contains the socket of dpdk-testpmd."""
    base = os.environ.get("RUNTIME_DIRECTORY") or (
        "/var/run" if os.getuid() == 0 else os.environ.get("XDG_RUNTIME_DIR") or "/tmp")
    return os.path.join(base, "dpdk", prefix)


def memory_words(huge):
    """Returns EAL's words for memory: huge pages need no mount if no file names them."""
    return ["--in-memory"] if huge else ["--no-huge", "-m", "512", "--no-shconf"]


def port_packets(prefix, port, counter):
    """Returns a counter of a port by DPDK's telemetry, or None without an answer."""
    command = "/ethdev/stats"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(2)
        try:
            connection.connect(os.path.join(runtime_folder(prefix), "dpdk_telemetry.v2"))
            connection.recv(65536)  # the greeting
            connection.send(f"{command},{port}".encode())
            return json.loads(connection.recv(65536))[command][counter]
        except (OSError, ValueError, KeyError, TypeError):
            return None


def received_packets(prefix):
    return port_packets(prefix, 0, "ipackets")


def worker_thread(pid):
    """Returns the folder of testpmd's worker thread in /proc, or None."""
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as f:
            if "worker" in f.read():
                return os.path.dirname(path)
    return None


def read_both(prefix, thread):
    packets = received_packets(prefix)
    try:
        with open(f"{thread}/schedstat", encoding="ascii") as f:
            return packets, int(f.read().split()[0])
    except (OSError, ValueError, IndexError):
        return None, 0


def peer_ns(process, prefix, seconds, main=False):
    """`main`: the program forwards in its main thread."""
    def warm():
        return process.poll() is not None or (received_packets(prefix) or 0) > PEER_WARM_PACKETS

    if not wait_until(warm, PEER_LIMIT_S):
        raise Failed("it did not begin to forward")
    if process.poll() is not None:
        raise Failed("it ended before it forwarded")
    thread = f"/proc/{process.pid}/task/{process.pid}" if main else worker_thread(process.pid)
    with interruptible():
        packets, cpu_ns = read_both(prefix, thread)
        if packets is None:
            raise Failed("its worker thread cannot be read")
        time.sleep(seconds)
        packets_now, cpu_ns_now = read_both(prefix, thread)
    if packets_now is None or packets_now <= packets:
        raise Failed("it stopped forwarding")
    return (cpu_ns_now - cpu_ns) / (packets_now - packets)


def with_second_try(measure_once, *args):
    """Measures another program. Other work may keep a program from its core, so a failed measurement is made again
    once. A case of Hopsight has no second try: its failure may be an error of a check."""
    try:
        return measure_once(*args)
    except Failed as error:
        print(f"failed, is measured again: {error}", file=sys.stderr)
        return measure_once(*args)


# ---- rounds ----

class Bench:
    """Measures rows. `program` is hopsight-bench-case."""

    def __init__(self, program, seconds, worker, control):
        self.program, self.seconds = program, seconds
        self.worker, self.control = str(worker), str(control)
        self.prefix = f"hsbench{os.getpid()}"
        self.folder = None

    def run(self, rows, rounds, again=None):
        """Adds samples to all rows, or to those of `again` and what they are compared with. A row that fails has the
        reason in it."""
        if again is not None:
            wanted = {id(other) for row in again for other in (row, row.yardstick, row.limit_row)}
            rows = [row for row in rows if id(row) in wanted]
        with tempfile.TemporaryDirectory(prefix="hopsight-bench.") as self.folder:
            try:
                self.write_frames(rows)
                for number in range(rounds):
                    for row in rows:
                        if not row.error:
                            print(f"round {number + 1}/{rounds} {row.name}: {self.measure(row)}", file=sys.stderr)
            finally:
                shutil.rmtree(runtime_folder(self.prefix), ignore_errors=True)

    def capture(self, case):
        """Returns the file with the frames of a case. Cases with the same traffic share it."""
        return os.path.join(self.folder, "-".join(str(value) for value in case.traffic.values()) + ".pcap")

    def write_frames(self, rows):
        with_frames = [row for row in rows if row.case.traffic["frames"] and not row.error]
        for row in {self.capture(row.case): row for row in with_frames}.values():
            path = self.capture(row.case)
            try:
                result_of(start([self.program, row.case.name, "--frames", path], listen=True), CASE_LIMIT_S)
            except Failed as error:
                for other in with_frames:
                    if self.capture(other.case) == path:
                        other.error = f"its frames: {error}"

    def measure(self, row):
        """Measures a row. Returns the text to print about it."""
        try:
            if row.mode:
                row.samples.append(with_second_try(self.measure_peer, row))
            else:
                self.add(row, self.measure_case(row.case, row.huge))
        except Failed as error:
            row.error = str(error)
            return f"failed: {row.error}"
        return f"{row.samples[-1]:.1f} ns" if row.packets else f"{row.samples[-1]:.0f} per second"

    @staticmethod
    def add(row, line):
        if not row.packets:
            row.samples.append(line["per_second"])
            return
        ns = line["cpu_ns"] / line["packets"]
        row.samples.append(ns)
        row.cycles.append(ns * line["tsc_ghz"])
        row.reports_made += line["reports_made"]
        row.reports_lost += line["reports_lost"]

    def start_peer(self, prefix, worker, mode, *devices, huge=False):
        return start([PEER, *memory_words(huge), "--no-pci", f"--file-prefix={prefix}",
                      "--lcores", f"0@{self.control},1@{worker}", "--main-lcore", "0",
                      *(word for device in devices for word in ("--vdev", device)), "--", f"--forward-mode={mode}",
                      "--nb-cores=1", "--total-num-mbufs=16384", "--stats-period=3600"])

    def source(self, case):
        return f"net_pcap0,rx_pcap={self.capture(case)},infinite_rx=1"

    def measure_peer(self, row):
        process = self.start_peer(self.prefix, self.worker, row.mode, self.source(row.case), "net_null0,no-rx=1",
                                  huge=row.huge)
        try:
            return peer_ns(process, self.prefix, self.seconds)
        finally:
            stop(process)
            shutil.rmtree(runtime_folder(self.prefix), ignore_errors=True)

    def measure_case(self, case, huge=False):
        process = start([self.program, case.name, "--pcap", self.capture(case), "--seconds", f"{self.seconds:.9g}",
                         "--worker", self.worker, "--control", self.control, "--prefix", self.prefix,
                         "--sockets", self.folder, *(["--huge"] if huge else [])], listen=True)
        with contextlib.ExitStack() as ends:
            ends.callback(stop, process)
            if case.memif:
                self.start_end(1, "net_null0,no-rx=1", ends)
                self.start_end(0, self.source(case), ends)
            return result_of(process, self.seconds + CASE_LIMIT_S)

    def start_end(self, port, device, ends):
        """Starts dpdk-testpmd between a memif to port `port` of the case and another device, on the control core."""
        path, prefix = os.path.join(self.folder, f"{port}.sock"), f"{self.prefix}-{port}"
        if not wait_until(lambda: os.path.exists(path), SOCKET_LIMIT_S):
            raise Failed("our socket does not appear")
        memif = f"net_memif0,role=client,socket={path},socket-abstract=no"
        process = self.start_peer(prefix, self.control, "io", device, memif)
        ends.callback(lambda: os.path.exists(path) and os.unlink(path))
        ends.callback(shutil.rmtree, runtime_folder(prefix), ignore_errors=True)
        ends.callback(stop, process)
