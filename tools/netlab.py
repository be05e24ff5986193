# SPDX-License-Identifier: BSD-3-Clause
"""Hosts, links and Hopsight nodes in network namespaces, for the demonstration and the tests."""

import contextlib
import json
import os
import signal
import subprocess
import time

import zmq
import zmq.auth

from workspace import run

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("HOPSIGHT_BUILD", os.path.join(ROOT, "build"))
# A sanitizer build starts slowly on a busy machine.
START_LIMIT_S = 40


class Refused(Exception):
    """The node refused a request; .error is the reply's error object."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')} {error.get('path')}: {error.get('message')}")
        self.error = error


def use_keys(sock, secret, server):
    """Makes a pyzmq socket a client with NAME.secret, of the server whose NAME.pub is `server`."""
    sock.curve_publickey, sock.curve_secretkey = zmq.auth.load_certificate(secret)
    sock.curve_serverkey, _ = zmq.auth.load_certificate(server)


class Client:
    """Sends requests to one node over a plain REQ socket; with `keys`, use_keys' two files, over
    CURVE."""

    def __init__(self, endpoint, limit_s=5, keys=None):
        self.endpoint = endpoint
        self.keys = keys
        self.limit_ms = int(limit_s * 1000)
        self.socket = None

    def _open(self):
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.linger = 0
        self.socket.rcvtimeo = self.socket.sndtimeo = self.limit_ms
        if self.keys:
            use_keys(self.socket, *self.keys)
        self.socket.connect(self.endpoint)

    def raw(self, message):
        """Sends one message as bytes. Returns the reply as bytes. Raises zmq.Again if none comes in
        time."""
        if self.socket is None:
            self._open()
        try:
            self.socket.send(message)
            return self.socket.recv()
        except zmq.ZMQError:
            self.close()
            raise

    def call(self, verb, **arguments):
        reply = json.loads(self.raw(json.dumps({verb: arguments}).encode()))
        if "ok" not in reply:
            raise Refused(reply.get("error", reply))
        return reply["ok"]

    def transaction(self, requests):
        """Sends a transaction, all or nothing. Returns the list of `ok` objects."""
        reply = json.loads(self.raw(json.dumps(requests).encode()))
        if isinstance(reply, list):
            for one in reply:
                if "error" in one:
                    raise Refused(one["error"])
            return [one["ok"] for one in reply]
        if "ok" not in reply:
            raise Refused(reply.get("error", reply))
        return reply["ok"]

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None


@contextlib.contextmanager
def paused(process):
    """A child process does nothing meanwhile. A signal only asks the kernel to stop a process, and its threads may run
    on for milliseconds."""
    process.send_signal(signal.SIGSTOP)
    try:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        yield
    finally:
        process.send_signal(signal.SIGCONT)


class Node:
    """One hopsightd with its configuration file, log and client."""

    def __init__(self, workspace, node_id, ports, namespace=None, name=None, **config):
        self.workspace = workspace
        self.name = name or f"n{node_id}"
        self.namespace = namespace
        self.process = None
        self.environment = {}  # in addition to the test's environment
        self.at_start = {}
        self.api = f"ipc://{workspace.path(self.name)}.api"
        self.publisher = f"ipc://{workspace.path(self.name)}.pub"
        memory = {"huge_pages": False, "mbufs": 8192, "rules": 4096, "monitored_rules": 256}
        control = {"bind": [self.api], "publish_bind": [self.publisher]}
        self.config = {
            # EAL's files are named after the node, so two runs at once need different names.
            "node": {"id": node_id, "name": f"{workspace.prefix}-{self.name}"},
            "workers": [1], "control_core": 0, "polling": "adaptive",
            "ports": ports,
            "forwarding": patch([p["name"] for p in ports]),
            **config,
            "memory": {**memory, **config.get("memory", {})},
            "control": {**control, **config.get("control", {})},
        }
        self.client = Client(self.api)

    def write_config(self):
        path = self.workspace.path(f"{self.name}.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(self.config, f, indent=2)
        return path

    def launch(self):
        """Starts the process without waiting for it."""
        program = os.path.join(BUILD, "apps", "hopsightd")
        self.process = self.workspace.spawn([program, "--config", self.write_config()],
                                            namespace=self.namespace, log=f"{self.name}.log",
                                            env={**os.environ, **self.environment})
        self.workspace.at_close.append(self._stop_at_close)

    def wait_ready(self):
        end = time.monotonic() + START_LIMIT_S
        self.client.limit_ms = 250
        while True:
            try:
                self.client.call("hello")
                break
            except zmq.ZMQError:
                if self.process.poll() is not None:
                    raise RuntimeError(f"{self.name} ended with {self.process.returncode}: "
                                       f"{self.log_tail(6)}") from None
                if time.monotonic() > end:
                    raise RuntimeError(f"{self.name} does not answer: {self.log_tail(6)}") from None
        self.client.close()
        self.client.limit_ms = 5000

    def start(self):
        self.launch()
        self.wait_ready()
        return self

    def call(self, verb, **arguments):
        return self.client.call(verb, **arguments)

    def stop(self, limit_s=10):
        """Sends SIGTERM. Returns the exit code and the seconds that the end took."""
        begin = time.monotonic()
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"{self.name} did not end within {limit_s} s of SIGTERM") from None
        return self.process.returncode, time.monotonic() - begin

    def _stop_at_close(self):
        if self.process.poll() is None:
            code, _ = self.stop()
        else:
            code = self.process.returncode
        if code != 0:
            raise RuntimeError(f"{self.name} ended with {code}: {self.log_tail(6)}")

    def log(self):
        with open(self.workspace.path(f"{self.name}.log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def log_tail(self, lines):
        return " | ".join(self.log().splitlines()[-lines:])


def patch(names):
    return {"mode": "patch", "pairs": [names[i:i + 2] for i in range(0, len(names) - 1, 2)]}


def iface(name, interface, side, mtu=1500, **more):
    return {"name": name, "iface": interface, "side": side, "mtu": mtu, **more}


def memif(name, socket, role, number, side="network", mtu=1800, ring=12):
    # The ring has two to the power of `ring` descriptors. 4,096 suffice while the worker is off its
    # core for some milliseconds.
    return {"name": name, "side": side, "mtu": mtu, "devargs":
            f"net_memif{number},role={role},socket={socket},socket-abstract=no,rsize={ring}"}


def pcap(name, number, side, rx=None, tx=None, mtu=9000):
    files = [f"{key}={path}" for key, path in (("rx_pcap", rx), ("tx_pcap", tx)) if path]
    return {"name": name, "side": side, "mtu": mtu,
            "devargs": ",".join([f"net_pcap{number}", *files])}


def veth(a_namespace, a_name, b_namespace, b_name, mtu=1500, offloads=False):
    """Makes a veth pair with one end in each namespace, up. Without offloads, the packet sockets of a test
    see packets as a wire would carry them; with `offloads`, both ends are as Linux makes them."""
    run("ip", "link", "add", a_name, "netns", a_namespace, "mtu", str(mtu), "type", "veth",
        "peer", "name", b_name, "netns", b_namespace, "mtu", str(mtu))
    for namespace, name in ((a_namespace, a_name), (b_namespace, b_name)):
        if not offloads:
            run("ip", "netns", "exec", namespace, "ethtool", "-K", name, "tx", "off", "rx", "off",
                "sg", "off", "tso", "off", "gso", "off", "gro", "off", "rxvlan", "off", "txvlan",
                "off")
        run("ip", "-n", namespace, "link", "set", name, "up")


def mac_of(namespace, name):
    link = json.loads(run("ip", "-j", "-n", namespace, "link", "show", name))
    return link[0]["address"]


class Host:
    """A namespace with one interface and an IPv6 address, like a user's machine."""

    def __init__(self, workspace, name, address):
        self.workspace = workspace
        self.namespace = workspace.namespace(name)
        self.interface = "eth0"
        self.address = address
        for key, value in (("accept_dad", 0), ("accept_ra", 0), ("router_solicitations", 0)):
            run("ip", "netns", "exec", self.namespace, "sysctl", "-qw",
                f"net.ipv6.conf.default.{key}={value}")

    def configure(self):
        """Gives the interface its address. Call this after the interface exists."""
        run("ip", "-n", self.namespace, "addr", "add", f"{self.address}/64", "dev", self.interface,
            "nodad")
        self.mac = mac_of(self.namespace, self.interface)

    def knows(self, other):
        """Adds a fixed neighbour, so that only the test's own packets are on the way."""
        run("ip", "-n", self.namespace, "neigh", "replace", other.address, "lladdr", other.mac,
            "dev", self.interface, "nud", "permanent")

    def spawn(self, *argv, **kwargs):
        return self.workspace.spawn(list(argv), namespace=self.namespace, **kwargs)

    def run(self, *argv):
        return run("ip", "netns", "exec", self.namespace, *argv)


class Chain:
    """host1 - node 1 - node 2 ... node n - host2. Ends are on veth, links on memif or veth. Node i
    works in namespace n<i>; its ports are called west and east."""

    def __init__(self, workspace, nodes=4, link="memif", host_mtu=1500, net_mtu=1800, ring=12,
                 cores=(0, 1), offloads=False, **config):
        self.workspace = workspace
        self.hosts = [Host(workspace, "host1", "2001:db8::1"),
                      Host(workspace, "host2", "2001:db8::2")]
        self.nodes = []
        self._link = link
        self._net_mtu = net_mtu
        self._ring = ring
        namespaces = [workspace.namespace(f"n{i}") for i in range(1, nodes + 1)]
        veth(self.hosts[0].namespace, "eth0", namespaces[0], "west", host_mtu,
             offloads)
        veth(self.hosts[1].namespace, "eth0", namespaces[-1], "east", host_mtu, offloads)
        for host in self.hosts:
            host.configure()
        if link == "veth":
            for left, right in zip(namespaces, namespaces[1:]):
                veth(left, "east", right, "west", net_mtu, offloads)
        for i, namespace in enumerate(namespaces):
            ports = [self._port(i, "west", nodes, host_mtu), self._port(i, "east", nodes, host_mtu)]
            self.nodes.append(Node(workspace, i + 1, ports, namespace, **{
                "workers": [cores[i % len(cores)]], "control_core": cores[(i + 1) % len(cores)],
                **config}))
        for host, other in (self.hosts, self.hosts[::-1]):
            host.knows(other)

    def _port(self, i, name, nodes, host_mtu):
        if (i, name) in ((0, "west"), (nodes - 1, "east")):
            return iface(name, name, "host", host_mtu)
        if self._link == "veth":
            return iface(name, name, "network", self._net_mtu)
        left = i - 1 if name == "west" else i
        return memif(name, self.workspace.path(f"memif{left}.sock"),
                     "server" if name == "east" else "client", 0 if name == "west" else 1,
                     mtu=self._net_mtu, ring=self._ring)

    def add_ipv4(self, profile):
        """Gives the hosts a second interface, eth1, with 192.0.2.1 and 192.0.2.2. A packet between
        these uses separate ports, west4 and east4, which have this profile between nodes."""
        ends = ((self.hosts[0], self.nodes[0], "west4"), (self.hosts[1], self.nodes[-1], "east4"))
        for i, (host, node, name) in enumerate(ends, 1):
            veth(host.namespace, "eth1", node.namespace, name)
            run("ip", "-n", host.namespace, "addr", "add", f"192.0.2.{i}/24", "dev", "eth1")
            host.address_ipv4 = f"192.0.2.{i}"
        for left, right in zip(self.nodes, self.nodes[1:]):
            path = self.workspace.path(f"memif-{left.name}.sock")
            for node, name, role, number in ((left, "east4", "server", 2),
                                             (right, "west4", "client", 3)):
                port = memif(name, path, role, number, mtu=self._net_mtu, ring=self._ring)
                node.config["ports"].append({**port, "profile": "ipv4"})
        for _, node, name in ends:
            node.config["ports"].append(iface(name, name, "host"))
        for node in self.nodes:
            node.config["profiles"] = {"ipv4": profile}
            node.config["forwarding"]["pairs"].append(["west4", "east4"])

    def address_ipv4(self):
        """Gives the hosts 192.0.2.1 and 192.0.2.2 beside their IPv6 addresses, and each the other as a fixed
        neighbour."""
        for i, (host, other) in enumerate((self.hosts, self.hosts[::-1]), 1):
            run("ip", "-n", host.namespace, "addr", "add", f"192.0.2.{i}/24", "dev", host.interface)
            run("ip", "-n", host.namespace, "neigh", "replace", f"192.0.2.{3 - i}", "lladdr", other.mac,
                "dev", host.interface, "nud", "permanent")

    def start(self):
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_ready()
        self._wait_links()
        return self

    def _wait_links(self):
        """Waits until all links are up. A memif link is up at most a second after both its ends exist.
        Before this, the link drops a host's first packets. .at_start has the counters with these
        drops, so that a test can tell them from later ones."""
        end = time.monotonic() + START_LIMIT_S
        while not all(port["link_up"] for node in self.nodes
                      for port in node.call("ports_get")["ports"]):
            if time.monotonic() > end:
                raise RuntimeError("the links between the nodes do not come up")
            time.sleep(0.02)
        for node in self.nodes:
            node.at_start = {port["name"]: port for port in node.call("ports_get")["ports"]}

    def install(self, *rules):
        """Installs the same rules on every node, in one transaction for each node."""
        for node in self.nodes:
            node.client.transaction([{"int_request": rule} for rule in rules])


def rule(ns_id, source, destination, protocol="udp", src_port=0, dst_port=0,
         trace_type="0x7000E000", mode="count", mode_setting=1, **more):
    wants = {} if "instructions" in more else {"trace_type": trace_type}
    return {"ns_id": ns_id, "app_id": 1, "src_ip": source, "dst_ip": destination,
            "src_port": src_port, "dst_port": dst_port, "protocol": protocol,
            **wants, "mode": mode, "mode_setting": mode_setting, **more}
