# SPDX-License-Identifier: BSD-3-Clause
"""hopsight-bench: runs the measurements in turn, each a process of its own, and compares the figures.

command    the options, and what is written
measure    processes and rounds
result     the rows: figures, ratios, limits, the baseline
show       JSON, a table, a card
"""
