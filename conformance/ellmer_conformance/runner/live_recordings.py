"""A live recording. It is judged by the provider's real answers, and kept without private data if no rule is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..contract.exchange import Exchange
from ..contract.live_key_redaction import redacted
from ..contract.observed_run import Run, Trouble
from ..contract.provider_answers.answer import Told, events_of
from ..contract.provider_answers.joined_streams import folded
from ..contract.provider_answers.whole_answers import read
from ..scenarios.case import Ask, Case
from ..scenarios.script import Answer, Call, Say, Step, Stop, Think, Usage
from .judgement import judge

__all__ = ["as_answer", "as_answered", "kept"]

_STOPS: dict[str, Stop] = {
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "max_output_tokens": "length",
    "incomplete": "length",
    "content_filter": "filter",
    "refusal": "filter",
    "SAFETY": "filter",
    "content_filtered": "filter",
    "guardrail_intervened": "filter",
    "PROHIBITED_CONTENT": "filter",
    "BLOCKLIST": "filter",
    "RECITATION": "filter",
    "SPII": "filter",
    "model_length": "length",
    "model_context_window_exceeded": "length",
}


def as_answered(run: Run) -> Run:
    """Returns the run with a script and expectations that come from the provider's real answers."""
    answers = [answer for each in run.exchanges if (answer := _answer(run.wire, each))]
    if not answers:
        return run
    return replace(run, case=replace(run.case, script=answers, steps=_steps(run.case, answers)))


def kept(run: Run, path: Path, before: bytes | None) -> Run:
    """Keeps the redacted recording if no rule is broken. Otherwise, it restores the previous one."""
    broken = [found.rule.id for found in judge(run) if found.outcome == "fail"]
    if broken or run.trouble or run.misses:
        _restore(path, before)
        why = f"it breaks {', '.join(broken)}" if broken else "it did not run to its end"
        return replace(
            run, trouble=run.trouble or (None if broken else Trouble(f"not kept: {why}", ours=False))
        )
    if path.is_file():
        path.write_text(redacted(path.read_text("utf-8")), "utf-8")
    return run


def _restore(path: Path, before: bytes | None) -> None:
    if before is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(before)


def _answer(wire: str, exchange: Exchange) -> Answer | None:
    """Returns a provider's answer as a step of a script."""
    response = exchange.response
    if response is None or response.status != 200:
        return None
    if exchange.request.stream:
        told = folded(wire, events_of(wire, response.body))
    else:
        with suppress(ValueError):
            told = read(wire, json.loads(response.body))
            return as_answer(told)
        return None
    return as_answer(told)


def as_answer(told: Told) -> Answer:
    """Returns the content of an answer as a step of a script."""
    calls = tuple(
        Call(call.name, call.arguments or {}, id=call.id, text=call.text if call.arguments is None else None)
        for call in told.calls
    )
    thought = (Think(told.thinking),) if told.thinking else ()
    said = (*thought, *((Say(told.text),) if told.text else ()))
    stop = _STOPS.get(str(told.stop))
    return Answer((*said, *calls), stop, Usage(int(told.input or 0), int(told.output or 0)))


def _steps(case: Case, answers: Sequence[Step]) -> list[Ask]:
    """Returns the user's side, each step with its last answer."""
    finals = _finals(answers)
    return [_step(ask, next(finals, None)) for ask in case.steps]


def _finals(answers: Sequence[Step]) -> Iterator[Answer]:
    """Yields the answers without calls, each of which ends a step."""
    yield from (step for step in answers if isinstance(step, Answer) and not step.calls)


def _step(ask: Ask, answer: Answer | None) -> Ask:
    if answer is None or ask.outcome == "refused":
        return ask
    if ask.schema is None:
        return replace(ask, text=answer.text, outcome="answered")
    try:
        return replace(ask, value=json.loads(answer.text), outcome="answered")
    except ValueError:
        return replace(ask, outcome="incomplete")
