"""The number of causes is the same in the console, the report, JUnit and pytest's last line."""

import json

from conformance_command import run_in

from ellmer_conformance.report.requirements import LATEST

CHOICE = ("--wire", "openai-chat", "--case", "plain_text", "--case", "one_tool", "--case", "system_prompt")
DEMONSTRATION = "ellmer_conformance.adapters.broken_on_purpose:ForgetsAnswers"


def test_one_bug_is_one_cause_everywhere(tmp_path):
    done = run_in(
        tmp_path, "run", "--adapter", DEMONSTRATION, "--against", "server", *CHOICE, "--report", "out"
    )

    document = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    told = document["headline"]
    assert done.exit_code == 1, done.output
    assert told.startswith("1 cause, ")
    lines = done.output.splitlines()
    assert f"✗ {told}" in lines
    assert [line for line in lines if told in line] == [f"✗ {told}", f"✗ {told}", lines[-1]]
    assert done.output.splitlines()[-1].startswith(f"{told}, ")
    assert f'name="causes" value="{told}"' in (tmp_path / "out" / "junit.xml").read_text("utf-8")
    assert f"## Conformance: ✗ broken ({told})" in (tmp_path / "out" / "summary.md").read_text("utf-8")


def test_every_form_of_the_report_names_the_set_of_requirements(tmp_path):
    done = run_in(
        tmp_path, "run", "--adapter", DEMONSTRATION, "--against", "server", *CHOICE, "--report", "out"
    )
    assert f" · {LATEST}\n" in done.output
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(written) >= 7
    assert [path.name for path in written if LATEST not in path.read_text("utf-8")] == []


def test_combinations_that_have_one_smallest_part_are_counted_one_by_one(tmp_path):
    chosen = ("--wire", "openai-chat", "--case", "combined_*", "--mode", "sync")
    done = run_in(
        tmp_path, "run", "--adapter", DEMONSTRATION, "--against", "server", *chosen, "--report", "out"
    )

    document = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    runs = len(document["plays"])
    assert len({play["case"] for play in document["plays"]}) < runs
    assert done.output.splitlines()[-1].startswith(f"1 cause, {runs} runs, {runs} failed")
