# SPDX-License-Identifier: BSD-3-Clause
"""Text for man(7): escapes, and the inline marks of Markdown."""

import re

WIDTH = 100


def escape(text):
    """Returns text whose characters stand for themselves."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(ga").replace("'", r"\(aq")
    text = text.replace("^", r"\(ha").replace("~", r"\(ti")
    # roff by itself reads no UTF-8.
    return re.sub(r"[^\0-\x7f]", lambda other: rf"\[u{ord(other.group()):04X}]", text)


def bold(text):
    return rf"\fB{escape(text)}\fR" if text else ""


def words(text):
    """Marks what a reader types: options in bold, the names of values in italics."""
    def mark(word):
        if re.match(r"--?\w", word) or re.fullmatch(r"[a-z][\w-]*", word):
            return bold(word)
        return re.sub(r"(?<![\w-])[A-Z][A-Z_]*(?![\w-])", lambda name: rf"\fI{name.group()}\fR", escape(word))
    return " ".join(mark(word) for word in text.split())


def markdown(text):
    """Returns a line of Markdown as roff: `code` and **text** in bold, links as words and file."""
    text = re.sub(r"\[([^\]]*)\]\(([^)#]*)[^)]*\)",
                  lambda link: link[1] if link[1] == link[2] else f"{link[1]} ({link[2]})", text)
    parts = re.split(r"(`[^`]*`|\*\*.*?\*\*)", text)
    return "".join(bold(part.strip("`*")) if part[:1] == "`" or part[:2] == "**" else escape(part) for part in parts)


def fill(text):
    """Breaks text into lines that no request of roff can be mistaken for."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) >= WIDTH:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    lines.append(line)
    return "\n".join(r"\&" + line if line[:1] in (".", "'") else line for line in lines)


def paragraph(text):
    return ".PP\n" + fill(text)


def item(head, text):
    return f".TP\n{head}\n{fill(text)}"
