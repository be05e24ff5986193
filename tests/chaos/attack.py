# SPDX-License-Identifier: BSD-3-Clause
"""Common functions of the attacks."""

import os

# The duration of an attack that finds more the longer it lasts.
SECONDS = float(os.environ.get("CHAOS_SECONDS", "2"))
