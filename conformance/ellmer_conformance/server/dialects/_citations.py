"""The pages that an answer names, and those that a search found, as each provider writes them."""

from __future__ import annotations

from urllib.parse import urlsplit

from ...contract.exchange import Json
from ...scenarios.script import Answer, Say, Source
from ..signatures import encoded, sign
from .base import utf8

__all__ = [
    "document_citations",
    "found_page",
    "grounding",
    "location_citations",
    "nested_url_citations",
    "server_tool_use",
    "url_citations",
    "web_citations",
]


def location_citations(part: Say) -> list[Json]:
    """The pages that a text names."""
    return [
        {
            "type": "web_search_result_location",
            "cited_text": source.text or part.text,
            "url": source.url,
            "title": source.title,
            "encrypted_index": encoded(sign(source.url)),
        }
        for source in part.cites
    ]


def found_page(source: Source) -> Json:
    """A page that a search found."""
    sealed = encoded(sign(source.url))
    found = {"title": source.title, "url": source.url, "encrypted_content": sealed, "page_age": None}
    return {"type": "web_search_result", **found}


def server_tool_use(answer: Answer) -> Json:
    """How often the API searched, where it did."""
    counts = {"web_search_requests": len(answer.searches), "web_fetch_requests": 0}
    return {"server_tool_use": counts} if answer.searches else {}


def nested_url_citations(answer: Answer) -> list[Json]:
    """The pages that the text names, with the characters that rest on each."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "end_index": end,
                "start_index": start,
                "title": source.title,
                "url": source.url,
            },
        }
        for start, end, source in answer.citations
    ]


def url_citations(part: Say) -> list[Json]:
    """The pages that a text names, with the characters that rest on each."""
    return [
        {
            "type": "url_citation",
            "end_index": end,
            "start_index": start,
            "title": source.title,
            "url": source.url,
        }
        for start, end, source in part.citations
    ]


def grounding(answer: Answer) -> Json:
    """What was searched, what was found, and which bytes of the text rest on it."""
    pages = [
        *(source for search in answer.searches for source in search.found),
        *(s for *_, s in answer.citations),
    ]
    urls = list(dict.fromkeys((source.url, source.title) for source in pages))
    supports: list[Json] = []
    for start, end, source in answer.citations:
        first, last = len(utf8(answer.text[:start])), len(utf8(answer.text[:end]))
        segment = {
            **({"startIndex": first} if first else {}),
            "endIndex": last,
            "text": answer.text[start:end],
        }
        supports.append(
            {"segment": segment, "groundingChunkIndices": [urls.index((source.url, source.title))]}
        )
    searched = [search.query for search in answer.searches]
    entry = {"searchEntryPoint": {"renderedContent": "<div></div>"}} if searched else {}
    chunks = [{"web": {"uri": url, "title": title}} for url, title in urls]
    found = {"groundingChunks": chunks, "groundingSupports": supports}
    return {**entry, **found, **({"webSearchQueries": searched} if searched else {})}


def document_citations(answer: Answer) -> list[Json]:
    """The documents that the text names, with the characters that rest on each."""
    found: list[Json] = []
    for number, (start, end, source) in enumerate(answer.citations):
        document = {"id": f"doc:{number}", "title": source.title, "url": source.url}
        sources = [{"type": "document", "id": f"doc:{number}", "document": document}]
        place = {"start": start, "end": end, "text": answer.text[start:end]}
        found.append({**place, "sources": sources, "type": "TEXT_CONTENT"})
    return found


def web_citations(part: Say) -> list[Json]:
    """The pages that a text names."""
    return [
        {
            "location": {"web": {"domain": urlsplit(source.url).hostname or "", "url": source.url}},
            "sourceContent": [{"text": source.text or part.text}],
            "title": source.title,
        }
        for source in part.cites
    ]
