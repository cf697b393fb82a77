"""Contents and messages for all wire formats: what is sent of a content, each provider's citations as `ContentCitation`,
roles that alternate, marks for a cache.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, groupby
from operator import eq, itemgetter
from typing import Literal

from ...contents import content as ours
from ...contents.content import Content, ContentCitation, ContentText, replaced
from ...contents.turns import AssistantTurn
from ...errors import ContentError, UsageError
from ..interfaces import Json
from .json_objects import objects
from .tool_calls import provider_content

# --- contents --------------------------------------------------------------------------------------------


def supported(content: ours.Content, wire: str) -> ours.AnyContent:
    """Returns the content if its class or a base class is one that wire formats know."""
    if not isinstance(content, ours.AnyContent):
        raise refused(content, wire)
    return content


def refused(content: ours.Content, wire: str, why: str = "") -> ContentError:
    """Returns the error for a content that a wire format does not support."""
    because = f": {why}" if why else ""
    return ContentError(f"{type(content).__name__} cannot be sent over {wire!r} here{because}")


def sendable(content: ours.Content, wire: str) -> bool:
    """Tells whether a content is sent. Empty texts and blocks of another wire format are not."""
    if isinstance(content, ours.ContentUnknown):
        return content.wire == wire
    return not isinstance(content, ours.ContentText) or bool(content.text)


def unknown_block(wire: str, block: object) -> ours.ContentUnknown:
    """Returns an unknown block unchanged. It may be a call of the provider's own tool."""
    if not isinstance(block, Mapping):
        raise TypeError(f"a block is an object, not {type(block).__name__}")
    return provider_content(wire, block)


def request_of(result: ours.ContentToolResult) -> ours.ContentToolRequest:
    """Returns the request that a result answers."""
    if result.request is None:
        raise ContentError("This ContentToolResult has no request. Set `request` to its ContentToolRequest")
    return result.request


def placeholder(content: ours.Content) -> str:
    """Returns the text for media in an assistant's message if the format supports only text. The model made the media
    itself.
    """
    match content:
        case ours.ContentPDF():
            return "[PDF document]"
        case ours.ContentImageInline():
            return "[inline image]"
        case ours.ContentImageRemote():
            return "[remote image]"
        case ours.ContentFile(type=type):
            return f"[{type} file]"
    return "[file]"


def image(url: str) -> ours.ContentImageInline | ours.ContentImageRemote:
    """Returns an image from its URL, `data:` or not."""
    found = re.fullmatch(r"data:([^;,]*)(?=;)[^,]*;base64,(.*)", url, re.DOTALL)
    return ours.ContentImageInline(found[1], found[2]) if found else ours.ContentImageRemote(url)


def data_url(content: ours.ContentImageInline | ours.ContentPDF) -> str:
    """Returns the bytes as a `data:` URL."""
    return f"data:{content.type};base64,{content.data}"


# --- citations -------------------------------------------------------------------------------------------


#: The kinds of OpenAI's annotations that are citations.
CITING = frozenset({"url_citation", "file_citation", "container_file_citation", "file_path"})


def openai_citations(annotations: object) -> tuple[ContentCitation, ...]:
    """Converts OpenAI's annotations, which are flat in Responses and nested in Chat Completions."""
    return tuple(map(_annotation, (a for a in objects(annotations) if a.get("type") in CITING)))


def _annotation(annotation: Json) -> ContentCitation:
    inner = annotation.get(str(annotation.get("type")))
    fields = {**annotation, **inner} if isinstance(inner, Mapping) else annotation
    title = fields.get("title") or fields.get("filename") or fields.get("file_id")
    return _citation(
        fields.get("url"), title, fields.get("content"), fields.get("start_index"), fields.get("end_index")
    )


def anthropic_citations(citations: object) -> tuple[ContentCitation, ...]:
    """Converts Claude's citations of web pages, search results and documents. They are for the whole block."""
    return tuple(
        _citation(
            c.get("url") or c.get("source"), c.get("title") or c.get("document_title"), c.get("cited_text")
        )
        for c in objects(citations)
    )


def bedrock_citations(citations: object) -> tuple[ContentCitation, ...]:
    """Converts Converse's citations, which are for the whole block."""
    return tuple(map(_of_bedrock, objects(citations)))


def _of_bedrock(citation: Json) -> ContentCitation:
    location = citation.get("location")
    web = location.get("web") if isinstance(location, Mapping) else None
    web = web if isinstance(web, Mapping) else {}
    quote = " ".join(str(part.get("text") or "") for part in objects(citation.get("sourceContent")))
    return _citation(web.get("url"), citation.get("title") or web.get("domain"), quote.strip())


def cohere_citations(citations: object) -> tuple[ContentCitation, ...]:
    """Converts Cohere's citations: one for each source of each span."""
    return tuple(
        _of_cohere(span, source)
        for span in objects(citations)
        for source in objects(span.get("sources")) or [{}]
    )


#: Fields with the text of a source. A tool result that is a text has the last one.
_QUOTED = ("text", "snippet", "content", "output")


def _of_cohere(span: Json, source: Json) -> ContentCitation:
    content = source.get("document") or source.get("tool_output")
    document = content if isinstance(content, Mapping) else {}
    title = document.get("title") or source.get("id")
    quote = next((document[key] for key in _QUOTED if document.get(key)), "")
    return _citation(document.get("url"), title, quote, span.get("start"), span.get("end"))


def sources(response: Json) -> tuple[ContentCitation, ...]:
    """Returns the list of sources beside an answer (Perplexity, xAI): `search_results`, or bare URLs in `citations`."""
    found = [
        _citation(s.get("url"), s.get("title"), s.get("snippet"))
        for s in objects(response.get("search_results"))
    ]
    urls = response.get("citations")
    bare = urls if isinstance(urls, list) else []
    return tuple(found or [_citation(url) for url in bare if isinstance(url, str)])


def cited_last(turn: AssistantTurn, citations: tuple[ContentCitation, ...]) -> AssistantTurn:
    """Returns the turn with these citations on its last text. A text with citations keeps its own."""
    texts = [content for content in turn.contents if isinstance(content, ContentText)]
    if not texts or texts[-1].citations:
        return turn
    return replace(turn, contents=tuple(_cited(c, citations) if c is texts[-1] else c for c in turn.contents))


def cited_before(contents: Sequence[Content]) -> list[Content]:
    """Returns the contents with the sources of Nova's separate block on the text before it. The block, a text without
    words, is sent back unchanged.
    """
    cited_contents: list[Content] = []
    citations: dict[int, list[ContentCitation]] = {}  # by the place of their text
    cited: int | None = None
    for content in contents:
        if isinstance(content, ContentText) and content.text:
            cited = len(cited_contents)
            citations[cited] = list(content.citations)
        elif isinstance(content, ContentText) and cited is not None:
            citations[cited] += content.citations
            content = _cited(content, ())  # noqa: PLW2901 - its sources are told once
        cited_contents.append(content)
    for place, found in citations.items():
        cited_contents[place] = _cited(cited_contents[place], tuple(found))
    return cited_contents


# Gemini -----------------------------------------------------------------------------------------------------


def with_grounding(contents: Sequence[Content], candidate: Json) -> list[Content]:
    """Returns the contents of a candidate. Each text has its grounding sources."""
    citations = [*_grounded(candidate.get("groundingMetadata")), *_recited(candidate.get("citationMetadata"))]
    texts = [content for content in contents if isinstance(content, ContentText)]
    if not citations or not texts:
        return list(contents)
    by_text: dict[int, list[ContentCitation]] = {}
    places = _Places(texts, len(citations))
    for citation, segment in citations:
        text, start, end = places.of(segment)
        by_text.setdefault(id(text), []).append(replace(citation, start=start, end=end))
    return [_cited(c, tuple(by_text[id(c)])) if id(c) in by_text else c for c in contents]


def _grounded(metadata: object) -> Iterator[tuple[ContentCitation, Json]]:
    """Yields sources, each with its segment of text, or the whole text if none is named."""
    grounding = metadata if isinstance(metadata, Mapping) else {}
    chunks = [_chunk(chunk) for chunk in objects(grounding.get("groundingChunks"))]
    supports = objects(grounding.get("groundingSupports"))
    for support in supports:
        segment = support.get("segment")
        for index in support.get("groundingChunkIndices") or ():
            if isinstance(index, int) and 0 <= index < len(chunks):
                yield chunks[index], segment if isinstance(segment, dict) else {}
    if not supports:
        yield from ((chunk, {}) for chunk in chunks)


def _chunk(chunk: Json) -> ContentCitation:
    place = next((value for value in chunk.values() if isinstance(value, Mapping)), {})
    title = place.get("title") or place.get("fileSearchStore")
    return _citation(place.get("uri"), title, place.get("text"))


def _recited(metadata: object) -> Iterator[tuple[ContentCitation, Json]]:
    recitation = metadata if isinstance(metadata, Mapping) else {}
    for source in objects(recitation.get("citationSources") or recitation.get("citations")):
        yield _citation(source.get("uri"), source.get("title") or source.get("license")), source


class _Places:
    """The places of segments in the texts of an answer. Google counts bytes from the beginning of a part, and does not say of which
    one. All segments together take a number of steps that grows with the answer; the places of more are not looked for.
    """

    def __init__(self, texts: Sequence[ContentText], segments: int) -> None:
        self._texts = texts
        self._data = [text.text.encode("utf-8", "surrogatepass") for text in texts]
        self._before: dict[int, list[int]] = {}  # characters before each block of a text's bytes
        self._left = 100 * (segments + sum(map(_steps, self._data)))

    def of(self, segment: Json) -> tuple[ContentText, int | None, int | None]:
        """Returns the text of a segment and its position."""
        start, end, words = segment.get("startIndex") or 0, segment.get("endIndex"), segment.get("text")
        if isinstance(start, int) and isinstance(end, int) and start >= 0:
            for number, data in self._affordable(lambda _: 1):
                quote = data[start:end].decode(errors="ignore")
                if quote and words in {None, quote}:
                    before = self._characters(number, start)
                    return self._texts[number], before, before + len(quote)
        if isinstance(words, str) and words:
            for number, _ in self._affordable(_steps):
                if (place := self._texts[number].text.find(words)) >= 0:
                    return self._texts[number], place, place + len(words)
        return self._texts[-1], None, None

    def _affordable(self, steps: Callable[[bytes], int]) -> Iterator[tuple[int, bytes]]:
        """Yields the texts, by number, while steps are left."""
        for number, data in enumerate(self._data):
            self._left -= steps(data)
            if self._left < 0:
                return
            yield number, data

    def _characters(self, number: int, end: int) -> int:
        """Returns how many characters are before a byte of a text."""
        data, block = self._data[number], end // _BLOCK
        if number not in self._before:
            blocks = (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))
            self._before[number] = list(accumulate(map(_begun, blocks), initial=0))
        return self._before[number][block] + _begun(data[block * _BLOCK : end])


_BLOCK = 64  # bytes of a text whose characters are counted once; to search so many is a step
_FOLLOWING = bytes(range(0x80, 0xC0))  # bytes of a character after its first one


def _steps(data: bytes) -> int:
    return 1 + len(data) // _BLOCK


def _begun(data: bytes) -> int:
    return len(data.translate(None, _FOLLOWING))


# values -----------------------------------------------------------------------------------------------------


def _citation(
    url: object = None, title: object = None, quote: object = None, start: object = None, end: object = None
) -> ContentCitation:
    """Returns a citation of a provider. Values of a wrong type are left out."""
    url, title, quote = (value if isinstance(value, str) else "" for value in (url, title, quote))
    if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
        return ContentCitation(url, title, quote, start, end)
    return ContentCitation(url, title, quote)


def _cited(content: Content, citations: tuple[ContentCitation, ...]) -> Content:
    return replaced(content, citations=citations)


# --- messages of one role --------------------------------------------------------------------------------


def alternate(messages: Sequence[Json]) -> bool:
    """Tells whether no two neighbours have the same role, as in nearly every conversation. It runs no Python code for
    each message, because a history may be long.
    """
    roles = list(map(itemgetter("role"), messages))
    return not any(map(eq, roles, roles[1:]))


def joined(messages: Sequence[Json], field: str, roles: Collection[str]) -> list[Json]:
    """Returns the messages, where neighbours of one of these roles are one message with the `field` of both."""
    if alternate(messages):
        return list(messages)
    joined_messages: list[Json] = []
    for role, group in groupby(messages, itemgetter("role")):
        neighbours = list(group)
        if role not in roles or len(neighbours) == 1:
            joined_messages += neighbours
        else:
            contents = chain.from_iterable(map(itemgetter(field), neighbours))
            joined_messages.append({**neighbours[-1], field: list(contents)})
    return joined_messages


# --- marks for a cache -----------------------------------------------------------------------------------


#: The lifetime of a cache entry after its last use: 5 minutes or an hour.
Cache = Literal["none", "5m", "1h"]


def check_cache(cache: object) -> None:
    """Raises `UsageError` for an unsupported cache time."""
    if cache not in ("none", "5m", "1h"):
        raise UsageError(f'cache= must be "none", "5m" or "1h", not {cache!r}.')


def with_marks(body: Json, cache: Cache) -> Json:
    """Returns an Anthropic request with `cache_control` on its system prompt and on its last block."""
    if cache == "none":
        return body
    mark = {"cache_control": {"type": "ephemeral", "ttl": cache}}
    system = body.get("system")
    return {
        **body,
        **({"system": [{"type": "text", "text": system, **mark}]} if system else {}),
        "messages": _changed(body["messages"], lambda content: _marked(content, mark)),
    }


def pointed(body: Json, cache: Cache) -> Json:
    """Returns a Bedrock request with a `cachePoint` after its system prompt and after its last message.

    In that message, it stands before the documents at the end that are no PDFs: Claude is not given the point behind one
    (https://github.com/strands-agents/harness-sdk/issues/1966).
    """
    if cache == "none":
        return body
    point: Json = {"cachePoint": {"type": "default", **({"ttl": cache} if cache != "5m" else {})}}
    system = body.get("system")
    return {
        **body,
        **({"system": [*system, point]} if system else {}),
        "messages": _changed(body["messages"], lambda content: _with_point(content, point)),
    }


def _with_point(content: Sequence[Json], point: Json) -> list[Json]:
    """Returns blocks with a point at the end, or before the last documents that are no PDFs. A point is never the first block."""
    at = len(content)
    while at and content[at - 1].get("document", {}).get("format", "pdf") != "pdf":
        at -= 1
    return [*content[:at], *([point] if at else []), *content[at:]]


def _marked(content: Sequence[Json], mark: Json) -> list[Json]:
    *before, last = content
    return [*before, {**last, **mark}]  # never a thought, which takes no mark


def _changed(messages: Sequence[Json], change: Callable[[Sequence[Json]], list[Json]]) -> list[Json]:
    """Returns the messages with changed content in the last one. The originals do not change."""
    return [*messages[:-1], *({**last, "content": change(last["content"])} for last in messages[-1:])]
