"""Items of earlier answers that are sent back: what belongs to answers only, and what has to be sent together."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.openai_responses import items, type_of
from ...rule import Finding, Refusal, broken, met
from .._media import redacted
from .._openai.refusals import path, refused
from ._rulebook import ASK, MUST, REJECT, body, book, call, output

THOUGHT: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
SEALED: Json = {**THOUGHT, "encrypted_content": "gAAAA"}
_LINKED = ("function_call", "message")


@book.rule(
    "REQ-073",
    MUST,
    REJECT,
    source=[
        "https://github.com/1jehuang/jcode/issues/1028",
        "https://github.com/BerriAI/litellm/issues/13420",
    ],
    refusal=refused("Unknown parameter: '{path}'.", code="unknown_parameter", param="{path}"),
    examples=[body(ASK, SEALED, call("a"), output("a"), model="gpt-5")],
    counterexamples=[body(ASK, {**SEALED, "status": "completed"}, call("a"), output("a"), model="gpt-5")],
)
def reasoning_has_no_status(request: Request) -> Iterator[Finding]:
    """A reasoning item is sent back without its `status`, although the official types have it.

    Why: an SDK writes `"status": null` or the status of the answer. Fix: leave it out.
    """
    for pointer, item in items(request.body):
        if type_of(item) == "reasoning":
            place = f"{pointer}/status"
            wrong = "status" in item
            yield broken(place, "`status` is no field here", path=path(place)) if wrong else met(pointer)


@book.rule(
    "STO-019",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/7543",
        "https://github.com/anomalyco/opencode/issues/7724",
        "https://github.com/can1357/oh-my-pi/issues/41",
    ],
    refusal=Refusal(
        "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set "
        "to true, or remove this item from your input.",
        404,
        type="invalid_request_error",
        param="input",
    ),
    examples=[body(ASK, SEALED, call("a"), output("a"), store=False, model="gpt-5")],
    counterexamples=[body(ASK, THOUGHT, call("a"), output("a"), store=False, model="gpt-5")],
)
def reasoning_that_is_not_stored_is_sealed(request: Request) -> Iterator[Finding]:
    """With `"store": false`, a reasoning item is sent back with its `encrypted_content`.

    Why: the server did not keep the item, so its id alone leads nowhere. Fix: ask for
    `"include": ["reasoning.encrypted_content"]`, and send the item back unchanged.
    """
    if request.body.get("store") is not False:
        return
    for pointer, item in items(request.body):
        id = item.get("id")
        if type_of(item) == "reasoning" and isinstance(id, str) and not redacted(id):
            sealed = bool(item.get("encrypted_content"))
            yield met(pointer) if sealed else broken(pointer, "the item was not stored", id=id)


@book.rule(
    "ORD-016",
    MUST,
    REJECT,
    source=[
        "https://github.com/continuedev/continue/issues/10018",
        "https://github.com/continuedev/continue/issues/12056",
    ],
    refusal=refused(
        "Item '{id}' of type '{type}' was provided without its required 'reasoning' item: '{thought}'.",
        param="input",
    ),
    preview=True,  # calls that a model made without reasoning are accepted, and a request alone does not show which
    models=["gpt-5*", "o1*", "o3*", "o4*"],
    examples=[body(ASK, SEALED, call("a", id="fc_1"), output("a"), model="gpt-5")],
    counterexamples=[body(ASK, call("a", id="fc_1"), output("a"), model="gpt-5")],
)
def items_keep_their_reasoning(request: Request) -> Iterator[Finding]:
    """An item of a reasoning model that is sent back with its `id` has its reasoning item before it.

    Fix: send the reasoning item back, too, or leave out the `id` of the call or message.
    """
    thought = False
    for pointer, item in items(request.body):
        thought |= type_of(item) in {"reasoning", "item_reference"}
        if type_of(item) in _LINKED and str(item.get("id", "")).startswith(("fc_", "msg_")):
            facts = {"id": item["id"], "type": type_of(item), "thought": "rs_…"}
            yield met(pointer) if thought else broken(pointer, "its reasoning is not sent back", **facts)
