# SPDX-License-Identifier: BSD-3-Clause
"""The programs that send the demonstration's traffic, and their own figures."""

import json
import re
import statistics
import time

# Telemetry counts these bytes of a UDP packet besides its payload: Ethernet 14, IPv6 40 or IPv4 20,
# UDP 8.
UDP_OVERHEAD, UDP_IPV4_OVERHEAD = 62, 42
# Ethernet 14, IPv6 40, TCP 20 and 12 of time stamps, for each segment of 1428 bytes.
TCP_OVERHEAD, TCP_SEGMENT = 86, 1428

MGEN_PORT, MGEN_RATE, MGEN_BYTES = 5000, 2000, 500
TCP_PORT, UDP_PORT, UDP_BACK_PORT, INT_PORT, UDP_BYTES = 5201, 5202, 5203, 5204, 1200


def wait_for(condition, limit_s, what):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"within {limit_s} s: {what}")
        time.sleep(0.05)


class Ping:
    """Echo requests up and replies down: two flows with one round trip."""

    names = ("ping-up", "ping-down")

    def __init__(self, hosts, seconds, workspace):
        self.path = workspace.path("ping.log")
        # The end is a number of packets, because at a deadline the newest reply would count as
        # lost.
        self.process = hosts[0].spawn("ping", "-n", "-i", "0.02", "-c", str(50 * seconds),
                                      hosts[1].address, log="ping.log")

    def results(self):
        with open(self.path, encoding="ascii", errors="replace") as f:
            text = f.read()
        times = [float(t) for t in re.findall(r"time=([\d.]+)", text)]
        counts = re.search(r"(\d+) packets transmitted, (\d+) received", text)
        sent, received = map(int, counts.groups())
        one = {"packets": sent, "loss_ratio": (sent - received) / sent,
               "rtt_ns": round(statistics.median(times) * 1e6) if times else 0}
        return {"ping-up": dict(one), "ping-down": dict(one, packets=received)}


class Iperf:
    """One iperf3 transfer. -R sends from the second host to the first."""

    def __init__(self, name, hosts, workspace, port, seconds, *words, ipv4=False):
        self.names = (name,)
        self.udp_overhead = UDP_IPV4_OVERHEAD if ipv4 else UDP_OVERHEAD
        address = hosts[1].address_ipv4 if ipv4 else hosts[1].address
        self.path = workspace.path(f"{name}.json")
        self.udp = "-u" in words
        hosts[1].spawn("iperf3", "-s", "-1", "-p", str(port), log=f"{name}-server.log")
        wait_for(lambda: f":{port} " in hosts[1].run("ss", "-ltn"), 5, f"iperf3 listens on {port}")
        self.start = lambda: hosts[0].spawn(
            "iperf3", "-c", address, "-p", str(port), "-t", str(seconds), "-J", *words,
            log=f"{name}.json")
        self.process = None

    def results(self):
        with open(self.path, encoding="utf-8") as f:
            report = json.load(f)
        if "error" in report:
            raise RuntimeError(f"{self.names[0]}: iperf3 says {report['error']}")
        end = report["end"]
        return {self.names[0]: self._udp(end["sum"]) if self.udp else self._tcp(end)}

    def _udp(self, total):
        received = total["packets"] - total["lost_packets"]
        bits = 8 * received / total["seconds"]
        return {"throughput_bps": round(bits * UDP_BYTES),
                "frame_throughput_bps": round(bits * (UDP_BYTES + self.udp_overhead)),
                "packets": total["packets"],
                "loss_ratio": total["lost_packets"] / max(1, total["packets"])}

    @staticmethod
    def _tcp(end):
        received = end["sum_received"]
        bps = received["bits_per_second"]
        rtt_us = end["streams"][0]["sender"].get("mean_rtt", 0)
        return {"throughput_bps": round(bps),
                "frame_throughput_bps": round(bps * (1 + TCP_OVERHEAD / TCP_SEGMENT)),
                "retransmits": end["sum_sent"].get("retransmits", 0), "rtt_ns": rtt_us * 1000}


class Mgen:
    """2,000 packets a second of 500 bytes in each direction, from one mgen on each host."""

    names = ("mgen-up", "mgen-down")

    def __init__(self, hosts, seconds, workspace):
        self.paths = [workspace.path(f"mgen{i}.txt") for i in (0, 1)]
        self.seconds = seconds
        self.processes = []
        for host, other, path in zip(hosts, hosts[::-1], self.paths):
            # mgen uses a socket for IPv6 only if a flow sends on it. The first flow therefore sends
            # one packet (to nowhere), and `listen` then uses the same socket.
            self.processes.append(host.spawn(
                "mgen", "txlog", "output", path,
                "event", f"0.0 on 9 udp src {MGEN_PORT} dst ::1/9 "
                         f"periodic [1 {MGEN_BYTES}] count 1",
                "event", f"0.2 listen udp {MGEN_PORT}",
                "event", f"1.0 on 1 udp src {MGEN_PORT} dst {other.address}/{MGEN_PORT} "
                         f"periodic [{MGEN_RATE} {MGEN_BYTES}]",
                "event", f"{1.0 + seconds} off 1",
                "event", f"{1.5 + seconds} ignore udp {MGEN_PORT}", log="mgen.log"))
        self.process = self.processes[1]

    def results(self):
        texts = []
        for process, path in zip(self.processes, self.paths):
            process.wait(self.seconds + 10)
            with open(path, encoding="ascii", errors="replace") as f:
                texts.append(f.read())
        return {name: self._direction(sender, receiver)
                for name, sender, receiver in zip(self.names, texts, texts[::-1])}

    @staticmethod
    def _direction(sender, receiver):
        sent = len(re.findall(r" SEND \S+ flow>1 ", sender))
        times = [Mgen._seconds(t) for t in re.findall(r"^(\S+) RECV \S+ flow>1 ", receiver, re.M)]
        # n packets are n - 1 intervals.
        took = (times[-1] - times[0]) % 86400 if len(times) > 1 else 0
        rate = (len(times) - 1) / took if took else 0
        return {"throughput_bps": round(8 * MGEN_BYTES * rate),
                "frame_throughput_bps": round(8 * (MGEN_BYTES + UDP_OVERHEAD) * rate),
                "packets": sent, "loss_ratio": (sent - len(times)) / sent if sent else 0}

    @staticmethod
    def _seconds(text):
        hours, minutes, seconds = text.split(":")
        return 3600 * int(hours) + 60 * int(minutes) + float(seconds)
