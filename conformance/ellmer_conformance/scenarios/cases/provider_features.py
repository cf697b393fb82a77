"""Features that providers run themselves: searches with citations, a pause in between, uploaded files."""

from __future__ import annotations

from collections.abc import Mapping

from ..case import Case, ask, case
from ..messages import Source, Upload
from ..script import Answer, Call, Say, Search, Usage
from ._media_and_tools import REPORT, get_weather, weather

_STATISTICS = Source(
    "https://example.com/rome",
    "Rome in numbers",
    "In 2026 the city of Rome has 2.8 million inhabitants.",
    "2.8 million people",
)
_SAYS = "Zoë asks: Rome has 2.8 million people."
_SEARCH = "inhabitants of Rome"
_NO_SEARCH = dict.fromkeys(
    ("mistral", "ollama"), "it names no sources: its chat API has neither a search nor citations"
) | {
    "cohere": "it cites documents of the request and results of tools, which have no URL of their own",
    "openai-chat/deepseek": "its answers have no annotations",
}
_CITES_NO_RESULTS: Mapping[str, str] = dict.fromkeys(
    ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "ollama"),
    "its answers do not cite the results of tools that the caller runs",
)
_NO_PAUSE: Mapping[str, str] = dict.fromkeys(
    ("openai-chat", "openai-responses", "gemini", "bedrock", "cohere", "mistral", "ollama"),
    "its answers do not pause: there is no stop reason that asks for the conversation back",
)
_KEEPS_NONE = dict.fromkeys(
    ("bedrock", "cohere", "mistral", "ollama", "openai-chat/deepseek"),
    "there are no files to upload that its chat API takes by name",
) | {"gemini/vertex": "its files are in Cloud Storage, and not uploaded over this API"}


@case
def cited_answer() -> Case:
    """The provider searches the web, and its answer names a source: the caller gets it, and the search is sent back.

    The providers show different parts of the search, so the transcripts differ.
    """
    return Case(
        needs=frozenset({"citations"}),
        printed_alike=False,
        searching=True,
        inexpressible=_NO_SEARCH,
        script=[
            Answer(
                (Search(_SEARCH, (_STATISTICS,)), Say(_SAYS, sources=(_STATISTICS,))), usage=Usage(90, 20)
            ),
            Answer((Say("Yes, it is the largest."),), usage=Usage(140, 8)),
        ],
        steps=[
            ask("How many people live in Rome?", text=_SAYS),
            ask("Is it the largest city in Italy?", text="Yes, it is the largest."),
        ],
    )


@case
def cited_tool_result() -> Case:
    """A tool's result is the source of the answer: the caller gets it, and the citation is sent back with the answer."""
    source = Source("", quote=get_weather("Paris"), cited="21C")
    return Case(
        needs=frozenset({"citations"}),
        inexpressible=_CITES_NO_RESULTS,
        tools=[weather],
        script=[
            Answer((Call("get_weather", {"city": "Paris"}),), usage=Usage(60, 18)),
            Answer((Say("It is 21C in Paris.", sources=(source,)),), usage=Usage(90, 8)),
            Answer((Say("Yes, it is."),), usage=Usage(110, 4)),
        ],
        steps=[
            ask("How warm is it in Paris?", text="It is 21C in Paris."),
            ask("Is it warm?", text="Yes, it is."),
        ],
    )


@case
def paused_search() -> Case:
    """The provider pauses while its search is pending: the answer is sent back unchanged, and the provider completes
    it.
    """
    return Case(
        needs=frozenset({"citations"}),
        printed_alike=False,
        searching=True,
        inexpressible=_NO_PAUSE,
        script=[
            Answer((Search(_SEARCH, ran="pending"),), stop="pause", usage=Usage(90, 12)),
            Answer(
                (Search(_SEARCH, (_STATISTICS,), ran="rest"), Say(_SAYS, sources=(_STATISTICS,))),
                usage=Usage(110, 20),
            ),
            Answer((Say("Yes, it is the largest."),), usage=Usage(140, 8)),
        ],
        steps=[
            ask("How many people live in Rome?", text=_SAYS),
            ask("Is it the largest city in Italy?", text="Yes, it is the largest."),
        ],
    )


@case
def uploaded_file() -> Case:
    """A file is uploaded, and two questions are about it: both requests name it, and neither sends its bytes."""
    return Case(
        needs=frozenset({"uploads"}),
        printed_alike=False,
        inexpressible=_KEEPS_NONE,
        script=[
            Answer((Say("The total is 42 EUR."),), usage=Usage(300, 9)),
            Answer((Say("In euros."),), usage=Usage(320, 4)),
        ],
        steps=[
            ask("What is the total?", Upload(REPORT), text="The total is 42 EUR."),
            ask("In which currency?", text="In euros."),
        ],
    )
