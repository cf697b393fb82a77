"""Makes untrusted text safe to print: recordings, requests and answers may contain terminal control codes."""

from __future__ import annotations

import re

#: Control characters but tab and line feed, also those of 8 bits; what turns the direction of writing; half characters; letters that show
#: nothing (but those in emoji); commands of Azure Pipelines.
_OBEYED = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]|#(?=#vso\[)"
)


#: GitHub Actions obeys `::error::` and `##[error]` at the beginning of a line, after spaces, too.
_COMMAND = re.compile(r"^([^\S\n]*)(::|##\[)", re.MULTILINE)


def printable(text: str, *, commands: bool = False) -> str:
    """Returns the text with control codes and invisible characters written as escapes, and the first character of a line that
    GitHub Actions would obey, and of a command of Azure Pipelines. With `commands`, such lines are meant.
    """
    shown = _OBEYED.sub(_escape, text)
    return (
        shown if commands else _COMMAND.sub(lambda found: found[1] + _escape(found[2]) + found[2][1:], shown)
    )


def _escape(found: re.Match[str] | str) -> str:
    return f"\\u{ord(found[0][0]):04x}"


def one_line(text: str) -> str:
    """Returns a text, such as the name of a file, as one line of printable text."""
    return printable(text).replace("\n", "\\u000a").replace("\t", "\\u0009")
