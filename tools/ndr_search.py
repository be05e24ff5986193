# SPDX-License-Identifier: BSD-3-Clause
"""Finds NDR, PDR and MRR of a device by trials; the caller decides what a trial is.

Throughput is that of RFC 2544, 26.1 (RFC 8219, 7.1, refers to it): the highest rate without loss.
Names and values are those of FD.io CSIT (Performance Test Methodology). NDR is the highest load
without loss. PDR is the highest load with a loss of at most 0.5 %. MRR is the rate received under the
highest possible load, with any loss. A failed trial is repeated. This is the loss verification of
ETSI GS NFV-TST 009, 12.3.3, which RFC 9004 also recommends: the machine caused a loss that does not
occur again. All rates share their trials, and a search begins where the other one ended. This is the
idea of MLRsearch (draft-ietf-bmwg-mlrsearch).
"""

import statistics

PDR_LOSS_RATIO = 0.005
GROWTH = 1.25  # used where the highest load passes: an unpaced generator is slower
GROWTH_STEPS = 4
SHORT_RATIO = 0.98  # a trial that offered less than this share of its rate


class Search:
    """Searches rates by trials. measure(pps) runs one trial and returns a dict with at least
    `offered_pps`, `received_pps`, `received_packets` and `loss_ratio`. A rate of 0 is the highest
    load."""

    def __init__(self, measure, precision=0.005, repeats=1, floor_ratio=1e-3, said=None):
        self.measure = measure
        self.precision = precision
        self.repeats = repeats
        self.floor_ratio = floor_ratio
        self.said = said or (lambda trial: None)
        self.trials = []  # (requested pps, trial)
        self.repeated = 0

    def trial(self, pps):
        result = self.measure(pps)
        self.trials.append((pps, result))
        self.said(result)
        return result

    def mrr(self, n):
        """Returns what is received at the highest load, as the mean of n trials, and the highest
        load."""
        trials = [self.trial(0) for _ in range(n)]
        return (statistics.mean(t["received_pps"] for t in trials),
                max(t["offered_pps"] for t in trials))

    @staticmethod
    def _met(trial, loss_ratio):
        return trial["received_packets"] > 0 and trial["loss_ratio"] <= loss_ratio

    def passes(self, pps, loss_ratio):
        """Returns whether a trial at this rate meets the goal. A failed trial is repeated."""
        known = [t for asked, t in self.trials if asked == pps]
        if any(self._met(t, loss_ratio) for t in known):
            return True
        for number in range(len(known), 1 + self.repeats):
            self.repeated += number > 0
            if self._met(self.trial(pps), loss_ratio):
                return True
        return False

    def _ceiling(self, loss_ratio, high):
        """Returns the highest rate that passed (0: none) and a higher one that failed; both are
        equal if none failed."""
        low = 0
        for _ in range(GROWTH_STEPS):
            if not self.passes(high, loss_ratio):
                return low, high
            low, high = high, high * GROWTH
        return low, low

    def find(self, loss_ratio, high, first=None):
        """Returns the highest rate that meets a goal. `high` need not fail; `first` is tried before
        the middle of the interval."""
        low, high = self._ceiling(loss_ratio, high)
        if first and low < first < high:
            if self.passes(first, loss_ratio):
                low = first
            else:
                high = first
        return self._halve(loss_ratio, low, high)

    def find_below(self, loss_ratio, top):
        """Does the same as find, but tries no rate above `top`."""
        return top if self.passes(top, loss_ratio) else self._halve(loss_ratio, 0, top)

    def _halve(self, loss_ratio, low, high):
        floor = high * self.floor_ratio
        while high - low > self.precision * high and high > floor:
            middle = (low + high) / 2
            if self.passes(middle, loss_ratio):
                low = middle
            else:
                high = middle
        return low

    def below(self, low, loss_ratio):
        """Returns the load that was really offered in the best trial up to a rate. This load is less
        than requested if the generator did not get its processor time."""
        return max((t["offered_pps"] for asked, t in self.trials
                    if 0 < asked <= low and self._met(t, loss_ratio)), default=0.0)

    def rates(self, mrr_trials):
        """Returns MRR, PDR and NDR as a dict."""
        mrr, highest = self.mrr(mrr_trials)
        if not mrr:
            return {"mrr_pps": 0.0, "pdr_pps": 0.0, "ndr_pps": 0.0, **self.quality()}
        pdr = self.find(PDR_LOSS_RATIO, highest, first=mrr)
        # The highest rate without loss is below a rate that failed with 0.5 % allowed.
        ndr = self.find_below(0.0, pdr) if pdr else 0
        # Both are determined at the end: if trials offered less than requested, one of NDR's trials
        # may be PDR's best.
        return {"mrr_pps": mrr, "pdr_pps": self.below(pdr, PDR_LOSS_RATIO),
                "ndr_pps": self.below(ndr, 0.0), **self.quality()}

    def quality(self):
        """Returns how far the figures can be trusted."""
        return {"trials": len(self.trials), "repeated_trials": self.repeated,
                "short_trials": sum(t["offered_pps"] < SHORT_RATIO * asked
                                    for asked, t in self.trials)}
