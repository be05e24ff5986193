# SPDX-License-Identifier: BSD-3-Clause
"""The models of INT-label's competitors (tools/reproduce/label_rivals.py), by numbers that were counted by hand or that
others publish; and what INT-label's page counts."""

import json
import os
import random
import sys

from harness import ROOT, check, equal, test

sys.path.insert(0, os.path.join(ROOT, "tools", "reproduce"))

import label_page as page  # noqa: E402
import label_probes as probes  # noqa: E402
import label_rest as rest_time  # noqa: E402
import label_rivals as rivals  # noqa: E402


@test()
def a_late_label_of_a_single_seed_is_on_the_page():
    none = {"late_labels": 0}
    numbers = {"rest": {"one": none}, "means": {"15": {"4": {"a": none}}}, "runs": {"one": {"late_labels": [1 / 5, 0.555]}, "other": {"late_labels": [0.0, 0.0]}},
               "chains": {"a": none}, "trees": {"a": none}, "delayed": none, "probes": none}
    equal(page.late_labels(numbers), 1)
    numbers["probes"] = {"late_labels": 2}
    equal(page.late_labels(numbers), 3)


@test()
def the_page_for_users_has_the_measured_table_of_k():
    with open(os.path.join(ROOT, "docs", "results", "001.json"), encoding="utf-8") as f:
        rows = page.by_k(json.load(f)["runs"])
    with open(os.path.join(ROOT, "docs", "label.md"), encoding="utf-8") as f:
        check(rows in f.read(), "docs/label.md lacks", rows)


@test()
def lines_of_a_rest_time_cross_where_both_are_at_the_same_share_of_their_way():
    # Labels fall evenly. Labelled packets rise evenly, too; or from nothing at T1 = 0.5 T to half of their way at 0.6 T, where labels
    # have 0.5 and 0.4 left of theirs.
    falls = [200 - 10 * i for i in range(11)]
    for rises, at in (([10 + i for i in range(11)], 0.5), ([10] * 6 + [15] + [20] * 4, 0.5 + 0.1 * 5 / 6)):
        of = {f"18-drawn-{rest}": {"labels": [label], "labelled_packets": [packets]}
              for rest, label, packets in zip(rest_time.TENTHS, falls, rises)}
        check(abs(rest_time.cross_at(of, "drawn", 0) - at) < 1e-9, rises)
    of = {"8-a": {"labelled_packets": [100, 100], "labels": [200, 200]}, "8-f1-0": {"labelled_packets": [64, 65], "labels": [210, 230]}}
    equal([[round(value) for value in values] for values in rest_time.against_a(of, "8-f1-0")], [[36, 35], [5, 15]])
    equal(rest_time.holds_with([36, 35], [5, 5]), [True, False])
    equal(rest_time.holds_with([36, 36], [10.5, 5]), [False, True])


@test()
def a_round_of_hula_crosses_the_links_that_its_rules_name():
    crossed = rivals.hula_round(2, 2, 1, 1)
    equal([at + " " + to for by, at, to, _ in crossed if by is None], ["tor-1-1 leaf-1-1", "tor-1-1 leaf-1-2"])
    for by, at, _, items in crossed:
        check(by is None or crossed[by][2] == at, "a probe goes on from where it came")
        check(items == (1 if by is None else crossed[by][3] + 1), "a probe gains an item at each port")
    # Up to two leaves; from each to the other ToR and two spines; from each spine to one leaf; from there to two ToRs.
    equal([[n for *_, n in crossed].count(items) for items in range(1, 5)], [2, 2 + 4, 4, 8])
    # The same of each of the 8 ToRs with k = 4, where three other pods are reached.
    equal(rivals.hula_bytes(4), 8 * (2 * 74 + 6 * 106 + 12 * 138 + 24 * 170))


@test()
def a_probe_of_hula_in_the_lab_has_the_bytes_of_the_model():
    # Ethernet, IPv6 and UDP: 14 + 40 + 8. The first two probes have one item, and the six behind them two.
    sent = probes.streams(0.1, 1)
    equal([entry["payload_bytes"] + 62 for entry in sent if "after" not in entry], [42 + 32] * 2 * 8)
    behind = {entry["name"]: entry["payload_bytes"] for entry in sent}
    for entry in sent:
        if "after" in entry:
            equal(entry["payload_bytes"] - behind[entry["after"]], 32)


@test()
def int_path_is_cut_where_the_mtu_ends():
    path = list(range(101))
    parts = list(rivals.int_path_parts([path]))
    equal([len(part) - 1 for part in parts], [33, 33, 34])
    equal([a for part in parts for a in part[:-1]] + parts[-1][-1:], path)
    # An MTU of 1,500 bytes has room for IPv4, UDP and 46 items of 32 bytes: 20 + 8 + 46 x 32 = 1,500.
    for links, n in ((46, 1), (47, 2), (92, 2), (93, 3)):
        equal(len(list(rivals.int_path_parts([list(range(links + 1))]))), n)
    equal(rivals.int_path_generators([path]), 4)
    equal(rivals.int_path_generators([[*range(40), 0]]), 1)
    # Two links: a probe with one item and an entry of the route, then with two items.
    equal(rivals.int_path_bytes([[1, 2, 3]]), (42 + 32 + 2) + (42 + 64))


@test()
def int_label_and_pingmesh_load_the_links_that_their_packets_cross():
    # k = 4: 32 links between switches, 16 servers, 8 ToRs. From each server, the pings to one ToR of the pod cross two
    # links, and those to six ToRs of other pods four; so do the replies.
    equal(rivals.pingmesh_bytes(4), 16 * 2 * (1 * 2 + 6 * 4) * 42)
    # Between pods, the items of a path's four links cross four, three, two and one of them.
    equal(rivals.int_label_bytes(4), 64 * (4 + 3 + 2 + 1) / 4 * (32 + 2))
    equal(rivals.int_label_bytes(4, 2), 64 * (4 + 3 + 2 + 1) / 4 * (32 + 1))
    equal(rivals.generators(4, [[1, 2, 3, 1], [1, 2]]), {"INT-label": 0, "INT-path": 2, "HULA": 8, "Pingmesh": 24})
    # The ToRs have an odd number of links if k / 2 is odd; the other switches have k.
    equal([rivals.text_generators(k) for k in (4, 6, 8, 10)], [1, 18, 1, 50])


@test()
def the_authors_counts_are_those_of_their_sheet():
    sheet = {10: (250, 300, 50, 32.1, 43.3, 22.08, 6016), 20: (2000, 2200, 200, 256.8, 346.4, 369.92, 398336)}
    for k, (path, ping, hula, *mbit) in sheet.items():
        equal(rivals.published_generators(k), {"INT-label": 0, "INT-path": path, "HULA": hula, "Pingmesh": ping})
        of = rivals.published_bytes(k)
        have = [of[name] * bits * 100 / 1e6 for name, bits in
                (("INT-label", 8), ("INT-path", 8), ("Pingmesh", 1), ("HULA", 8))]  # Pingmesh's bytes as bits
        check(all(abs(a - b) < 1e-3 for a, b in zip(have, mbit)), f"{have} and not {mbit}")


class Said:
    """A generator whose packets carry what a test says: by reservoir sampling if one hop, otherwise the XOR."""

    def __init__(self, hops, packets):
        self.drawn, self.picked = [], []
        for carried in packets:
            self.drawn += [0.9] + [0 if hop in carried else 0.9 for hop in range(hops)]

    def random(self):
        return self.drawn.pop(0)

    @staticmethod
    def randrange(_n):
        return 0


@test()
def pint_takes_what_is_known_out_of_earlier_and_later_packets():
    # The third packet makes hop 1 known, thereby hop 0 in the first, and the fourth needs hop 2 alone.
    for packets, needed in (([{0, 1}, set(), {1}, {0, 1, 2}], 4), ([{0, 1}, {1, 2}, {0, 2}, {0}, {1}], 4),
                            ([{2}, {2}, {0, 2}, {0, 1}], 4)):
        equal(rivals.pint_packets_of_a_path(3, Said(3, packets), 1), needed)


@test()
def pint_takes_as_many_packets_as_chance_says_where_it_is_known():
    # One hop: a packet has its value by 1/2, or by 1/2 and 1/10. Then the mean is 1 / 0.55, with an error of 0.019.
    rng = random.Random(1)
    mean = sum(rivals.pint_packets_of_a_path(1, rng, 1) for _ in range(4000)) / 4000
    check(abs(mean - 1 / 0.55) < 0.05, f"{mean}")
    # The 16 pieces of 32 bytes: coupons, of which each packet has one by 0.55.
    mean, half = rivals.pint_packets(1, 32)
    check(abs(mean - 16 * sum(1 / n for n in range(1, 17)) / 0.55) < 2 * half, f"{mean} ± {half}")
    # More hops than the chance of 1/10 is made for: fewer packets than the coupon collector takes.
    mean, half = rivals.pint_packets(25, 2)
    check(mean + half < 25 * sum(1 / n for n in range(1, 26)), f"{mean} ± {half}")
