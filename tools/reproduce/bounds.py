# SPDX-License-Identifier: BSD-3-Clause
"""Statistical bounds: the mean error of a mean of finite samples for any measurement,
E|mean - expectation|.

For a normal mean, this is root(2/pi) times its standard deviation.
"""

import numpy as np

MEAN_DISTANCE = np.sqrt(2 / np.pi)


def expected_jitter(widths, cells=1 << 14):
    """Returns E|sum of (X - Y)|, each uniform in [-width, width], by the characteristic function:
    E|Z| = 2/pi times the integral over t > 0 of (1 - phi(t)) / t^2."""
    widths = np.asarray([w for w in widths if w], dtype=float)
    if not widths.size:
        return 0.0
    top = 400.0 / widths.max()
    t = (np.arange(cells * 4) + 0.5) * top / (cells * 4)
    phi = np.prod([(np.sin(w * t) / (w * t)) ** 2 for w in widths], axis=0)
    return float(2 / np.pi * (np.sum((1 - phi) / t**2) * top / (cells * 4) + 1 / top))


def delay(widths, samples):
    """Returns the bound of a mean of this many delays, with uniform jitter on each link."""
    return float(MEAN_DISTANCE * np.sqrt(sum(w * w / 3 for w in widths) / samples))


def jitter(width, pairs):
    """Returns the bound of a mean of |D(k) - D(k-1)|. Neighbours share a packet. The variance is 2/9,
    the covariance 1/45, so that the result is (2/9 + 2/45) J^2 / n."""
    return float(MEAN_DISTANCE * width * np.sqrt(4 / 15 / pairs))


def loss(ratio, packets):
    return float(MEAN_DISTANCE * np.sqrt(ratio * (1 - ratio) / packets))
