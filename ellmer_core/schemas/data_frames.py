"""Data frames of pandas, polars or Arrow: their description for a model, tables of their rows, and their construction from
structured answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from math import isfinite
from typing import Any, Literal

from ..errors import UsageError
from .type_classes import TypeJsonSchema, TypeObject
from .type_functions import TypeArray, type_of

__all__ = ["Library", "columns_of", "data_frame", "df_schema"]

Library = Literal["pandas", "polars"]

MOST_ROWS, MOST_COLUMNS = 100, 50  # of a table
SHOWN = 10  # values of a column that are all named


def df_schema(frame: Any, max_cols: int = 50) -> str:
    """Describes a data frame in words, for a prompt: its size, and the name, type, range and missing cells of each column.

    Args:
        frame: A pandas or polars data frame.
        max_cols: Number of columns that are described. Default: 50.

    Returns:
        The description.

    Raises:
        UsageError: The value is not a data frame.

    Examples:
        >>> import polars
        >>> sales = polars.DataFrame({"city": ["Paris", "Oslo"], "sales": [3, 5]})
        >>> _ = chat_openai().chat("Write a query for this table.", df_schema(sales))
    """
    if not all(hasattr(frame, name) for name in ("columns", "shape", "dtypes")):
        raise UsageError(
            f"df_schema() describes a data frame of pandas or polars, not {type(frame).__name__}."
        )
    rows, columns = frame.shape
    described = [
        f"- {_text(name)}: {_column(frame, i)}" for i, name in enumerate([*frame.columns][:max_cols])
    ]
    more = [f"(and {columns - max_cols} more columns)"] if columns > max_cols else []
    return "\n".join([f"A data frame with {rows} rows and {columns} columns:", *described, *more])


def table(frame: Any, bears: Callable[[Any], bool]) -> str | list[Any] | None:
    """Returns the rows of a data frame as a Markdown table, with the type of each column, or `None` for another value.

    An index with a meaning is a column. Of a large frame, it has the first 100 rows and 50 columns, and says so. A series
    is a table, too, if it has such an index or is that long. A frame with a cell that `bears` a picture or a document is a list of
    its rows, as objects: a table has text only.
    """
    frame = _of_series(frame)
    if hasattr(frame, "reset_index") and hasattr(frame, "itertuples"):  # pandas
        count, frame = len(frame), frame.head(MOST_ROWS)
        frame = frame if _counts_rows(frame.index) else frame.reset_index(allow_duplicates=True)
        names, types = [*frame.columns], [*frame.dtypes]
        rows = [*frame.itertuples(index=False, name=None)]
    elif hasattr(frame, "to_dicts") and hasattr(frame, "iter_rows"):  # polars
        names, types, count = frame.columns, frame.dtypes, frame.height
        rows = frame.head(MOST_ROWS).rows()
    elif hasattr(frame, "to_pylist") and hasattr(frame, "column_names"):  # Arrow
        names, types, count = frame.column_names, frame.schema.types, frame.num_rows
        rows = [*zip(*(column.to_pylist() for column in frame.slice(0, MOST_ROWS).columns), strict=True)]
    else:
        return None
    if any(bears(cell) for row in rows for cell in row[:MOST_COLUMNS]):
        return _objects(names, rows, count, bears)
    return _markdown(names, types, rows, count)


def _objects(
    names: Sequence[Any], rows: Sequence[Sequence[Any]], count: int, bears: Callable[[Any], bool]
) -> list[Any]:
    """Returns the rows as objects. A name that a column before has, too, gets its number."""
    keys = [_cell(name) for name in names][:MOST_COLUMNS]
    keys = [f"{key} ({place + 1})" if key in keys[:place] else key for place, key in enumerate(keys)]
    found: list[Any] = [
        {key: cell if bears(cell) else _as_json(cell) for key, cell in zip(keys, row, strict=False)}
        for row in rows
    ]
    size = _size(names, count)
    return [*found, f"({size})"] if "first" in size else found


def _as_json(cell: Any) -> Any:
    """Returns a cell as it is if JSON has its type, or else its text."""
    plain = isinstance(cell, str | int) or (isinstance(cell, float) and isfinite(cell))
    text = cell if plain else _cell(cell)
    return None if text == "null" else text


def _of_series(value: Any) -> Any:
    """Returns the frame of a pandas or polars series whose list would lose its labels, or be long. Other values are unchanged."""
    if not all(hasattr(value, name) for name in ("to_frame", "dtype", "name")):
        return value
    labelled = hasattr(value, "reset_index") and not _counts_rows(value.index)
    if not labelled and len(value) <= MOST_ROWS:
        return value
    return value.to_frame("value" if value.name in {None, ""} else value.name)


def _size(names: Sequence[Any], count: int) -> str:
    parts = [(min(count, MOST_ROWS), count, "row"), (min(len(names), MOST_COLUMNS), len(names), "column")]
    return ", ".join(
        f"{total} {word}{'' if total == 1 else 's'}"
        if shown == total
        else f"first {shown} of {total} {word}s"
        for shown, total, word in parts
    )


def _markdown(names: Sequence[Any], types: Sequence[Any], rows: Sequence[Sequence[Any]], count: int) -> str:
    size = _size(names, count)
    heads = [f"{_cell(name)} ({type})" for name, type in zip(names, types, strict=True)][:MOST_COLUMNS]
    if not heads:
        return f"({size})"
    lines = [heads, ["---"] * len(heads), *([_cell(cell) for cell in row[:MOST_COLUMNS]] for row in rows)]
    return "\n".join([f"({size})", "", *(f"| {' | '.join(cells)} |" for cells in lines)])


def _cell(value: Any) -> str:
    """Returns a cell: text with line ends and bars escaped, `null` for what is missing, and other values as text."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"} or _is_nan(value):
        return "null"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    text = value if isinstance(value, str) else _text(value) if isinstance(value, list | dict) else str(value)
    return text.replace("|", "\\|").replace("\r\n", "<br>").replace("\n", "<br>")


def _is_nan(value: Any) -> bool:
    """Tells whether a number of any library is NaN. A cell that is an array compares as an array."""
    different = value != value  # noqa: PLR0124 - only NaN differs from itself
    return type(different).__name__ in {"bool", "bool_"} and bool(different)


def _counts_rows(index: Any) -> bool:
    """Tells whether a pandas index is the default index 0, 1, 2 …"""
    plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return plain and index.name is None


def columns_of(type: Any, *, array: bool) -> list[str]:
    """Returns the columns of a data frame of this type: an array of objects, or an object for each row."""
    wanted = type_of(type)
    written: Mapping[str, Any] = wanted.schema if isinstance(wanted, TypeJsonSchema) else {}
    schema = _target(written)
    row: Any = wanted
    if array:
        row = wanted.items if isinstance(wanted, TypeArray) else None
        schema = _target({"$defs": written.get("$defs"), **schema.get("items", {})})
    if isinstance(schema.get("properties"), Mapping):
        return list(schema["properties"])
    if not isinstance(row, TypeObject):
        needed = (
            "an array of objects, type_array(items=type_object(…))" if array else "objects, type_object(…)"
        )
        raise UsageError(f"With frame=, type= must describe {needed}.")
    return list(row.properties)


def _target(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the definition that a schema refers to, as that of a recursive type does, or the schema itself."""
    name = str(schema.get("$ref")).removeprefix("#/$defs/")
    target: Mapping[str, Any] = (schema.get("$defs") or {}).get(name, schema)
    return target


def data_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], library: Library) -> Any:
    """Returns a data frame of `library`. A row without some column has a missing value there."""
    if library not in {"pandas", "polars"}:
        raise UsageError(f'frame must be "pandas" or "polars", not {library!r}.')
    try:
        module = import_module(library)
    except ImportError as error:
        raise UsageError(f"A data frame needs the package {library}: pip install {library}.") from error
    return module.DataFrame({name: [row.get(name) for row in rows] for name in columns})


def _column(frame: Any, place: int) -> str:
    column = frame.iloc[:, place] if hasattr(frame, "iloc") else frame.to_series(place)
    present = column.dropna() if hasattr(column, "dropna") else column.drop_nulls()
    missing = len(column) - len(present)
    parts = [
        str(column.dtype),
        _values(present) if len(present) else "",
        f"{missing} missing" if missing else "",
    ]
    return ", ".join(filter(None, parts))


def _values(present: Any) -> str:
    """Returns the range of ordered values, else the distinct values if they are few, else nothing."""
    if _is_ordered(present.dtype):
        return f"from {_text(present.min())} to {_text(present.max())}"
    try:
        values = list(present.unique())
    except Exception:  # noqa: BLE001 - lists and the like cannot be told apart; each library has its own error
        return ""
    if len(values) > SHOWN:
        return f"{len(values)} different values"
    return f"values {', '.join(sorted(map(_text, values)))}"


def _is_ordered(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):
        return bool(dtype.is_numeric() or dtype.is_temporal())
    return getattr(dtype, "kind", "O") in "iufmM"


def _text(value: Any) -> str:
    """Returns a value as JSON text, or as text if it has no JSON."""
    plain = value.item() if hasattr(value, "item") else value
    return json.dumps(plain, ensure_ascii=False, default=str)
