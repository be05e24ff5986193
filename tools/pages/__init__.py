# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages and bash completion, made from what the programs say of themselves (--help) and from the
documents of their configurations."""
