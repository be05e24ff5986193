# SPDX-License-Identifier: BSD-3-Clause
"""Databases for tests: the real ones, each with a folder and a port of its own; one that misbehaves;
and a reader of the line protocol that knows only its reference."""

import base64
import gzip
import http.server
import json
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from lib import until

_INFLUX = """reporting-disabled = true
bind-address = "127.0.0.1:0"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
  auth-enabled = {auth}
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _http(url, data=None, user=None):
    request = urllib.request.Request(url, data)
    if user:
        request.add_header("Authorization", "Basic " + base64.b64encode(":".join(user).encode()).decode())
    with urllib.request.urlopen(request, timeout=10) as reply:
        return reply.read()


class _Server:
    """A program with a folder and a port that stay the same when it is started again."""

    def __init__(self, workspace, name):
        self.workspace = workspace
        self.name = name
        self.folder = workspace.path(name)
        os.makedirs(self.folder, exist_ok=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        self.process = self.workspace.spawn(self.command(), log=f"{self.name}.log")
        until(self._answers, 20, f"{self.name} answers")
        return self

    def _answers(self):
        try:
            _http(self.url + self.alive)
            return True
        except OSError:
            return False

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


class Influx(_Server):
    alive = "/ping"

    def __init__(self, workspace, name="influxdb", user=None):
        super().__init__(workspace, name)
        self.user = user

    def command(self):
        path = os.path.join(self.folder, "influxdb.conf")
        with open(path, "w", encoding="ascii") as f:
            f.write(_INFLUX.format(folder=self.folder, port=self.port,
                                   auth=json.dumps(self.user is not None)))
        return ["influxd", "-config", path]

    def query(self, text, database="", first=False):
        """Returns a list of dictionaries: columns and tags of each row. The first query of a server
        with users makes one of them."""
        arguments = urllib.parse.urlencode({"q": text, "db": database, "epoch": "ns"})
        reply = json.loads(_http(f"{self.url}/query", arguments.encode(), None if first else self.user))
        result = reply["results"][0]
        if "error" in result:
            raise AssertionError(f"{text}: {result['error']}")
        return [{**dict(zip(series["columns"], row)), **series.get("tags", {})}
                for series in result.get("series", []) for row in series["values"]]


class VictoriaMetrics(_Server):
    alive = "/health"

    def command(self):
        return ["victoria-metrics", f"-httpListenAddr=127.0.0.1:{self.port}",
                f"-storageDataPath={self.folder}/data", "-retentionPeriod=100y", "-loggerLevel=WARN"]

    def export(self, match):
        """Returns {(name, sorted tags): {time in ms: value}}."""
        _http(self.url + "/internal/force_flush")
        arguments = urllib.parse.urlencode({"match[]": match})
        found = {}
        for line in _http(f"{self.url}/api/v1/export?{arguments}").splitlines():
            series = json.loads(line)
            labels = series["metric"]
            name = labels.pop("__name__")
            labels.pop("db", None)
            found[name, tuple(sorted(labels.items()))] = dict(zip(series["timestamps"], series["values"]))
        return found


# ---- the line protocol ----

def _split(text, at, quotes=False):
    """Splits where a byte stands that no backslash escapes, and that is in no quotes."""
    parts, part, i, quoted = [], "", 0, False
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            part += text[i:i + 2]
            i += 2
            continue
        if quotes and text[i] == '"':
            quoted = not quoted
        if text[i] == at and not quoted:
            parts.append(part)
            part = ""
        else:
            part += text[i]
        i += 1
    return [*parts, part]


def _plain(text, special=", ="):
    for byte in special:
        text = text.replace("\\" + byte, byte)
    return text


def _value(text):
    if text[0] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if text in ("true", "false"):
        return text == "true"
    return int(text[:-1]) if text[-1] == "i" else float(text)


def read_line(line):
    """Returns (measurement, tags, fields, time)."""
    head, fields, time_ns = _split(line, " ", quotes=True)
    measurement, *tags = _split(head, ",")
    pairs = [_split(tag, "=") for tag in tags]
    values = [field.split("=", 1) for field in _split(fields, ",", quotes=True)]
    return (_plain(measurement, ", "), {_plain(k): _plain(v) for k, v in pairs},
            {_plain(k): _value(v) for k, v in values}, int(time_ns))


# ---- a server that misbehaves ----

class Misbehaving:
    """An HTTP server that answers with what `answers` says for one request after the other, and then
    204. An answer is (status, headers, body), "close" (no answer) or "silent" (never one)."""

    def __init__(self, answers=()):
        self.answers = list(answers)
        self.requests = []  # (path, headers, lines, time)
        self.lines = []  # that were answered with 204
        self.connections = 0
        self.released = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                outer.connections += 1

            def do_POST(self):  # pylint: disable=invalid-name
                outer.handle(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def handle(self, request):
        body = gzip.decompress(request.rfile.read(int(request.headers["Content-Length"])))
        lines = body.decode().split("\n")[:-1]
        answer = self.answers.pop(0) if self.answers else (204, {}, b"")
        self.requests.append((request.path, request.headers, lines, time.monotonic()))
        if answer == "silent":
            self.released.wait(30)
        if answer in ("close", "silent"):
            request.close_connection = True
            return
        status, headers, text = answer
        if status == 204:
            self.lines += lines
        request.send_response(status)
        for key, value in headers.items():
            request.send_header(key, value)
        if status != 204:
            request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)
