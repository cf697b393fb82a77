"""Signatures, which the server sends and expects back unchanged, and what the newer Claude models bind them to.

A signed blob contains its text and a MAC of it, so that a client cannot change either unnoticed. The providers' signatures
have the same effect for a client.
"""

from __future__ import annotations

import hmac
import json
import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from ...contract.observed.exchange import Json
from ...contract.readers.anthropic import BINDING_BETA, PRESERVES_THINKING
from ...contract.readers.json_access import object_of, text_of
from ...scenarios.script import REDACTED

# --- signed blobs ----------------------------------------------------------------------------------------


_MARK = b"\x0a\x11strict-conformance"
_KEY = b"the same for everyone: two recordings must be equal"
_SIZE = sha256().digest_size
LONG = 16_384  # characters of a signature that is not remembered
_REMEMBERED, _SHORT = 16_384, 1024  # digests, and the bytes of a value that is remembered itself
_DIGESTS: dict[bytes, str] = {}
_UNSAID = frozenset({"cache_control", "cachePoint"})


def sign(text: str) -> bytes:
    """Returns the blob of a text."""
    data = text.encode()
    return _MARK + hmac.digest(_KEY, data, "sha256") + data


def is_ours(blob: bytes) -> bool:
    """Tells whether the blob was made here. It may have been changed since."""
    return blob.startswith(_MARK)


def opened(blob: bytes) -> str | None:
    """Returns the text of an unchanged blob of ours, or `None`."""
    mac, data = blob[len(_MARK) : len(_MARK) + _SIZE], blob[len(_MARK) + _SIZE :]
    genuine = is_ours(blob) and hmac.compare_digest(mac, hmac.digest(_KEY, data, "sha256"))
    return data.decode() if genuine else None


def encoded(blob: bytes, prefix: str = "") -> str:
    """Returns a blob in base64, after a prefix."""
    return prefix + b64encode(blob).decode()


def decoded(text: str) -> bytes | None:
    """Decodes base64 in either alphabet, padded or not. Returns `None` for other text."""
    return (_decoded if len(text) < LONG else _decoded.__wrapped__)(text)


@lru_cache(1024)
def _decoded(text: str) -> bytes | None:
    try:
        standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
        return b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (Error, ValueError):
        return None


def digest(value: Any) -> str:
    """Returns the digest of a value. A client sends the same values with each request, so the latest are remembered."""
    try:
        text = orjson.dumps(value)
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        return _new_digest(value)
    if b"null" in text:  # which may be a NaN
        return _new_digest(value)
    key = text if len(text) < _SHORT else sha256(text).digest()
    found = _DIGESTS.get(key)
    if found is None:
        found = _DIGESTS[key] = _new_digest(value)
        if len(_DIGESTS) > _REMEMBERED:
            _DIGESTS.pop(next(iter(_DIGESTS)), None)
    return found


def _new_digest(value: Any) -> str:
    return sha256(json.dumps(_compared(value), sort_keys=True).encode()).hexdigest()[:12]


def _compared(value: Any, key: str = "") -> Any:
    """Returns a value without ignored parts: cache markers, nulls, and signatures of URLs."""
    if isinstance(value, dict):
        return {
            name: _compared(each, name)
            for name, each in value.items()
            if name not in _UNSAID and each is not None
        }
    if isinstance(value, list | tuple):
        return [_compared(each) for each in value]
    return value.partition("?")[0] if key == "url" and isinstance(value, str) else value


# --- thoughts that are bound to the conversation before them ---------------------------------------------


#: Claude Mythos 5.1 records the prefix, and does not check it.
_CHECKS = re.compile(r"claude-(?!mythos-5-1)")
#: The error for a thought that is sent back after another prefix.
_ELSEWHERE = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
_UNSENT = f"That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header. "
_RECORD = "\0"  # what a signed text begins with that is a record


class Prefix(NamedTuple):
    """The prefix of a thought: digests of its parts, and the name of the model."""

    model: str
    system: str
    tools: str
    blocks: Sequence[str]
    thought: str

    def after(self, signature: str) -> Prefix:
        """Returns the prefix of the next thought of an answer."""
        return self._replace(thought=digest(signature))


class Block(NamedTuple):
    """A block of a request with its place. A thought also has its text and its signature, and a redacted one its data."""

    place: str
    role: str
    value: Any
    signature: str | None = None
    redacted: Any = None


class Mismatch(NamedTuple):
    """A thought that the model does not use: the reason, and the provider's sentence about the difference, if there
    is one.
    """

    place: str
    reason: str
    sentence: str = ""


@dataclass(frozen=True, eq=False)
class Conversation:
    """A request in the form for the comparison."""

    model: str
    system: Sequence[Any]
    tools: Collection[Any]
    blocks: Sequence[Block]

    @cached_property
    def prefix(self) -> Prefix:
        """The prefix for thoughts in the answer to this request."""
        thoughts = [block.signature for block in self.blocks if block.signature is not None]
        before = digest(thoughts[-1]) if thoughts else ""
        return Prefix(self.model, self._system, self._tools, self._digests, before)

    @cached_property
    def _without_thoughts(self) -> Sequence[Block]:
        """The blocks that are not thoughts."""
        return [block for block in self.blocks if block.signature is None]

    @cached_property
    def _digests(self) -> Sequence[str]:
        """The digests of these blocks."""
        return [digest([block.role, block.value]) for block in self._without_thoughts]

    @cached_property
    def _system(self) -> str:
        return digest(self.system)

    @cached_property
    def _tools(self) -> str:
        """The set of tools. Tools that are loaded later are not in it."""
        return digest(
            sorted(digest(tool) for tool in self.tools if object_of(tool).get("defer_loading") is not True)
        )

    @cached_property
    def mismatches(self) -> Sequence[Mismatch]:
        """The unused thoughts. After the first one with another prefix, no thought is used."""
        found: list[Mismatch] = []
        thought, count, sentence = "", 0, None
        for block in self.blocks:
            if block.signature is None:
                count += 1
                continue
            record = unsealed(block.signature)
            bound = record.prefix if record else None
            if bound and not _reads(self.model, bound.model):
                found.append(Mismatch(block.place, "model_binding_mismatch"))
            elif bound and _CHECKS.search(self.model) and binds(self.model):
                sentence = self._differs(bound, count, block, thought) if sentence is None else ""
                if sentence is not None:
                    found.append(Mismatch(block.place, "prefix_binding_mismatch", sentence))
            thought = digest(block.signature)
        return found

    def objection(self, *, dropped: bool, beta: bool) -> str | None:
        """Returns the error for the first thought with another prefix, unless they are `dropped`; `beta` says that
        the header is sent.
        """
        if dropped or not binds(self.model):
            return None
        for place, reason, sentence in self.mismatches:
            if reason == "prefix_binding_mismatch":
                return f"{place}: {_ELSEWHERE} {'' if beta else _UNSENT}{sentence}".rstrip()
        return None

    def transformations(self) -> list[Json]:
        """Returns the dropped thoughts in the form of a reply."""
        return [
            {"type": "thinking_dropped", "path": place, "reason": reason}
            for place, reason, _ in self.mismatches
        ]

    def _differs(self, bound: Prefix, count: int, block: Block, thought: str) -> str | None:
        """Returns the difference from the prefix of a thought after a number of other blocks, or `None`."""
        if bound.system != self._system:
            return "The `system` prompt differs from the one this block was created with."
        if bound.tools != self._tools:
            return "The `tools` list differs from the one this block was created with."
        blocks, digests = self._without_thoughts[:count], self._digests[:count]
        at = _first_difference(bound.blocks, digests)
        added = next((each for each in blocks[len(bound.blocks) :] if each.role != "assistant"), None)
        if at is None and added is None:
            gap = thought and bound.thought != thought
            missing = "The `thinking` block that preceded this one when it was created is missing from this request."
            return missing if gap else None
        first = added or [*blocks, block][at or 0]
        if at is not None and bound.blocks[at] not in digests and set(digests[at:]) <= set(bound.blocks):
            here = f"starting at `{first.place}`."
            return (
                f"Content that preceded this block when it was created is missing from this request, {here}"
            )
        return f"Content before this block differs from when it was created, first at `{first.place}`."


class Sealed(NamedTuple):
    """The content of a signature."""

    text: str
    prefix: Prefix | None


def binds(model: str) -> bool:
    """Tells whether the model binds its thoughts to the conversation before them."""
    return bool(PRESERVES_THINKING.search(model))


def sealed(text: str, prefix: Prefix | None) -> str:
    """Returns the signature of a thought."""
    record = _RECORD + json.dumps([text, *prefix]) if prefix else text
    return encoded(sign(record))


def unsealed(signature: str) -> Sealed | None:
    """Returns the content of an unchanged signature of this server. The latest are remembered."""
    return (_unsealed if len(signature) < LONG else _unsealed.__wrapped__)(signature)


@lru_cache(1024)
def _unsealed(signature: str) -> Sealed | None:
    blob = decoded(signature)
    text = opened(blob) if blob else None
    if text is None or not text.startswith(_RECORD):
        return None if text is None else Sealed(text, None)
    shown, *prefix = json.loads(text[1:])
    return Sealed(shown, Prefix(*prefix))


def _reads(model: str, author: str) -> bool:
    """Tells whether a model uses the thoughts of one that binds them."""
    ours, theirs = PRESERVES_THINKING.search(model), PRESERVES_THINKING.search(author)
    if theirs is None or theirs[1] == "haiku":
        return True
    greater = theirs[1] in {"fable", "mythos", "opus"} and ours is not None and ours[1] in {"fable", "mythos"}
    return greater or (ours is not None and ours[0] == theirs[0])


def _first_difference(before: Sequence[str], now: Sequence[str]) -> int | None:
    """Returns the first place of `before` that differs in `now`."""
    if list(before) == list(now[: len(before)]):
        return None
    for index, each in enumerate(before):
        if index >= len(now) or now[index] != each:
            return index
    return None


# --- the thoughts that a request to Claude sends back ----------------------------------------------------


#: They show their thoughts to who asks for thinking, and for nothing more.
_SHOWS_THOUGHTS = re.compile(r"claude-(3|(opus|sonnet|haiku)-4(?!-[7-9]))")


def thought_shown(text: str, asked: Any, model: str) -> str | None:
    """Returns what is seen of a thought where `thinking` is `asked` for: newer models hide its text by default."""
    match asked:
        case {"type": "enabled" | "adaptive", "display": str(display)}:
            return text if display == "summarized" else ""
        case {"type": "enabled" | "adaptive"}:
            return text if _SHOWS_THOUGHTS.search(model) else ""
    return None


def as_blocks(content: Any) -> list[Any]:
    """Returns content as blocks. A plain text becomes one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def anthropic_blocks(asked: Json) -> Iterator[Block]:
    """Yields the blocks of a request to Messages."""
    for place, role, block in _blocks(asked):
        if text_of(object_of(block).get("type")) in {"thinking", "redacted_thinking"}:
            thought = block.get("thinking")
            yield Block(place, role, thought, text_of(block.get("signature")), block.get("data"))
        else:
            yield Block(place, role, block)


def bedrock_blocks(asked: Json) -> Iterator[Block]:
    """Yields the blocks of a request to Converse, without cache points."""
    for place, role, block in _blocks(asked):
        reasoning = object_of(block).get("reasoningContent")
        if reasoning is not None:
            text = object_of(object_of(reasoning).get("reasoningText"))
            signed = text.get("text") if "signature" in text else None
            data = object_of(reasoning).get("redactedContent")
            yield Block(place, role, signed, text_of(text.get("signature")), data)
        elif "cachePoint" not in object_of(block):
            yield Block(place, role, block)


def objection(conversation: Conversation, *, strict: bool, dropped: bool, beta: bool) -> str | None:
    """Returns the error for a changed thought, for redacted data that nobody sent
    (https://github.com/anthropics/claude-code/issues/56708), or for a thought with another prefix.
    """
    for block in conversation.blocks:
        if _is_changed(block, strict=strict):
            return f"{block.place}: Invalid `signature` in `thinking` block"
        if isinstance(block.redacted, str) and _is_made_up(block.redacted, strict=strict):
            return f"{block.place}: Invalid `data` in `redacted_thinking` block"
    return conversation.objection(dropped=dropped, beta=beta)


def _is_changed(thought: Block, *, strict: bool) -> bool:
    """Tells whether a block is a changed thought. If it is not `strict`, foreign signatures count as unchanged."""
    signature = thought.signature
    if signature is None or not isinstance(thought.value, str):
        return False
    blob = decoded(signature)
    if blob and not strict and not is_ours(blob):
        return False
    record = unsealed(signature)
    return record is None or record.text != thought.value


def _is_made_up(data: str, *, strict: bool) -> bool:
    """Tells whether redacted data is none of this server, or no base64 if it is not `strict`."""
    return data != REDACTED if strict else decoded(data) is None


def _blocks(asked: Json) -> Iterator[tuple[str, str, Any]]:
    messages = asked.get("messages")
    for i, message in enumerate(messages if isinstance(messages, list) else ()):
        fields = object_of(message)
        for j, block in enumerate(as_blocks(fields.get("content"))):
            yield f"messages.{i}.content.{j}", text_of(fields.get("role")), block
