# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as tables for people."""

import os


def rate(bps):
    return "-" if bps is None else f"{bps / 1e6:.2f}"


def micro(ns):
    return "-" if ns is None else f"{ns / 1000:.0f}"


def percent(ratio):
    return "-" if ratio is None else f"{100 * ratio:.2f}"


def delay(part, which="p50"):
    return part.get("delay_ns", {}).get(which)


def aligned(rows, left=1):
    """Returns a line for each row. The first `left` columns are left-aligned, the others
    right-aligned."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(str(cell).ljust(width) if i < left else str(cell).rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
            for row in rows]


def columns(out, rows, left=1):
    out.writelines(line + "\n" for line in aligned(rows, left))


def hop_name(hop):
    return f"{hop.get('from', '?')}>{hop.get('to', '?')}" if "from" in hop or "to" in hop else "all"


def hop_rows(name, report):
    rows = []
    for hop in report["hops"]:
        rows.append((name, hop_name(hop), rate(hop.get("throughput_bps")), micro(delay(hop)),
                     micro(hop.get("jitter_ns")), percent(hop.get("loss_ratio")),
                     hop.get("rx_packets", "-")))
        name = ""
    return rows


_HOP_HEAD = ("flow", "hop", "Mbit/s", "delay us", "jitter us", "loss %", "packets")


def end_rows(name, report):
    """A flow in one row, for a screen on which its hops have no room."""
    return hop_rows(name, {"hops": [report["e2e"]]})


def height_of(out):
    try:
        return os.get_terminal_size(out.fileno()).lines
    except (OSError, ValueError):
        return 24


class Live:
    """One screen, which is redrawn each second."""

    def __init__(self, out):
        self.out = out
        self.out.write("\033[2J")

    def show(self, elapsed_s, reports, height=None):
        head = f"hopsight, {elapsed_s:.0f} s: the newest second of each flow"
        flows = {name: hop_rows(name, report) if report and report["hops"] else
                 [(name, "waiting", "", "", "", "", "")] for name, report in reports.items()}
        # The cursor has a line of its own. Otherwise the screen would scroll.
        room = (height or height_of(self.out)) - 1
        for name in flows:
            if sum(map(len, flows.values())) + 2 > room and len(flows[name]) > 1:
                flows[name] = end_rows(name, reports[name])
        rows = [_HOP_HEAD, *(row for of_flow in flows.values() for row in of_flow)]
        lines = [head, *([""] if len(rows) + 2 <= room else []), *aligned(rows, left=2)]
        self.out.write("\033[H\033[J" + "".join(line + "\n" for line in lines[:room]))
        self.out.flush()


def summary(out, result):
    out.write("\nThe whole run, hop by hop\n\n")
    rows = [_HOP_HEAD]
    for flow in result["flows"]:
        rows += hop_rows(flow["name"], flow["hopsight"]) if flow["hopsight"] else []
    columns(out, rows, left=2)
    out.write("0 is the source.\n")
    int_hops(out, result["flows"])

    out.write("\nWhat each program said of its traffic, and what Hopsight measured in it\n\n")
    rows = [("flow", "said Mbit/s", "as frames", "measured", "said loss %", "measured",
             "rtt us", "delay us")]
    for flow in result["flows"]:
        said, end = flow["program"], (flow["hopsight"] or {}).get("e2e", {})
        rows.append((flow["name"], rate(said.get("throughput_bps")),
                     rate(said.get("frame_throughput_bps")), rate(end.get("throughput_bps")),
                     percent(said.get("loss_ratio")), percent(end.get("loss_ratio")),
                     micro(said.get("rtt_ns")), micro(delay(end))))
    columns(out, rows)
    out.write("\nPrograms report payload; Hopsight counts frames: payload and 62 bytes of Ethernet,"
              " IPv6 and UDP\n(42 with IPv4; 86 of each TCP segment). \"As frames\" is the"
              " program's figure so converted.\nDelays are one-way medians.\n"
              "A part of a delay is the time in which idle nodes wake up"
              " (\"busy\" would not sleep).\n")
    round_trip(out, {flow["name"]: flow for flow in result["flows"]})
    lost = "adds up on every node" if result["audit"]["ok"] else "DOES NOT ADD UP"
    for node in result["audit"]["nodes"]:
        for drop in node["drops"]:
            say_drops(out, node["node_id"], drop)
    out.write(f"Audit (received = sent + dropped, reports made = sent + lost): {lost}.\n")


def int_hops(out, flows):
    """What INT tells of each hop. It carries no counts, so that there is no loss."""
    for flow in flows:
        report = flow["hopsight"]
        if flow["method"] != "int" or not report:
            continue
        path = " > ".join(map(str, report.get("path", ["unknown"])))
        out.write(f"\n{flow['name']} is UDP over IPv4, measured by INT 2.1:"
                  f" {report['reports']} packets had telemetry, path {path}\n\n")
        rows = [("hop", "delay us min", "p50", "p99", "max", "jitter us", "in node us")]
        for hop in (*report["hops"], report["e2e"]):
            delays = [micro(delay(hop, which)) for which in ("min", "p50", "p99", "max")]
            inside = hop.get("hop_latency_ns", {}).get("mean")
            rows.append((hop_name(hop), *delays, micro(hop.get("jitter_ns")),
                         "-" if inside is None else f"{inside / 1000:.1f}"))
        columns(out, rows)
        out.write("\"In node\" is the mean time inside the hop's first node. INT carries no counts"
                  "\nof packets, so that it tells no loss.\n")


def say_drops(out, node_id, drop):
    earlier = drop["earlier_packets"]
    for packets, when in ((earlier, " before the flows began"), (drop["packets"] - earlier, "")):
        if packets:
            out.write(f"Node {node_id} dropped {packets}{when} at port {drop['port']}:"
                      f" {drop['text']}.\n")


def round_trip(out, flows):
    up, down = flows["ping-up"]["hopsight"], flows["ping-down"]["hopsight"]
    rtt_ns = flows["ping-up"]["program"].get("rtt_ns")
    if up and down and rtt_ns:
        both = delay(up["e2e"]) + delay(down["e2e"])
        out.write(f"Ping: {micro(rtt_ns)} us there and back, {micro(both)} us of it"
                  f" ({100 * both / rtt_ns:.0f} %) between the first node and the last.\n")
