"""The text that the user wrote reaches the provider unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .....scenarios.messages import Text
from ....observed.run import Run
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, declined, found, squeezed


@book.rule(
    "UNI-001",
    MUST,
    LOSS,
    source=[
        "https://www.unicode.org/reports/tr15/",
        "https://github.com/sindresorhus/filenamify/issues/40",
    ],
)
def text_is_sent_as_written(run: Run) -> Iterator[Finding]:
    """The text of the user and of the system prompt reaches the provider character for character, in later requests, too.

    Why: a name, a password or code in another normal form is another text, though it looks the same. Fix: do
    not normalise or strip text, and do not encode it with `errors="replace"`.
    """
    sent = ["\0".join(item.text for item in items) for items in run.sent_items]
    asked = [ask for ask in run.case.steps[: len(run.replies)] if not declined(run, ask)]
    written = [ask.instructed for ask in asked if ask.instructed]
    written += [part.text for ask in asked for part in ask.parts if isinstance(part, Text)]
    written = [text for text in written if text.isprintable() or "\ud83d" not in text]
    for text in [*([run.case.system] if run.case.system else []), *written] if sent else ():
        problem = f"{text[:60]!r} is in no request"
        kept = any(text in request for request in sent)
        yield found(kept, "/exchanges", problem)
        for index, request in enumerate(sent) if kept else ():
            problem = f"{text[:60]!r} has other white space here than in another request"
            same = text in request or squeezed(text) not in squeezed(request)
            yield found(same, f"/exchanges/{index}/request", problem)


@book.rule(
    "UNI-002",
    MUST,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc8259#section-8.2",
        "https://github.com/anthropics/claude-code/issues/3277",
    ],
)
def half_characters_do_no_harm(run: Run) -> Iterator[Finding]:
    """Half of a surrogate pair in a text is replaced, or refused before the request; it is never sent.

    Why: half of a pair is not a character, and APIs refuse a body that contains it. Any error is accepted if nothing
    was sent, even one of the language itself. A decoding error after the request counts as a crash. Fix: encode texts
    with a replacement character, or look for such halves before a request is sent.
    """
    halves = [p for ask in run.case.steps for p in ask.parts if isinstance(p, Text) and _is_half(p.text)]
    for index, reply in enumerate(run.replies) if halves else ():
        crashed = isinstance(reply.error, UnicodeError) and bool(run.exchanges)
        yield found(not crashed, f"/replies/{index}", f"it raises {reply.error!r}")
    for index, exchange in enumerate(run.exchanges) if halves else ():
        whole = not _is_half(json.dumps(exchange.request.body, ensure_ascii=False))
        yield found(whole, f"/exchanges/{index}/request", "half of a surrogate pair was sent")


def _is_half(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
