# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the benchmark tools: the search for rates on simulated devices, and pktgen's
scripts."""

import os
import random
import re
import shutil
import subprocess

from harness import ROOT, Skip, check, equal, test
from ndr import cores_of, is_pci, peer_device
from ndr_search import PDR_LOSS_RATIO, Search

LINK_PPS = 1000000.0


class Device:
    """A device that forwards at most `capacity` packets a second. Below that, it loses
    `lose(pps)`."""

    def __init__(self, capacity, lose=lambda pps: 0, offers=lambda pps: pps, overload=None):
        self.capacity, self.lose, self.offers = capacity, lose, offers
        self.overload = overload or (lambda pps: capacity)
        self.asked = []

    def trial(self, pps):
        self.asked.append(pps)
        offered = round(self.offers(pps)) if pps else LINK_PPS
        passed = offered if offered <= self.capacity else self.overload(offered)
        received = max(0, round(passed - self.lose(offered)))
        return {"offered_pps": offered, "received_pps": float(received),
                "received_packets": received,
                "loss_ratio": max(0.0, 1 - received / offered) if offered else 0.0}


def rates(device, **options):
    search = Search(device.trial, **options)
    return search.rates(3)


def near(got, wanted, tolerance, what):
    check(abs(got - wanted) <= tolerance * wanted, f"{what}: {got:.0f}, expected {wanted:.0f}")


@test()
def a_search_finds_the_capacity_of_a_device_to_the_precision_asked_for():
    for capacity in (3, 1234, 310000, 999000):
        for precision in (0.005, 0.05):
            device = Device(capacity)
            found = rates(device, precision=precision, floor_ratio=1e-7)
            near(found["mrr_pps"], capacity, 1e-9, "MRR")
            check(capacity * (1 - precision) - 1 <= found["ndr_pps"] <= capacity + 1, found)
            top = capacity / (1 - PDR_LOSS_RATIO)
            check(top * (1 - precision) - 1 <= found["pdr_pps"] <= top + 1, found)
            check(found["ndr_pps"] <= found["pdr_pps"], found)
            check(len(device.asked) < 70, f"{len(device.asked)} trials")


@test()
def a_knee_parts_ndr_from_pdr():
    # Above 200,000 pps, one packet in 1,000 is lost; above 400,000 all others are lost.
    device = Device(400000, lose=lambda pps: pps / 1000 if pps > 200000 else 0)
    found = rates(device)
    near(found["ndr_pps"], 200000, 0.006, "NDR")
    check(found["ndr_pps"] <= 200000, found)
    near(found["pdr_pps"], 400000 * 0.999 / 0.995, 0.006, "PDR")


@test()
def a_device_that_passes_on_nothing_ends_the_search_with_zero():
    device = Device(0)
    equal(rates(device), {"mrr_pps": 0.0, "pdr_pps": 0.0, "ndr_pps": 0.0, "trials": 3,
                          "repeated_trials": 0, "short_trials": 0})
    # A little always returns, but every load loses more than 0.5 %.
    device = Device(LINK_PPS, lose=lambda pps: pps / 100)
    found = rates(device)
    equal([found["pdr_pps"], found["ndr_pps"]], [0.0, 0.0])
    check(found["trials"] < 40, found)


@test()
def a_device_faster_than_the_generator_is_measured_to_the_generators_end():
    device = Device(1e12)
    found = rates(device)
    equal(found["mrr_pps"], LINK_PPS)
    # A paced generator offers more than an unpaced one: the search follows, and ends.
    check(LINK_PPS <= found["ndr_pps"] <= 2 * LINK_PPS, found)
    equal(found["trials"], 7)
    # A generator that cannot reach the rate counts with what it did offer.
    limited = Device(1e12, offers=lambda pps: min(pps, 0.5 * LINK_PPS))
    equal(rates(limited)["ndr_pps"], 0.5 * LINK_PPS)


@test()
def loss_that_does_not_come_again_is_not_the_devices():
    # Every second trial loses one packet.
    state = {"n": 0}

    def hiccup(_):
        state["n"] += 1
        return state["n"] % 2

    found = rates(Device(300000, lose=hiccup), repeats=1)
    near(found["ndr_pps"], 300000, 0.011, "NDR with a repetition")
    check(found["repeated_trials"] > 0, found)
    state["n"] = 0
    without = rates(Device(300000, lose=lambda _: 1), repeats=1)
    equal(without["ndr_pps"], 0.0, "a packet lost each time")


@test()
def noise_never_turns_ndr_pdr_and_the_true_capacity_around():
    for seed in range(200):
        noise = random.Random(seed)
        capacity = noise.choice((5000, 80000, 700000))
        device = Device(
            capacity,
            lose=lambda pps, n=noise: n.choice((0, 0, 0, 1, pps * n.random() * 0.02)),
            offers=lambda pps, n=noise: pps * n.choice((1, 1, 0.97, 0.6)))
        found = rates(device, precision=0.01)
        check(0 <= found["ndr_pps"] <= found["pdr_pps"], seed, found)
        check(found["pdr_pps"] <= capacity / 0.995 * 1.001, seed, found)
        check(found["trials"] < 80, seed, found)


@test()
def a_device_that_gives_less_under_overload_has_an_ndr_above_its_mrr():
    found = rates(Device(400000, overload=lambda pps: 400000 - (pps - 400000) / 2))
    near(found["mrr_pps"], 100000, 0.01, "MRR")
    near(found["ndr_pps"], 400000, 0.006, "NDR")


@test()
def trials_that_offered_less_than_asked_are_told():
    found = rates(Device(300000, offers=lambda pps: 0.9 * pps))
    equal(found["short_trials"], found["trials"] - 3, "all but those without a rate")
    check(found["ndr_pps"] <= 300000, "what was not offered is not claimed", found)
    equal(rates(Device(300000))["short_trials"], 0)


@test()
def mrr_is_the_mean_of_its_trials():
    received = iter((100000, 200000, 600000))
    search = Search(lambda pps: {"offered_pps": LINK_PPS, "received_pps": next(received),
                                 "received_packets": 1, "loss_ratio": 0.4})
    equal(search.mrr(3), (300000, LINK_PPS))


@test()
def a_trial_counts_only_up_to_where_the_search_ended_and_if_something_came_back():
    search = Search(None)
    trial = {"offered_pps": 90.0, "received_pps": 90.0, "received_packets": 90, "loss_ratio": 0.0}
    search.trials = [(0, {**trial, "offered_pps": 1e6}), (100, trial),
                     (200, {**trial, "offered_pps": 200.0}),
                     (50, {**trial, "offered_pps": 95.0, "received_packets": 0})]
    equal(search.below(100, 0.0), 90.0)
    equal(search.below(200, 0.0), 200.0)
    equal(search.below(60, 0.0), 0.0)


@test()
def the_generators_devices_are_the_other_ends_of_the_nodes_ports():
    memif = {"name": "a", "devargs": "net_memif0,role=server,id=0,socket=/run/x,socket-abstract=no"}
    equal(peer_device(1, memif),
          "net_memif1,role=client,id=0,socket=/run/x,socket-abstract=no")
    memif["devargs"] = "net_memif7,role=client,socket=/run/x"
    equal(peer_device(0, memif), "net_memif0,role=server,socket=/run/x")
    equal(peer_device(1, {"name": "b", "devargs": "net_vhost0,iface=/run/y,queues=1"}),
          "virtio_user1,path=/run/y,queues=1,queue_size=1024")
    equal([is_pci("0000:3b:00.1"), is_pci("3b:00.0"), is_pci("net_memif0,id=0")],
          [True, True, False])
    equal(cores_of("0,2-4"), {0, 2, 3, 4})


# ---- pktgen ----

SCRIPTS = os.path.join(ROOT, "config", "pktgen")
STUB = os.path.join(ROOT, "tests", "checks", "pktgen_stub.lua")


def need_lua():
    if not shutil.which("lua5.3") or not shutil.which("luac5.3"):
        raise Skip("lua5.3 is not installed")


def run_script(path, **environment):
    return subprocess.run(["lua5.3", STUB, path], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


@test()
def every_script_for_pktgen_parses_and_calls_only_what_pktgen_has():
    need_lua()
    names = sorted(n for n in os.listdir(SCRIPTS) if n.endswith(".lua"))
    check(len(names) >= 3, names)
    for name in names:
        path = os.path.join(SCRIPTS, name)
        done = subprocess.run(["luac5.3", "-p", path], capture_output=True, text=True, check=False)
        equal(done.returncode, 0, done.stderr)
        done = run_script(path)
        equal(done.returncode, 0, f"{name}: {done.stderr}")
        check("pktgen.start=" in done.stdout and "pktgen.stop=" in done.stdout, name, done.stdout)


@test()
def what_pktgen_does_not_have_is_caught(workspace):
    need_lua()
    path = workspace.path("wrong.lua")
    for line, complaint in (("pktgen.sned('0')", "no such function"),
                            ("pktgen.range.src_prot('0', 'min', 1)", "no such function"),
                            ("pktgen.set('0', 'speed', 1)", "does not know speed"),
                            ("pktgen.set('0', 'rate', 101)", "a rate is percent"),
                            ("pktgen.start('0', '1')", "wrong number of arguments"),
                            ("pktgen.start('0') os.exit(0)", "ends while it sends"),
                            ("pktgen.clr()", "ends with os.exit")):
        with open(path, "w", encoding="ascii") as f:
            f.write(line + "\n")
        done = run_script(path)
        check(done.returncode != 0 and complaint in done.stderr, line, done.stderr)


@test()
def the_search_of_the_script_for_pktgen_finds_a_known_capacity():
    need_lua()
    path = os.path.join(SCRIPTS, "hopsight-rfc2544.lua")
    done = run_script(path, HS_SIZES="128", HS_PRECISION="0.5", STUB_CAPACITY="300000")
    found = re.search(r"^ +128 +(\d+) +(\d+) +(\d+)$", done.stdout, re.M)
    check(found, done.stdout, done.stderr)
    ndr, pdr, mrr = (int(text) for text in found.groups())
    check(295000 <= ndr <= 300000 and ndr <= pdr <= 301600 and mrr == 300000, done.stdout)
    done = run_script(path, HS_SIZES="128", STUB_CAPACITY="0")
    check(re.search(r"^ +128 +0 +0 +0$", done.stdout, re.M), done.stdout, done.stderr)


@test()
def the_other_scripts_for_pktgen_print_what_came_back():
    need_lua()
    done = run_script(os.path.join(SCRIPTS, "hopsight-throughput.lua"), HS_SIZES="64,128",
                      HS_RATE="50", HS_SECONDS="2")
    check(re.search(r"^ +66 +1000000 +600000 +400000 +300000$", done.stdout, re.M), done.stdout)
    done = run_script(os.path.join(SCRIPTS, "hopsight-latency.lua"), HS_RATES="1,0.5")
    check(re.search(r"^ +0\.5 +10 +0 +1\.0 +2\.5 +4\.0$", done.stdout, re.M), done.stdout)


@test()
def the_script_for_pktgen_has_no_mean_of_samples_that_are_not_all():
    need_lua()
    for count in ("0", "8"):
        done = run_script(os.path.join(SCRIPTS, "hopsight-latency.lua"), HS_RATES="1",
                          STUB_SAMPLES=count)
        check(re.search(r"^ +1 +10 +0 +1\.0 +- +4\.0$", done.stdout, re.M), done.stdout)


@test()
def the_scripts_for_pktgen_divide_by_the_time_that_a_trial_took():
    need_lua()
    late = {"HS_SIZES": "128", "HS_SECONDS": "1", "STUB_LATE_MS": "1010"}
    done = run_script(os.path.join(SCRIPTS, "hopsight-throughput.lua"), HS_RATE="10", **late)
    check(re.search(r"^ +128 +201000 +201000 +0 +100500$", done.stdout, re.M), done.stdout)
    done = run_script(os.path.join(SCRIPTS, "hopsight-rfc2544.lua"), STUB_CAPACITY="1000000", **late)
    check(re.search(r"^ +128 +1005000 +1005000 +1005000$", done.stdout, re.M), done.stdout)
    check("pktgen.start=2 " in done.stdout, "a trial without loss is that of both rates", done.stdout)
