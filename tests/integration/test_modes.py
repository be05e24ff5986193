# SPDX-License-Identifier: BSD-3-Clause
"""Who may use the files that a node creates, and whose files it does not trust."""

import os
import stat
import subprocess
import sys

from lib import Node, check, equal, main, memif, need, netlab, rule, test

PROGRAM = os.path.join(netlab.BUILD, "apps", "hopsightd")


def mode(path):
    return oct(stat.S_IMODE(os.lstat(path).st_mode))


def node_with_files(workspace, name):
    """Creates every file that a node creates for others or for itself, in directories that it
    creates."""
    folder = workspace.path(name)
    api = f"{folder}-api/deep/node.api"
    os.mkdir(f"{folder}-state", 0o700)
    node = Node(workspace, 1, [memif("a", f"{folder}-memif/m.sock", "server", 0)], name=name,
                forwarding={"mode": "bridge"},
                state={"file": f"{folder}-state/rules.state"},
                control={"bind": [f"ipc://{workspace.path(name)}.api", f"ipc://{api}"],
                         "publish_bind": [f"ipc://{folder}-api/node.pub"]})
    return node, {f"{folder}-memif": "0o755", f"{folder}-memif/m.sock": "0o660",
                  f"{folder}-api": "0o755", f"{folder}-api/deep": "0o755", api: "0o660",
                  f"{folder}-api/node.pub": "0o660", f"{folder}-state/rules.state": "0o600"}


@test(limit_s=120)
def files_of_a_node_have_the_same_modes_whatever_the_umask_is(workspace):
    need()
    for umask in (0o000, 0o022, 0o077):
        before = os.umask(umask)
        node, expected = node_with_files(workspace, f"n{umask:o}")
        node.start()
        os.umask(before)
        node.call("int_request", **rule(7, "2001:db8::1", "2001:db8::2"))
        equal({path: mode(path) for path in expected}, expected, f"modes with umask {umask:03o}")
        node.stop()


@test(limit_s=60)
def a_state_that_others_may_write_is_refused_by_name(workspace):
    need()
    folder = workspace.path("state")
    file = os.path.join(folder, "rules.state")
    cases = ((0o777, 0o600, folder, "mode 0755"), (0o1777, 0o600, folder, "mode 0755"),
             (0o775, 0o600, folder, "mode 0755"), (0o755, 0o666, file, "mode 0600"),
             (0o755, 0o620, file, "mode 0600"))
    os.mkdir(folder)
    for of_folder, of_file, named, allowed in cases:
        with open(file, "w", encoding="ascii") as f:
            f.write("hopsight-state 1\n")
        os.chmod(folder, of_folder)
        os.chmod(file, of_file)
        node = Node(workspace, 1, [memif("a", workspace.path("m.sock"), "server", 0)],
                    forwarding={"mode": "bridge"},
                    state={"file": file})
        path = workspace.path("config.json")
        with open(path, "w", encoding="utf-8") as f:
            netlab.json.dump(node.config, f)
        done = subprocess.run([PROGRAM, "--config", path], capture_output=True, text=True,
                              check=False, timeout=30)
        equal(done.returncode, 1, f"exit code: {done.stderr}")
        for words in (f"{named} has mode", allowed, "state.file"):
            check(words in done.stderr, words, done.stderr)
    if os.geteuid() == 0:
        os.chmod(folder, 0o755)
        os.chmod(file, 0o600)
        os.chown(file, 12345, -1)
        done = subprocess.run([PROGRAM, "--config", path], capture_output=True, text=True,
                              check=False, timeout=30)
        check(f"{file} belongs to user 12345" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(main())
