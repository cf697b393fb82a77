"""Parallel prompts with a file: what was answered is not asked again."""

import json
import resource
import tracemalloc
from collections import Counter
from contextlib import contextmanager

import pytest
from chats.many import chat_with, provider

from ellmer_core import EllmerWarning
from ellmer_core.errors import UsageError
from ellmer_core.jobs.parallel import Journal, parallel_chat, parallel_chat_structured, parallel_chat_text
from ellmer_core.schemas.type_functions import type_integer, type_object
from ellmer_core.testing import ScriptedModel

PROMPTS = [f"prompt {n}" for n in range(6)]


class Answers:
    """Answers with the prompt in capitals. Prompts in `refused` get an error."""

    def __init__(self, *refused):
        self.refused, self.asked = set(refused), Counter()

    def __call__(self, messages):
        prompt = messages[-1]["content"]
        self.asked[prompt] += 1
        if prompt in self.refused:
            return 400
        return {"role": "assistant", "content": prompt.upper()}


@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_only_what_is_missing_is_asked_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    answers = Answers("prompt 2", "prompt 5")
    with provider(answers) as url:
        chat = chat_with(url, "Shout.")
        first = parallel_chat(chat, PROMPTS, rpm=1e6, on_error="continue", path=path)
        answers.refused.clear()
        chats = parallel_chat(chat, PROMPTS, rpm=1e6, path=path)
        texts = parallel_chat_text(chat, PROMPTS, rpm=1e6, path=path)
        assert chats[0].chat("again") == "AGAIN"
    assert [type(each).__name__ for each in first] == ["Chat", "Chat", "BadRequestError"] * 2
    assert texts == [prompt.upper() for prompt in PROMPTS]
    assert [each.last_turn().text for each in chats[1:]] == texts[1:]
    assert chats[1].get_system_prompt() == "Shout."
    assert answers.asked == {**dict.fromkeys(PROMPTS, 1), "prompt 2": 2, "prompt 5": 2, "again": 1}


SAME = [""] * 10_000  # fingerprints of prompts


@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_a_job_goes_on_with_more_prompts(tmp_path):
    """Also with another text for a prompt that failed."""
    path, answers = tmp_path / "a", Answers("prompt 2")
    with provider(answers) as url:
        chat = chat_with(url)
        parallel_chat(chat, PROMPTS[:3], rpm=1e6, on_error="continue", path=path)
        more = [*PROMPTS[:2], "a better one", *PROMPTS[3:]]
        texts = parallel_chat_text(chat, more, rpm=1e6, path=path)
        assert parallel_chat_text(chat, more, rpm=1e6, path=path) == texts
    assert texts == [prompt.upper() for prompt in more]
    assert answers.asked == {**dict.fromkeys([*PROMPTS, *more], 1)}


@pytest.mark.parametrize("changed", [PROMPTS[:-1], [*PROMPTS[:-1], "another"], PROMPTS[::-1]])
def test_an_answer_is_never_that_of_another_prompt(tmp_path, changed):
    path, answers = tmp_path / "a", Answers()
    with provider(answers) as url:
        parallel_chat(chat_with(url), PROMPTS, rpm=1e6, path=path)
        before = path.read_bytes()
        with pytest.raises(UsageError, match="differs in prompts that were answered"):
            parallel_chat(chat_with(url), changed, rpm=1e6, path=path)
    assert path.read_bytes() == before


def test_a_line_that_was_cut_is_asked_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    answers = Answers()
    with provider(answers) as url:
        parallel_chat_text(chat_with(url), PROMPTS, rpm=1e6, path=path, max_active=1)
        path.write_bytes(path.read_bytes()[:-9])
        for _ in range(2):
            texts = parallel_chat_text(chat_with(url), PROMPTS, rpm=1e6, path=path)
    assert texts == [prompt.upper() for prompt in PROMPTS]
    assert answers.asked == {**dict.fromkeys(PROMPTS, 1), "prompt 5": 2}
    assert sorted(json.loads(line).get("place", -1) for line in path.read_text().splitlines()) == [
        *range(-1, 6)
    ]


def test_data_are_read_again(tmp_path):
    asked = []

    def answer(messages):
        asked.append(messages)
        return {"role": "assistant", "content": '{"x": 3}'}

    with provider(answer) as url:
        for _ in range(2):
            data = parallel_chat_structured(
                chat_with(url), PROMPTS, type=type_object(x=type_integer()), rpm=1e6, path=tmp_path / "a"
            )
    assert data == [{"x": 3}] * 6
    assert len(asked) == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "belongs|no answers"),
        ("{", "no answers of parallel prompts"),
        ("[]\n", "no answers of parallel prompts"),
        ('{"version": 1, "asked": []}\n', "no answers of parallel prompts"),
        ('{"version": 1, "asked": {}}\n{"place": [], "turns": []}\n', "no answers of parallel prompts"),
        ("[" * 100_000 + "\n", "no answers of parallel prompts"),
        ('{"version": 2, "asked": {}}\n', "version 2"),
        ('{"version": 1, "asked": {"provider": "x"}}\n', "another call: it differs in provider"),
    ],
)
def test_another_file_is_left_alone(tmp_path, text, words):
    path = tmp_path / "a"
    path.write_text(text)
    with provider(Answers()) as url, pytest.raises(UsageError, match=words):
        parallel_chat(chat_with(url), PROMPTS, path=path)
    assert path.read_text() == text


@contextmanager
def full_after(path, size):
    """The disk takes only so many bytes more of a file: the rest of a write is refused, as where a disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_line_that_the_disk_cuts_damages_no_other(tmp_path):
    path, asked = tmp_path / "a", {"prompts": "x"}
    chat = ScriptedModel("Hello!").chat()
    chat.chat("Hi")
    journal = Journal(path, asked, SAME)
    journal.add(0, chat, 0)
    for size in (0, 1, 20):
        with full_after(path, size), pytest.raises(OSError, match="large"):
            journal.add(1, chat, 0)
    journal.add(2, chat, 0)

    assert Journal(path, asked, SAME).lines.keys() == {0, 2}


@pytest.mark.parametrize("on_error", ["return", "continue"])
def test_an_answer_that_cannot_be_written_is_returned(tmp_path, on_error):
    path = tmp_path / "a"
    chat = ScriptedModel(*"ABCDEFG").chat()
    many = {"rpm": 1e6, "path": path, "max_active": 1, "on_error": on_error, "progress": False}
    parallel_chat_text(chat, PROMPTS[:1], **{**many, "path": tmp_path / "b"})
    with full_after(tmp_path / "b", 200), pytest.warns(EllmerWarning, match="only in memory"):
        texts = parallel_chat_text(chat, PROMPTS, **many)

    written = len(path.read_bytes().splitlines()) - 1
    assert written < 5
    answered = written + 1 if on_error == "return" else 6
    assert texts == [*"BCDEFG"[:answered], *[None] * (6 - answered)]


def test_the_memory_has_one_line_of_a_journal_at_a_time(tmp_path):
    path, asked = tmp_path / "a", {"prompts": "x"}
    Journal(path, asked, SAME)
    with path.open("ab") as file:
        for place in range(200):
            file.write(json.dumps({"place": place, "prompt": "", "turns": ["x" * 20_000]}).encode() + b"\n")
    tracemalloc.start()
    try:
        journal = Journal(path, asked, SAME)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(journal.lines) == 200
    assert peak < path.stat().st_size / 10
