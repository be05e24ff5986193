# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts, four nodes between them, seven flows: what each program says of its own traffic beside
what Hopsight measured in it."""

import argparse
import json
import os
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "tools")]

import table  # noqa: E402
import traffic  # noqa: E402
from netlab import Chain, rule  # noqa: E402
from workspace import Workspace  # noqa: E402

UP, DOWN = ("2001:db8::1", "2001:db8::2"), ("2001:db8::2", "2001:db8::1")

# Name, namespace, direction, and the rule's other fields: all three sampling modes are there. A
# client's end of an iperf3 transfer has any port; the server's is the same for both directions.
FLOWS = [
    ("ping-up", 1, UP, {"protocol": "icmp", "mode": "count", "mode_setting": 1}),
    ("ping-down", 2, DOWN, {"protocol": "icmp", "mode": "count", "mode_setting": 1}),
    ("udp-up", 3, UP, {"dst_port": traffic.UDP_PORT, "mode": "frequency", "mode_setting": 10}),
    ("udp-down", 4, DOWN, {"src_port": traffic.UDP_BACK_PORT, "mode": "frequency",
                           "mode_setting": 10}),
    # iperf3's control connection has the same port and protocol, so the rule has it too.
    ("tcp-up", 7, UP, {"protocol": "tcp", "dst_port": traffic.TCP_PORT, "mode": "count",
                       "mode_setting": 50}),
    ("mgen-up", 5, UP, {"dst_port": traffic.MGEN_PORT, "mode": "probability", "mode_setting": 5}),
    ("mgen-down", 6, DOWN, {"dst_port": traffic.MGEN_PORT, "mode": "count", "mode_setting": 20}),
]


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def rules():
    # The two directions of one program are one application: their round trip is measured too.
    return [rule(number, *direction, app_id=(number + 1) // 2, **fields)
            for _, number, direction, fields in FLOWS]


class Sinks:
    """The node where each flow ends, and what it has measured of it."""

    def __init__(self, chain):
        self.by_flow = {name: chain.nodes[-1 if direction is UP else 0]
                        for name, _, direction, _ in FLOWS}
        self.numbers = {name: number for name, number, _, _ in FLOWS}

    def report(self, name, window):
        """The qos_report of a flow in a window, or None as long as there is none."""
        reports = self.by_flow[name].call("qos_get", ns_id=self.numbers[name],
                                          window=window)["qos"]
        return reports[0] if reports else None


def start_traffic(chain, seconds, workspace):
    hosts = chain.hosts
    transfers = [
        traffic.Iperf("udp-up", hosts, workspace, traffic.UDP_PORT, seconds, "-u", "-b", "20M",
                      "-l", str(traffic.UDP_BYTES)),
        traffic.Iperf("udp-down", hosts, workspace, traffic.UDP_BACK_PORT, seconds, "-u", "-R",
                      "-b", "20M", "-l", str(traffic.UDP_BYTES)),
        traffic.Iperf("tcp-up", hosts, workspace, traffic.TCP_PORT, seconds, "-b", "60M"),
    ]
    programs = [traffic.Mgen(hosts, seconds, workspace), traffic.Ping(hosts, seconds, workspace)]
    for transfer in transfers:
        transfer.process = transfer.start()
    return [*transfers, *programs]


def watch(sinks, programs, live, limit_s):
    """Shows the newest second of each flow until the programs have ended."""
    begin = time.monotonic()
    while any(p.process.poll() is None for p in programs):
        elapsed = time.monotonic() - begin
        if elapsed > limit_s:
            raise RuntimeError("the traffic does not end")
        if live:
            live.show(elapsed, {name: sinks.report(name, "1s") for name, _, _, _ in FLOWS})
        elif int(elapsed) % 5 == 0:
            say(f"  {elapsed:.0f} s")
        time.sleep(1)


def final_reports(sinks):
    """The reports of the whole run, once every sink has worked off what came in."""
    return {name: sinks.report(name, "run") for name, _, _, _ in FLOWS}


def demonstrate(workspace, seconds, live):
    say("setting up two hosts and four nodes")
    chain = Chain(workspace).start()
    chain.install(*rules())
    sinks = Sinks(chain)
    say(f"ping, iperf3 and mgen send for {seconds} s")
    programs = start_traffic(chain, seconds, workspace)
    watch(sinks, programs, live, seconds + 20)
    measured = final_reports(sinks)
    said = {}
    for program in programs:
        said.update(program.results())
    audits = [dict(node.call("audit"), drops=node.call("drops_get")["drops"])
              for node in chain.nodes]
    return {"flows": [{"name": name, "program": said[name], "hopsight": measured[name]}
                      for name, _, _, _ in FLOWS],
            "audit": {"ok": all(audit["ok"] for audit in audits), "nodes": audits}}


def arguments():
    parser = argparse.ArgumentParser(prog="demo.sh")
    parser.add_argument("--seconds", type=int, default=15, metavar="N", choices=range(3, 61))
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    live = table.Live(sys.stdout) if not options.json and sys.stdout.isatty() else None
    # A signal ends the demonstration as Ctrl-C does: through the clean-up.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    with tempfile.TemporaryDirectory(prefix="hsdemo-") as folder:
        workspace = Workspace(folder)
        try:
            result = demonstrate(workspace, options.seconds, live)
        except KeyboardInterrupt:
            say("\nstopped; cleaning up")
            return 130
        except Exception as problem:  # pylint: disable=broad-except
            say(f"demo.sh: {problem}")
            return 1
        finally:
            workspace.close()
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        table.summary(sys.stdout, result)
    return 0 if result["audit"]["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
