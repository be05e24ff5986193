# SPDX-License-Identifier: BSD-3-Clause
"""Cells of means with the halves of their confidence intervals."""


def percent(value, theirs=None):
    return f"{100 * value[0]:.2f} ± {100 * value[1]:.2f}" + ("" if theirs is None else f" ({100 * theirs:.2f})")


def count(value, theirs=None):
    return f"{value[0]:.0f} ± {value[1]:.0f}" + ("" if theirs is None else f" ({theirs})")
