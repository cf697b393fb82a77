"""Additions by the client: text, options, models and tools that the caller did not give, and cached answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .....scenarios.messages import Text
from ....counts import passive
from ....observed.exchange import Json
from ....observed.run import Run
from ....readers.json_access import object_of
from ....rule import Finding, broken
from .._rulebook import LOSS, MUST, SHOULD, book, found, objects, squeezed, taken

#: Options that change the answer, its price, or the data about the caller.
_OPTIONS = frozenset(
    [
        "temperature",
        "top_p",
        "topP",
        "top_k",
        "topK",
        "p",
        "k",
        "seed",
        "stop",
        "stop_sequences",
        "stopSequences",
        "frequency_penalty",
        "frequencyPenalty",
        "presence_penalty",
        "presencePenalty",
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "maxTokens",
        "maxOutputTokens",
        "num_predict",
        "n",
        "candidateCount",
        "logit_bias",
        "user",
        "metadata",
        "safety_identifier",
        "service_tier",
    ]
)
#: The fields of an option that the caller can set, where they have other names.
_FIELDS_OF = {
    "stop": {"stop", "stop_sequences", "stopSequences"},
    "max_tokens": {name for name in _OPTIONS if "max" in name or name == "num_predict"},
}
#: Options that an API requires.
_REQUIRED = {"anthropic": {"max_tokens"}}
#: Objects that hold the options, if they are not beside the messages.
_HOLDERS = (
    *("generationConfig", "generation_config", "inferenceConfig", "additionalModelRequestFields"),
    "options",
)


@book.rule("SYS-010", MUST, LOSS, source="https://github.com/microsoft/autogen/issues/1474")
def system_prompts_are_the_callers(run: Run) -> Iterator[Finding]:
    """Only the caller's own system text is sent.

    Why: a prompt that a library adds changes the model's answers, costs tokens, and is not visible in the caller's
    code. A case is not judged if a schema was requested in words, or if a tool returned media that need an explanation.
    Fix: leave the system prompt to the caller.
    """
    if any(ask.schema for ask in run.case.steps) or run.tool_media():
        return
    for index, items in enumerate(run.sent_items):
        texts = [item.text for item in items if item.kind == "system" or item.role == "system"]
        own = max(
            [run.case.system or "", *(ask.instructed for ask in run.case.steps)],
            key=lambda prompt: (prompt in "".join(texts), len(prompt)),
        )
        more = "".join(texts).replace(own, "", 1).strip() if own in "".join(texts) else "".join(texts)
        if texts or not own:
            problem = f"the caller did not say {more[:80]!r}"
            yield found(not more or more in own, f"/exchanges/{index}/request", problem)


@book.rule("HIS-009", MUST, LOSS, source="https://github.com/NousResearch/hermes-agent/issues/100670")
def users_say_what_they_said(run: Run) -> Iterator[Finding]:
    """The user's turns contain the user's own words, once, and no others.

    Why: the model would answer words that the user did not say. Only conversations without tools, earlier history and
    media are judged. Fix: send instructions of the library in the system prompt, and only what the user said as the
    user.
    """
    asks = run.case.steps
    if any(reply.error is not None for reply in run.replies):  # the turn may be given up
        return
    if run.case.tools or run.case.history or any(a.schema or a.outcome != "answered" for a in asks):
        return
    if len(run.case.speakers) > 1 or any(not isinstance(p, Text) for a in asks for p in a.parts):
        return
    asked = ["".join(p.text for p in ask.parts if isinstance(p, Text)) for ask in asks]
    for index, items in enumerate(run.sent_items):
        text = "".join(item.text for item in items if item.role == "user" and item.kind == "text")
        fine = any(squeezed(text) == squeezed("".join(asked[:n])) for n in range(1, len(asked) + 1))
        problem = f"the user's turns say {text[-120:]!r}, and the user said {''.join(asked)[-120:]!r}"
        yield found(fine, f"/exchanges/{index}/request", problem)


@book.rule("HIS-010", MUST, LOSS, source="https://github.com/zilliztech/GPTCache/issues/435")
def every_answer_is_asked_for(run: Run) -> Iterator[Finding]:
    """A question that is asked again is sent again; the client does not answer from a cache.

    Why: a cached answer may be the answer to another question, and a user who asks again wants a new one. Fix: turn the
    cache of answers off by default.
    """
    answered = [r for a, r in zip(run.case.steps, run.replies, strict=False) if a.outcome == "answered"]
    told = [reply for reply in answered if reply.error is None and (reply.text or reply.value is not None)]
    if told and not run.misses:
        problem = f"{passive(len(told), 'answer', 'handed over')}, and {passive(len(run.exchanges), 'request', 'sent')}"
        yield found(len(run.exchanges) >= len(told), "/exchanges", problem)


@book.rule(
    "OPT-001",
    SHOULD,
    LOSS,
    source=[
        "https://github.com/jaseci-labs/jac/pull/7699",
        "https://github.com/vercel/ai/pull/6223",
    ],
)
def options_are_the_callers(run: Run) -> Iterator[Finding]:
    """Options that the caller did not set (temperature, limits, seeds, stop sequences, user ids) are not sent.

    Why: a default of the library replaces the provider's, and some models refuse it. This is a SHOULD: the API accepts
    such options, and a library may document its defaults. Anthropic requires `max_tokens`. Fix: leave an option out of
    the body unless the caller set it.
    """
    set_options = {name for ask in run.case.steps for name in ask.options}
    asked = {field for name in set_options for field in _FIELDS_OF.get(name, {name})}
    allowed = _REQUIRED.get(run.wire, set()) | asked
    for index, exchange in enumerate(run.exchanges):
        sent = sorted(_options(exchange.request.body) - allowed)
        problem = f"nobody asked for {', '.join(sent)}"
        yield found(not sent, f"/exchanges/{index}/request", problem)


@book.rule("OPT-002", MUST, LOSS, source="https://github.com/bobmatnyc/trusty-tools/issues/6123")
def the_model_is_the_callers(run: Run) -> Iterator[Finding]:
    """The request names the model that the caller chose, for the conversation or for this turn.

    Why: another model has another price and gives other answers. Fix: pass the caller's model on, and raise an error
    for a name that you do not accept.
    """
    several = any("model" in ask.options for ask in run.case.steps) and not run.refused
    for index, exchange in enumerate(run.exchanges):
        step = run.step_of(index) if several else None
        chosen = run.case.steps[step].options.get("model") if step is not None else None
        asked, wanted = exchange.request.model, str(chosen or run.model)
        told = asked or "model" in exchange.request.body
        if run.model and told and (step is not None or not several):
            fine = asked.removeprefix("models/") == wanted.removeprefix("models/")
            problem = f"{asked or 'no model'} is asked, and not {wanted}"
            yield found(fine, f"/exchanges/{index}/request", problem)


@book.rule(
    "OPT-003",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/function-calling",
        "https://github.com/vercel/ai/issues/9789",
    ],
)
def tools_are_offered_as_given(run: Run) -> Iterator[Finding]:
    """Every request of a conversation declares each tool with its own name and description. If a value is requested,
    a library may leave the tools out after they have been called, and it may leave them out where the caller forbids calls.

    Why: the model chooses a tool by its name and its description. A library may describe a tool that the caller did not
    describe. Fix: send the caller's name and description of each tool in every request.
    """
    if run.refused or not run.case.tools:
        return
    judged = 1 if any(ask.schema for ask in run.case.steps) else len(run.exchanges)
    for index, exchange in enumerate(run.exchanges[:judged]):
        place, offered = f"/exchanges/{index}/request", dict(_offered(exchange.request.body))
        missing = [tool.name for tool in run.case.tools if tool.name not in offered]
        if missing and not offered and _are_forbidden(run, index):
            continue
        if missing:
            yield broken(place, f"{', '.join(missing)} is not offered; {', '.join(offered) or 'nothing'} is")
            continue
        described = [tool for tool in run.case.tools if squeezed(tool.description)]
        silent = [t.name for t in described if squeezed(t.description) != squeezed(offered[t.name])]
        yield found(not silent, place, f"the description of {', '.join(silent)} is gone or changed")


def _are_forbidden(run: Run, index: int) -> bool:
    """Tells whether the caller forbids calls for the turn of a request: without tools, the model makes none."""
    step = run.step_of(index)
    return step is not None and run.case.steps[step].options.get("tool_choice") == "none"


@book.rule(
    "OPT-007",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/function-calling",
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview",
    ],
)
def tools_are_the_callers(run: Run) -> Iterator[Finding]:
    """A request declares the caller's tools, each once, and no others: no functions of the library, and no tools that
    the provider runs, such as a search.

    Why: the model may call the added tool. A search costs money, and its results get into the answer. A case is not
    judged if a value is requested, because a library may request it with a tool. Fix: leave your own tools out, or let
    the caller switch them on.
    """
    if any(ask.schema for ask in run.case.steps) or run.case.searching:
        return
    wanted = {tool.name for tool in run.case.tools}
    for index, _ in taken(run):
        names = list(_declared(run.exchanges[index].request.body))
        more = sorted({name for name in names if name not in wanted or names.count(name) > 1})
        if names:
            yield found(
                not more,
                f"/exchanges/{index}/request",
                f"{', '.join(more)} was not offered, or is declared twice",
            )


def _declared(body: Json) -> Iterator[str]:
    """Yields the names of the declared tools, in any format. One that the provider runs has the name of its kind."""
    config = object_of(body.get("toolConfig"))
    for tool in [*elements_of(body.get("tools")), *elements_of(config.get("tools"))]:
        functions = tool.get("functionDeclarations") or tool.get("function_declarations")
        if functions:
            yield from (str(each.get("name")) for each in elements_of(functions))
        inner = next((tool[key] for key in ("function", "toolSpec") if isinstance(tool.get(key), dict)), tool)
        if isinstance(inner.get("name"), str):
            yield inner["name"]
        elif not functions and "cachePoint" not in tool:
            yield str(tool.get("type") or next(iter(tool), "nothing"))


def elements_of(value: Any) -> list[Json]:
    """Returns the objects of a list, or nothing."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _options(body: Json) -> set[str]:
    """Returns the options that a request sets."""
    holders = [body, *(body[key] for key in _HOLDERS if isinstance(body.get(key), dict))]
    return {
        key for holder in holders for key, value in holder.items() if key in _OPTIONS and value is not None
    }


def _offered(body: Json) -> Iterator[tuple[str, str]]:
    """Yields the tools of a request: their names and descriptions, in any format."""
    declared: list[Any] = [body.get("tools"), body.get("toolConfig"), body.get("functions")]
    for tool in objects(declared):
        if isinstance(tool.get("name"), str):
            yield tool["name"], str(tool.get("description") or "")
