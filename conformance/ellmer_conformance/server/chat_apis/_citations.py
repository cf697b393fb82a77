"""Writes citations and results of web searches in each provider's form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...contract.observed.exchange import Json
from ...scenarios.messages import Source
from ...scenarios.script import Answer, Say, Search
from ..issued.signatures import encoded, sign


def sources_of(answer: Answer) -> list[tuple[Say, Source]]:
    """Returns every source of an answer with its text."""
    return [(part, source) for part in answer.parts if isinstance(part, Say) for source in part.sources]


def span(part: Say, source: Source) -> tuple[int, int]:
    """Returns start and end of the passage that the source supports."""
    start = part.text.index(source.cited)
    return start, start + len(source.cited or part.text)


def url_citations(part: Say) -> list[Json]:
    """Returns OpenAI's citations: https://developers.openai.com/api/docs/guides/tools-web-search"""
    found: list[Json] = []
    for source in part.sources:
        start, end = span(part, source)
        place: Json = {"type": "url_citation", "end_index": end, "start_index": start}
        found.append({**place, "title": source.title, "url": source.url})
    return found


def page_citations(part: Say) -> list[Json]:
    """Returns Anthropic's citations: https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool"""
    return [
        {
            "type": "web_search_result_location",
            "cited_text": source.quote,
            "url": source.url,
            "title": source.title,
            "encrypted_index": encoded(sign(source.url)),
        }
        for source in part.sources
    ]


def page_found(source: Source) -> Json:
    """Returns a page that Anthropic's search found."""
    sealed = encoded(sign(source.quote))
    return {
        "type": "web_search_result",
        "title": source.title,
        "url": source.url,
        "encrypted_content": sealed,
        "page_age": None,
    }


def web_citations(sources: Sequence[Source]) -> list[Json]:
    """Returns Bedrock's citations: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html"""
    return [
        {
            "location": {"web": {"domain": source.url.split("/")[2], "url": source.url}},
            "sourceContent": [{"text": source.quote}],
            "title": source.title,
        }
        for source in sources
    ]


def document_citations(answer: Answer, called: str = "") -> list[Json]:
    """Returns Cohere's citations: https://docs.cohere.com/docs/rag-citations. A source without a URL is the result of
    the call `called`.
    """
    found: list[Json] = []
    for number, (part, source) in enumerate(sources_of(answer)):
        start, end = span(part, source)
        if source.url:
            id = f"doc:{number}"
            document = {"id": id, "title": source.title, "url": source.url, "snippet": source.quote}
            named: Json = {"type": "document", "id": id, "document": document}
        else:
            named = {"type": "tool", "id": f"{called}:0", "tool_output": {"content": source.quote}}
        place = {"start": start, "end": end, "text": part.text[start:end]}
        found.append({**place, "sources": [named], "type": "TEXT_CONTENT"})
    return found


def grounding(answer: Answer) -> Json:
    """Returns Google's grounding: https://ai.google.dev/gemini-api/docs/google-search. It is empty without
    sources and searches."""
    found = sources_of(answer)
    searches = [part for part in answer.parts if isinstance(part, Search)]
    if not found and not searches:
        return {}
    pages = [source for _, source in found] or [page for search in searches for page in search.found]
    metadata = {
        "webSearchQueries": [search.query for search in searches],
        "searchEntryPoint": {"renderedContent": '<div class="container"></div>'},
        "groundingChunks": [{"web": {"uri": page.url, "title": page.title}} for page in pages],
        "groundingSupports": list(supports(found)),
    }
    return {"groundingMetadata": metadata}


def supports(found: Sequence[tuple[Say, Source]]) -> Iterator[Json]:
    """Yields the segments of text, in bytes from the beginning of their part. A beginning of 0 is left out."""
    for index, (part, source) in enumerate(found):
        start, end = (len(part.text[:place].encode()) for place in span(part, source))
        begins = {"startIndex": start} if start else {}
        segment = {**begins, "endIndex": end, "text": source.cited or part.text}
        yield {"segment": segment, "groundingChunkIndices": [index]}
