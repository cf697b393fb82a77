"""Files that the provider stores."""

from __future__ import annotations

from collections.abc import Iterator

from .....scenarios.messages import Upload
from ....counts import passive
from ....observed.run import Run
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found


@book.rule(
    "UPL-001",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/files",
        "https://github.com/openai/codex/issues/35732",
    ],
)
def uploaded_files_are_named(run: Run) -> Iterator[Finding]:
    """A file that was uploaded is named by its id in every request of its conversation, and its bytes are not sent again.

    Why: callers upload a file so that its bytes are sent only once. Fix: keep the id of the upload in the history, and
    send the id instead of the bytes.
    """
    files = [p.file for ask in run.case.steps[:1] for p in ask.parts if isinstance(p, Upload)]
    if not files or run.refused:
        return
    for index, items in enumerate(run.sent_items):
        media = [item.media for item in items if item.media]
        named = [each for each in media if each.url and not each.data]
        problem = (
            f"{passive(len(named), 'file', 'named')}, {len(files)} uploaded, and {len(media)} in the request"
        )
        place = f"/exchanges/{index}/request"
        yield found(len(named) == len(files) == len(media), place, problem)
        for each in named if run.stored else ():
            id = each.url.rpartition("/")[2]
            yield found(id in (run.stored or ()), place, f"no file has the id {id!r}")
