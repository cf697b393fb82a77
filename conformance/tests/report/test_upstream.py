"""A bug report for each cause, ready for a client's tracker."""

import json
import platform
import re
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from conformance_command import run, run_in

from ellmer_conformance.report import Report, Row
from ellmer_conformance.report.formats.upstream import reports, title_of

WANTED = ("**What the API says.**", "**To see it.**", "**Versions.**", "**Rule.**")
CHOSEN = ("--wire", "openai-chat", "--case", "plain_text", "--mode", "sync")


@pytest.mark.slow
def test_each_cause_is_a_report(tmp_path):
    broken = "ellmer_conformance.adapters.broken_on_purpose:ForgetsAnswers"
    run_in(tmp_path, "run", "--against", "server", "--adapter", broken, *CHOSEN, "--report", tmp_path / "out")

    done = run("report", "upstream", "--report", tmp_path / "out", "--out", tmp_path / "upstream")

    files = [*(tmp_path / "upstream").iterdir()]
    text = files[0].read_text("utf-8")
    assert done.exit_code == 0, done.output
    assert f"wrote {files[0]}" in done.output
    assert all(part in text for part in WANTED)
    assert text.startswith("# openai-chat: ")
    assert "```python" in text
    assert "ellmer-core" in text.partition("**Versions.**")[2]
    assert len(text.splitlines()) < 35


def test_a_report_says_each_thing_once():
    """A maintainer read the message three times, and twenty links before the versions."""
    place = ("theirs", "openai-chat", "openai", "plain_text", "sync")
    said = "its text is changed: the model said 'First, this.', and what goes back is 'First'"
    row = Row(*place, "HIS-006", "MUST", "loss", "fail", 1, "/exchanges/1/request", said)
    shown = "\n".join([f"line {n}" for n in range(20)] + ["```"])
    rule = {
        "wire": "openai-chat",
        "id": "HIS-006",
        "sentence": "It goes back.",
        "source": ["https://a", "https://github.com/a/b/issues/1 (words)", "https://github.com/a/b/issues/2"],
    }
    [(_, text)] = reports(Report([replace(row, excerpt=shown)], rules=[rule]))

    assert text.startswith(
        f"# openai-chat: its text is changed\n\nIt goes back. Here, {said}.\n\n```\nline 0\n"
    )
    assert text.count("First, this.") == 1
    assert "line 7" in text
    assert "line 8" not in text
    assert "See also <https://github.com/a/b/issues/1>." in text
    assert not any(each in text for each in ("https://a", "issues/2"))
    assert "Seen in 1 run: openai-chat." in text


def test_a_loss_without_a_place_is_shown_in_the_last_messages_of_the_request():
    place = ("theirs", "openai-chat", "openai", "plain_text", "sync")
    row = Row(*place, "HIS-006", "MUST", "loss", "fail", 1, "/exchanges/1/request", "lost", exchange="sent")
    messages = [{"role": "user", "content": f"{n} {'x' * 400}"} for n in range(10)]
    report = Report([row, replace(row, rule="TXT-005", pointer="/replies/1", mode="stream")])
    report.exchanges = {"sent": {"body": {"messages": messages}}}
    [(_, of_a_request), (_, of_a_reply)] = reports(report)

    lines = of_a_request.partition("The last messages of the request:")[2].splitlines()[3:11]
    assert [line[:32] for line in lines] == [f'{{"role": "user", "content": "{n} x' for n in range(2, 10)]
    assert all(len(line) == 240 for line in lines)
    assert "The last messages" not in of_a_reply
    assert "what the client makes of the answer" in of_a_reply


def test_a_report_shows_no_line_that_would_end_its_block():
    place = ("theirs", "openai-chat", "openai", "plain_text", "sync")
    row = Row(
        *place, "HIS-006", "MUST", "loss", "fail", 1, "/x", "lost", excerpt='"content": "```\n# A title"'
    )
    [(_, text)] = reports(Report([row]))

    assert text.count("```") == 4


def test_without_a_failure_nothing_is_written(tmp_path):
    run_in(tmp_path, "run", "--against", "server", *CHOSEN, "--report", tmp_path / "out")

    done = run("report", "upstream", "--report", tmp_path / "out", "--out", tmp_path / "upstream")

    assert done.exit_code == 0
    assert "Nothing failed" in done.output
    assert not (tmp_path / "upstream").exists()


def test_what_a_baseline_expects_is_reported_unless_it_passes():
    place = ("theirs", "openai-chat", "openai", "plain_text", "sync")
    known = Row(
        *place, "HIS-006", "MUST", "loss", "expected-fail", 1, "/exchanges/1/request", "its text is lost"
    )
    passing = Row(*place, "TXT-005", "MUST", "loss", "unexpected-pass", 1)

    assert [name for name, _ in reports(Report([passing, known]))] == ["01-theirs-openai-chat-HIS-006.md"]


def test_a_report_is_about_the_wire_format_with_most_of_the_failures():
    def counted(wire, case):
        place = ("theirs", wire, "anywhere", case, "sync")
        return Row(*place, "USG-001", "MUST", "loss", "fail", 1, "/replies/0", "the provider counted 1")

    rows = [counted("openai-chat", "a"), counted("anthropic", "b"), counted("anthropic", "c")]

    assert [name for name, _ in reports(Report(rows))] == ["01-theirs-anthropic-USG-001.md"]


def test_the_report_about_a_command_names_its_program_and_the_packages_beside_it(tmp_path):
    (tmp_path / "driver.js").write_text("")
    (tmp_path / "package.json").write_text('{"dependencies": {"openai": "^9.1.0", "ai": "^9.0.0"}}')
    (tmp_path / "node_modules" / "ai").mkdir(parents=True)
    (tmp_path / "node_modules" / "ai" / "package.json").write_text('{"version": "9.0.3"}')
    row = Row(
        "a command", "openai-chat", "openai", "one_tool", "sync", "PAIR-001", "MUST", "reject", "fail", 1
    )
    named = {"a command": f"command:{sys.executable} {tmp_path / 'driver.js'}"}
    [(_, text)] = reports(Report([row], named=named))
    versions = text.partition("**Versions.** ")[2].splitlines()[0]

    assert (
        f"{Path(sys.executable).name} Python {platform.python_version()}, openai ^9.1.0, ai 9.0.3, "
        in versions
    )


def test_a_command_that_is_gone_has_no_version():
    row = Row(
        "a command", "openai-chat", "openai", "one_tool", "sync", "PAIR-001", "MUST", "reject", "fail", 1
    )
    [(_, text)] = reports(Report([row], named={"a command": "command:no-such-program driver.js"}))

    assert "**Versions.** ellmer-core" in text


def test_the_report_about_a_library_names_each_of_its_packages_and_where_its_adapter_is():
    row = Row("pytest", "openai-chat", "openai", "one_tool", "sync", "PAIR-001", "MUST", "reject", "fail", 1)
    [(_, text)] = reports(Report([row]))

    assert f"pytest-xdist {version('pytest-xdist')}" in text.partition("**Versions.** ")[2]
    assert "the installed package with the adapter `pytest`." in text


def test_the_report_about_a_bridged_library_says_how_to_install_its_bridge():
    row = Row(
        "haystack", "openai-chat", "openai", "one_tool", "sync", "PAIR-001", "MUST", "reject", "fail", 1
    )
    [(_, text)] = reports(Report([row]))

    assert "`pip install 'ellmer-peers[haystack] @ git+https://" in text
    assert "/ellmer_peers/haystack.py> calls the library." in text
    assert "At its end, it prints `PAIR-001 " in text


def test_the_answer_that_was_misread_is_shown_without_its_counts():
    place = ("theirs", "openai-chat", "openai", "refused_answer", "sync")
    row = Row(*place, "STP-007", "MUST", "loss", "fail", 1, "/replies/0", "it is empty", exchange="a")
    answer = {"id": "chatcmpl-1", "choices": [{"message": {"refusal": "No."}}], "usage": {"total_tokens": 9}}
    source = {"wire": "openai-chat", "id": "STP-007", "sentence": "It says so."}
    source["source"] = ["https://ai.google.dev/a", "https://platform.openai.com/b"]
    report = Report([row], rules=[source], exchanges={"a": {"status": 200, "answer": json.dumps(answer)}})
    [(_, text)] = reports(report)

    assert 'The answer:\n\n```\n{"choices": [{"message": {"refusal": "No."}}]}\n```' in text
    assert "Source: <https://platform.openai.com/b>." in text


@pytest.mark.parametrize(
    ("pointer", "said", "title"),
    [
        (
            "/varied/crosswise",
            "under crosswise (events are mixed (all)), the tool runs were a({}) and are b({})",
            "openai-chat: the tool runs differ (events are mixed (all))",
        ),
        (
            "/varied/page-200",
            f"under page-200 (a web page), it raises a bare ValueError: {'so ' * 40}",
            "openai-chat: it raises a bare ValueError: so so … (a web page)",
        ),
        ("/exchanges/0/request/input/0", "it is no image", "openai-chat: input/0 is no image"),
    ],
)
def test_a_title_says_what_happens_and_when(pointer, said, title):
    row = Row(
        "a", "openai-chat", "openai", "one_tool", "sync", "STR-012", "MUST", "loss", "fail", 1, pointer, said
    )
    found = re.sub(r"(?: so){3,} …", " so so …", title_of(row))

    assert found == title
    assert len(title_of(row)) <= 120


@pytest.mark.slow
def test_a_long_title_ends_at_a_word():
    said = "it says " + "something long " * 20
    row = Row(
        "a", "openai-chat", "openai", "one_tool", "sync", "HIS-006", "MUST", "loss", "fail", 1, "/x", said
    )
    [(_, text)] = reports(Report([row]))

    title = text.splitlines()[0]
    assert title.endswith(" …")
    assert f"# openai-chat: {said}".startswith(title.replace("…", ""))


@pytest.mark.parametrize(
    ("status", "expected"), [(400, "It answers 400: `Invalid `data` in it`"), (200, "It accepts the request")]
)
def test_a_refusal_that_no_rule_words_is_told(status, expected):
    place = ("theirs", "anthropic", "anthropic", "one_tool", "sync")
    row = Row(*place, "THK-006", "MUST", "loss", "fail", 1, "/exchanges/1/request", "it is redacted")
    said = {"status": status, "answer": '{"type": "error", "error": {"message": "Invalid `data` in it"}}'}
    [(_, text)] = reports(Report([replace(row, exchange="a")], exchanges={"a": said}))

    assert expected in text
