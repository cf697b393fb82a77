"""Writes a conversation to a file."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .html import contents_html
from .markdown import contents_markdown
from .notebook import styles

__all__ = ["export"]

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 2rem auto; max-width: 46rem; padding: 0 1rem; }}
{styles}</style>
</head>
<body>
<main class="ellmer-chat">
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def export(chat: Any, path: str | Path, *, title: str = "Chat", overwrite: bool = False) -> Path:
    """Writes a chat to a file: Markdown for `.md`, a self-contained page for `.html`.

    The page contains its images, runs no scripts and loads nothing from other hosts. It shows the address of an image
    that the provider fetched.

    Args:
        chat: A chat or a list of turns.
        path: Path of the file.
        title: Title of the page. Default: `"Chat"`.
        overwrite: Whether an existing file is replaced. Default: `False`.

    Returns:
        The path.

    Raises:
        UsageError: The file exists, or its name has another suffix.

    Examples:
        >>> export([UserTurn("Hello"), AssistantTurn("Hi!")], "chat.md").name
        'chat.md'
    """
    path = Path(path)
    match path.suffix.lower():
        case ".md" | ".markdown":
            text = f"# {title}\n\n{contents_markdown(chat)}\n"
        case ".html" | ".htm":
            text = PAGE.format(title=escape(title), styles=styles(), body=contents_html(chat))
        case suffix:
            raise UsageError(f"A chat is exported to .md or .html, not {suffix!r} ({path}).")
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} already exists. Pass overwrite=True to replace it.") from error
    return path
