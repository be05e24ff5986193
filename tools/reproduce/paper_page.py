# SPDX-License-Identifier: BSD-3-Clause
"""What the pages of all papers have in common: tables, and the files that keep a page and its numbers."""

import json
import os
import sys

from pictures import RESULTS


def table(*rows):
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def keep(paper, numbers, document):
    """Writes the numbers, and the page that `document` makes of them."""
    with open(os.path.join(RESULTS, f"{paper}.json"), "w", encoding="utf-8") as f:
        json.dump(numbers, f, separators=(",", ":"))
        f.write("\n")
    with open(os.path.join(RESULTS, f"{paper}.md"), "w", encoding="utf-8") as f:
        f.write(document(numbers))
    print(f"docs/results/{paper}.md is written", file=sys.stderr)


def read_kept(paper, document):
    """Returns the numbers, and what is wrong with the page: it is not what `document` makes of them."""
    with open(os.path.join(RESULTS, f"{paper}.json"), encoding="utf-8") as f:
        numbers = json.load(f)
    with open(os.path.join(RESULTS, f"{paper}.md"), encoding="utf-8") as f:
        return numbers, "" if f.read() == document(numbers) else f"run ./reproduce.sh {paper}"


def tell(paper, failures):
    """Prints the names of what was checked, and what is wrong there. Returns an exit code."""
    for name, wrong in failures.items():
        print(f"{'FAIL' if wrong else 'PASS'} reproduce {paper}: {name}{': ' + wrong if wrong else ''}")
    return 1 if any(failures.values()) else 0
