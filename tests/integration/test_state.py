# SPDX-License-Identifier: BSD-3-Clause
"""API changes are in force after a restart, however the process ended."""

import json
import os
import random
import signal
import subprocess
import threading
import time
import zlib

import zmq

from lib import (Chain, Refused, check, equal, in_time, main, memif, need, netlab, rule, run,
                 test, until)

SEED = int(os.environ.get("HOPSIGHT_SEED", random.SystemRandom().randrange(1 << 30)))


def one_node(workspace, state=None, **config):
    """Returns a node that keeps state, and the place of the file."""
    state = state or workspace.path("rules.state")
    node = Chain(workspace, nodes=1, state={"file": state}, **config).nodes[0]
    return node, state


def kill(node):
    node.client.close()
    node.process.send_signal(signal.SIGKILL)
    node.process.wait()


def again(node):
    """Starts the node again after it was killed or stopped."""
    node.start()
    return {r["ns_id"]: (r["mode_setting"], r["hop_enabled"]) for r in all_rules(node)}


def all_rules(node):
    rules, page = [], {"next": 0}
    while "next" in page:
        page = node.call("int_list", offset=page["next"], limit=10000)
        rules += page["rules"]
    return rules


def event(node, kind):
    return [e for e in node.call("events")["events"] if e["kind"] == kind]


def a_rule(ns_id, setting=1):
    return rule(ns_id, "2001:db8::1", "2001:db8::2", src_port=ns_id % 65536, dst_port=ns_id // 65536,
                mode_setting=setting)


class Stream:
    """Yields requests that are valid by themselves, and the rules that result."""

    def __init__(self, dice, rules):
        self.dice = dice
        self.rules = dict(rules)  # once all that was sent is done

    def _change(self):
        ns_id = self.dice.randrange(1, 300)
        if ns_id not in self.rules:
            setting = self.dice.randrange(1, 1000)
            self.rules[ns_id] = (setting, True)
            return {"int_request": a_rule(ns_id, setting)}
        if self.dice.random() < 0.5:
            del self.rules[ns_id]
            return {"int_delete": {"ns_id": ns_id}}
        enabled = self.dice.random() < 0.5
        self.rules[ns_id] = (self.rules[ns_id][0], enabled)
        return {"int_update": {"ns_id": ns_id, "hop_enabled": enabled}}

    def next(self):
        """Returns a request, and the rules after it."""
        if self.dice.random() < 0.2:
            request = [self._change() for _ in range(self.dice.randrange(1, 6))]
        else:
            request = self._change()
        return json.dumps(request).encode(), dict(self.rules)


def stream_until_killed(node, stream, after_s):
    """Sends pipelined requests until the node is killed. Returns the rules after each, confirmed
    requests first, and how many were confirmed."""
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    socket.connect(node.api)
    states, confirmed = [], 0
    timer = threading.Timer(after_s, node.process.send_signal, (signal.SIGKILL,))
    timer.start()

    def take(limit_ms):
        nonlocal confirmed
        while socket.poll(limit_ms):
            reply = json.loads(socket.recv_multipart()[-1])
            check("ok" in reply, reply)
            confirmed += 1

    while node.process.poll() is None:
        for _ in range(20):
            if len(states) - confirmed < 200:
                request, state = stream.next()
                states.append(state)
                socket.send_multipart([b"", request])
        take(0)
    timer.join()
    take(100)
    socket.close()
    node.client.close()
    return states, confirmed


@test(limit_s=150)
def whatever_moment_a_node_is_killed_at_what_it_confirmed_is_there_afterwards(workspace):
    need()
    node, _ = one_node(workspace)
    dice = random.Random(SEED)
    rules, total, unsure = again(node), 0, 0
    for life in range(8):
        before = rules
        states, confirmed = stream_until_killed(node, Stream(dice, rules), dice.uniform(0.01, 0.6))
        rules = again(node)
        # Requests are done in order: all confirmed ones, and perhaps some of those after them.
        possible = [before, *states][confirmed:]
        check(rules in possible, f"life {life}, seed {SEED}: of {len(states)} sent and {confirmed} "
              f"confirmed, the rules are as after none of those: {len(rules)} rules")
        total += confirmed
        unsure += possible.index(rules)
        equal(event(node, "state_set_aside"), [], "damage")
        loaded = event(node, "state_loaded")[0]
        equal(loaded["refused"], 0, "lines refused")
        check(f" {loaded['left_out']} changes left out" in loaded["message"], loaded["message"])
    check(total > 5000, f"only {total} confirmed")
    lines = node.call("node_get")["state_lines"]
    check(lines < total / 2, f"{lines} lines of {total} changes: the journal was never folded")
    return f"{total} confirmed, {unsure} more found, {lines} lines"


@test()
def a_damaged_file_is_set_aside_and_the_node_starts_with_what_stood_before(workspace):
    need()
    node, state = one_node(workspace)
    node.start()
    for ns_id in range(1, 11):
        node.call("int_request", **a_rule(ns_id))
    node.stop()
    with open(state, "r+b") as f:
        lines = f.read().splitlines(keepends=True)
        f.seek(len(b"".join(lines[:6])) + 30)
        f.write(b"\0")
    equal(sorted(again(node)), [1, 2, 3, 4, 5], "rules before the damage")
    told = event(node, "state_set_aside")[0]
    equal(told["reason"], "line 7: the checksum is wrong", "reason")
    check(told["set_aside"].startswith(state + ".damaged-") and os.path.exists(told["set_aside"]), told)
    check("is damaged: line 7: the checksum is wrong" in node.log(), node.log_tail(20))
    node.call("int_request", **a_rule(11))
    kill(node)
    equal(sorted(again(node)), [1, 2, 3, 4, 5, 11], "rules in the next life")


@test()
def a_full_disk_refuses_changes_and_nothing_else(workspace):
    need()
    folder = workspace.path("small")
    os.mkdir(folder)
    run("mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs", folder)
    workspace.at_close.insert(0, lambda: run("umount", "-l", folder))
    node, _ = one_node(workspace, os.path.join(folder, "rules.state"))
    node.start()
    installed = 0
    try:
        for installed in range(2000):
            node.call("int_request", **a_rule(installed + 1))
        raise AssertionError("64 KiB hold 2000 rules")
    except Refused as refused:
        equal(refused.error["code"], "not_saved", "code")
        check("No space left on device" in refused.error["message"], refused.error)
    # A request too long for the remaining space is refused as a whole, and questions still work.
    before, generation = all_rules(node), node.call("node_get")["generation"]
    equal(len(before), installed, "rules")
    reply = json.loads(node.client.raw(json.dumps(
        [{"int_delete": {"ns_id": ns_id}} for ns_id in range(1, installed + 1)]).encode()))
    equal(reply["error"]["code"], "not_saved", reply)
    equal(all_rules(node), before, "rules afterwards")
    about = node.call("node_get")
    equal((about["generation"], about["state_errors"]), (generation, 2), "generation, errors")
    until(lambda: event(node, "state_error"), 5, "event state_error")
    run("mount", "-o", "remount,size=1m", folder)
    node.call("int_request", **a_rule(5000))
    kill(node)
    equal(sorted(again(node)), [*range(1, installed + 1), 5000], "rules in the next life")
    return f"full after {installed} rules"


def write_state(path, changes):
    """Writes the file as another program would."""
    with open(path, "wb") as f:
        f.write(b"hopsight-state 1\n")
        for change in changes:
            line = json.dumps(change, separators=(",", ":")).encode()
            f.write(b"%08x %s\n" % (zlib.crc32(line), line))


@test(limit_s=150)
def a_hundred_thousand_rules_are_in_force_before_the_node_answers(workspace):
    need()
    node, state = one_node(workspace, memory={"rules": 131072})
    node.start()
    node.stop()
    begin = time.monotonic()
    node.start()
    empty_s = time.monotonic() - begin
    node.stop()
    write_state(state, ({"int_request": a_rule(ns_id)} for ns_id in range(1, 100001)))
    begin = time.monotonic()
    node.start()
    full_s = time.monotonic() - begin
    about = node.call("node_get")
    equal((about["rules"], about["state_lines"]), (100000, 100000), "rules, lines")
    equal(about["state"], {"file": state, "sync": False}, "state")
    if "asan" not in netlab.BUILD:  # a sanitizer takes a part that depends on the machine
        check(in_time(full_s - empty_s, 20), f"{full_s - empty_s:.1f} s for 100,000 rules")
    return f"{full_s - empty_s:.1f} s more than without"


@test()
def a_second_node_does_not_take_the_file_of_a_living_one(workspace):
    need()
    node, state = one_node(workspace)
    node.start()
    program = os.path.join(netlab.BUILD, "apps", "hopsightd")
    config = json.loads(json.dumps(node.config))
    config["node"]["name"] += "x"
    config["control"] = {"bind": [node.api + "x"]}
    config["ports"] = [memif("a", workspace.path("a.sock"), "server", 0)]
    config["forwarding"] = {"mode": "bridge"}
    path = workspace.path("second.json")
    with open(path, "w", encoding="ascii") as f:
        json.dump(config, f)
    done = subprocess.run([program, "--config", path], capture_output=True, text=True, check=False,
                          timeout=60)
    equal(done.returncode, 1, f"exit code: {done.stderr[-500:]}")
    check(f"state.file: {state}: another process has it open" in done.stderr, done.stderr[-500:])


@test()
def a_configuration_is_checked_without_touching_the_file(workspace):
    need()
    node, state = one_node(workspace)
    program = os.path.join(netlab.BUILD, "apps", "hopsightd")
    done = subprocess.run([program, "--check", "--config", node.write_config()], capture_output=True,
                          text=True, check=False, timeout=20)
    equal(done.returncode, 0, done.stderr)
    check(not os.path.exists(state), "there is a file")


if __name__ == "__main__":
    raise SystemExit(main())
