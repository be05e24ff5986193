# SPDX-License-Identifier: BSD-3-Clause
"""A terminal of rows and columns for a program: what the program has put on the screen, and the
modes in which it leaves the terminal. Knows the control sequences of vt102 and the colours of
xterm, and raises at any other."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

_SEQUENCE = re.compile(r"\x1b(?:\[([?>]?)([0-9;]*)([A-Za-z@`])|[()]([A-Z0-9])|([=>78M])|\]\d*;[^\x07]*\x07)")


class Screen:
    """The characters of a terminal. The last column is written without moving to the next line until
    another character comes, as terminals do."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.row = self.column = 0
        self.margins = (0, rows - 1)
        self.cells = [[" "] * columns for _ in range(rows)]
        self.rest = ""
        self.colours = set()
        self.modes = set()  # private ones that are set
        self.decoder = codecs.getincrementaldecoder("utf-8")("strict")

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def feed(self, data):
        text, self.rest = self.rest + self.decoder.decode(data), ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._put(text[at])
                at += 1
                continue
            found = _SEQUENCE.match(text, at)
            if not found:
                if len(text) - at > 32:
                    raise AssertionError(f"unknown control sequence {text[at:at + 32]!r}")
                self.rest = text[at:]
                return
            if found[3]:
                self._control(found[1], [int(n or 0) for n in found[2].split(";")], found[3])
            elif found[5] == "M":
                raise AssertionError("reverse index")
            at = found.end()

    def _put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self._line_feed()
        elif character == "\b":
            self.column = max(0, min(self.column, self.columns - 1) - 1)
        elif character in "\x0e\x0f\x07\x00":
            pass
        elif ord(character) < 0x20:
            raise AssertionError(f"control character {character!r}")
        else:
            if self.column == self.columns:
                self.column = 0
                self._line_feed()
            self.cells[self.row][self.column] = character
            self.column += 1

    def _line_feed(self):
        top, bottom = self.margins
        if self.row == bottom:
            del self.cells[top]
            self.cells.insert(bottom, [" "] * self.columns)
        elif self.row < self.rows - 1:
            self.row += 1

    def _erase(self, row, begin, end):
        self.cells[row][begin:end] = [" "] * (end - begin)

    def _control(self, private, numbers, letter):
        first = numbers[0] or 1
        if private:
            if letter in "hl":
                (self.modes.update if letter == "h" else self.modes.difference_update)(numbers)
            return
        if letter in "Hf":
            self.row = min(first, self.rows) - 1
            self.column = min((numbers + [1])[1] or 1, self.columns) - 1
        elif letter == "A":
            self.row = max(0, self.row - first)
        elif letter == "B":
            self.row = min(self.rows - 1, self.row + first)
        elif letter == "C":
            self.column = min(self.columns - 1, self.column + first)
        elif letter == "D":
            self.column = max(0, self.column - first)
        elif letter in "G`":
            self.column = min(first, self.columns) - 1
        elif letter == "d":
            self.row = min(first, self.rows) - 1
        elif letter == "J":
            self._erase_screen(numbers[0])
        elif letter == "K":
            begin = 0 if numbers[0] else self.column
            self._erase(self.row, begin, self.columns if numbers[0] != 1 else self.column + 1)
        elif letter == "X":
            self._erase(self.row, self.column, min(self.columns, self.column + first))
        elif letter == "b":
            character = self.cells[self.row][self.column - 1]
            for _ in range(first):
                self._put(character)
        elif letter == "r":
            self.margins = (first - 1, ((numbers + [0])[1] or self.rows) - 1)
            self.row = self.column = 0
        elif letter == "L":
            self._scroll(self.row, -first)
        elif letter == "M":
            self._scroll(self.row, first)
        elif letter == "S":
            self._scroll(self.margins[0], first)
        elif letter == "T":
            self._scroll(self.margins[0], -first)
        elif letter == "P":
            row = self.cells[self.row]
            row[self.column:] = (row[self.column + first:] + [" "] * self.columns)[:self.columns - self.column]
        elif letter == "@":
            row = self.cells[self.row]
            row[self.column:] = ([" "] * first + row[self.column:])[:self.columns - self.column]
        elif letter == "m":
            self.colours.update(n for n in numbers if 30 <= n <= 49 and n not in (39, 49))
        elif letter not in "hltn":
            raise AssertionError(f"unknown control sequence ESC [ {numbers} {letter}")

    def _erase_screen(self, which):
        if which == 0:
            self._erase(self.row, self.column, self.columns)
        for row in range(self.row + 1 if which == 0 else 0, self.row if which == 1 else self.rows):
            self._erase(row, 0, self.columns)

    def _scroll(self, top, lines):
        bottom = self.margins[1]
        for _ in range(min(abs(lines), bottom - top + 1)):
            del self.cells[top if lines > 0 else bottom]
            self.cells.insert(bottom if lines > 0 else top, [" "] * self.columns)


class Terminal:
    """A program on a terminal. `environment` replaces variables; None removes one."""

    def __init__(self, words, rows=24, columns=80, environment=None):
        variables = dict(os.environ, TERM="vt102")
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            variables.pop(name, None)
        for name, value in (environment or {}).items():
            variables.pop(name, None)
            if value is not None:
                variables[name] = value
        self.ours, self.theirs = pty.openpty()
        self.raw = b""
        self.resize(rows, columns)
        self.modes_before = termios.tcgetattr(self.theirs)
        self.program = subprocess.Popen(words, stdin=self.theirs, stdout=self.theirs, stderr=self.theirs,
                                        env=variables, start_new_session=True, preexec_fn=self._control)

    def _control(self):
        fcntl.ioctl(self.theirs, termios.TIOCSCTTY, 0)

    def resize(self, rows, columns):
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = Screen(rows, columns)

    def read(self, limit_s=0.05):
        """Takes what the program wrote; returns whether there was something."""
        if not select.select([self.ours], [], [], limit_s)[0]:
            return False
        data = os.read(self.ours, 65536)
        self.raw += data
        self.screen.feed(data)
        return True

    def lines(self):
        while self.read(0):
            pass
        return self.screen.lines()

    def text(self):
        return "\n".join(self.lines())

    def until(self, condition, what, limit_s=10):
        """Waits until condition(text of the screen) is true, and returns it."""
        end = time.monotonic() + limit_s
        while True:
            found = condition(self.text())
            if found:  # what the program draws at once may come in pieces
                self.read(0.02)
                return condition(self.text()) or found
            if time.monotonic() > end:
                raise AssertionError(f"within {limit_s} s: {what}; the screen:\n{self.text()}")
            self.read()

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def end(self, number=None, limit_s=5):
        """Sends a signal (None: waits only) and returns the exit code."""
        if number is not None:
            self.program.send_signal(number)
        end = time.monotonic() + limit_s
        while self.program.poll() is None and time.monotonic() < end:
            self.read()
        code = self.program.poll()
        if code is None:
            self.program.kill()
            self.program.wait()
            raise AssertionError(f"the program did not end within {limit_s} s; the screen:\n{self.text()}")
        while self.read(0):
            pass
        return code

    def is_restored(self):
        """Whether the terminal's modes are those before the program, the usual screen is shown, and the
        cursor is visible."""
        hidden = self.raw.rfind(b"\x1b[?25l")
        return (termios.tcgetattr(self.theirs) == self.modes_before and
                not self.screen.modes & {47, 1047, 1049} and
                hidden <= max(self.raw.rfind(b"\x1b[?25h"), self.raw.rfind(b"\x1b[?12;25h"),
                              self.raw.rfind(b"\x1b[34h\x1b[?25h")))

    def close(self):
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGKILL)
            self.program.wait()
        os.close(self.ours)
        os.close(self.theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
