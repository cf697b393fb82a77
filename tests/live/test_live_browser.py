"""The clients that may use the chat app, and the users' attachments."""

import asyncio
import re
import socket
from base64 import b64encode
from threading import Thread
from types import SimpleNamespace

import httpx
import pytest

pytest.importorskip("shinychat", reason="The chat app is an extra: ellmer-core[shiny].")
import uvicorn
from shiny import reactive

from ellmer_core import ContentImageInline, ContentPDF, ContentText, UsageError, chat_openai, live_browser
from ellmer_core.live.browser import OnlyFromHere, origins, serve
from ellmer_core.live.page import attached


async def hello(scope, receive, send):
    """Returns an app that answers ok to every request that reaches it."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})


ALLOWED = [
    ("127.0.0.1:8000", None, True),
    ("localhost:8000", "http://localhost:8000", True),
    ("127.0.0.1:8000", "http://127.0.0.1:8000", True),
    ("evil.example:8000", None, False),  # a name of its own for 127.0.0.1
    ("127.0.0.1:8000", "https://evil.example", False),
    ("127.0.0.1:8000", "http://127.0.0.1:9000", False),
    ("127.0.0.1:8000", "null", False),
]


@pytest.mark.parametrize(("host", "origin", "allowed"), ALLOWED)
def test_only_pages_of_this_address_get_through(host, origin, allowed):
    async def asked():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(OnlyFromHere(hello))) as client:
            headers = {"host": host} | ({"origin": origin} if origin else {})
            return await client.get("http://127.0.0.1:8000/", headers=headers)

    assert asyncio.run(asked()).status_code == (200 if allowed else 403)


@pytest.mark.parametrize(("host", "origin", "allowed"), ALLOWED)
def test_nor_may_others_open_a_websocket(host, origin, allowed):
    sent = []
    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]

    async def send(message):
        sent.append(message["type"])

    asyncio.run(OnlyFromHere(hello)({"type": "websocket", "headers": headers}, None, send))
    assert sent == ["websocket.accept" if allowed else "websocket.close"]


@pytest.mark.parametrize(
    ("mime", "name", "content"),
    [
        ("image/png", "cat.png", ContentImageInline("image/png", "YcO2")),
        ("application/pdf", "a.pdf", ContentPDF("application/pdf", "YcO2", "a.pdf")),
        ("application/pdf", "", ContentPDF("application/pdf", "YcO2")),
        ("text/csv", "a.csv", ContentText("a.csv:\n\naö")),
    ],
)
def test_what_people_attach_is_content(mime, name, content):
    data = b64encode("aö".encode()).decode()
    file = SimpleNamespace(mime=mime, name=name, data_url=f"data:{mime};base64,{data}")

    assert attached(file) == content
    assert name in str(getattr(attached(file), "extra", "")) or not isinstance(content, ContentImageInline)


@pytest.mark.parametrize("data", [b"a\0b", b"\xff\xfe"], ids=["a zero byte", "no UTF-8"])
def test_a_file_that_is_neither_media_nor_text_is_refused(data):
    url = f"data:application/octet-stream;base64,{b64encode(data).decode()}"
    file = SimpleNamespace(mime="application/octet-stream", name="a.bin", data_url=url)

    with pytest.raises(UsageError, match=re.escape("a.bin is not an image, a PDF or text.")):
        attached(file)


def test_hosts_of_images_are_origins():
    hosts = ["images.example.com", "http://127.0.0.1:8080", "https://a.test"]
    assert origins(hosts) == ["https://images.example.com", *hosts[1:]]


@pytest.mark.parametrize("host", ["a.test/cats", "ftp://a.test", "a b", "", "me@a.test"])
def test_what_is_no_host_of_images_is_refused(host):
    with pytest.raises(UsageError, match="image_hosts="):
        origins([host])


async def waits_for_shiny(scope, receive, send):
    """Lets several tasks wait for Shiny's lock, as several pages do."""

    async def locked():
        async with reactive.lock():
            await asyncio.sleep(0)

    if scope["type"] == "http":
        await asyncio.gather(*[locked() for _ in range(3)])
    await hello(scope, receive, send)


def test_one_process_serves_one_app_after_the_other(monkeypatch, capsys):
    def opened(address):
        Thread(target=lambda: answers.append(httpx.get(address)) or interrupt()).start()

    def interrupt():
        servers.pop().should_exit = True

    servers, answers, server = [], [], uvicorn.Server
    monkeypatch.setattr(uvicorn, "Server", lambda config: servers.append(server(config)) or servers[-1])
    monkeypatch.setattr("webbrowser.open", opened)
    for _ in range(2):
        serve(waits_for_shiny, 0, launch=True)

    assert [answer.status_code for answer in answers] == [200, 200]


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"Port {port} cannot be used: .*in use"):
            live_browser(chat_openai(model="m", api_key="k"), port, launch=False)
