#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures NDR, PDR, MRR and latency of a Hopsight node, with tests/bench/loadgen as the generator.

    ndr.py --config config/bench-memif.json          a node on memif or vhost ports
    ndr.py --config FILE --device W --device W       W names each of the generator's own two ports
    ndr.py --in-process                              a node in the generator's process, virtual time

tools/ndr_search.py and docs/benchmark-method.md define the figures.
"""

import argparse
import json
import os
import platform
import re
import shlex
import signal
import statistics
import subprocess
import sys
import time

from ndr_search import Search

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOADS = (0.1, 0.5, 0.9)  # shares of PDR
ADDED_LATENCY_LIMIT_NS = 20000  # p99 through one node in process, at half its NDR
START_LIMIT_S = 40
WARM_UP_LIMIT_S = 10


class Failed(Exception):
    """The measurement could not be made."""


# ---- the machine ----

def first_line(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*:\s*(.*)$", file.read(), re.M)
    return found.group(1) if found else platform.machine()


def machine():
    load = first_line("/proc/loadavg").split()[0]
    isolated = first_line("/sys/devices/system/cpu/isolated")
    governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    smt = first_line("/sys/devices/system/cpu/smt/active")
    dpdk = subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True,
                          text=True, check=False).stdout.strip()
    return {"cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)), "isolated_cores": isolated,
            "smt": smt == "1", "governor": governor or "unknown", "load_average": float(load),
            "kernel": platform.release(), "dpdk": dpdk,
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


# ---- the node ----

class Node:
    """A hopsightd that this script starts and ends, or one that already runs."""

    def __init__(self, options):
        self.build = options.build
        with open(options.config, encoding="utf-8") as file:
            self.config = json.load(file)
        name = self.config["node"].get("name", f"node{self.config['node'].get('id', 0)}")
        self.endpoint = self.config.get("control", {}).get(
            "bind", [f"ipc:///run/hopsight/{name}.api"])[0]
        self.process = None
        self.path = options.config
        self.running = options.running

    def _make_folders(self):
        """Makes the folders of the sockets of memif and vhost devices."""
        for port in self.config["ports"]:
            for path in re.findall(r",(?:socket|iface)=(/[^,]+)", port.get("devargs", "")):
                os.makedirs(os.path.dirname(path), exist_ok=True)

    def start(self):
        if not self.running:
            self._make_folders()
            self.process = subprocess.Popen(
                [os.path.join(self.build, "apps", "hopsightd"), "--config", self.path],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        end = time.monotonic() + START_LIMIT_S
        while self.ask("node") is None:
            if self.process and self.process.poll() is not None:
                raise Failed(f"hopsightd ended with {self.process.returncode}")
            if time.monotonic() > end:
                raise Failed(f"no node answers at {self.endpoint}")
            time.sleep(0.1)

    def ask(self, verb):
        done = subprocess.run([os.path.join(self.build, "apps", "hopsight"), "-c", self.endpoint,
                               "--json", verb], capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def losses(self):
        """Returns what the node counted of packets that it did not forward, by reason."""
        found = {}
        for port in (self.ask("ports") or {"ports": []})["ports"]:
            counts = {**port["drops"],
                      **{key: port[key] for key in ("rx_missed", "rx_errors", "tx_errors")}}
            for reason, n in counts.items():
                if n:
                    found[f"{port['name']}.{reason}"] = n
        return found

    def cores(self):
        return set(self.config.get("workers", [1]))

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def peer_device(number, port):
    """Returns the generator's device for the other end of a node's port."""
    words = port.get("devargs", "").split(",")
    settings = dict(word.split("=", 1) for word in words[1:])
    if words[0].startswith("net_memif"):
        settings["role"] = "client" if settings.get("role") in ("server", "master") else "server"
        return ",".join([f"net_memif{number}", *(f"{k}={v}" for k, v in settings.items())])
    if words[0].startswith("net_vhost"):
        return f"virtio_user{number},path={settings['iface']},queues=1,queue_size=1024"
    raise Failed(f"port {port['name']}: name the generator's devices with --device")


# ---- the generator ----

class Generator:
    """loadgen, one process for all trials."""

    def __init__(self, options, words, devices=()):
        program = os.path.join(options.build, "tests", "bench", "loadgen")
        eal = ["--no-huge", "-m", "512", "--no-shconf", "--no-telemetry", "--log-level=3",
               f"--file-prefix=ndr{os.getpid()}", "-l", options.cores]
        if options.eal is not None:
            eal = shlex.split(options.eal)
        elif not any(is_pci(device) for device in devices):
            eal.append("--no-pci")
        for device in devices:
            eal += ["-a" if is_pci(device) else "--vdev", device]
        self.process = subprocess.Popen(
            [program, *eal, "--", "--flows", str(options.flows), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._read()  # the generator is ready

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"loadgen ended with {self.process.wait()}")
        return json.loads(line)

    def trial(self, pps, seconds, frame_bytes, word=""):
        self.process.stdin.write(f"{pps:.3f} {seconds} {frame_bytes} {word}\n")
        self.process.stdin.flush()
        return self._read()

    def warm_up(self, frame_bytes):
        """Waits until frames come back, because a link may be up for a while before the node
        detects it."""
        end = time.monotonic() + WARM_UP_LIMIT_S
        while True:
            trial = self.trial(10000, 0.1, frame_bytes)
            if trial["received_packets"] and not trial["loss_ratio"]:
                return
            if time.monotonic() > end:
                if trial["received_packets"]:
                    return
                raise Failed("no frame comes back from the node")

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def is_pci(device):
    return re.fullmatch(r"[0-9a-fA-F:]+\.[0-7](,.*)?", device) is not None


# ---- measuring ----

def latency(trial, load):
    times = trial.get("latency_ns", {})
    return {"load_ratio": load, "offered_pps": trial["offered_pps"],
            "loss_ratio": trial["loss_ratio"], **{f"{name}_ns": ns for name, ns in times.items()}}


def show_trial(trial):
    p99 = trial.get("latency_ns", {}).get("p99")
    print(f"  {trial['frame_bytes']} bytes: asked {trial['asked_pps']:.0f}, offered "
          f"{trial['offered_pps']:.0f}, received {trial['received_pps']:.0f} pps, lost "
          f"{trial['lost_packets']}, p99 {'-' if p99 is None else round(p99 / 1000, 1)} us, "
          f"generator ran {100 * trial['cpu_ratio']:.0f} %", file=sys.stderr, flush=True)


def added_latency(generator, options, frame_bytes, rates):
    trial = generator.trial(0.5 * rates["ndr_pps"], options.seconds, frame_bytes)
    found = latency(trial, 0.5)
    del found["load_ratio"]
    result = {**found, "limit_ns": ADDED_LATENCY_LIMIT_NS,
              "met": found.get("p99_ns", float("inf")) <= ADDED_LATENCY_LIMIT_NS}
    if "--threads" not in options.loadgen:
        result["real_time"] = real_time(generator, options, frame_bytes, 0.5 * rates["ndr_pps"])
    return result


def spread(trials, value):
    values = [value(trial) for trial in trials]
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def real_time(generator, options, frame_bytes, pps):
    """Measures with the node and without it, alternately, so that both include the machine's own
    pauses."""
    kinds = {"node": [], "bare": []}
    for _ in range(options.rounds):
        for kind, word in (("node", "turns"), ("bare", "bare")):
            kinds[kind].append(generator.trial(pps, options.seconds, frame_bytes, word))
    return {kind: {"rounds": len(trials),
                   "gaps_per_s": spread(trials, lambda t: t["gaps"] / t["seconds"]),
                   "gaps_ratio": spread(trials, lambda t: t["gaps_ns"] / 1e9 / t["seconds"]),
                   **{f"{name}_ns": spread(trials, lambda t, n=name: t["latency_ns"][n])
                      for name in ("p50", "p99", "p999")}}
            for kind, trials in kinds.items()}


def measure_size(generator, options, frame_bytes):
    generator.warm_up(frame_bytes)
    search = Search(lambda pps: generator.trial(pps, options.seconds, frame_bytes),
                    precision=options.precision, repeats=options.repeats,
                    said=show_trial if options.verbose else None)
    rates = search.rates(options.mrr_trials)
    result = {"frame_bytes": frame_bytes, **rates, "latency": []}
    for name in ("ndr", "pdr", "mrr"):
        result[f"{name}_bps"] = round(rates[f"{name}_pps"] * (frame_bytes + 4) * 8)
    if rates["pdr_pps"]:
        for load in LOADS:
            trial = generator.trial(load * rates["pdr_pps"], options.seconds, frame_bytes)
            result["latency"].append(latency(trial, load))
    if options.in_process and rates["ndr_pps"]:
        result["added_latency"] = added_latency(generator, options, frame_bytes, rates)
    return result


def measure(options):
    node = None if options.in_process else Node(options)
    generator = None
    result = {"machine": machine(), "seconds": options.seconds, "precision": options.precision,
              "repeats": options.repeats, "sizes": []}
    try:
        if node:
            node.start()
            devices = options.device or [peer_device(i, port) for i, port in
                                         enumerate(node.config["ports"][:2])]
            generator = Generator(options, options.loadgen, devices)
            result["cores_shared"] = len(os.sched_getaffinity(0)) < 3 or \
                not node.cores().isdisjoint(cores_of(options.cores))
        else:
            generator = Generator(options, ["--in-process", *options.loadgen])
            result["virtual_time"] = "--threads" not in options.loadgen
        for frame_bytes in options.sizes:
            before = node.losses() if node else {}
            size = measure_size(generator, options, frame_bytes)
            if node:
                size["node_drops"] = {k: v - before.get(k, 0) for k, v in node.losses().items()
                                      if v > before.get(k, 0)}
            result["sizes"].append(size)
    finally:
        if generator:
            generator.stop()
        if node:
            node.stop()
    return result


def cores_of(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


# ---- showing ----

def mpps(pps):
    return f"{pps / 1e6:.3f}"


def show(result):
    m = result["machine"]
    print(f"{m['cpu']}, {m['cores']} cores, load {m['load_average']}, Linux {m['kernel']}, "
          f"DPDK {m['dpdk']}, {m['date']}")
    if result.get("virtual_time"):
        print("In process and in virtual time: the node as if it had a core of its own.")
    elif result.get("cores_shared"):
        print("Generator and node share cores: the figures are those of both together.")
    print(f"{result['seconds']} s trials, to {100 * result['precision']:.1f} %, a trial that "
          f"failed repeated {result['repeats']} time(s); Mpps\n")
    print(f"{'bytes':>6} {'NDR':>8} {'PDR':>8} {'MRR':>8}  {'latency at':<10} {'p50 us':>9} "
          f"{'p99 us':>9} {'p99.9 us':>9}")
    for size in result["sizes"]:
        print(f"{size['frame_bytes']:>6} {mpps(size['ndr_pps']):>8} {mpps(size['pdr_pps']):>8} "
              f"{mpps(size['mrr_pps']):>8}")
        for row in size["latency"]:
            times = [row.get(f"{name}_ns", 0) / 1000 for name in ("p50", "p99", "p999")]
            print(f"{'':>34}{round(100 * row['load_ratio'])} % PDR   "
                  + " ".join(f"{t:>9.1f}" for t in times))
        show_notes(size)


def show_real_time(found):
    print("       the same in real time, node and generator in turns: median (least) of "
          f"{found['node']['rounds']} rounds, us")
    for kind, what in (("node", "with the node"), ("bare", "without it")):
        one = found[kind]
        times = [f"{name.replace('p999', 'p99.9')} {one[name + '_ns']['median'] / 1000:.1f} "
                 f"({one[name + '_ns']['least'] / 1000:.1f})" for name in ("p50", "p99", "p999")]
        print(f"         {what + ':':<15}{', '.join(times)}; gaps of more than 20 us: "
              f"{one['gaps_per_s']['median']:.0f} a second, "
              f"{100 * one['gaps_ratio']['median']:.1f} % of the time")


def show_notes(size):
    if "added_latency" in size:
        added = size["added_latency"]
        print(f"       at half its NDR: p50 {added['p50_ns'] / 1000:.1f}, p99 "
              f"{added['p99_ns'] / 1000:.1f}, p99.9 {added['p999_ns'] / 1000:.1f} us; p99 of at "
              f"most {added['limit_ns'] / 1000:.0f} us is {'met' if added['met'] else 'NOT met'}")
        if "real_time" in added:
            show_real_time(added["real_time"])
    if size["mrr_pps"] < size["pdr_pps"]:
        print("       MRR is below PDR: less gets through under overload, or the machine was busy")
    if size["short_trials"]:
        print(f"       {size['short_trials']} of {size['trials']} trials offered less than asked: "
              "the generator was not running all the time")
    if size.get("node_drops"):
        print("       lost by the node:", ", ".join(
            f"{reason} {n}" for reason, n in sorted(size["node_drops"].items())))


def size_list(text):
    return [int(word) for word in text.split(",")]


def parse(argv):
    parser = argparse.ArgumentParser(
        description="NDR, PDR, MRR and latency of a node",
        epilog="Words after -- go to loadgen: -- --dst-port 5001; in process: -- --rules 4096")
    parser.add_argument("--config", help="of the node, which is started and ended")
    parser.add_argument("--running", action="store_true", help="the node runs already")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--device", action="append",
                        help="of the generator: a DPDK virtual device or a PCI address; first out, "
                        "second in. Without it the other ends of the node's first two ports")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--sizes", type=size_list, default=[74, 128, 512, 1500],
                        help="frames without FCS, 74 at least")
    parser.add_argument("--flows", type=int, default=4096)
    parser.add_argument("--seconds", type=float, help="of a trial (1; in process 0.2)")
    parser.add_argument("--precision", type=float, default=0.005)
    parser.add_argument("--repeats", type=int, default=1, help="of a trial that failed")
    parser.add_argument("--mrr-trials", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=11,
                        help="in process: trials in real time at half of NDR, with and without "
                        "the node")
    parser.add_argument("--cores", default="0", help="of the generator (EAL's -l)")
    parser.add_argument("--eal", help="the generator's EAL words, in place of those made up")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--verbose", action="store_true", help="each trial, on stderr")
    words = list(argv)
    at = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:at])
    options.loadgen = words[at + 1:]
    if bool(options.config) == options.in_process:
        parser.error("either --config or --in-process")
    if options.seconds is None:
        # A virtual second takes several real ones.
        options.seconds = 0.2 if options.in_process else 1.0
    return options


def main():
    options = parse(sys.argv[1:])
    try:
        result = measure(options)
    except Failed as error:
        print(f"ndr.py: {error}", file=sys.stderr)
        return 1
    show(result)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
