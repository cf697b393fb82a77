"""What the reasoning of GPT-6.2 and later models is bound to: the tools, the format and the input before it.

The API drops reasoning whose prefix has changed, and names it in `input_transformations` of the answer:
https://developers.openai.com/api/docs/guides/keep-prefix-unchanged. The other reasons that OpenAI's SDK names (another user,
organization or model) are not reproduced: what exactly they compare is not documented.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import object_of, text_of
from ...contract.readers.openai_responses import format_of, items, type_of
from ...contract.scope import Scope
from .signatures import decoded, digest, opened, sign

__all__ = ["bound", "dropped"]

_DROPS = Scope(models=("gpt>=6.2",))
_MARK = "\x00prefix:"
_SAID = ("text", "refusal")  # of a part: the rest of it is added by the API
_CALLED = ("type", "call_id", "name", "arguments", "input", "output")


def bound(text: str, body: Json, model: str) -> bytes:
    """Returns the blob of a reasoning text, with the prefix that it was made after.

    Args:
        text: The reasoning.
        body: The request that it answers.
        model: The model of the request.
    """
    if not _binds(body, model):
        return sign(text)
    said = _items_without_reasoning(body)
    return sign(f"{text}{_MARK}{json.dumps(_prefix(body, said, len(said)))}")


def dropped(body: Json, model: str, *, seal: str) -> list[Json]:
    """Returns the reasoning that is dropped of a request, in the form of `input_transformations`.

    Args:
        body: The request.
        model: Its model.
        seal: The text before each blob.
    """
    if not _binds(body, model):
        return []
    said = _items_without_reasoning(body)
    return [
        {"id": text_of(item.get("id")), "action": "removed", "reason": "prefix_mismatch", "type": "reasoning"}
        for _, item in items(body)
        if type_of(item) == "reasoning" and _moved(item, body, said, seal)
    ]


def _binds(body: Json, model: str) -> bool:
    """Tells whether the whole conversation is in the request of such a model, and the API did not compact it."""
    elsewhere = body.get("previous_response_id") or body.get("conversation")
    compacted = any("compaction" in type_of(item) for _, item in items(body))
    return _DROPS.about("openai", model) and not elsewhere and not compacted


def _moved(item: Json, body: Json, said: Sequence[Any], seal: str) -> bool:
    """Tells whether the prefix of a reasoning item differs from the one it was made after."""
    text = opened(decoded(text_of(item.get("encrypted_content")).removeprefix(seal)) or b"") or ""
    _, mark, told = text.rpartition(_MARK)
    if not mark:
        return False
    prefix = json.loads(told)
    return bool(_prefix(body, said, prefix["count"]) != prefix)


def _prefix(body: Json, said: Sequence[Any], count: int) -> Json:
    """Returns the digests of a request's settings and of its first items."""
    settings = [body.get("tools") or [], format_of(body)]
    return {"settings": digest(settings), "items": digest(said[:count]), "count": count}


def _items_without_reasoning(body: Json) -> Sequence[Any]:
    """Returns the items without reasoning and without what the API adds to them, such as ids and states."""
    if isinstance(body.get("input"), str):
        return [["user", body["input"]]]
    return [_plain(item) for _, item in items(body) if type_of(item) != "reasoning"]


def _plain(item: Json) -> Any:
    if type_of(item) != "message":
        return {key: item[key] for key in _CALLED if item.get(key) is not None} or item
    content = item.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [next((object_of(part)[key] for key in _SAID if key in object_of(part)), part) for part in parts]
    return [item.get("role"), texts[0] if len(texts) == 1 else texts]
