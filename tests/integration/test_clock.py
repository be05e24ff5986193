# SPDX-License-Identifier: BSD-3-Clause
"""A system's clock that is set while nodes run. It is the test's own clock, preloaded into them."""

import mmap
import os
import struct
import subprocess
import time

from lib import (Chain, Subscriber, audit_ok, check, equal, events, main, need, reasons, rule, test,
                 until)

A, B = "2001:db8::1", "2001:db8::2"
SECOND = 1000000000
MS = 1000000
ROOM_NS = 800 * MS  # for delays of this busy machine


class Clock:
    """The offset of the system's clock of some nodes from the machine's."""

    SHOWN = "qqqqqq"  # struct shown of clock_shim.c

    def __init__(self, workspace, name="clock"):
        self.shim = workspace.path("clock_shim.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock_shim.c")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-o", self.shim, source,
                        "-ldl"], check=True)
        self.file = workspace.path(name)
        with open(self.file, "wb") as f:
            f.write(struct.pack(self.SHOWN, 0, 12, 40, 250, 1, 0))
        with open(self.file, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), struct.calcsize(self.SHOWN))

        self.environment = {"LD_PRELOAD": self.shim, "CLOCK_SHIM": self.file}

    def give(self, *nodes):
        for node in nodes:
            node.environment = self.environment

    def set(self, offset_ns):
        struct.pack_into("q", self.map, 0, offset_ns)

    def offset_ns(self):
        return struct.unpack_from("q", self.map, 0)[0]


def chain_with_clock(workspace):
    chain = Chain(workspace, nodes=2)
    clock = Clock(workspace)
    clock.give(*chain.nodes)
    chain.start()
    return chain, clock, chain.nodes[1]


def is_marked(window):
    return bool(window["flags"]) or window["path_changed"] or \
        not window["clock"].get("synchronised", False)


def is_right(window):
    delay = window["e2e"]["delay_ns"]
    return -ROOM_NS < delay["min"] and delay["max"] < ROOM_NS and \
        window["e2e"].get("lost_packets", 0) == 0


def brief(windows):
    return [(w["end_ns"] // SECOND, w["reports"], w["e2e"]["delay_ns"]["min"],
             w["e2e"]["delay_ns"]["max"], w["flags"], w["clock"].get("synchronised"))
            for w in windows]


def is_near(window, now_ns):
    return abs(window["end_ns"] - now_ns) < 10 * SECOND


def windows_until(subscriber, enough, limit_s=8):
    """Returns the one-second windows that come until enough(windows), or within the limit."""
    end, found = time.monotonic() + limit_s, []
    while not enough(found) and time.monotonic() < end:
        message = subscriber.receive(max(0.01, end - time.monotonic()))
        if message and message[0].startswith("qos.1"):
            window = message[1]["qos_report"]
            if window["window_ns"] == SECOND and not window["stale"]:
                found.append(window)
    return found


@test(apart=True)
def delays_are_right_at_once_where_the_system_clock_is_set_and_windows_across_are_marked(workspace):
    need("ping", "cc")
    chain, clock, sink = chain_with_clock(workspace)
    chain.install(rule(1, A, B, "icmp"))
    subscriber = Subscriber(sink.publisher, "")
    subscriber.wait_connected(sink)
    chain.hosts[0].spawn("ping", "-q", "-i", "0.01", B)

    def right(windows):
        now_ns = time.time_ns() + clock.offset_ns()
        return [w for w in windows if is_right(w) and not is_marked(w) and is_near(w, now_ns)]

    check(right(windows_until(subscriber, right)), "before")
    for offset_s in (36, 0, -3600, 0):
        amount = offset_s * SECOND - clock.offset_ns()
        for node in chain.nodes:
            node.known = len(events(node, "clock_step"))
        clock.set(offset_s * SECOND)
        windows = windows_until(subscriber, lambda seen: any(map(is_marked, seen)) and right(seen))
        for node in chain.nodes:
            told = events(node, "clock_step")[node.known:]
            equal(len(told), 1, f"{node.name}: steps told of")
            check(abs(told[0]["amount_ns"] - amount) < 50 * MS, told)
            check(abs(told[0]["old_offset_ns"] + amount) < 50 * MS, told)
            check(abs(told[0]["new_offset_ns"]) < 50 * MS, told)
        for window in windows:
            check(is_right(window) or is_marked(window), f"wrong and not marked: {window}")
        check(right(windows), f"no window is right after a step of {amount} ns: {brief(windows)}")
        check(any(is_marked(w) for w in windows), f"no window across: {brief(windows)}")
    shown = sink.call("node_get")["clock"]
    equal((shown["kernel_offset_ns"], shown["esterror_ns"], shown["maxerror_ns"], shown["status"]),
          (12000, 40000, 250000, 1), "what the kernel says")
    equal(shown["steps"], 4, "steps")
    check(abs(shown["offset_ns"]) < MS, shown)
    equal(windows[-1]["clock"]["maxerror_ns"], 250000, "in windows")
    audit_ok(*chain.nodes)


@test(apart=True)
def a_source_says_when_its_telemetry_stopped(workspace):
    need("ping", "cc")
    chain, clock, _ = chain_with_clock(workspace)
    source = chain.nodes[0]
    chain.install(rule(1, A, B, "icmp"))
    chain.hosts[0].run("ping", "-q", "-c", "3", "-i", "0.02", B)
    equal(set(reasons(source, 1)), {"sink_elsewhere"}, "after packets")
    clock.set(100 * SECOND)
    found = until(lambda: reasons(source, 1).get("stopped"), 5, "nothing for a hundred seconds")
    check("given telemetry 10" in found["text"], found)


@test(apart=True)
def timers_go_on_where_the_system_clock_is_set(workspace):
    need("ping", "cc")
    chain = Chain(workspace, nodes=2, telemetry={"request_interval_s": 1, "request_schedule_s": []})
    clock = Clock(workspace)
    clock.give(*chain.nodes)
    chain.start()
    source, sink = chain.nodes
    source.call("int_request", **rule(1, A, B, "icmp", in_band=True, mode="frequency",
                                      mode_setting=20))
    ping = chain.hosts[0].spawn("ping", "-q", "-i", "0.005", B)
    until(lambda: sink.call("int_list")["rules"], 5, "the rule comes in band")

    def reports():
        return sink.call("int_get", ns_id=1)["counters"]["reports_made"]

    def sent():
        return source.call("int_get", ns_id=1)["state"]["request_sent"]

    for offset_s in (3600, 0):
        clock.set(offset_s * SECOND)
        time.sleep(0.3)
        before, requests = reports(), sent()
        begin = time.monotonic()
        time.sleep(1)
        passed = time.monotonic() - begin
        made = reports() - before
        check(0.3 * passed / 0.02 < made < 2 * passed / 0.02, f"{made} reports in {passed} s")
        check(0 < sent() - requests < 6, f"{sent() - requests} requests in {passed} s")
        check(sink.call("int_list")["rules"], "the rule stays")
    ping.kill()
    until(lambda: not sink.call("int_list")["rules"], 8, "and expires when nobody asks for it")


@test(apart=True)
def an_offset_below_the_bound_is_slewed_and_not_called_synchronised(workspace):
    need("cc")
    chain, clock, sink = chain_with_clock(workspace)

    def is_blamed():
        return "clock" in [one["reason"] for one in sink.call("explain", ns_id=1)["reasons"]]

    sink.call("int_request", **rule(1, A, B, "icmp"))
    time.sleep(0.3)
    check(sink.call("node_get")["clock"]["synchronised"] and not is_blamed(), "before")
    clock.set(-SECOND // 2)
    until(lambda: abs(sink.call("node_get")["clock"]["offset_ns"]) > 400 * MS, 3, "it is seen")
    begin, first = time.monotonic(), sink.call("node_get")["clock"]
    check(not first["synchronised"] and is_blamed(), first)
    time.sleep(1.5)
    now = sink.call("node_get")["clock"]
    passed = time.monotonic() - begin
    rate = (first["offset_ns"] - now["offset_ns"]) / passed / SECOND
    check(0.005 < rate < 0.05, f"{rate} of a second in a second")
    equal(now["steps"], 0, "steps")
    clock.set(0)
    until(lambda: sink.call("node_get")["clock"]["offset_ns"] < 0, 3, "and back")


if __name__ == "__main__":
    raise SystemExit(main())
