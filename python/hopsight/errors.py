# SPDX-License-Identifier: BSD-3-Clause
"""What can go wrong."""


class Error(Exception):
    """All errors of this package."""


class Refused(Error):
    """The request was refused and has changed nothing.

    code: a word for programs. path: the field of the request. message: what is wrong. allowed: what would have been
    accepted, or "" where that is not known. id: of the request, if it had one."""

    def __init__(self, code, path="", message="", allowed="", id=None):  # pylint: disable=redefined-builtin
        self.code, self.path, self.message, self.allowed, self.id = code, path, message, allowed, id
        super().__init__(f"{code}: {message or path}{f' (allowed: {allowed})' if allowed else ''}")


class NoAnswer(Error):
    """No answer came in time. Requests that were sent may have been done.

    endpoint: where the answer was expected. reason: what is known of the connection."""

    def __init__(self, endpoint, timeout_s, reason):
        self.endpoint, self.timeout_s, self.reason = endpoint, timeout_s, reason
        super().__init__(f"{endpoint}: no answer within {timeout_s:g} s: {reason}")


class Changed(Error):
    """A list that comes in pages has changed between two pages again and again."""
