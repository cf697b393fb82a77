"""What a provider attached to its answers and no longer accepts: a signature, encrypted reasoning or a block that was changed in a
file, or whose key has expired. Without it, the answers are sent as those of another provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_

from ..contents.content import Content, ContentUnknown, replaced
from ..contents.turns import AssistantTurn, Turn

__all__ = ["Plain", "without_attachments"]

#: Answers by their identity, each with the same answer without attachments. It holds both, so that no identity is reused.
Plain = dict[int, tuple[Turn, Turn]]


def without_attachments(turns: Sequence[Turn], format: str) -> Plain:
    """Returns the answers that have attachments of a wire format, and the same answers without them."""
    plain: Plain = {}
    for turn in turns:
        if isinstance(turn, AssistantTurn):
            contents = tuple(_plain(content, format) for content in turn.contents)
            if not all(map(is_, contents, turn.contents)):
                plain[id(turn)] = turn, turn.but_with(contents=contents)
    return plain


def _plain(content: Content, format: str) -> Content:
    """Returns a content as one of another provider, which has no attachment."""
    if isinstance(content, ContentUnknown):
        return replaced(content, wire=f"{format}, refused") if content.wire == format else content
    extra = getattr(content, "extra", None)
    if not isinstance(extra, Mapping) or format not in extra:
        return content
    return replaced(content, extra={name: value for name, value in extra.items() if name != format})
