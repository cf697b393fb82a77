"""Creatures with bugs that were invented when the rules stood: none of them was made for a rule."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar

import httpx

from ...contract.exchange import Json
from ...scenarios.messages import Reply, Tool
from .base import Creature, is_media
from .messages import conversation
from .planted import assistants, changed, is_call, parts, texts_of

_CHAT = ("openai-chat", "anthropic")


class SaysAnswersAsUser(Creature):
    """There is one role."""

    case, caught_by, also = "plain_text", ("HIS-006",), ("HIS-009",)
    on = ("openai-chat", "anthropic", "gemini")

    def body(self, body: Json) -> Json:
        for message in assistants(body):
            message["role"] = "user"
        return body


class KeepsTenMessages(Creature):
    """A conversation is as long as a window."""

    case, caught_by, also, on = "many_turns", ("HIS-002",), ("HIS-006", "HIS-009"), _CHAT

    def body(self, body: Json) -> Json:
        found = conversation(body)
        system = [message for message in found if message["role"] == "system"]
        found[:] = [*system, *[m for m in found if m["role"] != "system"][-9:]]
        return body


class AsksTwice(Creature):
    """Repeats the question at its end, for emphasis."""

    case, caught_by = "plain_text", ("HIS-009",)
    on = ("openai-chat", "gemini")

    def body(self, body: Json) -> Json:
        last = conversation(body)[-1]
        conversation(body).append(json.loads(json.dumps(last)))
        return body


class EscapesMarkup(Creature):
    """Text is HTML."""

    case, caught_by = "odd_text", ("UNI-001",)
    also = ("HIS-009",)

    def body(self, body: Json) -> Json:
        return texts_of(body, "user", html.escape)


class NormalisesLines(Creature):
    """A line ends with LF."""

    case, caught_by, on = "odd_text", ("UNI-001",), _CHAT

    def body(self, body: Json) -> Json:
        return texts_of(body, "user", lambda text: text.replace("\r\n", "\n"))


class CutsQuestions(Creature):
    """A question has at most 32,768 characters."""

    case, caught_by, on = "long_values", ("UNI-001",), _CHAT

    def body(self, body: Json) -> Json:
        return texts_of(body, "user", lambda text: text[:32_768])


class StripsAnswers(Creature):
    """An answer has no lines before it and none after."""

    case, caught_by = "odd_text", ("TXT-005",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text.strip())


class LosesTheLastPiece(Creature):
    """Hands a piece over when the next one comes."""

    case, caught_by, mode = "one_tool", ("TXT-005",), "stream"

    def reply(self, reply: Reply) -> Reply:
        kept = list(reply.pieces)[:-1]
        return replace(reply, text="".join(kept), pieces=kept)


class TakesTheFirstBlock(Creature):
    """The text of an answer is its first block."""

    case, caught_by, on = "texts_in_blocks", ("TXT-005",), ("anthropic", "gemini")

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text.removesuffix("Then that."))


class TellsItAllAgain(Creature):
    """The text so far is the text of the answer."""

    case, caught_by = "plain_text", ("TXT-005",)
    so_far = ""

    def reply(self, reply: Reply) -> Reply:
        self.so_far += reply.text
        return replace(reply, text=self.so_far)


class DropsNulls(Creature):
    """An argument that is null was not given."""

    case, caught_by = "odd_arguments", ("PAR-005",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **told: tool.run(**{k: v for k, v in told.items() if self.keeps(v)}))

    def keeps(self, value: Any) -> bool:
        """Whether an argument is one."""
        return value is not None


class DropsBlanks(DropsNulls):
    """Nor was one that is blank."""

    caught_by, on = ("PAR-005",), _CHAT

    def keeps(self, value: Any) -> bool:
        return bool(value != "")


class MakesDates(Creature):
    """What looks like a date is one."""

    case, caught_by, on = "odd_arguments", ("PAR-005",), _CHAT

    def tool(self, tool: Tool) -> Tool:
        def run(**told: Any) -> Any:
            return tool.run(**told | {"date": date.fromisoformat(told["date"])})

        return replace(tool, run=run)


class ReversesCalls(Creature):
    """Keeps the calls of an answer on a stack."""

    case, caught_by = "unlike_calls", ("HIS-006",)
    on = ("openai-chat", "anthropic")

    def body(self, body: Json) -> Json:
        for message in assistants(body):
            if message.get("tool_calls"):
                message["tool_calls"].reverse()
            elif all(is_call(part) for part in parts(message)):
                parts(message).reverse()
        return body


class EndsAnswersWithALine(Creature):
    """Writes its history to a file, line by line, and reads it again."""

    case, caught_by = "plain_text", ("HIS-006",)

    def body(self, body: Json) -> Json:
        return texts_of(body, "assistant", lambda text: f"{text}\n\n")


class ChangesTheModel(Creature):
    """Asks a cheaper model."""

    case, caught_by, also = "plain_text", ("OPT-002",), ("REQ-043",)  # the cheaper one has no reasoning
    on = ("openai-chat", "openai-responses", "anthropic")
    cheaper: ClassVar[dict[str, str]] = {"anthropic": "claude-haiku-4-5"}

    def body(self, body: Json) -> Json:
        return body | {"model": self.cheaper.get(self.endpoint.wire, "gpt-4.1-mini")}


class CountsTwice(Creature):
    """Adds the counts of an answer to itself."""

    case, caught_by = "plain_text", ("USG-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={name: 2 * (count or 0) for name, count in reply.usage.items()})


class SwapsCounts(Creature):
    """Output is what was put in."""

    case, caught_by = "plain_text", ("USG-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={"input": reply.usage.get("output"), "output": reply.usage.get("input")})


class DropsThoughts(Creature):
    """What the model thought is nobody's business, not even its own."""

    case, caught_by, on = "thinking_with_tools", ("HIS-008",), ("anthropic",)

    def body(self, body: Json) -> Json:
        for message in assistants(body):
            kept = [p for p in parts(message) if p.get("type") != "thinking"]
            parts(message)[:] = kept
        return body


class DescribesNothing(Creature):
    """A tool is known by its name."""

    case, caught_by = "one_tool", ("OPT-003",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, description="")


class RenamesTools(Creature):
    """Offers tools under names of its own, and knows them when they are called."""

    case, caught_by, on = "one_tool", ("OPT-003",), _CHAT

    def body(self, body: Json) -> Json:
        for tool in body["tools"]:
            tool.get("function", tool)["name"] = "my_" + tool.get("function", tool)["name"]
        return body


class ForgetsToolsLater(Creature):
    """A model that has called knows its tools."""

    case, caught_by, on = "one_tool", ("OPT-003",), ("openai-chat", "openai-responses")

    def body(self, body: Json) -> Json:
        return {k: v for k, v in body.items() if k != "tools"} if len(conversation(body)) > 1 else body


class RelabelsImages(Creature):
    """Every image is a JPEG."""

    case, caught_by, on = "image_from_user", ("IMG-030",), ("openai-chat", "anthropic", "gemini")

    def body(self, body: Json) -> Json:
        found: Json = changed(body, lambda text: text.replace("image/png", "image/jpeg"))
        return found


class RetriesAnyway(Creature):
    """Tries again, whatever the caller allows."""

    case, caught_by = "error_inside_the_answer", ("ERR-012",)
    also = ("ERR-009", "STR-010", "ERR-005")

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        response = transport.handle_request(request)
        if response.status_code >= 500:
            response.close()
            response = transport.handle_request(request)
        return response


class HandsOverPiecesTwice(Creature):
    """Two callbacks hand the pieces over."""

    gently = True
    case, caught_by, mode = "one_tool", ("STR-017",), "stream"
    on = _CHAT

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, pieces=[piece for each in reply.pieces for piece in (each, each)])


class HandsOverAtTheEnd(Creature):
    """Streams, and keeps it to itself until all is there."""

    gently = True
    case, caught_by, mode = "one_tool", ("STR-021",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, pieces=[reply.text])


class WritesRepr(Creature):
    """A tool's value is `str()` of it."""

    gently = True
    case, caught_by = "unlike_calls", ("PAIR-030",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **arguments: str(tool.run(**arguments)))


class EscapesResults(Creature):
    """A tool's value is ASCII."""

    case, caught_by = "unicode_arguments", ("PAR-004",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **arguments: ascii(tool.run(**arguments)))


class NamesItsUser(Creature):
    """Tells the provider on whose machine it runs."""

    gently = True
    case, caught_by, on = "plain_text", ("OPT-001",), ("openai-chat", "anthropic")

    def body(self, body: Json) -> Json:
        if self.endpoint.wire == "anthropic":
            return body | {"metadata": {"user_id": "root-at-some-host"}}
        return body | {"user": "root-at-some-host"}


class TellsItsName(Creature):
    """Says in the user agent who it works for."""

    case, caught_by, on = "plain_text", ("AUT-002",), ("openai-chat", "gemini")

    def request(self, request: httpx.Request) -> httpx.Request:
        request.headers["user-agent"] = f"some-library/1.0 (key {self.endpoint.api_key})"
        return request


class SaysSystemOnce(Creature):
    """A system prompt is said at the beginning."""

    case, caught_by, also, on = "system_prompt", ("SYS-001",), ("HIS-002",), ("openai-chat", "anthropic")

    def body(self, body: Json) -> Json:
        if len(conversation(body)) > 2:
            body.pop("system", None)
            found = conversation(body)
            found[:] = [message for message in found if message["role"] != "system"]
        return body


class AppendsToTheSystem(Creature):
    """The model should know the day."""

    case, caught_by = "system_prompt", ("SYS-010",)

    def body(self, body: Json) -> Json:
        told = "You are terse. Answer in one word."
        found: Json = changed(body, lambda text: f"{told} Today is Sunday." if text == told else text)
        return found


class SaysErrorsAsAnswers(Creature):
    """An error is a text like any other."""

    case, caught_by = "overloaded_for_good", ("STR-010",)

    def reply(self, reply: Reply) -> Reply:
        if reply.error is None:
            return reply
        return replace(reply, text=str(reply.error), error=None, complete=True)


class ReportsNoReason(Creature):
    """Why an answer ends is not said."""

    case, caught_by = "length_inside_text", ("STP-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop=None)


class SpellsArgumentsItsWay(Creature):
    """Names of arguments are in capitals."""

    case, caught_by, on = "odd_arguments", ("PAR-005",), _CHAT

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **told: tool.run(**{k.upper(): v for k, v in told.items()}))


class SendsImagesAsLinks(Creature):
    """An image is behind a link."""

    case, caught_by, on = "image_from_user", ("IMG-001",), ("openai-chat", "anthropic")
    also = ("IMG-002", "IMG-004")

    def body(self, body: Json) -> Json:
        link = "https://example.org/image.png"
        for message in conversation(body):
            for part in parts(message):
                if is_media(part):
                    key = "image_url" if "image_url" in part else "source"
                    part[key] = {"url": link} if key == "image_url" else {"type": "url", "url": link}
        return body
