"""Perplexity, https://docs.perplexity.ai/api-reference/agent-post: answers from the web, over its Agent API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from .._chat.chat import Chat
from ..contents import content as ours
from ..contents.turns import AssistantTurn, Tokens, Turn
from ..errors import UsageError
from ..wire.base import Wire
from ..wire.interfaces import Json, Request, Supports
from ..wire.openai_responses.to_wire import OpenAIResponses
from ..wire.shared import content_parts, json_objects
from ._construction import Options, construct

if TYPE_CHECKING:
    from ..schemas.type_classes import Type

_SEARCH: Json = {"type": "web_search"}

#: The names of its own tools, which a function may not have.
RESERVED = frozenset(
    {"web_search", "search_web", "people_search", "search_people", "fetch_url", "finance_search", "sandbox"}
)


@dataclass(frozen=True, eq=False, repr=False)
class Perplexity(OpenAIResponses):
    """Responses without their items: the API refuses every field that it does not know, also one of its own answers.
    What is sent is in https://github.com/perplexityai/api-platform-developers/tree/main/skills/migrate-sonar-to-agent-api.
    That `perplexity/sonar` calls functions is UNVERIFIED: there are no recordings.
    """

    provider: ClassVar[str] = "Perplexity"
    default_model: ClassVar[str] = "perplexity/sonar"
    key_vars: ClassVar[tuple[str, ...]] = ("PERPLEXITY_API_KEY",)
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "max_tokens": "max_output_tokens",
        "reasoning_effort": "reasoning.effort",
    }
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False, thinking=False)

    base_url: str = "https://api.perplexity.ai/v1"
    web_search: bool = True

    count_request = Wire.count_request

    # requests -------------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "input": self.messages(turns), "store": False}
        body |= self.offered(tools)
        if type is not None:
            schema = json_objects.without(self.text_format(type), "type")
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if stream:
            body["stream"] = True
        return self.post(f"{self.base_url.rstrip('/')}/responses", body, stream=stream)

    def offered(self, tools: Sequence[ours.ToolDef]) -> Json:
        """Returns the tools, and the search that each answer begins with if there are no functions."""
        offered = [*map(_in_its_words, self.tools(tools))]
        if self.web_search and not any(tool.get("type") == _SEARCH["type"] for tool in offered):
            offered = [_SEARCH, *offered]
        forced = offered == [_SEARCH]
        return ({"tools": offered} if offered else {}) | ({"tool_choice": _SEARCH} if forced else {})

    def tool(self, tool: ours.ToolDef) -> Json:
        if tool.name in RESERVED:
            raise UsageError(
                f"{self.provider} has a tool of its own with the name {tool.name!r}: give yours another name."
            )
        return super().tool(tool)

    def forced(self, *, alone: bool) -> Json:
        demanded = super().forced(alone=alone)["tool_choice"]
        return {"tool_choice": json_objects.without(demanded, "type") if alone else demanded}

    def file(self, file: ours.ContentFile) -> Json | None:  # noqa: ARG002 - it takes none
        return None

    # what is sent back ----------------------------------------------------------------------------------

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        sendable = tuple(c for c in turn.contents if not isinstance(c, ours.ContentUnknown))
        return super().assistant(replace(turn, contents=sendable))

    def item(self, content: ours.Content, *, whole: bool) -> Json | None:  # noqa: ARG002 - it takes no ids
        return super().item(content, whole=False)

    def model_message(self, content: ours.ContentText, own: Json) -> Json:  # noqa: ARG002 - it takes no parts
        return {"role": "assistant", "content": content.text}

    def call(self, request: ours.ContentToolRequest, own: Json) -> Json:
        return super().call(request, own) | self._signature(request)

    def result(self, result: ours.ContentToolResult) -> Json:
        request = content_parts.request_of(result)
        return super().result(result) | {"name": request.name} | self._signature(request)

    def _signature(self, request: ours.ContentToolRequest) -> Json:
        """Returns the signature of the thought before a call, which some models require back."""
        signature = self.attached(request.extra, "item").get("thought_signature")
        return {"thought_signature": signature} if isinstance(signature, str) else {}

    # answers --------------------------------------------------------------------------------------------

    @json_objects.sensible
    def turn(self, response: Json) -> AssistantTurn:
        """Returns the turn. The pages that the search found are the citations of its last text."""
        found = [item for item in json_objects.objects(response.get("output")) if _is_search(item)]
        pages = [page for item in found for page in json_objects.objects(item.get("results"))]
        cited = content_parts.sources({"search_results": pages})
        return replace(
            content_parts.cited_last(super().turn(response), cited), cost=_cost(response.get("usage"))
        )

    def output(self, item: Json, after: Json, *, cut: bool) -> Iterator[ours.Content]:
        """Yields the contents of an item. A search is a call of the provider's own until it has found something."""
        own = _is_search(item) or item.get("name") in RESERVED
        return iter(()) if own else super().output(item, after, cut=cut)

    def tokens(self, usage: Json) -> Tokens:
        details = usage.get("input_tokens_details") or {}
        return replace(super().tokens(usage), cache_write=details.get("cache_creation_input_tokens"))


def _in_its_words(tool: Json) -> Json:
    """Returns a tool. OpenAI's web search has its domains and its location in the fields of Perplexity's."""
    if tool.get("type") != "web_search":
        return tool
    domains = (tool.get("filters") or {}).get("allowed_domains")
    place = json_objects.without(tool.get("user_location") or {}, "type", "timezone")
    filters = {"filters": {"search_domain_filter": domains}} if domains else {}
    return {**tool, **filters} | ({"user_location": place} if place else {})


def _cost(usage: Any) -> float | None:
    """Returns the dollars that the answer names, with those of its searches."""
    cost: Any = usage.get("cost") if isinstance(usage, dict) else None
    if (
        not json_objects.fits(cost, {"total_cost": (float, int), "currency": str})
        or cost["currency"] != "USD"
    ):
        return None
    return float(cost["total_cost"])


def _is_search(item: Json) -> bool:
    return item.get("type") == "search_results"


def chat_perplexity(
    system_prompt: str | None = None, *, web_search: bool = True, **options: Unpack[Options]
) -> Chat:
    """Makes a chat with Perplexity, which answers from the web, over its Agent API.

    Key: `PERPLEXITY_API_KEY`. Default model: `perplexity/sonar`. Each answer begins with a web search, and the pages are the
    citations of its text. With tools, the model decides whether it searches. For a preset instead of a model, give
    `api_args={"model": None, "preset": "low"}`. API: https://docs.perplexity.ai/api-reference/agent-post.

    Args:
        system_prompt: The system prompt. Default: none.
        web_search: Whether the model searches the web. Default: `True`.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_perplexity(api_key="any-key").get_model()
        'perplexity/sonar'
    """
    return construct(Perplexity, system_prompt, options, web_search=web_search)
