"""What a model writes, for pages that take HTML in Markdown for HTML: markup is shown as it was written.

Otherwise `<style>` would restyle the page, `<title>` swallow the rest of the answer, and `<div>` not be seen at all.
Kept are the tags that models format with, none of which has attributes; suggestions; addresses in `<>`; and what
`flatten()` writes for the model, which is not to be seen. In code everything is as it is.

This scans and does not parse: where a list or a quote ends in the middle of a block of code, it may take one for the
other. shinychat itself takes out scripts, handlers and addresses that run code.
"""

from __future__ import annotations

import re

__all__ = ["Literal", "literal"]

FORMATTING = (
    "b|br|code|dd|del|details|dl|dt|em|h[1-6]|hr|i|ins|kbd|li|mark|ol|p|s|small|strong|sub|summary|sup|u|ul"
)
KEPT = re.compile(
    rf"""</?(?:{FORMATTING})\s*/?>|<details\ open>|<span\ class=["']suggestion[^<>]*>|</span>|</?content(?:\ [^<>]*)?>|<(?:https?:|mailto:)[^\s<>]*>""",
    re.IGNORECASE | re.VERBOSE,
)
TOKEN = re.compile(
    r"(?P<mark>`+|~+)|(?P<line>\n[ \t]*)|(?P<escape>\\.?)|(?P<tag><[^<>\n`]*>?)|[^`~\n\\<]+", re.DOTALL
)
MARK = re.compile("`+")
#: What may stand in front of a fence: quotes and items of lists.
BEFORE = re.compile(r"[ \t]*(?:(?:>|(?:[-*+]|\d+[.)])[ \t])[ \t]*)*")


def literal(text: str) -> str:
    """A whole text."""
    return Literal().feed(text, last=True)


class Literal:
    """A text in pieces. What may be the beginning of something is kept back until it is clear."""

    def __init__(self) -> None:
        self.rest = ""
        self.line = ""  # what the line has so far
        self.fence = ""  # what this block of code ends with
        self.html = False  # whether a tag began this paragraph: then nothing in it is code
        self.unclear = False  # whether a mark in it had no second on its line: then no mark is taken for one

    def feed(self, text: str, *, last: bool = False) -> str:
        """The next piece, and what was kept back before it."""
        text, shown, place = self.rest + text, "", 0
        while place < len(text):
            token = TOKEN.match(text, place)
            assert token, "every character is of some kind"
            end = self._end(token, last=last)
            if end is None:
                break
            shown += self._read(token, text[place:end])
            place = end
        self.rest = text[place:]
        return shown

    def _end(self, token: re.Match[str], *, last: bool) -> int | None:
        """Where it ends, code between marks with its end; None if that is not known yet."""
        text, unfinished = token.string, token["mark"] or token["line"] or token["escape"] or token["tag"]
        if not last and token.end() == len(text) and unfinished and not unfinished.endswith(">"):
            return None
        line_end = text.find("\n", token.end())
        known, limit = last or line_end >= 0, line_end if line_end >= 0 else len(text)
        if self._may_fence(token) and not known:
            return None
        if self.html or self.unclear or self.fence or self._fences(token) or not token[0].startswith("`"):
            return token.end()
        for mark in MARK.finditer(text, token.end(), limit):
            if mark[0] == token[0] and (known or mark.end() < limit):
                return mark.end()
        return token.end() if known else None

    def _may_fence(self, token: re.Match[str]) -> bool:
        return not self.html and len(token["mark"] or "") >= 3 and BEFORE.fullmatch(self.line) is not None

    def _fences(self, token: re.Match[str]) -> bool:
        """Whether a block of code begins here, or ends: then nothing else is on the line."""
        if not self._may_fence(token):
            return False
        mark, after = token[0], token.string[token.end() :].partition("\n")[0]
        if self.fence:
            return mark.startswith(self.fence) and not after.strip()
        return mark.startswith("~") or "`" not in after

    def _read(self, token: re.Match[str], text: str) -> str:
        if self._fences(token):
            self.fence, self.unclear = "" if self.fence else token[0], False
        elif token["tag"] and not self.fence:
            if not KEPT.fullmatch(text):
                text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
            elif BEFORE.fullmatch(self.line):
                self.html = True
        elif token["line"] and not self.line:
            self.html = self.unclear = False
        elif text == token["mark"] and text.startswith("`"):
            self.unclear = True
        self.line = "" if token["line"] else self.line + text
        return text
