# SPDX-License-Identifier: BSD-3-Clause
"""What a mean of finite samples is off by on average, whoever measures: E|mean - expectation|.

Of a normal mean that is root(2/pi) times its standard deviation.
"""

import numpy as np

MEAN_DISTANCE = np.sqrt(2 / np.pi)


def expected_jitter(widths, cells=1 << 14):
    """E|sum of (X - Y)|, each uniform in [-width, width], by the characteristic function:
    E|Z| = 2/pi times the integral over t > 0 of (1 - phi(t)) / t^2."""
    widths = np.asarray([w for w in widths if w], dtype=float)
    if not widths.size:
        return 0.0
    top = 400.0 / widths.max()
    t = (np.arange(cells * 4) + 0.5) * top / (cells * 4)
    phi = np.prod([(np.sin(w * t) / (w * t)) ** 2 for w in widths], axis=0)
    return float(2 / np.pi * (np.sum((1 - phi) / t**2) * top / (cells * 4) + 1 / top))


def delay(widths, samples):
    """Of a mean of so many delays, jitter uniform on each link."""
    return float(MEAN_DISTANCE * np.sqrt(sum(w * w / 3 for w in widths) / samples))


def jitter(width, pairs):
    """Of a mean of |D(k) - D(k-1)|: neighbours share a packet. Variance 2/9, covariance 1/45, so
    (2/9 + 2/45) J^2 / n."""
    return float(MEAN_DISTANCE * width * np.sqrt(4 / 15 / pairs))


def loss(ratio, packets):
    return float(MEAN_DISTANCE * np.sqrt(ratio * (1 - ratio) / packets))
