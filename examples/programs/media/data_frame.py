"""Analyses a table: a tool returns a data frame, which the model reads as a table, and data come back as a data frame.

It prints:

    The result is (2 rows, 2 columns)

    | seller (String) | euros (Int64) |
    | --- | --- |
    | Ann | 180 |
    | Otto | 80 |.
    shape: (2, 2)
    …
"""

import polars as pl

from ellmer_core import chat_openai, df_schema, tool, type_array, type_integer, type_object, type_string

SALES = pl.DataFrame({"seller": ["Ann", "Otto", "Ann"], "euros": [120, 80, 60]})


@tool
def total_sales() -> pl.DataFrame:
    """Looks up the sales of each seller."""
    return SALES.group_by("seller").agg(pl.col("euros").sum()).sort("seller")


def main() -> None:
    chat = chat_openai(f"You know this table.\n{df_schema(SALES)}", model="gpt-5.6-terra")
    chat.register_tool(total_sales)
    print(chat.chat("Who had the most sales?"))

    row = type_object(name=type_string("First name."), age=type_integer())
    people = chat.chat_structured("Ann is 33, Otto is 4.", type=type_array(items=row), frame="polars")
    print(people)


if __name__ == "__main__":
    main()
