"""tool(): a function's signature and docstring become the model's description."""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from typing import Annotated, Literal, Optional

import pydantic
import pytest

from ellmer_core.contents.content import ContentToolRequest, ContentToolResult, ToolDef, matched
from ellmer_core.contents.json_serialization import contents_record, contents_replay
from ellmer_core.errors import ToolReject, UsageError
from ellmer_core.render.tool_card import card
from ellmer_core.schemas.type_classes import TypeObject
from ellmer_core.schemas.type_functions import (
    Type,
    TypeArray,
    TypeBasic,
    TypeEnum,
    TypeJsonSchema,
    type_integer,
    type_object,
    type_string,
)
from ellmer_core.tools.definition import tool, tool_annotations, tool_reject


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


@dataclasses.dataclass
class Place:
    city: str
    country: str = "DE"


def text(description=None, required=True):
    return TypeBasic(description, required, "string")


def whole(description=None, required=True):
    return TypeBasic(description, required, "integer")


# from the signature -----------------------------------------------------------------------------------------


def google(city: str, days: int = 1):
    """Get the weather.

    For the coming days.

    Args:
        city (str): Name of the city,
            in English.
        days: How many.

    Returns:
        Not for the model.
    """


def numpy(city: str, days: int = 1):
    """
    Get the weather.

    For the coming days.

    Parameters
    ----------
    city : str
        Name of the city,
        in English.
    days
        How many.
    """


def sphinx(city: str, days: int = 1):
    """Get the weather.

    For the coming days.

    :param city: Name of the city,
        in English.
    :param int days: How many.
    :returns: Not for the model.
    """


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_docstrings_of_three_schools(function):
    made = tool(function)

    assert made.name == function.__name__
    assert made.description == "Get the weather.\n\nFor the coming days."
    assert made.arguments == TypeObject(
        properties={
            "city": text("Name of the city,\nin English."),
            "days": whole("How many. Default: 1.", required=False),
        }
    )


def test_hints_of_every_kind():
    def f(  # noqa: PLR0917 - one of each kind
        unit: Unit,
        place: Place,
        mode: Literal["fast", "slow"] = "fast",
        tags: list[str] | None = None,
        limit: Optional[int] = None,  # noqa: UP045 - the older way
        note: str = None,  # noqa: RUF013 - the oldest way
        ratio: Annotated[float, "Between 0 and 1."] = 0.5,
        size: Annotated[int, pydantic.Field(description="In bytes.", gt=0)] = 1,
        depth: int = pydantic.Field(3, description="How deep."),
        near: int | None = pydantic.Field(description="May be null, must be said."),
    ):
        pass

    place = TypeObject(properties={"city": text(), "country": text(required=False)})
    assert tool(f).arguments.properties == {
        "unit": TypeEnum(values=("C", "F")),
        "place": place,
        "mode": TypeEnum('Default: "fast".', required=False, values=("fast", "slow")),
        "tags": TypeArray(items=text(), required=False),
        "limit": whole(required=False),
        "note": text(required=False),
        "ratio": TypeBasic("Between 0 and 1. Default: 0.5.", False, "number"),
        "size": TypeJsonSchema(
            "In bytes. Default: 1.",
            False,
            {"type": "integer", "exclusiveMinimum": 0, "description": "In bytes. Default: 1."},
        ),
        "depth": whole("How deep. Default: 3.", required=False),
        "near": TypeJsonSchema(
            "May be null, must be said.",
            True,
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "May be null, must be said."},
        ),
    }


def test_a_hint_may_name_what_is_local_to_the_caller():
    class Local(pydantic.BaseModel):
        x: int

    @tool
    def plain(a: Local):
        """Plain."""

    @tool(name="named")
    def with_arguments(a: Local):
        """With arguments."""

    for made in (plain, with_arguments, tool(lambda a: a, name="f", arguments={"a": Local})):
        assert made.arguments.properties["a"] == TypeObject(properties={"x": whole()})


def test_a_hint_means_what_it_means_where_the_function_stands():
    class Place(pydantic.BaseModel):
        other: int

    assert list(tool(module_level, name="f").arguments.properties["a"].properties) == ["city", "country"]


def module_level(a: Place):
    pass


def test_an_argument_without_a_hint_takes_the_type_of_its_default_or_of_the_docstring():
    def f(tz="UTC", n=1, x=0.5, on=True, depth=None):
        """F.

        Args:
            depth (int): How deep.
        """

    assert [t.type for t in tool(f).arguments.properties.values()] == [
        "string", "integer", "number", "boolean", "integer",
    ]  # fmt: skip


def test_what_a_model_cannot_give_is_not_shown():
    def f(a: int, *args: int, user: str, **kwargs: str):
        pass

    assert list(tool(f).arguments.properties) == ["a", "user"]
    assert list(tool(functools.partial(f, user="me")).arguments.properties) == ["a"]


def test_methods_classes_and_callable_objects_are_functions_too():
    class Search:
        """Search the web."""

        def __init__(self, engine: str):
            self.engine = engine

        def __call__(self, query: str) -> str:
            return self.engine + query

        def find(self, query: str) -> str:
            """Find it."""
            return self.engine + query

    search = Search("x")

    assert (tool(search).name, tool(search).description) == ("Search", "Search the web.")
    assert tool(search.find).name == "find"
    assert list(tool(search.find).arguments.properties) == ["query"]
    assert list(tool(search).arguments.properties) == ["query"]
    assert list(tool(Search).arguments.properties) == ["engine"]
    assert tool(Search).description == "Search the web."


def test_a_wrapped_function_shows_the_inner_signature():
    def inner(city: str):
        """Inner."""

    @functools.wraps(inner)
    def outer(*args, **kwargs):
        return inner(*args, **kwargs)

    assert tool(outer) == ToolDef(outer, "inner", "Inner.", TypeObject(properties={"city": text()}))


def test_without_a_docstring_the_name_has_to_do():
    def get_current_weather(city: str):
        pass

    assert tool(get_current_weather).description == "Get current weather"


# given ------------------------------------------------------------------------------------------------------


def test_everything_may_be_given():
    def f(x, y=2):
        return x + y

    made = tool(
        f,
        "Adds.",
        name="add-it",
        arguments={"x": type_integer("First."), "y": int},
        convert=False,
        annotations=tool_annotations("Add", read_only_hint=True, idempotent_hint=None, icon="+"),
        timeout=2.5,
    )

    assert (made.name, made.description, made.convert, made.timeout) == ("add-it", "Adds.", False, 2.5)
    assert made.arguments == TypeObject(properties={"x": whole("First."), "y": whole()})
    assert made.annotations == {"title": "Add", "read_only_hint": True, "icon": "+"}
    assert made(1, y=3) == 4
    assert repr(made) == "<ToolDef add-it(x, y)>"


def test_arguments_may_be_an_object_type():
    type = type_object(x=type_string(), _additional_properties=True)

    assert tool(lambda **kwargs: kwargs, name="f", arguments=type).arguments == type


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tool(lambda: 1), "'<lambda>' is not valid. Set name="),
        (lambda: tool(google, name="get weather"), "'get weather' is not valid"),
        (lambda: tool(google, name="x" * 65), "1 to 64"),
        (lambda: tool(google, name="wetter_größe"), "letters (A-Z)"),
        (lambda: tool("Gets the weather."), "The first argument of tool() must be a function"),
        (lambda: tool(tool(google)), "The first argument of tool() must be a function, not <ToolDef google"),
        (lambda: tool(lambda x: x, name="f"), "Argument `x` of"),
        (lambda: tool(lambda x: x, name="f", arguments={"y": int}), "tool `f`. Extra: 'y'. Missing: 'x'."),
        (lambda: tool(google, arguments={"city": str}), "Missing: 'days'"),
        (lambda: tool(lambda x: x, name="f", arguments={"x": 1}), "arguments['x'] must be a type"),
        (
            lambda: tool(lambda x: x, name="f", arguments={"x": type_string(required=False)}),
            "Argument `x` of tool `f` is optional, so the function needs a default",
        ),
        (lambda: tool(unresolvable), "cannot be resolved: name 'Nowhere' is not defined"),
        (lambda: tool(undescribable), "cannot be described as JSON Schema"),
        (lambda: tool(dict.fromkeys), "no type hint"),
        (lambda: tool(dict), "are unknown"),
        (lambda: tool(Search.find), "tool(object.method)"),
    ],
)
def test_a_wrong_definition_says_what_to_change(call, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        call()


def unresolvable(x: Nowhere):  # noqa: F821 - on purpose
    pass


def undescribable(x: Opaque):
    pass


class Opaque:
    pass


class Search:
    def find(self, query: str):
        pass


def test_a_type_of_another_package_is_taken_as_it_is():
    class TypeMine(Type):
        pass

    assert tool(lambda x: x, name="f", arguments={"x": TypeMine()}).arguments.properties["x"] == TypeMine()


# titles and refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("get_current_weather", "Get current weather"),
        ("getCurrentWeather", "Get current weather"),
        ("list-files", "List files"),
        ("read_URL", "Read URL"),
        ("_", "_"),
    ],
)
def test_the_title_is_the_name_in_words(name, title):
    assert tool(lambda: 1, name=name).title() == title


def test_a_title_may_be_computed_from_the_arguments_and_never_fails():
    made = tool(google, annotations=tool_annotations(lambda a: f"Weather in {a['city']}"))

    assert made.title({"city": "Köln"}) == "Weather in Köln"
    assert made.title() == "Google"
    assert tool(google, annotations={"title": "Weather"}).title({"city": "x"}) == "Weather"


class ByCity(ContentToolRequest):
    @property
    def title(self):
        return f"Get weather in {self.arguments['city']}"


def test_a_tool_may_have_a_class_of_requests_of_its_own():
    made = tool(google, request=ByCity)
    asked = matched(ContentToolRequest("1", "google", {"city": "Duluth, MN"}, raw="{…}"), made)

    assert type(asked) is ByCity
    assert (asked.id, asked.raw, asked.tool) == ("1", "{…}", made)
    assert card(asked).title == card(ContentToolResult(1, request=asked)).title == "Get weather in Duluth, MN"
    assert card(matched(ContentToolRequest("1", "google"), made)).title == "Google"  # it failed: no city
    assert contents_replay(contents_record(asked), tools=[made]) == asked
    with pytest.raises(UsageError, match="subclass of ContentToolRequest"):
        tool(google, request=ContentToolResult)


def test_a_class_of_requests_that_cannot_be_made_is_done_without():
    class Strange(ContentToolRequest):
        def __init__(self):
            raise RuntimeError

    asked = matched(ContentToolRequest("1", "google"), made := tool(google, request=Strange))
    assert (type(asked), asked.tool) == (ContentToolRequest, made)
    assert matched(asked, None).tool is None


def test_tool_reject():
    with pytest.raises(
        ToolReject, match=r"^Tool call rejected\. The user has chosen to disallow the tool call\.$"
    ):
        tool_reject()
    with pytest.raises(ToolReject, match=r"^Tool call rejected\. Not on Sundays\.$"):
        tool_reject("Not on Sundays.")


def counted(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)

    return call


def test_what_a_tool_returns_may_have_a_type_that_only_type_checkers_import():
    class Table:
        def rows(self, count: int) -> pandas.DataFrame:  # noqa: F821
            """Looks up rows."""

        again = counted(rows)

    assert tool(Table().rows).arguments.properties == {"count": TypeBasic(type="integer")}
    assert tool(Table().again).arguments.properties == {"count": TypeBasic(type="integer")}
