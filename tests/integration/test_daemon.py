# SPDX-License-Identifier: BSD-3-Clause
"""The process around a node: its files, its service manager, DPDK's telemetry, its end."""

import ctypes
import json
import os
import platform
import signal
import socket
import struct
import subprocess

import netlab
from lib import Chain, Skip, Subscriber, check, equal, main, need, pings, ring_node, rule, test, until

A, B = "2001:db8::1", "2001:db8::2"
_SCHED_GETATTR = {"x86_64": 315}.get(platform.machine(), 275)


def daemon(*words, **kwargs):
    return subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsightd"), *words],
                          capture_output=True, text=True, check=False, timeout=40, **kwargs)


def first_worker(process):
    """Returns the thread's number and the fields of its stat behind the name."""
    for task in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{task}/stat", encoding="ascii") as f:
            name, rest = f.read().split("(")[1].rsplit(")", 1)
        if name == "rte-worker-1":
            return int(task), rest.split()
    return None


def scheduling_of_worker(process):
    """Returns what the kernel says of the first worker's thread: nice, real-time priority, policy."""
    _, fields = first_worker(process)
    return int(fields[16]), int(fields[37]), int(fields[38])


def slice_ns(task):
    """Returns the slice of a thread, 0 before Linux 6.12."""
    attr = ctypes.create_string_buffer(48)
    check(ctypes.CDLL(None).syscall(_SCHED_GETATTR, task, attr, len(attr), 0) == 0, "sched_getattr")
    return struct.unpack("=IIQiIQQQ", attr.raw)[5]


@test()
def a_worker_has_shorter_slices_than_control(workspace):
    for scheduling, nice in (({}, os.nice(0)), ({"nice": -5}, -5)):
        node = ring_node(workspace, worker_scheduling=scheduling).start()
        task, fields = first_worker(node.process)
        if slice_ns(node.process.pid):
            check(0 < slice_ns(task) <= 100000 < slice_ns(node.process.pid), slice_ns(task))
        equal(int(fields[16]), nice, "nice")
        node.stop()


def cpu_latency_us():
    """Returns what the kernel says of the demands of all processes."""
    with open("/dev/cpu_dma_latency", "rb") as device:
        return struct.unpack("=i", device.read(4))[0]


@test()
def a_node_holds_its_demand_on_idle_cores_while_it_runs(workspace):
    if not os.path.exists("/dev/cpu_dma_latency"):
        raise Skip("this kernel has no /dev/cpu_dma_latency")
    before = cpu_latency_us()
    for demanded in (20, 0):
        node = ring_node(workspace, cpu_latency_us=demanded).start()
        equal(cpu_latency_us(), min(before, demanded), "while the node runs")
        equal(node.call("node_get").get("cpu_latency_us"), demanded, "node_get")
        node.stop()
        equal(cpu_latency_us(), before, "after its end")
    node = ring_node(workspace).start()
    equal((cpu_latency_us(), node.call("node_get").get("cpu_latency_us")), (before, None), "without a demand")
    node.stop()


# A /dev with the devices that every program needs, then a program.
_BARE_DEV = """set -e
mkdir -p dev
mount -t tmpfs none dev
cp -a /dev/null /dev/zero /dev/random /dev/urandom dev
if [ "$1" = there ]; then mknod -m 600 dev/cpu_dma_latency c 10 259; fi
mount --move dev /dev
shift
exec "$@"
"""


@test()
def a_demand_on_idle_cores_that_cannot_be_made_is_refused(workspace):
    need("unshare", "setpriv")
    config = ring_node(workspace, cpu_latency_us=0).write_config()
    words = [os.path.join(netlab.BUILD, "apps", "hopsightd"), "--config", config, "--log-json"]
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    folder = os.path.dirname(config)
    os.chmod(folder, 0o777)
    for device, as_user, reason in (("missing", [], "No such file or directory"),
                                    ("there", user, "Permission denied")):
        refused = subprocess.run(["unshare", "--mount", "sh", "-c", _BARE_DEV, "sh", device, *as_user, *words],
                                 cwd=folder, env={**os.environ, "XDG_RUNTIME_DIR": folder}, check=False,
                                 capture_output=True, text=True, timeout=40)
        equal(refused.returncode, 1, refused.stderr)
        said = json.loads(refused.stderr.splitlines()[-1])
        equal(said["message"], f"cpu_latency_us: /dev/cpu_dma_latency: {reason} "
              "(allowed: a device that this process may write, or no cpu_latency_us)", said)


@test()
def a_worker_is_scheduled_as_the_configuration_says(workspace):
    for scheduling, shown, seen in (
            ({}, None, (os.nice(0), 0, os.SCHED_OTHER)),
            ({"nice": -5}, {"class": "normal", "nice": -5}, (-5, 0, os.SCHED_OTHER)),
            ({"class": "rr"}, {"class": "rr", "priority": 10}, (os.nice(0), 10, os.SCHED_RR)),
            ({"class": "fifo", "priority": 3}, {"class": "fifo", "priority": 3},
             (os.nice(0), 3, os.SCHED_FIFO))):
        node = ring_node(workspace, worker_scheduling=scheduling).start()
        said = node.call("node_get")
        equal(said.get("worker_scheduling"), shown, "node_get")
        equal("sys_nice" in said["sandbox"]["capabilities"], shown is not None, "CAP_SYS_NICE")
        equal(scheduling_of_worker(node.process), seen, scheduling)
        node.stop()


@test()
def scheduling_that_is_configured_overrides_what_the_process_inherits(workspace):
    need("nice", "chrt")
    program = os.path.join(netlab.BUILD, "apps", "hopsightd")
    high, low = (["nice", "-n", str(nice - os.nice(0))] for nice in (5, -5))
    for words, scheduling, seen in (
            (high, {}, (5, 0, os.SCHED_OTHER)),
            (high, {"class": "normal"}, (0, 0, os.SCHED_OTHER)),
            (high, {"nice": 0}, (0, 0, os.SCHED_OTHER)),
            (low, {"nice": 2}, (2, 0, os.SCHED_OTHER)),
            (["chrt", "--rr", "7"], {"class": "normal"}, (0, 0, os.SCHED_OTHER)),
            (["chrt", "--batch", "0"], {"nice": 3}, (3, 0, os.SCHED_OTHER)),
            (["nice", "-n", str(-os.nice(0)), "chrt", "--rr", "7"], {"class": "fifo"},
             (0, 10, os.SCHED_FIFO))):
        node = ring_node(workspace, worker_scheduling=scheduling)
        node.process = workspace.spawn([*words, program, "--config", node.write_config()],
                                       log=f"{node.name}.log", env={**os.environ})
        node.wait_ready()
        equal(scheduling_of_worker(node.process), seen, f"{words} and {scheduling}")
        node.stop()


@test()
def scheduling_that_the_process_may_not_have_is_refused(workspace):
    need("setpriv", "prlimit")
    without = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
    program = os.path.join(netlab.BUILD, "apps", "hopsightd")
    for scheduling in ({"class": "rr"}, {"nice": -1}):
        node = ring_node(workspace, worker_scheduling=scheduling)
        refused = subprocess.run([*without, program, "--config", node.write_config()], check=False,
                                 capture_output=True, text=True, timeout=40)
        equal(refused.returncode, 1, refused.stderr)
        check("worker_scheduling: the kernel refuses" in refused.stderr and
              "CAP_SYS_NICE" in refused.stderr, refused.stderr)
    if subprocess.run(["prlimit", "--rtprio=10", "true"], check=False).returncode != 0:
        return "refused; no limit can be raised here"
    node = ring_node(workspace, worker_scheduling={"class": "rr"})
    node.process = workspace.spawn(["prlimit", "--rtprio=10", *without, program, "--config",
                                    node.write_config()], log=f"{node.name}.log", env={**os.environ})
    node.wait_ready()
    equal(scheduling_of_worker(node.process), (0, 10, os.SCHED_RR), "by the limit")
    node.stop()
    node = ring_node(workspace, worker_scheduling={"nice": -5})
    node.process = workspace.spawn(["prlimit", "--nice=25", *without, program, "--config",
                                    node.write_config()], log=f"{node.name}.log", env={**os.environ})
    node.wait_ready()
    equal(scheduling_of_worker(node.process), (-5, 0, os.SCHED_OTHER), "by the limit of nice")
    node.stop()
    return "refused, and allowed by a limit"


class Telemetry:
    """Speaks to DPDK's own socket as dpdk-telemetry.py does."""

    def __init__(self, node):
        prefix = f"hopsight-{node.config['node']['name']}"
        base = os.environ.get("RUNTIME_DIRECTORY", "/var/run")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(5)
        self.socket.connect(f"{base}/dpdk/{prefix}/dpdk_telemetry.v2")
        self.greeting = json.loads(self.socket.recv(1024))

    def ask(self, command):
        self.socket.send(command.encode())
        return json.loads(self.socket.recv(16384))[command.split(",")[0]]


@test()
def what_the_file_requests_is_in_force_when_the_node_answers(workspace):
    need()
    rules = [rule(n, A, B, dst_port=n) for n in (5, 6)]
    node = ring_node(workspace, requests=[{"int_request": r} for r in rules]).start()
    equal([r["ns_id"] for r in node.call("int_list")["rules"]], [5, 6], "rules")


@test()
def the_printed_configuration_is_one_that_says_the_same(workspace):
    node = ring_node(workspace)
    first = daemon("--config", node.write_config(), "--print-config")
    equal(first.returncode, 0, first.stderr)
    path = workspace.path("printed.json")
    with open(path, "w", encoding="ascii") as f:
        f.write(first.stdout)
    equal(daemon("--config", path, "--print-config").stdout, first.stdout, "printed twice")


@test()
def a_process_that_may_use_one_core_alone_runs_on_it_and_refuses_others(workspace):
    need()
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    node = ring_node(workspace)
    for key in ("workers", "control_core"):
        node.config.pop(key, None)
    node.start()
    got = node.call("node_get")
    equal((got["worker_cores"], got["control_core"]), ([core], core), "cores")
    check(f"worker 0 shares core {core} with control" in node.log(), node.log())
    node.config["workers"] = [core + 1]
    for words in (["--check"], []):
        done = daemon("--config", node.write_config(), *words)
        equal(done.returncode, 2, done.stderr)
        check(f"workers[0]: this process has no core {core + 1}" in done.stderr, done.stderr)


@test()
def bad_usage_ends_with_code_2(workspace):
    node = ring_node(workspace)
    for words in ([], ["--no-such-option"], ["--config", node.write_config(), "-l", "0"],
                  ["--config", workspace.path("missing.json")]):
        done = daemon(*words)
        equal(done.returncode, 2, words)
        check(done.stderr.strip(), words, "said nothing")
    for words, expected in (
            ((node.write_config(),), "hopsightd: unexpected word '{}'; the configuration comes after --config\n"),
            (("--chek",), "hopsightd: --chek is not an option; did you mean --check? (see --help)\n"),
            (("--conf=x", "--frobnicate=1"), "hopsightd: --frobnicate is not an option (see --help)\n"),
            (("-x",), "hopsightd: -x is not an option (see --help)\n"),
            (("--check=yes",), "hopsightd: --check takes no value (see --help)\n"),
            (("--ver",), "hopsightd: --ver can mean --verbose and --version (see --help)\n"),
            (("--config", "--check"), "hopsightd: --config needs a value (see --help)\n"),
            (("--config", "-v"), "hopsightd: --config needs a value (see --help)\n"),
            (("--config",), "hopsightd: --config needs a value (see --help)\n")):
        equal(daemon(*words).stderr, expected.format(*words), words)


@test()
def a_device_that_dpdk_cannot_open_is_explained_in_lines_of_one_kind(workspace):
    need()
    for device, words in (
            ("net_nosuch0", 'DPDK has no driver for "net_nosuch0"'),
            ("net_pcap0,rx_pcap=/nonexistent/x.pcap", "/x.pcap: No such file or directory"),
            ("net_pcap0,colour=red", '"net_pcap0,colour=red" cannot be opened')):
        node = ring_node(workspace)
        node.config["ports"][1]["devargs"] = device
        done = daemon("--config", node.write_config(), "--log-json")
        equal(done.returncode, 3, f"{device}: {done.stderr}")
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        check(words in lines[-1]["message"], lines)
        check("ports[1].devargs" in lines[-1]["message"], lines)
        check(any(line["module"] == "dpdk" for line in lines), lines)


@test()
def a_start_names_every_interface_that_is_not_there(workspace):
    need()
    node = ring_node(workspace)
    node.config["ports"] += [{"name": f"x{i}", "iface": f"nosuch{i}", "side": "host"} for i in range(20)]
    done = daemon("--config", node.write_config(), "--log-json")
    equal(done.returncode, 3, done.stderr)
    said = [json.loads(line)["message"] for line in done.stderr.splitlines()]
    first = len(node.config["ports"]) - 20
    equal([line for line in said if "is no interface here" in line],
          [f'ports[{first + i}].iface: "nosuch{i}" is no interface here' for i in range(20)], said)


@test()
def dpdk_says_nothing_of_a_start_without_faults_and_more_where_it_is_asked_to(workspace):
    need()
    node = ring_node(workspace)
    node.config["ports"][1]["devargs"] = (
        f"net_memif0,role=server,socket={workspace.path('m.sock')},socket-abstract=no")
    node.start()
    equal([line for line in node.log().splitlines() if " daemon: " not in line
           and " port: " not in line], [], "lines of others")
    node.stop()
    node.config["node"]["name"] += "-b"
    path = workspace.path("bad.json")
    node.config["ports"][1]["devargs"] = "net_nosuch0"
    with open(path, "w", encoding="ascii") as f:
        json.dump(node.config, f)
    done = daemon("--config", path, "--", "--log-level=lib.eal:debug")
    check(" notice dpdk: EAL: " in done.stderr, done.stderr)


@test()
def a_node_whose_environment_does_not_start_says_why_and_ends(workspace):
    node = ring_node(workspace)
    done = daemon("--config", node.write_config(), "--", "--no-such-option")
    equal(done.returncode, 1, f"exit code: {done.stderr}")
    check("DPDK's environment did not start" in done.stderr, done.stderr)


@test()
def the_file_may_be_named_by_the_environment(workspace):
    node = ring_node(workspace)
    env = dict(os.environ, HOPSIGHT_CONFIG=node.write_config())
    equal(daemon("--check", env=env).returncode, 0, "exit code")


@test()
def a_second_node_on_the_same_endpoint_is_refused_and_the_first_lives_on(workspace):
    need()
    first = ring_node(workspace).start()
    other = ring_node(workspace)
    other.config["node"]["name"] += "-b"
    path = workspace.path("other.json")
    with open(path, "w", encoding="ascii") as f:
        json.dump(other.config, f)
    done = daemon("--config", path)
    equal(done.returncode, 1, done.stderr)
    check("control.bind[0]" in done.stderr, done.stderr)
    first.call("hello")


@test()
def the_service_manager_hears_when_the_node_is_ready_and_when_it_stops(workspace):
    need()
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.settimeout(netlab.START_LIMIT_S)
    manager.bind(workspace.path("notify"))
    os.environ["NOTIFY_SOCKET"] = workspace.path("notify")
    node = ring_node(workspace).start()
    equal(manager.recv(100), b"READY=1", "at the start")
    node.stop()
    equal(manager.recv(100), b"STOPPING=1", "at the end")


@test()
def every_stop_signal_ends_the_node_with_code_0(workspace):
    need()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        node = ring_node(workspace).start()
        node.client.close()
        node.process.send_signal(number)
        equal(node.process.wait(5), 0, number)


@test()
def dpdks_telemetry_shows_the_numbers_of_the_api(workspace):
    need("ping")
    chain = Chain(workspace, nodes=1).start()
    node = chain.nodes[0]
    chain.install(*[rule(n, A, B, "icmp" if n == 1 else "udp", dst_port=0 if n == 1 else n)
                    for n in range(1, 41)])
    pings(chain.hosts[0], 20, "-q", "-i", "0.01", B)
    telemetry = Telemetry(node)
    for port in node.call("ports_get")["ports"]:
        shown = telemetry.ask("/hopsight/ports")[port["name"]]
        for key in ("rx_packets", "tx_packets", "rx_bytes", "mtu"):
            equal(shown[key], port[key], f"{port['name']} {key}")
        equal(set(telemetry.ask("/hopsight/drops")[port["name"]]), set(port["drops"]), "drops")
    page = telemetry.ask("/hopsight/rules")
    equal(page["count"], 40, "rules")
    equal(page["ns_1"]["rx_packets"], 20, "packets of the rule")
    rest = telemetry.ask(f"/hopsight/rules,{page['next']}")
    names = [name for name in {**page, **rest} if name.startswith("ns_")]
    equal(len(names), 40, "rules on both pages")
    check("next" not in rest, rest)
    info = telemetry.ask("/hopsight/info")
    equal(info["boot_id"], node.call("hello")["boot_id"], "boot id")
    until(lambda: telemetry.ask("/hopsight/info")["rules"] == 40, 3, "totals follow")
    check(telemetry.ask("/hopsight/lcores")["worker0"]["rx_packets"] >= 40, "worker's packets")
    check("synchronised" in telemetry.ask("/hopsight/clock"), "clock")


@test()
def the_last_windows_and_reports_are_published_before_the_end(workspace):
    need("ping")
    chain = Chain(workspace, nodes=2).start()
    chain.install(rule(1, A, B, "icmp"))
    sink = chain.nodes[1]
    subscriber = Subscriber(sink.publisher, "")
    subscriber.wait_connected(sink)
    chain.hosts[0].run("ping", "-q", "-c", "10", "-i", "0.002", B)
    made = 10  # ping may end before the last reply is there
    until(lambda: sink.call("int_get", ns_id=1)["counters"]["reports_made"] == made, 5, "reports")
    code, _ = sink.stop()
    equal(code, 0, "exit code")
    messages = []
    while (message := subscriber.receive(0.5)) is not None:
        messages.append(message)
    equal(sum(1 for topic, _ in messages if topic == "report.1"), made, "reports heard")
    windows = [body["qos_report"] for topic, body in messages if topic == "qos.1"]
    check(any(w["window_ns"] == 60000000000 and w["reports"] == made for w in windows), windows)
    sequence = [list(body.values())[0]["seq"] for _, body in messages]
    equal(sequence, list(range(sequence[0], sequence[0] + len(sequence))), "no gap in seq")


if __name__ == "__main__":
    main()
