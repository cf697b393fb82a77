"""The store of conversations, and a conversation with versions, without a browser."""

import asyncio
import stat

import pytest

pytest.importorskip("shinychat", reason="The chat app is an extra: ellmer-core[shiny].")
from ellmer_core import AssistantTurn, UsageError, UserTurn, chat_app, chat_openai
from ellmer_core.live.browser import look_of
from ellmer_core.live.conversation_store import Store
from ellmer_core.live.shared_conversation import Room


def chat(*texts):
    made = chat_openai(model="m", api_key="k")
    made.set_turns([(AssistantTurn if n % 2 else UserTurn)(text) for n, text in enumerate(texts)])
    return made


def texts(room):
    return [turn.text for turn in room.chat.get_turns()]


def test_users_have_their_own_and_a_search_finds_any_case(tmp_path):
    store = Store(tmp_path)
    store.save("ann", "1", "Rye", "Straße 50%", {})
    store.save("bob", "1", "Wheat", "field", [1])
    store.rename("ann", "1", "Cereals")
    store.save("ann", "1", "Rye", "STRASSE 50%", {"new": 1})

    assert [each.title for each in store.listed("ann", "straSSe 50%")] == ["Cereals"]
    assert store.listed("ann", "50_") == store.listed("ann", "field") == []
    assert (store.load("ann", "1"), store.load("bob", "1"), store.load("eve", "1")) == ({"new": 1}, [1], None)
    store.delete("ann", "1")
    assert (store.listed("ann"), store.load("ann", "1")) == ([], None)
    store.delete("ann", "1", deleted=False)
    assert store.load("ann", "1") == {"new": 1}
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_a_store_that_cannot_be_opened_is_named(tmp_path):
    (tmp_path / "chats.sqlite").write_bytes(b"no database" * 999)
    with pytest.raises(UsageError, match=r"chats\.sqlite' cannot be opened"):
        chat_app(chat(), store=tmp_path / "chats.sqlite")


def test_an_unanswered_message_and_all_versions_are_restored(tmp_path):
    store = Store(tmp_path / "new" / "chats.db")
    room = Room(chat("One", "1", "Two", "2"), store)
    assert [content.text for content in room.revise(1)] == ["Two"]
    room.chat.set_turns([*room.chat.get_turns(), UserTurn("Two"), AssistantTurn("two")])
    room.save(["Three"])

    again = Room(chat(), Store(tmp_path / "new" / "chats.db"))
    assert texts(again) == ["One", "1", "Two", "two"]
    assert again.trouble.inputs[0].text == "Three"
    assert [(each.version, each.versions) for each in again.exchanges()] == [(1, 1), (2, 2)]
    again.switch(1, -1)
    assert texts(again) == ["One", "1", "Two", "2"]
    again.switch(1, -1)
    again.switch(7, 1)
    assert texts(again) == ["One", "1", "Two", "2"]
    assert texts(Room(chat(), store)) == ["One", "1", "Two", "2"]


def test_an_edit_and_a_new_chat_can_be_undone():
    room = Room(chat("One", "1", "Two", "2"))
    room.revise(0)
    assert texts(room) == []
    room.undo()
    assert texts(room) == ["One", "1", "Two", "2"]
    room.clear()
    room.clear()
    room.undo()
    assert texts(room) == ["One", "1", "Two", "2"]


def test_what_cannot_be_saved_is_said(tmp_path):
    store = Store(tmp_path)
    room = Room(chat("One", "1"), store)
    store._connection.close()
    room.save()

    assert room.notice.startswith("This conversation is not being saved.")


def test_a_rating_goes_to_the_program_with_its_answer():
    told = []
    room = Room(chat("One", "1", "Two", "2"), user="ann")
    for number, good in ((0, False), (1, True), (2, True)):
        room.rate(number, good, lambda turn, good, user: told.append((turn.text, good, user)))

    assert told == [("1", False, "ann"), ("2", True, "ann")]
    assert [each.good for each in room.exchanges()] == [False, True]


@pytest.mark.slow
def test_a_page_without_its_proxy_or_from_elsewhere_is_refused():
    async def status(*headers):
        sent = []
        scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"a.test"), *headers]}

        async def send(message):
            sent.append(message["type"])

        await chat_app(chat(), user_header="X-User")(scope, None, send)
        return sent

    for headers in ([], [(b"x-user", b"ann"), (b"origin", b"https://evil.test")], [(b"x-user", b"")]):
        assert asyncio.run(status(*headers)) == ["websocket.close"]


@pytest.mark.parametrize(
    ("brand", "words"),
    [
        ({"colour": "red"}, "not colour"),
        ({"color": "red;}"}, "#0a7cff"),
        ({"logo": "a.exe"}, "image"),
        ({"logo": "no.png"}, "read"),
    ],
)
def test_a_brand_is_checked(brand, words):
    with pytest.raises(UsageError, match=words):
        look_of("Chat", None, brand)
