"""The turns of a request, made from the history in five steps: the caller's hooks, repairs of turns from elsewhere, downloaded
images, expired uploads, and descriptions of content that the model does not accept. The history does not change. It does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import NamedTuple, TypeVar

from ..base.log import warn
from ..contents import content as ours
from ..contents.content import replaced
from ..contents.turns import NO_LINKS, AssistantTurn, SystemTurn, Turn, UserTurn, are_linked, not_plain
from ..errors import ConnectError, ContentError, UsageError
from ..tools.results import described, result_text
from ..wire.base import Wire
from ..wire.shared.json_objects import json_text
from .history import History
from .io_operations import Clock, Fetch, Loop
from .repaired_turns import repaired
from .request_cache import shared_start
from .settings import Settings

# --- The steps -------------------------------------------------------------------------------------------


def request_turns(history: History, settings: Settings, user: UserTurn | None) -> Loop[Sendable]:
    """Returns the history and the new turn in the form for the model, and the contents that are left out."""
    said = [*history.turns, *filter(None, [user])]
    turns, special = _whole(_selected(said, settings) if settings.on_history else said, history, settings)
    before = len(turns) - (user is not None)
    special = [place for place in special if place < before]
    missed = (yield from _fetch_images(settings, turns, turns[before:])) if settings.fetch else []
    if settings.fetched:
        turns = [inlined(turn, settings.fetched) for turn in turns]
    parts = _parts([*(turns[place] for place in special), *turns[before:]])
    uploads = [part for part in parts if isinstance(part, ours.ContentUploaded)]
    if uploads and expiring(uploads):
        now: float = yield Clock(wall=True)
        turns = [sent_along(turn, now) for turn in turns]
    wire = settings.wire
    if wire.profile.many_images:
        wire, older = for_images_of(wire, [*(turns[place] for place in special), *turns[before:]])
        if older:
            turns = [without_images(turn, missed) if id(turn) in older else turn for turn in turns]
    new, tools = turns[-1] if user else None, tuple(settings.tools.values())
    sent = sendable_to(wire, turns, special, new, tools, describes=settings.describes)
    return sent._replace(replaced=[*sent.replaced, *missed]) if missed else sent


def _selected(said: list[Turn], settings: Settings) -> list[Turn]:
    """Returns the turns after the caller's hooks. The new message always goes out: a hook may change it, but not leave it out."""
    *older, new = turns = said
    for change in settings.on_history:
        turns = list(change(list(turns)))
        if wrong := next((turn for turn in turns if not isinstance(turn, Turn)), None):
            raise UsageError(f"A callback of on_history() returns turns, not {type(wrong).__name__}.")
    last = turns[-1] if turns else None
    is_new = isinstance(last, UserTurn) and not any(last is turn for turn in older)
    return turns if is_new or not isinstance(new, UserTurn) else [*turns, new]


def _whole(turns: list[Turn], history: History, settings: Settings) -> tuple[list[Turn], list[int]]:
    """Returns turns that every format can send, without the attachments that the provider refused, and the places of those that are
    not plain. Only the turns that were not in the request before are looked at.
    """
    if settings.plain:
        turns = [settings.plain[id(turn)][1] if id(turn) in settings.plain else turn for turn in turns]
    before, special = history.whole
    known = shared_start(before, turns)
    after = (known and turns[known - 1].links) or NO_LINKS
    if not are_linked(turns[known:], after):
        whole = repaired(turns)
        warn_repaired(settings, whole.named)
        return whole.turns, not_plain(whole.turns)
    special = [place for place in special if place < known]
    special += [known + place for place in not_plain(turns[known:])]
    history.whole = turns, special
    return turns, special


def _fetch_images(settings: Settings, turns: Sequence[Turn], new: Sequence[Turn]) -> Loop[list[str]]:
    """Fetches the images that the API does not download, each once, if the caller allows it. Returns the images that
    failed, with the reason. Raises `ContentError` for an image in the user's new message.
    """
    wanted = unfetched(settings.wire, turns)
    for url in wanted:
        if url not in settings.fetched:
            try:
                settings.fetched[url] = yield Fetch(url)
            except (UsageError, ConnectError) as error:
                settings.fetched[url] = str(error)
    missed = {url: why for url in wanted if isinstance(why := settings.fetched[url], str)}
    images = [c for turn in new for c in turn.contents if isinstance(c, ours.ContentImageRemote)]
    if here := next((image.url for image in images if image.url in missed), ""):
        raise ContentError(f"The image was not fetched: {settings.fetched.pop(here)}")
    return [f"{url} (it was not fetched: {why})" for url, why in missed.items()]


def warn_replaced(settings: Settings, replaced: Sequence[str]) -> None:
    """Warns the caller of content that the model gets only as a description, once for each chat and medium."""
    if new := [description for description in dict.fromkeys(replaced) if description not in settings.warned]:
        settings.warned.update(new)
        warn(
            f"{settings.wire.provider}'s {settings.wire.model} was not sent {', '.join(new)}; a description was sent instead."
        )


def warn_repaired(settings: Settings, named: Sequence[str]) -> None:
    """Warns the caller of what is sent in another form than it has in the history, once for each chat."""
    if new := [what for what in named if what not in settings.warned]:
        settings.warned.update(new)
        warn(
            f"The conversation has {', '.join(new)}. No provider accepts that, so it is sent in another form. get_turns() "
            f"has the original."
        )


# --- Images by URL, for an API that downloads none -------------------------------------------------------


Fetched = Mapping[str, ours.ContentImageInline | str]


def unfetched(wire: Wire, turns: Sequence[Turn]) -> list[str]:
    """Returns the URLs of images, from users and in results, that the API does not download."""
    remote = (image for turn in turns if isinstance(turn, UserTurn) for image in _images(turn.contents))
    return list(dict.fromkeys(image.url for image in remote if not wire.fetches_from(image.url)))


def inlined(turn: Turn, fetched: Fetched) -> Turn:
    """Returns the turn with the bytes of the images that were fetched."""
    if not isinstance(turn, UserTurn) or not any(image.url in fetched for image in _images(turn.contents)):
        return turn
    return UserTurn([_inlined(content, fetched) for content in turn.contents])


def _images(contents: Sequence[ours.Content]) -> Iterator[ours.ContentImageRemote]:
    for content in contents:
        for item in (
            ours.contents_in(content.value) if isinstance(content, ours.ContentToolResult) else [content]
        ):
            if isinstance(item, ours.ContentImageRemote):
                yield item


def _inlined(content: ours.Content, fetched: Fetched) -> ours.Content:
    match content:
        case ours.ContentImageRemote(url=url):
            return image if isinstance(image := fetched.get(url), ours.ContentImageInline) else content
        case ours.ContentToolResult(value=inner):
            return replaced(content, value=ours.mapped(inner, lambda c, _path: _inlined(c, fetched)))
    return content


# --- Files that the provider has deleted -----------------------------------------------------------------


T = TypeVar("T", bound=Turn)

EARLY = 60.0  # seconds: a file that is about to go may be gone when the provider looks for it


def expiring(uploads: Iterable[ours.ContentUploaded]) -> bool:
    """Tells whether a file expires that could be sent itself."""
    return any(
        isinstance(file.source, ours.Content) and isinstance(file.expires_at, float | int) for file in uploads
    )


def sent_along(turn: T, now: float) -> T:
    """Returns the turn with the files themselves that have expired by now (Unix time)."""
    contents = tuple(_content_at(content, now) for content in turn.contents)
    same = all(new is old for new, old in zip(contents, turn.contents, strict=True))
    return turn if same else replace(turn, contents=contents)


def _content_at(content: ours.Content, now: float) -> ours.Content:
    """Returns the content for a request at a time: the file itself if its provider has deleted it and its bytes are
    known. A result is the same object if nothing in it changes.
    """
    match content:
        case ours.ContentUploaded(source=ours.Content() as source, expires_at=float() | int() as expires_at):
            return source if expires_at - EARLY <= now else content
        case ours.ContentToolResult(value=value) if any(
            _content_at(c, now) is not c for c in ours.contents_in(value)
        ):
            return replaced(content, value=ours.mapped(value, lambda c, _path: _content_at(c, now)))
    return content


# --- Content that the model does not accept --------------------------------------------------------------


class Sendable(NamedTuple):
    """The turns to send, the descriptions that replace content in them, and the wire that they are for."""

    turns: list[Turn]
    replaced: list[str]
    wire: Wire


def for_images_of(wire: Wire, turns: Iterable[Turn]) -> tuple[Wire, frozenset[int]]:
    """Returns the wire for a request with the images of these turns, and the ids of turns whose images are left out. Some models take
    only smaller images if there are many. If a large one is among the newest, these are sent, and all that are older are left out.
    """
    if not wire.profile.many_images:
        return wire, frozenset()
    most, pixels = wire.profile.many_images
    turns = list(turns)
    images = [_images_of(turn) for turn in turns]
    if sum(map(len, images)) <= most:
        return wire, frozenset()
    newest = sum(count <= most for count in accumulate(map(len, reversed(images))))
    smaller, first = replace(wire, profile=replace(wire.profile, pixels=pixels)), len(turns) - newest
    if any(smaller.refuses(image) > wire.refuses(image) for image in chain.from_iterable(images[first:])):
        return wire, frozenset(map(id, turns[:first]))
    return smaller, frozenset()


def _images_of(turn: Turn) -> list[ours.Content]:
    return [part for part in _parts([turn]) if isinstance(part, ours.ContentImage | ours.ContentUploaded)]


def without_images(turn: Turn, replaced: list[str]) -> Turn:
    """Returns a turn of the user with words for its images, in results, too."""
    if not isinstance(turn, UserTurn) or not _images_of(turn):
        return turn
    replaced.append("the oldest images (a request with large images may have only a few)")
    return UserTurn([_without_image(content, "user gave") for content in turn.contents])


def _without_image(content: ours.Content, who: str) -> ours.Content:
    match content:
        case ours.ContentImage():
            return ours.ContentText(f"[The {who} an image here, which is not shown any more.]")
        case ours.ContentToolResult(value=value):
            return replaced(
                content, value=ours.mapped(value, lambda c, _path: _without_image(c, "tool returned"))
            )
    return content


def _parts(turns: Iterable[Turn]) -> list[ours.Content]:
    """Returns the contents of turns, and those in results."""
    special = [turn for turn in turns if not turn.is_plain]  # nearly all turns have texts only
    values = [
        c.value if isinstance(c, ours.ContentToolResult) else c for turn in special for c in turn.contents
    ]
    return list(ours.contents_in(values)) if values else []


def sendable_to(
    wire: Wire,
    turns: list[Turn],
    special: Iterable[int],
    new: Turn | None,
    tools: Sequence[ours.ToolDef],
    *,
    describes: bool = False,
) -> Sendable:
    """Returns a conversation that this model accepts. Only the `special` turns, by place, may need a replacement. The
    user's `new` content, in the last turn, stays the same, and the wire refuses it, unless it `describes` that, too.

    Raises `UsageError` for tools if the model cannot call them.
    """
    if tools and not wire.profile.tools:
        names = ", ".join(tool.name for tool in tools)
        instead = f" {wire.profile.instead}" if wire.profile.instead else ""
        raise UsageError(
            f"{wire.provider}'s {wire.model} does not support tools: do not register {names} here.{instead}"
        )
    replaced: list[str] = []
    sent = list(turns) if special or describes else turns
    for place in special:
        if not isinstance(turns[place], SystemTurn | AssistantTurn):
            sent[place] = _turn(wire, turns[place], replaced)
    if new is not None and describes:
        sent[-1] = _turn(wire, new, replaced)
    elif new is not None:
        _name_results(wire, new, replaced)
    if not wire.profile.tools:
        sent = list(map(_without_calls, sent))
    if not wire.profile.system:
        sent = _without_system(sent)
    return Sendable(sent, replaced, wire)


def _turn(wire: Wire, turn: Turn, replaced: list[str]) -> Turn:
    """Returns the user's turn, or a copy with descriptions of the content that the model does not accept."""
    _name_results(wire, turn, replaced)
    contents = [_content(wire, content, replaced) for content in turn.contents]
    same = all(new is old for new, old in zip(contents, turn.contents, strict=True))
    return turn if same else UserTurn(contents)


def as_sent(wire: Wire, turn: Turn) -> Turn:
    """Returns a turn as the model gets it, for people. It raises nothing."""
    if not isinstance(turn, UserTurn) or turn.is_plain:
        return turn
    return UserTurn(wire.pointed([_printed(wire, content) for content in turn.contents], printed=True))


def _printed(wire: Wire, content: ours.Content) -> ours.Content:
    """Returns a content of the user as the model gets it: described, or a document as its text where that is what is sent."""
    sent = _content(wire, content, [])
    as_text = isinstance(sent, ours.ContentFile) and sent.text and not sent.fault and not wire.file(sent)
    return wire.as_sent(sent) if as_text else sent


def conversation_as_sent(wire: Wire, turns: Sequence[Turn]) -> list[Turn]:
    """Returns the turns of a conversation as the model gets them, for people."""
    whole = repaired(turns).turns
    wire, older = for_images_of(wire, whole)
    return [as_sent(wire, without_images(turn, []) if id(turn) in older else turn) for turn in whole]


def accepts(wire: Wire, turn: Turn | None) -> bool:
    """Tells whether the model accepts the user's contents in a turn."""
    lost: list[str] = []
    for content in turn.contents if turn else ():
        _content(wire, content, lost)
    return not lost


def _content(wire: Wire, content: ours.Content, replaced: list[str]) -> ours.Content:
    why = "" if isinstance(content, ours.ContentText | ours.ContentToolResult) else _objection(wire, content)
    if not why:
        return content
    replaced.append(f"{_name(content)} of the user ({why})")
    return ours.ContentText(f"[The user gave {_name(content)} here, which this model cannot be shown.]")


def _objection(wire: Wire, content: ours.Content) -> str:
    if why := wire.objection(content):
        return why
    if isinstance(content, ours.ContentToolRequest):
        return "only an answer holds calls"
    try:
        if wire.refuses(content):
            return "the model does not accept it"
        wire.content(wire.as_sent(content))
    except ContentError as error:
        return str(error)
    return ""


def _name_results(wire: Wire, turn: Turn, replaced: list[str]) -> None:
    """Names the content of results that the model does not accept, for the warning. The results describe it
    themselves.
    """
    for result in turn.contents:
        if isinstance(result, ours.ContentToolResult) and result.error is None:
            media = [item for item in ours.contents_in(result.value) if wire.refuses(item)]
            replaced += [
                f"{_name(m)} of a tool ({wire.objection(m) or 'the model does not accept it'})" for m in media
            ]


def _without_calls(turn: Turn) -> Turn:
    """Describes calls and results of another model as text, for a model without tools."""
    if not any(
        isinstance(content, ours.ContentToolRequest | ours.ContentToolResult) for content in turn.contents
    ):
        return turn
    contents = [_as_text(content) for content in turn.contents]
    return UserTurn(contents) if isinstance(turn, UserTurn) else AssistantTurn(contents)


def _as_text(content: ours.Content) -> ours.Content:
    match content:
        case ours.ContentToolRequest(name=name, arguments=arguments):
            return ours.ContentText(f"[The tool {name} was called with {json_text(dict(arguments))}.]")
        case ours.ContentToolResult() as result:
            [named] = described([result])
            assert isinstance(named, ours.ContentToolResult)
            return ours.ContentText(f"[The tool returned:] {result_text(named)}")
    return content


def _name(content: ours.Content) -> str:
    match content:
        case ours.ContentPDF():
            return "a PDF document"
        case ours.ContentImageRemote(url=url):
            return f"an image at {url}"
        case ours.ContentUploaded():
            return "an uploaded file"
        case ours.ContentFile() as file:
            return f"a file ({file.type})"
        case _:
            return "an image" if ours.is_media(content) else f"a {type(content).__name__}"


def _without_system(turns: Sequence[Turn]) -> list[Turn]:
    """Returns the turns with the system prompt at the beginning of the first user message, for a model without system
    prompts.
    """
    system = [content for turn in turns if isinstance(turn, SystemTurn) for content in turn.contents]
    rest = [turn for turn in turns if not isinstance(turn, SystemTurn)]
    first = next((n for n, turn in enumerate(rest) if isinstance(turn, UserTurn)), None)
    if not system or first is None:
        return rest
    return [*rest[:first], UserTurn((*system, *rest[first].contents)), *rest[first + 1 :]]
