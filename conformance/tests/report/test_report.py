"""A broken library's report: rows with their evidence, in every form."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from broken_runs.report import BROKEN, row
from jsonschema import Draft202012Validator

from ellmer_conformance.contract.observed.exchange import Exchange, Request
from ellmer_conformance.contract.observed.run import Run
from ellmer_conformance.contract.rule import broken, verdict
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.report import (
    Report,
    Row,
    UnreadableReport,
    finished,
    judged,
    read,
    report_folder,
    schema,
    write,
)
from ellmer_conformance.report.formats.badge import badges
from ellmer_conformance.report.formats.html import page
from ellmer_conformance.report.formats.markdown import markdown
from ellmer_conformance.report.formats.sarif import sarif
from ellmer_conformance.report.formats.terminal import console, print_report
from ellmer_conformance.report.results import VERDICTS
from ellmer_conformance.scenarios.case import MODES
from ellmer_conformance.scenarios.cases import all_cases


def test_a_failure_keeps_its_evidence(report):
    found = row(report, "ORD-003")

    assert (found.id, found.verdict, found.level, found.kind) == (BROKEN, "fail", "MUST", "reject")
    assert re.fullmatch(r"/exchanges/0/request/messages/\d+", found.pointer)
    assert "must be followed by tool messages" in found.provider_error
    assert found.status == 400
    assert found.page.endswith("/dev/rules/openai-chat/ord-003/")
    marked = [line for line in found.excerpt.splitlines() if line.startswith(">")]
    assert len(marked) == 1
    assert '"role": "user"' in found.excerpt
    assert len(found.excerpt.splitlines()) <= 7
    body = report.exchanges[found.exchange]["body"]
    assert [m["role"] for m in body["messages"]][-2:] == ["tool", "tool"]


def test_passing_needs_a_meeting_and_needs_no_evidence(report):
    passing = [r for r in report.rows if r.verdict == "pass"]

    assert passing
    assert all(r.checked >= 1 and not r.exchange for r in passing)
    assert not [r for r in report.rows if r.verdict == "not-applicable"]


def test_the_document_is_as_its_schema_says(report, tmp_path):
    Draft202012Validator.check_schema(schema())
    write(report, tmp_path / "report.json")
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))

    assert list(Draft202012Validator(schema()).iter_errors(document)) == []
    assert read(tmp_path / "report.json") == report


@pytest.mark.parametrize(
    ("name", "value"),
    [("checked", 0), ("verdict", "fine"), ("mode", "quick"), ("level", "MAY"), ("rule", "")],
)
def test_the_schema_refuses_what_is_no_row(report, name, value):
    document = json.loads(json.dumps(report.as_json()))
    passing = next(r for r in document["results"] if r["verdict"] == "pass")
    passing[name] = value

    assert not Draft202012Validator(schema()).is_valid(document)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[]", "not a report"),
        ('{"version": 7, "results": []}', "version 7"),
        ('{"version": 1, "results": [{}]}', "damaged"),
    ],
)
def test_what_is_no_report_is_said(tmp_path, text, says):
    (tmp_path / "report.json").write_text(text)

    with pytest.raises(UnreadableReport, match=says):
        read(tmp_path / "report.json")


# forms --------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.data, self.inside = [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("id", "") if tag == "script" else ""

    def handle_data(self, data):
        if self.inside == "data":
            self.data += data


def test_the_page_needs_nothing_else_and_holds_the_failure(report):
    found = Page(page(report, "out"))
    data = json.loads(found.data)

    assert not [
        (tag, a) for tag, a in found.tags if {"src", "srcset"} & a.keys() or tag in {"link", "img", "iframe"}
    ]
    assert not re.search(
        r"https?://(?!api\.openai\.com|127\.0\.0\.1|github\.com)[\w.]+/\S*\.(?:js|css|woff)",
        page(report, "out"),
    )
    assert [tag for tag, a in found.tags if "onclick" in a] == []
    proofs = [data["evidence"][p] for *_, p, _follows in data["rows"] if p >= 0]
    assert any("must be followed by tool messages" in p["provider_error"] and p["excerpt"] for p in proofs)
    assert {c for p in proofs for c in p["commands"]} >= {f"conformance repro '{BROKEN}' --report out"}
    assert len(data["rows"]) == len(report.rows)
    assert {data["verdicts"][v][0] for _, _, v, *_ in data["rows"]} <= set(VERDICTS)


def test_the_page_is_not_broken_by_what_a_message_says(report):
    evil = replace(row(report, "ORD-003"), message="</script><script>alert(1)</script>")
    text = page(finished(Report.joined([report, Report(rows=[evil])])), "out")

    assert "</script><script>alert" not in text
    assert evil.message in [e["message"] for e in json.loads(Page(text).data)["evidence"]]


def test_sarif_has_a_result_for_each_failure(report):
    expected = replace(
        row(report, "ORD-003"), verdict="expected-fail", reason="known", issue="https://example.org/1"
    )
    document = json.loads(sarif(finished(Report.joined([report, Report(rows=[expected])]))))
    run = document["runs"][0]
    ids = {rule["id"] for rule in run["tool"]["driver"]["rules"]}

    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    assert {r["ruleId"] for r in run["results"]} == ids
    assert all(
        r["message"]["text"] and r["level"] in {"error", "warning", "note", "none"} for r in run["results"]
    )
    assert all(
        not location.get("physicalLocation", {}).get("artifactLocation", {}).get("uri", "").startswith("/")
        for r in run["results"]
        for location in r["locations"]
    )
    suppressed = [r for r in run["results"] if "suppressions" in r]
    assert [s["suppressions"][0]["kind"] for s in suppressed] == ["external"]
    assert len({r["partialFingerprints"]["conformance/v1"] + r["ruleId"] for r in run["results"]}) == len(
        run["results"]
    )


def test_sarif_leads_to_the_rule_and_to_the_line_of_the_adapter(tmp_path, monkeypatch):
    """A crash points at its line, and another failure at the line that defines the adapter."""
    (tmp_path / "my_chats.py").write_text("import json\n\n\nclass Mine:\n    pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    at = ("mine", "openai-chat", "openai", "one_tool", "sync")
    crash = f"the call raised KeyError: 'a'\n  the adapter at {tmp_path.name}/my_chats.py:5: pass"
    rows = [
        Row(*at, "RUN-003", "MUST", "loss", "fail", 1, message=crash),
        Row(*at, "PAIR-001", "MUST", "reject", "fail", 1, message="there is no result"),
    ]
    found = finished(Report(rows=rows, named={"mine": "my_chats:Mine"}))
    (run,) = json.loads(sarif(found))["runs"]
    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]

    assert [(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places] == [
        ("my_chats.py", 5),
        ("my_chats.py", 4),
    ]
    site = "https://ellmer-core.github.io/ellmer-core/dev/rules/"
    assert {rule["id"]: rule["helpUri"] for rule in run["tool"]["driver"]["rules"]} == {
        "RUN-003": f"{site}behaviour/run-003/",
        "openai-chat/PAIR-001": f"{site}openai-chat/pair-001/",
    }


def test_the_summary_names_the_failure_and_how_to_show_it(report):
    text = markdown(report, "out")

    cause = BROKEN.replace("ORD-003", "ORD-002")  # the first wrong thing; ORD-003 follows from it
    assert "✗ broken (1 cause, 2 runs)" in text
    assert f"conformance repro '{cause}'" in text
    assert re.search(r"\| ellmer-core \| openai-chat \| \d+/\d+ \| \d+/\d+ \|", text)


def test_badges_are_svg_and_what_shields_reads(report):
    found = dict(badges(report))
    svg = ET.fromstring(found["ellmer-core-openai-chat.svg"])
    shield = json.loads(found["ellmer-core-openai-chat.json"])

    assert svg.get("role") == "img"
    assert re.match(r"ellmer-core · openai-chat: MUST \d+/\d+", svg.get("aria-label"))
    assert (shield["schemaVersion"], shield["color"]) == (1, "red")


def test_all_forms_are_written_and_ci_gets_its_summary(report, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "job.md"))
    (tmp_path / "job.md").write_text("before\n")
    report_folder.write(report, tmp_path / "out")

    names = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert names >= {
        "report.json",
        "index.html",
        "summary.md",
        "conformance.sarif",
        "badges/ellmer-core-openai-chat.svg",
    }
    assert (tmp_path / "job.md").read_text("utf-8").startswith("before\n## Conformance")


def test_the_matrix_is_whole_where_nobody_looks(report, tmp_path):
    many = [
        replace(r, wire=wire, provider=f"provider-{n}")
        for n, wire in enumerate(["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"] * 2)
        for r in report.rows[:60]
    ]
    wide = finished(Report.joined([report, Report(rows=many, plays=report.plays)]))
    with (tmp_path / "log").open("w+", encoding="utf-8") as file:
        print_report(wide, console(file))
        file.seek(0)
        lines = file.read().splitlines()

    assert sum("provider-" in line and "✗" in line for line in lines) == 10


def test_a_merge_keeps_every_play_once(report):
    both = Report.joined([report, report])

    assert both.rows == report.rows
    assert both.plays == report.plays


def test_every_mode_has_its_place():
    assert set(MODES) == set(schema()["$defs"]["mode"]["enum"])
    assert set(VERDICTS) == set(schema()["$defs"]["row"]["properties"]["verdict"]["enum"])
    assert set(Row.__dataclass_fields__) == {
        *schema()["$defs"]["row"]["properties"],
        *schema()["$defs"]["place"]["properties"],
    }


def test_half_a_character_is_written_and_read_again(tmp_path):
    case = all_cases()["half_a_character"]
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "torn: \ud83d"}]}
    exchange = Exchange(Request("openai-chat", "openai", body, "/v1/chat/completions"))
    run = Run(case, "openai-chat", "openai", "sync", [exchange])
    rule = replace(
        behaviour.book.rules["UNI-001"],
        check=lambda _: iter([broken("/exchanges/0/request/messages/0/content", "\ud83d is lost")]),
    )

    report_folder.write(finished(judged("mine", run, [verdict(rule, run)])), tmp_path)

    (row,) = read(tmp_path / "report.json").rows
    assert row.message == r"\ud83d is lost"
    assert r"torn: \ud83d" in row.excerpt
