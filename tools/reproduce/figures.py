# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures as SVG. The same numbers give the same bytes."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "hopsight", "svg.fonttype": "none", "font.size": 9,
                            "axes.grid": True, "grid.alpha": 0.3, "path.simplify": True})

import matplotlib.pyplot as plt  # noqa: E402

OURS, THEIRS = "#1f5fa8", "#c0392b"
THEORY = ", section 4"  # how the name of a line or bar of theory ends


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    # No line ends with blanks.
    with open(path, encoding="utf-8") as f:
        text = "\n".join(line.rstrip() for line in f.read().splitlines())
    with open(path, "w", encoding="utf-8") as f:
        f.write(text + "\n")


def bars(axes, names, ours, theirs, title):
    places = range(len(names))
    axes.bar([p - 0.2 for p in places], ours, 0.4, color=OURS, label="Hopsight")
    if theirs:
        axes.bar([p + 0.2 for p in places], [v or 0 for v in theirs], 0.4, color=THEIRS, label="paper")
    axes.set_xticks(list(places), names)
    axes.set_title(title)


def figure_5(path, hops, panels, jitters):
    """panels: (title, ours, theirs). jitters: values of the windows by hop, in ms."""
    figure, axes = plt.subplots(2, 2, figsize=(8, 5.5))
    for place, (title, ours, theirs) in zip(axes.flat, panels):
        bars(place, hops, ours, theirs, title)
    axes.flat[0].legend()
    axes.flat[3].boxplot(jitters, labels=hops[:len(jitters)], showfliers=False)
    axes.flat[3].set_title("jitter of each second, ms")
    save(figure, path)


def figure_6(path, runs, series):
    """runs: names. series: by run and hop, |up - down| in ms of each second."""
    figure, axes = plt.subplots(len(runs), 1, figsize=(8, 1.7 * len(runs)), sharex=True)
    for place, run in zip(axes, runs):
        for hop, values in series[run].items():
            place.plot(range(1, len(values) + 1), values, linewidth=1, label=hop)
        place.set_ylabel(f"{run}\nms")
    axes[0].legend(ncol=5, fontsize=7, loc="upper right")
    axes[-1].set_xlabel("s")
    save(figure, path)


def figure_7(path, rates, medians):
    """medians: by protocol, Mbit/s of each rate."""
    figure, axes = plt.subplots(1, len(medians), figsize=(8, 3))
    for place, (protocol, values) in zip(axes, medians.items()):
        bars(place, rates, values, None, f"{protocol}, Mbit/s")
        place.tick_params(axis="x", labelrotation=30)
    save(figure, path)


def over_time(path, title, rows):
    """rows: by hop, lists of (seconds, measured, truth, configured); None: no value."""
    figure, axes = plt.subplots(len(rows), 1, figsize=(8, 1.6 * len(rows)), sharex=True, squeeze=False)
    for place, (hop, (at, measured, truth, configured)) in zip(axes.flat, rows.items()):
        nan = [[float("nan") if v is None else v for v in values]
               for values in (measured, truth, configured)]
        place.plot(at, nan[1], color="#666666", linewidth=1, label="truth")
        place.plot(at, nan[2], color=THEIRS, linewidth=1, linestyle="--", label="configured")
        place.plot(at, nan[0], ".", color=OURS, markersize=3, label="measured")
        place.set_ylabel(hop)
    axes.flat[0].set_title(title)
    axes.flat[0].legend(fontsize=7)
    axes.flat[-1].set_xlabel("s")
    save(figure, path)


def figure_of_events(path, values, events):
    """values: of each report. events: by threshold, the reports whose value is told."""
    figure, axes = plt.subplots(len(events), 1, figsize=(8, 2.6 * len(events)), sharex=True)
    for place, (threshold, at) in zip(axes, events.items()):
        place.plot(values, linewidth=0.7, color="0.6", label="hop latency")
        place.step([*at, len(values)], [*(values[i] for i in at), values[at[-1]]], where="post",
                   linewidth=1, color=OURS, label="held")
        place.plot(at, [values[i] for i in at], ".", markersize=4, color=THEIRS, label="event")
        place.set_ylabel(f"threshold {threshold} ns\nns")
    axes[0].legend(ncol=3, fontsize=7, loc="upper right")
    axes[-1].set_xlabel("report")
    save(figure, path)


def lines(path, panels, log=False):
    """panels: (title, what x is, {name: (x, y) or (x, y, halves of intervals)}). log: the y axes."""
    figure, axes = plt.subplots(1, len(panels), figsize=(8, 3), squeeze=False)
    for place, (title, unit, series) in zip(axes.flat, panels):
        drawn, dashes = [], iter(("--", ":", "-."))
        for (name, (x, y, *error)), mark in zip(series.items(), "os^vDxP*"):
            style = {"marker": mark, "markersize": 3, "linewidth": 1, "label": name}
            if name.endswith(THEORY):
                style.update(marker="", color="black", linestyle=next(dashes))
            drawn.append(place.errorbar(x, y, *error, **style) if error else place.plot(x, y, **style)[0])
        place.set_title(title)
        place.set_xlabel(unit)
        if log:
            place.set_yscale("log")
        if place is axes.flat[0] or series.keys() != panels[0][2].keys():
            place.legend(handles=drawn, fontsize=7)
    save(figure, path)


def groups(path, panels):
    """panels: (title, what x is, names of the groups, {name: (values, halves of intervals)})."""
    figure, axes = plt.subplots(1, len(panels), figsize=(8, 3), squeeze=False)
    for place, (title, unit, names, series) in zip(axes.flat, panels):
        width, paint, edges = 0.8 / len(series), iter((OURS, THEIRS, "0.6", "0.8")), iter((OURS, THEIRS))
        for i, (name, (values, error)) in enumerate(series.items()):
            at = [x + width * (i + 0.5) - 0.4 for x in range(len(names))]
            style = {"color": "white", "edgecolor": next(edges)} if name.endswith(THEORY) else {"color": next(paint)}
            place.bar(at, values, width, yerr=error, label=name, **style)
        place.set_xticks(range(len(names)), names)
        place.set_title(title)
        place.set_xlabel(unit)
        place.legend(fontsize=7)
    save(figure, path)
