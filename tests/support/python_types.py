"""Python types that describe schemas in tests: enums, a data class, typed dicts, models."""

import dataclasses
import enum
from typing import Literal, NotRequired, Optional, TypedDict

import pydantic


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5
    colour: Colour = Colour.RED


class Film(TypedDict):
    title: str
    year: NotRequired[int]


class Series(TypedDict, total=False):
    films: list[Film]


class Node(pydantic.BaseModel):
    value: int
    next: Optional["Node"] = None


class Spot(pydantic.BaseModel):
    """Somewhere small."""

    title: str = pydantic.Field(description="What it is called.")
    at: Point
    note: str | None = None
    default: Literal["a", "b"] = "a"
