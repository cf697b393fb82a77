"""Data inside a model's text, and incomplete data."""

import pytest

from ellmer_core._chat.structured_output import begun_json, json_values


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        ' \n{"a": 1}\n',
        '```json\n{"a": 1}\n```',
        '```\n{"a": 1}\n```',
        'Here you are:\n\n```json\n{"a": 1}\n```\nAnything else?',
        'The data are {"a": 1}, as you asked.',
        '<think>Is it {"a": 2}?</think>{"a": 1}',
        '<think>I think {"a": 2}.</think>\n```json\n{"a": 1}\n```',
        'In [1] it is said: {"a": 1}',
        'Not {this}, but {"a": 1}',
    ],
)
def test_the_likeliest_value_comes_first(text):
    assert next(json_values(text)) == {"a": 1}


@pytest.mark.parametrize(
    "text", ["", "Sorry.", "{", "{" * 100_000, "[" * 5_000 + "]" * 5_000, "```json\n{\n```"]
)
def test_no_value_is_found_where_there_is_none(text):
    assert list(json_values(text)) == []


def test_several_values_are_tried_one_after_the_other():
    assert list(json_values('{"a": 1} and {"a": 1, "b": 2}')) == [{"a": 1, "b": 2}, {"a": 1}]


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("Well", None),
        ('Well: {"a"', '{"a"'),
        ("<think>{x", None),
        ("<think>{x</think>[1", "[1"),
        ("```json\n{", "{"),
    ],
)
def test_where_json_begins(text, begun):
    assert begun_json(text) == begun
