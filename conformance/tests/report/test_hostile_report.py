"""A saved report that is not ours: too many bytes, too many values, too deep, each an error that names the file."""

from dataclasses import replace

import pytest

from ellmer_conformance.report import report_json
from ellmer_core.budget import REPORT


def test_a_report_of_too_many_bytes_is_not_read(tmp_path):
    path = tmp_path / "report.json"
    with path.open("wb") as file:
        file.truncate(REPORT.received + 1)
    with pytest.raises(report_json.UnreadableReport, match="more than 268,435,456 bytes"):
        report_json.read(path)


def test_a_report_of_too_many_values_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(report_json, "REPORT", replace(REPORT, values=1000))
    path = tmp_path / "report.json"
    path.write_text("[" + "[]," * 2000 + "[]]", encoding="utf-8")
    with pytest.raises(report_json.UnreadableReport, match="more than 1,000 values"):
        report_json.read(path)


def test_a_report_that_nests_too_deeply_is_not_read(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(report_json.UnreadableReport, match="is not JSON"):
        report_json.read(path)
