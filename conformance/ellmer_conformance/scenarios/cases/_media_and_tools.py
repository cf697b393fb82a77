"""Images, documents and tools for several cases. The media are generated, with the same bytes each time."""

from __future__ import annotations

import struct
import wave
import zlib
from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from typing import Any

from ..messages import PDF, Audio, Image, Tool


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(red: int, green: int, blue: int, size: int = 32) -> Image:
    """Returns a one-colour PNG. It is stored without compression, because zlib's output may differ between versions."""
    rows = (b"\0" + bytes((red, green, blue)) * size) * size
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 0)) + _chunk(b"IEND", b"")
    return Image(b"\x89PNG\r\n\x1a\n" + body)


#: Eight by eight pixels in one colour.
JPEG = Image(
    b64decode(
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////"
        "////////////wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8Ad//Z"
    ),
    "image/jpeg",
)
WEBP = Image(b64decode("UklGRh4AAABXRUJQVlA4TBEAAAAvB8ABAAdQ0HqUp/+BiOh/AAA="), "image/webp")

RED, GREEN, BLUE = png(220, 30, 30), png(30, 160, 60), png(30, 60, 220)


def pdf(text: str, filename: str) -> PDF:
    """Returns a one-page PDF with `text` (ASCII, without parentheses)."""
    stream = f"BT /F1 24 Tf 40 100 Td ({text}) Tj ET"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 200] /Contents 4 0 R /Resources 6 0 R >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Font << /F1 5 0 R >> >>",
    )
    out, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    out += f"xref\n0 7\n0000000000 65535 f \n{table}"
    out += f"trailer\n<< /Size 7 /Root 1 0 R >>\nstartxref\n{out.index('xref')}\n%%EOF\n"
    return PDF(out.encode("ascii"), filename)


REPORT = pdf("The total is 42 EUR", "report.pdf")
CORRECTED = pdf("The total is 43 EUR", "report.pdf")


def wav(samples: bytes) -> Audio:
    """Returns audio with 8,000 samples a second, one byte each."""
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 1, 8000, len(samples), "NONE", ""))
        file.writeframes(samples)
    return Audio(out.getvalue())


TONE = wav((b"\x40" * 8 + b"\xc0" * 8) * 50)

#: Formats that have no way to say a call whose arguments are no JSON.
NO_MALFORMED_ARGUMENTS = {
    "gemini": "arguments are objects; what is none ends the answer as MALFORMED_FUNCTION_CALL"
}


def string_argument(name: str, description: str) -> dict[str, Any]:
    """Returns the JSON Schema of one required string argument."""
    properties = {name: {"type": "string", "description": description}}
    return {"type": "object", "properties": properties, "required": [name]}


WEATHER = {"Paris": "21C, sunny", "Oslo": "9C, rain", "Rome": "27C", "Cairo": "35C", "Quito": "18C"}


def get_weather(city: str) -> str:
    """Looks up a city. An unknown one is an error."""
    return WEATHER[city]


weather = Tool("get_weather", "Current weather in a city.", get_weather, string_argument("city", "The city."))


def returning(name: str, description: str, value: Callable[[], Any]) -> Tool:
    """Returns a tool without arguments that returns `value()`."""
    return Tool(name, description, value)


_STOP = {
    "type": "object",
    "description": "One stop.",
    "properties": {
        "città": {"type": "string", "description": "Where to, 都市."},
        "by": {"type": "string", "enum": ["train", "bus"], "description": "How."},
    },
    "required": ["città", "by"],
}
_STOPS = {"stops": {"type": "array", "description": "In order.", "items": _STOP}}
plan_trip = Tool(
    "plan_trip",
    "Plans a trip.",
    lambda stops: f"{len(stops)} stops, 7 hours",
    {"type": "object", "properties": _STOPS, "required": ["stops"]},
)
