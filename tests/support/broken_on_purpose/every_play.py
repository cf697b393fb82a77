"""Adapters that break what must hold in every play: who said what, whole schemas, marks, digits, base64, options."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, ClassVar

from ellmer_conformance.contract.observed.exchange import Json

from .answer_events import rewritten, without_signatures
from .base import BrokenAdapter
from .listed.mined import (
    arguments,
    each,
    first,
    marks,
    options,
    result_texts,
    rounded,
    said,
    schemas,
    without,
)
from .neutral_requests import Body

_CHAT = ("openai-chat", "anthropic")


class _Changes(BrokenAdapter):
    """An adapter with one change of its requests."""

    caught_by: ClassVar[tuple[str, ...]] = ()

    def body(self, body: Json) -> Json:
        self.change(Body(self.endpoint.wire, body))
        return body

    def change(self, body: Body) -> None:
        """Changes a request."""
        how: Any = vars(type(self))["how"]
        how(body)


class PutsWordsIntoTheModelsMouth(_Changes):
    """Says that the model said something else."""

    case, caught_by = "plain_text", ("HIS-011",)
    how = each(said("assistant"), lambda text: f"{text} I promise.")


class InventsArguments(_Changes):
    """Adds an argument to calls."""

    case, caught_by, also = "one_tool", ("HIS-012",), ("PAIR-013",)
    how = arguments(lambda given: {**given, "unit": "celsius"})


class ForgetsWhatWasSaid(_Changes):
    """Sends only the newest question."""

    case, caught_by = "plain_text", ("HIS-013",)
    on = _CHAT

    def change(self, body: Body) -> None:
        body.turns[:] = [*[t for t in body.turns if t.get("role") == "system"], body.turns[-1]]


class AsksForMore(_Changes):
    """Adds its own words to a question beside tools."""

    case, caught_by = "one_tool", ("HIS-014",)
    how = each(said("user"), lambda text: f"{text}\nUse your tools.")


class RewordsThoughts(_Changes):
    """Changes the words of thoughts that it sends back."""

    case, caught_by, on = "thinking_with_tools", ("THK-028",), ("anthropic",)

    def change(self, body: Body) -> None:
        for turn in body.turns:
            for block in body.blocks(turn):
                if block.get("type") == "thinking":
                    block["thinking"] = f"Hm. {block['thinking']}"


class LimitsTokensWithTools(_Changes):
    """Sets a small token limit whenever tools are offered."""

    case, caught_by = "one_tool", ("OPT-006",)
    how = options(limit=64, with_tools=True)


class DropsRequired(_Changes):
    """Drops the lists of required parameters."""

    case, caught_by, on = "one_tool", ("SCH-026",), ("anthropic", "gemini")
    how = schemas(without("required"))


class DropsBounds(_Changes):
    """Drops bounds, lengths and patterns of parameters."""

    case, caught_by, on = "bounded_schema", ("SCH-028",), ("anthropic", "gemini")
    how = schemas(without("minimum", "maximum", "minLength", "maxLength", "pattern"))


class MarksGoodResults(_Changes):
    """Marks every result as an error."""

    case, caught_by, on = "one_tool", ("PAIR-031",), ("openai-chat", "openai-responses", "anthropic")
    how = marks(failed=True)


class HidesFailures(_Changes):
    """Sends `done` for a tool that failed."""

    case, caught_by, on = "tool_error", ("PAIR-032",), ("openai-chat", "openai-responses", "anthropic")

    def change(self, body: Body) -> None:
        for result in body.results():
            if "Atlantis" in str(result.text.value):
                result.mark(False)
                result.text.value = "done"


class RoundsForTheTool(BrokenAdapter):
    """Reads numbers as floats before the tool gets them."""

    case, caught_by, also = "large_numbers", ("UNI-004",), ("PAR-005", "PAR-004")

    def tool(self, tool: Any) -> Any:
        return replace(tool, run=lambda **given: tool.run(**rounded(given)))


class BreaksLinesOfBase64(BrokenAdapter):
    """Breaks base64 into lines."""

    case, caught_by, on = "image_from_user", ("IMG-031",), ("openai-chat",)
    also = ("IMG-001", "IMG-002", "IMG-004", "IMG-011", "REQ-101", "HIS-002")

    def body(self, body: Json) -> Json:
        for slot in _urls(body):
            head, _, data = slot["url"].partition(",")
            slot["url"] = f"{head},{data[:76]}\n{data[76:]}"
        return body


def _urls(value: Any) -> list[Json]:
    """Returns the objects that have a data URL."""
    if isinstance(value, list):
        return [found for each_one in value for found in _urls(each_one)]
    if not isinstance(value, dict):
        return []
    own = [value] if str(value.get("url", "")).startswith("data:") else []
    return own + [found for each_one in value.values() for found in _urls(each_one)]


class PrefixesResults(_Changes):
    """Writes `Result:` before each result."""

    case, caught_by, on = "one_tool", ("PAIR-033",), _CHAT
    how = each(result_texts, first("Result: "))


class KeepsErrorsSecret(_Changes):
    """Tells the model only that a tool failed."""

    case, caught_by, on = "tool_error", ("PAIR-034",), _CHAT

    def change(self, body: Body) -> None:
        for result in body.results():
            if "Atlantis" in str(result.text.value):
                result.text.value = "Error: the tool failed."


class LosesTheFlag(_Changes):
    """Sends the result of a failed tool without the flag that the format has for it."""

    case, caught_by, on = "tool_error", ("PAIR-010",), ("anthropic",)

    def change(self, body: Body) -> None:
        for turn in body.turns:
            for block in body.blocks(turn):
                block.pop("is_error", None)


class RepeatsResultsLater(_Changes):
    """Sends an earlier result again with the next question."""

    case, caught_by, on = "five_parallel_tools", ("PAR-009",), ("openai-responses",)

    def change(self, body: Body) -> None:
        results = [turn for turn in body.turns if turn.get("type") == "function_call_output"]
        if results and len(body.texts("user")) > 1:
            body.turns.insert(len(body.turns) - 1, dict(results[0]))


class AnswersOneByOne(_Changes):
    """Sends each result of parallel calls in a message of its own."""

    case, caught_by, on = "two_parallel_tools", ("PAR-008",), ("anthropic",)

    def change(self, body: Body) -> None:
        for turn in [turn for turn in body.turns if len(body.blocks(turn)) > 1]:
            if all(block.get("type") == "tool_result" for block in body.blocks(turn)):
                at = body.turns.index(turn)
                body.turns[at : at + 1] = [{**turn, "content": [block]} for block in body.blocks(turn)]


class ReadsNoSignatures(BrokenAdapter):
    """Does not read the signatures of calls, and sends the placeholder for calls of other models."""

    case, caught_by, on = "thinking_with_tools", ("THK-029",), ("gemini",)

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [rewritten(b"".join(chunks), without_signatures)]


class OffersAToolOfItsOwn(_Changes):
    """Declares a tool that the caller did not offer."""

    case, caught_by, on = "one_tool", ("OPT-007",), ("anthropic",)

    def change(self, body: Body) -> None:
        body.body["tools"].append({**body.body["tools"][0], "name": "final_answer"})


class NamesAnUnstoredAnswer(BrokenAdapter):
    """Asks the provider to store nothing, and names the answer before in place of the history."""

    case, caught_by, on = "plain_text", ("HIS-015",), ("openai-responses",)
    also = ("ERR-002",)
    before = ""

    def body(self, body: Json) -> Json:
        if not self.before:
            return {**body, "store": False}
        return {**body, "store": False, "previous_response_id": self.before, "input": body["input"][-1:]}

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        self.before = str(json.loads(b"".join(chunks)).get("id", ""))
        return chunks
