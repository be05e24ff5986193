# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the page of paper 001, and cells of means with the halves of their confidence intervals."""


def table(*rows):
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def percent(value, theirs=None):
    return f"{100 * value[0]:.2f} ± {100 * value[1]:.2f}" + ("" if theirs is None else f" ({100 * theirs:.2f})")


def count(value, theirs=None):
    return f"{value[0]:.0f} ± {value[1]:.0f}" + ("" if theirs is None else f" ({theirs})")
