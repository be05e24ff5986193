# SPDX-License-Identifier: BSD-3-Clause
"""The measured figures and what follows from them: ratios, limits, the comparison with a baseline."""

import dataclasses
import json
import statistics

NOISE = 1.15  # noise may increase a ratio by this factor before the case counts as slower
WIDEST = 2  # a machine that is slower for work in caches widens the gate by this factor at most


@dataclasses.dataclass(frozen=True)
class Case:
    """A row of the table in src/bench/bench_case.c."""
    name: str
    about: str
    packets: bool  # a worker's nanoseconds for each packet; otherwise operations in a second
    collects: bool  # these are a collector's reports; otherwise control's operations
    memif: bool
    shared_cores: bool
    quick: bool
    limit: float  # of the ratio; 0: none
    least_per_second: float  # 0: none
    limit_of: str  # another case that the limit refers to; None: the yardstick
    traffic: dict

    @property
    def frames(self):
        """Returns the properties of the traffic that make a difference for dpdk-testpmd."""
        return tuple(self.traffic[key] for key in ("frame_bytes", "frames", "hops", "int", "mixed"))

    @property
    def compared(self):
        """Returns whether dpdk-testpmd is the yardstick of the case."""
        return self.collects or self.packets and not self.memif


HUGE = ", huge pages"  # behind the name of a row


@dataclasses.dataclass(eq=False)
class Row:
    """The figures of a case, or of dpdk-testpmd with the frames of a case."""
    name: str
    case: Case
    mode: str = ""  # dpdk-testpmd's forward mode; "": a case
    huge: bool = False  # packets and tables lie in huge pages
    yardstick: "Row" = None  # dpdk-testpmd's row with the same frames
    limit_row: "Row" = None  # the row that the limit refers to
    samples: list = dataclasses.field(default_factory=list)  # ns for each packet, or operations in a second
    cycles: list = dataclasses.field(default_factory=list)  # of the time stamp counter, for each packet
    reports_made: int = 0
    reports_lost: int = 0
    error: str = ""

    @property
    def median(self):
        return median(self.samples)

    @property
    def packets(self):
        """Returns whether samples are nanoseconds for each packet."""
        return bool(self.mode) or self.case.packets

    @property
    def costs(self):
        """Returns the nanoseconds for each packet or operation, one for each sample."""
        return self.samples if self.packets else [share(1e9, rate) for rate in self.samples]

    def lost_ratio(self):
        return share(self.reports_lost, self.reports_made)

    def ratio(self):
        """Returns the ratio of medians to the yardstick, or 0 without one."""
        return share(median(self.costs), self.yardstick.median) if self.yardstick else 0

    def ratio_of_least(self):
        """Returns the ratio of the least figures. Noise only adds time, so that these have the least noise."""
        if not self.yardstick or not self.samples or not self.yardstick.samples:
            return 0
        return share(min(self.costs), min(self.yardstick.samples))

    def limited(self):
        """Returns what the limit is compared with: the ratio to the yardstick or to another case, 0 without
        either."""
        if self.mode or not self.case.limit or not self.limit_row:
            return 0
        return share(median(self.costs), median(self.limit_row.costs))


def median(samples):
    return statistics.median(samples) if samples else 0


def share(part, whole):
    return part / whole if whole > 0 else 0


def peer_name(case, mode):
    frame_bytes, frames, hops, is_int, is_mixed = case.frames
    if is_mixed:
        return f"testpmd {mode} mixed"
    return (f"testpmd {mode}" + (f" {frame_bytes} B" if frame_bytes != 128 else "")
            + (f" {frames} frames" if frames != 4096 else "") + (f" {hops} hops" if hops >= 0 else "")
            + (" INT" if is_int else ""))


def make_rows(cases, peers, huge=False):
    """Rows for the cases, after the rows of dpdk-testpmd that they are compared with, if there are `peers`. All have
    the same pages."""
    yardsticks, pages = {}, HUGE if huge else ""
    for case in cases:
        if peers and case.compared:
            yardsticks.setdefault(case.frames, Row(peer_name(case, "mac") + pages, case, "mac", huge))
    rows = list(yardsticks.values())
    if rows:
        first = rows[0]
        rows.append(Row(peer_name(first.case, "csum") + pages, first.case, "csum", huge, yardstick=first))
    own = {case.name: Row(case.name + pages, case, huge=huge) for case in cases}
    for row in own.values():
        if row.case.compared:
            row.yardstick = yardsticks.get(row.case.frames)
        row.limit_row = own.get(row.case.limit_of) if row.case.limit_of else row.yardstick
    return rows + list(own.values())


# ---- the baseline: ratios alone, because times belong to one machine and one day ----

def _no_duplicates(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def load_baseline(path, names):
    """Returns {"ratios": {"no_rules": 1.2, ...}, "ratios_of_least": {...}} of a file. Raises a ValueError that says
    what is wrong."""
    try:
        with open(path, encoding="utf-8") as f:
            baseline = json.load(f, object_pairs_hook=_no_duplicates)
    except OSError as error:
        raise ValueError(f"{path}: unable to open: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    ratios = baseline.get("ratios") if isinstance(baseline, dict) else None
    if not isinstance(ratios, dict) or not ratios:
        raise ValueError(f'{path}: no ratios in it (allowed: {{"ratios": {{...}}}})')
    for name, ratio in ratios.items():
        if name not in names or isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or ratio <= 0:
            raise ValueError(f'{path}: "{name}" is wrong (allowed: a case and a ratio above 0)')
    return baseline


def make_baseline(rows):
    csum = csum_row(rows)
    rows = [row for row in rows if not row.mode and not row.huge and row.ratio() > 0]
    return {"ratios": {row.name: round(row.ratio(), 3) for row in rows},
            "ratios_of_least": {row.name: round(row.ratio_of_least(), 3) for row in rows},
            **({"csum": {"ratio": round(csum.ratio(), 3), "ratio_of_least": round(csum.ratio_of_least(), 3)}}
               if csum else {})}


def csum_row(rows):
    return next((row for row in rows if row.mode == "csum"), None)


def slow_factors(rows, baseline):
    """Returns how much slower the machine is now for work in caches: testpmd's checksum forwarding as a ratio to
    its mac forwarding, over the baseline's ratio, for medians and for the least figures. A case reads more of each
    packet than mac forwarding does, so that other programs in the same caches slow the case down, but hardly mac
    forwarding."""
    csum, was = csum_row(rows), baseline.get("csum", {})
    if not csum or not csum.samples:
        return 1, 1
    return tuple(min(max(1, share(now, was.get(key, 0))), WIDEST)
                 for now, key in ((csum.ratio(), "ratio"), (csum.ratio_of_least(), "ratio_of_least")))


def judge(row, baseline, slow=(1, 1)):
    """Returns what is wrong with a case by the baseline, or "" if nothing is, or if the baseline does not have the
    case. `slow`: see slow_factors()."""
    ratios = baseline["ratios"]
    was, least = ratios.get(row.name, 0), baseline.get("ratios_of_least", {}).get(row.name, 0)
    if row.mode or was <= 0:
        return ""
    if row.error or not row.samples:
        return "not measured"
    # Noise changes one of the two ratios. A slower program changes both.
    if row.ratio() > was * NOISE * slow[0] and row.ratio_of_least() > least * NOISE * slow[1]:
        return "slower than the baseline"
    # The card reports a limit that the baseline itself missed. The gate ignores it.
    limited_was = share(was, ratios.get(row.case.limit_of, 0)) if row.case.limit_of else was
    if 0 < limited_was <= row.case.limit and row.limited() > row.case.limit * NOISE * slow[0]:
        return "over its limit"
    return ""


def compare(rows, baseline):
    """Returns the lines of a gate, one for each measured case of the baseline, and whether all passed."""
    lines, slow = [], slow_factors(rows, baseline)
    for row in rows:
        if row.mode or row.name not in baseline["ratios"]:
            continue
        wrong = judge(row, baseline, slow)
        lines.append(f"{'FAIL' if wrong else 'PASS'} bench {row.name} costs {row.ratio():.2f} of testpmd's mac "
                     f"forwarding, baseline {baseline['ratios'][row.name]:.2f}{': ' + wrong if wrong else ''}")
    if max(slow) > 1:
        lines.append(f"the machine is slower for work in caches: {slow[0]:.2f} in the median, {slow[1]:.2f} at least")
    lines = lines or ["FAIL bench: the baseline has none of the measured cases"]
    return lines, not any(line.startswith("FAIL") for line in lines)
