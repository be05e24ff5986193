# SPDX-License-Identifier: BSD-3-Clause
"""Paper 000, the Flexible INT framework: tables III to V, figures 5 to 7.

docs/results/000.json keeps the lab's numbers. The figures are made only from them, and the document also from
tests/bench/instructions.json.
"""

import concurrent.futures
import json
import os
import statistics
import subprocess
import tempfile

import numpy as np

from paper_page import RESULTS, keep

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("HOPSIGHT_BUILD", os.path.join(ROOT, "build"))
SECOND = 10**9

THROUGHPUT = [f"paper-throughput-{mode}" for mode in ("count", "frequency", "probability")]
MORE_THROUGHPUT = ["paper-throughput-frequency-7ms", "paper-throughput-poisson"]
PAIRS = [f"paper-{what}-{kind}{more}" for what in ("delay", "jitter", "loss")
         for kind in ("constant", "bursty") for more in ("", "-count10")]
SYNCED = [f"paper-clock-{every}" for every in ("60s", "30s", "10s", "5s", "1s")]
TRANSIENT = "paper-clock-transient"
CLOCKS = ["paper-clock-none", *SYNCED, "paper-clock-ptp", TRANSIENT]
OVERHEAD = ["paper-overhead-none"] + [f"paper-overhead-1-in-{n}" for n in (10000, 1000, 100, 10, 1)]
ALL = [*THROUGHPUT, *MORE_THROUGHPUT, *PAIRS, *CLOCKS, "asymmetry", *OVERHEAD]
# Seconds of each kind, for a check.
SHORT = {THROUGHPUT[0]: 12, "paper-delay-constant": 6, "paper-jitter-constant": 12,
         "paper-loss-constant": 12, "paper-clock-none": 12, "paper-clock-10s": 30}
KINDS = ("throughput_bps", "window_throughput_bps", "delay_ns", "jitter_ns", "loss_ratio")


# ---- the lab ----


def run_lab(name, folder, duration_s=None):
    path = os.path.join(folder, f"{os.path.basename(name)}.json")
    words = ["--duration", str(duration_s)] if duration_s else []
    done = subprocess.run([os.path.join(BUILD, "apps", "hopsight-lab"), "run", name, "--quiet",
                           "--json", path, *words], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    # A short run need not meet the expectations of the whole run.
    if done.returncode not in ((0, 1) if duration_s else (0,)):
        raise RuntimeError(f"{name}: hopsight-lab ended with {done.returncode}: {done.stderr}")
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def whole(result, flow):
    return [w for w in result["windows"] if w["flow"] == flow and not w["stale"]
            and not w["partial"]]


def rounded(value, digits=6):
    return value if isinstance(value, int) else float(f"{value:.{digits}g}")


def rows_of(result):
    """Returns by hop and kind: mean, truth, configured, both MAE, the largest error, windows."""
    rows = {}
    for row in result["rows"]:
        if row["flow"].endswith("/reply"):
            continue
        rows[row["hop"]] = {kind: {
            "measured": rounded(of["measured"]),
            **{key: rounded(of[key]) for key in ("truth", "configured", "max_error") if key in of},
            **{f"mae_{key}": rounded(value) for key, value in of["mae"].items()},
        } for kind, of in row.items() if kind in KINDS}
    return rows


def jitter_against(result, stated):
    """Returns the paper's measure by hop: the mean of |jitter - J| over the windows."""
    flow, errors = result["rows"][0]["flow"], {}
    for window in whole(result, flow):
        for hop, j in zip(window["hops"] + [window["e2e"]], stated):
            errors.setdefault(hop.get("link", "e2e"), []).append(
                abs(hop["measured"]["jitter_ns"] - j))
    return {hop: rounded(statistics.fmean(values)) for hop, values in errors.items()}


def offsets(result):
    """Returns the values of figure 6: up - down of the mean delays at the same hop in the same
    second, in ms."""
    up, down = result["windows"], result["windows"]
    up = [w for w in up if w["flow"] == "ping" and not w["stale"]]
    down = [w for w in down if w["flow"] == "ping/reply" and not w["stale"]]
    series = {}
    for one in up:
        near = [w for w in down if abs(w["start_ns"] - one["start_ns"]) < SECOND // 2]
        if not near or len(near[0]["hops"]) != len(one["hops"]):
            continue
        for place, (a, b) in enumerate(zip(one["hops"], near[0]["hops"][::-1])):
            series.setdefault(f"hop {place + 1}", []).append(rounded(
                (a["measured"]["delay_ns"]["mean"] - b["measured"]["delay_ns"]["mean"]) / 1e6, 4))
    return series


def straight_pieces(values, period, rest):
    """Returns the largest distance of a difference from a straight line while clocks run freely,
    from `rest` seconds after a poll to the next, and the slopes."""
    worst, slopes = 0.0, []
    for begin in range(0, len(values) - period + 1, period):
        piece = np.array(values[begin + (rest if begin else 1):begin + period - 1])
        at = np.arange(len(piece))
        line = np.polyfit(at, piece, 1)
        worst = max(worst, float(np.abs(piece - np.polyval(line, at)).max()))
        slopes.append(float(line[0]))
    return worst, slopes


def sawtooth(series, period, rest=20):
    """Returns for the wired hops the largest distance from straight, and the largest change of
    slopes between polls."""
    found = [straight_pieces(values, period, rest) for values in list(series.values())[:4]]
    changes = [abs(a - b) for _, slopes in found for a, b in zip(slopes, slopes[1:])]
    return {"from_straight_ms": rounded(max(w for w, _ in found), 3),
            "slope_change_ms_per_s": rounded(max(changes), 3)}


def start_up(result):
    """Returns in how many seconds hop 1's one-way delay is above 10 ms, and its first and last value
    in ms."""
    delays = [w["hops"][0]["measured"]["delay_ns"]["mean"] / 1e6 for w in result["windows"]
              if w["flow"] == "ping" and not w["stale"] and w["hops"]
              and "delay_ns" in w["hops"][0]["measured"]]
    wrong = sum(abs(delay) > 10 for delay in delays)
    return {"seconds": wrong, "first_ms": rounded(delays[0]), "last_ms": rounded(delays[-1], 4)}


def numbers_of(name, result):
    numbers = {"mae": {kind: of for kind, of in result["mae"].items() if kind in KINDS},
               "rows": rows_of(result), "windows": result["flows"][0]["windows"] if result["flows"]
               else 0, "reports": result["flows"][0]["reports"] if result["flows"] else 0,
               "goodput_bps": round(result["traffic"][0]["goodput_bps"])}
    if "jitter" in name:
        numbers["jitter_against_j"] = jitter_against(result, JITTER_NS)
    if name == THROUGHPUT[0]:
        flow = result["rows"][0]["flow"]
        numbers["jitter_ms"] = [[rounded(w["hops"][i]["measured"]["jitter_ns"] / 1e6, 4)
                                 for w in whole(result, flow)] for i in range(5)]
    if result["round_trip"]:
        numbers["round_trip"] = {key: rounded(value) for key, value in
                                 result["round_trip"][0].items() if key.endswith("_ns")}
        if name == TRANSIENT:
            numbers["start_up"] = start_up(result)
        else:
            numbers["offsets_ms"] = offsets(result)
    return numbers


def collect(names, durations=None):
    with tempfile.TemporaryDirectory(prefix="hs-results-") as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda name: numbers_of(name, run_lab(
            name, folder, (durations or {}).get(name))), names)
        return dict(zip(names, results))


# ---- the paper ----

HOPS = ["1", "2", "3", "4", "5", "E2E"]
JITTER_NS = [2e6, 1e6, 1e6, 2e6, 4e6, 5e6]  # end to end as in the paper's row
LOSS = [0.01, 0.02, 0.03, 0.02, 0.01]
PAPER = {
    "III": {"expected": [44.96, 40, 20, 10, 10, 10],
            "count": [44.41, 39.56, 19.85, 10.00, 9.76, 9.76, 0.2830],
            "frequency": [43.81, 39.10, 19.70, 9.99, 9.74, 9.74, 0.4916],
            "probability": [43.81, 39.10, 19.70, 9.99, 9.74, 9.74, 0.4950]},
    "IVa": {"configured": [10, 5, 5, 10, 20, 50],
            "constant": [10.02, 5.03, 5.02, 10.02, 20.01, 50.09, 0.0310],
            "bursty": [10.03, 5.02, 5.02, 10.02, 20.01, 50.09, 0.0315]},
    "IVb": {"delay": {"constant": [10.23, 5.01, 5.07, 10.22, 20.50, 51.04, 1.3026],
                      "bursty": [10.14, 5.10, 5.11, 10.05, 20.55, 50.94, 1.2683]},
            "jitter": {"constant": [1.16, 0.70, 0.59, 1.19, 2.80, 3.43, 1.2815],
                       "bursty": [1.29, 0.61, 0.76, 1.26, 2.91, 3.39, 1.2511]}},
    "5": {"delay": [None, 221, 448, 898, None, 1568], "loss": [None, 10, 49, 49, None, 76]},
    "6": ["up to 1.5", "up to 1.5", "under 0.7", "under 0.7", "under 0.7"],
    "7": {("tcp", "1/100"): -7.27},
}


def load():
    with open(os.path.join(RESULTS, "000.json"), encoding="utf-8") as f:
        return json.load(f)


def add_sawteeth(lab):
    for name in SYNCED[:2]:
        lab[name]["sawtooth"] = sawtooth(lab[name]["offsets_ms"], int(name.split("-")[-1][:-1]))


def write(live):
    os.makedirs(RESULTS, exist_ok=True)
    numbers = {"lab": collect(ALL)}
    add_sawteeth(numbers["lab"])
    try:
        numbers["live"] = load()["live"]
    except (FileNotFoundError, KeyError):
        pass
    if live:
        import live as on_veth  # pylint: disable=import-outside-toplevel
        numbers["live"] = on_veth.measure()
    keep("000", numbers, document)
    draw(numbers, RESULTS)
    return 0


def document(numbers):
    import document_000  # pylint: disable=import-outside-toplevel
    return document_000.text(numbers, PAPER)


def draw(numbers, folder):
    import figures  # pylint: disable=import-outside-toplevel
    lab = numbers["lab"]
    rows = list(lab[THROUGHPUT[0]]["rows"].values())
    columns = [("mean throughput, Mbit/s", "throughput_bps", 1e6, PAPER["III"]["count"][:6]),
               ("mean delay, ms", "delay_ns", 1e6, PAPER["5"]["delay"]),
               ("loss, %", "loss_ratio", 0.01, PAPER["5"]["loss"])]
    figures.figure_5(os.path.join(folder, "000-figure-5.svg"), HOPS, [
        (title, [row[kind]["measured"] / scale for row in rows], theirs)
        for title, kind, scale, theirs in columns], lab[THROUGHPUT[0]]["jitter_ms"])
    figures.figure_6(os.path.join(folder, "000-figure-6.svg"),
                     [name.removeprefix("paper-clock-") for name in [*SYNCED, CLOCKS[-2]]],
                     {name.removeprefix("paper-clock-"): {
                         hop: [abs(v) for v in values] for hop, values in lab[name]["offsets_ms"].items()}
                      for name in CLOCKS[1:-1]})
    if "live" in numbers:
        of = {p.upper(): {rate: statistics.median(v) for rate, v in numbers["live"][p].items()}
              for p in ("tcp", "udp")}
        figures.figure_7(os.path.join(folder, "000-figure-7.svg"), list(of["TCP"]),
                         {p: list(values.values()) for p, values in of.items()})


# ---- a check ----


class Check:
    def __init__(self):
        self.failed = 0

    def line(self, name, wrong):
        print(f"{'FAIL' if wrong else 'PASS'} results: {name}{': ' + wrong if wrong else ''}",
              flush=True)
        self.failed += bool(wrong)


def compare(kept, fresh):
    """Compares a short run with the committed long one, and returns the differences."""
    limits = {"throughput_bps": (0.02, 2000), "delay_ns": (0.02, 1000), "jitter_ns": (0.12, 2000),
              "loss_ratio": (0.25, 1e-4)}
    for name, of in fresh.items():
        if "clock" in name:
            if of["round_trip"]["mae_ns"] > 650e3:
                yield f"{name}: round trips are off by {of['round_trip']['mae_ns']} ns"
            continue
        for hop, kinds in of["rows"].items():
            for kind, (share, least) in limits.items():
                want = kept[name]["rows"][hop].get(kind)
                got = kinds.get(kind)
                # Full queues take the first seconds to fill.
                filling = "throughput" in name and kind in ("delay_ns", "loss_ratio", "jitter_ns")
                if not want or not got or filling:
                    continue
                if abs(got["measured"] - want["measured"]) > max(
                        least, share * abs(want["measured"])):
                    yield f"{name} {hop} {kind}: {got['measured']}, committed {want['measured']}"
                if got.get("mae_truth", 0) > max(1, 2 * want.get("mae_truth", 0)):
                    yield f"{name} {hop} {kind}: off from the truth by {got['mae_truth']}"


def check():
    report = Check()
    numbers = load()
    with open(os.path.join(RESULTS, "000.md"), encoding="utf-8") as f:
        report.line("000.md is made of 000.json", "" if f.read() == document(numbers)
                    else "run ./reproduce.sh 000")
    for name in SYNCED[:2]:
        of = numbers["lab"][name]["sawtooth"]
        wrong = "" if of["from_straight_ms"] < 0.03 and of["slope_change_ms_per_s"] > 0.004 else str(of)
        report.line(f"{name} is a sawtooth: straight while clocks run freely, with new slopes at polls",
                    wrong)
    wrong = list(compare(numbers["lab"], collect(list(SHORT), SHORT)))
    report.line("a short run shows what is committed", "; ".join(wrong[:5]))
    return 1 if report.failed else 0


# ---- any scenario ----


def value_of(hop, side, kind):
    of = hop.get(side, {}).get(kind)
    scale = {"throughput_bps": 1e6, "window_throughput_bps": 1e6, "loss_ratio": 0.01}.get(kind, 1e6)
    of = of["mean"] if isinstance(of, dict) else of
    return None if of is None else of / scale


def plots(scenario, folder):
    import figures  # pylint: disable=import-outside-toplevel
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hs-results-") as room:
        result = run_lab(scenario, room)
    for flow in sorted({w["flow"] for w in result["windows"]}):
        windows = whole(result, flow)
        names = {"throughput_bps": "throughput, Mbit/s", "delay_ns": "delay, ms",
                 "jitter_ns": "jitter, ms", "loss_ratio": "loss, %"}
        for kind, title in names.items():
            rows = {}
            for window in windows:
                at = (window["end_ns"] - result["start_ns"]) / SECOND
                for hop in window["hops"] + [window["e2e"]]:
                    row = rows.setdefault(hop.get("link", "e2e"), ([], [], [], []))
                    row[0].append(at)
                    for column, side in zip(row[1:], ("measured", "truth", "configured")):
                        column.append(value_of(hop, side, kind))
            if rows:
                name = f"{flow}.{kind}.svg".replace("/", "-")
                figures.over_time(os.path.join(folder, name), f"{flow}: {title}", rows)
    return 0
