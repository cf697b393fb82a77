"""The progress bar of many prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(total: int, *, shown: bool) -> Iterator[Callable[[], object]]:
    """Yields a progress bar on standard error, in a terminal with rich."""
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra, imported when first needed
        from rich.progress import MofNCompleteColumn, Progress  # noqa: PLC0415
    except ImportError:
        yield lambda: None
        return
    console = Console(stderr=True)
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not (shown and console.is_terminal)
    ) as bar:
        task = bar.add_task("Chatting", total=total)
        yield lambda: bar.advance(task)
