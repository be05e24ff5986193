# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of docs/benchmark-method.md, typed as they stand; the generator's frames; a short
search."""

import json
import os
import re
import shutil
import subprocess
import sys

import netlab
from lib import Host, RawPort, Skip, check, equal, main, need, run, test, veth

LOADGEN = os.path.join(netlab.BUILD, "tests", "bench", "loadgen")
# A search that ends soon on a busy machine. Its figures do not matter.
SHORT = "--sizes 128 --seconds 0.2 --precision 0.1 --mrr-trials 2"
EAL = ["--no-huge", "-m", "512", "--no-shconf", "--no-pci", "--no-telemetry", "--log-level=3"]


def need_loadgen(*programs):
    need(*programs)
    if not os.path.exists(LOADGEN):
        raise Skip("loadgen is not built")


def block(name):
    with open(os.path.join(netlab.ROOT, "docs", "benchmark-method.md"), encoding="utf-8") as f:
        found = re.findall(rf"```sh run={name}\n(.*?)```", f.read(), re.S)
    equal(len(found), 1, f"blocks called {name}")
    return found[0]


def run_block(workspace, name, limit_s=100, short=SHORT):
    """Runs a block of the document in its own namespace, with this run's own files, sockets and
    names and a short search. Returns what it printed."""
    folder = workspace.path("run")  # not created here: a fresh machine has no /run/hopsight either

    def own(text):
        return text.replace("/run/hopsight", folder)

    script = own(block(name)).replace("build/", netlab.BUILD + "/")
    for config in set(re.findall(r"config/(bench-\w+\.json)", script)):
        with open(os.path.join(netlab.ROOT, "config", config), encoding="utf-8") as f:
            text = own(f.read()).replace('"name": "bench-', f'"name": "{workspace.prefix}-')
        with open(workspace.path(config), "w", encoding="utf-8") as f:
            f.write(text)
        script = script.replace(f"config/{config}", workspace.path(config))
    script = script.replace("--file-prefix=", f"--file-prefix={workspace.prefix}-")
    script = re.sub(r" --sizes \S+", "", script)
    script = script.replace("tools/ndr.py", f"tools/ndr.py {short} --build {netlab.BUILD} "
                            f"--json {workspace.path('ndr.json')} --verbose")
    namespace = workspace.namespace("bench")
    for _ in range(4):
        shutil.rmtree(folder, ignore_errors=True)
        with open(workspace.path("block.log"), "w", encoding="utf-8") as log:
            shell = workspace.spawn(
                ["bash", "-c", "set -eE; trap 'echo failed: $BASH_COMMAND' ERR\n" + script],
                namespace=namespace, cwd=netlab.ROOT, stdout=log, stderr=subprocess.STDOUT)
            code = shell.wait(limit_s)
        with open(workspace.path("block.log"), encoding="utf-8", errors="replace") as log:
            output = log.read()
        # testpmd's workers may be inside a burst when net_memif frees a link's rings
        # (docs/benchmark-method.md). These tests are not about that. The node's workers never are.
        if name != "memif-testpmd" or "Segmentation fault" not in output:
            break
    equal(code, 0, f"exit code of the block {name}")
    return output


def judge_search(workspace):
    with open(workspace.path("ndr.json"), encoding="utf-8") as f:
        result = json.load(f)
    equal(len(result["sizes"]), 1, "sizes")
    size = result["sizes"][0]
    # A busy machine may lose something at every rate. 0 is a valid answer then.
    check(0 <= size["ndr_pps"] <= size["pdr_pps"], size)
    check(size["mrr_pps"] > 0, size)
    # MRR is a mean of two short trials beside other work. PDR may exceed it by this factor.
    check(size["pdr_pps"] <= 4 * size["mrr_pps"], size)
    equal([row["load_ratio"] for row in size["latency"]],
          [0.1, 0.5, 0.9] if size["pdr_pps"] else [])
    for row in size["latency"]:
        check(0 < row["min_ns"] <= row["p50_ns"] * 1.02, row)
        check(row["p50_ns"] <= row["p99_ns"] <= row["p999_ns"] <= row["max_ns"], row)
        check(row["max_ns"] < 3e9, row)
    check(size["trials"] < 80, size)
    return size


@test(limit_s=120, looks=3)
def a_short_search_over_memif_ends_with_rates_in_order(workspace):
    need_loadgen()
    output = run_block(workspace, "memif-ndr")
    check(re.search(r"^ +bytes +NDR +PDR +MRR", output, re.M), output)
    size = judge_search(workspace)
    return " ".join(f"{n} {size[n + '_pps'] / 1e6:.3f}" for n in ("ndr", "pdr", "mrr")) + " Mpps"


@test(limit_s=120, looks=3)
def a_router_and_testpmd_are_searched_alike(workspace):
    need_loadgen("dpdk-testpmd")
    found = workspace.path("peers.json")
    for name in ("routing", "testpmd"):
        run(sys.executable, os.path.join(netlab.ROOT, "tools", "peer_ndr.py"), "--build", netlab.BUILD, "--only", name,
            *"--rounds 1 --seconds 0.1 --precision 0.2 --mrr-trials 1 --small-pages --json".split(), found)
        with open(found, encoding="utf-8") as f:
            (rates,), = json.load(f)["programs"].values()
        check(0 <= rates["ndr_pps"] <= rates["pdr_pps"], rates)
        check(rates["mrr_pps"] > 0, rates)


@test(limit_s=120, looks=3)
def a_short_search_over_vhost_ends_with_rates_in_order(workspace):
    need_loadgen()
    run_block(workspace, "vhost-ndr")
    judge_search(workspace)


@test(limit_s=120, looks=3)
def a_short_search_over_veth_ends_with_rates_in_order(workspace):
    need_loadgen("ethtool")
    run_block(workspace, "veth-ndr")
    judge_search(workspace)


@test(limit_s=120, looks=3)
def the_latency_that_a_node_adds_is_measured_without_ports(workspace):
    need_loadgen()
    # Virtual seconds take several real ones at tens of millions of packets.
    output = run_block(workspace, "in-process", short=SHORT.replace("0.2", "0.05"))
    size = judge_search(workspace)
    check(size["ndr_pps"] > 0, size)
    added = size["added_latency"]
    equal(added["met"], added["p99_ns"] <= 20000, added)
    # Virtual time has no scheduler in it, whatever else the machine does.
    check(added["p50_ns"] < 20000, added)
    check("p99 of at most 20 us is" in output, output)
    real = added["real_time"]
    for kind in ("node", "bare"):
        equal(real[kind]["rounds"], 11, real)
        check(0 < real[kind]["p50_ns"]["least"] <= real[kind]["p99_ns"]["least"], real)
    # If the thread had its core for nearly all of one trial of each kind, half of that trial's
    # frames met no gap. A frame then takes no less time in the node than between two rings.
    if max(real[kind]["gaps_ratio"]["least"] for kind in ("node", "bare")) < 0.1:
        check(real["bare"]["p50_ns"]["least"] < real["node"]["p50_ns"]["least"] < 20000, real)
    return f"p50 {added['p50_ns']} ns, p99 {added['p99_ns']} ns; in real time at the least " \
        f"{real['node']['p50_ns']['least']} and {real['node']['p99_ns']['least']} ns"


@test(limit_s=90, apart=True)
def one_trial_of_the_generator_over_memif_adds_up_with_the_nodes_counters(workspace):
    need_loadgen()
    output = run_block(workspace, "memif-loadgen")
    trial = json.loads(next(line for line in output.splitlines() if line.startswith('{"asked')))
    check(trial["received_packets"] > 1000, trial)
    equal(trial["sent_packets"] + trial["refused_packets"],
          trial["received_packets"] + trial["lost_packets"])
    # Nothing else is on these links. Each frame is recognised, with and without telemetry.
    equal([trial[f"{what}_packets"] for what in ("out_of_order", "duplicate", "stray")], [0, 0, 0])
    received = re.search(r"^in +host +net_memif .*?yes +(\d+)", output, re.M)
    equal(int(received.group(1)), trial["sent_packets"], "what the node received")
    check("everything adds up" in output, output)


@test(looks=3)
def a_ring_back_to_the_generator_loses_nothing_and_all_frames_are_accounted_for(workspace):
    need_loadgen()
    done = subprocess.run(
        [LOADGEN, *EAL, f"--file-prefix={workspace.prefix}", "-l", "0", "--vdev", "net_ring0",
         "--"], input="50000 0.3 128\n0 0.05 1514\n", capture_output=True, text=True, check=True,
        timeout=40)
    ready, paced, unpaced = (json.loads(line) for line in done.stdout.splitlines())
    equal(ready, {"ready": True})
    for trial in (paced, unpaced):
        equal([trial[f"{what}_packets"] for what in
               ("lost", "refused", "out_of_order", "duplicate", "stray")], [0] * 5)
        equal(trial["received_packets"], trial["sent_packets"])
        times = trial["latency_ns"]
        order = [times[name] for name in ("p50", "p90", "p99", "p999", "max")]
        equal(order, sorted(order), "quantiles")
        check(times["min"] <= 1.02 * times["p50"] and times["mean"] <= times["max"], times)
    asked = 50000 * paced["seconds"]
    check(abs(paced["sent_packets"] + paced["skipped_packets"] - asked) <= 2, paced)
    check(unpaced["sent_packets"] > paced["sent_packets"] / 6 and unpaced["skipped_packets"] == 0,
          unpaced)


@test(limit_s=150, apart=True)
def testpmd_moves_packets_through_a_node_on_memif(workspace):
    need_loadgen("dpdk-testpmd")
    output = run_block(workspace, "memif-testpmd", 60)
    check(re.search(r"^in +host +net_memif +1500 +\w+ +yes +[1-9]\d{3,}", output, re.M), output)
    with open(workspace.path("run/sink.log"), encoding="utf-8", errors="replace") as f:
        accumulated = f.read().split("Accumulated forward statistics", 1)
    check(len(accumulated) == 2, "testpmd did not end in order")
    taken = int(re.search(r"RX-packets: (\d+)", accumulated[1]).group(1))
    check(taken > 1000, accumulated[1])
    return f"{taken} packets"


@test(limit_s=60)
def a_capture_is_forwarded_to_nowhere(workspace):
    need_loadgen()
    counts = re.findall(r"^in +host +net_pcap +1500 +\w+ +yes +(\d+)", run_block(
        workspace, "pcap", 40), re.M)
    equal(len(counts), 2, "tables of ports")
    check(int(counts[1]) > int(counts[0]) > 0, counts)


@test()
def frames_of_the_generator_are_whole_ipv6_udp_of_the_flows_asked_for(workspace):
    need_loadgen("ethtool")
    # pylint: disable=import-outside-toplevel
    from scapy.layers.inet import UDP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.l2 import Ether
    host = Host(workspace, "gen", "2001:db8::9")
    far = workspace.namespace("far")
    veth(host.namespace, "eth0", far, "p")
    for size in (74, 301, 1514):
        port = RawPort(far, "p")
        done = run("ip", "netns", "exec", host.namespace, LOADGEN, *EAL, "-l", "0",
                   f"--file-prefix={workspace.prefix}",
                   "--vdev", "net_af_packet0,iface=eth0,framesz=2048", "--", "--pps", "2000",
                   "--seconds", "0.1", "--flows", "3", "--src", "2001:db8::a", "--dst",
                   "2001:db8::b", "--src-port", "7000", "--dst-port", "7777",
                   "--dst-mac", "02:00:00:00:00:77", "--frame-bytes", str(size))
        trial = json.loads(done)
        frames = port.collect(trial["sent_packets"], 5,
                              lambda f: f[:6] == bytes.fromhex("020000000077"))
        equal(len(frames), trial["sent_packets"], "frames that arrived")
        equal({len(f) for f in frames}, {size}, "sizes")
        for number, frame in enumerate(frames):
            got = Ether(frame)
            equal([got[IPv6].src, got[IPv6].dst, got[UDP].sport, got[UDP].dport],
                  ["2001:db8::a", "2001:db8::b", 7000 + number % 3, 7777])
            sum_, got[UDP].chksum = got[UDP].chksum, None
            equal(Ether(bytes(got))[UDP].chksum, sum_, f"checksum of frame {number}")
        equal(trial["lost_packets"], trial["sent_packets"], "nothing came back")


@test()
def a_wrong_option_of_the_generator_is_refused_with_what_is_allowed(workspace):
    need_loadgen()
    for words, complaint in ((["--frame-bytes", "64"], "allowed is 74 to 9018"),
                             (["--pps", "fast"], "--pps fast"),
                             (["--ring", "1000"], "power of two"),
                             (["--in-process", "--frame-bytes", "1515"], "at most 1514"),
                             (["--dst", "192.0.2.1"], "no IPv6 address"), ([], "--vdev or -a"),
                             (["odd"], "an option was expected")):
        done = subprocess.run([LOADGEN, *EAL, f"--file-prefix={workspace.prefix}", "-l", "0", "--",
                               *words], capture_output=True, text=True, check=False, timeout=30)
        equal(done.returncode, 2, words)
        check(complaint in done.stderr, words, done.stderr)


if __name__ == "__main__":
    sys.exit(main())
