# SPDX-License-Identifier: BSD-3-Clause
"""The result as JSON, as a table for people, and as a card in Markdown."""

from bench.result import HUGE, median

BEGIN_MARK = "<!-- card: begin -->\n"
END_MARK = "<!-- card: end -->\n"
FACTS = (("cpu", "processor"), ("cores", "cores"), ("kernel", "kernel"), ("dpdk", "DPDK"), ("compiler", "compiler"),
         ("options", "built with"), ("version", "Hopsight"), ("date", "date"), ("command", "command"))


# ---- JSON ----

def summary(samples, middle, digits):
    return {"median": round(float(middle), digits), "min": round(float(min(samples)), digits),
            "max": round(float(max(samples)), digits)}


def packets_json(row):
    traffic = row.case.traffic
    result = {"frame_bytes": traffic["frame_bytes"]}
    if traffic["hops"] >= 0:
        result["telemetry_hops"] = traffic["hops"]
    if not row.samples:
        return result
    result["ns_per_packet"] = summary(row.samples, row.median, 2)
    if row.cycles:
        result["cycles_per_packet"] = summary(row.cycles, median(row.cycles), 1)
    result["mpps"] = round(1000 / row.median, 2)
    if row.ratio() > 0:
        result |= {"ratio": round(row.ratio(), 3), "yardstick": row.yardstick.name}
    if row.reports_made:
        result["reports_lost_ratio"] = round(row.lost_ratio(), 6)
    return result


def row_json(row):
    case = row.case
    result = {"name": row.name}
    if row.packets:
        result |= packets_json(row)
    elif row.samples:
        result["per_second"] = summary(row.samples, row.median, 0)
        if row.ratio() > 0:
            result |= {"ratio": round(row.ratio(), 3), "yardstick": row.yardstick.name}
    result["rounds"] = len(row.samples)
    if case.least_per_second and row.samples:
        result |= {"least_per_second": case.least_per_second, "met": row.median >= case.least_per_second}
    if row.limited() > 0:
        result |= {"limit_ratio": case.limit, "met": row.limited() <= case.limit}
    if case.shared_cores and not row.mode:
        result["shared_cores"] = True
    if row.error:
        result["error"] = row.error
    return result


def result_json(machine, rows):
    peers = [row_json(row) for row in rows if row.mode]
    return {"machine": machine, **({"yardstick": peers[0]} if peers else {}), "peers": peers,
            "cases": [row_json(row) for row in rows if not row.mode]}


# ---- a table ----

COLUMNS = ("case", "ns", "min", "max", "cycles", "Mpps", "ratio", "limit", "", "per second", "reports lost %")


def number(value, digits):
    return f"{value:.{digits}f}" if value > 0 else ""


def cells(row):
    packets = row.samples if row.packets else []
    limited = row.limited()
    return (row.name, *(number(f(packets), 1) if packets else "" for f in (median, min, max)),
            number(median(row.cycles), 0), number(1000 / row.median if packets else 0, 2), number(row.ratio(), 3),
            number(row.case.limit if limited > 0 else 0, 2),
            "" if limited <= 0 else "met" if limited <= row.case.limit else "missed",
            number(0 if row.packets else row.median, 0), number(100 * row.lost_ratio(), 1))


def table(rows):
    """Returns a line for each row, without columns that are empty, and a line for each failure."""
    lines = [cells(row) for row in rows]
    used = [c for c in range(len(COLUMNS)) if any(line[c] for line in lines)]
    widths = {c: max(len(line[c]) for line in [COLUMNS, *lines]) for c in used}

    def layout(line):
        return "  ".join(line[c].rjust(widths[c]) if c and COLUMNS[c] else line[c].ljust(widths[c])
                         for c in used).rstrip() + "\n"

    return "".join(layout(line) for line in ([COLUMNS, *lines] if used else [])) + "".join(
        f"{row.name} failed: {row.error}\n" for row in rows if row.error)


# ---- a card ----

def about(row):
    if row.mode:
        return "dpdk-testpmd"
    return (row.case.about
            + (f"; {100 * row.lost_ratio():.1f} % of the reports found no place in the ring" if row.reports_lost else "")
            + ("; more busy threads than cores" if row.case.shared_cores else ""))


def limit(row):
    limited = row.limited()
    if limited <= 0:
        return "| |"
    of = f" of {row.case.limit_of} ({limited:.3f})" if row.case.limit_of else ""
    return f"{row.case.limit:.2f}{of} | {'met' if limited <= row.case.limit else '**missed**'} |"


def span(row):
    return f"{row.median:.1f} ({min(row.samples):.1f}–{max(row.samples):.1f})" if row.samples else f"failed: {row.error}"


def ratio(row):
    return f"{row.ratio():.2f} |" if row.ratio() > 0 else "|"


def huge_cells(twins, row):
    """Returns the cells of the same row with huge pages, if some row was measured with them."""
    twin = twins.get(row.name + HUGE)
    return f" {span(twin)} | {ratio(twin)}" if twin else " | |" if twins else ""


def packets_line(row, twins):
    begin = f"| `{row.name}` | {about(row)} | {row.case.traffic['frame_bytes']} | {span(row)} |"
    rest = f" {1000 / row.median:.1f} | {ratio(row)} {limit(row)}" if row.samples else " | | | |"
    return f"{begin}{rest}{huge_cells(twins, row)}\n"


def control_line(row):
    begin, least = f"| `{row.name}` | {row.case.about} |", row.case.least_per_second
    if not row.samples:
        return f"{begin} failed: {row.error} | | | |\n"
    met = f"{least:.0f} | {'met' if row.median >= least else '**missed**'} |" if least else limit(row)
    return (f"{begin} {row.median:.0f} ({min(row.samples):.0f}–{max(row.samples):.0f}) | {1e6 / row.median:.3f} | "
            f"{met}\n")


def card(machine, rows):
    twins = {row.name: row for row in rows if row.huge}
    packets = [packets_line(row, twins) for row in rows if row.packets and not row.huge]
    control = [control_line(row) for row in rows if not row.packets]
    return "".join([
        "| machine | |\n|---|---|\n", *(f"| {label} | {machine[key]} |\n" for key, label in FACTS if key in machine),
        "\n| case | what | frame bytes | ns median (min–max) | Mpps | ratio | limit | |",
        " huge pages: ns | ratio |\n|---|---" if twins else "\n", "|---|---|---|---|---|---|---|---|\n", *packets,
        *(["\n| control | what | per second, median (min–max) | µs each | at least | |\n",
           "|---|---|---|---|---|---|\n"] if control else []), *control])


def place_card(document, text):
    """Puts the card between the two markers of the document, or with markers at its end."""
    head, begin, rest = document.partition(BEGIN_MARK)
    _, end, tail = rest.partition(END_MARK)
    if not (begin and end):
        head, tail = document, ""
    return head + BEGIN_MARK + text + END_MARK + tail
