# SPDX-License-Identifier: BSD-3-Clause
"""What the attacks share."""

import os

# How long an attack goes on that finds more the longer it lasts.
SECONDS = float(os.environ.get("CHAOS_SECONDS", "2"))
