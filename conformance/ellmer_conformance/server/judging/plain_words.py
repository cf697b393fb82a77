"""Removes plain words from a request, to recognize requests that differ in nothing else.

Many requests differ only in the text of a question. Rules depend on the structure of a request. They depend on a text
only if it is not a plain sentence: a blank text, a file in base64, a tag, or a word that an option requires.
"""

from __future__ import annotations

import re

__all__ = ["without_words"]

#: Words that a rule may look for in a text.
_TELLING = tuple(b"json redacted scrubbed omitted truncated filtered placeholder ...".split())
# A text that no rule looks at. A quote within a JSON string has a backslash before it, so the pattern matches only a
# key with its value.
_PLAIN = rb""": ?"[A-Za-z0-9](?:[A-Za-z0-9 ,.?!'()+*:;-]{0,398}[A-Za-z0-9.?!')])?\""""
_KEYS = [(key, b'"%s":"x"' % key, re.compile(b'"%s"' % key + _PLAIN)) for key in (b"content", b"text")]


def without_words(body: bytes) -> bytes:
    """Returns a body without its plain texts. A text that may matter to a rule is left unchanged."""
    low = body.lower()
    for word in _TELLING:
        if word in low:
            return body
    for key, instead, words in _KEYS:
        if key in body:
            body = words.sub(instead, body)
    return body
