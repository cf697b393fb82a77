"""What the linter says in a pull request: changed recordings only, one finding for each cause, its test, and a fix."""

import json
import os
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from conformance_command import run

from ellmer_conformance.contract import rules
from ellmer_conformance.recordings.lint import as_json, fix_of, from_json, lint_file
from ellmer_conformance.recordings.lint_report import IndexOfTests
from ellmer_conformance.report.requirements import LATEST

URL = "https://api.openai.com/v1/chat/completions"
ASK = {"role": "user", "content": "Hi"}
CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
GOOD = {"model": "gpt-4.1", "messages": [ASK]}
UNKNOWN = {**GOOD, "temprature": 1}


def written(path, *bodies):
    """Writes a cassette."""
    path.parent.mkdir(parents=True, exist_ok=True)
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "{}"}}
    interactions = [
        {
            "request": {"method": "POST", "uri": URL, "headers": {}, "body": json.dumps(body)},
            "response": response,
        }
        for body in bodies
    ]
    path.write_text(json.dumps({"version": 1, "interactions": interactions}))
    return path


def git(folder, *command):
    name = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *name, *command], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Returns a repository with an old recording that breaks a rule, and a changed and a new one that break it, too."""
    written(tmp_path / "tests/cassettes/test_chat/test_old.json", UNKNOWN)
    written(tmp_path / "tests/cassettes/test_chat/test_changed.json", GOOD)
    (tmp_path / "tests/test_chat.py").write_text(
        "class TestNew:\n    async def test_new(self):\n        ...\n\n\ndef test_changed():\n    ...\n"
    )
    (tmp_path / "tests/chat_spec.rb").write_text(
        'it "asks" do\n  VCR.use_cassette("chat/asks") { ask }\nend\n'
    )
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    written(tmp_path / "tests/cassettes/test_chat/test_changed.json", UNKNOWN, UNKNOWN)
    git(tmp_path, "commit", "-qam", "y")
    written(tmp_path / "tests/cassettes/test_chat/TestNew.test_new[a].json", UNKNOWN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def paths(outcome):
    return {Path(file["path"]).name for file in json.loads(outcome.output)["files"]}


def test_only_what_changed_since_a_revision(repository):
    outcome = run("lint", "tests/cassettes", "--since", "HEAD~1", "--format", "json")
    assert paths(outcome) == {"test_changed.json", "TestNew.test_new[a].json"}
    assert paths(run("lint", "tests/cassettes", "--since", "HEAD", "--format", "json")) == {
        "TestNew.test_new[a].json"
    }
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "z")
    nothing = run("lint", "tests/cassettes", "--since", "HEAD")
    assert nothing.exit_code == 0
    assert "No recording under these paths has changed" in nothing.output


@pytest.mark.parametrize("revision", ["nothing", "--output=x"])
def test_a_revision_that_is_not_there(repository, revision):
    outcome = run("lint", "tests", f"--since={revision}")
    assert outcome.exit_code == 2
    assert "fetch-depth: 0" in outcome.output


def test_one_finding_for_each_cause_with_the_tests_that_recorded_it(repository):
    outcome = run("lint", "tests/cassettes")
    assert "REQ-024 MUST reject (violation), 4 requests in 3 recordings" in outcome.output
    assert "also openai-chat/REQ-101" in outcome.output
    assert "made by tests/test_chat.py::test_changed" in outcome.output
    assert "made by tests/test_chat.py::test_new" in outcome.output
    assert max(map(len, outcome.output.splitlines())) <= 80

    annotations = run("lint", "tests/cassettes", "--format", "github").output
    assert annotations.count("::error") == 1
    assert "4 requests in 3 recordings" in annotations


def test_a_test_that_names_its_recording(repository):
    path = written(repository / "spec/fixtures/chat/asks.json", GOOD)
    assert IndexOfTests().of(str(path)) == "tests/chat_spec.rb:2"
    assert IndexOfTests().of("s3://bucket/chat.json") == ""


def test_the_text_of_a_comment(repository):
    written(repository / "odd.json", {**GOOD, "<script>@everyone": 1})
    text = run("lint", ".", "--format", "comment").output
    assert text.startswith("### conformance lint: ")
    assert "**openai-chat/REQ-024** (violation)" in text
    assert "made by `tests/test_chat.py::test_changed`" in text
    assert "\\<script\\>@<!-- -->everyone" in text
    assert "Leave out /temprature; the rules are kept then." in text


def test_other_forms_of_the_same_run(repository):
    outcome = run("lint", "tests/cassettes", "--write", "sarif=a.sarif", "--write", "comment=a.md")
    assert json.loads(Path("a.sarif").read_text())["runs"][0]["results"]
    assert Path("a.md").read_text().startswith("### conformance lint")
    assert "violation" in outcome.output
    assert run("lint", "tests", "--write", "pdf=a.pdf").exit_code == 2


def test_a_baseline_for_what_is_old(repository):
    assert run("lint", "tests/cassettes", "--write-baseline", "old.toml").exit_code == 0
    assert run("lint", "tests/cassettes", "--baseline", "old.toml").exit_code == 0
    written(repository / "tests/cassettes/test_chat/test_more.json", UNKNOWN)
    assert run("lint", "tests/cassettes", "--baseline", "old.toml").exit_code == 1
    assert run("lint", "tests/cassettes", "--write-baseline", "old.toml").exit_code == 2


STRANGE = (
    "\n::error::a.json",
    "*.json",
    "`\n\n# a.json",
    "\x1b[31m\u202e.json",
    os.fsdecode(b"\xff.json"),
    "'''\n[[expect]].json",
)


@pytest.mark.parametrize("form", ["text", "github", "comment", "json", "sarif"])
@pytest.mark.parametrize("name", STRANGE, ids=ascii)
def test_the_name_of_a_recording_is_only_a_name(repository, name, form):
    written(repository / "new" / name, UNKNOWN)
    outcome = run("lint", "new", "--since", "HEAD", "--format", form)

    assert outcome.exit_code == 1
    assert not re.search(r"^\s*(::error::|# a|\[\[)", outcome.output, re.MULTILINE)
    assert not re.search("[\x1b\u202e]", outcome.output)


@pytest.mark.parametrize("form", ["text", "comment", "json", "sarif"])
def test_a_report_names_the_set_of_requirements(repository, form):
    assert LATEST in run("lint", "tests", "--format", form).output


def test_a_baseline_expects_what_is_in_it_and_no_pattern(repository):
    for name in STRANGE:
        written(repository / "new" / name, UNKNOWN)
    assert run("lint", "new", "--write-baseline", "new.toml").exit_code == 0
    assert run("lint", "new", "--baseline", "new.toml").exit_code == 0
    written(repository / "new" / "other.json", UNKNOWN)
    assert run("lint", "new", "--baseline", "new.toml").exit_code == 1


def test_what_others_wrote_into_a_file_of_resume_is_not_read(repository):
    assert run("lint", "tests", "--resume", "r").exit_code == 1
    for report in ("", "[]", "1", "{}", '{"path": 1}', "[" * 100_000):
        with closing(sqlite3.connect("r")) as base, base:
            base.execute("UPDATE files SET report = ?", (report,))
        assert "4 requests judged" in run("lint", "tests", "--resume", "r").output


def fixes(body, rule):
    """Returns the fixes of a rule's violations in a body."""
    book = rules.book("openai-chat")
    request = book.request(body)
    found = (violation for verdict in book.judge(request) for violation in verdict.violations)
    return [fix_of(book, request, violation) for violation in found if violation.rule.id == rule]


@pytest.mark.parametrize(
    ("body", "rule", "fix"),
    [
        (UNKNOWN, "REQ-024", {"op": "remove", "path": "/temprature"}),
        (
            {
                "model": "gpt-4.1",
                "messages": [
                    ASK,
                    {"role": "assistant", "tool_calls": [CALL]},
                    ASK,
                    {"role": "tool", "tool_call_id": "a", "content": "x"},
                ],
            },
            "ORD-002",
            {"op": "move", "from": "/messages/2", "path": "/messages/3"},
        ),
    ],
)
def test_a_fix_after_which_the_rules_are_kept(body, rule, fix):
    assert (fix,) in fixes(body, rule)


def test_no_fix_drops_what_a_message_says():
    body = {"model": "gpt-4.1", "messages": [ASK, {"role": "tool", "tool_call_id": "a", "content": "x"}]}
    assert fixes(body, "PAIR-002") == [()]


def test_a_report_of_a_file_survives_as_json(repository):
    report = lint_file(repository / "tests/cassettes/test_chat/test_old.json")
    assert report.complaints
    assert from_json(json.loads(json.dumps(as_json(report)))) == report


BODY = {**GOOD, "messages": [ASK, {"role": "tool", "tool_call_id": "c1", "content": "5"}]}


def _cassette(body, key="body"):
    request = {"method": "POST", "uri": URL, "headers": {}, key: body}
    return {
        "interactions": [
            {
                "request": request,
                "response": {
                    "status": {"code": 200, "message": "OK"},
                    "headers": {},
                    "body": {"string": "{}"},
                },
            }
        ],
        "version": 1,
    }


def _block(body):
    text = "\n".join(f"      {line}" for line in json.dumps(body, indent=1).splitlines())
    return f"version: 1\ninteractions:\n- response: {{status: {{code: 200, message: OK}}, headers: {{}}, body: {{string: ''}}}}\n  request:\n    method: POST\n    uri: {URL}\n    headers: {{}}\n    body: |-\n{text}\n"


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("one_line.yaml", yaml.safe_dump(_cassette(json.dumps(BODY), "body")), "body:"),
        ("a_block.yaml", _block(BODY), '"role": "tool"'),
        ("parsed.yaml", yaml.safe_dump(_cassette(BODY, "parsed_body")), "- content: '5'"),
        ("ours.json", json.dumps(_cassette(json.dumps(BODY)), indent=1), '"body": "{'),
    ],
)
def test_an_annotation_is_at_the_line_of_the_message(tmp_path, name, content, line):
    (tmp_path / name).write_text(content)

    found = run("lint", "--format", "github", str(tmp_path / name)).output

    number = int(re.search(r"line=(\d+),title=openai-chat/PAIR-002", found)[1])
    assert line in content.splitlines()[number - 1 + (line == '"role": "tool"')]
