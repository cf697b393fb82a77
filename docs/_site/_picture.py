"""Makes docs/images/strict-server.gif: the strict server's page while a client sends requests (`nox -s picture`).

Everything is real: a strict server on this machine, its page in Chromium, and HTTP requests. strict-server.png and, cropped,
social-card.png show the refused request in a wide window. marked-message.png and marked-message-phone.png show the refused
request in a narrow window, with two pixels for each of the page's, so that it can be read in the README, and
marked-message-dark.png and marked-message-phone-dark.png do so in dark mode.
"""

from __future__ import annotations

import os
import shutil
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any, Literal

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from ellmer_conformance.server import StrictServer

IMAGES = Path(__file__).parents[1] / "images"
WIDE: ViewportSize = {"width": 1240, "height": 900}
ANIMATED: ViewportSize = {"width": 700, "height": 560}  # the README shows it in 660 pixels
CARD = (1200, 630)
#: The widths in which the README shows the refused request, by file, and what is added to the name in each scheme of colours.
WIDTHS = {"marked-message": 700, "marked-message-phone": 380}
SCHEMES: dict[Literal["light", "dark"], str] = {"light": "", "dark": "-dark"}
PAUSE = 2200  # milliseconds of a frame

Message = dict[str, Any]

CALL = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
BEGUN: list[Message] = [
    {"role": "system", "content": "You are a weather agent."},
    {"role": "user", "content": "What is the weather in Oslo?"},
]
CALLED: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": CALL}],
}
ANSWERED: list[Message] = [
    {"role": "tool", "tool_call_id": "call_1", "content": "-3 °C, snow"},
    {"role": "user", "content": "And tomorrow?"},
]

#: The requests in turn: the client shortens the history between a call and its result, and then keeps both.
REQUESTS: tuple[list[Message], ...] = (
    BEGUN,
    [BEGUN[0], *ANSWERED],
    [*BEGUN, CALLED, *ANSWERED],
)


def main() -> None:
    """Takes the frames and writes the seven files."""
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with StrictServer() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for (name, width), scheme in product(WIDTHS.items(), SCHEMES):
            narrow = browser.new_page(
                viewport={"width": width, "height": 1000},
                device_scale_factor=2,
                reduced_motion="reduce",
                color_scheme=scheme,
            )
            narrow.goto(server.origin)
            sent(narrow, server.origin, REQUESTS[1])
            message(narrow).save(IMAGES / f"{name}{SCHEMES[scheme]}.png", optimize=True)
        save(frames(browser, ANIMATED), refused=frames(browser, WIDE)[1])
        browser.close()


def frames(browser: Browser, size: ViewportSize) -> list[Image.Image]:
    """Returns the page of a new server after each request."""
    with StrictServer() as server:
        page = browser.new_page(viewport=size, reduced_motion="reduce")
        page.goto(server.origin)
        return [sent(page, server.origin, messages) for messages in REQUESTS]


def sent(page: Page, origin: str, messages: list[Message]) -> Image.Image:
    """Sends a request, waits until the page shows it, and takes a frame."""
    before = page.locator("article").count()
    body = {"model": "gpt-4.1", "messages": messages}
    headers = {"authorization": "Bearer any-key"}
    httpx.post(f"{origin}/c/any/weather-agent/v1/chat/completions", json=body, headers=headers)
    page.wait_for_function("n => document.querySelectorAll('article').length > n", arg=before)
    return frame(page)


def frame(page: Page) -> Image.Image:
    """Returns the current frame of the page."""
    return Image.open(BytesIO(page.screenshot())).convert("RGB")


def message(page: Page) -> Image.Image:
    """Returns a picture of the last request, from its finding to the wrong message."""
    article = page.locator("article").first
    whole, wrong = article.bounding_box(), article.locator(".marked").first.bounding_box()
    assert whole
    assert wrong
    height = wrong["y"] + wrong["height"] + 10 - whole["y"]
    taken = page.screenshot(
        clip={"x": whole["x"], "y": whole["y"], "width": whole["width"], "height": height}
    )
    return Image.open(BytesIO(taken)).convert("RGB").quantize(128, dither=Image.Dither.NONE)


def save(frames: list[Image.Image], *, refused: Image.Image) -> None:
    """Saves the animation, and the refused request in a wide window: as it is, and as the card for links to the site."""
    small = [each.quantize(64, dither=Image.Dither.NONE) for each in frames]
    small[0].save(
        IMAGES / "strict-server.gif",
        save_all=True,
        append_images=small[1:],
        duration=[PAUSE, 2 * PAUSE, PAUSE],
        loop=0,
        optimize=True,
    )
    refused.quantize(128, dither=Image.Dither.NONE).save(IMAGES / "strict-server.png", optimize=True)
    refused.crop((0, 0, *CARD)).quantize(128).save(IMAGES / "social-card.png", optimize=True)


if __name__ == "__main__":
    main()
