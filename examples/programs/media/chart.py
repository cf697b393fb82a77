"""Draws a chart of a table, and lets the model look at it. The model chooses the column; a wrong one is an error that it reads.

It prints:

    a chart of euros: 2 bars
    the model saw: image/png
    It is …
"""

from typing import Any, Literal

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from ellmer_core import ContentImageInline, ContentToolResult, chat_openai, tool

mpl.use("Agg")
SALES = pl.DataFrame({"seller": ["Ann", "Otto", "Ann"], "euros": [120, 80, 60], "items": [3, 1, 2]})


@tool
def draw_chart(column: Literal["euros", "items"] = "euros") -> list[object]:
    """Draws a bar chart of the sales of each seller.

    Args:
        column: The column to add up.
    """
    sums = SALES.group_by("seller").agg(pl.col(column).sum()).sort("seller")
    figure = Figure(figsize=(4, 3))
    axes: Any = figure.subplots()
    axes.bar(sums["seller"].to_list(), sums[column].to_list())
    return [f"a chart of {column}: {len(sums)} bars", figure]


def main() -> None:
    chat = chat_openai("You are an analyst.", model="gpt-5.6-terra")
    chat.register_tool(draw_chart)
    answer = chat.chat("Draw the sales.")
    for turn in chat.get_turns():
        for content in turn.contents:
            if isinstance(content, ContentToolResult):
                words, picture = content.value
                print(words)
                assert isinstance(picture, ContentImageInline)
                print("the model saw:", picture.type)
    print(answer)


if __name__ == "__main__":
    main()
