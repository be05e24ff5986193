# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts, four nodes between them, seven flows over IPv6 and one over IPv4: the programs' own
figures beside Hopsight's."""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
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
UP_IPV4 = ("192.0.2.1", "192.0.2.2")

# A port carries one format, so that INT has links of its own.
INT = {"method": "int", "version": "2.1", "dscp": 32}
INSTRUCTIONS = ["node_id", "ports", "hop_latency", "ingress_timestamp", "egress_timestamp"]

# Name, namespace, direction, and the rule's other fields. The rules have all three sampling modes.
# A client's end of an iperf3 transfer has any port; the server's port is the same in both
# directions.
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
    ("int-up", 9, UP_IPV4, {"dst_port": traffic.INT_PORT, "method": "int",
                            "instructions": INSTRUCTIONS, "mode": "count", "mode_setting": 1}),
]


END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def say(*words):
    try:
        print(*words, file=sys.stderr, flush=True)
    except OSError:
        pass  # without a terminal, the clean-up must still happen


def rules():
    # The two directions of one program are one application, so that their round trip is measured
    # too.
    return [rule(number, *direction, app_id=(number + 1) // 2, **fields)
            for _, number, direction, fields in FLOWS]


class Sinks:
    """The node where each flow ends, and the flow's metrics there."""

    def __init__(self, chain):
        self.by_flow = {name: chain.nodes[0 if direction is DOWN else -1]
                        for name, _, direction, _ in FLOWS}
        self.numbers = {name: number for name, number, _, _ in FLOWS}

    def report(self, name, window):
        """Returns the qos_report of a flow in a window, or None if there is none yet."""
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
        traffic.Iperf("int-up", hosts, workspace, traffic.INT_PORT, seconds, "-u", "-b", "10M",
                      "-l", str(traffic.UDP_BYTES), ipv4=True),
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
    """Returns the reports of the whole run. Each sink has then processed all of its reports."""
    return {name: sinks.report(name, "run") for name, _, _, _ in FLOWS}


def count_drops(chain):
    """Returns the dropped packets by node, port and reason."""
    return [{(drop["port"], drop["reason"]): drop["packets"]
             for drop in node.call("drops_get")["drops"]} for node in chain.nodes]


def audit_of(node, before):
    """Returns the node's audit with its drops. earlier_packets counts the drops before the flows
    began (a host's own first packets, while the links were coming up)."""
    drops = node.call("drops_get")["drops"]
    for drop in drops:
        drop["earlier_packets"] = before.get((drop["port"], drop["reason"]), 0)
    return dict(node.call("audit"), drops=drops)


def demonstrate(workspace, seconds, live):
    say("setting up two hosts and four nodes")
    chain = Chain(workspace, offloads=True)
    chain.add_ipv4(INT)
    chain.start()
    chain.install(*rules())
    sinks = Sinks(chain)
    before = count_drops(chain)
    say(f"ping, iperf3 and mgen send for {seconds} s")
    programs = start_traffic(chain, seconds, workspace)
    watch(sinks, programs, live, seconds + 20)
    measured = final_reports(sinks)
    said = {}
    for program in programs:
        said.update(program.results())
    audits = [audit_of(node, old) for node, old in zip(chain.nodes, before)]
    return {"flows": [{"name": name, "method": fields.get("method", "flexint"),
                       "program": said[name], "hopsight": measured[name]}
                      for name, _, _, fields in FLOWS],
            "audit": {"ok": all(audit["ok"] for audit in audits), "nodes": audits}}


# ---- beginning and end ----


def is_running(pid):
    """Returns whether the process that created something still runs. The kernel reuses numbers, so
    the name counts too."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return b"demo.py" in f.read()
    except OSError:
        return False


def sweep():
    """Removes what killed runs (SIGKILL) left. Names contain the process id."""
    for folder, pattern in (("/run/netns", r"hsdemo(\d+)-"),
                            (tempfile.gettempdir(), r"hsdemo-(\d+)-"),
                            ("/run/dpdk", r"hopsight-hsdemo(\d+)-")):
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            found = re.match(pattern, name)
            if not found or is_running(found[1]):
                continue
            if folder == "/run/netns":
                subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
            else:
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


_cleaning = _interrupted = False
AGAIN_S = 0.5


def begin_clean_up():
    """From now on, no signal interrupts."""
    global _cleaning  # pylint: disable=global-statement
    _cleaning = True
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in END_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def stop(_number, _frame):
    # Python discards exceptions in a callback (of a fork, of a destructor), so a timer raises this
    # one again.
    global _interrupted  # pylint: disable=global-statement
    if not _cleaning:
        _interrupted = True
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
        raise KeyboardInterrupt


def say_unraisable(problem):
    # An interruption may cut off a callback, which then reports for example a lock that it did not
    # get. Such reports are no news.
    if not _interrupted:
        sys.__unraisablehook__(problem)


def catch_signals():
    """Each signal ends the demonstration as Ctrl-C does, with the clean-up."""
    sys.unraisablehook = say_unraisable
    signal.signal(signal.SIGALRM, stop)
    for number in END_SIGNALS:
        # nohup's choice is kept.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def in_workspace(seconds, live):
    """Returns the demonstration's result. Everything that it created is removed."""
    pid = os.getpid()
    with tempfile.TemporaryDirectory(prefix=f"hsdemo-{pid}-") as folder:
        workspace = Workspace(folder, f"hsdemo{pid}")
        try:
            try:
                return demonstrate(workspace, seconds, live)
            finally:
                begin_clean_up()
        finally:
            begin_clean_up()  # the first call may have been interrupted
            workspace.close()


def length(text):
    seconds = int(text)
    if not 3 <= seconds <= 60:
        raise argparse.ArgumentTypeError(f"{seconds} is not 3 to 60")
    return seconds


def arguments():
    parser = argparse.ArgumentParser(prog="demo.sh")
    parser.add_argument("--seconds", type=length, default=15, metavar="N")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def was_interrupted(problem):
    """Returns whether an interruption is the cause, also if the clean-up failed after it."""
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__context__
    return problem is not None


def main():
    options = arguments()
    live = table.Live(sys.stdout) if not options.json and sys.stdout.isatty() else None
    try:
        catch_signals()
        sweep()
        result = in_workspace(options.seconds, live)
    except (Exception, KeyboardInterrupt) as problem:  # pylint: disable=broad-except
        if was_interrupted(problem):
            say("\nstopped, cleaned up")
            return 130
        say(f"demo.sh: {problem}")
        return 1
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        table.summary(sys.stdout, result)
    return 0 if result["audit"]["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
