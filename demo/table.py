# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as tables for people."""


def rate(bps):
    return "-" if bps is None else f"{bps / 1e6:.2f}"


def micro(ns):
    return "-" if ns is None else f"{ns / 1000:.0f}"


def percent(ratio):
    return "-" if ratio is None else f"{100 * ratio:.2f}"


def delay(part, which="p50"):
    return part.get("delay_ns", {}).get(which)


def columns(out, rows, left=1):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [str(c).ljust(w) if i < left else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(row, widths))]
        out.write("  ".join(cells).rstrip() + "\n")


def hop_rows(name, report):
    rows = []
    for hop in report["hops"]:
        rows.append((name, f"{hop['from']}>{hop['to']}", rate(hop.get("throughput_bps")),
                     micro(delay(hop)), micro(hop.get("jitter_ns")), percent(hop.get("loss_ratio")),
                     hop.get("rx_packets", "-")))
        name = ""
    return rows


_HOP_HEAD = ("flow", "hop", "Mbit/s", "delay us", "jitter us", "loss %", "packets")


class Live:
    """One screen that is drawn over itself each second."""

    def __init__(self, out):
        self.out = out
        self.out.write("\033[2J")

    def show(self, elapsed_s, reports):
        self.out.write("\033[H\033[J")
        self.out.write(f"hopsight, {elapsed_s:.0f} s: the newest second of each flow\n\n")
        rows = [_HOP_HEAD]
        for name, report in reports.items():
            rows += hop_rows(name, report) if report and report["hops"] else \
                [(name, "waiting", "", "", "", "", "")]
        columns(self.out, rows, left=2)
        self.out.flush()


def summary(out, result):
    out.write("\nThe whole run, hop by hop\n\n")
    rows = [_HOP_HEAD]
    for flow in result["flows"]:
        rows += hop_rows(flow["name"], flow["hopsight"]) if flow["hopsight"] else []
    columns(out, rows, left=2)

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
              " IPv6 and UDP\n(86 of each TCP segment). \"As frames\" is the program's figure so"
              " converted. Delays are one-way medians.\n")
    round_trip(out, {flow["name"]: flow for flow in result["flows"]})
    lost = "adds up on every node" if result["audit"]["ok"] else "DOES NOT ADD UP"
    for node in result["audit"]["nodes"]:
        for drop in node["drops"]:
            out.write(f"Node {node['node_id']} dropped {drop['packets']} at port {drop['port']}:"
                      f" {drop['text']}.\n")
    out.write(f"Audit (received = sent + dropped, reports made = sent + lost): {lost}.\n")


def round_trip(out, flows):
    up, down = flows["ping-up"]["hopsight"], flows["ping-down"]["hopsight"]
    rtt_ns = flows["ping-up"]["program"].get("rtt_ns")
    if up and down and rtt_ns:
        both = delay(up["e2e"]) + delay(down["e2e"])
        out.write(f"Ping: {micro(rtt_ns)} us there and back, {micro(both)} us of it"
                  f" ({100 * both / rtt_ns:.0f} %) between the first node and the last.\n")
