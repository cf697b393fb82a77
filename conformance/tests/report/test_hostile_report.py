"""A saved report that is not ours: too many bytes, too many values, too deep, each an error that names the file."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli.reports import merge
from ellmer_conformance.cli.reports.report import upstream
from ellmer_conformance.report import report_json
from ellmer_conformance.runner.selection import select
from ellmer_core.base.budget import REPORT, has_more_values


def test_a_report_of_too_many_bytes_is_not_read(tmp_path):
    path = tmp_path / "report.json"
    with path.open("wb") as file:
        file.truncate(REPORT.received + 1)
    with pytest.raises(report_json.UnreadableReport, match="larger than 256 MB"):
        report_json.read(path)


def test_a_report_of_too_many_values_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(report_json, "REPORT", REPORT._replace(values=1000))
    path = tmp_path / "report.json"
    path.write_text("[" + "[]," * 2000 + "[]]", encoding="utf-8")
    with pytest.raises(report_json.UnreadableReport, match="more than 1,000 values"):
        report_json.read(path)


def test_a_report_that_nests_too_deeply_is_not_read(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(report_json.UnreadableReport, match="is not JSON"):
        report_json.read(path)


def test_a_report_of_twice_all_runs_is_read(report, tmp_path):
    path = tmp_path / "report.json"
    kept = [row for row in report.rows if row.verdict == "pass"]
    report_json.write(replace(report, rows=kept, rules=[], exchanges={}, score={}), path)
    runs = len(select((), {}))
    assert runs > 3000
    text = path.read_text("utf-8")
    assert not has_more_values(text, REPORT.values * len(report.plays) // (2 * runs))


@pytest.mark.parametrize("name", ["wire", "provider", "case", "mode", "adapter", "verdict"])
@pytest.mark.parametrize("command", [[merge.command, "-o", "out"], [upstream, "--report"]])
def test_a_report_that_contradicts_itself_is_an_error_that_names_it(
    report, tmp_path, monkeypatch, name, command
):
    told = {**report.as_json()}
    told["results"] = [{**row, name: {"\x1b[2J": 1}} for row in told["results"][:3]]
    (tmp_path / "report.json").write_text(json.dumps(told), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    ended = CliRunner().invoke(command[0], [*command[1:], "report.json"])

    assert ended.exception is None or isinstance(ended.exception, SystemExit)
    assert "\x1b[2J" not in ended.output
