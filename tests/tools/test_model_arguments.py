"""A pydantic model for all arguments of a tool."""

import datetime as dt

import pydantic
import pytest

import ellmer_core as ec
from ellmer_core.tool_execution import invoke


class Trip(pydantic.BaseModel):
    city: str = pydantic.Field(description="Where to.")
    day: dt.date
    nights: int = 2

    @pydantic.field_validator("nights")
    @classmethod
    def _some(cls, nights):
        assert nights > 0, "at least one night"
        return nights


def book(city, day, nights):
    """Books a trip."""
    return f"{city}, {day + dt.timedelta(nights):%d %B}"


def called(tool, **arguments):
    return invoke(ec.ContentToolRequest("c", tool.name, arguments, tool))


@pytest.mark.parametrize("how", ["tool", "register_tool"])
def test_the_model_says_and_checks_the_arguments(how):
    chat = ec.chat_openai(model="m", api_key="k")
    tool = ec.tool(book, arguments=Trip) if how == "tool" else chat.register_tool(book, model=Trip)

    assert tool.arguments.properties["city"].description == "Where to."
    assert [name for name, type in tool.arguments.properties.items() if type.required] == ["city", "day"]
    assert called(tool, city="Rome", day="2026-12-30").value == "Rome, 01 January"
    assert "at least one night" in str(called(tool, city="Rome", day="2026-12-30", nights=0).error)
    assert "`day` is missing" in called(tool, city="Rome").error
    assert tool("Rome", dt.date(2026, 1, 1), 1) == "Rome, 02 January"


def test_a_model_must_fit_the_function():
    with pytest.raises(ec.UsageError, match="Missing: 'more'"):
        ec.tool(lambda city, day, nights, more: more, name="f", arguments=Trip)
    with pytest.raises(ec.UsageError, match="takes a pydantic model"):
        ec.tool(book, arguments=dict)
