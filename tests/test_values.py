"""Values are equal, hashed and shown as the dataclasses that `dataclass` itself would make."""

from dataclasses import FrozenInstanceError, dataclass, field, make_dataclass, replace
from typing import Any

import pytest

from ellmer_core import ContentText, ContentToolResult, Tokens, Turn, UserTurn
from ellmer_core.base.values import Value


@dataclass(frozen=True, eq=False, repr=False)
class Ours(Value):
    a: Any
    b: int = field(default=2, compare=False)
    c: str = field(default="c", repr=False)


Theirs = make_dataclass(
    "Ours",
    [("a", Any), ("b", int, field(default=2, compare=False)), ("c", str, field(default="c", repr=False))],
    frozen=True,
)
ARGUMENTS = [(1,), (1, 3), (1, 2, "d"), ((1, "x"),), (None,)]


@pytest.mark.parametrize("one", ARGUMENTS)
@pytest.mark.parametrize("other", ARGUMENTS)
def test_they_are_equal_when_generated_ones_are(one, other):
    assert (Ours(*one) == Ours(*other)) is (Theirs(*one) == Theirs(*other))
    assert (hash(Ours(*one)) == hash(Ours(*other))) is (hash(Theirs(*one)) == hash(Theirs(*other)))
    assert repr(Ours(*one)) == repr(Theirs(*one))


def test_another_class_is_not_equal():
    @dataclass(frozen=True)
    class Derived(ContentText):
        mood: str = ""

    assert Ours(1) != Theirs(1)
    assert ContentText("a") != Derived("a")
    assert Derived("a", mood="b") == replace(Derived("a"), mood="b") != Derived("a")
    assert repr(Derived("a", mood="b")).endswith(".Derived(text='a', mood='b')")


def test_what_holds_itself_can_be_shown():
    values: list[Any] = []
    values.append(Ours(values))
    assert repr(values) == "[Ours(a=[...], b=2)]"


def test_nothing_can_be_set():
    with pytest.raises(FrozenInstanceError):
        ContentText("a").text = "b"
    assert {Tokens(1, 2), Tokens(1, 2)} == {Tokens(1, 2)}
    assert ContentToolResult([1]) == ContentToolResult([1])
    assert UserTurn("a") == UserTurn("a") != Turn("a")
