# SPDX-License-Identifier: BSD-3-Clause
"""Ports that vanish, processes that are told to end, and wrong configurations."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import frames as fr
import netlab
from lib import (Chain, Host, InNamespace, Node, RawPort, audit_ok, check, equal, iface, main, need,
                 pings, ports, rule, run, test, until, veth)

SO_NETNS_COOKIE = 71
A, B = "2001:db8::1", "2001:db8::2"


@test(path=True, looks=3, apart=True)
def a_node_ends_within_two_seconds_of_sigterm_with_exit_code_0_under_traffic(workspace):
    need("ping")
    chain = Chain(workspace, nodes=2).start()
    chain.install(rule(1, A, B, "icmp"))
    ping = chain.hosts[0].spawn("ping", "-q", "-i", "0.002", B, log="ping.log")
    until(lambda: chain.nodes[1].call("int_get", ns_id=1)["counters"]["reports_made"] > 50, 5,
          "reports come")
    for node in chain.nodes:
        code, took = node.stop()
        equal(code, 0, "exit code")
        check(took < 2, f"{node.name} took {took:.1f} s")
    ping.send_signal(signal.SIGINT)


@test()
def a_memif_client_waits_for_its_server_and_finds_it_again_after_it_was_killed(workspace):
    need("ping")
    chain = Chain(workspace, nodes=2)
    server, client = chain.nodes

    def reaches():
        done = subprocess.run(["ip", "netns", "exec", chain.hosts[0].namespace, "ping", "-q", "-c",
                               "3", "-i", "0.02", "-W", "1", B], capture_output=True, text=True,
                              check=False)
        return " 0% packet loss" in done.stdout

    def told(kind):
        kinds = [e["kind"] for e in client.call("events", since=0)["events"] if "port" in e]
        return kinds and kinds[-1] == kind

    client.start()
    equal([p["link_up"] for p in client.call("ports_get")["ports"]], [False, True], "no server")
    server.start()
    until(reaches, 10, "the link comes up though the client was first")
    until(lambda: told("port_up"), 3, "that is told")

    server.process.kill()
    server.process.wait()
    until(lambda: told("port_down"), 5, "the loss is told")
    server.start()  # replaces the socket that the killed one left
    until(reaches, 10, "the link comes up again")
    until(lambda: told("port_up"), 3, "that is told, too")
    audit_ok(*chain.nodes)


def three_ports(workspace):
    """A bridge node with three hosts; its ports are p1 to p3."""
    namespace = workspace.namespace("n1")
    hosts = [Host(workspace, f"host{i}", f"2001:db8::{i}") for i in (1, 2, 3)]
    listed = []
    for i, host in enumerate(hosts, 1):
        veth(host.namespace, "eth0", namespace, f"p{i}")
        host.configure()
        listed.append(iface(f"p{i}", f"p{i}", "host"))
    node = Node(workspace, 1, listed, namespace, forwarding={"mode": "bridge"})
    return node, hosts


@test(path=True)
def a_port_that_vanishes_is_noticed_within_a_second_and_taken_again_when_it_is_back(workspace):
    need("ping")
    node, hosts = three_ports(workspace)
    node.start()
    ping = ("ping", "-q", "-c", "5", "-i", "0.02", "-W", "1")
    pings(hosts[0], 5, "-i", "0.02", hosts[1].address)

    run("ip", "-n", node.namespace, "link", "del", "p3")
    begin = time.monotonic()
    until(lambda: "p3" in json.dumps([e for e in node.call("events", since=0)["events"]
                                      if "gone" in json.dumps(e)]), 3,
          lambda: f"an event says that the port is gone: {node.call('events', since=0)}")
    noticed = time.monotonic() - begin
    check(noticed < 1, f"noticed after {noticed:.2f} s")
    pings(hosts[0], 5, "-i", "0.02", hosts[1].address)  # the others go on

    veth(hosts[2].namespace, "eth0", node.namespace, "p3")
    hosts[2].configure()

    def back():
        done = subprocess.run(["ip", "netns", "exec", hosts[0].namespace, *ping[:-2],
                               "-W", "1", hosts[2].address], capture_output=True, text=True,
                              check=False)
        return " 0% packet loss" in done.stdout

    until(back, 10, "the port that came back carries traffic")
    told = [e["kind"] for e in node.call("events", since=0)["events"] if e.get("port") == "p3"]
    told = told[told.index("port_gone"):]
    check(told in (["port_gone", "port_back", "port_up"], ["port_gone", "port_back"]), told)
    audit_ok(node)
    return f"noticed after {1000 * noticed:.0f} ms"


@test(path=True)
def a_bridge_of_kernel_hosts_carries_ipv4(workspace):
    need("ping")
    node, hosts = three_ports(workspace)
    node.start()
    for i, host in enumerate(hosts, 1):
        run("ip", "-n", host.namespace, "addr", "add", f"192.0.2.{i}/24", "dev", "eth0")
    for host, target in ((hosts[0], 2), (hosts[1], 3), (hosts[2], 1)):  # ARP is flooded, the rest is not
        for size in ("56", "4000"):
            pings(host, 10, "-i", "0.01", "-s", size, f"192.0.2.{target}")
    audit_ok(node)


@test(path=True)
def a_bridge_floods_learns_and_never_lets_telemetry_out_to_a_host(workspace):
    need()
    node, hosts = three_ports(workspace)
    node.start()
    node.call("int_request", **rule(7, hosts[0].address, hosts[1].address))
    raw = [RawPort(host.namespace, "eth0") for host in hosts]

    def frame(source, destination, payload, destination_mac=None):
        return fr.udp_frame(hosts[source].address, hosts[destination].address, 4000, 5001, payload,
                            source=fr.mac(hosts[source].mac),
                            destination=destination_mac or fr.mac(hosts[destination].mac))

    broadcast = frame(0, 1, b"to all" * 10, b"\xff" * 6)
    raw[0].send(broadcast)
    for port in raw[1:]:
        equal(port.collect(1, 3, lambda f: f == broadcast), [broadcast], "a flooded copy")
    raw[1].send(frame(1, 0, b"here I am" * 10))
    check(raw[0].collect(1, 3, lambda f: b"here I am" in f), "to a host that was learned")
    check(not raw[2].collect(1, 0.2, lambda f: b"here I am" in f), "and to no other")
    known = [frame(0, 1, bytes([i]) * 64) for i in range(20)]
    raw[0].send(*known)
    equal(raw[1].collect(20, 3, lambda f: f in known), known, "frames")
    check(not raw[2].collect(1, 0.2, lambda f: f in known), "flooded although it was learned")
    audit_ok(node)


@test(path=True)
def a_flooded_packet_reaches_network_and_host_sides_without_telemetry(workspace):
    need()
    node, hosts = three_ports(workspace)
    node.config["ports"][1]["side"] = "network"
    node.start()
    node.call("int_request", **rule(7, hosts[0].address, hosts[1].address))
    raw = [RawPort(host.namespace, "eth0") for host in hosts]
    unknown = fr.udp_frame(hosts[0].address, hosts[1].address, 4000, 5001, b"unknown" * 9,
                           source=fr.mac(hosts[0].mac), destination=fr.mac("02:00:00:00:00:99"))
    raw[0].send(unknown)
    for port in raw[1:]:
        equal(port.collect(1, 3, lambda f: f[:6] == unknown[:6]), [unknown], "a flooded copy")
    counters = node.call("int_get", ns_id=7)["counters"]
    equal((counters["rx_packets"], counters["tx_packets"]), (1, 1), "a flooded packet counts once")
    audit_ok(node)


@test(path=True)
def packets_larger_than_a_ports_buffers_are_counted_and_their_cause_is_said(workspace):
    need()
    node, hosts = three_ports(workspace)
    node.start()
    for namespace, interface in ((hosts[0].namespace, "eth0"), (node.namespace, "p1")):
        run("ip", "-n", namespace, "link", "set", interface, "mtu", "9000")
    raw = RawPort(hosts[0].namespace, "eth0")
    huge = fr.udp_frame(hosts[0].address, hosts[1].address, 4000, 5001, b"x" * 5000,
                        source=fr.mac(hosts[0].mac), destination=fr.mac(hosts[1].mac))

    def told():
        return [e for e in node.call("events", since=0)["events"] if e["kind"] == "port_rx_errors"]

    raw.send(*[huge] * 3)
    until(lambda: ports(node)["p1"]["rx_errors"] == 3, 3, "they are counted")
    until(told, 3, "an event says so")
    raw.send(*[huge] * 4)  # reported again after a minute
    until(lambda: ports(node)["p1"]["rx_errors"] == 7, 3, "the others are counted, too")
    equal(len(told()), 1, "events")
    equal(told()[0]["port"], "p1", "the port")
    for words in ("above its mtu", "segments within a tunnel", "p1"):
        check(words in told()[0]["message"], told())
        check(words in node.log(), node.log())
    equal(ports(node)["p2"]["rx_errors"], 0, "of another port")
    audit_ok(node)


@test()
def a_second_node_on_an_interface_is_refused_and_leaves_the_first_alone(workspace):
    need("ping")
    first, hosts = three_ports(workspace)
    first.start()
    second = Node(workspace, 2, [iface("a", "p2", "host"), iface("b", "p1", "host")],
                  first.namespace, forwarding={"mode": "bridge"})
    second.launch()
    equal(second.process.wait(20), 3, f"exit code: {second.log_tail(3)}")
    check("ports[0].iface: interface p2 is in use by another node" in second.log(), second.log())

    ping = pings(hosts[0], 5, "-i", "0.02", hosts[1].address)
    check("duplicates" not in ping, ping)
    equal(run("ip", "netns", "exec", first.namespace, "sysctl", "-n",
              "net.ipv6.conf.p2.disable_ipv6").strip(), "1", "IPv6 of the interface")

    first.process.kill()  # a killed process leaves no claim
    first.process.wait()
    workspace.at_close.clear()
    second.start()


@test(path=True)
def packets_for_a_link_that_is_down_are_told_from_those_for_a_full_queue(workspace):
    need()
    chain = Chain(workspace, nodes=1)
    node = chain.nodes[0]
    socket = workspace.path("m.sock")
    node.config["ports"][1] = {"name": "east", "side": "network", "devargs":
                               f"net_memif0,role=server,socket={socket},socket-abstract=no"}
    node.start()
    equal(ports(node)["east"]["link_up"], False, "memif without its other end")
    raw = RawPort(chain.hosts[0].namespace, "eth0")
    frame = fr.udp_frame(A, B, 4000, 5001, b"x" * 100)
    raw.send(*[frame] * 5)
    until(lambda: ports(node)["east"]["drops"]["port_down"] >= 5, 3,
          lambda: f"refused for want of a link: {ports(node)['east']}")
    equal(ports(node)["east"]["drops"]["tx_full"], 0, "for want of room")
    audit_ok(node)


@test(path=True)
def packets_for_an_interface_without_carrier_count_as_port_down(workspace):
    need()
    node, hosts = three_ports(workspace)
    node.start()
    run("ip", "-n", hosts[1].namespace, "link", "set", "eth0", "down")
    until(lambda: not ports(node)["p2"]["link_up"], 3, "the loss of the carrier is noticed")
    before = ports(node)["p2"]
    raw = RawPort(hosts[0].namespace, "eth0")
    raw.send(*[fr.udp_frame(hosts[0].address, hosts[1].address, 4000, 5001, b"x" * 100,
                            source=fr.mac(hosts[0].mac), destination=b"\xff" * 6)] * 5)
    until(lambda: ports(node)["p2"]["drops"]["port_down"] - before["drops"]["port_down"] >= 5, 3,
          lambda: f"refused for want of a link: {ports(node)['p2']}")
    equal(ports(node)["p2"]["tx_packets"], before["tx_packets"], "sent")
    for _ in range(3):  # a count of the kernel alone is believed when it lasts
        equal(ports(node)["p2"]["tx_errors"], before["tx_errors"], "lost by the device")
    audit_ok(node)


@test()
def an_interface_is_given_back_as_it_was_found(workspace):
    need("ethtool")
    chain = Chain(workspace, nodes=1)
    node = chain.nodes[0]

    def state():
        ipv6 = run("ip", "netns", "exec", node.namespace, "sysctl", "-n",
                   "net.ipv6.conf.west.disable_ipv6").strip()
        lines = run("ip", "netns", "exec", node.namespace, "ethtool", "-k", "west").splitlines()
        return ipv6, [l for l in lines if l.startswith(("generic-receive", "large-receive"))]

    run("ip", "netns", "exec", node.namespace, "ethtool", "-K", "west", "gro", "on")
    before = state()
    chain.start()
    during = state()
    equal(during[0], "1", "IPv6 of the interface while the node has it")
    check("generic-receive-offload: off" in during[1], during)
    equal(node.stop()[0], 0, "exit code")
    equal(state(), before, "afterwards")
    for words in ("interface west: IPv6 disabled, GRO switched off", "west: interface west on af_packet",
                  "interface west: settings restored"):
        check(f"notice port: {words}" in node.log(), f"{words} is not in: {node.log()}")


def settings_of(node, interface="west"):
    """Returns the settings that a node changes on an interface."""
    ipv6 = run("ip", "netns", "exec", node.namespace, "sysctl", "-n",
               f"net.ipv6.conf.{interface}.disable_ipv6").strip()
    lines = run("ip", "netns", "exec", node.namespace, "ethtool", "-k", interface).splitlines()
    flags = json.loads(run("ip", "-n", node.namespace, "-j", "link", "show", interface))[0]["flags"]
    return (ipv6, *[l for l in lines if l.startswith(("generic-receive", "large-receive"))],
            "UP" in flags)


def kept_files(node):
    """Returns the files with the settings of interfaces of the node's namespace."""
    folder = "/run/hopsight"
    with InNamespace(node.namespace), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        cookie = one.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
    start = f"interface-{int.from_bytes(cookie, sys.byteorder)}-"
    return {os.path.join(folder, name) for name in os.listdir(folder)
            if name.startswith(start)} if os.path.isdir(folder) else set()


def kill(node):
    node.client.close()
    node.process.kill()
    node.process.wait()
    node.workspace.at_close.remove(node._stop_at_close)  # pylint: disable=protected-access


@test(apart=True)
def an_interface_is_given_back_by_the_node_after_one_that_was_killed(workspace):
    need("ethtool")
    chain = Chain(workspace, nodes=1)
    node = chain.nodes[0]
    run("ip", "netns", "exec", node.namespace, "ethtool", "-K", "west", "gro", "on")
    run("ip", "-n", node.namespace, "link", "set", "west", "down")
    before = settings_of(node)
    for _ in range(3):
        node.start()
        during = settings_of(node)
        check(during[0] == "1" and "generic-receive-offload: off" in during, during)
        check(during[-1], "it is up")
        mine = kept_files(node)
        equal(len(mine), 2, "files, of west and of east")
        for name in mine:
            equal(os.stat(name).st_mode & 0o777, 0o600, name)
        kill(node)
        equal(settings_of(node), during, "after kill -9")
        equal(kept_files(node), mine, "files after kill -9")
    node.start()
    check("left as an earlier node had changed it" in node.log(), node.log())
    equal(node.stop()[0], 0, "exit code")
    equal(settings_of(node), before, "in the end")
    equal(kept_files(node), set(), "files in the end")


@test(apart=True)
def a_kept_setting_is_believed_of_the_very_interface_and_in_a_whole_file_only(workspace):
    need("ethtool")
    chain = Chain(workspace, nodes=1)
    node, host = chain.nodes[0], chain.hosts[0]
    before = settings_of(node)
    check(before[0] == "0", "IPv6 at first")
    node.start()
    kill(node)
    west = next(name for name in kept_files(node) if name.endswith("-west"))
    with open(west, encoding="ascii") as f:
        right = f.read()
    for text in ("", right[:-5], right.replace("gro", "grow"), right + "more", "\0" * 100,
                 right.replace("disable_ipv6 0", "disable_ipv6 77")):
        with open(west, "w", encoding="ascii") as f:
            f.write(text)
        node.start()
        check(f"{west} is damaged and is ignored" in node.log_tail(20), node.log_tail(20))
        kill(node)
    with open(west, "w", encoding="ascii") as f:
        f.write(right)
    os.chmod(west, 0o666)
    node.start()
    check(f"{west} is not a file that only this user can write" in node.log_tail(20),
          node.log_tail(20))
    kill(node)

    # An interface that was deleted and created again is another one, even with the same name.
    with open(west, "w", encoding="ascii") as f:
        f.write(right)
    run("ip", "-n", node.namespace, "link", "delete", "west")
    veth(host.namespace, "eth0", node.namespace, "west")
    run("ip", "netns", "exec", node.namespace, "sysctl", "-qw",
        "net.ipv6.conf.west.disable_ipv6=1")
    anew = settings_of(node)
    node.start()
    equal(node.stop()[0], 0, "exit code")
    equal(settings_of(node), anew, "of the new interface")
    equal(kept_files(node), set(), "files in the end")


@test()
def an_address_on_an_interface_is_warned_of_at_the_start(workspace):
    need()
    node, _ = three_ports(workspace)
    for address in ("192.0.2.7/24", "2001:db8::7/64"):
        run("ip", "-n", node.namespace, "address", "add", address, "dev", "p2")
    node.start()
    for words in ("interface p2 has the address 192.0.2.7: the kernel answers for it, too",
                  "interface p2 has the address 2001:db8::7: the kernel loses it"):
        check(f"warning port: {words}" in node.log(), f"{words} is not in: {node.log()}")
    check("interface p1 has" not in node.log(), node.log())
    equal(run("ip", "-n", node.namespace, "-6", "address", "show", "dev", "p2").strip(), "",
          "addresses of IPv6 while the node has the interface")


def check_config(workspace, config):
    path = workspace.path("checked.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write(config if isinstance(config, str) else json.dumps(config))
    return subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsightd"), "--config", path,
                           "--check"], capture_output=True, text=True, check=False, timeout=20)


@test()
def every_example_configuration_passes_the_check():
    folder = os.path.join(netlab.ROOT, "config")
    names = sorted(n for n in os.listdir(folder) if n.endswith(".json"))
    check(names, "no example in config/")
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            keys = json.load(f)
        program = "hopsight-controller" if "controller" in keys else "hopsightd" if "node" in keys \
            else "hopsight-collector"
        done = subprocess.run([os.path.join(netlab.BUILD, "apps", program), "--config",
                               os.path.join(folder, name), "--check"], capture_output=True,
                              text=True, check=False, timeout=20)
        equal(done.returncode, 0, f"{name}: {done.stderr}")
    return f"{len(names)} files"


def checked(workspace, program, config):
    path = workspace.path(f"{program}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(config, f)
    done = subprocess.run([os.path.join(netlab.BUILD, "apps", program), "--config", path, "--check"],
                          capture_output=True, text=True, check=False, timeout=20)
    return done.returncode, done.stdout, done.stderr.replace(path, "FILE").splitlines()


@test()
def the_check_tells_all_errors_of_a_file(workspace):
    port = {"name": "a", "devargs": "net_ring0", "side": "host"}
    for program, config, paths in (
            ("hopsightd", {"node": {"id": 70000, "colour": 1}, "polling": "often", "memori": {},
                           "ports": [{**port, "side": "left", "mtu": 7}, {"name": 5}],
                           "telemetry": {"clock": "gps"}},
             ["memori", "node.colour", "node.id", "polling", "ports[0].side", "ports[0].mtu",
              "ports[1].name", "ports[1].side", "ports[1]", "forwarding.pairs", "telemetry.clock"]),
            ("hopsightd", {"node": {"id": 1}, "control_core": 1023,
                           "ports": [port, {**port, "devargs": "net_ring1"}, {"name": "b", "side": "host"}],
                           "control": {"bind": ["ipc://x"]}},
             ["control_core", "control.bind[0]", "ports[1].name", "ports[2]", "forwarding.pairs"]),
            ("hopsightd", {"node": {"id": 1}, "ports": [port], "forwarding": {"mode": "bridge", "pairs": [["a", "a"]]},
                           "telemetry": {"in_band": {"ports": ["z"]}}},
             ["forwarding.pairs", "telemetry.in_band.ports[0]"]),
            ("hopsight-controller", {"nodes": [{"name": "n", "id": 1}, {"name": "o", "id": "x", "api": ""}],
                                     "paths": [{"name": "p", "nodes": ["m"]}], "sandbox": 1},
             ["nodes[0].api", "nodes[1].id", "nodes[1].api", "paths[0].nodes[0]", "sandbox"]),
            # The content of requests and routes is read as all else.
            ("hopsightd", {"node": {"id": "x"}, "ports": [port],
                           "forwarding": {"mode": "route", "routes": [{"prefix": "no"}, {"prefix": "::/0", "mac": 1}],
                                          "neighbours": [{}]},
                           "requests": [{"int_request": {"src_ip": "x", "ns_id": 0}}, {"int_delte": {}}, 5]},
             ["node.id", "forwarding.routes[0].prefix", "forwarding.routes[1].mac",
              *("forwarding.neighbours[0]." + key for key in ("addr", "port", "mac")),
              *("requests[0].int_request." + key for key in ("src_ip", "ns_id", "dst_ip", "protocol", "mode", "mode_setting")),
              "requests[1].int_delte", "requests[2]"]),
            ("hopsightd", {"node": {"id": 1}, "ports": [port], "forwarding": {"mode": "bridge"},
                           "requests": [{"int_delete": {"ns_id": 7}}, {"route_delete": {"prefix": "::/0"}}]},
             ["requests[0].int_delete.ns_id", "requests[1].route_delete"]),
            ("hopsight-controller", {"nodes": [{"name": "n", "id": 1, "api": "x"}], "sandbox": 1,
                                     "requests": [{"int_request": {"ns_id": 1}}, {"int_update": {"mode": "x"}}]},
             ["sandbox", *("requests[0].int_request." + key for key in ("src_ip", "dst_ip", "protocol", "mode", "mode_setting")),
              "requests[1].int_update.ns_id", "requests[1].int_update.mode"]),
            # What follows from a value that could not be read is no error of its own.
            ("hopsightd", {"node": {"id": 1}, "ports": [port],
                           "profiles": {"p": {"method": "int", "version": "3.0"},
                                        "q": {"method": "itn", "version": "2.1"}}},
             ["profiles.p.version", "profiles.q.method", "forwarding.pairs"]),
            ("hopsight-controller", {"nodes": [{"id": 1, "api": "x"}, {"id": 2, "api": "y"},
                                               {"name": "long" * 100, "id": 3, "api": "z"}],
                                     "paths": [{"name": "p", "nodes": ["long" * 100]}]},
             ["nodes[0].name", "nodes[1].name", "nodes[2].name"]),
            ("hopsight-controller", {"nodes": [{"name": "n", "id": 1, "api": "x"}, {"name": "o", "id": 2, "api": "y"}],
                                     "control": {"bind": ["z", "ipc:///a"], "publish_bind": ["tcp://*:9"]}},
             ["control.bind[0]", "control.publish_bind[0]", "nodes[0].api", "nodes[1].api"]),
            ("hopsight-collector", {"name": "c", "workers": [0, 1],
                                    "control": {"bind": ["ipc://x"]}},
             ["workers", "listen", "control.bind[0]"])):
        code, said, errors = checked(workspace, program, config)
        equal((code, said), (2, ""), errors)
        for path in paths:
            check(any(line.startswith(f"FILE:{path}: ") for line in errors), path, errors)
        equal(len(errors), len(paths), errors)
    many = {"node": {"id": 1, **{f"key{i}": 1 for i in range(40)}}}
    errors = checked(workspace, "hopsightd", many)[2]
    equal((len(errors), errors[-1]), (17, "FILE: 24 more errors"), "a file with many errors")


@test()
def the_check_says_ok_and_looks_for_what_the_file_names(workspace):
    here = workspace.path("here")
    os.mkdir(here, 0o700)
    port = {"name": "a", "iface": "lo", "side": "host"}
    base = {"node": {"id": 1, "name": "x"}, "forwarding": {"mode": "bridge"}}
    good = {**base, "ports": [port], "control": {"bind": [f"ipc://{here}/deep/x.api"]},
            "state": {"file": f"{here}/x.state"}}
    wrong = {**base, "ports": [{**port, "iface": "nosuch0"},
                               {"name": "b", "pci": "0000:ff:1f.7", "side": "host"}],
             "control": {"bind": ["ipc:///proc/version/x.api"], "publish_bind": [f"ipc://{here}/p"]},
             "state": {"file": f"{here}/missing/x.state"}}
    brief = [name.removeprefix("0000:") for name in os.listdir("/sys/bus/pci/devices") if name.startswith("0000:")][:1]
    good["ports"] += [{"name": "b", "pci": name, "side": "host"} for name in brief]
    odd = {**good, "ports": [port, *({"name": "c", "pci": "0:" + name.replace("0", "", 1), "side": "host"} for name in brief)]}
    nodes = {"nodes": [{"name": "n", "id": 1, "api": "ipc:///n"}]}
    for program, config, lacks in (
            ("hopsightd", good, []),
            ("hopsightd", odd, []),
            ("hopsightd", wrong, ["ports[0].iface: \"nosuch0\" is no interface here",
                                  "ports[1].pci: \"0000:ff:1f.7\" is no PCI device here",
                                  "control.bind[0]: \"/proc/version\" is not a folder",
                                  f"state.file: \"{here}/missing\" cannot be used: No such file"]),
            ("hopsight-controller", {**nodes, "control": good["control"]}, []),
            ("hopsight-controller", {**nodes, "state": wrong["state"]}, ["state.file: "]),
            ("hopsight-controller", {**nodes, "state": {"file": here}}, [f"state.file: \"{here}\" is a folder"]),
            ("hopsightd", {**good, "state": {"file": here}, "control": {"bind": [f"ipc://{here}"]}},
             [f"control.bind[0]: \"{here}\" is a folder", f"state.file: \"{here}\" is a folder"]),
            ("hopsight-collector", {"listen": [{"udp": "127.0.0.1:9"}], "control": good["control"]}, []),
            ("hopsight-collector", {"listen": [{"udp": "127.0.0.1:9"}], "control": wrong["control"]},
             ["control.bind[0]: "])):
        code, said, errors = checked(workspace, program, config)
        equal((code, errors), (0, []), f"{program}: {said}")
        first, *rest = said.splitlines()
        equal(first.endswith(".json: ok, but this machine lacks what it names" if lacks else ".json: ok"),
              True, said)
        equal(len(rest), len(lacks), said)
        for line, expected in zip(rest, lacks):
            check(line.strip().startswith(expected), expected, said)
        check(not os.path.exists(f"{here}/deep"), "the check made a folder")


WRONG = [
    ("{", None),
    ({"node": {"id": 70000}}, "node.id"),
    ({"nodes": {}}, "nodes"),
    ({"ports": [{"name": "a", "iface": "x", "side": "left"}]}, "ports[0].side"),
    ({"ports": [{"name": "a", "iface": "x", "side": "host", "colour": 1}]}, "ports[0].colour"),
    ({"ports": [{"name": "a", "iface": "x", "side": "host"}],
      "forwarding": {"mode": "patch", "pairs": [["a", "b"]]}}, "pairs"),
    ({"requests": [{"int_request": {"ns_id": 0}}]}, "ns_id"),
]


@test()
def a_wrong_configuration_is_refused_with_code_2_and_the_path_of_the_mistake(workspace):
    good = Node(workspace, 1, [iface("a", "x", "host"), iface("b", "y", "network")]).config
    equal(check_config(workspace, good).returncode, 0, "the good one")
    for change, path in WRONG:
        wrong = change if isinstance(change, str) else {**good, **change}
        done = check_config(workspace, wrong)
        equal(done.returncode, 2, f"{change}: {done.stderr}")
        check(path is None or path in done.stderr, f"{path} is not in: {done.stderr}")


@test()
def a_port_that_is_not_there_ends_the_start_with_code_3(workspace):
    need()
    node = Node(workspace, 1, [iface("a", "nosuch0", "host"), iface("b", "nosuch1", "network")])
    node.launch()
    workspace.at_close.clear()
    equal(node.process.wait(20), 3, f"exit code: {node.log_tail(3)}")
    check("nosuch0" in node.log(), node.log())


if __name__ == "__main__":
    sys.exit(main())
