"""A small agent: it answers questions about the weather, and draws a chart."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

from ellmer_core import Chat, ContentImageInline, chat_openai, tool

CELSIUS = {"Oslo": [-3, -1, 2], "Rome": [9, 12, 14]}


@tool
def temperatures(city: str) -> list[int]:
    """Gets the temperatures of the last three days, in degrees Celsius.

    Args:
        city: Name of the city, in English.
    """
    return CELSIUS[city]


@tool
def chart(celsius: list[int]) -> ContentImageInline:
    """Draws temperatures as bars.

    Args:
        celsius: The temperatures, in degrees Celsius.
    """
    rows = [[value > level for value in celsius] for level in range(max(celsius), min(celsius) - 1, -1)]
    return ContentImageInline("image/png", b64encode(png(rows)).decode("ascii"))


def agent(**options: object) -> Chat:
    """Returns the chat with its tools; `options` are those of `chat_openai()`."""
    chat = chat_openai("You are a weather agent. Be brief.", model="gpt-5.6-terra", **options)
    chat.register_tools([temperatures, chart])
    return chat


def png(rows: list[list[bool]], size: int = 16) -> bytes:
    """Returns a picture of dark and light squares, `size` pixels wide."""
    lines = [
        b"\0" + b"".join((b"\x20" if dark else b"\xf0") * size for dark in row)
        for row in rows
        for _ in range(size)
    ]
    header = struct.pack(">IIBBBBB", len(rows[0]) * size, len(rows) * size, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(lines), 9)), (b"IEND", b""))
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


if __name__ == "__main__":
    print(agent().chat("How was the weather in Oslo? Draw it, and say what the chart shows."))
