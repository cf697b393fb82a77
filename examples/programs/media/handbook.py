"""A search whose hits are dataclasses, with a PDF, a scan and a table of prices inside; and data of optional and alternative
types. It needs a key of Google's in GEMINI_API_KEY.

It prints:

    …It is a PDF of 1 page and 3 words: “Warranty 24 months”. It is a blue image of 24 by 16 pixels.
    Reply(topic='warranty', value=Duration(kind='duration', days=730), note=None)
    Reply(topic='lamp', value=Price(kind='price', amount=12.5, currency='EUR'), note=None)
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

import polars as pl
from PIL import Image

from ellmer_core import (
    ContentImage,
    ContentPDF,
    chat_google_gemini,
    content_image_file,
    content_pdf_file,
    tool,
)


@dataclass
class Hit:
    title: str
    found: date
    doc: ContentPDF
    scans: list[ContentImage]
    prices: pl.DataFrame


@dataclass
class Price:
    kind: Literal["price"]
    amount: float
    currency: str


@dataclass
class Duration:
    kind: Literal["duration"]
    days: int


@dataclass
class Reply:
    topic: str
    value: Price | Duration
    note: str | None = None


def write_pdf(path: Path, words: str) -> None:
    """Writes a PDF of one page. Yours are in a folder already."""
    stream = f"BT /F1 24 Tf 72 700 Td ({words}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>\nstream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = "".join(f"{number} 0 obj\n{text}\nendobj\n" for number, text in enumerate(objects, 1))
    path.write_text(f"%PDF-1.4\n{body}trailer\n<</Root 1 0 R>>\n%%EOF", encoding="ascii")


@tool
def search_handbook(query: str) -> list[Hit]:
    """Searches the handbook of the shop.

    Args:
        query: What to look for.
    """
    prices = pl.DataFrame({"part": ["lamp", "lens"], "eur": [12.5, 80.0]})
    scans: list[ContentImage] = [content_image_file("scan.png")]
    return [Hit("Warranty", date(2026, 11, 30), content_pdf_file("warranty.pdf"), scans, prices)]


def main() -> None:
    write_pdf(Path("warranty.pdf"), "Warranty 24 months")
    Image.new("RGB", (24, 16), "blue").save("scan.png")

    chat = chat_google_gemini("Answer from the handbook only.", model="gemini-2.5-flash")
    chat.register_tool(search_handbook)
    print(chat.chat("Search the handbook: how long is the warranty?"))

    for text in (
        'The topic is "warranty", its duration 730 days.',
        'The topic is "lamp", its price 12.5 EUR.',
    ):
        print(chat.fork().chat_structured(text, type=Reply))


if __name__ == "__main__":
    main()
