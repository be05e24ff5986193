# SPDX-License-Identifier: BSD-3-Clause
"""An independent judge of published numbers. It shares no code with switch, monitor or lab.

The judge knows what happened to the packets on each link. It computes every number of every window
by the text of docs/metrics.md (rules.py). It reports each published number that differs and has no
marker, which is a flag that applies to it. A missing number claims nothing, except of INT, where
packets alone say which numbers there are. members.py lists what is judged and what is not.

    judge.py SCENARIO [--seed N] [--duration S]     runs a scenario in the lab and judges the result
"""

import argparse
import collections
import gc
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import int_rules  # noqa: E402
import lab_packets  # noqa: E402
import members  # noqa: E402
import queues  # noqa: E402
import rules  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("HOPSIGHT_BUILD", os.path.join(ROOT, "build"))
SECOND = rules.SECOND
# The lab's own 65,536 packet buffers take most of a short run's time. Too few of them end a run with an error.
MBUFS = 16384

# A run has millions of objects without a circle of references. The search for circles took 2/5 of the time.
gc.disable()

Finding = collections.namedtuple("Finding", "kind text")

# Flags, and the members of a hop or of the whole path that they may make wrong.
COUNTS = {"tx_packets", "rx_packets", "lost_packets", "node_lost_packets", "loss_ratio", "rx_bytes",
          "span_start_ns", "span_end_ns", "throughput_bps", "window_throughput_bps",
          "unattributed_lost_packets"}
EXCUSES = {
    "epoch": COUNTS | {"jitter_ns", "p50", "p99", "p999"},
    "multipath": COUNTS | {"path", "jitter_ns"},
    "entries_missing": COUNTS | {"path", "jitter_ns"},
    "rules_differ": COUNTS,
    "counter_ambiguous": COUNTS,
    "negative_delay": set(),
    "path_changed": COUNTS | {"path"},
    "unsynchronised": {"span_start_ns", "span_end_ns", "throughput_bps", "time"},
    # [20] Nothing is computed across it, and counts may be those of the next window; delays stay.
    "clock_step": COUNTS | {"jitter_ns", "time"},
}
ENOUGH = 64  # changes of the path that tell missing entries from several paths
MOST_JOINED = 8  # lives of which all that follow each other are tried together
# Of the whole way these say nothing: it goes on over any path.
NOT_OF_ALL = {"multipath", "entries_missing", "path_changed"}
ANY = COUNTS | {"path", "reports", "jitter_ns", "mean", "min", "max", "p50", "p99", "p999", "time"}


def markers_of(window):
    marks = set(window["flags"])
    if window.get("path_changed"):
        marks.add("path_changed")
    if window.get("clock", {}).get("synchronised") is False:
        marks.add("unsynchronised")
    return marks


def place_of(ends, path):
    return "last" if ends[1] == path[-1] else "first" if ends[0] == path[0] else None


class Judge:
    """Judges one flow."""

    def __init__(self, flow, lives, ends, scenario):
        self.flow, self.ends, self.scenario = flow, ends, scenario
        self.lives = [rules.Life(reports) for reports in lives]
        # A rule that was removed and installed again at once may be the same flow for its monitor. A
        # run continues if the sink's clock steps.
        n = len(lives)
        self.joined = {} if n > MOST_JOINED else {
            (i, j): rules.Life(sum(lives[i:j], [])) for i in range(n) for j in range(i + 2, n + 1)}
        if n > 1 and not self.joined:
            self.joined[0, n] = rules.Life(sum(lives, []))
        self.begun = []  # times in which windows say that an epoch began
        self.compared = 0
        self.findings = []

    def say(self, kind, text):
        self.findings.append(Finding(kind, text))

    def window(self, window):
        """Returns the life that fits best: a sink that began anew publishes a window twice."""
        best = None
        lives = [life for life in [*self.lives, *self.joined.values()] if window.get("run")
                 or life.within(window["start_ns"], window["end_ns"])]
        for life in lives or self.lives[-1:]:
            before, self.findings = self.findings, []
            self.one_window(life, window)
            found, self.findings = self.findings, before
            if best is None or len(found) < len(best):
                best = found
        self.findings += best or []
        if "epoch" in markers_of(window) and not window.get("run") and window["window_ns"] <= SECOND:
            self.begun.append((window["start_ns"], window["end_ns"]))

    def one_window(self, life, window):
        run = window.get("run", False)
        start, end = (-1 << 62, 1 << 62) if run else (window["start_ns"], window["end_ns"])
        length = window["window_ns"]
        # [6] A window that was cut has no mean rate. [8] Nor has a window of INT that begins before the flow.
        unknown = self.flow.instructions and life.times[0] > start
        whole = length if run or end - start == length and not unknown else None
        name = "run" if run else f"{(start - self.scenario.start_ns) / SECOND:g}+{length / SECOND:g}s"
        marks = markers_of(window)
        self.keys(window, members.OF_WINDOW, name)
        reports = life.within(start, end)
        self.same(marks, name, "reports", window["reports"], len(reports), False)
        if window.get("stale") or not reports:
            return
        self.path(life, window, marks, name, reports, start, end)
        self.step(life, window, marks, name, reports, start)
        if not run and length <= SECOND:  # longer ones have the flags of these
            self.diagnosis(life, marks, name, end)
        hops = window.get("hops", [])
        pairs = [(hop["from"], hop["to"]) for hop in hops]
        for hop, ends in zip(hops, pairs):
            if pairs.count(ends) == 1:  # [10]: a loop has a hop for each passage
                self.hop(life, hop, ends, place_of(ends, window["path"]), marks,
                         f"{name} {ends[0]}-{ends[1]}", start, end, whole)
                self.node(hop, ends, reports, marks, f"{name} {ends[0]}-{ends[1]}")
        if "e2e" in window:
            self.keys(window["e2e"], members.OF_LINK, f"{name} e2e")
            self.hop(life, window["e2e"], None, "last", marks - NOT_OF_ALL, f"{name} e2e", start, end,
                     whole)
            self.sums(window, marks, name)

    def keys(self, shown, known, name):
        for key in shown.keys() - known - members.NOT_JUDGED.keys():
            self.say("key", f"{name} {key}: published, and the judge does not know it")

    def node(self, hop, ends, reports, marks, name):
        """[24] What the node in front of a hop says of itself."""
        self.keys(hop, members.OF_LINK | members.OF_NODE, name)
        instructions = self.flow.instructions
        at = [(report, report.hop(ends, True)) for report in reports]
        stops = [report.stops[found[0]] for report, found in at if found]
        want = int_rules.local_numbers(instructions, stops) if instructions and stops else {}
        for key in members.OF_NODE:
            got, wanted = hop.get(key, {}), want.get(key, {})
            for part in got.keys() | wanted.keys():
                value = wanted.get(part)
                slack = 0 if value is None else int_rules.slack_of(key, part, value)
                self.same(marks, name, f"{key}.{part}", got.get(part), value, False, slack)

    def same(self, marks, name, key, got, want, may_lack=True, slack=0):
        self.compared += 1
        if got is None and may_lack:
            return
        if want is None and got is None:
            return
        if want is None or got is None or abs(got - want) > slack:
            if any(key in EXCUSES.get(mark, ANY) for mark in marks):
                return
            self.say(key, f"{name} {key}: {got} published, {want} by the packets {sorted(marks)}")

    def path(self, life, window, marks, name, reports, start, end):
        paths = [r.path for r in reports]
        self.compared += 1
        newest = life.edge(None, "received", end)
        if any("path" in EXCUSES.get(mark, ANY) for mark in marks):
            if tuple(window["path"]) not in [*paths, newest.path]:
                self.say("path", f"{name} path: {window['path']} published, no packet took it")
            return
        before = life.within(-1 << 62, start)[-1:]
        kinds = set(paths) | {r.path for r in before}
        if kinds != {tuple(window["path"])}:
            self.say("path", f"{name} path: {window['path']} published, packets took "
                     f"{sorted(kinds)} {sorted(marks)}")

    def step(self, life, window, marks, name, reports, start):
        """[20] A window has the flag only if a clock stepped in it or in the one before."""
        self.compared += 1
        begin = min(r.stops[0].at for r in [life.edge(None, "received", start), *reports])
        begin -= window["window_ns"]
        if "clock_step" in marks and not any(
                begin <= after and before <= window["at_ns"] for before, after in self.flow.steps):
            self.say("clock_step", f"{name}: clock_step, and no clock stepped {sorted(marks)}")

    def diagnosis(self, life, marks, name, end):
        """[10] Reports of one path lack entries, or there are several paths."""
        so_far = life.within(-1 << 62, end)
        ways = {r.passed for r in so_far}
        switches = sum(a.passed != b.passed for a, b in zip(so_far, so_far[1:]))
        lacks = any(len(r.path) < len(r.passed) for r in so_far)
        self.compared += 1
        if "multipath" in marks and len(ways) == 1 and not self.scenario.begins_anew:
            self.say("multipath", f"{name}: all packets took {list(*ways)}")
        if "entries_missing" in marks and switches >= ENOUGH and not lacks and all(
                r.has_packets(stop) for r in so_far for stop in range(len(r.stops))):
            self.say("entries_missing", f"{name}: no report lacks one")

    def hop(self, life, hop, ends, place, marks, name, start, end, length):
        # [26] Only the flags about counts excuse these.
        for key in ("tx_packets", "rx_packets", "rx_bytes"):
            if hop.get(key, 0) < 0 and not marks - {"negative_delay", "unsynchronised"}:
                self.say("negative", f"{name} {key}: {hop[key]}")
        if not 0 <= hop.get("loss_ratio", 0) <= 1:
            self.say("loss_ratio", f"{name} loss_ratio: {hop['loss_ratio']}")
        delays = life.delays(ends, start, end)
        if "delay_ns" in hop and not delays:
            self.say("mean", f"{name} delay_ns: published, and no packet has one")
        elif "delay_ns" in hop:
            firsts = life.delays(ends, -1 << 62, 1 << 62)[:1]
            for begun in self.begun:
                firsts += life.delays(ends, *begun)
            exact = len(life.within(start, end)) <= rules.EXACT_REPORTS
            self.delay(hop["delay_ns"], delays, firsts, exact, marks, name)
        elif delays and self.flow.instructions:
            self.say("mean", f"{name} delay_ns: missing, and packets have one")
        self.same(marks, name, "jitter_ns", hop.get("jitter_ns"), life.jitter(ends, start, end),
                  not self.flow.instructions)
        want = rules.span_numbers(life, ends, place, start, end, length)
        for key in ("tx_packets", "rx_packets", "lost_packets", "node_lost_packets", "rx_bytes",
                    "span_start_ns", "span_end_ns", "throughput_bps", "window_throughput_bps"):
            self.same(marks, name, key, hop.get(key), want.get(key), not self.flow.instructions)
        if "pdv_ns" in hop:
            self.same(set(), name, "pdv_ns", hop["pdv_ns"],
                      hop["delay_ns"]["p999"] - hop["delay_ns"]["min"])
        self.ratio(hop, want, marks, name)
        self.time(life, hop, ends, marks, name, start, end)

    def delay(self, got, delays, firsts, exact, marks, name):
        """[17] With more reports, the error may be a 64th of a value's distance from the first
        value of its epoch, which is one of these."""
        want = rules.delay_numbers(delays)
        for key, value in got.items():
            if key in want:
                rough = 0 if exact or key[0] != "p" else max(
                    abs(want[key] - first) for first in firsts) // 64 + 1
                self.same(marks, name, key, value, want[key], slack=rough)
        if self.flow.instructions and got.keys() != want.keys():
            self.say("key", f"{name} delay_ns: {sorted(got)} published, {sorted(want)} by the packets")
        if want["min"] < 0 and "negative_delay" not in marks:
            self.say("negative_delay", f"{name} delay {want['min']}, and no flag says so")

    def ratio(self, hop, want, marks, name):
        """[14] Loss is exact if packets stay in order and are not copied."""
        if "loss_ratio" not in hop or "lost_packets" not in want or self.scenario.reorders:
            return
        sent = want["tx_packets"]
        ratio = max(0, want["lost_packets"]) / sent if sent > 0 else 0
        self.same(marks, name, "loss_ratio", hop["loss_ratio"], ratio, slack=1e-12)

    def time(self, life, hop, ends, marks, name, start, end):
        """A rate is bytes over time, without the amount by which a clock was set."""
        of = life.span(ends, "stamps", start, end)
        if not of or "throughput_bps" not in hop:
            return
        shown, true = of[3].shown - of[2].shown, of[3].at - of[2].at
        self.same(marks, name, "time", shown, true, slack=true // 100 + SECOND // 100)

    def sums(self, window, marks, name):
        """[11] The loss of links and nodes and the unattributed loss add up to the loss."""
        e2e, hops = window["e2e"], window.get("hops", [])
        if "unattributed_lost_packets" not in e2e or marks & NOT_OF_ALL:
            return
        total = sum(h.get("lost_packets", 0) + h.get("node_lost_packets", 0) for h in hops)
        self.same(set(), name, "unattributed_lost_packets", e2e["unattributed_lost_packets"],
                  e2e["lost_packets"] - total)

    def published(self, windows):
        """[6] Every window with reports was published, except the last one of a sink that ended."""
        have = {w["start_ns"] for w in windows if w["reports"] and w["window_ns"] == SECOND}
        for life in self.lives:
            for start in sorted({-(-at // SECOND) * SECOND - SECOND for at in life.times}):
                self.compared += 1
                lost = any(start < t - self.shift(life, t) <= start + SECOND + 2 * rules.LATENESS
                           for t in self.ends)
                if start not in have and not lost:
                    self.say("window", f"{(start - self.scenario.start_ns) / SECOND:g}+1s: "
                             "has reports, and was not published")

    @staticmethod
    def shift(life, at):
        """Returns how far the sink's clock is behind true time, at about this time."""
        nearest = min(life.reports, key=lambda r: abs(r.stops[-1].at - at)).stops[-1]
        return nearest.at - nearest.shown

    def undisturbed(self, windows):
        """Flags have a meaning: if nothing happened, nothing is flagged. [10] Packets that others
        overtook which were sent more than 50 ms later may look like a restart, or leave it in doubt."""
        excused = {"epoch"} if self.flow.overtaken_ns() > rules.HELD_NS else set()
        doubts, in_doubt = [at for life in self.lives for at in life.doubts()], {}
        for window in windows:
            self.compared += 1
            if not window.get("stale"):  # which shows the values of the last again
                in_doubt[window["window_ns"]] = {"counter_ambiguous"} if any(
                    window.get("run") or window["start_ns"] < at <= window["end_ns"]
                    for at in doubts) else set()
            marks = markers_of(window) - excused - in_doubt.get(window["window_ns"], set())
            if marks:
                self.say("flag", f"{(window['start_ns'] - self.scenario.start_ns) / SECOND:g}+"
                         f"{window['window_ns'] / SECOND:g}s: {sorted(marks)}, and nothing happened")


class Scenario:
    """What a judge must know about a scenario."""

    def __init__(self, data, start_ns):
        self.data, self.start_ns = data, start_ns
        links = data.get("links") or [data.get("topology", {}).get("link", {})]
        ways = links + [link.get("reverse", {}) for link in links] + [
            event["set"] for event in data.get("events", []) if "link" in event]
        self.copies = any(way.get("duplicate_ratio") for way in ways)
        self.reorders = self.copies or data.get("forwarding") == "shortest_path" or any(
            "delay_ns" in way for way in ways[len(links) * 2:]) or any(
            way.get("reorder_ratio") or (way.get("jitter_ns") and not way.get("in_order"))
            for way in ways)
        nodes = data.get("nodes", [])
        # [10] The counts of a node that begins anew look as if packets had passed by.
        self.begins_anew = any("restart" in event or "request" in event
                               for event in data.get("events", []))
        asked = [request.get("int_request", {}) for request in data.get("requests", [])]
        in_band = any(request.get("in_band") for request in asked)
        namespaces = {request["ns_id"] for request in asked if "ns_id" in request}
        overlap = len(namespaces) > len(data.get("traffic", []))
        self.undisturbed = not (data.get("events") or self.copies or in_band or overlap
                                or any("clock" in node or "fields" in node for node in nodes))

    def boundaries(self, node):
        """Returns when a node lost its knowledge of a flow."""
        times = []
        for event in self.data.get("events", []):
            request = event.get("request", {})
            requests = request if isinstance(request, list) else [request]
            if event.get("node") in (node, "*") and (
                    event.get("restart") or any("int_delete" in r for r in requests)):
                times.append(self.start_ns + round(event["at_s"] * SECOND))
                while "every_s" in event and times[-1] < self.start_ns + SECOND * event.get(
                        "until_s", self.data["duration_s"]):
                    times.append(times[-1] + round(event["every_s"] * SECOND))
        return sorted(times)


def split(reports, times):
    lives = [[] for _ in range(len(times) + 1)]
    for report in reports:
        at = report.stops[-1].at
        lives[sum(at >= t for t in times)].append(report)
    return [life for life in lives if life]


def cut_at(flow, windows):
    """Returns when a sink published windows that it cut, because it forgot the flow, for example when a
    rule expired. [6] They end then; others are published when reports cannot be late."""
    arrivals = [report.stops[-1] for report in flow.reports]
    times = set()
    for window in windows:
        before = [stop for stop in arrivals if stop.at <= window["at_ns"]][-1:]
        if before and not window.get("run") and (
                window["at_ns"] + before[0].shown - before[0].at < window["end_ns"] + rules.LATENESS):
            times.add(window["at_ns"] + 1)
    return times


def read_published(path):
    """Returns windows by ns_id, and the sink's stamps of reports by ns_id and publishing node."""
    windows = collections.defaultdict(list)
    stamps = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    with open(path, encoding="utf-8") as f:
        for line in f:
            message = json.loads(line)["message"]
            if "qos_report" in message:
                window = message["qos_report"]
                window["at_ns"] = json.loads(line)["at_ns"]
                window.setdefault("node_id", window["path"][-1])  # from a reply of the sink
                windows[window["ns_id"]].append(window)
            elif "int_report" in message:
                report = message["int_report"]
                stamps[report["ns_id"]][report["node_id"]][report["sink"]["ts_ns"]] += 1
    return windows, stamps


def told_of(flow, stamps, all_stamps):
    """Returns the reports that a node published, by the sink's stamps. For a node that published
    none, because it sent them to others, returns all from the first that anybody published."""
    told, left = [], collections.Counter(stamps or all_stamps)
    for report in flow.reports:
        if told and not stamps:
            told.append(report)
        elif left[report.stops[-1].shown] > 0:
            left[report.stops[-1].shown] -= 1
            told.append(report)
    return told, left.total() if stamps else 0


def judge_flow(flow, windows, stamps, scenario):
    """Returns how many numbers were compared, and the findings. Only the sink's windows are judged:
    other nodes get reports late, in packets of their own. stamps: of each node that publishes
    reports."""
    sinks = {report.stops[-1].node: report.path[-1] for report in flow.reports}
    windows = [window for window in windows if window["node_id"] in sinks.values()]
    times = sorted({t for name in sinks for t in scenario.boundaries(name)}
                   | cut_at(flow, windows))
    own = sum((stamps[node] for node in sinks.values()), collections.Counter())
    told, unknown = told_of(flow, own, sum(stamps.values(), collections.Counter()))
    judge = Judge(flow, split(told, times), times, scenario)
    if len(told) < len(flow.reports) and scenario.undisturbed:
        judge.say("report", f"{len(flow.reports)} packets brought telemetry, {len(told)} reports "
                  "were published")
    if unknown:
        judge.say("report", f"{unknown} reports of packets that never came")
    for window in windows:
        judge.window(window)
    judge.published([w for w in windows if not w.get("run")])
    if scenario.undisturbed:
        judge.undisturbed(windows)
    return judge.compared, judge.findings


def judge_files(data, result, packets, published):
    """Returns by ns_id: (compared, findings)."""
    scenario = Scenario(data, result["start_ns"])
    ns_ids = {}
    for window in result["windows"]:
        name, reply = window["flow"], window["flow"].endswith("/reply")
        ns_ids[name.removesuffix("/reply") if reply else name, reply] = window["ns_id"]
    try:
        flows = lab_packets.read(data, ns_ids, packets, result["start_ns"])
    except queues.WrongDepartures as e:
        return {0: (0, [Finding("departure", str(e))])}
    windows, stamps = read_published(published)
    return {ns_id: judge_flow(flow, windows[ns_id], stamps[ns_id], scenario)
            for ns_id, flow in flows.items()}


class LabFailed(Exception):
    pass


def run_lab(path, folder, words=()):
    files = [os.path.join(folder, name) for name in ("result", "packets", "published")]
    done = subprocess.run(
        [os.path.join(BUILD, "apps", "hopsight-lab"), "run", path, "--quiet", "--json", files[0],
         "--packets", files[1], "--published", files[2], *words],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    # This judge ignores what a scenario expects of itself.
    if done.returncode not in (0, 1) or not os.path.exists(files[2]):
        raise LabFailed(f"hopsight-lab ended with {done.returncode}: {done.stderr.strip()}")
    with open(files[0], encoding="utf-8") as f:
        return json.load(f), files[1], files[2]


def nothing_published(packets, published):
    """Returns the findings of a scenario whose packets bring no values to a sink."""
    with open(packets, encoding="utf-8") as f:
        delivered = sum(",host," in line for line in f)
    if not delivered:
        return [Finding("packets", "no packet came to its host")]
    windows, stamps = read_published(published)
    numbers = {ns_id: (len(windows[ns_id]), sum(c.total() for c in stamps[ns_id].values()))
               for ns_id in {*windows, *stamps}}
    return [Finding("window", f"flow {ns_id}: {n} windows and {reports} reports were published of "
                    "packets that bring no values") for ns_id, (n, reports) in numbers.items()]


def judge_scenario(path, words=(), duration_s=None):
    """Returns (compared, findings) of all flows of a run."""
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    if duration_s:
        data["duration_s"] = duration_s
    with tempfile.TemporaryDirectory(prefix="hs-judge-") as folder:
        result, packets, published = run_lab(path, folder, words)
        if int_rules.publishes_nothing(data):
            return 0, nothing_published(packets, published)
        verdicts = judge_files(data, result, packets, published)
    compared = sum(n for n, _ in verdicts.values())
    return compared, [Finding(f.kind, f"flow {ns_id}: {f.text}")
                      for ns_id, (_, findings) in verdicts.items() for f in findings]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario")
    parser.add_argument("--seed")
    parser.add_argument("--duration", type=float)
    options = parser.parse_args()
    words = ["--seed", options.seed] if options.seed else []
    words += ["--duration", str(options.duration)] if options.duration else []
    compared, findings = judge_scenario(options.scenario, words, options.duration)
    for finding in findings[:60]:
        print(f"[{finding.kind}] {finding.text}")
    print(f"{compared} numbers compared, {len(findings)} are wrong without saying so")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
