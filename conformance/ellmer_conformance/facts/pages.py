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
        at: The rules for which it is evidence beside those that link to it: regular expressions for `"wire provider rule"` or
            `"wire provider rule feature"`.
        later: What a later page says against it; empty (default) if nothing does.
        doubted: The models at which the later page contradicts it: their answers are unknown.
        models: The models that the page is about: regular expressions. A rule about some models needs a page that is about them.
        named: The models that the page is about, in words.
        features: The features that the page shows, if the rule refuses more in the same words. Default: all.

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
    models: tuple[str, ...] = ()
    named: str = "another model"
    features: tuple[str, ...] = ()

    def names(self, subject: str) -> bool:
        """Tells whether the page names a field, a part or a value otherwise than in a list of what is possible.

        Args:
            subject: Its name.
        """
        told = _OTHERS.sub("", _plain(self.words))
        named = rf"(?<![\w-])(input_)?{re.escape(_stem(subject))}(_url)?(?![\w-]|\.\w)"
        return re.search(named, told) is not None

    def at_rule(self, where: str) -> bool:
        """Tells whether the page is evidence of a rule that does not link to it.

        Args:
            where: Wire format, provider, rule and feature, such as `"openai-chat openai REQ-101 top_k"`.
        """
        return any(re.fullmatch(rf"{at}|{at} \w+", where) for at in self.at)

    def about(self, model: str) -> bool:
        """Tells whether the page is about a model.

        Args:
            model: The name of the model.
        """
        return any(re.fullmatch(each, model) for each in self.models)

    def shows(self, words: str) -> bool:
        """Tells whether the page is about the field, the part or the value that a refusal names.

        Args:
            words: The refusal.
        """
        name, told = _stem(subject(words)), _plain(self.words)
        if not name or name in _WHOLE:
            asked = _common(words)
            same = SequenceMatcher(None, asked, _common(told), autojunk=False).get_matching_blocks()
            return bool(asked) and sum(each.size for each in same) >= _ALIKE * len(asked)
        if (refused := _possible(words)) and name not in (listed := _possible(told)) and refused <= listed:
            return True  # the API lists what it takes there, and this is not in the list
        return self.names(name) and bool(_LIMIT.search(words)) == bool(_LIMIT.search(told))


#: How much of a refusal that names nothing is on a page that is about the same.
_ALIKE = 0.75
#: A refusal of a value that is too long, too large or too small says nothing of the rest of the values.
_LIMIT = re.compile(
    r"too (long|short|large|many)|above max|below min|range|less than or equal|[Ee]xpected a value|inclusive"
)
#: What a refusal can name although it is about something in it.
_WHOLE = {"messages", "input", "contents", "content", "body"}


def _common(words: str) -> list[str]:
    """Returns the words of a refusal without ids, places and names of models."""
    return [each for each in re.findall(r"[\w.:/-]+", _plain(words)) if not re.search(r"\d|[.:/]\w", each)]


def _stem(name: str) -> str:
    """Returns the name of a part without what differs between formats: `video` for `video_url`."""
    return name.removeprefix("input_").removesuffix("_url")


#: What a refusal lists as possible.
_OTHERS = re.compile(r"(Supported values are|expected tags|, expected|must be one of|is none of).*")


def without_list(words: str) -> str:
    """Returns the words of a refusal without what they list as possible.

    Args:
        words: The refusal.
    """
    return _OTHERS.sub("", words)


def _possible(words: str) -> set[str]:
    """Returns the values that a refusal lists as possible."""
    listed = _OTHERS.search(_plain(words))
    return (
        set(re.findall(r"\w+(?:\.\w+)*", listed[0].partition(listed[1])[2])) - _CONNECTED if listed else set()
    )


_CONNECTED = {"and", "or"}


#: Where a refusal names what it refuses; the first that is found counts.
_NAMES = (
    r"Input tag '([^']+)'",
    r" of type '([^']+)'",
    r"unknown variant `([^`]+)`",
    r"content\.\d\.type' : '([^']+)' is none",
    r"content\.type: '([^']+)' is none",
    r'"extra_forbidden","loc":\[[^\]]*"([^"\]]+)"\]',
    r"(\w+): Extra inputs",
    r"^([\w.]+): Field required",
    r"\bat '([^']+)' failed to satisfy",
    r"(?:[Pp]arameter|name|property|[Vv]alue|Invalid):? ['\"`]([\w.]*[a-z_][\w.]*)['\"`]",
    r"(?:supplied:|support parameter|field: parameter) '?([\w.]*\w)",
    r"Unexpected role '(\w+)'",
    r"[Rr]ole '(\w+)' is not supported",
    r"(JSON mode|Function calling|Logprobs|Penalty|Audio input|Image input|Thinking level|`tool calling`) is not (?:enabled|supported)",
    r"response format `(\w+)`",
    r"model features ([\w ]+) not support",
    r"does(?: not|n't) support (?:the )?(thinking|citations|output format|tools|tool use|the video content block|s3Uri)",
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


def best(links: Iterable[str], where: str, words: str, model: str = "") -> tuple[str, Page | None]:
    """Returns the page to open for a refusal, with what was read there: one that is about the same, if there is one.

    Args:
        links: The pages that the rule links to, in their order.
        where: Wire format, provider, rule and feature, such as `"openai-chat openai REQ-101 top_k"`.
        words: The refusal.
        model: The model, if the rule is about some models: a page about it comes first. Default: it is about all.
    """
    known = pages()
    listed = list(dict.fromkeys([*links, *_at_rule(where)]))
    read = [known[link] for link in listed if link in known]
    page = min(read, key=lambda each: _rank(each, words, model), default=None)
    return (page.link if page else next(iter(listed), "")), page


@cache
def _at_rule(where: str) -> list[str]:
    return [each.link for each in pages().values() if each.at_rule(where)]


def _rank(page: Page, words: str, model: str) -> tuple[bool, bool, bool]:
    elsewhere = bool(model) and not page.about(model)
    return not _shows(page, words), elsewhere, not _names(page, words)


@cache
def _shows(page: Page, words: str) -> bool:
    return page.shows(words)


@cache
def _names(page: Page, words: str) -> bool:
    return page.names(subject(words) or "-")


@cache
def pages() -> dict[str, Page]:
    """Returns the pages that were read, by their address.

    Examples:
        >>> all(page.words for page in pages().values())
        True
    """
    told = tomllib.loads(files("ellmer_conformance.facts").joinpath("pages.toml").read_text("utf-8"))["page"]
    return {each["link"]: _page(each) for each in told}


def _page(told: dict[str, object]) -> Page:
    at, doubted, models, features = (
        _texts(told.get(name)) for name in ("at", "doubted", "models", "features")
    )
    link, words, day, later = (str(told.get(name, "")) for name in ("link", "words", "read", "later"))
    return Page(
        link, words, day, at, later, doubted, models, str(told.get("named", "another model")), features
    )


def _texts(told: object) -> tuple[str, ...]:
    return tuple(map(str, told)) if isinstance(told, list) else ()
