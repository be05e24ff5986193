#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures hopsight-collector as a whole: real processes, real ways in, and what they cost.

    collector_rate.py                      all cases
    collector_rate.py --json - pcap udp    some, and all figures as JSON

pcap                   frames of a capture file in an endless loop, as many as one core takes
memif                  frames of another process, as many as both can
virtio                 the same by virtio-user: the sender (net_vhost) puts them into the collector's own buffers
udp                    datagrams by a UDP socket at a rate that must lose none
collect_idle_1200000   1,200,000 reports a second by memif, polling adaptive: the share of a core
collect_idle_1         the same of one flow, as in section V-C of the paper
collect_idle_events    the same with node ids alone, 2,000 flows and 1,000 events a second
..._virtio             these three by virtio-user

The share is that of all threads of the collector, user and system time, divided by the time that went by. A sender
(tests/bench/report_sender) has the other core. The reports are those of hopsight-bench's collect_100. As root.
--realtime gives both processes SCHED_FIFO, the collector the higher one, so that other work on the machine does not
take their cores.
"""

import argparse
import contextlib
import dataclasses
import glob
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import netlab

PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsight-collector")
SENDER = os.path.join(netlab.BUILD, "tests", "bench", "report_sender")
PORT = 32766
PAPER_KPPS = 154.8  # of 1 % of a core: Tu, Hyun and Hong, INTCollector (2018), section V-C
MOST_SKIPPED = 0.06  # SCHED_FIFO has 95 % of the time at most
START_LIMIT_S, WARM_S, CALM_S = 20, 1, 0.5
EVENTS = ("--ids", "--events", "1200")  # of the sender: node ids alone, and a path that changes each 1,200 reports
EAL = ("--no-huge", "-m", "256", "--no-shconf", "--no-pci", "--no-telemetry", "--log-level=*:error")


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    way: str
    flows: int = 100
    rate: int = 0  # reports offered in a second; 0: as many as possible
    words: tuple = ()  # of the sender
    least_per_core: float = 0
    most_share: float = 0
    lossless: bool = False


CASES = (
    Case("pcap", "pcap", least_per_core=5e6),
    Case("memif", "memif", least_per_core=5e6),
    Case("virtio", "virtio", least_per_core=5e6),
    Case("udp", "udp", rate=550000, least_per_core=5e5, lossless=True),
    Case("collect_idle_1200000", "memif", rate=1200000, most_share=0.0775, lossless=True),
    Case("collect_idle_1200000_virtio", "virtio", rate=1200000, most_share=0.0775, lossless=True),
    Case("collect_idle_1", "memif", flows=1, rate=1200000, most_share=0.0775, lossless=True),
    Case("collect_idle_1_virtio", "virtio", flows=1, rate=1200000, most_share=0.0775, lossless=True),
    Case("collect_idle_events", "memif", flows=2000, rate=1200000, words=EVENTS, lossless=True),
    Case("collect_idle_events_virtio", "virtio", flows=2000, rate=1200000, words=EVENTS, lossless=True),
)


class Failed(Exception):
    """The measurement could not be made."""


# ---- what the system counts ----

def cpu_seconds(pid):
    """Returns the processor time of all threads, and that of the thread that takes most."""
    threads = []
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as f:
            threads.append(int(f.read().split()[0]) / 1e9)
    return sum(threads), max(threads, default=0)


def system_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return int(f.read().rpartition(")")[2].split()[12]) / os.sysconf("SC_CLK_TCK")


# ---- the two processes ----

def start(words, priority, **how):
    """Starts a program. With a priority, the program runs before all that have none or a lower one."""
    def rise():
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))

    return subprocess.Popen(words, preexec_fn=rise if priority else None, **how)


class Collector:
    def __init__(self, case, folder, core, control, priority):
        self.case, self.folder = case, folder
        self.api = f"ipc://{folder}/api"
        config = {"name": f"rate{os.getpid()}", "workers": [core], "control_core": control,
                  "memory": {"flows": 100000}, "control": {"bind": [self.api]}, **self.ways()}
        if "--events" in case.words:
            config["events"] = {"gap_ns": 0}  # then the changed paths are the only events
        path = os.path.join(folder, "collector.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(config, f)
        self.log = open(os.path.join(folder, "log"), "w+", encoding="utf-8")
        self.process = start([PROGRAM, "--config", path], priority and 2, stdout=self.log, stderr=self.log)
        self.client = netlab.Client(self.api)

    def ways(self):
        if self.case.way == "udp":
            return {"listen": [{"udp": f"127.0.0.1:{PORT}"}]}
        devargs = {"pcap": f"net_pcap0,rx_pcap={self.folder}/frames.pcap,infinite_rx=1",
                   "memif": f"net_memif0,role=server,id=0,socket={self.folder}/memif,socket-abstract=no,rsize=12",
                   "virtio": f"net_virtio_user0,path={self.folder}/virtio,queue_size=4096,mrg_rxbuf=0,in_order=1"}
        return {"ports": [{"name": "in", "devargs": devargs[self.case.way], "udp_port": PORT, "rx_descriptors": 4096}]}

    def wait(self):
        end = time.monotonic() + START_LIMIT_S
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return self.client.call("hello")
            except netlab.zmq.ZMQError:
                time.sleep(0.05)
        self.log.seek(0)
        raise Failed("the collector does not start: " + self.log.read()[-500:])

    def counters(self):
        """Returns the sum of each counter by its name."""
        sums = {}
        for stat in self.client.call("stats_get")["stats"]:
            name = stat["name"].removeprefix("hopsight_collector_").removesuffix("_total")
            sums[name] = sums.get(name, 0) + stat["value"]
        return sums

    def look(self):
        whole, worker = cpu_seconds(self.process.pid)
        return {"time": time.monotonic(), "cpu": whole, "worker": worker, "system": system_seconds(self.process.pid),
                **self.counters()}

    def missed(self):
        """Returns how many packets ports and sockets report as lost."""
        return sum(port.get(key, 0) for port in self.client.call("ports_get")["ports"]
                   for key in ("lost", "rx_missed", "rx_errors", "rx_nombuf"))

    def stop(self):
        self.client.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def sender(case, folder, seconds, core, priority):
    """Starts the sender on one core."""
    words = [SENDER, "--flows", str(case.flows), "--rate", str(case.rate), "--seconds", str(seconds), *case.words]
    device = {"memif": f"net_memif0,role=client,id=0,socket={folder}/memif,socket-abstract=no,rsize=12",
              "virtio": f"net_vhost0,iface={folder}/virtio"}
    if case.way == "udp":
        words += ["--udp", f"127.0.0.1:{PORT}"]
    else:
        words += ["--port", str(PORT), "--", *EAL, f"--file-prefix=sender{os.getpid()}", "-l", str(core), "--vdev",
                  device[case.way]]
    return start(["taskset", "-c", str(core), *words], priority and 1, stdout=subprocess.PIPE, text=True)


def sent_by(process):
    if not process:
        return {}
    try:
        result = json.loads(process.communicate(timeout=60)[0].splitlines()[-1])
    except (ValueError, IndexError, subprocess.TimeoutExpired) as error:
        process.kill()
        raise Failed("the sender ended without a result") from error
    if "error" in result:
        raise Failed(f"the sender: {result['error']}")
    return result


# ---- a case ----

def figures(case, begin, end):
    seconds = end["time"] - begin["time"]
    received = (end["reports_read"] - begin["reports_read"]) / seconds
    share = (end["cpu"] - begin["cpu"]) / seconds
    worker = (end["worker"] - begin["worker"]) / seconds
    found = {"name": case.name, "way": case.way, "flows": case.flows, "seconds": round(seconds, 3),
             "reports_per_second": round(received), "share_of_core": round(share, 4),
             "worker_share": round(worker, 4),
             "system_share": round((end["system"] - begin["system"]) / seconds, 4),
             "per_second_of_core": round(received / worker) if worker else 0,
             "kpps_per_percent": round(received / share / 1e5, 1) if share else 0,
             "event_reports_per_second": round((end["event_reports"] - begin["event_reports"]) / seconds)}
    return found | {"ratio_to_paper": round(found["kpps_per_percent"] / PAPER_KPPS, 2)}


def judge(case, found):
    found["met"] = not (found["per_second_of_core"] < case.least_per_core or
                        (case.most_share and found["share_of_core"] > case.most_share) or
                        (case.lossless and (found["lost_reports"] or found["skipped_ratio"] > MOST_SKIPPED)))
    return found


def measure(case, seconds, cores, priority):
    with tempfile.TemporaryDirectory(prefix="hopsight-rate.") as folder:
        if case.way == "pcap":
            subprocess.run([SENDER, "--pcap", f"{folder}/frames.pcap", "--port", str(PORT), "--flows",
                            str(case.flows)], check=True, stdout=subprocess.DEVNULL)
        process = None
        if case.way == "virtio":  # its driver waits for the other end
            process = sender(case, folder, seconds + 2 * WARM_S + 1, cores[0], 0)
            end = time.monotonic() + START_LIMIT_S
            while not glob.glob(f"{folder}/virtio") and time.monotonic() < end:
                time.sleep(0.02)
        collector = Collector(case, folder, cores[-1], cores[0], priority)
        try:
            collector.wait()
            if case.way == "virtio" and priority:
                os.sched_setscheduler(process.pid, os.SCHED_FIFO, os.sched_param(1))
            if case.way in ("memif", "udp"):
                process = sender(case, folder, seconds + 2 * WARM_S + 1, cores[0], priority)
            end = time.monotonic() + START_LIMIT_S
            while not collector.counters()["reports_read"]:
                if time.monotonic() > end:
                    raise Failed("no report comes")
                time.sleep(0.02)
            time.sleep(WARM_S)
            begin = collector.look()
            time.sleep(seconds)
            found = figures(case, begin, collector.look())
            sent = sent_by(process)
            time.sleep(CALM_S)
            if sent:
                found["lost_reports"] = sent["sent"] + sent["refused"] - collector.counters()["reports_read"]
                found["kernel_or_port_lost"] = collector.missed()
                found["skipped_ratio"] = round(sent["skipped"] / max(1, sent["sent"] + sent["skipped"]), 4)
                found["sender_share"] = round(sent["cpu_seconds"] / sent["seconds"], 3)
                found["sender_per_second"] = round(sent["sent"] / sent["seconds"])
            return judge(case, found)
        finally:
            if process and process.poll() is None:
                process.kill()
                process.wait()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            collector.stop()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            usage = [getattr(after, key) - getattr(before, key) for key in ("ru_utime", "ru_stime")]
            print(f"{case.name}: the collector took {usage[0]:.2f} s user, {usage[1]:.2f} s system in all",
                  file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(case.name for case in CASES))
    parser.add_argument("--seconds", type=float, default=5, help="of a measurement (default 5)")
    parser.add_argument("--realtime", action="store_true", help="before all other work of the machine")
    parser.add_argument("--json", metavar="FILE", help="all figures; - for stdout, without the table")
    args = parser.parse_args()
    unknown = set(args.cases) - {case.name for case in CASES}
    if unknown:
        parser.error(f"no case {unknown.pop()}")
    cores, results = sorted(os.sched_getaffinity(0)), []
    for case in CASES:
        if args.cases and case.name not in args.cases:
            continue
        try:
            results.append(measure(case, args.seconds, cores, args.realtime))
        except (Failed, OSError, KeyError, netlab.zmq.ZMQError) as error:
            results.append({"name": case.name, "error": str(error), "met": False})
    if args.json:
        with contextlib.ExitStack() as stack:
            out = sys.stdout if args.json == "-" else stack.enter_context(open(args.json, "w", encoding="utf-8"))
            json.dump({"cases": results}, out, indent=1)
            out.write("\n")
    if args.json != "-":
        for found in results:
            print(json.dumps(found))
    return 0 if all(found["met"] for found in results) else 1


if __name__ == "__main__":
    sys.exit(main())
