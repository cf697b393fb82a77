"""Prompts from templates."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.prompt_templates import interpolate, interpolate_file
from ellmer_core.errors import UsageError


def test_names_between_double_braces_are_replaced():
    assert interpolate("{{a}} and {{ b }}, {{\na }}", a=1, b="two") == "1 and two, 1"


def test_single_braces_are_text():
    template = 'Answer as {"city": {"name": "{{ city }}"}}'

    assert interpolate(template, city="Köln") == 'Answer as {"city": {"name": "Köln"}}'


@pytest.mark.slow
@given(st.text(), st.text())
def test_a_value_is_never_looked_at_again(first, second):
    assert interpolate("{{ a }}|{{ b }}", a=first + "{{ b }}", b=second) == f"{first}{{{{ b }}}}|{second}"


def test_values_may_bear_any_name(tmp_path):
    file = tmp_path / "prompt.md"
    file.write_text("{{ path }} {{ template }}", encoding="utf-8")

    assert interpolate_file(file, path="a", template="b") == "a b"
    assert interpolate_file(str(file), path="a", template="b") == "a b"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ town }}", "needs a value for `town`; the values given are: city, n"),
        ("{{ city.name }}", "not 'city.name'"),
        ("{{ }}", "not ''"),
        ("{{ n + 1 }}", "not 'n + 1'"),
    ],
)
def test_what_cannot_be_filled_in(template, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        interpolate(template, city="Köln", n=1)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match=r"missing\.md cannot be read"):
        interpolate_file(tmp_path / "missing.md")
    tmp_path.joinpath("latin.md").write_bytes(b"K\xf6ln")
    with pytest.raises(UsageError, match=r"latin\.md cannot be read"):
        interpolate_file(tmp_path / "latin.md")
