"""Requests from documents, changelogs and public reports: the wrong ones are refused, their legal neighbours are not.

`reported_requests.jsonl` has a line for each: the wire, a base request, what is changed in it, the verdict of the API, its
words where the source quotes them, the source, and the day where the API has changed since. They share no author with the shapes: no type of an SDK made them.
"""

import copy
import json
from collections import Counter
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules.anthropic import _refusals_and_examples as an
from ellmer_conformance.contract.rules.bedrock import _refusals_and_examples as be
from ellmer_conformance.contract.rules.cohere import _refusals_and_examples as co
from ellmer_conformance.contract.rules.gemini import _refusals_and_examples as ge
from ellmer_conformance.contract.rules.mistral import _refusals_and_examples as mi
from ellmer_conformance.contract.rules.ollama import _refusals_and_examples as ol
from ellmer_conformance.contract.rules.openai_chat import _refusals_and_examples as oc
from ellmer_conformance.contract.rules.openai_responses import _refusals_and_examples as resp

CLOSED = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
    "required": ["x", "y"],
    "additionalProperties": False,
}
HI = {"type": "text", "text": "Hi"}
STRICT = {"type": "function", "function": {"name": "add", "strict": True, "parameters": CLOSED}}
PDF = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQ="}}
THINKING = {"type": "thinking", "thinking": "2 + 3 …", "signature": "EqQBCkYIBBgC"}
REASONED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
OPENED = {"type": "open_page", "url": "https://x.test"}
SEARCHED = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": OPENED}
PICTURE = {"type": "input_image", "image_url": f"data:image/png;base64,{oc.PNG}", "detail": "auto"}


def _chat(**more):
    return oc.body(oc.ASK, **more)


def _models(build, ask, **models):
    return {name: build(ask, model=model) for name, model in models.items()}


BASES = {
    "openai-chat": {
        "ask": _chat(),
        "tools": _chat(tools=[oc.TOOL]),
        "strict": _chat(tools=[STRICT]),
        "loop": oc.body(oc.ASK, oc.call("a"), oc.result("a"), tools=[oc.TOOL]),
        "turns": oc.body(oc.ASK, {"role": "assistant", "content": "5"}, oc.ASK),
        "image": oc.body({"role": "user", "content": [HI, oc.IMAGE]}),
        "file": oc.body({"role": "user", "content": [HI, PDF]}, model="gpt-4o"),
        "parts": oc.body({"role": "user", "content": [HI]}, model="gpt-5"),
        "gpt5.6parts": oc.body({"role": "user", "content": [HI]}, model="gpt-5.6"),
        "gpt5.6": _chat(model="gpt-5.6"),
        **_models(
            oc.body,
            oc.ASK,
            gpt5="gpt-5",
            o4mini="o4-mini",
            o3mini="o3-mini",
            search="gpt-4o-search-preview",
            **{"gpt5.4": "gpt-5.4"},
        ),
    },
    "openai-responses": {
        "ask": resp.body(resp.ASK),
        "tools": resp.body(resp.ASK, tools=[resp.TOOL]),
        "loop": resp.body(resp.ASK, resp.call("a"), resp.output("a"), tools=[resp.TOOL]),
        "thought": resp.body(resp.ASK, REASONED, resp.call("a"), resp.output("a"), model="gpt-5"),
        "searched": resp.body(resp.ASK, SEARCHED, resp.ASK, model="gpt-5"),
        "image": resp.body({"role": "user", "content": [{"type": "input_text", "text": "Hi"}, PICTURE]}),
        **_models(resp.body, resp.ASK, gpt5="gpt-5", gpt5codex="gpt-5-codex"),
    },
    "anthropic": {
        "ask": an.body(an.ASK),
        "tools": an.body(an.ASK, tools=[an.TOOL]),
        "loop": an.body(an.ASK, an.assistant(an.use("a")), an.user(an.result("a")), tools=[an.TOOL]),
        "turns": an.body(an.ASK, an.assistant("5"), an.ASK),
        "image": an.body(an.user(an.IMAGE)),
        "thought": an.body(
            an.ASK,
            an.assistant(THINKING, an.use("a")),
            an.user(an.result("a")),
            tools=[an.TOOL],
            thinking={"type": "enabled", "budget_tokens": 1024},
            max_tokens=2000,
        ),
    },
    "gemini": {
        "ask": ge.body(ge.ASK),
        "tools": ge.body(ge.ASK, tools=ge.TOOLS),
        "tools2": ge.body(ge.ASK, tools=ge.TOOLS),
        "loop": ge.body(ge.ASK, ge.model(ge.call()), ge.user(ge.answer()), tools=ge.TOOLS),
        "turns": ge.body(ge.ASK, ge.model({"text": "5"}), ge.ASK),
    },
    "bedrock": {
        "ask": be.body(be.ASK),
        "tools": be.body(be.ASK, toolConfig=be.TOOLS),
        "loop": be.loop(be.result("a")),
    },
    "mistral": {
        "ask": mi.body(mi.ASK),
        "tools": mi.body(mi.ASK, tools=[mi.TOOL]),
        "loop": mi.body(mi.ASK, mi.call(mi.A), mi.result(mi.A), tools=[mi.TOOL]),
        "turns": mi.body(mi.ASK, {"role": "assistant", "content": "5"}, mi.ASK),
    },
    "cohere": {
        "ask": co.body(co.ASK),
        "tools": co.body(co.ASK, tools=[co.TOOL]),
        "loop": co.body(co.ASK, co.call("a"), co.result("a"), tools=[co.TOOL]),
    },
    "ollama": {
        "ask": ol.body(ol.ASK),
        "tools": ol.body(ol.ASK, tools=[ol.TOOL]),
        "loop": ol.body(ol.ASK, ol.call("a"), ol.result("a"), tools=[ol.TOOL]),
    },
}


@cache
def lines():
    file = Path(__file__).with_name("reported_requests.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def built(line):
    """The request of a line: its base with fields set and dropped."""
    body = copy.deepcopy(BASES[line["wire"]][line["base"]])
    for pointer, value in line.get("set", {}).items():
        holder, key = _place(body, pointer)
        if isinstance(holder, list) and key == len(holder):
            holder.append(value)
        else:
            holder[key] = value
    for pointer in line.get("drop", ()):
        holder, key = _place(body, pointer)
        del holder[key]
    return body


def _place(body, pointer):
    *steps, last = pointer.split("/")[1:]
    for step in steps:
        body = body[int(step) if isinstance(body, list) else step]
    return body, int(last) if isinstance(body, list) else last


def refused(line):
    """The violation for which the strict server refuses a line's request, or nothing."""
    book = rules.book(line["wire"], line.get("provider", ""))
    day = date.fromisoformat(line["day"]) if "day" in line else None
    return objection(book.judge(replace(book.request(built(line)), when=day)))


def of(verdict):
    return [line for line in lines() if line["verdict"] == verdict]


def test_there_are_enough_lines_over_all_wires():
    assert len(of("refused")) >= 300
    assert len(of("accepted")) >= 150
    assert set(Counter(line["wire"] for line in lines())) == set(BASES) == set(rules.WIRES)


def test_every_line_has_a_source_that_can_be_opened_and_is_written_once():
    assert all(line["source"].startswith("https://") for line in lines())
    assert len({json.dumps(line, sort_keys=True) for line in lines()}) == len(lines())


@pytest.mark.parametrize("wire", sorted(BASES))
def test_no_legal_request_is_refused(wire):
    found = [(line, refused(line)) for line in of("accepted") if line["wire"] == wire]
    assert not [f"{line} {wrong.rule.id}: {wrong.message}" for line, wrong in found if wrong]


@pytest.mark.parametrize("wire", sorted(BASES))
def test_wrong_requests_are_refused(wire):
    mine = [line for line in of("refused") if line["wire"] == wire]
    missed = [
        f"{line.get('set')} {line.get('drop', '')} {line['source']}" for line in mine if not refused(line)
    ]
    assert len(missed) <= 0.05 * len(mine), "\n".join(missed)


@pytest.mark.parametrize("wire", sorted(BASES))
def test_quoted_words_are_those_of_the_refusal(wire):
    quoted = [line for line in of("refused") if line["wire"] == wire and "words" in line]
    found = [(line, refused(line)) for line in quoted]
    other = [
        f"{line['words']!r}: {got.refusal.message!r}"
        for line, got in found
        if got and line["words"] not in got.refusal.message
    ]
    assert len(other) <= 0.05 * len(quoted), "\n".join(other)
