"""What was read on the pages that rules link to, and which of them shows the refusal that a cell is about.

A rule can rest on the refusal of something else by the same check: one validator refuses every field that it does not know. A cell
then links to the page that names its own field, if there is one, and says otherwise what the page shows. The pages are in `pages.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Page:
    """A page that was opened, or a recording.

    Args:
        link: Its address.
        words: The API's words that are on it.
        day: The day on which they were read, on the page or in a stored copy of it.
        at: The rules for which it is evidence beside those that link to it: regular expressions for `"wire provider rule"`.
        later: What a later page says against it; empty (default) if nothing does.
        doubted: The models at which the later page contradicts it: their answers are unknown.

    Examples:
        >>> Page("https://example.com", "Unknown parameter: 'n'.", "2026-11-28").shows("Unknown parameter: 'seed'.")
        False
    """

    link: str
    words: str
    day: str
    at: tuple[str, ...] = ()
    later: str = ""
    doubted: tuple[str, ...] = ()

    def shows(self, words: str) -> bool:
        """Tells whether the page is about the field, the part or the value that a refusal names.

        Args:
            words: The refusal.
        """
        name, told = _stem(subject(words)), _plain(self.words)
        if not name:
            return SequenceMatcher(None, _plain(words).split(), told.split()).ratio() >= _ALIKE
        told = _OTHERS.sub("", told)
        return re.search(rf"(?<![a-z-])(input_)?{re.escape(name)}(_url)?(?![\w-])", told) is not None


#: How alike two refusals are that name nothing, if they are about the same: the rest are names of models and ids.
_ALIKE = 0.5


def _stem(name: str) -> str:
    """Returns the name of a part without what differs between formats: `video` for `video_url`."""
    return name.removeprefix("input_").removesuffix("_url")


#: What a refusal lists as possible.
_OTHERS = re.compile(r"(Supported values are|expected tags|, expected|must be one of).*")


#: Where a refusal names what it refuses; the first that is found counts.
_NAMES = (
    r"Input tag '([^']+)'",
    r" of type '([^']+)'",
    r"unknown variant `([^`]+)`",
    r"content\.\d\.type' : '([^']+)' is none",
    r"content\.type: '([^']+)' is none",
    r'"extra_forbidden","loc":\[[^\]]*"([^"\]]+)"\]',
    r"(\w+): Extra inputs",
    r"\bat '([^']+)' failed to satisfy",
    r"(?:[Pp]arameter|name|property|[Vv]alue|Invalid):? ['\"`]([\w.]*[a-z_][\w.]*)['\"`]",
    r"(?:supplied:|support parameter|field: parameter) '?([\w.]*\w)",
)


def subject(words: str) -> str:
    """Returns the name of what a refusal is about, without the places in lists; an empty text if it names nothing.

    Args:
        words: The refusal.

    Examples:
        >>> subject("Invalid 'tools[0].function.name': string too long."), subject("Not supported.")
        ('tools.function.name', '')
    """
    plain = _plain(words)
    found = (re.search(each, plain) for each in _NAMES)
    return next((each[1] for each in found if each), "")


def _plain(words: str) -> str:
    return re.sub(r"\[\d+\]|\.\d+(?=\.|')", "", words)


def best(links: Iterable[str], where: str, words: str) -> tuple[str, Page | None]:
    """Returns the page to open for a refusal, with what was read there: one that is about the same, if there is one.

    Args:
        links: The pages that the rule links to, in their order.
        where: Wire format, provider and rule, such as `"openai-chat openai REQ-101"`.
        words: The refusal.
    """
    known = pages()
    more = [each.link for each in known.values() if any(re.fullmatch(at, where) for at in each.at)]
    listed = list(dict.fromkeys([*links, *more]))
    read = [known[link] for link in listed if link in known]
    page = next((each for each in read if each.shows(words)), next(iter(read), None))
    return (page.link if page else next(iter(listed), "")), page


@cache
def pages() -> dict[str, Page]:
    """Returns the pages that were read, by their address.

    Examples:
        >>> all(page.words for page in pages().values())
        True
    """
    told = tomllib.loads(files(__package__).joinpath("pages.toml").read_text("utf-8"))["page"]
    return {each["link"]: _page(each) for each in told}


def _page(told: dict[str, object]) -> Page:
    lists = {name: _texts(told.get(name)) for name in ("at", "doubted")}
    return Page(
        str(told["link"]), str(told["words"]), str(told["read"]), later=str(told.get("later", "")), **lists
    )


def _texts(told: object) -> tuple[str, ...]:
    return tuple(map(str, told)) if isinstance(told, list) else ()
