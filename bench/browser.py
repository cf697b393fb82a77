"""Measures the chat app while an answer of 2,000 chunks streams into it: how long a frame of the page takes.

It needs chromium, or a Chrome that `CHROMIUM` names. Exit code 1 if the target is missed.
"""

# ruff: noqa: T201 - it prints
from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from statistics import quantiles
from typing import Any

import uvicorn
from playwright.sync_api import Page, sync_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

import ellmer_core as ec

CHUNKS = 2000
PAUSE = 0.005  # seconds between two chunks: 200 a second, faster than models speak
TARGET = 50.0  # milliseconds of a frame, at the 95th percentile
SECTION = (
    "## Part {n}\n\nA **paragraph** with `code` and a [link](https://example.com), as models write them, on and on.\n\n"
    "1. one thing\n2. another thing\n\n```python\nfor row in rows:\n    print(row)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
)
FRAMES = """() => {
    window.frames_ = [];
    let last = performance.now();
    const next = () => { const now = performance.now(); window.frames_.push(now - last); last = now; requestAnimationFrame(next); };
    requestAnimationFrame(next);
}"""


def run(_options: Namespace) -> int:
    """Prints one line and returns the exit code."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with serving(Starlette(routes=[Route("/chat/completions", answer, methods=["POST"])])) as model:
        chat = ec.chat_openai_completions(base_url=model, api_key="none", model="m", echo="none")
        with serving(ec.chat_app(chat)) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 900, "height": 900})
            page.goto(address)
            frames = streamed(page)
            browser.close()
    half, nearly_all = quantiles(frames, n=2)[0], quantiles(frames, n=20)[-1]
    verdict = "ok" if nearly_all <= TARGET else "MISSED"
    print(
        f"{CHUNKS} chunks, {len(frames)} frames: median {half:.0f} ms, 95th percentile {nearly_all:.0f} ms  ≤ {TARGET:.0f} ms  {verdict}"
    )
    return int(nearly_all > TARGET)


def streamed(page: Page) -> list[float]:
    """Returns the milliseconds of each frame from the question to the end of the answer."""
    box = page.get_by_role("textbox", name="Chat message")
    box.fill("Tell me all of it")
    page.evaluate(FRAMES)
    box.press("Enter")
    while not page.evaluate("document.querySelector('[role=log]').textContent.includes('The end.')"):
        page.wait_for_timeout(500)
    found: list[float] = page.evaluate("window.frames_")
    return found


async def answer(_request: Request) -> StreamingResponse:
    """Returns the model: 2,000 chunks of Markdown."""
    return StreamingResponse(events(), media_type="text/event-stream")


async def events() -> AsyncIterator[bytes]:
    """Yields the answer, a few characters at a time."""
    text = "".join(SECTION.format(n=n) for n in range(60))
    size = len(text) // CHUNKS
    for place in range(CHUNKS - 1):
        yield event({"content": text[place * size : (place + 1) * size]})
        await asyncio.sleep(PAUSE)
    yield event({"content": "\n\nThe end."})
    yield event({}, "stop")
    yield b"data: [DONE]\n\n"


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """Returns one chunk of the stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "1", "model": "m", "choices": [choice]}).encode() + b"\n\n"


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Yields the address of a served app."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
