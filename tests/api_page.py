# SPDX-License-Identifier: BSD-3-Clause
"""The examples of docs/api.md: for each verb, requests and the replies to them. In a list, `...` stands for further
entries."""

import json
import os
import re

from harness import ROOT

PAGE = os.path.join(ROOT, "docs", "api.md")
BEGIN, END = "<!-- examples begin -->", "<!-- examples end -->"
MORE = "..."  # the last entry of a list that is longer
_WIDTH = 118
_ENTRIES = 2  # of a list that is shown
_SECTION = re.compile(r"^### `(\w+)`\n(.*?)(?=^### |^<!-- verbs end)", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(r"^At an? (\w+):\n\n```json\n(.*?)\n\n(.*?)\n```$", re.DOTALL | re.MULTILINE)


def read():
    with open(PAGE, encoding="utf-8") as f:
        return f.read()


def _parsed(text):
    return json.loads(re.sub(r"([\[,]\s*)\.\.\.(\s*\])", r'\1"..."\2', text))


def examples(text):
    """Returns {(program, verb): (request, reply)}."""
    return {(program, verb): (_parsed(request), _parsed(reply))
            for verb, section in _SECTION.findall(text) for program, request, reply in _EXAMPLE.findall(section)}


def shortened(value):
    """Returns a reply with the first entries of each list only."""
    if isinstance(value, dict):
        return {key: shortened(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if not any(isinstance(part, (dict, list)) for part in value) and len(value) < 40:
        return value
    entries = 1 if len(json.dumps(value[:1])) > 300 else _ENTRIES
    return [shortened(part) for part in value[:entries]] + ([MORE] if len(value) > entries else [])


def _flat(value):
    return json.dumps(value, ensure_ascii=False).replace(f'"{MORE}"', MORE)


def laid_out(value, indent="", before=0):
    """Returns JSON in lines of a page. before: what stands in front on the first line."""
    flat = _flat(value)
    if len(indent) + before + len(flat) <= _WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    deeper, lines, line = indent + "  ", [], ""
    parts = [("" if isinstance(value, list) else json.dumps(key) + ": ", part)
             for key, part in (enumerate(value) if isinstance(value, list) else value.items())]
    for number, (head, part) in enumerate(parts):
        comma = "," if number + 1 < len(parts) else ""
        text = head + laid_out(part, deeper, len(head) + 1) + comma
        if line and (("\n" in text) or len(deeper) + len(line) + 1 + len(text) > _WIDTH):
            lines, line = lines + [line], ""
        line = f"{line} {text}" if line else text
        if "\n" in text:
            lines, line = lines + [line], ""
    lines += [line] if line else []
    first, last = "[]" if isinstance(value, list) else "{}"
    return first + "\n" + "\n".join(deeper + one for one in lines) + "\n" + indent + last


def _shown(program, request, reply):
    article = "an" if program[0] in "aeiou" else "a"
    return f"At {article} {program}:\n\n```json\n{laid_out(request)}\n\n{laid_out(shortened(reply))}\n```\n\n"


def with_examples(text, captured):
    """Returns the text of the page with these examples, {(program, verb): (request, reply)}."""
    def section(found):
        verb, content = found.groups()
        content = re.sub(rf"{BEGIN}\n.*?{END}\n\n", "", content, flags=re.DOTALL)
        shown = "".join(_shown(program, *example) for (program, of), example in captured.items() if of == verb)
        return f"### `{verb}`\n{content}" + (f"{BEGIN}\n{shown}{END}\n\n" if shown else "")

    return _SECTION.sub(section, text)


def difference(page, real, varies, path=""):
    """Returns where a reply differs from the page's, or None. varies(path): "" if a value must be the same, "value" if
    its type must be, "members" if an object's members may be others."""
    how = varies(path)
    if isinstance(page, dict) and isinstance(real, dict):
        if how != "members" and set(page) != set(real):
            return f"{path}: the page has {sorted(set(page) - set(real))}, the reply {sorted(set(real) - set(page))}"
        pairs = [(page[key], real[key], f"{path}.{key}") for key in page if key in real]
    elif isinstance(page, list) and isinstance(real, list):
        shown = [entry for entry in page if entry != MORE]
        if bool(shown) != bool(real) and how != "members":
            return f"{path}: the page has {len(shown)} entries, the reply {len(real)}"
        pairs = [(one, other, f"{path}[]") for one, other in zip(shown, real)]
    else:
        number = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (page, real))
        same = (number or type(page) is type(real)) and (how or page == real)
        return None if same else f"{path}: the page has {page!r}, the reply {real!r}"
    return next((said for one in pairs if (said := difference(one[0], one[1], varies, one[2]))), None)
