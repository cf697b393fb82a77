"""Amazon Bedrock Converse, `POST {base_url}/model/{model}/converse`.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. One format serves the models of
many makers; `model_families.py` lists what each supports. Media are sent as bytes or from S3, never by URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from ...contents.content import Content, ContentText, ContentThinking, is_media
from ...contents.tool_requests_and_results import ContentToolResult
from ...contents.turns import AssistantTurn, SystemTurn, Turn
from ...contents.turns_by_kind import kinds_not_plain, system_turns
from ...errors import UsageError
from ...tools.result_serialization import flatten, result_text, split
from ..request_and_stream_merger import Json, Request
from ..shared import content_parts, json_bodies, tool_arguments_and_ids, types_as_json_schema
from ..shared.cache_marks import Cache, check_cache, pointed
from ..shared.neighbours_of_one_role import alternate
from ..shared.schema_dialects import ANTHROPIC
from ..shared.schema_limits import unfit
from ..shared.tool_arguments_and_ids import STRUCTURED
from .content import BedrockContent
from .document_names import NAMELESS, with_distinct_names
from .model_families import Family, family_of
from .response import BedrockResponse

if TYPE_CHECKING:
    from ...contents.tool_requests_and_results import ToolDef
    from ...schemas.type_functions import Type

__all__ = ["Bedrock"]


#: The text of a block or turn that the API requires without content (it refuses a blank one).
FILLER: Json = {"text": "."}


@dataclass(frozen=True, eq=False, repr=False)
class Bedrock(BedrockContent, BedrockResponse):
    """The format itself."""

    name: ClassVar[str] = "bedrock"
    provider: ClassVar[str] = "AWS/Bedrock"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "inferenceConfig.temperature",
        "top_p": "inferenceConfig.topP",
        "max_tokens": "inferenceConfig.maxTokens",
        "stop_sequences": "inferenceConfig.stopSequences",
        "tool_choice": "toolConfig.toolChoice",
    }

    base_url: str = "https://bedrock-runtime.us-east-1.amazonaws.com"
    cache: Cache = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cache(self.cache)
        if self.cache != "none" and not self.family.caches:
            raise UsageError(f"{self.model} does not support cache breakpoints. Leave out cache.")

    @property
    def family(self) -> Family:
        """The features of the model's family."""
        return family_of(self.model)

    @property
    def issuer(self) -> str:
        """The issuer of reasoning, which is the model's family. No other family can read it."""
        return f"{self.name} {self.family.name}"

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"messages": self.messages(turns)}
        if system := [block for turn in system_turns(turns) for block in self.system(turn)]:
            body["system"] = system
        if specs := self.tools(tools) or (kinds_not_plain(turns) and list(self.called(body["messages"]))):
            body["toolConfig"] = {"tools": specs}
        if type is not None:
            body["outputConfig"] = self.text_format(type)
        body = pointed(body, self.cache)
        method = "converse-stream" if stream else "converse"
        url = f"{self.base_url.rstrip('/')}/model/{quote(self.model, safe='')}/{method}"
        return replace(self.post(url, body, stream=stream), framing="aws")

    @property
    def takes(self) -> Mapping[str, str]:
        return {**self.param_names, **self.family.params}

    def fetches_from(self, url: str) -> bool:
        return url.startswith("s3://")

    def parameters(self) -> Json:
        family = self.family
        fields = json_bodies.parameters(self.params, self.takes, self.name)
        for name in family.with_param.keys() & self.params.keys():
            fields = json_bodies.merged(fields, family.with_param[name])
        return fields

    def system(self, turn: Turn) -> list[Json]:
        """Returns the blocks of a system turn, which are outside the messages."""
        texts = turn.contents if isinstance(turn, SystemTurn) else ()
        return [self.content(c) for c in texts if self.sendable(c)]

    def called(self, messages: Sequence[Json]) -> Iterator[Json]:
        """Yields minimal definitions of the tools in the history: `The toolConfig field must be defined when using
        toolUse and toolResult content blocks.`
        """
        calls = (block.get("toolUse") for message in messages for block in message["content"])
        for name in dict.fromkeys(
            call["name"] for call in calls if isinstance(call, dict) and "name" in call
        ):
            yield {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}

    def native_problem(self, type: Type, tools: Sequence[ToolDef]) -> str | None:
        if not (self.family.schemas and re.search(self.family.schemas, self.model)):
            return f"{self.model} does not support structured output"
        return unfit(self.schema(type), self.family.schema_limits) or super().native_problem(type, tools)

    def forced(self, *, alone: bool) -> Json:
        """Forces a tool call if possible: `Thinking may not be enabled when tool_choice forces tool use`."""
        unforced = self.params.keys() & {"reasoning_tokens", "reasoning_effort"}
        if not self.family.forces or unforced:
            return {}
        choice: Json = {"tool": {"name": STRUCTURED}} if alone else {"any": {}}
        return {"toolConfig": {"toolChoice": choice}}

    def text_format(self, type: Type) -> Json:
        """Returns the parameter that asks for structured output."""
        definition = {"name": STRUCTURED, "schema": json_bodies.json_text(ANTHROPIC.say(self.schema(type)))}
        return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": definition}}}

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages. Neighbours of one role are joined, results first. Some models require results in a
        separate message, or a user message at the beginning; then a message of the other role is inserted.
        """
        said = self.kept(turns)
        messages = list(said) if alternate(said) else self.joined(said)
        if messages and messages[0]["role"] == "assistant" and not self.family.assistant_first:
            messages.insert(0, {"role": "user", "content": [FILLER]})
        return with_distinct_names(messages) if kinds_not_plain(turns) - NAMELESS else messages

    def joined(self, said: Sequence[Json]) -> list[Json]:
        """Returns the messages with neighbours of one role joined."""
        messages: list[Json] = []
        for message in said:
            self.join(messages, message)
        return messages

    def join(self, messages: list[Json], message: Json) -> None:
        """Adds a message to the earlier ones."""
        before = messages[-1] if messages else None
        if before is None or before["role"] != message["role"]:
            messages.append(message)
        elif self.family.alone and any("toolResult" in b for b in (*before["content"], *message["content"])):
            messages += [{"role": "assistant", "content": [FILLER]}, message]
        else:
            content = [*before["content"], *message["content"]]
            messages[-1] = {**before, "content": sorted(content, key=lambda block: "toolResult" not in block)}

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return []
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: all results first, then the rest; in separate messages if the model requires it.
                contents = [[self.result(r) for r in results], self.user(rest)]
                if not self.family.alone:
                    contents = [[*contents[0], *contents[1]]]
                return [{"role": "user", "content": blocks} for blocks in contents if blocks]

    def flat(self, contents: Sequence[Content]) -> list[Content]:
        """Flattens results as the base does, but a result keeps only media that the family accepts in results."""
        return [
            part
            for c in super().flat(contents)
            for part in ([c] if self.fits(c) else flatten([c], self.namer([c])))
        ]

    def fits(self, content: Content) -> bool:
        """Tells whether a result may keep all of its media."""
        parts = content_parts.result_parts(content) if isinstance(content, ContentToolResult) else None
        return all(isinstance(c, self.family.media_in_results) for c in parts or () if is_media(c))

    def user(self, contents: Sequence[Content]) -> list[Json]:
        """Returns the blocks of a user message: `A text block must be included when using documents.`"""
        blocks = [self.content(c) for c in contents if self.sendable(c)]
        lacks_text = any("document" in b for b in blocks) and not any("text" in b for b in blocks)
        return [FILLER, *blocks] if lacks_text else blocks

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the model's message. Thinking of a partial answer is left out, because its signature may be
        missing. Thinking at the end is left out, too, because Claude refuses it.
        """
        thinks = not turn.lost
        contents = [c for c in turn.contents if thinks or not isinstance(c, ContentThinking)]
        blocks = _answering(
            [block for c in contents if self.sendable(c) and (block := self.assistant_part(c))]
        )
        while blocks and "reasoningContent" in blocks[-1]:
            blocks.pop()
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def sendable(self, content: Content) -> bool:
        """Tells whether a content can be sent. A blank text is refused: `The text field in the ContentBlock object at
        … is blank.` A block of only citations has no such field.
        """
        if isinstance(content, ContentText):
            return bool(content.text.strip()) or self._only_sources(content)
        return content_parts.sendable(content, self.name)

    def _only_sources(self, content: ContentText) -> bool:
        match self.issued(content.extra):
            case {"block": {"citationsContent": {**cited}}}:
                return not cited.get("content")
        return False

    def result(self, result: ContentToolResult) -> Json:
        """Returns a toolResult block, with its media inside if `tool_media` is native."""
        parts = content_parts.result_parts(result) if self.tool_media == "native" else None
        block: Json = {
            "toolUseId": self.call_id(content_parts.answered(result).id),
            "content": list(map(self.content, parts)) if parts else [self.outcome(result)],
        }
        if self.family.status:
            block["status"] = "success" if result.error is None else "error"
        return {"toolResult": block}

    def outcome(self, result: ContentToolResult) -> Json:
        """Returns the content of a result without media."""
        text = result_text(result)
        if not self.family.json_results:
            return {"text": text}
        value = tool_arguments_and_ids.tool_input(text)
        return {"json": value if isinstance(value, dict) else {"result": text}}

    def tool(self, tool: ToolDef) -> Json:
        """Returns a definition. A blank description is left out, because it is refused."""
        spec: Json = {"name": tool.name, "inputSchema": {"json": self.schema(tool.arguments)}}
        return {"toolSpec": {**spec, "description": tool.description} if tool.description.strip() else spec}

    def schema(self, type: Type) -> Json:
        return types_as_json_schema.json_schema(type)


def _answering(blocks: list[Json]) -> list[Json]:
    """Returns the blocks without results that have no earlier call, and without unknown or unrun calls."""
    results = {block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block}
    called: set[object] = set()
    kept = []
    for block in blocks:
        match block:
            case {"toolUse": {"toolUseId": id} as call}:
                called.add(id)
                fits = call.get("type") in {None, "server_tool_use"} or id in results
            case {"toolResult": {"toolUseId": id}}:
                fits = id in called
            case _:
                fits = True
        kept += [block] if fits else []
    return kept
