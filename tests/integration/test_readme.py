# SPDX-License-Identifier: BSD-3-Clause
"""Examples of README.md, docs/router.md and docs/int.md, typed as they stand."""

import json
import os
import re
import subprocess
import sys

import netlab
from lib import check, equal, main, need, test, until


def blocks(document, sections):
    """Returns the code of some sections of a document, in order: (language, text)."""
    with open(os.path.join(netlab.ROOT, document), encoding="utf-8") as f:
        text = f.read()
    for section in sections:
        part = text.split(f"# {section}\n", 1)[1].split("\n## ", 1)[0]
        yield from re.findall(r"```(\w+)\n(.*?)```", part, re.S)


def typed(workspace, document, sections, namespaces, limit_s=80):
    """Types all code of some sections into one shell. Returns the shell's output. The shell has
    folders of its own for what the documents name: sockets, and DPDK's folder of each node's name."""
    private = ("/run/hopsight", "/run/dpdk")
    for folder in private:
        os.makedirs(folder, exist_ok=True)
    script = ["set -eE", *(f"mount -t tmpfs private {folder}" for folder in private),
              "trap 'echo failed: $BASH_COMMAND' ERR",
              "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]  # for runs that fail
    for language, text in blocks(document, sections):
        if language == "python":
            text = f"/usr/bin/python3 - <<'END'\n{text}END\n"
        # A ping may end before its last packets have passed all nodes. A person takes longer to type the next line.
        text = re.sub(r"^(ip netns exec \w+ ping .*[^&\n]|wait \$!)$", r"\1\nsleep 0.4", text, flags=re.M)
        # Only the namespaces get names that belong to this run.
        text = re.sub(rf"(?<![/\w])({namespaces})\b(?!\.)", rf"{workspace.prefix}-\1", text)
        script.append(text.replace("build/apps/", netlab.BUILD + "/apps/"))
    check(len(script) > 2, "no code was found")
    with open(workspace.path("readme.log"), "w", encoding="utf-8") as log:
        shell = workspace.spawn(["unshare", "--mount", "--propagation", "slave", "bash", "-c", "\n".join(script)],
                                cwd=netlab.ROOT, stdout=log, stderr=subprocess.STDOUT)
        code = shell.wait(limit_s)
    with open(workspace.path("readme.log"), encoding="utf-8") as log:
        output = log.read()
    print(output)
    equal(code, 0, "exit code of the shell")
    return output


def received(output, sent, late):
    """Returns what each ping of so many packets received, if at most `late` are missing. A ping waits for its last
    replies no longer than between two requests, and a busy machine can pause a node for longer."""
    found = [int(n) for n in re.findall(rf"\b{sent} packets transmitted, (\d+) received", output)]
    return [n for n in found if n >= sent - late]


def nothing_is_left(workspace):
    check(not [name for name in os.listdir("/run/netns") if name.startswith(workspace.prefix)],
          "namespaces are left")


@test(limit_s=90)
def the_five_minutes_and_the_controller_of_the_readme_work_as_typed(workspace):
    need("ping")
    output = typed(workspace, "README.md", ["Five minutes", "Many nodes", "Clean up"],
                   "left|right|node1|node2")
    check(received(output, 100, 8), "ping", output)
    check(re.search(r"rule 1  sent \d+ received", output), "raw reports", output)
    check(re.search(r"rule 1  .* 100 reports  path 0 → 2", output), "the whole run", output)
    check(re.search(r'"?ok"?', output), "the rule from Python", output)
    check(received(output, 20, 8), "ping of the rule in band", output)
    check(re.search(r"rule 2  .* reports  path 0 → 2", output), "the rule that spread", output)
    check(re.search(r"^reachable +2$", output, re.M), "the controller's nodes", output)
    check(re.search(r"^ 3 .* 2 of 2$", output, re.M), "the controller's rule", output)
    check(received(output, 60, 8), "ping of the controller's rule", output)
    check(re.search(r"rule 3  .* reports  path 0 → 2", output), "the controller's metrics", output)
    nothing_is_left(workspace)


@test(limit_s=90)
def packets_become_a_graph_of_prometheus_as_the_readme_has_it_typed(workspace):
    need("ping", "prometheus", "curl")
    output = typed(workspace, "README.md", ["Five minutes", "Telemetry reports", "Clean up"],
                   "left|right|node1|node2")
    check(re.search(r"7000 .* 1 \(\d+\) → 3 \(\d+\)", output), "the path at the collector", output)
    kept = json.loads(re.search(r'^\{"status":"success".*\}$', output, re.M).group())
    latencies = {one["metric"]["node_id"]: float(one["value"][1]) for one in kept["data"]["result"]}
    equal(sorted(latencies), ["1", "3"], "nodes whose latency Prometheus keeps")
    check(all(0 < latency < 1 for latency in latencies.values()), "latencies", latencies)
    check(re.search(r"198\.51\.100\.2\b.*\b100\b", output), "100 reports of the sink", output)
    nothing_is_left(workspace)


@test(limit_s=60)
def two_machines_measure_their_own_traffic_as_the_readme_has_it_typed(workspace):
    need("ping")
    machines = [workspace.namespace(f"m{i}") for i in (1, 2)]
    netlab.run("ip", "link", "add", "eth1", "netns", machines[0], "type", "veth", "peer", "name", "eth1", "netns", machines[1])
    (_, begin), (_, look) = blocks("README.md", ["Your own machines"])
    commands = look.strip().splitlines()  # of machine 1 and of machine 2
    os.makedirs("/run/hopsight", exist_ok=True)
    go, shells = workspace.path("go"), []

    def output(i):
        with open(workspace.path(f"machine{i}.log"), encoding="utf-8") as log:
            return log.read()

    for i, machine in enumerate(machines):
        text = begin.replace("me=1 ", f"me={i + 1} ").replace("mine.json", workspace.path(f"mine{i}.json"))
        script = ["set -e", "mount -t tmpfs private /run/hopsight", "mount -t tmpfs private /run/dpdk", text, "echo is up",
                  f"until [ -e {go}{i} ]; do sleep 0.05; done", commands[i], "kill $!", "wait || true"]
        shells.append(workspace.spawn(
            ["ip", "netns", "exec", machine, "unshare", "--mount", "--propagation", "slave", "bash", "-c",
             "\n".join(script).replace("build/apps/", netlab.BUILD + "/apps/")],
            cwd=netlab.ROOT, log=f"machine{i}.log"))
    for i, shell in enumerate(shells):
        until(lambda i=i: "is up" in output(i), 20, "the node is up")
        check(re.search(r"mine\d.json: ok$", output(i), re.M), "the configuration is checked", output(i))
        check(re.search(r"^rule \d+ installed", output(i), re.M), "the rule", output(i))
    for i, shell in enumerate(shells):
        with open(f"{go}{i}", "w", encoding="utf-8"):
            equal(shell.wait(30), 0, "exit code of the shell")
    check(received(output(0), 100, 8), "the pings", output(0))
    check(re.search(r"^rule \d+  .* 10 reports  path 0 → 2", output(1), re.M), "the metrics of machine 2", output(1))


@test(limit_s=90)
def a_waiting_loop_of_a_document_ends_when_the_daemon_has_refused_to_start(workspace):
    loops = [line for document, sections in (("README.md", ["Five minutes", "Many nodes"]),
                                             ("docs/router.md", ["A router"]), ("docs/int.md", ["Two minutes"]))
             for _, text in blocks(document, sections)
             for line in text.splitlines() if line.strip().startswith("until ")]
    equal(len(loops), 5, "waiting loops")
    for number, loop in enumerate(loops):
        loop = re.sub(r"/run/hopsight/", workspace.path(f"none{number}-"), loop)
        shell = workspace.spawn(["bash", "-c", f"false & {loop}"], stderr=subprocess.DEVNULL)
        equal(shell.wait(20), 0, loop)


@test(limit_s=60)
def the_loop_of_the_readme_that_waits_for_three_daemons_ends_when_one_has_refused(workspace):
    (loop,) = [line for _, text in blocks("README.md", ["Telemetry reports"]) for line in text.splitlines()
               if line.startswith("for ") and "until " in line]
    loop = re.sub(r"/run/hopsight/", workspace.path("none-"), loop)
    for refused in range(4):
        jobs = " ".join(f"{'false' if i == refused else 'sleep 30'} &" for i in range(4))
        shell = workspace.spawn(["bash", "-c", f"{jobs} {loop}; kill $(jobs -p)"], stderr=subprocess.DEVNULL)
        check(shell.wait(10) is not None, loop)


@test(limit_s=90)
def the_router_of_its_document_works_as_typed(workspace):
    need("ping")
    output = typed(workspace, "docs/router.md", ["A router"], "lan|router|core")
    equal(len(received(output, 3, 0)), 2, "pings before and after the route")
    check("2001:db8:3::/48" in output, "the new route", output)
    nothing_is_left(workspace)


@test(limit_s=130)
def int_in_each_version_and_carrier_works_as_its_document_has_it_typed(workspace):
    need("ping", "iperf3", "tshark")
    output = typed(workspace, "docs/int.md", ["Two minutes", "INT 2.1", "INT 1.0", "INT 0.5", "INT of June 2016",
                                              "Clean up"], "left|right|collector|node(?=-)", 120)
    # Of 2.1 and MX at the source, of MX at the sink.
    equal(re.findall(r"^int_packets +(\d+)", output, re.M), ["20", "20", "0"], "packets that got INT")
    equal(re.findall(r"^sink_packets +(\d+)", output, re.M), ["0", "0", "20"], "packets that lost it")
    equal(len(received(output, 20, 19)), 4, "pings through VXLAN")
    check(re.search(r"rule 2  .* \d{3} reports  path 1 → 2 → 3", output), "TCP over IPv6")
    reports = [int(n) for n in re.findall(r"rule 1  .* (\d+) reports  path 1 → 2 → 3", output)]
    equal(reports, [20] * 16, "reports of each profile")
    # Of each node in mode mx, and of the sink in mode md.
    equal(re.findall(r"^ +(\d+) (\d)\t([\d,]*)$", output, re.M),
          [("20", "1", ""), ("20", "2", ""), ("20", "3", ""), ("20", "3", "2,1")], "reports to the collector")
    nothing_is_left(workspace)


if __name__ == "__main__":
    sys.exit(main())
