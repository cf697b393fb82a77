"""One tool call: every request gives a result, whatever the tool does."""

import asyncio
import contextvars
import dataclasses
import enum
import functools
import threading
from datetime import date
from inspect import signature
from typing import Any, Optional

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.content import ContentImageInline, ContentToolRequest, ContentToolResult
from ellmer_core.errors import AsyncToolError, ToolReject, ToolResultError
from ellmer_core.schemas.type_functions import type_enum, type_integer, type_object, type_string
from ellmer_core.tool_execution import ainvoke, invoke, local_shinychat, showing
from ellmer_core.tools.definition import tool, tool_reject
from ellmer_core.tools.results import result_text


def ask(function, /, *, raw=None, problem=None, options=None, **arguments):
    made = tool(function, **{"name": "f"} | (options or {}))
    return ContentToolRequest("c1", "f", arguments, made, raw, problem)


def awaited(request, **options):
    return asyncio.run(ainvoke(request, **options))


both = pytest.mark.parametrize("run", [invoke, awaited], ids=["invoke", "ainvoke"])


# refused before the tool runs -------------------------------------------------------------------------------


def never(**kwargs):
    raise AssertionError("the tool ran")


@both
def test_an_unknown_tool_is_named(run):
    request = ContentToolRequest("c1", "get_wether")

    assert run(request) == ContentToolResult(error="Unknown tool `get_wether`.", request=request)


@both
def test_arguments_that_could_not_be_read_are_quoted(run):
    request = ask(never, raw='{"city": "Kö', problem="it ends inside a string")

    assert run(request).error == (
        'The arguments are invalid: it ends inside a string. They were: {"city": "Kö'
    )
    assert len(run(ask(never, raw="x" * 5000, problem="no JSON")).error) < 1100


class Unit(enum.Enum):
    CELSIUS = "C"


@dataclasses.dataclass
class Place:
    city: str
    height: int = 0


@dataclasses.dataclass
class Filters:
    author: str | None = "me"
    year: int = 2026
    tags: list["Tag"] | None = None


class Tag(pydantic.BaseModel):
    weight: int | None = None
    name: str = "all"


def typed(
    n: int, unit: Unit = Unit.CELSIUS, day: date | None = None, place: Place | None = None, x: float = 1
):
    return repr([n, unit, day, place, x])


@both
def test_arguments_become_what_the_hints_say(run):
    request = ask(typed, n=3.0, unit="C", day="2026-05-04", place={"city": "Köln", "height": None}, x=2)

    assert run(request).value == repr([3, Unit.CELSIUS, date(2026, 5, 4), Place("Köln"), 2.0])


@both
def test_a_null_for_an_optional_argument_means_its_default(run):
    assert run(ask(typed, n=1, unit=None, x=None)).value == repr([1, Unit.CELSIUS, None, None, 1])


@both
def test_a_null_is_none_where_the_type_allows_it(run):
    seen = []

    def search(  # noqa: PLR0917 - one of each kind
        limit: int | None = 10,
        unit: Optional[Unit] = Unit.CELSIUS,  # noqa: UP045 - the older way
        page: int | None = pydantic.Field(1),
        filters: Filters | None = Filters("x"),  # noqa: B008 - it does not change
        anything: Any = 5,
        exact: bool = True,
    ):
        seen[:] = [limit, unit, page, filters, anything, exact]

    run(ask(search, **dict.fromkeys(signature(search).parameters)))
    assert seen == [None, None, None, None, None, True]
    run(ask(search))
    assert seen == [10, Unit.CELSIUS, 1, Filters("x"), 5, True]
    run(ask(search, filters={"author": None, "year": None, "tags": [{"weight": None, "name": None}]}))
    assert seen[3] == Filters(None, 2026, [Tag()])


@both
def test_every_unusable_argument_is_named(run):
    error = run(ask(typed, unit="K", day="soon", place={}, more=1)).error

    assert isinstance(error, str)
    assert error.startswith("The arguments are invalid: `n` is missing; there is no argument `more`; `unit`")
    assert "`day`" in error
    assert "`place.city`" in error


@pytest.mark.parametrize("n", ["3", True, None, 3.5, [3], {}])
def test_nothing_is_coerced(n):
    assert "`n` must be an integer" in invoke(ask(typed, n=n)).error


def test_given_types_and_hints_both_count():
    def f(colour: str, n=1):
        return [colour, n]

    options = {"arguments": {"colour": type_enum(values=["red"]), "n": type_integer(required=False)}}

    assert invoke(ask(f, colour="red", n=2.0, options=options)).value == ["red", 2]
    assert '`colour` must be one of ["red"]' in invoke(ask(f, colour="blue", options=options)).error


def test_without_convert_the_json_arrives_as_it_came():
    def f(unit: Unit, n: int = 1, deep: Any = None):
        return [unit, n, deep]

    options = {"convert": False}

    assert invoke(ask(f, unit="K", n="3", deep=[1.0], options=options)).value == ["K", "3", [1.0]]
    assert invoke(ask(f, unit="K", n=None, options=options)).value == ["K", 1, None]
    assert "no argument `m`" in invoke(ask(f, unit="K", m=1, options=options)).error
    assert "`unit` is missing" in invoke(ask(f, options=options)).error


def test_positional_only_and_open_parameters():
    def f(a: int = 1, b: int = 2, /, *rest: int, c: int = 3, **more: int):
        return [a, b, rest, c, more]

    assert invoke(ask(f, b=5, c=6)).value == [1, 5, [], 6, {}]
    assert "no argument `d`" in invoke(ask(f, d=4)).error
    options = {"arguments": type_object(a=int, b=int, c=int, _additional_properties=True)}
    assert invoke(ask(f, a=1, b=2, c=3, d=4, options=options)).value == [1, 2, [], 3, {"d": 4}]


def test_what_a_partial_has_bound_cannot_be_given():
    def f(query: str, user: str):
        return [query, user]

    assert invoke(ask(functools.partial(f, user="me"), query="x")).value == ["x", "me"]
    assert "no argument `user`" in invoke(ask(functools.partial(f, user="me"), query="x", user="root")).error


def test_a_default_may_be_a_pydantic_field():
    five, empty = pydantic.Field(5, gt=0), pydantic.Field(default_factory=list)

    def f(n: int = five, tags: list[str] = empty):
        return [n, tags]

    assert invoke(ask(f)).value == [5, []]
    assert "`n`" in invoke(ask(f, n=0)).error


def test_the_tool_gets_arguments_of_its_own():
    def f(items: Any):
        items.append("changed")
        return items

    request = ask(f, items=["a"], options={"convert": False})

    assert invoke(request).value == ["a", "changed"]
    assert request.arguments == {"items": ["a"]}


# what the tool does -----------------------------------------------------------------------------------------


@both
def test_what_it_raises_is_an_error_result(run):
    def f():
        raise ZeroDivisionError("by zero")

    result = run(request := ask(f))

    assert isinstance(result.error, ZeroDivisionError)
    assert result.request is request
    assert result_text(result) == "Tool calling failed with error by zero"


@both
@pytest.mark.parametrize(
    "error", [StopIteration("s"), TimeoutError("its own"), TypeError("t"), KeyError("k")]
)
def test_any_exception_is_one(run, error):
    def f():
        raise error

    assert run(ask(f)).error is error


@both
def test_it_may_refuse(run):
    error = run(ask(lambda: tool_reject("Not on Sundays."))).error

    assert isinstance(error, ToolReject)
    assert str(error) == "Tool call rejected. Not on Sundays."


@both
def test_a_result_of_its_own_keeps_its_class_and_learns_of_its_request(run):
    @dataclasses.dataclass(frozen=True)
    class Shown(ContentToolResult):
        html: str = ""

    shown = Shown((1, 2), extra={"a": 1}, html="<b>", request=ContentToolRequest("another", "g"))

    assert run(request := ask(lambda: shown)) == Shown([1, 2], None, {"a": 1}, request, "<b>")
    assert shown.value == (1, 2)


@both
def test_a_value_that_cannot_be_sent_is_an_error_result(run):
    image = ContentImageInline("image/png", "abc")

    error = run(ask(lambda: {"deep": {"image": image}})).error

    assert isinstance(error, ToolResultError)
    assert "Tool `f`" in str(error)
    assert "`value.deep.image`" in str(error)


@both
def test_a_generator_is_drained_and_its_last_value_is_the_result(run):
    def f():
        yield "10 %"
        yield "90 %"
        yield {"done": True}

    def g():
        yield "half"
        return "all"

    progress: list = []
    assert run(ask(f), on_progress=progress.append).value == {"done": True}
    assert run(ask(g), on_progress=progress.append).value == "all"
    assert run(ask(lambda: (n for n in ()))).value is None
    assert progress == ["10 %", "90 %", {"done": True}, "half"]


@both
def test_a_generator_that_fails_half_way_is_an_error_result(run):
    def f():
        yield "half"
        raise OSError("disk full")

    assert str(run(ask(f)).error) == "disk full"


@pytest.mark.parametrize("leaves", [SystemExit, KeyboardInterrupt])
def test_the_program_may_still_be_ended(leaves):
    def f():
        raise leaves

    for options in ({}, {"timeout": 60}):
        with pytest.raises(leaves):
            invoke(ask(f, options=options))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["n", "unit", "day", "place", "x", "y"]), json_values))
def test_whatever_the_model_sends_there_is_an_answer(arguments):
    result = invoke(ask(typed, **arguments))

    assert isinstance(result_text(result), str)
    assert isinstance(result.error, str) or result.error is None


# async ------------------------------------------------------------------------------------------------------


async def slow(n: int = 1):
    await asyncio.sleep(0)
    return n + 1


async def counting():
    yield "half"
    yield "all"


class Called:
    async def __call__(self, n: int = 1):
        return n + 1


def test_an_async_tool_is_awaited():
    progress: list = []

    assert awaited(ask(slow, n=2)).value == 3
    assert awaited(ask(functools.partial(slow, n=2))).value == 3
    assert awaited(ask(Called())).value == 2
    assert awaited(ask(lambda: slow(5))).value == 6
    assert awaited(ask(counting), on_progress=progress.append).value == "all"
    assert progress == ["half", "all"]


@pytest.mark.parametrize("function", [slow, counting, Called(), functools.partial(slow), lambda: slow(5)])
@pytest.mark.parametrize("options", [{}, {"timeout": 60}])
def test_an_async_tool_in_a_blocking_call_names_the_way_out(function, options):
    with pytest.raises(AsyncToolError, match=r"Tool `f` is async.*chat_async"):
        invoke(ask(function, options=options))


def test_an_async_error_of_the_tools_own_is_an_error_result():
    async def f():
        raise AsyncToolError("of an inner chat")

    def g():
        raise AsyncToolError("of an inner chat")

    assert str(awaited(ask(f)).error) == "of an inner chat"
    assert str(invoke(ask(g)).error) == "of an inner chat"


def test_cancelling_the_caller_is_no_error_result():
    async def cancelled():
        task = asyncio.create_task(ainvoke(ask(asyncio.Event().wait)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def test_blocking_tools_of_async_callers_run_side_by_side():
    barrier = threading.Barrier(3, timeout=10)

    def meet():
        return barrier.wait()

    async def three():
        return await asyncio.gather(*(ainvoke(ask(meet)) for _ in range(3)))

    assert sorted(r.value for r in asyncio.run(three())) == [0, 1, 2]


user = contextvars.ContextVar("user")


def user_of_now():
    return user.get()


@both
@pytest.mark.parametrize("options", [{}, {"timeout": 60}])
def test_context_variables_reach_the_tool(run, options):
    user.set("me")

    assert run(ask(user_of_now, options=options)).value == "me"


# timeouts ---------------------------------------------------------------------------------------------------


@both
def test_a_tool_that_takes_too_long_is_an_error_result(run):
    release = threading.Event()
    result = run(
        ask(release.wait, options={"timeout": 0.01, "arguments": {"timeout": type_string(required=False)}})
    )
    release.set()

    assert isinstance(result.error, TimeoutError)
    assert str(result.error) == "The tool `f` gave no result within 0.01 seconds."


def test_an_async_tool_that_takes_too_long_is_cancelled():
    cancelled: list = []

    async def f():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    assert isinstance(awaited(ask(f, options={"timeout": 0.01})).error, TimeoutError)
    assert cancelled == [True]


@both
def test_one_that_is_in_time_is_not(run):
    assert run(ask(lambda: 1, options={"timeout": 60})).value == 1


@pytest.mark.parametrize("shown", [None, []])
def test_progress_in_html_is_its_words(shown):
    class Tag:
        def __str__(self):
            return "<b>50&nbsp;%</b>"

    def work():
        local_shinychat().append(Tag())
        local_shinychat().replace(Tag())
        return "done"

    request = ContentToolRequest("c", "work", {}, tool(work, "Works."))
    with showing(lambda _request, text: (shown if shown is not None else []).append(text)):
        assert invoke(request).value == "done"
    assert shown in (None, ["50\xa0%", "50\xa0%"])
    assert invoke(request).value == "done"
