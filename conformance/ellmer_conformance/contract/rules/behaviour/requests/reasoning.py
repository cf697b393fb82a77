"""Reasoning: it is sent back unchanged and is not part of the answer."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, groupby
from typing import NamedTuple

from .....scenarios.script import REDACTED, Answer, Think
from ....counts import counted, listed, times
from ....observed.exchange import Exchange, Json
from ....observed.run import Run, call_key
from ....provider_answers.answer import events_of
from ....readers.anthropic import PRESERVES_THINKING, drops_stale_thoughts
from ....readers.json_access import items_of, object_of, read_once, text_of
from ....rule import Finding, Refusal, broken
from .._rulebook import LOSS, MUST, SHOULD, book, found, new, objects, squeezed, varied_at

#: Signatures that Gemini's documentation gives for calls of other models. The field holds bytes, so an SDK may send them encoded.
_PLACEHOLDERS = {
    form
    for text in (b"context_engineering_is_the_way_to_go", b"skip_thought_signature_validator")
    for form in (text.decode(), b64encode(text).decode(), urlsafe_b64encode(text).decode())
}
_SHOWN = re.compile(rb'"thinking": ?"[^"]')
_SIGNED = re.compile(r'"(?:signature|thoughtSignature|encrypted_content)": ?"([^"]*)"')


@book.rule(
    "THK-006",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
        "https://github.com/Yeachan-Heo/gajae-code/issues/4247",
        "https://github.com/anthropics/claude-code/issues/63295",
        "https://github.com/openai/codex/issues/8138",
        "https://github.com/smallmain/vscode-unify-chat-provider/issues/178",
        "https://github.com/NoeFabris/opencode-antigravity-auth/issues/368",
        "https://github.com/anthropics/claude-code/issues/56708",
        "https://github.com/anomalyco/opencode/issues/4832",
        "https://github.com/microsoft/vscode/pull/320196",
        "https://github.com/vercel/ai/issues/16298",
        "https://github.com/lidge-jun/opencodex/pull/2229",
        "https://github.com/anthropics/claude-code/issues/2746 (June 2025)",
    ],
    formerly=[
        Refusal(
            "When providing `thinking` or `redacted_thinking` blocks, the blocks must match the parameters during the original "
            "request."
        ),
        Refusal(
            "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain "
            "as they were in the original response."
        ),
        Refusal("Invalid `data` in `redacted_thinking` block"),
        Refusal("The encrypted content gAAA...Q== could not be verified."),
        Refusal(
            "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed."
        ),
        Refusal("Unable to submit request because Thought signature is not valid."),
        Refusal("Corrupted thought signature."),
        Refusal(
            "Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content from a previous "
            "response."
        ),
    ],
)
def reasoning_goes_back_as_it_came(run: Run) -> Iterator[Finding]:
    """Signatures and encrypted reasoning are sent back byte for byte, once each and in order, and none that the provider did not send.

    Why: the API refuses a changed signature, a signature without its thought, and changed data of redacted thinking. Without the
    signature, the model thinks again. A thought is sent before its own answer, and before no other. A signed thought is sent back with the words that the provider showed, and as redacted only if
    the provider redacted it, and encrypted reasoning under the id of its own item. No thought is sent if the provider sent none. A call that the model made has no placeholder: Gemini signs
    the first of parallel calls, and no other. Fix: keep the blocks of an answer as they came, streamed or not.
    """
    received: list[tuple[str, list[str]]] | None = None
    spell = str if run.wire in _TEXTS else _bits
    for index, exchange in enumerate(run.exchanges):
        for signature in _signatures(exchange.request.body):
            if signature in _PLACEHOLDERS:
                continue
            received = received or [_pieces(e.response.body, spell) for e in run.exchanges if e.response]
            fine = any(_is_in(spell(signature), *text) for text in received[:index])
            yield found(
                fine, f"/exchanges/{index}/request", f"{signature[:20]}… was never sent by the provider"
            )
        yield from _in_order(run, index, received, spell)
        yield from _invented(run, index)
        yield from _substituted(run, index)
        yield from _redacted(run, index)
        yield from _mixed_up(run, index)
        yield from _copied(run, index)
        for signature in _emptied(exchange.request.body):
            shown = [e for e in run.exchanges[:index] if e.response and _shows(e.response.body, signature)]
            problem = f"the thought of {signature[:20]}… was shown, and is sent without its words"
            yield found(not shown, f"/exchanges/{index}/request", problem)


def _invented(run: Run, index: int) -> Iterator[Finding]:
    """Finds a thought in a request, though neither the history nor an answer had one. Providers that require the field take a
    placeholder in it, and are left out.
    """
    thoughts = [item for item in run.sent_items[index] if item.kind == "thinking" and item.text]
    told = any(e.response and _THOUGHT.search(e.response.body) for e in run.exchanges[:index])
    if thoughts and not told and not run.case.history and run.provider in _WITHOUT_PLACEHOLDERS:
        problem = f"the thought {thoughts[0].text[:40]!r} goes back, and the model had none"
        yield broken(f"/exchanges/{index}/request", problem)


def _substituted(run: Run, index: int) -> Iterator[Finding]:
    """Finds a placeholder on a call of Gemini's own. Placeholders are for calls of other models, and skip the check of the signature.
    After a refusal, a client may try without the signatures that it has.
    """
    refused = any(e.response and e.response.status >= 400 for e in run.exchanges[:index])
    if run.wire != "gemini" or run.case.history or refused:
        return
    made = {call_key(each.name, each.arguments) for at, calls in run.calls() if at < index for each in calls}
    for part in objects(run.exchanges[index].request.body):
        call = object_of(part.get("functionCall"))
        if call and part.get("thoughtSignature") in _PLACEHOLDERS:
            own = call_key(text_of(call.get("name")), object_of(call.get("args"))) in made
            problem = f"the call of {text_of(call.get('name'))} is the model's own, and has a placeholder for a signature"
            yield found(not own, f"/exchanges/{index}/request", problem)


def _redacted(run: Run, index: int) -> Iterator[Finding]:
    """Finds a redacted thought in a request, though neither the history nor an answer had one. A signature without words does not count."""
    said = [e.response.body for e in run.exchanges[:index] if e.response]
    if run.case.history or any(b"redacted_thinking" in body for body in said):
        return
    for block in objects(run.exchanges[index].request.body):
        if block.get("type") == "redacted_thinking":
            problem = (
                f"{str(block.get('data'))[:20]}… goes back as a redacted thought, and the model had none"
            )
            yield broken(f"/exchanges/{index}/request", problem)


def _mixed_up(run: Run, index: int) -> Iterator[Finding]:
    """Finds encrypted reasoning that goes back with the id of another item (Responses): OpenAI cannot verify it then."""
    thoughts = [
        each for each in objects(run.exchanges[index].request.body) if each.get("type") == "reasoning"
    ]
    if run.wire != "openai-responses" or not any(each.get("id") for each in thoughts):
        return
    sealed = [_sealed(each) for each in run.exchanges[:index]]
    ids = {
        text: id for held in sealed for id, signatures in held.items() for text in signatures if id != text
    }
    for each in thoughts:
        own = ids.get(_bits(text_of(each.get("encrypted_content"))))
        if own and each.get("id"):
            problem = f"the reasoning of {own} goes back as {each['id']}"
            yield found(each["id"] == own, f"/exchanges/{index}/request", problem)


def _copied(run: Run, index: int) -> Iterator[Finding]:
    """Finds a thought that goes back more often than the answers had it, such as one that was put before another answer, too."""
    if run.case.history:
        return
    steps = (step for at, step in run.answered() if at < index and isinstance(step, Answer))
    told = Counter(part.text for step in steps for part in step.parts if isinstance(part, Think))
    sent = Counter(item.text for item in run.sent_items[index] if item.kind == "thinking")
    for text, count in sent.items():
        if text in told:
            problem = f"the thought {text[:40]!r} came {times(told[text])}, and is sent {times(count)}"
            yield found(count <= told[text], f"/exchanges/{index}/request", problem)


#: Any form of a thought in an answer.
_THOUGHT = re.compile(rb"(?i)thinking|thought|reasoning[^_]")
_WITHOUT_PLACEHOLDERS = {"openai", "anthropic", "google", "bedrock"}


#: Signatures are texts there. Elsewhere they are bytes, in either alphabet of base64.
_TEXTS = {"anthropic", "openai-responses"}


def _in_order(
    run: Run, index: int, received: Sequence[tuple[str, list[str]]] | None, spell: Callable[[str], str]
) -> Iterator[Finding]:
    """Finds signatures that stand before those of earlier answers, or in more places than the answers had them."""
    sent = [text for text in _signatures(run.exchanges[index].request.body) if text not in _PLACEHOLDERS]
    answers = (received or [])[:index]
    came = [
        next((at for at, text in enumerate(answers) if _is_in(spell(each), *text)), None) for each in sent
    ]
    known = [at for at in came if at is not None]
    place = f"/exchanges/{index}/request"
    if len(known) > 1:
        yield found(known == sorted(known), place, "the signatures of two answers are in another order")
        for each, count in Counter(map(spell, sent)).items():
            had = sum(_times(each, *text) for text in answers)
            problem = f"{each[:20]}… came {times(had)}, and is sent {times(count)}"
            yield found(count == 1 or count <= had, place, problem)


def _times(signature: str, text: str, pieces: Sequence[str]) -> int:
    """Returns how often an answer has a signature; one in pieces counts once."""
    return text.count(f'"{signature}"') or int(_is_in(signature, text, pieces))


def _emptied(body: Json) -> Iterator[str]:
    """Yields the signatures of thoughts without words (Anthropic)."""
    for value in objects(body):
        if value.get("type") == "thinking" and not value.get("thinking"):
            yield from _signatures_of(value)


def _shows(body: bytes, signature: str) -> bool:
    """Tells whether an answer has this signature, and the words of its thought."""
    return bool(_SHOWN.search(body)) and _is_in(_bits(signature), *_pieces(body, _bits))


@book.rule(
    "THK-029",
    MUST,
    LOSS,
    source=[
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
        "https://developers.openai.com/api/docs/guides/reasoning",
        "https://platform.claude.com/docs/en/build-with-claude/thinking#preserving-thinking-blocks",
        "https://github.com/simonw/llm-anthropic/pull/87 (thoughts that were merged)",
    ],
)
def signed_calls_go_back_signed(run: Run) -> Iterator[Finding]:
    """A call that came with a signature (Gemini), after encrypted reasoning (Responses) or after signed thoughts (Anthropic, Bedrock) is
    sent back with all of them.

    Why: without them, the model thinks again from the beginning. Gemini's placeholders are only for calls of other models. Not
    judged if no call is sent back, because a turn that ended in an error may be left out. Fix: keep each thought as it came; two
    thoughts in one block have one signature.
    """
    if run.wire not in _SIGNING or run.way == "recordings":
        return
    for index, calls in run.calls():
        follows = index + 1 < len(run.exchanges) and new(run, index + 1, "call")
        if calls and follows and (sealed := _sealed(run.exchanges[index])):
            lost = _lost(sealed, run.exchanges[index + 1].request.body)
            if lost == len(sealed) and run.wire in _THINKING_BACK:  # HIS-008 reports it
                continue
            problem = f"{counted(lost, 'signature')} of the answer did not go back"
            yield found(not lost, f"/exchanges/{index + 1}/request", problem)


#: Wire formats for which another rule reports that no thought went back.
_THINKING_BACK = {"anthropic", "bedrock"}
#: Wire formats whose answers have signatures.
_SIGNING = {"gemini", "openai-responses", *_THINKING_BACK}


def _lost(sealed: Mapping[str, set[str]], following: Json) -> int:
    """Returns how many signatures a request does not have. OpenAI has those of the items that a request names, if it stores
    answers.
    """
    if following.get("previous_response_id") or following.get("conversation"):
        return 0
    sent = {_bits(text) for text in _signatures(following)}
    if following.get("store") is not False:
        sent |= {id for each in objects(following.get("input")) if isinstance(id := each.get("id"), str)}
    return sum(not sent & {id, *signatures} for id, signatures in sealed.items())


def _sealed(exchange: Exchange) -> dict[str, set[str]]:
    """Returns the signatures in an answer by the item that has them, or by themselves: a stream of OpenAI seals an item again
    when it is complete.
    """
    text = exchange.response.body.decode("utf-8", "replace") if exchange.response else ""
    sealed = defaultdict[str, set[str]](set)
    for piece in (text, *(line[5:] for line in text.splitlines() if line.startswith("data:"))):
        with suppress(ValueError):
            for each in objects(json.loads(piece)):
                for signature in map(_bits, _signatures_of(each)):
                    sealed[text_of(each.get("id")) or signature].add(signature)
    return sealed


@book.rule(
    "THK-033",
    MUST,
    LOSS,
    source=[
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
        "https://github.com/anomalyco/opencode/pull/43984",
        "https://github.com/langchain4j/langchain4j/issues/6295",
        "https://github.com/platberlitz/SillyBunny/pull/647 (joined with the next text)",
    ],
)
def signed_texts_go_back_signed(run: Run) -> Iterator[Finding]:
    """The signature of a text goes back on that text, and on no other part (Gemini).

    Why: the model goes on from what it thought. Without the signature, Gemini 3 thinks again, or ends its turn after a thought. On a
    longer or another text, the signature does not fit. A stream may send it on an empty text at the end of the answer. Not judged
    if the words of the answer do not go back. Fix: keep the parts of an answer as they came. A piece of a stream that has a signature ends its text.
    """
    if run.wire != "gemini" or run.way == "recordings" or len(run.case.speakers) > 1:
        return
    for index, step in run.answered():
        if isinstance(step, Answer) and step.reason in {"stop", "tool"} and index + 1 < len(run.exchanges):
            sent, response = run.exchanges[index + 1].request.body, run.exchanges[index].response
            goes_back = squeezed(step.text) in [squeezed(_words_of(turn)) for turn in _turns_of(sent)]
            came = list(_signed_texts([_answer_parts(response.body)])) if response and goes_back else []
            yield from _signed_apart(came, list(_signed_texts(_turns_of(sent))), index + 1, run.streamed)


class _SignedText(NamedTuple):
    """A signature with the text that has it, and with the words of its turn up to the end of this text, without white space."""

    signature: str
    own: str
    words: str


def _signed_apart(
    came: Sequence[_SignedText], sent: Sequence[_SignedText], index: int, streamed: bool
) -> Iterator[Finding]:
    """Finds signatures of texts that are lost, or on other texts. The pieces of a stream may be joined up to the signed one."""
    for each in came:
        places = [other for other in sent if other.signature == each.signature]
        fine = any(other.words == each.words and (streamed or other.own == each.own) for other in places)
        text = each.words if streamed else each.own
        problem = f"the signature of {text[-40:]!r} " + (
            f"is on {places[0].own[-40:]!r}" if places else "did not go back"
        )
        yield found(fine, f"/exchanges/{index}/request", problem)


def _answer_parts(body: bytes) -> list[Json]:
    """Returns the parts of an answer of Gemini, of all chunks of a stream."""
    chunks = [event.data for event in events_of("gemini", body)] or [json.loads(body or b"{}")]
    return [
        part
        for chunk in chunks
        for candidate in items_of(object_of(chunk).get("candidates"))[:1]
        for part in items_of(object_of(object_of(candidate).get("content")).get("parts"))
        if isinstance(part, dict)
    ]


def _turns_of(body: Json) -> list[list[Json]]:
    """Returns the parts of each turn of the model, which may be several contents."""
    contents = [each for each in items_of(body.get("contents")) if isinstance(each, dict)]
    turns = groupby(contents, key=lambda each: each.get("role"))
    return [
        [part for each in group for part in items_of(each.get("parts")) if isinstance(part, dict)]
        for role, group in turns
        if role == "model"
    ]


def _words_of(parts: Sequence[Json]) -> str:
    """Returns the words of a turn, without its thoughts."""
    return "".join(text_of(part.get("text")) for part in parts if not part.get("thought"))


def _signed_texts(turns: Sequence[Sequence[Json]]) -> Iterator[_SignedText]:
    """Yields the texts of the model's turns that have a signature."""
    for parts in turns:
        for at, part in enumerate(parts):
            signature = _bits(text_of(part.get("thoughtSignature")))
            if signature and isinstance(part.get("text"), str) and not part.get("thought"):
                words = squeezed(_words_of(parts[: at + 1]))
                yield _SignedText(signature, squeezed(part["text"]), words)


@book.rule(
    "THK-002",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ReasoningContentBlock.html",
        "https://github.com/earendil-works/pi/issues/8315 (Bedrock)",
    ],
)
def redacted_thoughts_go_back(run: Run) -> Iterator[Finding]:
    """A redacted thinking block is sent back unchanged, in its place before the tool call (Anthropic, Bedrock).

    Why: the API refuses a changed block, and without the block the model loses its reasoning. Fix: keep the block with
    its `data`, and send it back as it came.
    """
    for varied in run.varied:
        if varied.variation.rule == "THK-002" and len(varied.run.exchanges) > 1:
            blocks = [
                b
                for m in items_of(varied.run.exchanges[1].request.body.get("messages"))
                for b in items_of(object_of(m).get("content"))
                if isinstance(b, dict)
            ]
            kinds = [*filter(None, map(_kind_of_block, blocks))]
            problem = (
                f"the answer had a redacted thought, then a call, and what goes back has {listed(kinds)}"
            )
            yield found(kinds == ["a redacted thought", "a call"], varied_at(varied), problem)


def _kind_of_block(block: Json) -> str:
    """Tells whether a block is the redacted thought or a call, of Anthropic or Bedrock."""
    redacted = block.get("data") or object_of(block.get("reasoningContent")).get("redactedContent")
    if redacted == REDACTED:
        return "a redacted thought"
    return "a call" if block.get("type") == "tool_use" or "toolUse" in block else ""


@book.rule(
    "THK-008",
    SHOULD,
    LOSS,
    source=[
        "https://docs.ollama.com/capabilities/thinking",
        "https://github.com/kekzl/imp/pull/509",
    ],
)
def thoughts_are_not_the_answer(run: Run) -> Iterator[Finding]:
    """Reasoning is not part of the answer's text.

    Why: a reader, or a program that parses the answer, takes the reasoning for the answer. Fix: keep thoughts in a
    field of their own, and take only text parts into the text.
    """
    thoughts = [
        p.text for s in run.case.script if isinstance(s, Answer) for p in s.parts if isinstance(p, Think)
    ]
    for index, reply in enumerate(run.replies) if thoughts else ():
        mixed = [text for text in thoughts if text in reply.text]
        yield found(not mixed, f"/replies/{index}", f"the text holds the thought {mixed}")


@book.rule(
    "THK-025",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking",
        (
            "https://github.com/pydantic/pydantic-ai/blob/06b71bcd40f8a4812bf44f2b581f72bc7291dd31/tests/models/anthropic/cassettes/"
            "test_thinking_block_binding/test_anthropic_explicit_error_rejects_a_stale_thinking_block_on_binding_models"
            "%5Bclaude-sonnet-5-5-True%5D.yaml (a recorded refusal of 5 October 2026)"
        ),
    ],
    formerly=[
        Refusal(
            "{place}: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
        ),
        Refusal(
            "{place}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or "
            'set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". The `system` prompt differs from the one this '
            "block was created with."
        ),
    ],
)
def stale_thoughts_are_not_replayed(run: Run) -> Iterator[Finding]:
    """After a changed system prompt, thoughts from before are not sent back, or the API is told to drop them.

    Why: newer Claude models refuse a thought that follows another system prompt. Fix: leave the thoughts out, or send
    `thinking.block_binding.prefix_mismatch_behavior: "drop_block"` with its beta header.
    """
    prompts = [exchange.request.body.get("system") for exchange in run.exchanges]
    for index, exchange in enumerate(run.exchanges):
        request = exchange.request
        changed = [at for at in range(index) if prompts[at] != prompts[index]]
        if not changed or not PRESERVES_THINKING.search(request.model):
            continue
        stale = {text for at in changed for text in _handed_out(run.exchanges[at])}
        replayed = [text for text in _signatures(request.body) if _bits(text) in stale]
        told = drops_stale_thoughts(request.body.get("thinking"), request.headers.get("anthropic-beta"))
        problem = f"it replays {counted(len(replayed), 'thought')} of another system prompt"
        yield found(told or not replayed, f"/exchanges/{index}/request", problem)


def _handed_out(exchange: Exchange) -> set[str]:
    """Returns the signatures in an answer."""
    body = exchange.response.body if exchange.response else b""
    return {_bits(text) for text in _SIGNED.findall(body.decode("utf-8", "replace")) if text}


@read_once
def _signatures(body: Json) -> Iterator[str]:
    for value in objects(body):
        yield from _signatures_of(value)


def _signatures_of(value: Json) -> Iterator[str]:
    redacted = ("data",) if value.get("type") == "redacted_thinking" else ()
    for key in ("signature", "thoughtSignature", "encrypted_content", "redactedContent", *redacted):
        if isinstance(value.get(key), str) and value[key]:
            yield value[key]


def _pieces(body: bytes, spell: Callable[[str], str]) -> tuple[str, list[str]]:
    """Returns an answer's text, and the pieces of its signatures, which a stream may send one by one."""
    text = body.decode("utf-8", "replace")
    spelled = text if spell is str else text.replace("-", "+").replace("_", "/").replace("=", "")
    return spelled, [spell(each) for each in _SIGNED.findall(text)]


def _is_in(signature: str, text: str, pieces: Sequence[str]) -> bool:
    """Tells whether an answer has exactly this signature, in one string or in pieces that follow one another."""
    if f'"{signature}"' in text:
        return True
    starts = [at for at, piece in enumerate(pieces) if piece and signature.startswith(piece)]
    return any(signature in accumulate(pieces[at:]) for at in starts)


def _bits(text: str) -> str:
    """Returns base64 in one form, from either alphabet, padded or not."""
    return text.replace("-", "+").replace("_", "/").rstrip("=")
