# SPDX-License-Identifier: BSD-3-Clause
"""Programs between two memif sockets, of which each program is the server: it forwards frames from the first to the
second with one worker. Each function starts a program and returns a function that stops it."""

import json
import os
import shutil
import subprocess

from bench import measure
from peers import l3fwd as example
from peers import traffic, vpp as fdio

MAC = "02:00:00:00:00:02"  # of the first port
RING_LOG2 = 12  # 4,096 frames in each ring, as in config/bench-memif.json


def socket(folder, name):
    return os.path.join(folder, f"{name}.sock")


def device(number, folder, name, role):
    """Returns a device of DPDK for an end of a socket."""
    return f"net_memif{number},role={role},id=0,socket={socket(folder, name)},socket-abstract=no,rsize={RING_LOG2}" + (
        f",mac={MAC}" if role == "server" and name == "in" else "")


def _dpdk(words, prefix):
    process = measure.start(words)

    def stop():
        measure.stop(process)
        shutil.rmtree(measure.runtime_folder(prefix), ignore_errors=True)
    return stop


def _eal(args, folder, prefix, lcores):
    return [*measure.memory_words(args.huge), "--no-pci", f"--file-prefix={prefix}", "--lcores", lcores,
            *(word for i, name in enumerate(("in", "out")) for word in ("--vdev", device(i, folder, name, "server")))]


def testpmd(args, folder):
    prefix = f"ndr-testpmd{os.getpid()}"
    return _dpdk([measure.PEER, *_eal(args, folder, prefix, f"0@{args.control},1@{args.worker}"), "--main-lcore", "0",
                  "--", "--forward-mode=mac", "--nb-cores=1", "--total-num-mbufs=32768", "--rxd=4096", "--txd=4096",
                  "--stats-period=3600"], prefix)


def l3fwd(args, folder):
    prefix = f"ndr-l3fwd{os.getpid()}"
    return _dpdk([args.l3fwd, *_eal(args, folder, prefix, f"0@{args.worker}"), "--", "-p", "0x3", "-P",
                  "--config=(0,0,0),(1,0,0)", "--lookup=lpm", "--parse-ptype", *example.write_routes(folder)], prefix)


def vpp_commands(folder):
    for number, name in enumerate(("in", "out"), 1):
        yield f"create memif socket id {number} filename {socket(folder, name)}"
        yield (f"create interface memif id 0 socket-id {number} master ring-size {1 << RING_LOG2}"
               + (f" hw-addr {MAC}" if name == "in" else ""))
        yield f"set interface state memif{number}/0 up"
        yield f"set interface rx-mode memif{number}/0 polling"
        yield f"set interface ip address memif{number}/0 fd00:{number}::1/64"
    yield f"set ip neighbor memif2/0 fd00:2::2 {traffic.next_hop_mac(0)} static"
    for number in range(traffic.ROUTES):
        yield f"ip route add {traffic.prefix(number)}/48 via fd00:2::2 memif2/0"


def vpp(args, folder):
    return fdio.Process(args.vpp, folder, fdio.startup(args.vpp, folder, args.worker, args.control, args.huge,
                                                       "memif_plugin.so"), vpp_commands(folder)).stop


def hopsight(args, folder, routes=0, rules=True):
    """`routes`: routes of /48; without them, a patch between the ports. `rules`: the rule of the configuration."""
    with open(args.config, encoding="utf-8") as f:
        config = json.load(f)
    config.update(control_core=args.control, workers=[args.worker])
    config["memory"]["huge_pages"] = args.huge
    config["control"]["bind"] = [f"ipc://{socket(folder, 'node')}"]
    for number, port in enumerate(config["ports"]):
        port["devargs"] = device(number, folder, port["name"], "server")
    if not rules:
        del config["requests"]
    if routes:
        config["memory"]["routes"] = routes
        config["forwarding"] = {"mode": "route", "routes": [
            {"prefix": f"{traffic.prefix(i)}/48", "port": "out", "next_hop_mac": traffic.next_hop_mac(i)}
            for i in range(routes)]}
    path = os.path.join(folder, "node.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(config, f)
    pages = os.path.join(folder, "pages")  # EAL looks for a mounted hugetlbfs
    os.mkdir(pages)
    if args.huge:
        subprocess.run(["mount", "-t", "hugetlbfs", "none", pages], check=True)
    process = measure.start([os.path.join(args.build, "apps", "hopsightd"), "--config", path])

    def stop():
        measure.stop(process)
        if args.huge:
            subprocess.run(["umount", pages], check=True)
    return stop
