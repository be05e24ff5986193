# SPDX-License-Identifier: BSD-3-Clause
"""The README's five minutes, typed as they stand."""

import os
import re
import subprocess
import sys

import netlab
from lib import check, equal, main, need, test


def blocks():
    """Code of the section, in order: (language, text)."""
    with open(os.path.join(netlab.ROOT, "README.md"), encoding="utf-8") as f:
        section = f.read().split("## Five minutes", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"```(\w+)\n(.*?)```", section, re.S)


@test(limit_s=90)
def the_five_minutes_of_the_readme_work_as_typed(workspace):
    need("ping", "ethtool")
    script = ["set -eE", "trap 'echo failed: $BASH_COMMAND' ERR"]
    for language, text in blocks():
        if language == "python":
            text = f"/usr/bin/python3 - <<'END'\n{text}END\n"
        # Only the namespaces get names that are this run's own.
        text = re.sub(r"\b(left|right|node1|node2)\b", rf"{workspace.prefix}-\1", text)
        script.append(text.replace("build/apps/", netlab.BUILD + "/apps/"))
    check(len(script) > 5, "no code was found")
    with open(workspace.path("readme.log"), "w", encoding="utf-8") as log:
        shell = workspace.spawn(["bash", "-c", "\n".join(script)], cwd=netlab.ROOT, stdout=log,
                                stderr=subprocess.STDOUT)
        code = shell.wait(80)
    with open(workspace.path("readme.log"), encoding="utf-8") as log:
        output = log.read()
    equal(code, 0, "exit code of the shell")
    check("100 received" in output, "ping", output)
    check(re.search(r"rule 1  sent \d+ received", output), "raw reports", output)
    check(re.search(r"rule 1  .* 100 reports  path 0 → 2", output), "the whole run", output)
    check(re.search(r'"?ok"?', output), "the rule from Python", output)
    check(not [name for name in os.listdir("/run/netns") if name.startswith(workspace.prefix)],
          "namespaces are left")


if __name__ == "__main__":
    sys.exit(main())
