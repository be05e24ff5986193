# SPDX-License-Identifier: BSD-3-Clause
"""What `meson install` puts where: programs, units, manual pages, completion. The manual pages and the
completion say what the programs say of themselves."""

import fnmatch
import glob
import json
import os
import pty
import re
import select
import shlex
import subprocess

from harness import ROOT
from lib import Chain, Skip, check, equal, main, need, netlab, rule, test
from test_cli import PROGRAM, FakeNode
from workspace import run

PROGRAMS = ["hopsight", "hopsight-bench", "hopsight-collector", "hopsight-controller", "hopsight-lab", "hopsightd"]
PAGES = ["man1/hopsight.1", "man1/hopsight-lab.1", "man1/hopsight-bench.1", "man5/hopsight.json.5",
         "man5/hopsight-controller.json.5", "man5/hopsight-collector.json.5", "man8/hopsightd.8",
         "man8/hopsight-controller.8", "man8/hopsight-collector.8"]
UNITS = ["hopsight-collector", "hopsight-controller", "hopsightd", "hopsightd@"]


def installed(workspace):
    """Installs the build into a folder. Returns the folder, and the prefix in it."""
    if not os.path.exists(os.path.join(netlab.BUILD, "tools", "pages", "hopsight.1")):
        raise Skip("this build has no manual pages")
    root = workspace.path("root")
    run("meson", "install", "-C", netlab.BUILD, "--no-rebuild", "--destdir", root)
    return root, os.path.join(root, "usr", "local")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def is_there(prefix, *paths):
    missing = [path for path in paths if not os.path.isfile(os.path.join(prefix, path))]
    equal(missing, [], "files that are not installed")


def verify_units(prefix, workspace):
    """systemd-analyze looks for the programs, so the units name those of the folder."""
    folder = workspace.path("units")
    os.mkdir(folder)
    for unit in UNITS:
        text = read(prefix, "lib", "systemd", "system", unit + ".service")
        for program in re.findall(r"^Exec\w+=(\S+)", text, re.M):
            check(os.access(prefix + program.removeprefix("/usr/local"), os.X_OK), unit, "starts", program)
        equal(re.findall("@[A-Z]+@", text), [], f"words of {unit} that nobody replaced")
        name = unit + ("west" if unit.endswith("@") else "") + ".service"
        with open(os.path.join(folder, unit + ".service"), "w", encoding="utf-8") as file:
            file.write(text.replace("/usr/local", prefix))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", os.path.join(folder, name)],
                              capture_output=True, text=True, check=False)
        equal((done.returncode, done.stdout + done.stderr), (0, ""), f"systemd-analyze verify {name}")
    instance = read(folder, "hopsightd@.service")
    equal(set(re.findall(r"/etc/hopsight/\S+", instance)), {"/etc/hopsight/%i.json"}, "configuration of an instance")


@test()
def an_installation_has_each_file_in_its_place(workspace):
    need("systemd-analyze", "systemd-sysusers", "systemd-tmpfiles")
    root, prefix = installed(workspace)
    is_there(prefix, *("bin/" + name for name in PROGRAMS), *("share/man/" + page for page in PAGES),
             *("share/bash-completion/completions/" + name for name in PROGRAMS),
             *(f"lib/systemd/system/{unit}.service" for unit in UNITS))
    documents = os.path.join(prefix, "share", "doc", "hopsight")
    is_there(documents, "README.md", "docs/operating.md", "docs/grafana/rules.yml", "docs/schema/node.json",
             "examples/first.json")
    equal(len(glob.glob(prefix + "/lib/*/wireshark/plugins/hopsight.lua")), 1, "dissectors")
    equal(glob.glob(root + "/**/__pycache__", recursive=True), [], "byte code")
    verify_units(prefix, workspace)

    # A user, a group and folders, as systemd makes them of these files.
    os.makedirs(root + "/etc")
    run("systemd-sysusers", "--root=" + root, prefix + "/lib/sysusers.d/hopsight.conf")
    users = dict(line.split(":", 1) for line in read(root, "etc", "passwd").splitlines())
    check(users["hopsight"].endswith("/nologin"), users)
    check("hopsight:" in read(root, "etc", "group"), "no group")
    run("systemd-tmpfiles", "--root=" + root, "--create", prefix + "/lib/tmpfiles.d/hopsight.conf")
    for folder in ("etc", "run", "var/lib"):
        equal(os.stat(os.path.join(root, folder, "hopsight")).st_mode & 0o7777, 0o755, folder)
    equal(os.stat(root + "/run/hopsight").st_gid, int(re.search(r"^hopsight:x:(\d+)", read(root, "etc", "group"), re.M)[1]),
          "group of the sockets' folder")

    # What is installed runs without the build directory.
    checked = run(prefix + "/bin/hopsightd", "--print-config", "--config", documents + "/examples/memif-transit.json")
    check("node" in json.loads(checked), checked)


@test()
def each_installed_file_belongs_to_one_debian_package(workspace):
    """As dh_install takes the files. tests/package/run.sh builds the packages, which takes minutes."""
    _, prefix = installed(workspace)
    there = {os.path.relpath(path, prefix) for path in glob.glob(prefix + "/**", recursive=True) if os.path.isfile(path)}
    owners = {path: [] for path in there}
    packages = re.findall(r"^Package: (.*)$", read(ROOT, "debian", "control"), re.M)
    equal(packages, ["hopsight", "hopsight-lab", "hopsight-doc", "python3-hopsight"], "packages")
    for package in packages:
        for line in read(ROOT, "debian", package + ".install").splitlines():
            if line.startswith("python/"):  # of the source: the build installs no Python
                check(glob.glob(os.path.join(ROOT, line.split()[0])), package, "wants what is not there:", line)
                continue
            pattern = line.split()[0].removeprefix("usr/")
            found = [path for path in there if fnmatch.fnmatchcase(path, pattern) or path.startswith(pattern + "/")]
            check(found, package, "wants what is not there:", line)
            for path in found:
                owners[path].append(package)
    equal({path: names for path, names in owners.items() if len(names) != 1}, {}, "files of no package, or of several")


@test()
def debian_asks_for_what_a_build_needs_and_has_its_version():
    setup = read(ROOT, "tools", "setup.sh")
    needed = set(re.search(r"BUILD_PACKAGES=\((.*?)\)", setup, re.S)[1].split())
    # dpkg's own build tools, what debhelper brings, and what only tests need.
    needed -= {"gcc", "libc6-dev", "ninja-build", "libcmocka-dev"}
    field = re.search(r"^Build-Depends: (.*?)^\S", read(ROOT, "debian", "control"), re.S | re.M)[1]
    asked = {re.match(r"[\w.+-]+", one.strip())[0] for one in field.split(",")}
    equal(asked - {"debhelper-compat", "dh-sequence-installsysusers", "dh-sequence-python3"}, needed, "Build-Depends, and tools/setup.sh")
    version = re.search(r"^    version: '(.*)'", read(ROOT, "meson.build"), re.M)[1]
    check(read(ROOT, "debian", "changelog").startswith(f"hopsight ({version}) "), "debian/changelog is of another version")


@test()
def an_upgrade_goes_on_where_systemd_refuses_to_reload(workspace):
    """The script runs before debhelper's parts are added, and with programs of a test."""
    script, folder = workspace.path("postinst"), workspace.path("bin")
    os.mkdir(folder)
    for name, line in (("systemctl", "echo \"$0 $*\"; echo refused >&2; exit 1"), ("deb-systemd-invoke", f"echo \"$*\" >{folder}/asked")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{line}\n")
        os.chmod(os.path.join(folder, name), 0o700)
    with open(script, "w", encoding="utf-8") as file:
        file.write(read(ROOT, "debian", "hopsight.postinst").replace("/run/systemd/system", folder))
    done = subprocess.run(["sh", script, "configure", "1.0"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    equal((done.returncode, done.stdout), (0, ""), done.stderr)
    equal(read(folder, "asked"), "try-restart hopsightd@*.service\n", "what is started again")


@test()
def what_the_page_of_operating_copies_is_in_a_package_that_the_page_installs():
    page = read(ROOT, "docs", "operating.md")
    said = " ".join(line.partition("#")[0] for line in re.findall(r"^apt-get install (.*)$", page, re.M))
    copied = re.findall(r"^cp (?:-\w+ )?/(usr/\S+)", page, re.M)
    check(copied, "the page copies nothing")
    for path in copied:
        owners = [os.path.basename(name).removesuffix(".install") for name in glob.glob(ROOT + "/debian/*.install")
                  if any(path.startswith(line.split()[0]) for line in read(name).splitlines())]
        equal(len(owners), 1, path)
        check(f"../{owners[0]}_" in said, path, "is in", owners, "and not in", said)


def shown(page):
    """Returns what man(1) shows of a page, in one line. A warning is an error."""
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "1000", "MAN_KEEP_FORMATTING": ""},
                          check=False)
    equal((done.returncode, done.stderr), (0, ""), page)
    return " ".join(re.sub(".\b", "", done.stdout).split())


def options_of(*words):
    """Returns the options in a help text."""
    return set(re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)", run(os.path.join(netlab.BUILD, "apps", words[0]), *words[1:], "--help"),
                          re.M))


def verbs_of_hopsight():
    text = run(PROGRAM, "--help")
    lines = text.split("Verbs:\n")[1].split("\n\n")[0].splitlines()
    return [re.match(r"  ([a-z][\w-]*(?: [a-z][\w-]*)?)(?= |$)", line).group(1) for line in lines
            if not line.startswith("   ")]


@test()
def no_line_of_help_is_wider_than_80_columns():
    programs = [os.path.basename(page)[:-2] for page in PAGES if not page.endswith(".5")]
    check(len(programs) > 5, programs)
    for words in [[name] for name in programs] + [["hopsight", "help", *verb.split()] for verb in verbs_of_hopsight()]:
        text = run(os.path.join(netlab.BUILD, "apps", words[0]), *words[1:], *(["--help"] if len(words) == 1 else []))
        wide = [line for line in text.splitlines() if len(line) > 80]
        check(text and not wide, words, wide)


@test()
def each_option_and_each_verb_stands_on_a_manual_page_without_warnings(workspace):
    need("man", "mandoc", "groff")
    folder = os.path.join(netlab.BUILD, "tools", "pages")
    _, prefix = installed(workspace)
    for page in PAGES:
        path = os.path.join(prefix, "share", "man", page)
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", path], capture_output=True, text=True, check=False)
        equal((done.returncode, done.stdout), (0, ""), page)
        done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z", path], capture_output=True, text=True, check=False)
        equal((done.returncode, done.stderr), (0, ""), f"{page} without a program that reads UTF-8 before groff")
        text = shown(path)
        name, section = os.path.basename(page).rsplit(".", 1)
        check(f"NAME {name} - " in text, text[:200])
        if section == "5":
            continue
        missing = [option for option in options_of(name) if not re.search(rf" {option}[ ,]", text)]
        check(len(options_of(name)) > 4 and not missing, name, missing)
        check("EXIT STATUS 0 done" in text, name)
    text = shown(os.path.join(folder, "hopsight.1"))
    verbs = verbs_of_hopsight()
    check({"hello", "rule add", "qos", "call"} <= set(verbs), verbs)
    for verb in verbs:
        check(f" {verb} hopsight {verb}" in text, verb, "has no section")
        for option in options_of("hopsight", *verb.split()):
            check(f" {option} " in text, verb, option)


def schema_keys(schema):
    """Yields the names of all keys of a schema that hold no other keys."""
    inner = schema.get("items", schema)
    for name, value in inner.get("properties", {}).items():
        found = list(schema_keys(value))
        yield from found or [name]
    if isinstance(inner.get("additionalProperties"), dict):
        yield from schema_keys(inner["additionalProperties"])


@test()
def each_key_of_a_configuration_stands_on_a_page_of_section_5(workspace):
    need("man")
    _, prefix = installed(workspace)
    for page, schema in (("hopsight", "node"), ("hopsight-controller", "controller"), ("hopsight-collector", "collector")):
        text = shown(os.path.join(prefix, "share", "man", "man5", page + ".json.5"))
        keys = set(schema_keys(json.loads(read(ROOT, "docs", "schema", schema + ".json"))))
        check(len(keys) > 30, keys)
        missing = [key for key in keys if not re.search(rf"[ .]{key} (A|An|One of|true or false|auto)\b", text)]
        equal(missing, [], f"keys that {page}.json(5) does not explain")
    # The bounds are the schema's, the default and the meaning are the document's.
    text = shown(os.path.join(prefix, "share", "man", "man5", "hopsight.json.5"))
    check("ports[].mtu An integer from 1280 to 9216. Default: 1500. 1280 to 9216: the node's own limit for IPv6 packets."
          in text, text[:3000])


def complete(line, **environment):
    """Returns what bash offers at the end of a line."""
    program = os.path.basename(line.split()[0])
    script = (f"source {netlab.BUILD}/tools/pages/{program}; COMP_LINE={shlex.quote(line)}; COMP_POINT=${{#COMP_LINE}}; "
              "_hopsight; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={**os.environ, **environment},
                          check=False)
    equal(done.stderr, "", line)
    return sorted(done.stdout.split())


def press_tab(line, environment):
    """Types a line and a tab into a real bash. Returns the line that bash makes of it."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
    said = b""

    def read_until(mark):
        nonlocal said
        while mark not in said:
            check(select.select([terminal], [], [], 10)[0], "bash says", said)
            said += os.read(terminal, 4096)

    program = os.path.basename(line.split()[0])
    os.write(terminal, f"bind 'set enable-bracketed-paste off'; source {netlab.BUILD}/tools/pages/{program}; PS1=; "
                       "echo rea\"\"dy\n".encode())
    read_until(b"ready\r\n")
    said = b""
    os.write(terminal, line.encode() + b"\t\x01echo \x05\n")  # Ctrl-A goes to the begin of the line
    read_until(b"\n" + line.split()[0].encode())
    read_until(b"\r\n")
    os.write(terminal, b"exit\n")
    os.waitpid(child, 0)
    os.close(terminal)
    return said.decode().split("\n")[-2].strip()


@test()
def completion_knows_verbs_options_and_what_a_node_has(workspace):
    need("bash")
    if not os.path.exists(os.path.join(netlab.BUILD, "tools", "pages", "hopsight")):
        raise Skip("this build has no completion")
    words = {verb.split()[0] for verb in verbs_of_hopsight()} | {"help"}
    equal(complete(PROGRAM + " "), sorted(words), "verbs")
    equal(complete(PROGRAM + " rule "), sorted(v.split()[1] for v in verbs_of_hopsight() if v.startswith("rule ")), "rule")
    equal(complete(PROGRAM + " help neighbour l"), ["list"], "verbs to explain")
    equal(complete(PROGRAM + " rule add --proto "), ["any", "icmp", "tcp", "udp"], "protocols")
    check("--setting" in complete(PROGRAM + " rule add --se"), "options of a verb")
    check("--connect" in complete(PROGRAM + " --c"), "options of all verbs")
    equal(complete(PROGRAM + " -j events --si"), ["--since"], "behind another option")
    equal(complete(PROGRAM + " rule set 7 transmit"), ["transmit_report="], "keys")
    equal(complete(PROGRAM + " rule set 7 transmit_report=t"), ["true"], "value of a key")
    equal(complete(PROGRAM + " rule add --mode=f"), ["frequency"], "value behind =")
    equal(complete(os.path.join(netlab.BUILD, "apps", "hopsight-lab") + " check clock-step-b"),
          ["clock-step-back-1h", "clock-step-back-36s"], "scenarios")
    equal(complete(os.path.join(netlab.BUILD, "apps", "hopsightd") + " --print"), ["--print-config"], "daemon")
    equal(complete(f"{PROGRAM} call {ROOT}/config/fir"), [f"{ROOT}/config/first.json"], "files")
    equal(complete(PROGRAM + " rule show ", HOPSIGHT_ENDPOINT="ipc:///nobody.api"), [], "without a node")

    chain = Chain(workspace, 1)
    chain.start()
    node = chain.nodes[0]
    for ns_id in (7, 70, 8):
        node.call("int_request", **rule(ns_id, "2001:db8::1", "2001:db8::2", dst_port=ns_id))
    there = {"HOPSIGHT_ENDPOINT": node.api}
    equal(complete(PROGRAM + " rule show ", **there), ["7", "70", "8"], "rules")
    equal(complete(PROGRAM + " qos 7", **there), ["7", "70"], "rules that begin so")
    equal(complete(f"{PROGRAM} -c {node.api} rule del 8"), ["8"], "rules of a node that the line names")
    socket = node.api.removeprefix("ipc://")
    equal(complete(f"{PROGRAM} -c {socket[:-2]}"), [socket], "the socket of a node")
    ports = sorted(port["name"] for port in node.call("ports_get")["ports"])
    equal(complete(PROGRAM + " route add ::/0 --port ", **there), ports, "ports")
    line = f"{PROGRAM} -c {node.api} route add ::/0 --port "
    equal(press_tab(line + "w", {**os.environ, "TERM": "dumb", "HISTFILE": ""}), line + "west", "a tab")


@test(limit_s=60)
def completion_runs_and_offers_nothing_that_a_shell_would_run(workspace):
    need("bash")
    if not os.path.exists(os.path.join(netlab.BUILD, "tools", "pages", "hopsight")):
        raise Skip("this build has no completion")
    hurt = workspace.path("hurt")
    nasty = [f"$(touch {hurt})", f"`touch {hurt}`", f"x;touch {hurt}", f"$[$(touch {hurt})]", f"*|touch {hurt}", "~root", "a b",
             f"<(touch {hurt})", "{x,y}", "$HOME", "'", "\\", "a\nb", "-x\x1b[2J", "", "über=1", "ok-1_2.3:4/5%6@7+8"]
    rows = [{"name": name, "ns_id": name, "prefix": name, "addr": name, "node_id": 1} for name in nasty]
    node = FakeNode(workspace, **{verb: {"ok": {member: rows, "count": 1}} for verb, member in (
        ("int_list", "rules"), ("ports_get", "ports"), ("route_list", "routes"), ("neighbour_list", "neighbours"),
        ("node_get", "nodes"))})
    good = nasty[-1]
    for line in ("rule show ", "route add ::/0 --port ", "route del ", "neighbour del ", "rule add --on ", "rule add --on="):
        equal(complete(f"{PROGRAM} -c {node.endpoint} {line}"), [good], line)
        equal(complete(f"{PROGRAM} -c {node.endpoint} {line}ok"), [good], line)
        equal(complete(f"{PROGRAM} -c {node.endpoint} {line}$"), [], line)
    for word in (f"--connect={node.endpoint}", f"-c{node.endpoint}"):
        equal(complete(f"{PROGRAM} {word} rule show "), [good], "an endpoint in one word")
    for name, script in (("hopsight-lab", "print(json.dumps([{'name': n} for n in names]))"),
                         ("hopsight-bench", "print(*names, sep='\\n')")):
        path = workspace.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/usr/bin/python3\nimport json\nnames = {nasty!r}\n{script}\n")
        os.chmod(path, 0o700)
        found = complete(f"{path} run " if name == "hopsight-lab" else f"{path} ")
        check(good in found and not any(set(word) & set("$`;|<>(){}*'\\ ~\x1b") for word in found), name, found)
    line = f"{PROGRAM} -c {node.endpoint} route add ::/0 --port "
    equal(press_tab(line, {**os.environ, "TERM": "dumb", "HISTFILE": ""}), line + good, "a tab")
    check(not os.path.exists(hurt), "a command of an answer ran")


@test(limit_s=90)
def memory_is_within_what_the_document_plans(workspace):
    need()
    measured = json.loads(run("/usr/bin/python3", os.path.join(ROOT, "tools", "sizing.py"), "--json", "--rules", "20000",
                              "--flows", "100"))
    rows = re.findall(r"^\| `(\w+)`: .*\| ([\d,]+) \| ([\d,]+) \|$", read(ROOT, "docs", "operating.md"), re.M)
    planned = {name: int(plan.replace(",", "")) for name, _, plan in rows}
    equal(sorted(planned), sorted(measured), "rows of the document, and of the tool")
    for name, plan in planned.items():
        check(measured[name] <= plan, name, "takes", measured[name], "planned", plan)
    check(min(measured[name] for name in ("node", "client", "rule_place", "rule_in_state", "monitored_flow")) > 0, measured)


if __name__ == "__main__":
    main()
