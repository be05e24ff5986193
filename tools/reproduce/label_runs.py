# SPDX-License-Identifier: BSD-3-Clause
"""The runs of the lab for the figures 6 to 13 and 17 to 19 of paper 001, and what is kept of them."""

import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import tempfile

import label_prototype as prototype

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("HOPSIGHT_BUILD", os.path.join(ROOT, "build"))

MS = 10**6
SEEDS = (1, 2, 3, 4, 5)
STUDENT_95 = {5: 2.776, 20: 2.093}  # by n: the confidence interval of a mean is this times s / root(n)
INTERVAL_MS = 100
PACKETS = 10_000
RATES = (0.5, 1, 2, 3, 4, 5, 7.5, 10)  # Mbit/s of each sender
INTERVALS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
RATIOS = (0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.4)
NEAR = (60, 70, 80, 90, 100, 110, 120)
LOSSES = (0, 0.2, 0.4, 0.6, 0.8)
RESTS = (0, 0.25, 0.5, 0.75, 1)
KEPT = ("packets", "labelled_packets", "labels", "telemetry_bytes", "traffic_bytes", "late_labels")
PATIENCE_S = 0.02
KS, K_LOSSES = (2, 1.5, 1, 0.8, 0.6, 0.4, 0.2), (0, 0.2, 0.6)  # Pro by k, with T = 50 ms
KS_NEAR = (2, 1)                                               # with T = 100 ms

OVER_TIME = (20, 50, 80)  # T in ms of figure 11, with the routes of section 6.1 (7) and the prototype's (8)
COURSES = [f"{figure}-a-{t}" for figure in (7, 8) for t in OVER_TIME]
COURSE_SEEDS = 2          # whose intervals are kept


# ---- the lab ----


def scenario(name, seed, **changes):
    """The scenario of the paper's setup with other values."""
    with open(os.path.join(ROOT, "config", "lab", "label-base-a.json"), encoding="utf-8") as f:
        made = json.load(f)
    algorithm, interval_ms = changes.get("algorithm", "a"), changes.get("interval_ms", 50)
    interval_ns = round(interval_ms * MS)
    profile = {"method": "label", "interval_ns": interval_ns}
    if algorithm == "a":
        profile["rest_ns"] = interval_ns
    else:
        profile["rest_ns"] = round(changes.get("rest", 0) * interval_ns)
        profile["function"] = changes.get("function", "f1")
    rate_pps = changes.get("rate", 5) * 1e6 / 8 / 1000
    for entry in made["traffic"]:
        entry["rate_pps"] = rate_pps / 7
    loss = changes.get("loss", 0)
    made.update(name=name, seed=seed, expect=[], duration_s=PACKETS / (2 * rate_pps), keep_windows=True,
                profiles={"label": profile})
    made["label"] = {"interval_s": changes.get("telemetry_ms", INTERVAL_MS) / 1000,
                     "delay_ns": MS, "loss_ratio": loss}
    if algorithm == "pro":
        patience_s = changes["k"] * interval_ms / 1000 if "k" in changes else PATIENCE_S
        made["label"]["pro"] = {"patience_s": patience_s, "loss_ratio": loss}
    return prototype.scenario(made) if changes.get("prototype") else made


def result_of(made, folder):
    path, out = (os.path.join(folder, made["name"] + end) for end in (".json", ".out"))
    with open(path, "w", encoding="utf-8") as f:
        json.dump(made, f)
    done = subprocess.run([os.path.join(BUILD, "apps", "hopsight-lab"), "run", path, "--quiet",
                           "--json", out], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{made['name']}: hopsight-lab ended with {done.returncode}: {done.stderr}")
    with open(out, encoding="utf-8") as f:
        return json.load(f)


def run_lab(made, folder):
    return result_of(made, folder)["label"]


def mean_of(values):
    """The mean and the half of its 95 % confidence interval."""
    n = len(values)
    half = STUDENT_95[n] * statistics.stdev(values) / math.sqrt(n) if n > 1 else 0.0
    return [round(statistics.fmean(values), 6), round(half, 6)]


def summed(name, runs):
    """What is kept of the runs of one point with all seeds."""
    most = max(len(run["labels_per_packet"]) for run in runs)
    per_packet = [[*run["labels_per_packet"], *[0] * most][:most] for run in runs]
    windows = [run["coverage_ratio"]["windows"] for run in runs]
    made = {
        "coverage": mean_of([run["coverage_ratio"]["mean"] for run in runs]),
        "least": min(run["coverage_ratio"]["min"] for run in runs),
        "whole": mean_of([of.count(1) / len(of) for of in windows]),
        "bandwidth": mean_of([run["telemetry_bytes"] / run["traffic_bytes"] for run in runs]),
        "per_packet": [mean_of(column) for column in zip(*per_packet)],
        "seeds": {key: [run[key] for run in runs] for key in ("labelled_packets", "labels")},
        **{key: mean_of([run[key] for run in runs]) for key in KEPT},
    }
    if name in COURSES:
        made["course"] = [[round(value, 4) for value in of] for of in windows[:COURSE_SEEDS]]
    return made


def points():
    """Every point: its name, and what differs from the paper's default."""
    for algorithm in ("a", "b"):
        for rate in RATES:
            yield f"6-{algorithm}-{rate}", {"algorithm": algorithm, "rate": rate}
        for interval in INTERVALS:
            yield f"7-{algorithm}-{interval}", {"algorithm": algorithm, "interval_ms": interval}
            yield f"8-{algorithm}-{interval}", {"algorithm": algorithm, "interval_ms": interval, "prototype": True}
        for ratio in RATIOS:
            yield f"9-{algorithm}-{ratio}", {"algorithm": algorithm, "interval_ms": INTERVAL_MS / ratio}
    for algorithm in ("a", "b", "pro"):
        for interval in NEAR:
            yield f"12-{algorithm}-{interval}", {"algorithm": algorithm, "interval_ms": interval}
        for loss in LOSSES:
            yield f"13-{algorithm}-{loss}", {"algorithm": algorithm, "loss": loss}
    for k in KS_NEAR:
        yield f"12-k{k}-100", {"algorithm": "pro", "interval_ms": 100, "k": k}
    for k in KS:
        for loss in K_LOSSES:
            yield f"13-k{k}-{loss}", {"algorithm": "pro", "loss": loss, "k": k}
    for rest in RESTS:
        yield f"18-b-{rest}", {"algorithm": "b", "rest": rest}
    for function in ("f1", "f2", "f3"):
        yield f"19-b-{function}", {"algorithm": "b", "function": function}


def run_points(wanted, seeds=SEEDS, keep=summed):
    with tempfile.TemporaryDirectory(prefix="hs-001-") as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = {(name, seed): pool.submit(run_lab, scenario(f"{name}-{seed}", seed, **changes), folder)
                for name, changes in wanted for seed in seeds}
        return {name: keep(name, [made[name, seed].result() for seed in seeds]) for name, _ in wanted}
