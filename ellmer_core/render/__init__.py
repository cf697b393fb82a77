"""Conversations for people: as text, Markdown, HTML, and as a file.

`contents_text()`, `contents_markdown()` and `contents_html()` take a content, a turn, a list of turns or a chat.
For a content class of your own, register what it looks like:

    @contents_html.register(MyResult)
    def _(content: MyResult) -> str: ...

What a function returns None for is not shown. A tool's request and what it told the model are the model's
business (HTML shows them folded); the images it returned are shown.
"""

from ._card import ToolResultDisplay
from .files import export
from .html import contents_html
from .markdown import contents_markdown
from .text import contents_text

__all__ = ["ToolResultDisplay", "contents_html", "contents_markdown", "contents_text", "export"]
