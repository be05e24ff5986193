# SPDX-License-Identifier: BSD-3-Clause
"""The README's examples, typed as they stand."""

import os
import re
import subprocess
import sys

import netlab
from lib import check, equal, main, need, test


def blocks(section):
    """Code of a section, in order: (language, text)."""
    with open(os.path.join(netlab.ROOT, "README.md"), encoding="utf-8") as f:
        text = f.read().split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"```(\w+)\n(.*?)```", text, re.S)


def typed(workspace, section, namespaces):
    """What a shell says to all code of a section."""
    script = ["set -eE", "trap 'echo failed: $BASH_COMMAND' ERR"]
    for language, text in blocks(section):
        if language == "python":
            text = f"/usr/bin/python3 - <<'END'\n{text}END\n"
        # Only the namespaces get names that are this run's own.
        text = re.sub(rf"(?<![/\w])({namespaces})\b(?!\.)", rf"{workspace.prefix}-\1", text)
        script.append(text.replace("build/apps/", netlab.BUILD + "/apps/"))
    check(len(script) > 2, "no code was found")
    with open(workspace.path("readme.log"), "w", encoding="utf-8") as log:
        shell = workspace.spawn(["bash", "-c", "\n".join(script)], cwd=netlab.ROOT, stdout=log,
                                stderr=subprocess.STDOUT)
        code = shell.wait(80)
    with open(workspace.path("readme.log"), encoding="utf-8") as log:
        output = log.read()
    print(output)
    equal(code, 0, "exit code of the shell")
    return output


def nothing_is_left(workspace):
    check(not [name for name in os.listdir("/run/netns") if name.startswith(workspace.prefix)],
          "namespaces are left")


@test(limit_s=90)
def the_five_minutes_of_the_readme_work_as_typed(workspace):
    need("ping", "ethtool")
    output = typed(workspace, "Five minutes", "left|right|node1|node2")
    check("100 received" in output, "ping", output)
    check(re.search(r"rule 1  sent \d+ received", output), "raw reports", output)
    check(re.search(r"rule 1  .* 100 reports  path 0 → 2", output), "the whole run", output)
    check(re.search(r'"?ok"?', output), "the rule from Python", output)
    check("20 received" in output, "ping of the rule in band", output)
    check(re.search(r"rule 2  .* reports  path 0 → 2", output), "the rule that spread", output)
    nothing_is_left(workspace)


@test(limit_s=90)
def the_router_of_the_readme_works_as_typed(workspace):
    need("ping", "ethtool")
    output = typed(workspace, "A router", "lan|router|core")
    equal(len(re.findall(r"3 received", output)), 2, "pings before and after the route")
    check("2001:db8:3::/48" in output, "the new route", output)
    nothing_is_left(workspace)


@test(limit_s=60)
def the_controller_of_the_readme_works_as_typed(workspace):
    output = typed(workspace, "Many nodes", "none")
    check(re.search(r"transit", output), "its nodes", output)


if __name__ == "__main__":
    sys.exit(main())
