# SPDX-License-Identifier: BSD-3-Clause
"""Runs all integration tests, or those whose names contain one of the given words. --general runs
those about packets with nodes on the general path."""

import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from lib import main  # noqa: E402

for name in sorted(os.listdir(HERE)):
    if name.startswith("test_") and name.endswith(".py"):
        importlib.import_module(name[:-3])

sys.exit(main())
