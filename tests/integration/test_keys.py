# SPDX-License-Identifier: BSD-3-Clause
"""Keys: who may ask a node what, over sockets that others can reach."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys

import zmq
import zmq.auth

from lib import TESTS, check, equal, events, main, need, ring_node, rule, test, until  # first: the path
import netlab
from netlab import Client

A, B = "2001:db8::1", "2001:db8::2"


def command(*words, expected=0, env=None):
    done = subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsight"), *words],
                          capture_output=True, text=True, check=False, timeout=30,
                          env={**os.environ, **(env or {})})
    equal(done.returncode, expected, f"exit code of {words}: {done.stdout} {done.stderr}")
    return done


def daemon(*words):
    return subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsightd"), *words],
                          capture_output=True, text=True, check=False, timeout=40)


class Keys:
    """A folder with the keys of a node, of two allowed clients, and of one other."""

    def __init__(self, workspace):
        self.folder = workspace.path("keys")
        self.allowed = os.path.join(self.folder, "allowed")
        os.makedirs(self.allowed)
        for name in ("node", "operator", "stranger", "controller"):
            command("keygen", name, "--dir", self.folder)
        command("keygen", "viewer", "--dir", self.folder, "--read-only")
        self.allow("operator")
        self.allow("viewer")

    def file(self, name):
        return os.path.join(self.folder, name)

    def allow(self, name):
        shutil.copy(self.file(f"{name}.pub"), self.allowed)

    def forbid(self, name):
        os.unlink(os.path.join(self.allowed, f"{name}.pub"))

    def of(self, name, server="node"):
        """Returns the keys that a client of that name connects with."""
        return self.file(f"{name}.secret"), self.file(f"{server}.pub")

    def words(self, name, server="node"):
        secret, public = self.of(name, server)
        return "--key", secret, "--server-key", public

    def config(self, **more):
        return {"secret": self.file("node.secret"), "allowed": self.allowed, **more}


def node_with_keys(workspace, keys, **control):
    """A node with keys that needs no interfaces. The operator is its client."""
    node = ring_node(workspace, control=control)
    node.config["control"].setdefault("keys", keys.config())
    node.client.keys = keys.of("operator")
    return node


def free_port():
    """Returns a free port on loopback."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@test()
def keygen_makes_a_pair_that_pyzmq_reads_and_replaces_nothing(workspace):
    folder = workspace.path("keys")
    os.makedirs(folder)
    said = command("keygen", "alice", "--dir", folder).stdout
    check("alice.secret" in said and "alice.pub" in said, said)
    secret, public = (os.path.join(folder, f"alice.{kind}") for kind in ("secret", "pub"))
    equal(stat.S_IMODE(os.stat(secret).st_mode), 0o600, "mode of the secret key")
    pair = zmq.auth.load_certificate(secret)
    equal(zmq.curve_public(pair[1]), pair[0], "the keys belong together")
    equal(zmq.auth.load_certificate(public), (pair[0], None), "the public file")
    with open(public, encoding="ascii") as f:
        text = f.read()
    check('role = "read-write"' in text and pair[1].decode() not in text, text)
    check("alice.secret" in command("keygen", "alice", "--dir", folder, expected=1).stderr)
    equal(zmq.auth.load_certificate(secret), pair, "the first pair")
    made = json.loads(command("--json", "keygen", "bob", "--dir", folder, "--read-only").stdout)
    equal(made["role"], "read-only", "role")
    check(os.path.exists(made["secret"]) and os.path.exists(made["public"]), made)
    command("keygen", "../bob", "--dir", folder, expected=2)
    command("keygen", expected=2)


@test()
def every_mistake_with_keys_is_told_with_its_place_by_check(workspace):
    keys = Keys(workspace)
    node = node_with_keys(workspace, keys, bind=["tcp://0.0.0.0:5555"])
    control = node.config["control"]

    def checks(path, says, allowed=""):
        done = daemon("--config", node.write_config(), "--check")
        equal(done.returncode, 2, f"exit code: {done.stderr}")
        check(f"json:{path}: " in done.stderr and says in done.stderr, path, says, done.stderr)
        check(allowed in done.stderr, done.stderr)

    equal(daemon("--config", node.write_config(), "--check").returncode, 0, "all is right")
    control["keys"] = {"secret": keys.file("node.secret")}
    checks("control.keys.allowed", "nobody could ask")
    control["keys"] = {"allowed": keys.allowed}
    checks("control.keys.secret", "there is no")
    control["keys"] = keys.config(secret=keys.file("nobody.secret"))
    checks("control.keys.secret", "nobody.secret: No such file")
    control["keys"] = keys.config(secret=keys.file("node.pub"))
    checks("control.keys.secret", "node.pub", "0600")
    control["keys"] = keys.config(allowed=keys.file("none"))
    checks("control.keys.allowed", "No such file")
    control["keys"] = keys.config(controller=keys.file("none.pub"))
    checks("control.keys.controller", "No such file")
    control["keys"] = keys.config(server="x")
    checks("control.keys.server", "", "secret, allowed, controller")
    control["keys"] = keys.config()
    control["publish_to"] = ["tcp://192.0.2.1:5556"]
    checks("control.keys.controller", "anyone could take the controller's place")
    control["keys"] = keys.config(controller=keys.file("controller.pub"))
    equal(daemon("--config", node.write_config(), "--check").returncode, 0, "with the third key")
    os.chmod(keys.file("node.secret"), 0o644)
    checks("control.keys.secret", "has mode 0644: others than its owner may use the secret key")
    os.chmod(keys.file("node.secret"), 0o600)
    with open(os.path.join(keys.allowed, "broken.pub"), "w", encoding="ascii") as f:
        f.write("public-key = short\n")
    checks("control.keys.allowed", "broken.pub: public-key", "40 characters of Z85")
    os.unlink(os.path.join(keys.allowed, "broken.pub"))
    os.chmod(keys.allowed, 0o777)
    checks("control.keys.allowed", "anyone may put a key there")
    os.chmod(keys.allowed, 0o755)
    del control["keys"]
    checks("control.bind[0]", "anyone who reaches it could read and change rules", "keys")
    control["keys"] = keys.config(controller=keys.file("controller.pub"))
    printed = json.loads(daemon("--config", node.write_config(), "--print-config").stdout)
    equal(printed["control"]["keys"], control["keys"], "as it is printed")


@test()
def a_reading_key_reads_all_and_changes_nothing(workspace):
    need()
    keys = Keys(workspace)
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    node = node_with_keys(workspace, keys, bind=[endpoint])
    node.client.endpoint = endpoint
    node.start()
    node.call("int_request", **rule(7, A, B))
    viewer = Client(endpoint, keys=keys.of("viewer"))
    equal([r["ns_id"] for r in viewer.call("int_list")["rules"]], [7], "rules")
    for verb in ("hello", "node_get", "ports_get", "stats_get", "drops_get", "events", "audit"):
        viewer.call(verb)
    requests = ({"int_request": rule(8, A, B, dst_port=8)}, {"int_delete": {"ns_id": 7}},
                {"int_update": {"ns_id": 7, "hop_enabled": False}})
    for request in requests:
        for form in (request, [{"hello": {}}, request], {**request, "dry_run": True}):
            reply = json.loads(viewer.raw(json.dumps(form).encode()))
            equal(reply.get("error", reply).get("code"), "read_only", f"reply to {form}")
    equal([r["ns_id"] for r in node.call("int_list")["rules"]], [7], "rules")
    # Requests of all other clients are refused.
    for others in (None, keys.of("stranger"), keys.of("operator", "controller")):
        try:
            Client(endpoint, limit_s=1, keys=others).call("hello")
        except zmq.ZMQError:
            continue
        check(False, "an answer", others)
    viewer.close()


@test()
def the_page_about_security_shows_a_client_that_works(workspace):
    need()
    keys = Keys(workspace)
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    node = node_with_keys(workspace, keys, bind=[endpoint])
    node.client.endpoint = endpoint
    node.start()
    page = os.path.join(os.path.dirname(TESTS), "docs", "security.md")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    program = text.split("```python\n")[1].split("```")[0]
    for name, real in (("alice.secret", keys.file("operator.secret")),
                       ("sw1.pub", keys.file("node.pub")),
                       ("tcp://sw1.example.net:5555", endpoint)):
        check(name in program, name)
        program = program.replace(name, real)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=False, timeout=20)
    check("api_version" in done.stdout, done.stdout, done.stderr)
    # The key file in the document must be readable.
    shown = text.split("### Files\n\n```\n")[1].split("```")[0]
    with open(os.path.join(keys.allowed, "shown.pub"), "w", encoding="ascii") as f:
        f.write(shown)
    equal(daemon("--config", node.write_config(), "--check").returncode, 0, "the file on the page")


@test()
def the_command_line_takes_keys_from_options_or_the_environment(workspace):
    need()
    keys = Keys(workspace)
    node = node_with_keys(workspace, keys).start()
    ask = ("-c", node.api, "hello")
    command(*keys.words("viewer"), *ask)
    secret, public = keys.of("operator")
    command(*ask, env={"HOPSIGHT_KEY": secret, "HOPSIGHT_SERVER_KEY": public})
    done = command(*keys.words("stranger"), *ask, expected=1)
    check("does not allow this key" in done.stderr, done.stderr)
    done = command(*ask, expected=3)
    check("it wants a key" in done.stderr, done.stderr)
    done = command(*keys.words("operator", "controller"), *ask, expected=3)
    check("its key is not that of --server-key" in done.stderr, done.stderr)
    command("--key", secret, *ask, expected=2)
    os.chmod(keys.file("stranger.secret"), 0o644)
    done = command(*keys.words("stranger"), *ask, expected=2)
    check("0644" in done.stderr, done.stderr)
    done = command(*keys.words("viewer"), "-c", node.api, "rule", "del", "7", expected=1)
    check("for reading only" in done.stderr, done.stderr)


@test()
def a_key_that_is_removed_is_cut_off_and_one_that_is_added_gets_in(workspace):
    need()
    keys = Keys(workspace)
    node = node_with_keys(workspace, keys).start()
    viewer = Client(node.api, limit_s=1, keys=keys.of("viewer"))
    viewer.call("hello")
    keys.forbid("viewer")

    def silent():
        try:
            viewer.call("hello")
        except zmq.ZMQError:
            return True
        return False

    until(silent, 5, "the key that was removed is cut off")
    check(silent(), "it gets in again")
    told = until(lambda: events(node, "handshake_failed"), 5, "the refusal is told")
    check("not allowed" in told[0]["reason"] and told[0]["handshakes"] > 0, told)
    viewer_key = zmq.auth.load_certificate(keys.file("viewer.pub"))[0].decode()
    equal(told[0]["public_key"], viewer_key, "whose key it was")
    equal(events(node, "keys_changed")[0]["keys"], 1, "keys that are left")
    keys.allow("viewer")
    until(lambda: not silent(), 5, "the key that was added gets in")
    # A wrong file is reported and does not affect anybody else.
    with open(os.path.join(keys.allowed, "broken.pub"), "w", encoding="ascii") as f:
        f.write("public-key = short\n")
    until(lambda: "broken.pub" in str(events(node, "keys_changed")[-1].get("problem")), 5,
          "the problem is told")
    viewer.call("hello")
    counted = {s["name"]: s["value"] for s in node.call("stats_get")["stats"]}
    check(any("handshakes_failed" in n and v > 0 for n, v in counted.items()), counted)
    viewer.close()


@test()
def a_node_publishes_to_the_controller_whose_key_it_was_given(workspace):
    need()
    keys = Keys(workspace)
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    node = node_with_keys(workspace, keys, publish_to=[endpoint])
    node.config["control"]["keys"] = keys.config(controller=keys.file("controller.pub"))
    context = zmq.Context()

    def bound(name):
        sock = context.socket(zmq.SUB)
        sock.linger = 0
        sock.curve_server = True
        sock.curve_publickey, sock.curve_secretkey = \
            zmq.auth.load_certificate(keys.file(f"{name}.secret"))
        sock.subscribe("")

        def binds():
            try:
                sock.bind(endpoint)
            except zmq.ZMQError:
                return False
            return True

        # ZeroMQ closes the previous socket in a thread of its own.
        until(binds, 5, "the port is free")
        return sock

    impostor = bound("stranger")
    node.start()
    until(lambda: events(node, "handshake_failed"), 5, "the impostor is told")
    equal(events(node, "handshake_failed")[0]["peer"], endpoint, "who it was")
    check(not impostor.poll(300), "the impostor was told something")
    impostor.close()
    controller = bound("controller")

    def told():
        # A change of the directory is an event, and events are published.
        (keys.forbid if os.path.exists(f"{keys.allowed}/viewer.pub") else keys.allow)("viewer")
        return controller.poll(1000)

    until(told, 15, "the controller is told")
    controller.close()


@test()
def a_controller_and_its_nodes_know_each_other_by_keys(workspace):
    need()
    keys = Keys(workspace)
    keys.allow("controller")
    api, reports = (f"tcp://127.0.0.1:{free_port()}" for _ in range(2))
    node = node_with_keys(workspace, keys, publish_to=[reports])
    node.config["control"]["keys"] = keys.config(controller=keys.file("controller.pub"))
    node.start()
    # The controller allows two keys: the node's and a client's.
    allowed = workspace.path("ctl-allowed")
    os.makedirs(allowed)
    shutil.copy(keys.file("operator.pub"), allowed)
    config = workspace.path("ctl.json")
    with open(config, "w", encoding="ascii") as f:
        json.dump({"control": {"bind": [api], "subscribe_bind": [reports],
                               "keys": {"secret": keys.file("controller.secret"),
                                        "allowed": allowed}},
                   "nodes": [{"name": node.name, "id": 3, "api": node.api,
                              "server_key": keys.file("node.pub")}],
                   "paths": [{"name": "all", "nodes": [node.name]}]}, f)
    process = workspace.spawn([os.path.join(netlab.BUILD, "apps", "hopsight-controller"),
                               "--config", config], log="ctl.log")
    asks = ("-c", api, *keys.words("operator", "controller"))

    def answers():
        done = subprocess.run([os.path.join(netlab.BUILD, "apps", "hopsight"), *asks, "hello"],
                              capture_output=True, check=False, timeout=20)
        return done.returncode == 0

    until(answers, 15, "the controller answers")
    client = Client(api, keys=keys.of("operator", "controller"))
    client.call("int_request", **rule(7, A, B), on={"nodes": [node.name]})
    until(lambda: [r["ns_id"] for r in node.call("int_list")["rules"]] == [7], 10,
          "the rule is at the node")
    # The controller refuses the node's reports until it allows its key.
    until(lambda: events(node, "handshake_failed"), 10, "the node is told of it")
    equal(events(node, "handshake_failed")[0]["peer"], reports, "by whom")
    shutil.copy(keys.file("node.pub"), allowed)


    def last_keys():
        told = events(node, "keys_changed")
        return told[-1]["keys"] if told else 3

    def heard():
        # Each change of the directory is an event, so that there is something to publish.
        keys.allow("stranger")
        until(lambda: last_keys() == 4, 5, "the change is seen")
        keys.forbid("stranger")
        until(lambda: last_keys() == 3, 5, "the change is seen")
        return client.call("node_get")["monitor"]["messages"] > 0

    until(heard, 15, "the controller hears of the node")
    client.close()
    process.terminate()
    equal(process.wait(10), 0, "exit code of the controller")


@test()
def a_controller_tells_which_key_is_wrong_before_and_while_it_runs(workspace):
    need()
    keys = Keys(workspace)
    node = node_with_keys(workspace, keys).start()
    allowed = workspace.path("ctl-allowed")
    os.makedirs(allowed)
    for name in ("operator", "viewer"):
        shutil.copy(keys.file(f"{name}.pub"), allowed)
    program = os.path.join(netlab.BUILD, "apps", "hopsight-controller")
    file = workspace.path("ctl.json")
    api = f"ipc://{workspace.path('ctl.api')}"
    good = {"secret": keys.file("controller.secret"), "allowed": allowed}

    def config(used, server_key=keys.file("node.pub")):
        with open(file, "w", encoding="ascii") as f:
            json.dump({"control": {"bind": [api], **({"keys": used} if used else {})},
                       "nodes": [{"name": "sw", "id": 3, "api": node.api,
                                  **({"server_key": server_key} if server_key else {})}]}, f)

    for used, server_key, place in [
            ({"secret": good["secret"]}, keys.file("node.pub"), "control.keys.allowed"),
            ({"allowed": allowed}, keys.file("node.pub"), "control.keys.secret"),
            ({**good, "secret": keys.file("controller.pub")}, None, "control.keys.secret"),
            ({**good, "allowed": workspace.path("none")}, None, "control.keys.allowed"),
            (None, keys.file("node.pub"), "nodes[0].server_key"),
            (good, keys.file("none.pub"), "nodes[0].server_key")]:
        config(used, server_key)
        done = subprocess.run([program, "--config", file, "--check"], capture_output=True,
                              text=True, check=False, timeout=20)
        equal(done.returncode, 2, f"exit code: {used}")
        check(f"{file}:{place}" in done.stderr, done.stderr, place)

    config(good)
    equal(subprocess.run([program, "--config", file, "--check"], check=False,
                         timeout=20).returncode, 0, "all is right")
    process = workspace.spawn([program, "--config", file], log="ctl.log")
    operator = ("-c", api, *keys.words("operator", "controller"))
    program = os.path.join(netlab.BUILD, "apps", "hopsight")
    until(lambda: subprocess.run([program, *operator, "hello"], capture_output=True, check=False,
                                 timeout=20).returncode == 0, 15, "the controller answers")
    client = Client(api, keys=keys.of("operator", "controller"))
    until(lambda: client.call("node_get")["nodes"][0].get("key_refused"), 10, "the node refuses")
    equal([e["node"] for e in events(client, "node_refuses_key")], ["sw"], "an event")
    keys.allow("controller")
    until(lambda: client.call("node_get")["nodes"][0]["reachable"], 10, "the node is there")
    until(lambda: "key_refused" not in client.call("node_get")["nodes"][0], 5, "no longer refused")
    # One key may change rules, one may read, and one may do nothing.
    add = ("rule", "add", "--ns", "7", "--src", A, "--dst", B, "--proto", "udp", "--trace",
           "0x7000E000", "--mode", "count", "--setting", "10")
    viewer = ("-c", api, *keys.words("viewer", "controller"))
    check("read" in command(*viewer, *add, expected=1).stderr, "a reading key")
    command(*viewer, "node")
    command(*operator, *add)
    until(lambda: [r["ns_id"] for r in node.call("int_list")["rules"]] == [7], 5, "the rule")
    check("7" in command(*viewer, "rule", "list").stdout, "the viewer sees it")
    stranger = ("-c", api, *keys.words("stranger", "controller"))
    check(command(*stranger, "node", expected=1).stderr, "a stranger")
    until(lambda: events(client, "handshake_failed"), 5, "it is told")
    shutil.copy(keys.file("stranger.pub"), allowed)
    until(lambda: events(client, "keys_changed"), 5, "it is told")
    equal(events(client, "keys_changed")[-1]["keys"], 3, "keys that are allowed")
    client.close()
    process.terminate()
    equal(process.wait(10), 0, "exit code")


if __name__ == "__main__":
    sys.exit(main())
