"""Removes plain words from a request, to recognize requests that differ in nothing else.

Many requests differ only in the text of a question. Rules depend on the structure of a request. They depend on a text
only if it is not a plain sentence: a blank text, a file in base64, a tag, or a word that an option requires. They depend
on the prefix, the length and the kinds of characters of call ids, and on which ids are equal.
"""

from __future__ import annotations

import re

__all__ = ["without_ids", "without_words"]

#: Words that a rule may look for in a text. `json` counts only if it is not a key.
_JSON, _JSON_KEY = b"json", b'"json":'
_TELLING = tuple(b"redacted scrubbed omitted truncated filtered placeholder ...".split())
# A text that no rule looks at. A quote within a JSON string has a backslash before it, so the pattern matches only a
# key with its value.
_WORDS = rb"""[A-Za-z0-9](?:[A-Za-z0-9 ,.?!'()+*:;-]{0,398}[A-Za-z0-9.?!')])?"""
_PLAIN = b': ?"%b"' % _WORDS
_KEYS = [
    (key, b'"%s":"x"' % key, re.compile(b'"%s"' % key + _PLAIN))
    for key in (b"content", b"text", b"output", b"thinking")
]


def without_words(body: bytes) -> bytes:
    """Returns a body without its plain texts. A text that may matter to a rule is left unchanged."""
    low = body.lower()
    if low.count(_JSON) > low.count(_JSON_KEY):
        return body
    for word in _TELLING:
        if word in low:
            return body
    for key, instead, words in _KEYS:
        if key in body:
            body = words.sub(instead, body)
    return body


_ARGUMENTS = re.compile(
    rb'"(?:input|args|arguments|response)": ?\{[^{}\[\]]*\}'
)  # an object without others in it
_VALUE = re.compile(_PLAIN)
_IN_JSON_TEXT = re.compile(rb'\\": ?\\"%b\\"' % _WORDS)
_ID = re.compile(rb'"(?:id|call_id|tool_call_id|tool_use_id|toolUseId)": ?"([A-Za-z0-9_-]{8,64})"')
_LETTER_AND_DIGIT = re.compile(rb"(?=.*[A-Za-z]).*[0-9]")
_HEX = 32  # digits that an id of OpenAI's begins with
_KINDS = bytes.maketrans(
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"0" * 10 + b"a" * 6 + b"g" * 20 + b"A" * 6 + b"G" * 20,
)


def without_ids(body: bytes) -> bytes:
    """Returns a body without its plain texts, with numbers for the ids of calls, and without plain arguments."""
    bare = without_words(body)
    if bare is not body:
        bare = _IN_JSON_TEXT.sub(rb'\\":\\"x\\"', bare)
        bare = _ARGUMENTS.sub(lambda found: _VALUE.sub(b':"x"', found[0]), bare)
    for number, id in enumerate(dict.fromkeys(_ID.findall(bare))):
        if _LETTER_AND_DIGIT.match(id):
            bare = bare.replace(id, b"%b#%d#" % (_form(id), number))
    return bare


def _form(id: bytes) -> bytes:
    """Returns what rules may look for in an id: its prefix, its length, and the kinds of its characters."""
    prefix, mark, rest = id.partition(b"_") if b"_" in id else (b"", b"", id)
    start, end = (bytes(sorted({*part.translate(_KINDS)})) for part in (rest[:_HEX], rest[_HEX:]))
    return b"%b%b%b.%b.%d" % (prefix, mark, start, end, len(id))
