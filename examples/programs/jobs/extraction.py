"""Reads an invoice into a model of Pydantic: at once, and while the data arrive.

It prints:

    ACME 3 items
    …
    seller='ACME' items=3 day=datetime.date(2026, 11, 3)
    done: ACME
"""

from datetime import date

from pydantic import BaseModel, Field

from ellmer_core import ConversionError, chat_openai

TEXT = 'Invoice of "ACME" on 2026-11-03: 3 items, 120 euros. Please pay by 2026-12-01.'


class Invoice(BaseModel):
    """An invoice."""

    seller: str = Field(description="The name of the company")
    items: int = Field(ge=0)
    day: date


def main() -> None:
    chat = chat_openai(model="gpt-5.6-terra")
    try:
        invoice = chat.chat_structured(TEXT, type=Invoice)
    except ConversionError as error:
        raise SystemExit(f"The model gave no invoice: {error}") from error
    print(invoice.seller, invoice.items, "items")

    last: Invoice | None = None
    for last in chat.stream_structured(TEXT, type=Invoice):
        print(last)
    print("done:", last and last.seller)


if __name__ == "__main__":
    main()
