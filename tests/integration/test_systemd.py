# SPDX-License-Identifier: BSD-3-Clause
"""The installed units under a real systemd, which confines them for real: tests/integration/test_install.py
only reads them."""

import json
import os
import re

from booted_machine import Machine
from lib import Skip, check, equal, main, need, need_af_xdp, netlab, test, until
from workspace import run

_PROGRAM = "/usr/local/bin/hopsight"


def installed_machine(workspace):
    """A machine with what `meson install` puts there, and with users and folders of systemd's own."""
    need("unshare", "nsenter", "systemctl")
    if not os.path.exists(os.path.join(netlab.BUILD, "tools", "pages", "hopsight.1")):
        raise Skip("this build has no manual pages")
    machine = Machine(workspace)
    run("meson", "install", "-C", netlab.BUILD, "--no-rebuild", "--destdir", machine.root)
    machine.run("systemd-sysusers")
    machine.run("systemd-tmpfiles", "--create", "/usr/local/lib/tmpfiles.d/hopsight.conf")
    machine.run("systemctl", "daemon-reload")
    return machine


def node(name, node_id, sides):
    return json.dumps({
        "node": {"id": node_id, "name": name}, "memory": {"rules": 1024, "mbufs": 4096}, "workers": [0],
        "ports": [{"name": side, "iface": f"{name}-{side}", "side": side} for side in sides],
        "forwarding": {"mode": "patch", "pairs": [list(sides)]},
        "state": {"file": f"/var/lib/hopsight/{name}.state"}})


def lay_cables(machine):
    """Two hosts and two nodes in a row: west's node is called west, east's east."""
    for name, number in (("west", 1), ("east", 2)):
        machine.run("ip", "netns", "add", name)
        machine.run("ip", "link", "add", f"{name}-host", "type", "veth", "peer", "name", "eth0", "netns", name)
        machine.run("ip", "-n", name, "addr", "add", f"2001:db8::{number}/64", "dev", "eth0", "nodad")
        machine.run("ip", "-n", name, "link", "set", "eth0", "up")
    machine.run("ip", "link", "add", "west-network", "type", "veth", "peer", "name", "east-network")


def hosts_meet(machine):
    return machine.ask("ip", "netns", "exec", "west", "ping", "-c", "3", "-i", "0.05", "-W", "1", "2001:db8::2").returncode == 0


def ask(machine, name, *words):
    done = machine.ask(_PROGRAM, "-c", f"ipc:///run/hopsight/{name}.api", "--json", *words)
    return json.loads(done.stdout) if done.returncode == 0 else None


def status(machine, pid):
    text = machine.run("cat", f"/proc/{pid}/status")
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def journal(machine, unit):
    return machine.run("journalctl", "--no-pager", "--output=cat", f"--unit={unit}")


@test(limit_s=120)
def units_of_two_nodes_carry_packets_and_come_back_with_their_state(workspace):
    need("ping")
    machine = installed_machine(workspace)
    lay_cables(machine)
    units = {name: f"hopsightd@{name}.service" for name in ("west", "east")}
    machine.write("/etc/hopsight/west.json", node("west", 1, ("host", "network")))
    machine.write("/etc/hopsight/east.json", node("east", 2, ("network", "host")))
    machine.run("systemctl", "start", *units.values())  # returns when both have said that they are ready
    until(lambda: hosts_meet(machine), 10, "hosts meet through both nodes")

    machine.run(_PROGRAM, "-c", "ipc:///run/hopsight/west.api", "rule", "add", "--ns", "7", "--src", "2001:db8::1",
                "--dst", "2001:db8::2", "--every", "1")
    check(hosts_meet(machine), "pings with telemetry")
    until(lambda: ask(machine, "west", "rule", "show", "7")["counters"]["tx_packets"] >= 3, 5, "the rule counts the pings")
    for name in units:
        audit = ask(machine, name, "audit")
        check(audit and audit["ok"], name, audit)

    # What the unit gives up is given up: systemd's part before the node's own.
    pid = machine.unit(units["west"], "MainPID")["MainPID"]
    held = status(machine, pid)
    equal((held["NoNewPrivs"], held["Seccomp"]), ("1", "2"), "of the node")
    equal(int(held["CapBnd"], 16) & ~(1 << 12 | 1 << 13), 0, "capabilities but CAP_NET_ADMIN and CAP_NET_RAW")

    # A dead node is started again, and keeps its rule.
    machine.run("kill", "-KILL", pid)

    def another():
        now = machine.unit(units["west"], "MainPID", "ActiveState", "NRestarts")
        return now["ActiveState"] == "active" and now["MainPID"] != pid and now

    again = until(another, 20, lambda: f"a new process: {journal(machine, units['west'])}")
    equal(again["NRestarts"], "1", "starts after a failure")
    equal(ask(machine, "west", "rule", "show", "7")["state"]["origin"], "state", "origin of the rule")
    until(lambda: hosts_meet(machine), 10, "hosts meet again")

    # A stop ends at once, gives the interface back and leaves no failure.
    before = machine.run("cat", "/proc/sys/net/ipv6/conf/east-host/disable_ipv6").strip()
    machine.run("systemctl", "stop", *units.values())
    equal(machine.unit(units["east"], "ActiveState", "Result"), {"ActiveState": "inactive", "Result": "success"}, "of a stopped node")
    equal((before, machine.run("cat", "/proc/sys/net/ipv6/conf/east-host/disable_ipv6").strip()), ("1", "0"), "IPv6 off, with and without node")
    check("ready: node 1 'west'" in journal(machine, units["west"]), journal(machine, units["west"]))


@test(limit_s=120)
def a_wrong_configuration_is_not_started_again_and_again(workspace):
    machine = installed_machine(workspace)
    unit = "hopsightd@west.service"
    machine.write("/etc/hopsight/west.json", '{"node": {"id": 1, "name": "west"}, "prots": []}')
    check(machine.ask("systemctl", "start", unit).returncode != 0, "a wrong configuration started")
    found = machine.unit(unit, "ActiveState", "NRestarts")
    equal(found, {"ActiveState": "failed", "NRestarts": "0"}, journal(machine, unit))
    check("prots" in journal(machine, unit), journal(machine, unit))


@test(limit_s=120)
def controller_and_collector_run_as_a_user_of_their_own(workspace):
    machine = installed_machine(workspace)
    sockets = {name: f"/run/hopsight-{name}/{name}.api" for name in ("controller", "collector")}
    machine.write("/etc/hopsight/controller.json", json.dumps({
        "nodes": [{"id": 1, "name": "west", "api": "tcp://127.0.0.1:5555"}], "control": {"bind": ["ipc://" + sockets["controller"]]}}))
    machine.write("/etc/hopsight/collector.json", json.dumps({
        "name": "c1", "listen": [{"udp": "127.0.0.1:32766"}], "control": {"bind": ["ipc://" + sockets["collector"]]}}))
    for name, socket in sockets.items():
        unit = f"hopsight-{name}.service"
        done = machine.ask("systemctl", "start", unit)
        check(done.returncode == 0, done.stderr, journal(machine, unit))
        pid = machine.unit(unit, "MainPID")["MainPID"]
        equal(machine.run("ps", "-o", "user=", "-p", pid).strip(), "hopsight", f"user of the {name}")
        equal(int(status(machine, pid)["CapBnd"], 16), 0, f"capabilities of the {name}")
        hello = json.loads(machine.run(_PROGRAM, "-c", socket, "--json", "hello"))
        check(hello["version"], hello)
        machine.run("systemctl", "stop", unit)
        equal(machine.unit(unit, "ActiveState", "Result"), {"ActiveState": "inactive", "Result": "success"}, f"of the stopped {name}")


def drop_in_of_packet_sockets():
    with open(os.path.join(netlab.ROOT, "docs", "controller.md"), encoding="utf-8") as file:
        return re.search(r"^```ini\n(\[Service\]\n.*?)^```$", file.read(), re.M | re.S).group(1)


@test(limit_s=120)
def a_controller_with_the_documented_drop_in_reads_an_interface(workspace):
    machine = installed_machine(workspace)
    unit, socket = "hopsight-controller.service", "/run/hopsight-controller/controller.api"
    machine.run("ip", "link", "add", "read0", "type", "veth", "peer", "name", "sent0")
    for iface in ("read0", "sent0"):
        machine.run("ip", "link", "set", iface, "up")
    machine.write("/etc/hopsight/controller.json", json.dumps({
        "nodes": [], "control": {"bind": ["ipc://" + socket]},
        "label": {"capture": [{"iface": "read0", "format": "prototype"}]}}))
    machine.run("mkdir", f"/etc/systemd/system/{unit}.d")
    machine.write(f"/etc/systemd/system/{unit}.d/packets.conf", drop_in_of_packet_sockets())
    machine.run("systemctl", "daemon-reload")
    done = machine.ask("systemctl", "start", unit)
    check(done.returncode == 0, done.stderr, journal(machine, unit))
    held = status(machine, machine.unit(unit, "MainPID")["MainPID"])
    equal([int(held[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")], [0] * 4, "capabilities that are left")
    machine.run("/usr/bin/python3", "-c", "import socket; s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); "
                "s.bind(('sent0', 0)); s.send(bytes(12) + b'\\x07\\x01' + bytes(50))")

    def frames():
        return json.loads(machine.run(_PROGRAM, "-c", "ipc://" + socket, "--json", "label"))["counters"]["frames"]

    until(lambda: frames() == 1, 5, "the frame")
    machine.run("systemctl", "stop", unit)


def drop_in_of(subject):
    """Returns the lines that the page of operating asks for."""
    with open(os.path.join(netlab.ROOT, "docs", "operating.md"), encoding="utf-8") as file:
        lines = re.search(rf"^\| `{subject}` \| (`.*`) \|$", file.read(), re.M).group(1)
    return "[Service]\n" + "\n".join(re.findall(r"`([^`]+)`", lines)) + "\n"


@test(limit_s=120)
def a_node_with_the_documented_drop_in_has_ports_of_af_xdp(workspace):
    need_af_xdp()
    machine = installed_machine(workspace)
    lay_cables(machine)
    config = json.loads(node("west", 1, ("host", "network")))
    for port in config["ports"]:
        port["driver"] = "af_xdp"
    machine.write("/etc/hopsight/hopsightd.json", json.dumps(config))
    machine.run("mkdir", "/etc/systemd/system/hopsightd.service.d")
    machine.write("/etc/systemd/system/hopsightd.service.d/xdp.conf", drop_in_of("af_xdp"))
    machine.run("systemctl", "daemon-reload")
    done = machine.ask("systemctl", "start", "hopsightd.service")
    check(done.returncode == 0, done.stderr, journal(machine, "hopsightd.service"))
    equal([port["driver"] for port in ask(machine, "west", "ports")["ports"]], ["net_af_xdp"] * 2, "drivers")
    machine.run("systemctl", "stop", "hopsightd.service")


if __name__ == "__main__":
    main()
