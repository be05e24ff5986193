# SPDX-License-Identifier: BSD-3-Clause
"""Checks of tools/peer_bench.py without other programs: the frames, what VPP is told, pages, tables."""

import contextlib
import io
import ipaddress
import os
import re
import socket
import struct

from harness import check, equal, test

import peer_bench
from bench import measure
from peers import fastclick, memif, traffic, vpp


def frame(number, size=64):
    ip = struct.pack(">IHBB", 0x60000000, size - 54, 17, 64)
    ip += ipaddress.ip_address(f"2001:db8::{number + 1:x}").packed + ipaddress.ip_address(
        f"2001:{0xdb8 + (number >> 16):x}:{number & 0xffff:x}::7").packed
    return bytes(range(12)) + b"\x86\xdd" + ip + bytes(size - 54)


def write_program(workspace, name, line):
    path = workspace.path(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\n{line}\n")
    os.chmod(path, 0o755)
    return path


@test()
def a_file_of_frames_is_read_as_it_was_written(workspace):
    frames = [frame(0), frame(1, 128), frame(2, 77)]
    traffic.write_pcap(workspace.path("x.pcap"), frames)
    equal(traffic.read_pcap(workspace.path("x.pcap")), frames)


@test()
def a_trace_stands_in_a_hop_by_hop_header_of_whole_words_that_the_lengths_count():
    plain = frame(5, 128)
    traced = traffic.with_trace(plain)
    header = traced[54:54 + 8 * (traced[55] + 1)]
    equal(len(traced) - len(plain), len(header))
    equal([traced[20], header[0]], [0, 17], "next headers")
    equal(struct.unpack(">H", traced[18:20])[0], len(traced) - 54)
    equal(traced[:18] + traced[22:54], plain[:18] + plain[22:54], "the rest of both headers")
    equal(traced[54 + len(header):], plain[54:])
    equal(list(header[2:6]), [59, 2 + 3 * 16, 0x1f, 2], "an option of three entries, one of them used")
    check(any(header[6 + 2 * 16:6 + 3 * 16]) and not any(header[6:6 + 2 * 16]), "the last entry is the first node's")
    equal(header[6 + 3 * 16:], bytes(len(header) - 54), "padding")


@test()
def vpp_gets_a_route_for_each_destination_and_a_session_for_each_flow(workspace):
    frames = [frame(number) for number in range(traffic.ROUTES)]
    prefixes = [f"{traffic.prefix(number)}/48" for number in range(traffic.ROUTES)]
    for role in vpp.ROLES:
        lines = list(vpp.commands(role, frames, workspace.path("x.pcap"), prefixes))
        routes = [ipaddress.ip_network(line.split()[3]) for line in lines if line.startswith("ip route add")]
        equal(len(set(routes)), traffic.ROUTES, role)
        for one in frames[::100]:
            to = ipaddress.ip_address(one[38:54])
            equal(sum(to in route for route in routes), 1, to)
        sessions = [line for line in lines if line.startswith("classify session")]
        equal(len(sessions), traffic.ROUTES if role in ("source", "sink", "monitor") else 0, role)
        equal(any("ioam export" in line for line in lines), role == "monitor", role)
    source = socket.inet_ntop(socket.AF_INET6, frames[9][22:38])
    check(any(f"src {source} " in line for line in sessions), source)


@test()
def vpp_gets_more_routes_than_neighbours(workspace):
    prefixes = [f"2001:{number:x}::/32" for number in range(2500)]
    lines = list(vpp.commands("uneven", [frame(0)], workspace.path("x.pcap"), prefixes))
    routes = [line.split() for line in lines if line.startswith("ip route add")]
    equal([words[3] for words in routes], prefixes)
    neighbours = {line.split()[4] for line in lines if line.startswith("set ip neighbor")}
    equal({words[5] for words in routes}, neighbours)


@test()
def the_routes_of_a_case_are_asked_for_once_and_each_is_given_once(workspace):
    class Args:
        seconds, worker, control, build_facts = 1, 1, 0, {"cases": []}
        case_program = write_program(workspace, "case", 'echo x >> "$0.log"; echo \'{"routes": ["b::/32", "a::/48", "b::/32"]}\'')

    class Case:
        name = "route_uneven"

    peers = peer_bench.Peers(Args, workspace.path(""))
    equal([peers.routes(Case) for _ in range(2)], [["b::/32", "a::/48"]] * 2)
    with open(workspace.path("case.log"), encoding="ascii") as f:
        equal(f.read(), "x\n")


@test()
def uneven_routes_have_a_case_of_each_frame_size():
    equal([peer_bench.case_name("uneven", size) for size in (64, 128)], ["route_uneven", "route_uneven_128"])


@test()
def a_vpp_that_does_not_answer_has_failed(workspace):
    vpp.ANSWER_S = 0.2
    for name in ("vpp", "vppctl"):
        write_program(workspace, "bin/" + name, "exec sleep 60")
    try:
        vpp.Process(vpp.Programs(workspace.path("")), workspace.path(""), "", [])
        raise AssertionError("an answer")
    except measure.Failed as error:
        check("does not answer" in str(error), error)


@test()
def the_memif_ends_of_a_program_and_its_generator_meet():
    ours, theirs = (memif.device(0, "/x", "in", role) for role in ("server", "client"))
    equal(theirs.split(","), ["net_memif0", "role=client", "id=0", "socket=/x/in.sock", "socket-abstract=no", "rsize=12"])
    equal(set(ours.split(",")) - set(theirs.split(",")), {"role=server", f"mac={memif.MAC}"})
    lines = list(memif.vpp_commands("/x"))
    check(f"create interface memif id 0 socket-id 1 master ring-size 4096 hw-addr {memif.MAC}" in lines, lines[:4])
    equal(sum(line.startswith("ip route add") for line in lines), traffic.ROUTES)


@test()
def what_is_not_there_of_vpp_is_said(workspace):
    os.makedirs(workspace.path("bin"))
    with open(workspace.path("bin/vpp"), "w", encoding="ascii"):
        pass
    equal(vpp.Programs(workspace.path("")).missing(), ["bin/vppctl", "lib/*/vpp_plugins/ioam_plugin.so"])


@test()
def vpp_says_its_version_once_it_answers(workspace):
    for name, line in (("vpp", "exec sleep 60"), ("vppctl", 'test "$3" != "show version" || echo "vpp v23.10-release"')):
        write_program(workspace, "bin/" + name, line)
    process = vpp.Process(vpp.Programs(workspace.path("")), workspace.path(""), "", [])
    process.stop()
    equal(process.version, "vpp v23.10-release")


@test()
def fastclick_routes_each_destination_alike_and_rewrites_addresses_alone():
    for mode, most in (("route", traffic.ROUTES), ("one", 1)):
        elements = fastclick.configuration(mode).split("\n-> ")
        table = re.fullmatch(r"LookupIP6Route\((.*)\)", elements[3]).group(1).split(", ")
        equal(len(set(table)), most, mode)
        equal({entry.split()[1] for entry in table}, {"0"}, mode)
        for number in range(0, traffic.ROUTES, 100):
            to = ipaddress.ip_address(frame(number)[38:54])
            equal(sum(to in ipaddress.ip_network(entry.split()[0]) for entry in table), 1, to)
        check("DecIP6HLIM" in elements, elements[4:])
    equal(fastclick.configuration("mac").count("\n-> "), 2, "from a port by one element to the other port")


@test()
def fastclick_that_ends_says_why_at_once(workspace):
    bench = measure.Bench("", 0.01, 0, 0)
    bench.folder = workspace.path("")
    for line, why in (("echo \"EAL: 2 lcores\"; echo \"x:2: undeclared element 'LookupIP6Route'\" >&2; exit 1",
                       ": x:2: undeclared element 'LookupIP6Route'"), ("exit 0", "")):
        try:
            fastclick.ns(write_program(workspace, "click", line), bench, "net_pcap0", "route", False)
        except measure.Failed as error:
            equal(str(error), "FastClick: it ended before it forwarded" + why)
        else:
            check(False, "a program that does not forward has a figure")


@test()
def a_peer_that_is_not_there_ends_the_tool_before_it_measures(workspace):
    write_program(workspace, "apps/hopsight-bench-case", "exit 1")
    for option in ("--fastclick", "--l3fwd"):
        for path in (workspace.path("nothing"), workspace.path("apps")):
            parser, args = peer_bench.parse(["--build", workspace.path(""), option, path])
            said = io.StringIO()
            try:
                with contextlib.redirect_stderr(said):
                    peer_bench.look_for_programs(parser, args)
            except SystemExit as end:
                equal(end.code, 2)
            check(said.getvalue().endswith(f"error: {option}: {path}: not there, or not a program\n"), said.getvalue())


@test()
def fastclick_is_measured_in_the_role_route_alone():
    _, args = peer_bench.parse(["--fastclick", "click", "--pages", "huge", "--bytes", "64"])
    equal({cell.program: cell.role for cell in peer_bench.make_cells(args) if "fastclick" in cell.program},
          {"fastclick-mac": "route", "fastclick-one": "route", "fastclick-route": "route"})


@test()
def huge_pages_are_given_back_in_any_case(workspace):
    peer_bench.HUGE_PAGES = workspace.path("nr_hugepages")

    def now(number=None):
        if number is not None:
            with open(peer_bench.HUGE_PAGES, "w", encoding="ascii") as f:
                f.write(str(number))
        with open(peer_bench.HUGE_PAGES, encoding="ascii") as f:
            return int(f.read())

    for before, wanted, there in ((3, 100, 100), (200, 100, 200), (7, 0, 7)):
        now(before)
        try:
            with peer_bench.huge_pages(wanted):
                equal(now(), there)
                raise measure.Interrupted
        except measure.Interrupted:
            equal(now(), before)


@test()
def a_ratio_is_of_the_same_round_and_a_table_says_which_limits_are_met():
    class Args:
        pages, bytes, roles = [True, False], [64], ["route", "sink"]

    def cell(program, role, huge, *ns):
        made = peer_bench.Cell(program, role, 64, huge)
        made.ns = list(ns)
        return made

    cells = [cell("hopsight", "route", True, 40, 50, 90), cell("vpp", "route", True, 80, 100, 90),
             cell("hopsight", "sink", True, 70), cell("vpp", "sink", True, 100), cell("hopsight", "route", False, 60),
             cell("testpmd", "route", True, 20, 25, 30), cell("fastclick-one", "route", True, 40, 40, 45)]
    cells[2].made, cells[2].lost = 100, 25
    equal(peer_bench.ratios(*cells[:2]), [0.5, 0.5, 1.0])
    equal(peer_bench.table(cells, Args, 2).splitlines()[2:], [
        "| IPv6 forwarding | 64 | 2 MiB | 50 / 40 | 90 / 80 | 100 / 180 | 0.50 | 0.65 met |",
        "| sink, report in a ring, 25 % of reports lost | 64 | 2 MiB | 70 / 70 | 100 / 100 | 140 / 200 | 0.70 | 0.67 missed |",
        "| IPv6 forwarding | 64 | 4 KiB | 60 / 60 |  | 120 /  |  |  |",
        "| sink, report in a ring | 64 | 4 KiB |  |  |  /  |  |  |", "",
        "| program | bytes | pages | ns | Hopsight `route` by it |", "|---|---|---|---|---|",
        "| testpmd mac | 64 | 2 MiB | 25 / 20 | 2.00 |",
        "| FastClick, router with one route for all | 64 | 2 MiB | 40 / 40 | 1.25 |"])
    cells[2].ns = [50]
    check(peer_bench.table(cells, Args, 2).splitlines()[3].endswith("| 0.50 | 0.67 missed |"), "too many reports are lost")
    cells[2].lost = 10
    check(peer_bench.table(cells, Args, 2).splitlines()[3].endswith("| 0.50 | 0.67 met |"), "ten of a hundred may be lost")
