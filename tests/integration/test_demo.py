# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration: its output for scripts, its results, and its clean-up."""

import io
import json
import os
import re
import signal
import subprocess
import sys

import netlab
from lib import check, equal, main, need, test, until
from workspace import die_with

sys.path.insert(0, os.path.join(netlab.ROOT, "demo"))

import table  # noqa: E402

NAMES = ["ping-up", "ping-down", "udp-up", "udp-down", "tcp-up", "mgen-up", "mgen-down",
         "int-up"]
PROGRAM = ["/usr/bin/python3", os.path.join(netlab.ROOT, "demo", "demo.py")]


def check_int_flow(flow):
    report, said = flow["hopsight"], flow["program"]
    equal((report["path"], said["loss_ratio"]), ([1, 2, 3, 4], 0), "path and loss of INT's flow")
    # Each packet has telemetry, iperf3's first one, too.
    check(said["packets"] <= report["reports"] <= said["packets"] + 1, said, report["reports"])
    for part in [*report["hops"], report["e2e"]]:
        check(part["delay_ns"]["p50"] > 0 and "jitter_ns" in part, part)
        check("loss_ratio" not in part and "lost_packets" not in part, "INT counts nothing", part)
    for hop in report["hops"]:
        check(0 < hop["hop_latency_ns"]["mean"] < hop["delay_ns"]["mean"], hop)
    ratio = report["e2e"]["throughput_bps"] / said["frame_throughput_bps"]
    check(0.97 < ratio < 1.03, f"throughput of INT's flow is {ratio:.3f} of iperf3's")


def check_flow(flow, dropped):
    report, said = flow["hopsight"], flow["program"]
    check(report["reports"] > 0, flow["name"], "has no reports")
    equal(len(report["hops"]), 3, f"hops of {flow['name']}")
    if flow["method"] == "int":
        check_int_flow(flow)
        return
    for part in [*report["hops"], report["e2e"]]:
        for key in ("throughput_bps", "delay_ns", "jitter_ns", "loss_ratio", "rx_packets"):
            check(key in part, flow["name"], "has no", key, part)
        equal(part["loss_ratio"], 0, f"loss of {flow['name']}, drops {dropped}")
    if "loss_ratio" in said:
        equal(said["loss_ratio"], 0, f"loss that the program of {flow['name']} saw")


@test(limit_s=90, looks=3)
def the_demonstration_measures_what_the_programs_say_of_themselves(workspace):
    need("ping", "iperf3", "mgen")
    demo = workspace.spawn([*PROGRAM, "--seconds", "8", "--json"], stdout=subprocess.PIPE,
                           text=True)
    output, _ = demo.communicate(timeout=80)
    equal(demo.returncode, 0, "exit code")
    result = json.loads(output)
    flows = {flow["name"]: flow for flow in result["flows"]}
    equal(list(flows), NAMES, "flows")
    check(result["audit"]["ok"], "audit", result["audit"])
    dropped = [node["drops"] for node in result["audit"]["nodes"]]
    for flow in flows.values():
        check_flow(flow, dropped)
    ratios = []
    for name in ("mgen-up", "mgen-down"):
        ratio = flows[name]["hopsight"]["e2e"]["throughput_bps"] / (2000 * 562 * 8)
        check(0.99 < ratio < 1.01, f"{name} is {ratio:.4f} of what was sent")
        ratios.append(ratio)
    one_way = sum(flows[n]["hopsight"]["e2e"]["delay_ns"]["p50"] for n in ("ping-up", "ping-down"))
    share = one_way / flows["ping-up"]["program"]["rtt_ns"]
    # The rest is the hosts' own time, which grows on a busy machine.
    check(0.25 <= share <= 1, f"one-way delays are {share:.2f} of the round trip")
    return f"mgen {ratios[0]:.4f} and {ratios[1]:.4f}, ping {share:.2f} of its round trip"


def left_of(pid, folder):
    """Returns what a run of the demonstration left in the three places where it creates
    something."""
    found = [os.path.join(folder, n) for n in os.listdir(folder) if n.startswith(f"hsdemo-{pid}-")]
    for place, start in (("/run/netns", f"hsdemo{pid}-"), ("/run/dpdk", f"hopsight-hsdemo{pid}-")):
        found += [n for n in os.listdir(place) if n.startswith(start)]
    return found


def start_demo(workspace):
    """Starts a run that has everything it needs, up to the traffic."""
    demo = workspace.spawn([*PROGRAM, "--seconds", "30"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": workspace.folder})
    until(lambda: b"send" in demo.stderr.readline(), 40, "the traffic runs")
    check(len(left_of(demo.pid, workspace.folder)) > 6, "nothing is there yet")
    return demo


@test(limit_s=120)
def the_demonstration_leaves_nothing_behind_when_it_is_interrupted(workspace):
    need("ping", "iperf3", "mgen")
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        demo = start_demo(workspace)
        demo.send_signal(number)
        # Further signals until the end do not disturb the clean-up.
        until(lambda n=number, d=demo: d.poll() is not None or d.send_signal(n), 20, "the end")
        said = demo.stderr.read().decode()
        equal(demo.returncode, 130, f"exit code after {number.name}: {said}")
        check("Traceback" not in said, said)
        equal(left_of(demo.pid, workspace.folder), [], f"left after {number.name}")


@test(limit_s=90)
def the_demonstration_takes_away_what_a_killed_one_left(workspace):
    need("ping", "iperf3", "mgen")
    killed = start_demo(workspace)
    killed.kill()
    killed.wait()
    check(left_of(killed.pid, workspace.folder), "SIGKILL leaves nothing: no need to sweep")
    living = start_demo(workspace)
    equal(left_of(killed.pid, workspace.folder), [], "left by the killed run")
    third = start_demo(workspace)
    check(len(left_of(living.pid, workspace.folder)) > 6, "a living run was swept away")
    for demo in (third, living):
        demo.terminate()
        demo.wait(20)


@test()
def a_program_does_not_begin_if_its_starter_is_gone(workspace):
    del workspace
    child = os.fork()
    if not child:
        die_with(0)
        os._exit(9)  # pylint: disable=protected-access
    equal(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 1, "exit code")


def demo_sh(*words):
    done = subprocess.run(["./demo.sh", *words], cwd=netlab.ROOT, capture_output=True, text=True,
                          check=False, timeout=5)
    return done.returncode, done.stderr


@test()
def demo_sh_refuses_what_it_does_not_know_before_it_builds():
    for words in (("--seconds", "2"), ("--seconds", "61"), ("--seconds=x",), ("--seconds",),
                  ("--colour",), ("--seconds", "5 --json")):
        code, said = demo_sh(*words)
        equal(code, 2, f"exit code of {words}")
        check("3 to 60" in said and "building" not in said, words, said)


@test()
def a_build_that_is_interrupted_says_so_and_leaves_no_log(workspace):
    # This ninja does not end by itself.
    folder = workspace.path("bin")
    os.mkdir(folder)
    with open(os.path.join(folder, "ninja"), "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n: >started\nexec sleep 60\n")
    os.chmod(f.name, 0o755)
    os.mkdir(workspace.path("build"))
    os.mkdir(workspace.path("tmp"))
    with open(workspace.path("build/build.ninja"), "w", encoding="ascii"):
        pass
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        shell = workspace.spawn(
            ["bash", "-c", f"set -eu; . {netlab.ROOT}/tools/setup.sh; build build; echo built"],
            cwd=workspace.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": workspace.path("tmp"),
                 "PATH": f"{folder}:{os.environ['PATH']}"})
        until(lambda: os.path.exists(workspace.path("started")), 10, "ninja runs")
        os.unlink(workspace.path("started"))
        os.killpg(shell.pid, number)
        out, said = shell.communicate(timeout=10)
        equal((shell.returncode, out), (130, ""), f"after {number.name}: {said}")
        check("stopped" in said and "does not build" not in said, said)
        equal(os.listdir(workspace.path("tmp")), [], "logs")


def qos_of(hops):
    end = {"throughput_bps": 1e6, "delay_ns": {"p50": 100000}, "jitter_ns": 1, "loss_ratio": 0,
           "rx_packets": 10}
    return {"path": list(range(hops + 1)), "reports": 10, "e2e": end,
            "hops": [{"from": i, "to": i + 1, **end} for i in range(hops)]}


@test()
def the_live_table_fits_a_terminal_of_80_by_24():
    for height in (24, 40):
        out = io.StringIO()
        live = table.Live(out)
        live.show(3, {name: qos_of(3) for name in NAMES}, height)
        lines = re.sub("\033\\[[0-9]*[HJ]", "", out.getvalue()).split("\n")
        check(len(lines) <= height, f"{len(lines)} lines of {height}")
        check(max(map(len, lines)) <= 80, "too wide", lines)
        # Where not all hops fit, the first flows have one row each.
        firsts = [next((line.split()[1] for line in lines if line.startswith(name)), None) for name in NAMES]
        equal(firsts, ["all" if height == 24 and i < 2 else "0>1" for i in range(len(NAMES))], "first rows")
        check(any("2>3" in line for line in lines[-2:]), "the last hop is missing", lines)


@test()
def the_summary_has_a_table_of_its_own_for_int():
    out = io.StringIO()
    measured = qos_of(2)
    measured["hops"][1]["hop_latency_ns"] = {"mean": 2500}
    table.int_hops(out, [{"name": "a", "method": "flexint", "hopsight": qos_of(3)},
                         {"name": "b", "method": "int", "hopsight": None},
                         {"name": "c", "method": "int", "hopsight": measured}])
    lines = out.getvalue().splitlines()
    check(lines[1].startswith("c is UDP over IPv4") and lines[1].endswith("10 packets had telemetry, path 0 > 1 > 2"),
          lines)
    equal([line.split() for line in lines[4:7]], [[hop, "-", "100", "-", "-", "0", "2.5" if hop == "1>2" else "-"] for hop in ("0>1", "1>2", "all")], "rows")


@test()
def the_summary_tells_earlier_drops_from_those_of_the_flows():
    out = io.StringIO()
    drop = {"port": "east", "reason": "link_down", "text": "it is down", "packets": 3}
    table.say_drops(out, 1, dict(drop, earlier_packets=2))
    table.say_drops(out, 2, dict(drop, packets=2, earlier_packets=2))
    equal(out.getvalue().splitlines(),
          ["Node 1 dropped 2 before the flows began at port east: it is down.",
           "Node 1 dropped 1 at port east: it is down.",
           "Node 2 dropped 2 before the flows began at port east: it is down."], "lines")


if __name__ == "__main__":
    sys.exit(main())
