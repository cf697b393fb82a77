"""The files of jobs: one call at a time uses one, in any process, and what is no file of a job is an error that names it."""

import errno
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest
from chats.many import provider

import ellmer_core as ec
from ellmer_core.errors import EllmerWarning, UsageError
from ellmer_core.jobs import job_files
from ellmer_core.jobs.job_files import held

PROMPTS = [f"prompt {n}" for n in range(3)]
PROGRAM = """
import sys
import ellmer_core as ec
from ellmer_core.errors import UsageError
chat = ec.chat_openai_compatible(base_url=sys.argv[1], model="m", api_key="k", echo="none")
try:
    print(ec.parallel_chat_text(chat, sys.argv[3:], path=sys.argv[2], rpm=1e6))
except UsageError as error:
    print("refused:", error)
"""


class Slow:
    """Answers no prompt before it is released or one is asked twice, and counts them."""

    def __init__(self):
        self.begun, self.released, self.asked = Event(), Event(), Counter()

    def __call__(self, messages):
        prompt = messages[-1]["content"]
        self.asked[prompt] += 1
        self.begun.set()
        if self.asked[prompt] > 1:
            self.released.set()
        self.released.wait()
        return {"role": "assistant", "content": prompt.upper()}


def program(url, path):
    words = [sys.executable, "-c", PROGRAM, url, str(path), *PROMPTS]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_a_second_process_with_the_same_file_asks_nothing(tmp_path):
    path, answers = tmp_path / "answers.jsonl", Slow()
    with provider(answers) as url:
        first = program(url, path)
        answers.begun.wait()
        second, _ = program(url, path).communicate()
        assert (
            second
            == f"refused: {path} is in use by another call. Wait until it has ended, or use another path.\n"
        )
        answers.released.set()
        texts, _ = first.communicate()
        assert texts == f"{[prompt.upper() for prompt in PROMPTS]}\n"
        assert program(url, path).communicate()[0] == texts
    assert answers.asked == dict.fromkeys(PROMPTS, 1)
    assert [each.name for each in tmp_path.iterdir()] == ["answers.jsonl"]


def test_a_killed_process_holds_no_file(tmp_path):
    path, answers = tmp_path / "answers.jsonl", Slow()
    with provider(answers) as url:
        first = program(url, path)
        answers.begun.wait()
        first.send_signal(signal.SIGKILL)
        first.communicate()
        answers.released.set()
        assert program(url, path).communicate()[0] == f"{[prompt.upper() for prompt in PROMPTS]}\n"
    assert [each.name for each in tmp_path.iterdir()] == ["answers.jsonl"]


def test_many_processes_hold_a_file_one_after_the_other(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    count = f"""
from pathlib import Path
from ellmer_core.errors import UsageError
from ellmer_core.jobs.job_files import held
path = Path({str(path)!r})
left = 100
while left:
    try:
        with held(path):
            path.write_text(str(int(path.read_text()) + 1))
            left -= 1
    except UsageError:
        pass
"""
    programs = [subprocess.Popen([sys.executable, "-c", count]) for _ in range(3)]
    assert [program.wait() for program in programs] == [0, 0, 0]
    assert path.read_text() == "300"


def test_a_forked_process_holds_nothing(tmp_path):
    path, (reading, writing) = tmp_path / "answers.jsonl", os.pipe()
    with held(path):
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
    with held(path):
        os.close(writing)
    os.waitpid(child, 0)
    os.close(reading)


def _batch(path):
    return ec.batch_chat_text(ec.chat_openai(api_key="k", model="gpt-4.1", echo="none"), PROMPTS, path)


def _parallel(path):
    return ec.parallel_chat_text(
        ec.chat_openai(api_key="k", model="gpt-4.1", echo="none"), PROMPTS, path=path
    )


@pytest.mark.parametrize("work", [_batch, _parallel])
def test_a_file_that_another_call_holds_is_not_used(work, tmp_path):
    with held(tmp_path / "job"), pytest.raises(UsageError, match="in use by another call"):
        work(tmp_path / "job")


@pytest.mark.parametrize("work", [_batch, _parallel])
@pytest.mark.parametrize("make", ["pipe", "device", "folder", "deep"])
def test_what_is_no_file_of_a_job_is_named(work, make, tmp_path):
    path = tmp_path / "job"
    match make:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "deep":
            path.write_text("[" * 200_000 + "\n")
    with pytest.raises(
        UsageError, match=r"job (is not the state of a batch|has no answers of parallel prompts)"
    ):
        work(path)
    with suppress(FileNotFoundError):
        Path(f"{path}.lock").unlink()
        pytest.fail("the lock is left")


@pytest.fixture
def asked_for():
    """A function that runs a job with a file, and returns which prompts it asked for."""
    asked = []

    def run(path, **options):
        asked.clear()
        answers = ec.parallel_chat_text(chat, PROMPTS, path=path, max_active=1, rpm=1e6, **options)
        assert [each for each in answers if each] == [each for each in PROMPTS if each in answers]
        return [*asked]

    with provider(lambda messages: asked.append(messages[-1]["content"]) or messages[-1]) as url:
        chat = ec.chat_openai_compatible(base_url=url, model="m", api_key="k", echo="none")
        yield run


def test_another_name_of_a_file_is_the_same_file(asked_for, tmp_path):
    path, link = tmp_path / "job", tmp_path / "link"
    assert asked_for(path) == PROMPTS
    link.symlink_to(path)
    with held(path), pytest.raises(UsageError, match="in use by another call"):
        asked_for(link)
    assert asked_for(link) == []
    assert link.is_symlink()


def test_a_job_keeps_its_file_when_the_program_changes_the_folder(asked_for, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    assert asked_for("job", progress=lambda _: os.chdir(tmp_path / "elsewhere")) == PROMPTS
    assert asked_for(tmp_path / "job") == []


@pytest.mark.parametrize("name", ["job.lock", ".job.new"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("other")], ids=["pipe", "link"])
def test_what_somebody_has_put_beside_the_file_is_neither_waited_for_nor_written(
    name, make, asked_for, tmp_path
):
    (tmp_path / "other").write_text("of somebody else")
    make(tmp_path / name)
    assert asked_for(tmp_path / "job") == PROMPTS
    assert (tmp_path / "other").read_text() == "of somebody else"


CHANGES = {
    "deleted": Path.unlink,
    "emptied": lambda path: os.truncate(path, 0),
    "cut": lambda path: os.truncate(path, path.stat().st_size - 1),
    "replaced": lambda path: (
        path.with_suffix(".2").write_bytes(path.read_bytes()) and path.with_suffix(".2").replace(path)
    ),
    "a pipe": lambda path: path.unlink() or os.mkfifo(path),
    "a folder": lambda path: path.unlink() or path.mkdir(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_added_to_what_is_no_longer_the_file(change, asked_for, tmp_path):
    """A later run could not read it, and a pipe would be waited for. The answer is returned, and no further prompt is paid for."""
    path, found = tmp_path / "job", []

    def progress(_):
        if not found:
            CHANGES[change](path)
        found.append(path.read_bytes() if path.is_file() else None)

    with pytest.warns(EllmerWarning, match="The answer to prompt 1 is only in memory"):
        assert asked_for(path, progress=progress) == PROMPTS[:2]
    assert len(set(found)) == 1


def test_a_folder_that_is_only_read_has_the_answers_of_a_finished_job_and_asks_nothing(tmp_path, monkeypatch):
    path, answers = tmp_path / "answers.jsonl", Slow()
    answers.released.set()
    with provider(answers) as url:

        def asked(*prompts):
            chat = ec.chat_openai_completions(base_url=url, api_key="k", model="m", echo="none", max_tries=1)
            return ec.parallel_chat_text(chat, prompts, path=path)

        def only_read(lock):
            raise OSError(errno.EROFS, "Read-only file system", str(lock))

        assert asked("one", "two") == ["ONE", "TWO"]
        monkeypatch.setattr(job_files, "_locked", only_read)
        assert asked("one", "two") == ["ONE", "TWO"]
        with pytest.raises(OSError, match=r"Read-only file system\. Nothing was sent"):
            asked("one", "two", "three")
    assert answers.asked == {"one": 1, "two": 1}
