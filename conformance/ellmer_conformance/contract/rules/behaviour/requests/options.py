"""Options of one turn: they are in that turn's request, in the place that the API defines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .....scenarios.case import Ask
from .....scenarios.messages import Text
from ....observed.exchange import Item, Json
from ....observed.run import Run
from ....readers.json_access import items_of, object_of, text_of
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found, objects, taken

_JSON = {"json_object", "json_schema", "application/json", "json"}
_FORCED = {"required", "any", "function", "tool"}
_OF_ONE = {"function", "tool"}
#: Objects that hold the options, if they are not beside the messages.
_HELD = ("generationConfig", "inferenceConfig", "options")


def _tool_choice(body: Json, wanted: str) -> bool:
    """Tells whether a call of any tool is forced, or forbidden. A call of one tool is another choice, if there are several."""
    tools = body.get("tools") or object_of(body.get("toolConfig")).get("tools") or ()
    if wanted == "none":
        return _forced(body) == "none" or not tools
    return _forced(body) in _FORCED - (_OF_ONE if len(tools) > 1 else set())


def _forced(body: Json) -> str:
    """Returns the kind of call that is forced, in any format."""
    config = object_of(body.get("toolConfig"))
    choice = body.get("tool_choice") or config.get("functionCallingConfig") or config.get("toolChoice")
    if isinstance(choice, Mapping):  # {"type": "any"}, {"mode": "ANY"}, {"any": {}}
        choice = choice.get("type", choice.get("mode", next(iter(choice), "")))
    return str(choice or "").lower()


def _tool(body: Json, wanted: str) -> bool:
    """Tells whether a call of this tool is forced: by its name, or because it is the only one that is offered."""
    if _forced(body) in {"", "none", "auto"}:
        return False
    named, config = _named(body), object_of(body.get("toolConfig"))
    offered = {each["name"] for each in objects([body.get("tools"), config.get("tools")]) if _is_tool(each)}
    return (named or offered) == {wanted}


def _named(body: Json) -> set[str]:
    """Returns the names of the tools that a choice allows, if it names any."""
    config = object_of(body.get("toolConfig"))
    choice = [body.get("tool_choice"), config.get("functionCallingConfig"), config.get("toolChoice")]
    return {
        name
        for each in objects(choice)
        for name in (each.get("name"), *items_of(each.get("allowedFunctionNames")))
        if isinstance(name, str)
    }


def _is_tool(value: Json) -> bool:
    return isinstance(value.get("name"), str) and bool({*_SCHEMAS} & {*value})


#: The fields that a tool has beside its name.
_SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema", "description")


def _is_off(wire: str, body: Json) -> bool:
    """Tells whether no thinking is asked for, and whether a model that thinks by itself is told not to."""
    fields = object_of(body.get("additionalModelRequestFields"))
    config = object_of(object_of(body.get("generationConfig")).get("thinkingConfig"))
    thinking = object_of(body.get("thinking")) or object_of(fields.get("thinking"))
    effort = body.get("reasoning_effort") or object_of(body.get("reasoning")).get("effort")
    told = {
        "gemini": config.get("thinkingBudget") == 0 or text_of(config.get("thinkingLevel")).lower() in _LEAST,
        "ollama": body.get("think") in {False, "low"},
        "cohere": thinking.get("type") == "disabled",
        "openai-responses": effort in _LEAST,
    }
    asked = thinking.get("type") in {"enabled", "adaptive"} or effort not in {None, *_LEAST}
    return told.get(wire, not asked)


#: The efforts and levels with which a model thinks as little as it can.
_LEAST = ("none", "minimal", "low")


def _stop(body: Json, wanted: Sequence[str]) -> bool:
    """Tells whether exactly these stop sequences are sent."""
    holders = [body, *(object_of(body.get(name)) for name in _HELD)]
    sent = [
        holder[name]
        for holder in holders
        for name in ("stop", "stop_sequences", "stopSequences")
        if name in holder
    ]
    return list(wanted) in sent if wanted else not any(sent)


def _json(body: Json, _: Any) -> bool:
    """Tells whether the request asks for JSON."""
    places = (
        object_of(body.get("response_format")).get("type"),
        object_of(object_of(body.get("text")).get("format")).get("type"),
        object_of(body.get("generationConfig")).get("responseMimeType"),
        body.get("format"),
    )
    return any(isinstance(place, str) and place in _JSON for place in places)


def _cache(body: Json, _: Any) -> bool:
    """Tells whether the request marks a beginning of it that has the system prompt, for the usual five minutes.

    A mark covers what stands before it, and the tools stand before the prompt. A mark of the whole request covers all.
    """
    prompt = body.get("system")
    behind = [*(prompt[-1:] if isinstance(prompt, list) else ()), body.get("messages")]
    marks = [
        each.get("cache_control", each.get("cachePoint"))
        for each in [{"cache_control": body.get("cache_control")}, *objects(behind)]
    ]
    return any(isinstance(mark, Mapping) and mark.get("ttl") in {None, "5m"} for mark in marks)


def _temperature(body: Json, wanted: float) -> bool:
    """Tells whether this temperature is sent, be it zero."""
    holders = [body, *(object_of(body.get(name)) for name in _HELD)]
    return any(holder.get("temperature") == wanted for holder in holders)


def _parallel(body: Json, _: Any) -> bool:
    """Tells whether one call at a time is asked for."""
    choice = object_of(body.get("tool_choice"))
    return body.get("parallel_tool_calls") is False or choice.get("disable_parallel_tool_use") is True


def _limit(body: Json, wanted: int) -> bool:
    """Tells whether this limit of tokens is sent."""
    holders = [body, *(object_of(body.get(name)) for name in _HELD)]
    return any(holder.get(name) == wanted for holder in holders for name in _LIMITS)


#: The option fields that each wire format reads, by the object that holds them; `""` is the body. No format reads another one's.
_TOOLS = ("tool_choice", "parallel_tool_calls")
_READ: Mapping[str, Mapping[str, Sequence[str]]] = {
    "openai-chat": {
        "": (*_TOOLS, "stop", "response_format", "temperature", "max_tokens", "max_completion_tokens")
    },
    "openai-responses": {"": (*_TOOLS, "text", "temperature", "max_output_tokens")},
    "anthropic": {"": ("tool_choice", "cache_control", "stop_sequences", "temperature", "max_tokens")},
    "gemini": {
        "": ("toolConfig",),
        "generationConfig": ("stopSequences", "responseMimeType", "temperature", "maxOutputTokens"),
    },
    "bedrock": {"": ("toolConfig",), "inferenceConfig": ("stopSequences", "temperature", "maxTokens")},
    "ollama": {"": ("format",), "options": ("stop", "temperature", "num_predict")},
    "mistral": {"": (*_TOOLS, "stop", "response_format", "temperature", "max_tokens")},
    "cohere": {"": ("tool_choice", "stop_sequences", "response_format", "temperature", "max_tokens")},
}
_FIELDS = {name for places in _READ.values() for names in places.values() for name in names}


def _as_read(wire: str, body: Json) -> Json:
    """Returns a body without the option fields that its wire format does not read: those of other formats, or in other places."""
    places = _READ[wire]
    held = {name: _own(object_of(body[name]), places.get(name, ())) for name in _HELD if name in body}
    return {**_own(body, places[""]), **held}


def _own(holder: Json, names: Sequence[str]) -> Json:
    return {name: value for name, value in holder.items() if name in names or name not in _FIELDS}


_SENT: Mapping[str, Callable[[Json, Any], bool]] = {
    "tool_choice": _tool_choice,
    "stop": _stop,
    "json": _json,
    "cache": _cache,
    "temperature": _temperature,
    "max_tokens": _limit,
    "parallel": _parallel,
    "tool": _tool,
}
#: The options that force a call, which has to be free after its result.
_CHOICES = {"tool_choice", "tool"}


#: What the options are called in a message, where the name does not say it.
_SET = {
    "cache": "a cached prompt (with a `ttl` of five minutes, or without one)",
    "json": "an answer in JSON",
    "parallel": "one call at a time",
    "tool": "a call of one tool",
}


@book.rule(
    "OPT-004",
    MUST,
    LOSS,
    source=[
        "https://github.com/BerriAI/litellm/issues/35582",
        "https://github.com/vercel/ai/issues/7927",
        "https://github.com/ralphgrewe/TradingAgents/issues/168",
    ],
)
def options_reach_the_provider(run: Run) -> Iterator[Finding]:
    """What the caller sets for a turn (a forced or forbidden call, a call of one tool, stop sequences, JSON, a cached prompt, a temperature
    of 0, a limit of tokens, one call at a time, no thinking) is in its request, in the field that the wire format reads.

    Why: the answer changes if an option is dropped, and the caller does not notice. A field that another format has for
    it is often ignored (`maxOutputTokens` at Bedrock, `num_predict` beside Ollama's `options`). An option of one turn
    is not sent with the next, and a call is not forced again after its result. Fix: map each option to the field of
    this wire format, and raise an error for one that it does not have.
    """
    for index, ask, is_first in _requests_of_steps(run):
        place, body = f"/exchanges/{index}/request", _as_read(run.wire, run.exchanges[index].request.body)
        for name, value in ask.options.items():
            if name == "thinking" and value is False:
                problem = "thinking is switched off, and the request asks for it, or does not switch it off"
                yield found(_is_off(run.wire, body), place, problem)
            elif name in _SENT and (is_first or name not in _CHOICES):
                yield found(
                    _SENT[name](body, value),
                    place,
                    f"{_SET.get(name, name)} was set, and the request has none",
                )
            elif name in _CHOICES:
                problem = "the call is forced again after its result, so that the model cannot answer"
                yield found(_forced(body) not in _FORCED, place, problem)
        before = {name: a.options[name] for a in run.case.steps for name in a.options if name in _SENT}
        for name, value in before.items():
            if name not in ask.options and value != []:
                yield found(not _SENT[name](body, value), place, f"{name} was set for another turn")


@book.rule(
    "OPT-008",
    MUST,
    LOSS,
    source=[
        "https://github.com/LucieEveille/kiwi-mem/pull/43",
        "https://github.com/MervinPraison/PraisonAI/pull/4780",
    ],
)
def options_last(run: Run) -> Iterator[Finding]:
    """What a request sets is set in the further requests of the turn, after results, retries and pauses, and in later turns for which the
    caller asks the same.

    Why: the last request of a turn gets the answer. Without the schema it is no value, and without the effort the model thinks less.
    Only what is gone counts, at any depth: a library may change a value. Tools, the choice of a call and the prompt have rules of their own.
    A shortened conversation is not judged, nor is a request that the API refused. Fix: build each request from the same options.
    """
    firsts: dict[str, Json] = {}
    for index, exchange in enumerate(run.exchanges):
        step, body = run.step_of(index), exchange.request.body
        if step is None or exchange.refused or any(ask.compacted for ask in run.case.steps):
            continue
        asked = run.case.steps[step]
        first = firsts.setdefault(repr((asked.options, asked.schema)), body)
        if first is not body:
            lost = ", ".join(_gone(first, body))
            problem = f"an earlier request of the same kind has {lost}, and this one has not"
            yield found(not lost, f"/exchanges/{index}/request", problem)


#: What other rules judge, and what names the conversation so far.
_NO_OPTIONS = {
    *("messages", "input", "contents", "system", "instructions", "systemInstruction", "system_instruction"),
    *("tools", "tool_choice", "toolConfig", "parallel_tool_calls", "cache_control"),
    *("stream", "stream_options", "previous_response_id", "conversation"),
}


def _gone(first: Json, later: Json, path: str = "") -> Iterator[str]:
    """Yields the options of a request that a later one does not have, an object for all that it holds."""
    for name, value in first.items():
        if (not path and name in _NO_OPTIONS) or value in (None, {}, []):
            continue
        if later.get(name) is None:
            yield path + name
        elif isinstance(value, dict):
            yield from _gone(value, object_of(later[name]), f"{path}{name}.")


def _requests_of_steps(run: Run) -> Iterator[tuple[int, Ask, bool]]:
    """Yields each request whose step is known, with the step and whether it is the first of it.

    A forced call is sent once: after its result, the model has to be free to answer.
    """
    if run.refused or not any(ask.options for ask in run.case.steps):
        return
    steps = [run.step_of(index) for index in range(len(run.exchanges))]
    for index, step in enumerate(steps):
        if step is not None:
            yield index, run.case.steps[step], step not in steps[:index]
    if run.exchanges and None in steps:
        yield 0, run.case.steps[0], True


@book.rule(
    "OPT-005",
    MUST,
    LOSS,
    source=[
        "https://github.com/definableai/definable.ai/issues/44",
        "https://github.com/xuzhougeng/wisp-science/pull/708",
    ],
)
def limits_of_requests_are_kept(run: Run) -> Iterator[Finding]:
    """A turn sends at most as many requests as the caller allows. Then an error says that the limit was reached.

    Why: the limit protects the caller from costs, and a turn that it stopped is not complete. The history keeps the
    answers so far, and the next turn continues from them. Fix: count the requests of a turn, and raise an error at the
    limit with the history kept.
    """
    for index, (ask, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if "requests" not in ask.options or run.refused:
            continue
        sent = sum(not _asked_for(run.case.steps[index + 1 :], items) for items in run.sent_items)
        problem = f"{sent} requests were sent, and {ask.options['requests']} are allowed"
        yield found(sent <= ask.options["requests"], "/exchanges", problem)
        yield found(reply.error is not None, f"/replies/{index}", "no error says that the limit is reached")


def _asked_for(steps: Sequence[Ask], items: Sequence[Item]) -> bool:
    """Tells whether a request has the option of one of these steps."""
    texts = {part.text for step in steps for part in step.parts if isinstance(part, Text)}
    return any(item.kind == "text" and item.text in texts for item in items)


@book.rule(
    "OPT-006",
    MUST,
    LOSS,
    source=[
        "https://github.com/cloudflare/ai/issues/542",
        "https://developers.openai.com/api/docs/guides/function-calling",
        "https://github.com/voocel/litellm/pull/6",
        "https://github.com/router-for-me/CLIProxyAPI/pull/1704",
        "https://github.com/vectorize-io/hindsight/pull/3344",
        "https://github.com/aebrer/dreb/issues/117",
        "https://github.com/SciPhi-AI/R2R/issues/1979",
        "https://github.com/rcourtman/Pulse/issues/1481",
        "https://docs.mistral.ai/api/endpoint/chat (safe_prompt: whether to inject a safety prompt before all conversations)",
        "https://docs.cohere.com/reference/chat (citation_options)",
    ],
)
def answers_are_not_cut_short(run: Run) -> Iterator[Finding]:
    """No request limits, forces or multiplies the answer, or changes its price, its place or its sampling, unless the caller asked for it.

    Why: the caller gets a part of the answer, or another kind of answer, and does not notice. These limit or change an answer: a token
    limit under 4,096 (at Anthropic, which requires one, under 1,024), a context under 4,096 tokens (Ollama, which cuts longer
    prompts), stop sequences, a forced or forbidden tool call, one call at a time or a limit of calls, JSON, several answers, less
    thinking, brief answers, a history that the API may shorten, images in low detail, and an answer in the background. So do the
    price and the place (`service_tier`, `speed`, a latency, a region), a stored conversation where the API stores none by itself
    (`store` in Chat Completions), filters (a guardrail, `safetySettings`), the sampling (`seed`, `top_p`, a penalty), the most
    thinking (an effort of `xhigh` or `max`), log probabilities, `metadata`, the name of the user (`user`,
    `safety_identifier`), how long Ollama keeps the model in memory (`keep_alive`, in place of the server's own setting), Mistral's
    own prompt before the caller's (`safe_prompt`), and answers of Cohere without their citations. A `top_p` of 1 changes nothing where it is the default; the default is 0.95 at Gemini and 0.75 at Cohere.
    OPT-001 judges larger limits and other options. Fix: send an option only if the caller set it.
    """
    if run.refused or any(ask.schema for ask in run.case.steps):
        return
    for index, _ in taken(run):
        step, body = run.step_of(index), run.exchanges[index].request.body
        asked = run.case.steps if step is None else run.case.steps[step : step + 1]
        allowed = {name for ask in asked for name in ask.options}
        problem = ", ".join(
            sorted(what for what, option in _constraints(run.wire, body) if option not in allowed)
        )
        yield found(not problem, f"/exchanges/{index}/request", f"nobody asked for {problem}")


_LIMITS = {
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "maxTokens", "maxOutputTokens"),
    "num_predict",
}
_USUAL_LIMIT, _REQUIRED_LIMIT = 4096, 1024


def _constraints(wire: str, body: Json) -> Iterator[tuple[str, str]]:
    """Yields what a request constrains, each with the option that would allow it."""
    usual = _REQUIRED_LIMIT if wire == "anthropic" else _USUAL_LIMIT
    for holder in (body, *(object_of(body.get(name)) for name in _HELD)):
        for name, value in holder.items():
            if name in _LIMITS and isinstance(value, int) and 0 <= value < usual:
                yield f"{name}={value}", "max_tokens"
            elif name == "num_ctx" and isinstance(value, int) and value < _USUAL_LIMIT:
                yield f"num_ctx={value}", "num_ctx"
            elif name in {"stop", "stop_sequences", "stopSequences"} and value:
                yield name, "stop"
            elif name in {"n", "candidateCount"} and value not in {None, 1}:
                yield name, "n"
    yield from ((what, _ASKED_FOR_BY.get(what, what)) for what in (*_lowered(body), *_terms(wire, body)))
    if _tool_choice(body, "required") or _is_forbidden(body):
        yield "tool_choice", "tool" if _named(body) else "tool_choice"
    if _json(body, None):
        yield "JSON", "json"


#: The option of a caller that lowers something.
_ASKED_FOR_BY = {"one call at a time": "parallel", "less thinking": "thinking"}
_LESS = {"none", "minimal", "low"}
#: What stands beside the detail of an image. An argument of a call may be called `detail`, too.
_IMAGE = {"url", "image_url", "file_id"}


def _lowered(body: Json) -> Iterator[str]:
    """Yields the options that reduce a default: calls, thinking, words, history, citations, detail."""
    thinking = object_of(body.get("thinking"))
    config = object_of(object_of(body.get("generationConfig")).get("thinkingConfig"))
    effort = _effort(body)
    yield from (
        what
        for what, is_less in {
            "one call at a time": _parallel(body, None),
            "less thinking": (effort in _LESS and not _must_not_think(body))
            or body.get("think") is False
            or thinking.get("type") == "disabled"
            or config.get("thinkingBudget") == 0,
            "a limit of calls": body.get("max_tool_calls") is not None,
            "brief answers": "low" in {body.get("verbosity"), object_of(body.get("text")).get("verbosity")},
            "an answer in the background": body.get("background") is True,
            "a shorter history": body.get("truncation") == "auto"
            or any(body.get(name) for name in ("transforms", "context_management")),
            "no citations": str(object_of(body.get("citation_options")).get("mode")).upper() == "OFF",
            "low detail": any(
                each.get("detail") == "low" and not _IMAGE.isdisjoint(each)
                for each in objects(body.get("messages") or body.get("input"))
            ),
        }.items()
        if is_less
    )


def _effort(body: Json) -> Any:
    """Returns how much a request asks the model to think, in the format's place for it."""
    places = (object_of(body.get(name)).get("effort") for name in ("reasoning", "output_config"))
    return body.get("reasoning_effort") or next(filter(None, places), None)


def _terms(wire: str, body: Json) -> Iterator[str]:
    """Yields the options that change the price, the data that the provider stores, its filters, or the data about the user."""
    if _effort(body) in _MOST:
        yield "the most thinking"
    if body.get("service_tier") not in {None, "auto", "default", "standard", "standard_only"}:
        yield f"service_tier={body['service_tier']}"
    settings = ("speed", "inference_geo", "keep_alive")  # a `keep_alive` of 0 unloads the model at once
    yield from (f"{name}={body[name]}" for name in settings if body.get(name) not in (None, ""))
    if object_of(body.get("performanceConfig")).get("latency") == "optimized":
        yield "another latency"
    yield from (what for name, what in _ADDED.items() if body.get(name))
    holders = [body, *(object_of(body.get(name)) for name in _HELD)]
    for name, neutral in {**_NEUTRAL, **_TOP_P.get(wire, {})}.items():
        if any(holder.get(name) not in neutral for holder in holders):
            yield name
    if any(body.get(name) for name in ("user", "safety_identifier")):
        yield "user"
    if any(object_of(body.get("metadata")).values()):
        yield "metadata"
    if body.get("store") is True and "messages" in body:
        yield "a stored conversation"
    filters = body.get("safetySettings")
    if any(object_of(each).get("threshold") in _UNFILTERED for each in filters or ()):
        yield "no safety filters"


_ADDED = {
    "guardrailConfig": "a guardrail",
    "prediction": "a predicted answer",
    "safe_prompt": "a safety prompt",
}
_UNFILTERED = {"BLOCK_NONE", "OFF"}
_MOST = {"xhigh", "max"}
#: The names of `top_p` where the default is another one than 1.
_TOP_P: Mapping[str, Mapping[str, tuple[Any, ...]]] = {"gemini": {"topP": (None,)}, "cohere": {"p": (None,)}}
#: What changes the sampling, or makes the answer longer, and the values that do not.
_NEUTRAL = {
    "seed": (None,),
    **dict.fromkeys(("top_p", "topP"), (None, 1)),
    **dict.fromkeys(("presence_penalty", "frequency_penalty"), (None, 0)),
    **dict.fromkeys(("logprobs", "top_logprobs", "responseLogprobs"), (None, False, 0)),
}


def _must_not_think(body: Json) -> bool:
    """Tells whether the request has functions in Chat Completions, which newer models take only without thinking (REQ-021)."""
    return body.get("reasoning_effort") == "none" and bool(body.get("tools")) and "messages" in body


def _is_forbidden(body: Json) -> bool:
    """Tells whether the request offers tools and forbids their use."""
    config = object_of(object_of(body.get("toolConfig")).get("functionCallingConfig"))
    choice = body.get("tool_choice") or config
    mode = choice.get("type", choice.get("mode")) if isinstance(choice, Mapping) else choice
    return isinstance(mode, str) and mode.lower() == "none" and bool(body.get("tools"))
