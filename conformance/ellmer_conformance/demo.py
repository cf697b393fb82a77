"""`ellmer-demo`: the chat app with a scripted model, which shows all features without a key.

The model is the strict server: it answers from a script in Anthropic's format, checks every request, and sees the images
that the tools return. The next scene follows every message.
"""

from __future__ import annotations

import struct
import time
import zlib
from base64 import b64encode
from hashlib import sha256
from shutil import get_terminal_size

import click

import ellmer_core as ec

from .scenarios.cases._media_and_tools import REPORT
from .scenarios.script import Answer, AnswerByMedia, Call, Delivery, Say, Script, Think
from .server.strict_server import StrictServer

__all__ = ["main"]

TOUR = """\
The model is a script. Its tools are real and run in this process. You will see two calls at once, an image in
a result, a tool that reports its progress and shows a table, a tool that fails, and a PDF. Send any message
to see the next scene.
"""

GREETING = f"""\
## A chat that needs no key

{TOUR}
Click an underlined text to send it. Open a tool call to see its arguments and its result. Stop an answer with
the red button. The conversation survives a reload of the page.

<span class="suggestion submit">What is the weather in Duluth, MN and in Köln?</span>
"""


@click.command()
@click.option("--port", default=0, show_default=True, help="The port on 127.0.0.1; 0 means any free port.")
@click.option("--console", is_flag=True, help="Use the terminal instead of the browser.")
@click.option("--no-launch", is_flag=True, help="Do not open the browser.")
def main(port: int, *, console: bool, no_launch: bool) -> None:
    """Open the chat app with a scripted model that calls tools and looks at pictures."""
    with StrictServer({"demo": script()}) as server:
        chat = demo_chat(server.url("demo", "1"))
        try:
            if console:
                told = f"A chat that needs no key. {' '.join(TOUR.split())}"
                click.echo(click.wrap_text(told, get_terminal_size().columns))
                ec.live_console(chat)
            else:
                ec.live_browser(chat, port, title="ellmer demo", greeting=GREETING, launch=not no_launch)
        except ec.UsageError as error:
            raise click.ClickException(str(error)) from error


def demo_chat(base_url: str, pause: float = 0.4) -> ec.Chat:
    """Returns the chat with its tools; `pause` is the duration of a step of the slow tools, in seconds."""
    chat = ec.chat_anthropic(
        base_url=f"{base_url}/v1",
        api_key="demo",
        model="claude-sonnet-5",
        echo="none",
        api_args={"thinking": {"type": "adaptive", "display": "summarized"}},
    )
    chat.register_tools([get_weather, paint, searching(pause), print_report, find_report])
    return chat


def script(delay: float = 0.02) -> Script:
    """Returns five scenes and an end; `delay` is the time between the pieces of a stream, in seconds."""
    seen = AnswerByMedia((sha256(sunset()).hexdigest(),), PAINTED)
    return Script([Delivery(step, delay=delay) for step in (*BEFORE, seen, *AFTER)])


# The tools --------------------------------------------------------------------------------------------------


@ec.tool(
    annotations=ec.tool_annotations(lambda a: f"Get weather in {a['city']}", icon="🌦️", read_only_hint=True)
)
def get_weather(city: str) -> dict[str, object]:
    """Gets the weather now.

    Args:
        city: Name of the city.
    """
    return {"city": city, "celsius": {"Duluth, MN": 3.2}.get(city, 18.5), "sky": "cloudy"}


@ec.tool(annotations=ec.tool_annotations("Paint a picture", icon="🎨"))
def paint(scene: str) -> ec.ContentImageInline:
    """Paints a picture.

    Args:
        scene: What is to be seen.
    """
    del scene
    return ec.ContentImageInline("image/png", b64encode(sunset()).decode("ascii"))


def searching(pause: float) -> ec.ToolDef:
    """Returns a slow tool, which shows its progress and has its own display of the result."""

    @ec.tool(
        annotations=ec.tool_annotations("Search flights", icon="✈️", display="block", open_world_hint=True)
    )
    def search_flights(to: str) -> ec.ContentToolResult:
        """Searches flights.

        Args:
            to: Name of the city.
        """
        progress = ec.local_shinychat()
        for percent in (0, 25, 50, 75, 100):
            progress.replace(f"{percent} % of all airlines asked")
            time.sleep(pause)
        display = ec.ToolResultDisplay(
            title=f"Flights to {to}", html=_table(), value_preview=f"{len(FLIGHTS)} found"
        )
        return ec.ContentToolResult(dict(FLIGHTS), extra={"display": display})

    return search_flights


@ec.tool(annotations=ec.tool_annotations("Print the report", icon="🖨️"))
def print_report() -> str:
    """Prints the report."""
    raise RuntimeError("The printer is on fire.")


@ec.tool(annotations=ec.tool_annotations("Find the report", icon="📄"))
def find_report() -> ec.ContentPDF:
    """Finds the report."""
    return ec.ContentPDF("application/pdf", b64encode(REPORT.data).decode("ascii"), REPORT.filename)


FLIGHTS = (("07:25", 212), ("11:40", 148), ("19:05", 96))


def _table() -> str:
    rows = "".join(f"<tr><td>{time}</td><td>{price} EUR</td></tr>" for time, price in FLIGHTS)
    head = "<thead><tr><th>Departure</th><th>Price</th></tr></thead>"
    return f'<table class="table">{head}<tbody>{rows}</tbody></table>'


def sunset(width: int = 320, height: int = 180) -> bytes:
    """Returns a PNG."""
    rows = b"".join(
        b"\0" + b"".join(_pixel(x, y, width, height) for x in range(width)) for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _pixel(x: int, y: int, width: int, height: int) -> bytes:
    horizon = height * 2 // 3
    if y < horizon and (x - width // 2) ** 2 + (y - horizon) ** 2 < (height // 4) ** 2:
        return b"\xff\xe0\x80"
    depth = y / horizon if y < horizon else (height - y) / (height - horizon)
    shade = 1.0 if y < horizon else 0.55
    return bytes(int(shade * (a + (b - a) * depth)) for a, b in ((60, 250), (40, 120), (110, 70)))


# The model's answers -----------------------------------------------------------------------------------------


def next_up(prompt: str) -> str:
    """Returns a suggestion to click."""
    return f'\n\n<span class="suggestion submit">{prompt}</span>'


END = "\n\nThat was the tour. In a chat of yours: `live_browser(chat_openai())`."

BEFORE = (
    Answer((
        Think("Two cities, one tool: I can ask for both at once."),
        Say("I will look that up."),
        Call("get_weather", {"city": "Duluth, MN"}),
        Call("get_weather", {"city": "Köln"}),
    )),
    Answer((Say("It is **3.2 °C** in Duluth and **18.5 °C** in Köln." + next_up("Paint a sunset")),)),
    Answer((Say("A sunset, coming up."), Call("paint", {"scene": "sunset"}))),
)  # fmt: skip
PAINTED = Answer((
    Say("A yellow sun sinks into the sea." + next_up("Find me a flight to Lisbon")),
))  # fmt: skip
AFTER = (
    Answer((Say("Let me ask the airlines."), Call("search_flights", {"to": "Lisbon"}))),
    Answer((Say("The last one is the cheapest." + next_up("Print the report")),)),
    Answer((Call("print_report"),)),
    Answer((Say("That did not work, I am afraid." + next_up("Then show it to me")),)),
    Answer((Call("find_report"),)),
    Answer((Say("Here it is. The total is 42 EUR." + END),)),
    Answer((Say("The script has no more lines; start `ellmer-demo` again to see it from the beginning."),)),
)
