"""Converts each provider's citations to `ContentCitation`. The `extra` of the text has the data to send back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...contents.content import Content, ContentCitation, ContentText, replaced
from ...contents.turns import AssistantTurn
from ..interfaces import Json
from .json_objects import objects

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
    if not {"search_results", "citations"} & response.keys():
        return ()
    found = [
        _citation(s.get("url"), s.get("title"), s.get("snippet"))
        for s in objects(response.get("search_results"))
    ]
    urls = response.get("citations")
    bare = urls if isinstance(urls, list) else []
    return tuple(found or [_citation(url) for url in bare if isinstance(url, str)])


def cited_last(turn: AssistantTurn, citations: tuple[ContentCitation, ...]) -> AssistantTurn:
    """Returns the turn with these citations on its last text. A text with citations keeps its own."""
    texts = [content for content in turn.contents if isinstance(content, ContentText)] if citations else []
    if not texts or texts[-1].citations:
        return turn
    return replace(turn, contents=tuple(_cited(c, citations) if c is texts[-1] else c for c in turn.contents))


def cited_before(contents: Sequence[Content]) -> list[Content]:
    """Returns the contents with the sources of Nova's separate block on the text before it. The block, a text without
    words, is sent back unchanged.
    """
    cited_contents: list[Content] = []
    cited: int | None = None
    for content in contents:
        if isinstance(content, ContentText) and content.text:
            cited = len(cited_contents)
        elif isinstance(content, ContentText) and cited is not None:
            before = cited_contents[cited]
            earlier = before.citations if isinstance(before, ContentText) else ()
            cited_contents[cited] = _cited(before, (*earlier, *content.citations))
            content = _cited(content, ())  # noqa: PLW2901 - its sources are told once
        cited_contents.append(content)
    return cited_contents


# Gemini -----------------------------------------------------------------------------------------------------


def with_grounding(contents: Sequence[Content], candidate: Json) -> list[Content]:
    """Returns the contents of a candidate. Each text has its grounding sources."""
    citations = [*_grounded(candidate.get("groundingMetadata")), *_recited(candidate.get("citationMetadata"))]
    texts = [content for content in contents if isinstance(content, ContentText)]
    if not citations or not texts:
        return list(contents)
    by_text: dict[int, list[ContentCitation]] = {}
    for citation, segment in citations:
        text, start, end = _place(texts, segment)
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


def _place(texts: Sequence[ContentText], segment: Json) -> tuple[ContentText, int | None, int | None]:
    """Returns the text of a segment and its position. Google counts bytes from the beginning of a part."""
    start, end, words = segment.get("startIndex") or 0, segment.get("endIndex"), segment.get("text")
    if isinstance(start, int) and isinstance(end, int):
        for text in texts:
            data = text.text.encode()
            quote = data[start:end].decode(errors="ignore")
            if quote and words in {None, quote}:
                before = len(data[:start].decode(errors="ignore"))
                return text, before, before + len(quote)
    if isinstance(words, str) and words:
        for text in texts:
            if (place := text.text.find(words)) >= 0:
                return text, place, place + len(words)
    return texts[-1], None, None


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
