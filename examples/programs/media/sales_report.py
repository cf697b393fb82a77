"""A report with a table and a chart, from a model on your own machine (`ollama pull qwen3-vl:8b`). The conversation becomes one
page for the browser.

It prints:

    It is a white image of 192 by 192 pixels.
    on the page: a table, a picture
"""

from typing import Any

import polars as pl
from matplotlib.figure import Figure

from ellmer_core import chat_ollama, export, tool

SOLD = pl.DataFrame({"month": ["January", "February", "March"], "sold": [3, 5, 8]})


@tool
def monthly_sales(year: int) -> pl.DataFrame:
    """Looks up the sales of each month of a year."""
    return SOLD


@tool
def plot_sales(year: int) -> Figure:
    """Draws a chart of the sales of a year."""
    figure = Figure(figsize=(2, 2))
    axes: Any = figure.gca()
    axes.bar(SOLD["month"].to_list(), SOLD["sold"].to_list())
    return figure


def main() -> None:
    chat = chat_ollama("You report about sales.", model="qwen3-vl:8b")
    chat.register_tools([monthly_sales, plot_sales])
    chat.chat("What were the sales of each month of 2026?")
    print(chat.chat("Draw a chart of the sales of 2026."))

    page = export(chat, "sales.html", title="Sales").read_text(encoding="utf-8")
    found = {"a table": "<table", "a picture": "<img"}
    print("on the page:", ", ".join(name for name, tag in found.items() if tag in page))


if __name__ == "__main__":
    main()
