# SPDX-License-Identifier: BSD-3-Clause
"""Lines for databases: a client against a server that misbehaves, and nodes and controllers with the
real influxdb and victoria-metrics."""

import json
import os
import subprocess
import time

import netlab
from databases import Influx, Misbehaving, VictoriaMetrics, free_port, read_line
from lib import (Chain, InNamespace, Subscriber, audit_ok, check, equal, events, main, need, ports, quiet, rule,
                 test, until)
from test_controller import A, B, Controller, send

DRIVE = os.path.join(netlab.BUILD, "tests/unit/influx/influx_drive")


class Drive:
    """lib/influx, driven through its pipe."""

    def __init__(self, workspace, name, *databases):
        self.path = workspace.path(f"{name}.log")
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen([DRIVE, json.dumps({"influx": databases})], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        workspace.at_close.append(self.process.kill)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def add(self, n):
        longest_ns = self.ask(f"add {n}")["longest_ns"]
        check(longest_ns < 500_000_000, f"adding a line took {longest_ns} ns")  # a busy machine
        return self

    def counters(self):
        of = self.ask("counters")
        dropped = of["queue_full"] + of["refused"] + of["shutdown"]
        equal(of["written"] + dropped + of["waiting"], of["made"], "lines made")
        return of

    def wait(self, limit_s=10, **wanted):
        def there():
            of = self.counters()
            return {key: of[key] for key in wanted} == wanted
        until(there, limit_s, lambda: f"counters {wanted}: {self.counters()}")
        return self

    def close(self):
        took_s = self.ask("close")["took_ns"] / 1e9
        equal(self.process.wait(10), 0, "exit code")
        return took_s

    def log(self):
        with open(self.path, encoding="utf-8") as f:
            return f.read()


def values(lines):
    return [read_line(line)[2]["value"] for line in lines]


@test()
def a_database_that_works_gets_each_line_once_over_one_connection(workspace):
    server = Misbehaving()
    drive = Drive(workspace, "drive", {"url": server.url + "/far/", "database": "my db"})
    drive.add(12000)
    drive.wait(written=10000)  # two full batches; the rest waits for a second
    check(server.requests[1][3] - server.requests[0][3] < 0.95, "a full batch waited")
    drive.wait(written=12000)
    equal([len(request[2]) for request in server.requests], [5000, 5000, 2000], "lines of each request")
    equal(server.connections, 1, "connections")
    path, headers, lines, _ = server.requests[0]
    equal(path, "/far/write?db=my+db&precision=ns", "path")
    equal(headers["Content-Encoding"], "gzip", "coding")
    equal(headers["Authorization"], None, "authorization")
    equal(read_line(lines[7]), ("drive", {"tag": "a, b=c"}, {"value": 7, "text": 'say "hi\\'},
                                1700000000000000000 + 7000000), "the eighth line")
    equal(values(server.lines), list(range(12000)), "values")
    drive.add(3)
    check(drive.close() < 1, "the last lines waited")
    equal(len(server.lines), 12003, "lines in the end")
    equal(drive.log(), "", "log of a good run")


@test()
def what_a_server_cannot_take_is_sent_again(workspace):
    answers = ["close", (500, {}, b"oops"), (503, {"Retry-After": "1"}, b""), (429, {}, b"slow down")]
    server = Misbehaving(answers)
    drive = Drive(workspace, "drive", {"url": server.url, "database": "x"}).add(5000)
    drive.wait(written=5000, failures=4, requests=5, refused=0)
    equal(values(server.lines), list(range(5000)), "values")
    times = [request[3] for request in server.requests]
    check(times[1] - times[0] < 1, "the first pause was", times[1] - times[0])
    check(1 <= times[3] - times[2] < 3, "a server that asked for 1 s had", times[3] - times[2])
    drive.close()
    log = drive.log().splitlines()
    equal(len(log), 3, f"lines of the log: {log}")
    check("no answer: Empty reply from server; 5000 lines wait" in log[0], log[0])
    check("the database is busy: HTTP 500: oops; 5000 lines wait" in log[1], log[1])
    check("lines are written again; 0 wait" in log[2], log[2])


@test()
def what_a_server_refuses_is_dropped_and_said_once(workspace):
    partial = {"error": "partial write: unable to parse 'x': missing fields dropped=0"}
    kinds = {
        "401": ((401, {}, b'{"error":"unable to parse authentication credentials"}'), 1000,
                "HTTP 401: unable to parse authentication credentials"),
        "404": ((404, {"X-Influxdb-Error": 'database not found: "x"'}, b"{}"), 1000,
                'HTTP 404: database not found: "x"'),
        "302": ((302, {"Location": "http://127.0.0.1:1/"}, b""), 1000, "HTTP 302"),
        "400": ((400, {}, json.dumps(partial).encode()), 1, "HTTP 400: partial write: unable to parse"),
    }
    drives = {}
    for name, (answer, _, _) in kinds.items():
        server = Misbehaving([answer] * 2)
        drives[name] = Drive(workspace, name, {"url": server.url, "database": "x"}).add(1000)
    for name, (_, dropped, words) in kinds.items():
        drives[name].wait(refused=dropped, written=1000 - dropped, refusals=1, waiting=0)
        drives[name].add(1000)
    for name, (_, dropped, words) in kinds.items():
        drives[name].wait(refused=2 * dropped, refusals=2, failures=0).add(1).wait(waiting=0)
        drives[name].close()
        log = drives[name].log()
        equal(log.count(words), 1, f"{name}: how often the log has the server's words: {log}")
        equal(log.count("lines are written again"), 1, f"{name}: {log}")


@test()
def a_server_that_is_slow_or_not_there_delays_nobody(workspace):
    slow, gone = Misbehaving(["silent"]), f"http://127.0.0.1:{free_port()}"
    silent = Drive(workspace, "silent", {"url": slow.url, "database": "x", "queue_bytes": 65536})
    absent = Drive(workspace, "absent", {"url": gone, "database": "x"},
                   {"url": "http://no-such-host.invalid", "database": "x"})
    for drive in (silent, absent):
        drive.add(500)
    until(lambda: slow.requests, 5, "a request")
    silent.add(2000)  # 65 bytes each: the queue is full
    until(lambda: absent.counters()["failures"] >= 4, 10, "attempts")
    absent.add(100)
    of = silent.counters()
    check(of["queue_full"] > 1000 and of["waiting"] > 500 and of["waiting_bytes"] <= 65536, of)
    for drive in (silent, absent):
        check(drive.close() < 4, "the end waited")
    check("the queue of 65536 bytes is full; " in silent.log(), silent.log())
    check("no time to write the last" in silent.log(), silent.log())
    log = absent.log()
    equal((log.count(f"{gone}: no answer: Failed to connect"), log.count("invalid: no answer: Could not resolve"),
           log.count("no time to write the last 600 lines")), (1, 1, 2), log)


@test()
def secrets_come_from_files_and_are_never_shown(workspace):
    def secret(name, text, mode=0o600):
        with open(workspace.path(name), "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(workspace.path(name), mode)
        return workspace.path(name)

    token, password = secret("token", "t0psecret==\n"), secret("password", " pa:ss wörd"[:6] + "\n")
    server = Misbehaving([(401, {}, b"no")] * 2)
    drive = Drive(workspace, "drive", {"url": server.url, "org": "my org", "bucket": "b", "token_file": token},
                  {"url": server.url, "database": "x", "user": "ann", "password_file": password})
    drive.add(10).wait(refused=20)
    seen = {request[0]: request[1]["Authorization"] for request in server.requests}
    equal(seen, {"/api/v2/write?org=my+org&bucket=b&precision=ns": "Token t0psecret==",
                 "/write?db=x&precision=ns": "Basic YW5uOnBhOnNz"}, "requests")
    drive.close()
    check("t0psecret" not in drive.log() and "pa:ss" not in drive.log(), drive.log())
    for name, database, words in (
            ("open", {"org": "o", "bucket": "b", "token_file": secret("open", "t0psecret", 0o644)}, "mode 0600"),
            ("empty", {"org": "o", "bucket": "b", "token_file": secret("empty", "\n")}, "is empty"),
            ("absent", {"org": "o", "bucket": "b", "token_file": "/nowhere"}, "No such file"),
            ("user", {"url": "http://ann:t0psecret@127.0.0.1:1", "database": "x"}, "user and password_file")):
        drive = Drive(workspace, name, {"url": server.url, **database})
        equal(drive.process.wait(5), 2, f"exit code of {name}")
        check("influx[0]." in drive.log() and words in drive.log(), drive.log())
        check("t0psecret" not in drive.log(), drive.log())


# ---- the real ones ----

@test(limit_s=90)
def a_database_that_was_away_has_every_line_that_the_queue_held(workspace):
    need("influxd", "victoria-metrics")
    influx, victoria = Influx(workspace).start(), VictoriaMetrics(workspace, "victoria").start()
    influx.query("CREATE DATABASE d")
    drive = Drive(workspace, "drive", {"url": influx.url, "database": "d"},
                  {"url": victoria.url, "database": "d"})
    small = Drive(workspace, "small", {"url": influx.url, "database": "small", "queue_bytes": 65536})
    influx.query("CREATE DATABASE small")
    drive.add(1000).wait(written=2000)
    small.add(100).wait(written=100)
    influx.stop()
    victoria.stop()
    for _ in range(20):
        drive.add(300)
        time.sleep(0.05)
    small.add(3000)
    until(lambda: min(drive.counters()["failures"], small.counters()["failures"]) >= 2, 10, "attempts")
    influx.start()
    victoria.start()
    drive.add(10).wait(20, written=14020, waiting=0)
    small.wait(20, waiting=0)
    found = influx.query('SELECT value, text, "tag" FROM drive', "d")
    equal([row["value"] for row in found], list(range(7010)), "values in influxdb")
    equal([row["time"] for row in found], [1700000000000000000 + i * 1000000 for i in range(7010)], "times")
    equal({(row["text"], row["tag"]) for row in found}, {('say "hi\\', "a, b=c")}, "texts")
    exported = victoria.export("drive_value")
    equal(exported, {("drive_value", (("tag", "a, b=c"),)):
                     {1700000000000 + i: i for i in range(7010)}}, "values in victoria-metrics")
    of = small.counters()
    check(of["queue_full"] > 1000 and of["refused"] == 0, of)
    kept = [row["value"] for row in influx.query("SELECT value FROM drive", "small")]
    equal((len(kept), kept), (of["written"], list(range(of["written"]))), "the older lines")
    equal(of["written"] + of["queue_full"], 3100, "lines")
    for one in (drive, small):
        one.close()


@test(limit_s=60)
def influxdb_says_itself_what_is_wrong(workspace):
    need("influxd")
    influx = Influx(workspace, user=("ann", "secret")).start()
    influx.query("CREATE USER ann WITH PASSWORD 'secret' WITH ALL PRIVILEGES", first=True)
    influx.query("CREATE DATABASE d")
    drives = {}
    for name, user, password, database in (("wrong", "ann", "other", "d"), ("right", "ann", "secret", "d"),
                                           ("absent", "ann", "secret", "nowhere")):
        path = workspace.path(f"{name}.password")
        with open(path, "w", encoding="ascii", opener=lambda p, flags: os.open(p, flags, 0o600)) as f:
            f.write(password)
        drives[name] = Drive(workspace, name, {"url": influx.url, "database": database, "user": user,
                                               "password_file": path}).add(10)
    drives["right"].wait(written=10)
    for name, words in (("wrong", "HTTP 401: authorization failed"),
                        ("absent", 'HTTP 404: database not found: "nowhere"')):
        drives[name].wait(refused=10).add(10).wait(refused=20).close()
        equal(drives[name].log().count(words), 1, drives[name].log())
    drives["right"].close()


# Members of a window that are tags, texts of the line itself, or not part of it.
NOT_FIELDS = {"seq", "node_id", "boot_id", "ns_id", "app_id", "window_ns", "hops", "e2e", "path", "flags", "run",
              "clock", "from", "to"}


def flat(members):
    """The fields that a line should have for the members of an object."""
    found = {}
    for key, value in members.items():
        if key in NOT_FIELDS:
            continue
        if isinstance(value, dict):
            found.update({f"{key}_{inner}": number for inner, number in value.items()})
        else:
            found[key] = value
    return found


def fields_of_path(window):
    found = flat(window)
    if not window["stale"]:
        found.update({f"clock_{key}": value for key, value in window["clock"].items()})
        found.update(flat(window["e2e"]))
        found["path"] = ">".join(str(node) for node in window["path"])
    if window["flags"]:
        found["flags"] = " ".join(window["flags"])
    return found


def length(window):
    return f"{window['window_ns'] // 1000000000}s"


def rows_of(influx, measurement, tags, window):
    """The point of a window, without its tags and absent fields."""
    where = " AND ".join(f"\"{key}\" = '{value}'" for key, value in tags.items())
    rows = influx.query(f"SELECT * FROM {measurement} WHERE {where} AND time = {window['end_ns']}", "hs")
    return [{key: value for key, value in row.items()
             if value is not None and key != "time" and key not in {**tags, "app_id": 0}} for row in rows]


def eventually(compare, limit_s=8):
    """Lines are on their way for a second or two."""
    end = time.monotonic() + limit_s
    while True:
        try:
            return compare()
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def compare_window(influx, node, window):
    tags = {"node": node, "ns_id": window["ns_id"], "window": length(window)}
    equal(rows_of(influx, "hopsight_path", tags, window), [fields_of_path(window)], f"path of {tags}")
    for i, hop in enumerate([] if window["stale"] else window["hops"]):
        ends = {"hop": i, "from": hop["from"], "to": hop["to"]}
        equal(rows_of(influx, "hopsight_hop", {**tags, **ends}, window), [flat(hop)], f"hop {i} of {tags}")


def compare_in_victoria(victoria, node, windows):
    exported = victoria.export('{__name__=~"hopsight_hop_.*"}')
    for window in windows:
        for i, hop in enumerate([] if window["stale"] else window["hops"]):
            labels = {"node": node, "ns_id": window["ns_id"], "app_id": window["app_id"], "window": length(window),
                      "hop": i, "from": hop["from"], "to": hop["to"]}
            key = tuple(sorted((name, str(value)) for name, value in labels.items()))
            for name, value in flat(hop).items():
                series = exported.get((f"hopsight_hop_{name}", key))
                check(series, f"no {name} of {labels}")
                got = series.get(window["end_ns"] // 1000000)
                # Numbers are floats there, of fewer digits than a time in nanoseconds has.
                check(got is not None and abs(got - value) <= 1e-14 * abs(value), name, labels, got, value)


def compare_counters(influx, node):
    """What a node has last written about a port that is quiet is what it answers."""
    for name, port in ports(node).items():
        where = f"node = '{node.config['node']['name']}' AND port = '{name}'"

        def last(measurement):
            row = influx.query(f"SELECT * FROM {measurement} WHERE {where} ORDER BY time DESC LIMIT 1", "hs")
            return {key: value for key, value in (row or [{}])[0].items() if key not in ("time", "node", "port")}

        def agree():
            written = last("hopsight_port")
            same = {key: port.get(key) for key in written}
            return written and written == same and written["rx_packets"] == port["rx_packets"]

        until(agree, 5, lambda: f"counters of {name}: {last('hopsight_port')}, {port}")
        equal(last("hopsight_port_drops"), port["drops"], f"drops of {name}")


@test(limit_s=120)
def what_nodes_and_a_controller_know_is_read_back_from_real_databases(workspace):
    need("influxd", "victoria-metrics")
    chain = Chain(workspace, nodes=2, control={"publish_to": [f"ipc://{workspace.path('ctl')}.sub"]})
    first, sink = chain.nodes
    with InNamespace(sink.namespace):
        influx, victoria = Influx(workspace).start(), VictoriaMetrics(workspace, "victoria").start()
        influx.query("CREATE DATABASE hs")
        databases = [{"url": server.url, "database": "hs", "interval_s": 1} for server in (influx, victoria)]
        sink.config["influx"] = databases
        chain.start()
        controller = Controller(workspace, chain.nodes, influx=databases).start()
        subscriber = Subscriber(sink.publisher)
        relayed = Subscriber(controller.publisher)
        subscriber.wait_connected(sink)
        relayed.wait_connected(controller)
        controller.call("int_request", **rule(7, A, B, dst_port=5001), on={"path": "all"})
        controller.wait_present(7)
        send(chain, pps=300, seconds=3.5).wait()
        quiet(sink)
        windows = [message["qos_report"] for _, message in subscriber.collect(5, 8, "qos.")]
        check(len(windows) == 5 and not all(window["stale"] for window in windows), windows)
        name = sink.config["node"]["name"]
        for window in windows:
            eventually(lambda w=window: compare_window(influx, name, w))
        eventually(lambda: compare_in_victoria(victoria, name, windows))
        compare_counters(influx, sink)
        told = events(sink)
        until(lambda: len(influx.query(f"SELECT message FROM hopsight_event WHERE node = '{name}'", "hs"))
              >= len(told), 5, "events")
        # The controller passes on the same windows, under its own name for the node. Until the first of
        # them comes, it computes them itself.
        theirs = [message["qos_report"] for _, message in relayed.collect(3, 5, "qos.")]
        until(lambda: controller.call("node_get")["influx"]["written"] > 10, 5, "lines of the controller")
        for window in theirs:
            by = sink.name if "node_id" in window else "controller"
            eventually(lambda w=window, n=by: compare_window(influx, n, w))

        def other_counters():
            rows = influx.query("SELECT last(reachable) AS reachable, last(rules) AS rules FROM hopsight_controller",
                                "hs")
            equal([(row["reachable"], row["rules"]) for row in rows], [(2, 1)], "the controller's counters")
            rows = influx.query("SELECT last(rx_packets) AS rx FROM hopsight_rule WHERE ns_id = '7'", "hs")
            equal([row["rx"] for row in rows], [sink.call("int_get", ns_id=7)["counters"]["rx_packets"]],
                  "counters of the rule")

        eventually(other_counters)
        audit_ok(sink, first)
        made = next(e for e in sink.call("audit")["equations"] if e["name"] == "influx_lines")
        check(made["ok"] and made["terms"]["written"] > 50 and made["terms"]["refused"] == 0, made)
        controller.stop()
        equal(sink.stop()[0], 0, "exit code")


@test(limit_s=60)
def a_node_reports_lost_lines_and_forwards_on(workspace):
    need("influxd")
    chain = Chain(workspace, nodes=1)
    node = chain.nodes[0]
    with InNamespace(node.namespace):
        influx = Influx(workspace).start()
        node.config["influx"] = [{"url": influx.url, "database": "nowhere", "interval_s": 0.5}]
        chain.start()
        event = until(lambda: events(node, "influx_lines_lost"), 10, "an event about lost lines")[0]
        check(event["lines"] > 0, event)
        counters = node.call("node_get")
        check(counters["influx_lines_refused"] >= event["lines"] and counters["influx_lines_written"] == 0,
              counters)
        audit_ok(node)
        equal(node.log().count('HTTP 404: database not found: "nowhere"'), 1, "the log")
        _, took_s = node.stop()
        check(took_s < 6, f"the end took {took_s} s")


if __name__ == "__main__":
    main()
