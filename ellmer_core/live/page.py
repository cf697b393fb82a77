"""An open page of the chat app. It shows the shared conversation and sends the user's actions."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import shinychat
from htmltools import HTML, Tag, TagList, tags
from shiny import Inputs, Session, reactive
from shinychat.types import ChatMessage

from .._chat.chat import Chat
from .._chat.error_messages import Explanation
from ..contents.content import Content, ContentImageInline, ContentPDF, ContentText, ContentToolRequest
from ..contents.turns import UserTurn
from ..conversation.approval import Decision
from ..errors import UsageError
from ..render.html import whole_page
from ..render.shinychat import contents_shinychat
from ..render.tool_card import card
from .shared_conversation import Answer, Question, Rated, Room, Trouble
from .stream_to_shinychat import Decided, ToolProgress


@dataclass(frozen=True)
class Offered:
    """What the program offers beside the conversation: models, choices of parameters, the thumbs under an answer, and a
    list of earlier conversations.
    """

    models: Sequence[str] = ()
    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    rated: Rated | None = None
    stored: bool = False


# --- parts -----------------------------------------------------------------------------------------------


def trouble_tag(error: Explanation, *, retry: bool = False) -> Tag:
    """Returns the box for an error: what happened, the provider's words, and the text for developers behind *Details*."""
    return tags.div(
        tags.p(tags.strong(error.words)),
        tags.p("The provider says: ", tags.q(error.quoted), class_="ellmer-detail") if error.quoted else None,
        tags.details(tags.summary("Details"), tags.p(error.detail, class_="ellmer-detail"))
        if error.detail
        else None,
        _button("Retry", "retry") if retry else None,
        _button("Edit", "edit") if retry else None,
        class_="ellmer-trouble",
        role="alert",
    )


#: What a call may do, by the annotation of its tool.
EFFECTS = {
    "destructive_hint": "It may delete or overwrite something.",
    "open_world_hint": "It connects to other services.",
    "read_only_hint": "It only reads.",
}


def question_tag(request: ContentToolRequest) -> Tag:
    """Returns the box for a call that needs a decision."""
    shown = card(request)
    description = request.tool.description if request.tool else ""
    notes = request.tool.annotations if request.tool else {}
    effects = " ".join(words for hint, words in EFFECTS.items() if notes.get(hint))
    return tags.div(
        tags.p(tags.strong(f"{shown.title}?"), " This call waits for your approval."),
        tags.p(description, class_="ellmer-detail") if description else None,
        tags.p(effects, class_="ellmer-detail") if effects else None,
        tags.label(
            "Arguments",
            tags.textarea(shown.arguments, rows=min(12, shown.arguments.count("\n") + 1), spellcheck="false"),
        ),
        tags.p("This is not a JSON object.", class_="ellmer-detail ellmer-wrong", role="alert", hidden=""),
        _button("Approve", "approve", primary=True, title="Approve (Ctrl+Enter)"),
        _button("Deny", "deny"),
        class_="ellmer-question",
        role="group",
        tabindex="-1",
        aria_label=f"Decide: {shown.title}",
        data_ellmer_question=request.id,
    )


def toolbar() -> TagList:
    """Returns the buttons for the conversation."""
    return TagList(
        _button("Undo", "undo", title="Undo the last exchange, or bring back the chat before New chat"),
        _button("Edit", "edit", title="Undo the last message, and edit it"),
        tags.span(class_="ellmer-apart"),
        _button("New chat", "new", title="Start over. Undo brings the messages back"),
    )


def status_bar() -> TagList:
    """Returns the bar for the model, the tokens and the cost, after what went wrong with the store."""
    return TagList(
        tags.div(id="ellmer-notice", class_="ellmer-notice", role="status"),
        tags.div(HTML("&nbsp;"), id="ellmer-status", class_="ellmer-status"),
    )


def conversations() -> Tag:
    """Returns the list of earlier conversations, which the page fills."""
    return tags.section(
        tags.h2("Conversations"),
        tags.input(
            type="search", placeholder="Search", aria_label="Search conversations", class_="form-control"
        ),
        tags.div(class_="ellmer-deleted", role="status"),
        tags.ul(id="ellmer-conversations"),
        _button("Download this conversation", "download"),
        class_="ellmer-conversations",
        aria_label="Conversations",
    )


def choices(offered: Offered) -> Tag | None:
    """Returns a list to choose from for the model and for each parameter; `None` if the program offers none."""
    lists = [_select("Model", "model", offered.models, None)] if offered.models else []
    for name, values in offered.settings.items():
        lists.append(_select(name.replace("_", " ").capitalize(), name, [str(v) for v in values], "default"))
    return tags.div(*lists, class_="ellmer-choices") if lists else None


def _select(label: str, name: str, values: Sequence[str], default: str | None) -> Tag:
    options = [tags.option(value, value=str(place)) for place, value in enumerate(values)]
    if default:
        options.insert(0, tags.option(default, value="-1"))
    return tags.label(
        label, tags.select(*options, data_ellmer_choice=name, class_="form-select form-select-sm")
    )


def status_text(chat: Chat) -> str:
    """Returns `claude-sonnet-5 · 1,204 tokens in, 88 out · $0.01`, without unknown parts."""
    rows, cost = chat.get_tokens(), chat.get_cost()
    parts = [chat.get_model()]
    if rows:
        into, out = (sum(row[name] or 0 for row in rows) for name in ("input", "output"))
        parts += [f"{into:,} tokens in, {out:,} out"] if into or out else []
    if rows and cost is not None:
        parts.append(f"${cost:.4f}" if cost < 0.1 else f"${cost:.2f}")
    return " · ".join(parts)


def _button(label: str, do: str, *, primary: bool = False, title: str | None = None) -> Tag:
    kind = "primary" if primary else "outline-secondary"
    return tags.button(label, type="button", class_=f"btn btn-sm btn-{kind}", data_ellmer=do, title=title)


# --- the page --------------------------------------------------------------------------------------------


class Page:
    """A page, from its opening to its end."""

    def __init__(
        self, room: Room, input: Inputs, session: Session, changed: reactive.Value[int], offered: Offered
    ) -> None:
        self.room = room
        self.offered = offered
        self.search = ""
        self.session = session
        self.changed = changed
        self.shown = shinychat.Chat("chat", history=False, on_error="actual")
        self.streaming = asyncio.Event()
        self.streaming.set()
        self.following: Answer | None = None
        self.blank = True
        self.cited = False  # whether the answer that was shown last names its sources
        room.enter(self)
        session.on_ended(lambda: room.leave(self))
        self._listen(input)

    def _listen(self, input: Inputs) -> None:
        @reactive.effect
        async def _() -> None:
            self.changed()
            with reactive.isolate():
                await self.draw()

        @reactive.effect
        async def _() -> None:
            if self.shown.latest_message_stream.status() == "success" and self.cited:
                with reactive.isolate():
                    await self._draw_marks()

        @self.shown.on_user_submit
        async def _(text: str, attachments: list[shinychat.Attachment]) -> None:
            await self.say(text, attachments)

        @reactive.effect
        @reactive.event(input.chat_cancel)
        def _() -> None:
            self.room.stop()

        @reactive.effect
        @reactive.event(input.ellmer_do)
        async def _() -> None:
            await self.do(input.ellmer_do())

    # what people do -----------------------------------------------------------------------------------------

    async def say(self, text: str, attachments: Sequence[shinychat.Attachment]) -> None:
        """Handles a message that was sent from this page."""
        try:
            contents: list[str | Content] = [*filter(None, [text]), *map(attached, attachments)]
        except UsageError as error:
            await self.draw()
            self.shown.update_user_input(value=text, focus=True)
            await self.shown.append_message(
                ChatMessage(trouble_tag(Explanation("This file cannot be sent.", detail=str(error))))
            )
            return
        await self.session.send_custom_message("ellmer-received", {})
        if self.room.say(contents, self):
            self._changed()
        else:  # another page was faster
            await self.draw()
            self.shown.update_user_input(value=text, focus=True)

    async def do(self, asked: Mapping[str, Any]) -> None:
        """Handles a pressed button: `{"do": "undo"}`."""
        actions: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "new": self._new,
            "undo": self._undo,
            "edit": self._edit,
            "retry": self._retry,
            "decide": self._decide,
            "draft": self._draft,
            "regenerate": self._regenerate,
            "switch": self._switch,
            "rate": self._rate,
            "download": self._download,
            "choose": self._choose,
            **dict.fromkeys(("open", "rename", "delete", "restore", "search"), self._in_list),
        }
        if action := actions.get(str(asked.get("do"))):
            await action(asked)

    async def _new(self, _asked: Mapping[str, Any]) -> None:
        await self._ended()
        self.room.clear()
        self._changed()

    async def _undo(self, _asked: Mapping[str, Any]) -> None:
        await self._ended()
        self.room.undo()
        self._changed()

    async def _edit(self, asked: Mapping[str, Any]) -> None:
        await self._ended()
        number = asked.get("exchange")
        failed = self.room.trouble or not self.room.chat.get_turns()
        if number is None and failed:
            inputs = self.room.undo()
        else:
            inputs = self.room.revise(len(self.room.exchanges()) - 1 if number is None else int(number))
        self._changed()
        texts = [getattr(content, "text", content) for content in inputs]
        files = [*contents_shinychat(UserTurn([c for c in inputs if isinstance(c, Content)])).attachments]
        self.shown.update_user_input(
            value="\n".join(text for text in texts if isinstance(text, str)),
            focus=True,
            attachments=files,
            attachment_mode="set",
        )

    async def _regenerate(self, asked: Mapping[str, Any]) -> None:
        await self._ended()
        self.room.regenerate(int(asked["exchange"]))
        self._changed()

    async def _switch(self, asked: Mapping[str, Any]) -> None:
        await self._ended()
        self.room.switch(int(asked["exchange"]), int(asked["by"]))
        self._changed()

    async def _rate(self, asked: Mapping[str, Any]) -> None:
        if self.offered.rated:
            self.room.rate(
                int(asked["exchange"]), {"up": True, "down": False}.get(asked["good"]), self.offered.rated
            )
            await self._status()

    async def _download(self, _asked: Mapping[str, Any]) -> None:
        title = next((each.title for each in self.room.earlier() if each.id == self.room.id), "Chat")
        page: dict[str, object] = {"title": title, "html": whole_page(self.room.chat, title)}
        await self.session.send_custom_message("ellmer-download", page)

    async def _choose(self, asked: Mapping[str, Any]) -> None:
        chat, name, place = self.room.chat, str(asked["name"]), int(asked["place"])
        if name == "model" and 0 <= place < len(self.offered.models):
            chat.set_model(self.offered.models[place])
        elif name in self.offered.settings:
            others = {key: value for key, value in chat.get_params().items() if key != name}
            values = self.offered.settings[name]
            chat.set_params({**others, name: values[place]} if 0 <= place < len(values) else others)
        await self._status()

    async def _in_list(self, asked: Mapping[str, Any]) -> None:
        """Searches, opens, renames, deletes or brings back a conversation."""
        room, id = self.room, str(asked.get("id"))
        match asked["do"]:
            case "search":
                self.search = str(asked["text"])
            case "rename":
                room.rename(id, str(asked["title"]))
            case "restore":
                room.delete(id, deleted=False)
            case "delete":
                room.delete(id)
        if (opened := asked["do"] == "open") or (asked["do"] == "delete" and id == room.id):
            await self._ended()
            room.open(id) if opened else room.clear()
            self._changed()
        else:
            await self._status()

    async def _retry(self, _asked: Mapping[str, Any]) -> None:
        if self.room.retry():
            self._changed()

    async def _decide(self, asked: Mapping[str, Any]) -> None:
        arguments = asked.get("arguments")
        try:
            edited = None if arguments is None else json.loads(arguments)
        except ValueError:
            return  # the page reports this before it sends them
        if edited is None or isinstance(edited, dict):
            self.room.decide(str(asked.get("call")), Decision(bool(asked.get("approved")), edited))

    async def _draft(self, asked: Mapping[str, Any]) -> None:
        self.shown.update_user_input(value=str(asked.get("text")), focus=True)

    async def _ended(self) -> None:
        self.room.stop()
        await self.room.idle()

    def _changed(self) -> None:
        """Redraws the conversation on all pages."""
        with reactive.isolate():
            self.changed.set(self.changed() + 1)

    # what is shown ------------------------------------------------------------------------------------------

    async def draw(self) -> None:
        """Shows the messages and the answer in progress. The page that sent the question shows it already."""
        answer = self.room.answer
        if answer is None or answer.asker is not self or self.following is answer:
            await self._draw_all(answer)
        await self._status()
        if answer and self.following is not answer:
            self.following = answer
            await self.shown.append_message_stream(self._follow(answer))

    async def _draw_all(self, answer: Answer | None) -> None:
        await self.streaming.wait()
        if not self.blank:  # somebody may be faster than the first time, and what was typed is there already
            await self.shown.clear_messages()
        self.blank = False
        for message in self.room.messages():
            await self.shown.append_message(message)
        trouble = self.room.trouble
        unanswered = answer or trouble
        inputs = unanswered.inputs if unanswered else ()
        if inputs and not (trouble and len(self.room.chat.get_turns()) > trouble.place):
            await self.shown.append_message(contents_shinychat(UserTurn(list(inputs))))
        if trouble:
            await self.shown.append_message(ChatMessage(trouble_tag(trouble.error, retry=True)))

    async def _draw_marks(self) -> None:
        """Redraws an answer whose sources arrived after it, with their marks in the text."""
        self.cited = False
        if not self.room.answer:
            await self._draw_all(None)

    async def _follow(self, answer: Answer) -> AsyncGenerator[Any, None]:
        self.streaming.clear()
        try:
            async for event in answer.follow():
                match event:
                    case ToolProgress() | Decided():
                        await event.tell()
                    case Question():
                        if not event.answer.done():
                            yield question_tag(event.request)
                    case Trouble():
                        yield trouble_tag(event.error, retry=True)
                    case _:
                        self.cited = self.cited or bool(getattr(event, "citations", ()))
                        yield event
            await self._status()
        finally:
            self.streaming.set()

    async def _status(self) -> None:
        """Tells the page what stands around the messages."""
        room, offered = self.room, self.offered
        chosen = {
            name: values.index(wanted) if (wanted := room.chat.get_params().get(name)) in values else -1
            for name, values in offered.settings.items()
        }
        if (model := room.chat.get_model()) in offered.models:
            chosen["model"] = offered.models.index(model)
        state: dict[str, object] = {
            "text": status_text(room.chat),
            "notice": room.notice,
            "exchanges": [] if room.answer else [asdict(each) for each in room.exchanges()],
            "rated": offered.rated is not None,
            "chosen": chosen,
            "conversations": [asdict(each) for each in room.earlier(self.search)] if offered.stored else [],
            "open": room.id,
        }
        await self.session.send_custom_message("ellmer-status", state)


def attached(file: shinychat.Attachment) -> Content:
    """Returns a file of the user as content: an image, a PDF, or text with its name."""
    data = file.data_url.partition("base64,")[2]
    if file.mime.startswith("image/"):
        return ContentImageInline(file.mime, data, {"filename": file.name} if file.name else {})
    if file.mime == "application/pdf":
        return ContentPDF(file.mime, data, file.name or "document.pdf")
    try:
        return ContentText(f"{file.name}:\n\n{_text(b64decode(data))}")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file.name or 'The file'} is not an image, a PDF or text. Only these can be sent."
        ) from error


def _text(data: bytes) -> str:
    if b"\0" in data:
        raise UnicodeDecodeError("utf-8", data, 0, 1, "text contains no zero bytes")
    return data.decode("utf-8")
