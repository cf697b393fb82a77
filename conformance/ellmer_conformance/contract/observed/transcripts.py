"""The printed transcript of a run in a comparable form: the same conversation prints the same for every format.

Ids become `call_1`, `call_2`, … in the order of their first appearance. Two ids never become one, so a collision in
the library stays visible. Provider, model and price are removed from the header.
"""

from __future__ import annotations

import re

_REQUEST = re.compile(r"\[tool (?:request|result ) \(([^)\n]+)\)\]")
# A transcript may have a million characters: `re` is fast where a pattern begins with what is looked for, and looks back later.
_HEADER = re.compile(r"<Chat (?<![^\n]<Chat ).+? (turns=\d+ tokens=\S+?)(?: \$[\d.]+)?>")


def normalised(transcript: str) -> str:
    """Returns the transcript with neutral ids and header."""
    ids = dict.fromkeys(_REQUEST.findall(transcript))
    neutral = {id: f"call_{number}" for number, id in enumerate(ids, 1)}
    if neutral:
        longest_first = map(re.escape, sorted(neutral, key=len, reverse=True))
        either = "|".join(rf"{id}(?<![\w-]{id})" for id in longest_first)
        transcript = re.sub(rf"(?:{either})(?![\w-])", lambda m: neutral[m.group()], transcript)
    return _HEADER.sub(r"<Chat \1>", transcript)
