"""One failure of a report: its display, its comparison with others, and its reproduction."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from broken_runs.report import BROKEN, Ours, played, row

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.adapters.broken_on_purpose import ForgetsAnswers
from ellmer_conformance.report import Report, Row
from ellmer_conformance.report.report_diff import differences
from ellmer_conformance.report.repro_scripts import NotReproducible, as_curl, as_python, row_of
from ellmer_conformance.report.rows import excerpt, fingerprint
from ellmer_conformance.runner import reproduction
from ellmer_conformance.runner.reproduction import play_again
from ellmer_conformance.scenarios.messages import Text


def test_an_excerpt_marks_the_place_and_cuts_what_is_long():
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * 500}, {"role": "tool"}], "a/b": 1}

    assert (
        excerpt(body, "/exchanges/2/request/messages/1/role").splitlines()[2] == '>    9       "role": "tool"'
    )
    assert all(
        len(line) < 130 for line in excerpt(body, "/exchanges/0/request/messages/0/content").splitlines()
    )
    assert '>   12   "a/b": 1' in excerpt(body, "/exchanges/0/request/a~1b")
    assert '"messages": [' in [
        line[7:].strip()
        for line in excerpt(body, "/exchanges/0/request/messages/7").splitlines()
        if line[0] == ">"
    ]
    assert excerpt(body, "/replies/0") == ""


def test_a_fingerprint_outlives_a_line_that_is_added_to_the_adapter():
    told = "the call raised ValueError: no\n  the adapter at mine/adapter.py:{}: self.chat(text)"

    assert len({fingerprint("RUN-003", "/replies/0", told.format(line)) for line in (92, 96)}) == 1


def test_a_fingerprint_is_that_of_the_mistake():
    one = fingerprint("ORD-002", "/exchanges/0/request/messages/3", "no result for 'call_hB3qHHG01nzal'")

    assert one == fingerprint(
        "ORD-002", "/exchanges/1/request/messages/5", "no result for 'call_kmGfJTUi12vy6'"
    )
    assert one != fingerprint(
        "ORD-002", "/exchanges/0/request/messages/3", "two results for 'call_hB3qHHG01nzal'"
    )
    assert one != fingerprint(
        "ORD-003", "/exchanges/0/request/messages/3", "no result for 'call_hB3qHHG01nzal'"
    )


@pytest.mark.parametrize(
    "told",
    [
        "under cr (lines end in CR alone), the text is ''",
        "under cr, the text is ''; it raised: Expecting value\n(char 7)",
    ],
)
def test_the_words_that_explain_a_failure_do_not_count(told):
    """A baseline stays valid if a variation is described in other words, and if an error has another text."""
    assert fingerprint("STR-003", "/varied/cr", told) == fingerprint(
        "STR-003", "/varied/cr", "under cr, the text is ''"
    )


def test_the_address_of_the_strict_server_does_not_count():
    """LangChain.js names it in its errors, and the same failure was another one in each run."""
    told = "Error fetching from http://127.0.0.1:{}%40google/v1beta/models/m:generateContent: [400] no"
    one, other, third = (
        fingerprint("TXT-005", "/replies/0", told.format(each))
        for each in ("39423/c/one_tool/652", "8087/c/one_tool/7", "8087/c/one_tool/7%40google/v2")
    )

    assert one == other != third


def test_a_request_is_reproduced_by_a_script_of_its_own(report, tmp_path):
    script = tmp_path / "repro.py"
    script.write_text(as_python(report, row_of(report, BROKEN), request_only=True), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("POST\nhttp://127.0.0.1")
    assert "\n400 " in done.stdout
    assert "must be followed by tool messages" in done.stdout
    assert "ORD-003 /messages/" in done.stdout
    assert "ellmer_core" not in script.read_text("utf-8")


def test_a_request_of_anthropic_is_reproduced_with_the_header_of_its_version(tmp_path):
    place = ("theirs", "anthropic", "anthropic", "one_tool", "sync")
    broken = Row(*place, "EMP-001", "MUST", "reject", "fail", 1, "/exchanges/0/request/messages/0/content")
    body = {
        "model": "claude-sonnet-5",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}],
    }
    sent = {"wire": "anthropic", "url": "http://127.0.0.1:9/c/a/1/v1/messages", "body": body}
    found = Report([replace(broken, exchange="0")], exchanges={"0": sent})
    script = tmp_path / "repro.py"
    script.write_text(as_python(found, found.rows[0], request_only=True), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)

    assert "EMP-001 /messages/0/content/0" in done.stdout
    assert "anthropic-version: " in as_curl(found, found.rows[0])


def test_a_conversation_is_reproduced_with_the_adapter(report, tmp_path):
    stop = replace(row(report, "TXT-005", "plain_text"), verdict="fail", message="the text is lost")
    script = as_python(report, stop)

    compile(script, "repro.py", "exec")
    assert "#   session.send([Text(text=" in script
    assert "play_again('ellmer-core', 'openai-chat'" in script
    with pytest.raises(NotReproducible, match="whole conversation"):
        as_curl(report, stop)


def test_a_broken_request_is_reproduced_with_the_calls_of_the_library(tmp_path):
    """The script shows how the request came to be: the raw body alone tells nobody which call of the library to debug."""
    asked = {"ForgetsAnswers": "ellmer_conformance.adapters.broken_on_purpose:ForgetsAnswers"}
    found = played(ForgetsAnswers(), "system_prompt")
    broken = next(row for row in found.failures)
    found.named = {broken.adapter: asked["ForgetsAnswers"]}
    script = tmp_path / "repro.py"
    script.write_text(as_python(found, broken), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)

    assert "session.send([Text(" in script.read_text("utf-8")
    assert "adapter.session(Endpoint(" in done.stdout
    assert done.stdout.count("session.send([Text(") > 1
    assert f"{broken.rule} {broken.pointer}" in done.stdout


def test_a_declared_refusal_that_does_not_happen_is_shown_again(monkeypatch, capsys):
    """It is no violation of a rule: the client leaves the images out and says nothing."""

    class Forgetful(Ours):
        def session(self, *given, **named):
            told = self.inner.session(*given, **named)
            send = told.send
            told.send = lambda parts, **how: send([p for p in parts if isinstance(p, Text)], **how)
            return told

    forgetful = Forgetful(capabilities=lambda *_: Capabilities(image_in_user="refused"))
    monkeypatch.setattr(reproduction, "find_adapter", lambda _: forgetful)

    assert play_again("any", "anthropic", "anthropic", "image_from_user", "sync", rule="TRM-010") == 0
    assert "TRM-010 /replies image_in_user is declared as refused" in capsys.readouterr().out


def test_of_a_command_only_the_request_is_sent_again(report):
    broken = row_of(report, BROKEN)
    command = replace(
        report,
        named={"ellmer-core": "command:node driver.js"},
        plays=[replace(p, way="command") for p in report.plays],
    )

    assert "BODY = {" in as_python(command, broken)
    assert "play_again" in as_python(report, broken)


def test_curl_is_one_command(report):
    text = as_curl(report, row_of(report, BROKEN))

    assert "curl -sS -i http://127.0.0.1:8087/c/any/1@openai/v1/chat/completions" in text.replace("'", "")
    assert "conformance serve --port 8087" in text


def test_an_unknown_verdict_names_those_that_fail(report):
    with pytest.raises(NotReproducible, match=re.escape(BROKEN)):
        row_of(report, "ORD-03")


def test_a_rule_alone_is_its_first_failure(report):
    assert row_of(report, "ord-003") == row_of(report, BROKEN)


def test_differences_say_what_broke_and_what_was_fixed(report):
    def changed(**change):
        return Report(
            rows=[
                replace(r, **change) if r.verdict == "fail" and r.rule == "ORD-003" else r
                for r in report.rows
            ]
        )

    def rules(old, new):
        return {(d.sort, (d.new or d.old).rule) for d in differences(old, new)}

    fixed = changed(verdict="pass")
    assert rules(fixed, report) == {("broken", "ORD-003")}
    assert rules(report, fixed) == {("fixed", "ORD-003")}
    assert rules(report, changed(fingerprint="sha256:0")) == {("differs", "ORD-003")}
    assert {sort for sort, _ in rules(report, Report())} == {"gone"}
    assert differences(report, report) == []


def test_a_script_whose_adapter_is_not_installed_says_so(capsys):
    code = play_again("nowhere:ADAPTER", "openai-chat", "openai", "one_tool", "sync", rule="PAIR-001")
    assert code == 2
    assert "the adapter 'nowhere:ADAPTER' cannot be imported" in capsys.readouterr().err
