"""Judges a paste: the findings for each request as JSON, or the rules behind an error text.

The page runs it in a worker. The rules, the readers and the verdicts are those of `conformance lint`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.error_texts.other_causes import other_cause
from ellmer_conformance.contract.error_texts.rules_by_error_text import matches
from ellmer_conformance.contract.rule import Rule, Violation
from ellmer_conformance.contract.rulebook import RuleBook
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.recordings.pastes.literals import dictionaries
from ellmer_conformance.recordings.pastes.pasted import Pasted, pasted
from ellmer_conformance.recordings.pastes.requests import request_in
from ellmer_conformance.recordings.pastes.unknown import is_unknown
from ellmer_conformance.recordings.recorded_requests import Assumed, Recording, Skip, status_of
from ellmer_harness.recordings import Unreadable

__all__ = ["judged", "ready"]

Json = dict[str, Any]
_MOST = 5  # rules for one error text
_SURE = 0.7  # a log or a refusal of another kind is less alike than this


#: The pages that prove each rule, by wire format, provider and rule. `build.py` looks them up.
EVIDENCE: dict[str, dict[str, dict[str, list[str]]]] = {}


#: Pastes of several forms. `ready` judges them.
_FIRST = (
    'curl https://api.anthropic.com/v1/messages -H \'x-api-key: …\' -d \'{"model": "claude", "messages": []}\'',
    '{"model": "gpt-4.1", "messages": [{"role": "tool", "content": "21 °C"}]}',
    "{'error': {'message': 'messages: at least one message is required'}}",
)


def ready(evidence: Mapping[str, Mapping[str, Any]]) -> None:
    """Loads every book and judges the examples and some pastes, so that no verdict waits for a file or a pattern.

    Args:
        evidence: The pages that prove each rule, by wire format, provider and rule.
    """
    for wire in rules.WIRES:
        EVIDENCE[wire] = {name: dict(found) for name, found in evidence.get(wire, {}).items()}
        for provider in EVIDENCE[wire]:
            rules.book(wire, provider)
        book = rules.book(wire)
        for rule in book.rules.values():
            for body in rule.counterexamples[:1]:
                book.judge(book.request(body))
    for paste in _FIRST:
        judged(paste)


def judged(text: str, wire: str = "", provider: str = "", model: str = "") -> str:
    """Returns the verdict on a paste as JSON.

    Args:
        text: The paste.
        wire: The wire format. Default: it is found.
        provider: The provider. Default: it is found.
        model: The model. Default: the one that the request names.
    """
    try:
        found = pasted(text)
    except (Unreadable, ValueError) as error:
        return json.dumps({"problem": getattr(error, "problem", str(error))})
    chosen = (wire, provider, model)
    answer = {
        "form": found.form,
        "partial": found.left_out,
        "requests": [_request(found, each, *chosen) for each in found.recordings],
    }
    answer |= _matches(found, wire, provider)
    if found.error and all(match["alike"] < _SURE for match in answer["matches"]):
        problem = _NO_BODY if _LOGGED.search(found.error) else _another_refusal(found.error)
        return json.dumps({"problem": problem} if problem else answer)
    return json.dumps(answer)


#: A log of a request without its body, as `httpx`, `google-genai`, Node.js and servers write it.
_LOGGED = re.compile(r"POST https?://|\"POST /\S{1,200} HTTP/[\d.]{1,3}\" \d|\[(?:Array|Object)\]")
_NO_BODY = (
    "The log names a request but does not have its body. The SDKs of OpenAI and Anthropic write it at level DEBUG; "
    "Google's SDK does not write it. In Node.js, print the body with JSON.stringify."
)


def _request(paste: Pasted, recording: Recording, wire: str, provider: str, model: str) -> Json:
    request = request_in(recording, Assumed(wire, provider), model)
    if isinstance(request, Skip):
        return {"place": recording.place, "reason": request.reason}
    book = rules.book(request.wire, request.provider)
    verdicts = book.judge(request)
    findings = [
        (verdict.outcome, violation)
        for verdict in verdicts
        for violation in verdict.violations
        if paste.is_certain(request, violation)
    ]
    return {
        "place": recording.place,
        "wire": request.wire,
        "provider": request.provider,
        "model": "" if is_unknown(request.model) else request.model,
        "guessed": not (recording.url or wire),
        "answered": status_of(recording),
        "checked": sum(bool(verdict.checked) for verdict in verdicts),
        "body": request.body,
        "findings": [_finding(book, *each) for each in findings],
    }


def _finding(book: RuleBook, outcome: str, violation: Violation) -> Json:
    refusal = violation.refusal
    status, answer = "", ""
    if refusal:
        status, _, content = book.refuse(violation)
        answer = content.decode(errors="replace")
    return {
        **_rule(book, violation.rule),
        "outcome": outcome,
        "pointer": violation.pointer,
        "message": violation.message,
        "says": refusal.message if refusal else "",
        "status": status,
        "answer": answer,
    }


def _rule(book: RuleBook, rule: Rule) -> Json:
    explained = rule.explain.partition("What is on record:")[0]  # the rule's page lists it
    parts = re.split(r"(?:^|\s+)(Why|Fix): ", " ".join(explained.split()))
    told = dict(zip(parts[1::2], parts[2::2], strict=False))
    return {
        "rule": rule.id,
        "full_id": rule.full_id,
        "level": rule.level,
        "kind": "preview" if rule.preview else str(rule.kind),
        "wire": book.wire,
        "provider": book.provider,
        "sentence": rule.sentence,
        "why": told.get("Why", parts[0]),
        "fix": told.get("Fix", ""),
        "source": [source for source in rule.source if "https://" not in source],
        "evidence": _evidence(book, rule),
        "legal": [*rule.examples[:2]],
        "page": _page(book, rule),
    }


def _page(book: RuleBook, rule: Rule) -> str:
    """Returns the page of a rule on this site. A rule of one provider has none."""
    if book is behaviour.book:
        return f"behaviour/{rule.id.lower()}/"
    return f"{book.wire}/{rule.id.lower()}/" if rule.id in rules.book(book.wire).rules else ""


def _evidence(book: RuleBook, rule: Rule) -> list[str]:
    """Returns the pages that prove a rule at a provider; of the format's own provider, if nobody looked there."""
    if book is behaviour.book:
        return [source for source in rule.source if source.startswith("https://")]
    found = EVIDENCE.get(book.wire, {})
    own = found.get(rules.book(book.wire).provider, {})
    return found.get(book.provider, {}).get(rule.id) or own.get(rule.id) or []


def _another_refusal(text: str) -> str:
    """Returns what an error text is about that no rule explains, and what to do. It is empty for an unknown one."""
    cause = other_cause(text)
    return f"The text says that {cause.what}. {cause.advice}" if cause else ""


def _matches(found: Pasted, wire: str, provider: str) -> Json:
    """Returns the rules behind an error text. The same refusal in several books appears once."""
    if not found.error:
        return {}
    books = (
        [rules.book(wire, provider)]
        if wire
        else [*map(rules.book, rules.WIRES), behaviour.book, *rules.books()]
    )
    told: dict[tuple[str, str], Json] = {}
    texts = dict.fromkeys((_error_of(found.error), found.error))
    for match in next(filter(None, (matches(text, books) for text in texts)), []):
        row = {**_rule(match.book, match.rule), "alike": round(match.alike, 2)}
        row["refused"] = next(iter(match.rule.counterexamples), None)
        row["says"] = match.rule.refusal.message if match.rule.refusal else ""
        told.setdefault((match.book.wire, match.rule.id), row)
    return {"matches": [*told.values()][:_MOST]}


def _error_of(text: str) -> str:
    """Returns the error body in a text, such as the one that the exception of an SDK prints; else the text."""
    inside = [value for _, _, value in dictionaries(text) if value.keys() & {"error", "message"}]
    return json.dumps(inside[-1]) if inside else text
