#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of fields of the formats, from the tables that the codecs are made of, into the
dissector (hopsight.lua) and into the page of the report (docs/wire-int-report.md).

    make_fields.py          write
    make_fields.py --check  exit 1 if a file differs
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TELEMETRY = os.path.join(ROOT, "lib", "telemetry")

_ROW = re.compile(r'^(HS_\w+)\(((?:"[^"]*"|[^"()])*)\)', re.MULTILINE)
_CELL = re.compile(r'\s*("[^"]*"|[^",]+)\s*(?:,|$)')


def read(*path):
    with open(os.path.join(TELEMETRY, *path), encoding="ascii") as f:
        return f.read()


def rows(text):
    """Yields (macro, cells) of each row of a table; a cell in quotes is without them."""
    text = re.sub(r"^(#|//).*$", "", text, flags=re.MULTILINE)
    for macro, cells in _ROW.findall(text):
        yield macro, [cell.strip().strip('"') for cell in _CELL.findall(cells)]


def constants(text):
    """The numbers that `#define NAME expression` of a header gives to names."""
    found = {}
    for name, value in re.findall(r"^#define (\w+)\s+([^/\n\\]+)", text, re.MULTILINE):
        try:
            found[name] = int(eval(value, {"__builtins__": {}}, found))  # pylint: disable=eval-used
        except (NameError, SyntaxError, TypeError):
            pass
    return found


def flexint():
    known = constants(read("telemetry_model.h"))
    tables = {"flexint_e2e": [], "flexint_hop": []}
    for macro, (bit, size, key, name) in rows(read("flexint", "flexint_fields.def")):
        tables["flexint_e2e" if "E2E" in macro else "flexint_hop"].append(
            {"mask": known[bit], "bits": 8 * int(size), "key": key, "name": name})
    return tables


def report():
    tables = {}
    for macro, cells in rows(read("int_report", "int_report_fields.def")):
        pad = macro.endswith("_PAD")
        name = macro.removesuffix("_PAD").removeprefix("HS_").lower()
        if pad and not name.endswith("drop"):
            name += "_value"
        if name.endswith("_head"):
            first, bits, key, label = cells
            row = {"first": int(first), "bits": int(bits), "key": key, "name": label}
        else:
            row = {"mask": int(cells[0], 0), "bits": 8 * int(cells[1])}
            if not pad:
                row.update(key=cells[2], name=cells[4])
        tables.setdefault(name, []).append(row)
    return tables


def reasons():
    return {int(number): sentence for _, (number, _, _, sentence) in
            rows(read("int_report", "int_report_reasons.def"))}


def int_values():
    """A table for each version of INT."""
    order = re.search(r"enum hs_int_version \{(.*?)\}", read("int", "int_values.h"), re.DOTALL)
    order = re.findall(r"(HS_INT_\w+),", order.group(1))
    names = re.search(r"version_names\[\] = \{(.*?)\}", read("int", "int_fields.c"), re.DOTALL)
    names = re.findall(r'"([^"]+)"', names.group(1))
    known = dict(zip(order, range(len(order))))
    for name, value in re.findall(r"^#define (HS_INT_V_\w+)\s+(.+)$", read("int", "int_fields.h"),
                                  re.MULTILINE):
        known[name] = eval(value, {"__builtins__": {}}, known)  # pylint: disable=eval-used
    tables = {"int_" + name: [] for name in names}
    for _, cells in rows(read("int", "int_fields.def")):
        versions, bit, instruction, bits, _, key, _, unit = cells
        versions = eval(versions, {"__builtins__": {}}, known)  # pylint: disable=eval-used
        label = key.replace("_", " ")
        for i, name in enumerate(names):
            if versions & 1 << i:
                tables["int_" + name].append({
                    "mask": 0x8000 >> int(bit), "bits": int(bits), "key": key,
                    "name": label + (f" ({unit})" if unit and unit not in label else ""),
                    "instruction": instruction})
    return tables


def lua_row(row):
    cells = []
    for key, value in row.items():
        if isinstance(value, str):
            value = f'"{value}"'
        elif key == "mask":
            value = f"0x{value:04x}"
        cells.append(f"{key} = {value}")
    return "{ " + ", ".join(cells) + " },"


def lua():
    lines = ["local FIELDS = {"]
    for name, table in {**flexint(), **int_values(), **report()}.items():
        lines += [f'\t["{name}"] = {{', *("\t\t" + lua_row(row) for row in table), "\t},"]
    lines += ["}", "local DROP_REASONS = {"]
    lines += [f'\t[{number}] = "{sentence}",' for number, sentence in reasons().items()]
    return "\n".join(lines + ["}"])


def document_head(table):
    lines = ["| byte.bit | bits | field |", "|---|---|---|"]
    for row in table:
        byte, bit = divmod(row["first"], 8)
        lines.append(f"| {byte}.{bit} | {row['bits']} | {row['name']} |")
    return "\n".join(lines)


def document_values(table):
    with_bits = any(row["mask"] for row in table)
    lines = ["| mask | bits | value | member |" if with_bits else "| bits | value | member |",
             "|---|---|---|---|" if with_bits else "|---|---|---|"]
    for row in table:
        name = row.get("name", "no value")
        key = f"`{row['key']}`" if "key" in row else ""
        mask = f"| 0x{row['mask']:02x} " if with_bits else ""
        lines.append(f"{mask}| {row['bits']} | {name} | {key} |")
    return "\n".join(lines)


def document():
    """The text of each place of the page."""
    places = {name: document_head(table) if name.endswith("_head") else document_values(table)
              for name, table in report().items()}
    places["reasons"] = "\n".join(["| number | reason |", "|---|---|"] + [
        f"| {number} | {sentence} |" for number, sentence in reasons().items()])
    return places


def replaced(text, begin, end, new):
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"no {begin!r} with {end!r}")
    return f"{before}{begin}\n{new}\n{end}{after}"


def files():
    """Yields (path, text as it is, text as it must be)."""
    path = os.path.join(ROOT, "docs", "wire-int-report.md")
    with open(path, encoding="utf-8") as f:
        old = new = f.read()
    for name, text in document().items():
        new = replaced(new, f"<!-- {name} -->", f"<!-- end of {name} -->", text)
    yield path, old, new
    path = os.path.join(HERE, "hopsight.lua")
    with open(path, encoding="utf-8") as f:
        old = f.read()
    yield path, old, replaced(old, "-- Written by make_fields.py.", "-- End of what make_fields.py writes.",
                              lua())


def main():
    differ = False
    for path, old, new in files():
        if old != new:
            differ = True
            print(f"{os.path.relpath(path, ROOT)} differs from the tables of the sources")
            if "--check" not in sys.argv[1:]:
                with open(path, "w", encoding="utf-8") as f:
                    f.write(new)
    return int(differ and "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
