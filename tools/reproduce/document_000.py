# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/results/000.md from the numbers and tests/bench/instructions.json only."""

import json
import os
import statistics

import bounds
import paper_000 as paper
from paper_page import table

MBIT, MS, PERCENT = 1e6, 1e6, 0.01
INSTRUCTIONS = os.path.join(paper.ROOT, "tests", "bench", "instructions.json")
MODES = {"count": "every 100th packet", "frequency": "every 10 ms", "probability": "1 %"}


def cell(ours, theirs, digits=2):
    return f"{ours:.{digits}f} ({theirs:.{digits}f})" if theirs is not None else f"{ours:.{digits}f}"


def column(of, kind, scale, which="measured"):
    return [row[kind].get(which, float("nan")) / scale for row in of["rows"].values()]


def throughput(lab, known):
    ours = {mode: lab[f"paper-throughput-{mode}"] for mode in MODES}
    rows = []
    for place, hop in enumerate(paper.HOPS):
        rows.append([hop, f"{known['expected'][place]:g}"] + [
            cell(column(ours[mode], "throughput_bps", MBIT)[place], known[mode][place])
            for mode in MODES])
    rows.append(["MAE", ""] + [cell(ours[mode]["mae"]["throughput_bps"]["configured"] / MBIT,
                                    known[mode][6], 4) for mode in MODES])
    rows.append(["MAE against the truth", ""] + [
        f"{ours[mode]['mae']['throughput_bps']['truth'] / MBIT:.4f}" for mode in MODES])
    more = [[name.removeprefix("paper-throughput-"),
             f"{lab[name]['mae']['throughput_bps']['configured'] / MBIT:.4f}",
             f"{lab[name]['mae']['throughput_bps']['truth'] / MBIT:.4f}"]
            for name in paper.MORE_THROUGHPUT]
    window = [[name, f"{lab[name]['mae']['window_throughput_bps']['truth'] / MBIT:.4f}",
               f"{max(row['window_throughput_bps']['max_error'] for row in lab[name]['rows'].values()) / MBIT:.3f}"]
              for name in (*paper.THROUGHPUT, "paper-loss-constant", "paper-loss-bursty",
                           "paper-loss-constant-count10", "paper-loss-bursty-count10")]
    return f"""## Table III: throughput

Test case 1 has links of 100, 40, 20, 10 and 100 Mbit/s, 10,000 packets/s of 562 bytes, and 120 windows of 1 s. Values
are in Mbit/s; the paper's values are in brackets.

{table(["hop", "expected", *MODES.values()], *rows)}
The lab's error against the configuration is telemetry's share of the bytes of a full link: rate × share, for any
measurement. The hop without a limiting queue shows exactly 44.96. The paper's error also contains a machine's timing.

{table(["scenario", "MAE, Mbit/s", "against the truth"], *more)}
`window_throughput_bps` is what a window carried. The sink knows nothing between two reports. The error is therefore at
most what arrived between the last report and the end of the window:

{table(["scenario", "MAE against the truth, Mbit/s", "largest error, Mbit/s"], *window)}"""


def figure_5(lab, known):
    rows = list(lab["paper-throughput-count"]["rows"].values())
    jitters = lab["paper-throughput-count"]["jitter_ms"]
    lines = []
    for place, hop in enumerate(paper.HOPS):
        jitter = sorted(jitters[place][5:]) if place < 5 else None
        lines.append([hop, cell(rows[place]["delay_ns"]["measured"] / MS, known["delay"][place], 1),
                      cell(rows[place]["loss_ratio"]["measured"] / PERCENT, known["loss"][place], 1),
                      f"{statistics.median(jitter):.3f} / {jitter[-1]:.3f}" if jitter else ""])
    return f"""## Figure 5: the same run's delay, loss and jitter

![Throughput, delay, loss and jitter of each hop](000-figure-5.svg)

{table(["hop", "mean delay, ms", "loss, %", "jitter of a second, ms: median / largest (below 1)"], *lines)}
The jitter leaves out the first five seconds, in which the queues fill and delays grow.
"""


def delays(lab, known):
    rows = []
    for place, hop in enumerate(paper.HOPS):
        rows.append([hop, known["configured"][place]] + [
            cell(column(lab[f"paper-delay-{kind}"], "delay_ns", MS)[place], known[kind][place])
            for kind in ("constant", "bursty")])
    rows.append(["MAE", ""] + [cell(lab[f"paper-delay-{kind}"]["mae"]["delay_ns"]["configured"] / MS,
                                    known[kind][6], 4) for kind in ("constant", "bursty")])
    return f"""## Table IV(a): delay

Values are in milliseconds; the paper's values are in brackets.

{table(["hop", "configured", "constant", "bursty"], *rows)}"""


def jitters(lab, known):
    expected = [bounds.expected_jitter([j]) for j in paper.JITTER_NS[:5]]
    expected.append(bounds.expected_jitter(paper.JITTER_NS[:5]))
    out = []
    for kind in ("constant", "bursty"):
        of = lab[f"paper-jitter-{kind}"]
        delay = column(of, "delay_ns", MS)
        jitter = column(of, "jitter_ns", MS)
        against = [v / MS for v in of["jitter_against_j"].values()]
        their_delay, theirs = known["delay"][kind], known["jitter"][kind]
        rows = []
        for place, hop in enumerate(paper.HOPS):
            j, e = paper.JITTER_NS[place] / MS, expected[place] / MS
            rows.append([hop, cell(delay[place], their_delay[place]), f"{j:g}", f"{e:.3f}",
                         cell(jitter[place], theirs[place]),
                         cell(against[place], abs(theirs[place] - j)),
                         cell(abs(jitter[place] - e), abs(theirs[place] - e), 3),
                         f"{column(of, 'jitter_ns', MS, 'mae_truth')[place]:.6f}"])
        rows.append(["MAE", cell(of["mae"]["delay_ns"]["configured"] / MS, their_delay[6], 3), "", "", "",
                     cell(statistics.fmean(against), theirs[6], 3), "",
                     f"{of['mae']['jitter_ns']['truth'] / MS:.6f}"])
        out.append(f"### {kind.capitalize()}\n\n" + table(
            ["hop", "delay", "J", "E\\|D − D′\\|", "jitter", "error against J", "error against E",
             "real MAE"], *rows))
    return f"""## Table IV(b): delay and jitter

Values are in milliseconds; the paper's values are in brackets. J is the jitter that tc-netem was given: a delay is
uniform in ± J. A monitor that reports the mean of |D − D′| should not show J but E|D − D′|, which is 2J/3 for one link.
The table therefore has two measures for both systems. The paper's measure is the distance from J (of each window; the
paper's cells give only that of its means). The other measure is the distance of the mean from E. Neither measure is
the error of the measurement. This error is in the last column: the mean absolute difference between the published
values and the values of the sampled packets. From end to end, J is 5, as in the paper's row.

{out[0]}
{out[1]}"""


def losses(lab):
    rows = []
    ours = [lab[f"paper-loss-{kind}"] for kind in ("constant", "bursty")]
    expected = [*paper.LOSS]
    kept = 1.0
    for p in paper.LOSS:
        kept *= 1 - p
    expected.append(1 - kept)
    for place, hop in enumerate(paper.HOPS):
        rows.append([hop, f"{expected[place] / PERCENT:.2f}"] + [
            f"{column(of, 'loss_ratio', PERCENT)[place]:.3f}" for of in ours])
    rows.append(["MAE (the paper: under 0.17)", ""] + [
        f"{of['mae']['loss_ratio']['configured'] / PERCENT:.3f}" for of in ours])
    rows.append(["MAE against the truth", ""] + [
        f"{of['mae']['loss_ratio']['truth'] / PERCENT:.6f}" for of in ours])
    return f"""## Table IV(c): loss

Values are in percent. Our text of the paper lacks the cells of this table. The paper's prose has its MAE.

{table(["hop", "configured", "constant", "bursty"], *rows)}"""


def limits(lab):
    """Shows errors against the configuration beside statistical bounds."""
    rows = []
    widths = paper.JITTER_NS[:5]
    packets = 10000
    for name in ("paper-jitter-constant", "paper-jitter-constant-count10", "paper-loss-constant",
                 "paper-loss-constant-count10"):
        of = lab[name]
        samples = of["reports"] / of["windows"]
        if "jitter" in name:
            least = statistics.fmean([bounds.delay([w], samples) for w in widths]
                                     + [bounds.delay(widths, samples)]) / MS
            rows.append([name, "delay, ms", f"{samples:.0f}",
                         f"{of['mae']['delay_ns']['configured'] / MS:.4f}", f"{least:.4f}"])
            jitter = statistics.fmean(bounds.jitter(w, samples) for w in widths) / MS
            got = statistics.fmean(row["jitter_ns"]["mae_configured"] for hop, row in
                                   of["rows"].items() if hop != "e2e") / MS
            rows.append([name, "jitter of hops, ms", f"{samples:.0f}", f"{got:.4f}", f"{jitter:.4f}"])
        else:
            kept, shares = packets, []
            for p in paper.LOSS:
                shares.append(bounds.loss(p, kept))
                kept *= 1 - p
            shares.append(bounds.loss(1 - kept / packets, packets))
            rows.append([name, "loss, %", f"{samples:.0f}",
                         f"{of['mae']['loss_ratio']['configured'] / PERCENT:.4f}",
                         f"{statistics.fmean(shares) / PERCENT:.4f}"])
    return f"""## Statistical bounds

A mean of n random samples differs from its expectation, for any measurement. With more samples in a window (every 10th
packet in place of every 100th), the error of delay and jitter falls by the root of ten. Loss is computed from all
packets in both cases.

{table(["scenario", "metric", "reports in a window", "MAE against the configuration", "bound"], *rows)}"""


def round_trips(numbers):
    lab = numbers["lab"]
    names = {"paper-clock-none": "no synchronisation", **{n: f"every {n.split('-')[-1]}" for n in
             paper.SYNCED}, "paper-clock-ptp": "like PTP, 0.5 µs each second",
             "paper-clock-transient": "36 s ahead, corrected every 10 s"}
    theirs = {"paper-clock-none": "0.216", **{n: "under 0.65" for n in paper.SYNCED}}
    rows = []
    for name, words in names.items():
        of = lab[name]["round_trip"]
        rows.append([words, f"{of['truth_ns'] / MS:.3f}", f"{of['mae_ns'] / MS:.6f}",
                     theirs.get(name, "")])
    live = ""
    if "live" in numbers:
        of = numbers["live"]["round_trip"]
        live = (f"\nWith real programs on veth on this machine, ping shows {of['ping_ms']:.3f} ms. The sum of "
                f"Hopsight's two one-way delays is {of['hopsight_ms']:.3f} ms. The difference of "
                f"{of['ping_ms'] - of['hopsight_ms']:.3f} ms belongs to the hosts: ping's time "
                "includes their\nstacks and the path to the first node, and Hopsight's does not.\n")
    return f"""## Table V: round trips

A ping is sent every 10 ms; values are in milliseconds. The lab's host has no network stack. It answers at once and
measures the time itself, so that only the clocks' drift within a round trip remains. The paper compares with ping on
real hosts.

{table(["clocks", "round trip", "MAE", "paper"], *rows)}{live}"""


def figure_6(numbers):
    rows = []
    for name in [*paper.SYNCED, "paper-clock-ptp"]:
        of = numbers["lab"][name]["offsets_ms"]
        rows.append([name.removeprefix("paper-clock-")] + [
            f"{statistics.fmean(map(abs, v)):.3f} / {max(map(abs, v)):.3f}" for v in of.values()])
    rows.append(["the paper, all polls", *paper.PAPER["6"]])
    begin = numbers["lab"][paper.TRANSIENT]["start_up"]
    hops = list(numbers["lab"][paper.SYNCED[0]]["offsets_ms"])
    unlike = ", ".join(f"{max(map(abs, v)):g}" for v in numbers["lab"]["asymmetry"]["offsets_ms"].values())
    saws = [[name.removeprefix("paper-clock-"), f"{of['from_straight_ms'] * 1000:.0f}",
             f"{of['slope_change_ms_per_s'] * 1000:.1f}"]
            for name in paper.SYNCED[:2] for of in [numbers["lab"][name]["sawtooth"]]]
    return f"""## Figure 6: the effect of clocks on one-way delays

![Difference between the directions of each hop](000-figure-6.svg)

The figure shows |up − down| of the mean delays at the same hop in the same second. Clocks begin synchronised, as in the
paper. Between polls, a difference grows along a straight line. After a poll, it is slewed away over at most 16 s and
then grows with another slope. The result is a sawtooth:

{table(["polls", "distance from a straight line, µs", "largest change of slopes, µs/s"], *saws)}
Clocks with frequent polls have less time to drift. The error that each poll leaves, 0.15 ms, then dominates. PTP-like
clocks (`ptp`) show the result without this error. The start-up of a clock that is 36 s ahead is a scenario of its own
(`paper-clock-transient`): hop 1's one-way delay is {begin["first_ms"]:.0f} ms for the first {begin["seconds"]} seconds, and {begin["last_ms"]:.2f} ms at the end.

Each cell has |up − down| in ms: mean / largest. The paper's text has only bounds, of all its polls.

{table(["clocks", *hops], *rows)}
With exact clocks, links whose directions differ by 10, 4, 0, 7 and 15 ms (`asymmetry`) show these differences in each
second: {unlike} ms.
"""


def _costs(live, base):
    """Sentences of what one packet in 100, and each packet, costs TCP and UDP."""
    said = []
    for protocol in ("tcp", "udp"):
        none = live[protocol]["none"]
        for rate, words in (("1/100", "one packet in 100"), ("1/1", "each packet")):
            values = live[protocol][rate]
            apart = max(values) < min(none) or min(values) > max(none)
            change = (statistics.median(values) / base[protocol] - 1) * 100
            said.append(f"With telemetry in {words}, the median of {protocol.upper()} changes by {change:+.1f} %. The ranges "
                        f"{'do not overlap' if apart else 'overlap'}: {min(values):.0f} to {max(values):.0f} beside "
                        f"{min(none):.0f} to {max(none):.0f}.")
    return "\n".join(said)


def figure_7(numbers):
    if "live" not in numbers:
        return "## Figure 7: the cost of sampling\n\n`./reproduce.sh 000 --live`, as root, measures this figure.\n"
    live = numbers["live"]
    base = {p: statistics.median(live[p]["none"]) for p in ("tcp", "udp")}
    with open(INSTRUCTIONS, encoding="utf-8") as f:
        instructions = json.load(f)["instructions"]
    rows = []
    for rate in live["tcp"]:
        case = f"sampled_{rate.split('/')[1]}" if rate != "none" else "unmatched"
        line = [rate]
        for protocol in ("tcp", "udp"):
            values = live[protocol][rate]
            of = statistics.median(values)
            theirs = paper.PAPER["7"].get((protocol, rate))
            line += [f"{of:.1f}", f"{min(values):.0f} to {max(values):.0f}",
                     f"{(of / base[protocol] - 1) * 100:+.1f} %" + (f" ({theirs:+.1f} %)" if theirs else "")]
        rows.append([*line, f"{live['bench_ns'].get(case, float('nan')):.1f}", instructions.get(case, "–")])
    lab = numbers["lab"]
    wire = [[name.removeprefix("paper-overhead-"), f"{lab[name]['goodput_bps'] / MBIT:.1f}",
             f"{100 - 100 * lab[name]['goodput_bps'] / lab[paper.OVERHEAD[0]]['goodput_bps']:.2f} % less"]
            for name in paper.OVERHEAD]
    return f"""## Figure 7: the cost of sampling

![Median throughput of each rate](000-figure-7.svg)

iperf3 sends through three nodes on veth (source, transit, sink), in {live['rounds']} rounds of {live['seconds']} s with
the rates in turn. Hosts and nodes share {live['cores']} cores. The hosts' offloads are off, so that the nodes handle each packet
by itself ([linux.md](linux.md) has TCP with offloads). The columns are in Mbit/s: median, range, and the median's
difference from that without rules (the paper's difference is in brackets). UDP sends {UDP_WORDS}.
The last two columns are the cost of one node's work without ports. `hopsight-bench` measures the median ns a packet.
Callgrind counts the instructions of the program's own functions (`tests/bench/instructions.json`). `./test.sh bench` fails if a
case takes over 1 % more instructions than these.

{table(["telemetry in", "TCP", "range", "", "UDP", "range", "", "bench, ns", "instructions a packet"], *rows)}
{_costs(live, base)}

In the paper, TCP loses 7.27 % with one packet in 100. It recovers 6.19 % with one in 1,000, and 7.26 % with one in 10,000.
UDP shows no significant change. The 7.27 % is the cost of processing in Click. The bytes that telemetry adds to one
packet in 100 are only 0.04 % of a link. The lab, in which processing costs nothing, shows this (goodput, links of
1.33 Gbit/s):

{table(["telemetry in", "Mbit/s", ""], *wire)}"""


UDP_WORDS = "300 Mbit/s, which the nodes can forward"

ASSUMPTIONS = """## Assumptions

The paper leaves these points open.

| open | assumed |
| --- | --- |
| the loss rates of table IV(c): the cells of tables II and IV(c) are lost in the text | 1, 2, 3, 2 and 1 %, independent |
| N of "packet count" in tables III and IV | every 100th packet, and in addition every 10th |
| the intervals of frequency and probability | 10 ms (and 7 ms), 1 % |
| the queue of a limited link | 1,000 packets that wait for the rate, like tc-netem's default limit |
| end-to-end J of table IV(b): the row says 5, the sum is 10 | 5 for the distance from J; the exact E\\|D − D′\\| of five uniforms for the other measure |
| whether table V compares single pings or means of seconds | both; the table has the larger of the two |
| clocks: drift, error after a poll, step or slew | 8 ppm, 0.15 ms, slewed over at most 16 s, as an NTP daemon does by default |
| asymmetry of hops 1 and 2 in figure 6 | none: only the clocks differ (`asymmetry` has links that differ) |
"""


def text(numbers, known):
    lab = numbers["lab"]
    return "\n".join([
        f"""# Paper 000: a flexible INT framework, ours beside theirs

`./reproduce.sh 000` writes this page from the lab's scenarios (`config/lab/paper-*`, seed 1, in virtual time, with the
same results on any machine). `--live` adds the results that depend on the machine. The paper is
*A Flexible In-band Network Telemetry Framework for Heterogeneous Private Networks*, section V. In the paper's testbed,
tc-netem and a machine's scheduling change what was configured. The lab's links do what is configured, and
record what they did. An error against the configuration is therefore mostly chance. The error of the measurement is the
error against the truth.
""", throughput(lab, known["III"]), figure_5(lab, known["5"]), delays(lab, known["IVa"]),
        jitters(lab, known["IVb"]), losses(lab), limits(lab), round_trips(numbers),
        figure_6(numbers), figure_7(numbers), ASSUMPTIONS])
