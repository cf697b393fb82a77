"""Whether a case produced a result that can be judged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...observed.raised import with_place
from ...observed.run import Run
from ...readers import own_path
from ...rule import Finding, broken, met
from ._rulebook import LOSS, MUST, book, crashes, found, refuses_media


@book.rule("RUN-001", MUST, LOSS, source="This project decided it.")
def plays_can_be_judged(run: Run) -> Iterator[Finding]:
    """The case runs to its end: the session opens and closes, and its requests pass through the recorder.

    Why: an adapter whose requests are not seen would pass every rule. Fix: if an error was raised, open the line that the message
    names, and otherwise send the requests to the base URL of the session. An adapter in Python sends them through httpx or httpx2, and raises errors from `send`, not from `session`, `transcript` or `close`. A
    program of `--command` may use any HTTP client. It sends them to the base URL that it gets.
    """
    wrong = run.trouble if run.trouble and run.trouble.rule == "RUN-001" else None
    yield found(not wrong, "/trouble", wrong.text if wrong else "")


@book.rule(
    "RUN-002",
    MUST,
    LOSS,
    source=[
        "https://docs.python.org/3/library/asyncio-dev.html#running-blocking-code",
        "https://github.com/strands-agents/harness-sdk/issues/4482 (no limit of requests)",
    ],
)
def plays_end(run: Run) -> Iterator[Finding]:
    """Every call of the library returns within the time of the case, and gives up after some requests if the answer stays the same.

    Why: a call that never returns stops the caller's program, and in async code all of its other tasks. The caller pays for each
    request of a loop without a limit. Fix: give a loop of requests a limit, and look at the last
    line of the stack. Await it in async code, give it a timeout, or release what it waits for. A command that is ended has no
    stack here: look at what it wrote last, and run the same step in a debugger of its language.
    """
    wrong = run.trouble if run.trouble and run.trouble.rule == "RUN-002" else None
    yield found(not wrong, "/trouble", wrong.text if wrong else "")


@book.rule("RUN-003", MUST, LOSS, source="https://peps.python.org/pep-0008/#programming-recommendations")
def calls_do_not_crash(run: Run) -> Iterator[Finding]:
    """A call of the library raises no error if the provider accepted the requests and answered completely.

    Why: the caller sent a valid request and loses the answer. Fix: open the last line of the library that the message
    names, and handle the value that it got there.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if wanted.outcome == "answered" and not run.refused and not refuses_media(run, index):
            error = reply.error if crashes(run, index) else None
            yield broken(f"/replies/{index}", with_place(error)) if error else met(f"/replies/{index}")


@book.rule(
    "RUN-004",
    MUST,
    LOSS,
    source=[
        "https://github.com/harry0703/MoneyPrinterTurbo/issues/57 (OpenAI: Invalid URL)",
    ],
)
def requests_go_to_the_path_of_the_api(run: Run) -> Iterator[Finding]:
    """A request for an answer goes to the path of the API below the base URL, with nothing between: to `/v1/chat/completions`, and not
    to `/v1/v1/chat/completions`. Requests to other ends, such as a list of models, are not judged.

    Why: the provider answers another path with 404. Fix: add the version to a base URL that has none, and only then.
    """
    pattern = _PATHS.get((run.wire, run.provider))
    if run.way not in {"server", "command"} or not pattern:
        return
    for index, exchange in enumerate(run.exchanges):
        path = own_path(exchange.request.url)
        if _FOR_AN_ANSWER.search(path):
            problem = f"it goes to {path}, which the API does not have"
            yield found(pattern.fullmatch(path), f"/exchanges/{index}/request", problem)


#: The end of a path where a model answers.
_FOR_AN_ANSWER = re.compile(
    r"/(?:chat|completions|responses|messages|converse(?:-stream)?)/?$|[gG]enerateContent$"
)
_PATHS = {
    (wire, provider): re.compile(path)
    for wire, provider, path in (
        ("openai-chat", "openai", "/v1/chat/completions/?"),
        ("openai-responses", "openai", "/v1/responses/?"),
        ("anthropic", "anthropic", "/v1/messages/?"),
        ("gemini", "google", "/v1(beta|alpha)?/(models|tunedModels)/[^/:]+:(streamG|g)enerateContent"),
        ("bedrock", "bedrock", "/model/[^/]+/converse(-stream)?"),
        ("ollama", "ollama", "/api/chat/?"),
        ("mistral", "mistral", "/v1/chat/completions/?"),
        ("cohere", "cohere", "/v2/chat/?"),
    )
}
