"""The features that each family of models supports in Bedrock's one format.

The evidence is live: requests of public test suites that Bedrock accepted or refused (2025-2026), and
https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from operator import is_, itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, assert_never
from urllib.parse import quote

from ...contents import content as ours
from ...contents.turns import AssistantTurn, SystemTurn, Turn, kinds_not_plain, system_turns
from ...errors import UsageError
from ...tools.results import result_parts, result_text, split
from ..interfaces import Json, Request, SchemaLimits
from ..shared import content_parts, json_objects, schemas, tool_calls
from ..shared.content_parts import Cache, alternate, check_cache, pointed
from ..shared.json_objects import WORD, fits, legal
from ..shared.schemas import ANTHROPIC_DIALECT, ANTHROPIC_LIMITS, unfit
from ..shared.tool_calls import STRUCTURED
from .from_wire import BedrockResponse

if TYPE_CHECKING:
    from ...schemas.type_functions import Type


# --- families of models ----------------------------------------------------------------------------------


_MORE = "additionalModelRequestFields"


@dataclass(frozen=True)
class Family:
    """The features of a family. The defaults are those of Amazon's own models and of untested models."""

    name: str = ""
    ids: str = (
        r"[a-zA-Z0-9_-]{1,64}"  # of calls; the API also has the dot and the colon, which some models refuse
    )
    media_in_results: tuple[type[ours.Content], ...] = (ours.ContentImage,)
    alone: bool = False  # a message with results holds nothing else, not even text
    status: bool = True  # a result may say whether it is an error
    json_results: bool = False  # results are objects, never text
    assistant_first: bool = False  # a conversation may start with the model
    signed_thoughts: bool = False  # a thought is taken back only with its signature
    schemas: str = ""  # the models with native structured output; the others are given a tool to call
    schema_limits: SchemaLimits = field(default_factory=SchemaLimits)  # of that structured output
    forces: bool = False  # a model can be made to call a certain tool
    caches: bool = False  # a prompt may have marks up to which it is remembered
    params: Mapping[str, str] = field(default_factory=dict)  # as `Wire.param_names`
    with_param: Mapping[str, Any] = field(default_factory=dict)  # what else a parameter needs in the body


_CLAUDE = Family(
    "anthropic",
    media_in_results=(ours.ContentImage, ours.ContentPDF),
    assistant_first=True,
    forces=True,
    caches=True,
    signed_thoughts=True,
    schema_limits=ANTHROPIC_LIMITS,
    schemas=r"claude-[a-z]+-(4-[5-9]|[5-9]|\d\d)",
    params={
        "top_k": f"{_MORE}.top_k",
        "reasoning_tokens": f"{_MORE}.thinking.budget_tokens",
        "reasoning_effort": f"{_MORE}.output_config.effort",
    },
    with_param={
        "reasoning_tokens": {_MORE: {"thinking": {"type": "enabled"}}},
        "reasoning_effort": {_MORE: {"thinking": {"type": "adaptive"}}},
    },
)
_EFFORT = {"reasoning_effort": f"{_MORE}.reasoning_effort"}

FAMILIES = {
    r"anthropic\.": _CLAUDE,
    r"nova": Family("nova", forces=True, caches=True, params={"top_k": f"{_MORE}.inferenceConfig.topK"}),
    r"meta\.": Family("meta", media_in_results=(ours.ContentImage, ours.ContentPDF), alone=True),
    r"mistral\.": Family(
        "mistral",
        media_in_results=(ours.ContentPDF,),
        alone=True,
        json_results=True,
        schemas="magistral-small|ministral-3|mistral-large-3|voxtral",
    ),
    r"writer\.": Family("writer", alone=True, status=False),
    r"qwen\.": Family(
        "qwen",
        media_in_results=(),
        assistant_first=True,
        schemas="qwen3",
        params={"reasoning_effort": f"{_MORE}.reasoning_config"},
    ),
    r"moonshot(ai)?\.": Family(
        "moonshot", ids=r"[a-zA-Z0-9_.:-]{1,64}", media_in_results=(), assistant_first=True, schemas="."
    ),
    r"zai\.": Family("zai", assistant_first=True, schemas=".", params=_EFFORT),
    r"openai\.": Family("openai", schemas="gpt-oss", params=_EFFORT),
    r"deepseek\.": Family("deepseek", schemas=r"v3", params=_EFFORT),
    r"minimax\.": Family("minimax", schemas="minimax-m2"),
}


def family_of(model: str) -> Family:
    """Returns the family of a model id, an inference profile or an ARN."""
    return next((family for pattern, family in FAMILIES.items() if re.search(pattern, model)), Family())


# --- names of documents ----------------------------------------------------------------------------------


#: Contents that hold no document.
NAMELESS = frozenset({ours.ContentText, ours.ContentThinking, ours.ContentToolRequest})


def with_distinct_names(messages: list[Json]) -> list[Json]:
    """Numbers documents that share a name, because the API refuses equal names. Earlier documents keep theirs."""
    seen: dict[str, int] = {}

    def renamed(block: Json) -> Json:
        match block:  # a model's own block goes back as it came, whatever it is
            case {"toolResult": {"content": [*inside]} as inner}:
                parts = [renamed(part) for part in inside]
                return block if all(map(is_, parts, inside)) else {"toolResult": {**inner, "content": parts}}
            case {"document": {"name": str()} as document}:
                pass
            case _:
                return block
        seen[document["name"]] = number = seen.get(document["name"], 0) + 1
        return {"document": {**document, "name": f"{document['name']} ({number})"}} if number > 1 else block

    def distinct(message: Json) -> Json:
        blocks = [renamed(block) for block in message["content"]]
        return message if all(map(is_, blocks, message["content"])) else {**message, "content": blocks}

    return list(map(distinct, messages))


def _has_results(message: Json) -> bool:
    return any("toolResult" in block for block in message["content"])


def _joined(messages: Sequence[Json]) -> Json:
    """Returns messages of one role as one, results first."""
    content = chain.from_iterable(map(itemgetter("content"), messages))
    return {**messages[0], "content": sorted(content, key=lambda block: "toolResult" not in block)}


_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_TEXTS = [{"text?": str}]
#: A block of the model that goes back as it came (ContentBlock).
_BLOCK = {
    "text?": str,
    "toolUse?": {"toolUseId": _ID, "name": re.compile(r"[a-zA-Z0-9_-]{1,64}"), "input": dict, "type?": WORD},
    "toolResult?": {"toolUseId": _ID, "content": [dict], "status?": re.compile("success|error")},
    "reasoningContent?": {
        "reasoningText?": {"text": str, "signature?": str},
        "redactedContent?": str,
    },
    "citationsContent?": {
        "content?": _TEXTS,
        "citations?": [{"title?": str, "source?": str, "sourceContent?": _TEXTS, "location?": dict}],
    },
}


#: The text of a block or turn that the API requires without content (it refuses a blank one).
FILLER: Json = {"text": "."}


@dataclass(frozen=True, eq=False, repr=False)
class Bedrock(BedrockResponse):
    """The wire format of Bedrock's Converse API."""

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

    # requests -------------------------------------------------------------------------------------------

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
        tools: Sequence[ours.ToolDef] = (),
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
        return replace(self.post(url, body, stream=stream), framing="aws_event_stream")

    @property
    def takes(self) -> Mapping[str, str]:
        return {**self.param_names, **self.family.params}

    def fetches_from(self, url: str) -> bool:
        """Tells whether it is an object of S3: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_S3Location.html"""
        return re.match(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/|\Z)", url) is not None

    def parameters(self) -> Json:
        family = self.family
        fields = json_objects.parameters(self.params, self.takes, self.name)
        for name in family.with_param.keys() & self.params.keys():
            fields = json_objects.merged(fields, family.with_param[name])
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

    def native_problem(self, type: Type, tools: Sequence[ours.ToolDef]) -> str | None:
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
        definition = {
            "name": STRUCTURED,
            "schema": json_objects.json_text(ANTHROPIC_DIALECT.say(self.schema(type))),
        }
        return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": definition}}}

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages. Neighbours of one role are joined, results first. Some models require results in a
        separate message, or a user message at the beginning; then a message of the other role is inserted.
        """
        separate = super().messages(turns)
        messages = list(separate) if alternate(separate) else self.joined(separate)
        if messages and messages[0]["role"] == "assistant" and not self.family.assistant_first:
            messages.insert(0, {"role": "user", "content": [FILLER]})
        return with_distinct_names(messages) if kinds_not_plain(turns) - NAMELESS else messages

    def joined(self, separate: Sequence[Json]) -> list[Json]:
        """Returns the messages with neighbours of one role joined."""
        messages: list[Json] = []
        for _, group in groupby(separate, itemgetter("role")):
            for number, neighbours in enumerate(self._message_groups(list(group))):
                messages += [{"role": "assistant", "content": [FILLER]}] if number else []
                messages.append(neighbours[0] if len(neighbours) == 1 else _joined(neighbours))
        return messages

    def _message_groups(self, neighbours: list[Json]) -> list[list[Json]]:
        """Returns neighbours of one role in groups that may be one message. One with results may stay alone."""
        if not self.family.alone:
            return [neighbours]
        groups = [(alone, list(group)) for alone, group in groupby(neighbours, _has_results)]
        return [
            part for alone, group in groups for part in ([[each] for each in group] if alone else [group])
        ]

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

    def keeps(self, result: ours.ContentToolResult) -> bool:
        """Tells whether the media of a result stay in it: the family accepts all of them in results."""
        media = filter(ours.is_media, ours.contents_in(result.value))
        return all(isinstance(part, self.family.media_in_results) for part in media) and super().keeps(result)

    def user(self, contents: Sequence[ours.Content]) -> list[Json]:
        """Returns the blocks of a user message: `A text block must be included when using documents.`"""
        blocks = [self.content(c) for c in contents if self.sendable(c)]
        lacks_text = any("document" in b for b in blocks) and not any("text" in b for b in blocks)
        return [FILLER, *blocks] if lacks_text else blocks

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the model's message. Thinking of a partial answer is left out, because its signature may be
        missing. Thinking at the end is left out, too, because Claude refuses it. Claude's calls come last.
        """
        thinks = not turn.lost
        contents = [c for c in turn.contents if thinks or not isinstance(c, ours.ContentThinking)]
        blocks = _answering(
            [block for c in contents if self.sendable(c) and (block := self.assistant_part(c))]
        )
        if self.family.name == "anthropic":
            blocks = tool_calls.before_the_calls(
                blocks, lambda block: "text" in block, lambda block: "toolUse" in block
            )
        while blocks and "reasoningContent" in blocks[-1]:
            blocks.pop()
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def sendable(self, content: ours.Content) -> bool:
        """Tells whether a content can be sent. A blank text is refused: `The text field in the ContentBlock object at
        … is blank.` A block of only citations has no such field.
        """
        if isinstance(content, ours.ContentText):
            return bool(content.text.strip()) or self._only_sources(content)
        return content_parts.sendable(content, self.name)

    def _only_sources(self, content: ours.ContentText) -> bool:
        match self.issued(content.extra):
            case {"block": {"citationsContent": {**cited}}}:
                return not cited.get("content")
        return False

    def result(self, result: ours.ContentToolResult) -> Json:
        """Returns a toolResult block, with its media inside if `tool_media` is native."""
        parts = result_parts(result) if self.tool_media == "native" else None
        block: Json = {
            "toolUseId": self.call_id(content_parts.request_of(result).id),
            "content": list(map(self.content, parts)) if parts else [self.outcome(result)],
        }
        if self.family.status:
            block["status"] = "success" if result.error is None else "error"
        return {"toolResult": block}

    def outcome(self, result: ours.ContentToolResult) -> Json:
        """Returns the content of a result without media."""
        text = result_text(result)
        if not self.family.json_results:
            return {"text": text}
        value = tool_calls.tool_input(text)
        return {"json": value if isinstance(value, dict) else {"result": text}}

    def tool(self, tool: ours.ToolDef) -> Json:
        """Returns a definition. A blank description is left out, because it is refused."""
        spec: Json = {"name": tool.name, "inputSchema": {"json": self.schema(tool.arguments)}}
        return {"toolSpec": {**spec, "description": tool.description} if tool.description.strip() else spec}

    def schema(self, type: Type) -> Json:
        return schemas.json_schema(type)

    # contents -------------------------------------------------------------------------------------------

    def assistant_part(self, content: ours.Content) -> Json | None:  # noqa: C901 - one case per class
        """Returns a block of an assistant message, or `None` for content that only another provider or family
        understands.
        """
        block: Json | None = None
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text, extra=extra):
                own = (self.issued(extra) or {}).get("block")
                if own and fits(own, _BLOCK):
                    block = own
                elif text:
                    block = {"text": text}
            case ours.ContentThinking(extra=extra):
                block = self.thought((self.issued(extra) or {}).get("block"))
            case ours.ContentToolRequest(id=id, name=name, arguments=arguments):
                block = {"toolUse": {"toolUseId": self.call_id(id), "name": name, "input": dict(arguments)}}
            case ours.ContentUnknown(data=data):
                block = legal(data, _BLOCK, self.name)
            case ours.ContentJson():
                block = self.content(content)
            case (
                ours.ContentImageInline()
                | ours.ContentImageRemote()
                | ours.ContentPDF()
                | ours.ContentFile()
                | ours.ContentUploaded()
            ):
                block = {"text": content_parts.placeholder(content)}  # the role takes no media
            case ours.ContentCitation():
                raise content_parts.refused(content, self.name)
            case ours.ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case never:
                assert_never(never)
        return block

    def call_id(self, id: str) -> str:
        """Returns an id that the family takes. Kimi's own are `functions.add:0`."""
        return tool_calls.legal_id(id, family_of(self.model).ids)

    def content(self, content: ours.Content) -> Json:
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text):
                block: Json = {"text": text}
            case ours.ContentFile() as file:
                block = {"text": content_parts.placeholder(file)}
            case ours.ContentJson(value=value):
                block = {"text": json_objects.json_text(value)}
            case ours.ContentImageInline(type=type, data=data):
                block = self.image(content, type, {"bytes": data})
            case ours.ContentImageRemote(url=url):
                block = self.remote(content, url)
            case ours.ContentPDF(data=data, filename=filename):
                block = self.document(filename, "pdf", {"bytes": data})
            case ours.ContentUploaded(uri=uri, type=type, wire=self.name):
                kind, source = uri.rpartition(".")[2], {"s3Location": {"uri": uri}}
                picture = type.startswith("image/")
                block = self.image(content, type, source) if picture else self.document(uri, kind, source)
            case ours.ContentUnknown(wire=self.name, data=data):
                block = dict(data)
            case (
                ours.ContentUploaded()
                | ours.ContentUnknown()
                | ours.ContentThinking()
                | ours.ContentToolRequest()
                | ours.ContentToolResult()
                | ours.ContentCitation()
            ):
                raise content_parts.refused(content, self.name)
            case never:
                assert_never(never)
        return block

    def file(self, file: ours.ContentFile) -> Json | None:
        """Returns documents and videos of the formats that Converse supports (DocumentFormat, VideoFormat).

        Among the known families, only Amazon's own takes videos.
        """
        kind = PurePosixPath(file.filename).suffix.lower().removeprefix(".")
        if kind in {"csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"}:
            return self.document(file.filename, kind, {"bytes": file.data})
        sees = family_of(self.model).name in {"", "nova"}
        if sees and kind in {"mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv"}:
            return {"video": {"format": kind, "source": {"bytes": file.data}}}
        return None

    def thought(self, block: Json | None) -> Json | None:
        """Returns a thought unchanged, or `None` if its required signature is missing."""
        if not fits(block, _BLOCK):
            return None
        reasoning = (block or {}).get("reasoningContent") or {}
        unsigned = "reasoningText" in reasoning and not reasoning["reasoningText"].get("signature")
        return None if unsigned and family_of(self.model).signed_thoughts else block

    def remote(self, content: ours.Content, url: str) -> Json:
        """Returns an image by URL. Only images in S3 are downloaded."""
        if self.fetches_from(url):
            return self.image(content, url.rpartition(".")[2], {"s3Location": {"uri": url}})
        raise content_parts.refused(
            content, self.name, f"Bedrock does not fetch URLs; send the bytes of {url} instead"
        )

    def image(self, content: ours.Content, type: str, source: Json) -> Json:
        """Returns an image block."""
        kind = type.lower().removeprefix("image/").replace("jpg", "jpeg")
        if kind not in {"png", "jpeg", "gif", "webp"}:
            raise content_parts.refused(content, self.name, f"{type} is not one of png, jpeg, gif and webp")
        return {"image": {"format": kind, "source": source}}

    def document(self, filename: str, kind: str, source: Json) -> Json:
        """Returns a document block. Its name may have letters, digits, single spaces and `-()[]`."""
        stem = PurePosixPath(filename).stem
        name = " ".join(re.sub(r"[^a-zA-Z0-9\s()\[\]-]+", "-", stem).split())[:190]
        return {"document": {"name": name or "document", "format": kind, "source": source}}


def _answering(blocks: list[Json]) -> list[Json]:
    """Returns the blocks without results that have no earlier call, and without unknown or unrun calls."""
    results = {_call_id_in(block, "toolResult") for block in blocks}
    called = set[str]()
    answering = []
    for block in blocks:
        fits = True
        if "toolUse" in block:
            called.add(id := _call_id_in(block, "toolUse"))
            fits = id != "" and (_is_known(block["toolUse"]) or id in results)
        elif "toolResult" in block:
            fits = _call_id_in(block, "toolResult") in called - {""}
        answering += [block] if fits else []
    return answering


def _call_id_in(block: Json, name: str) -> str:
    """Returns the id of a call in a block that may be of any form, or `""` if it has none."""
    held = block.get(name)
    id = held.get("toolUseId") if isinstance(held, Mapping) else None
    return id if isinstance(id, str) else ""


def _is_known(call: Json) -> bool:
    """Tells whether a call is one of ours, or of a tool that Nova runs. Other kinds need their result."""
    return call.get("type") in (None, "server_tool_use")
