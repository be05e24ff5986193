# SPDX-License-Identifier: BSD-3-Clause
"""Runs all attacks on nodes and controllers, or those whose names contain one of the given words.
Each takes a few seconds, or CHAOS_SECONDS (attack.SECONDS) if a longer attack finds more."""

import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "integration")]

from lib import main  # noqa: E402

for name in sorted(os.listdir(HERE)):
    if name.startswith("test_") and name.endswith(".py"):
        importlib.import_module(name[:-3])

sys.exit(main())
