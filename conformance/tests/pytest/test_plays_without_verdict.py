"""A run is green only if every selected case has a verdict."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conformance_command import run_in

from ellmer_conformance.report import Report, Row
from ellmer_conformance.report.formats.sarif import sarif
from ellmer_conformance.report.results import without_verdict
from ellmer_conformance.runner.selection import UnknownChoice, select

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PLAIN = """
import json, os, urllib.request
from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.scenarios.messages import Reply

class Plain:
    name = "plain"
    wires = {"openai-chat": ["openai", "deepseek"]}
    def capabilities(self, wire, provider):
        return Capabilities(modes=("sync",))
    def session(self, endpoint, **_):
        self.endpoint = endpoint
        return self
    def send(self, parts, *, stream=False):
        if os.environ.get("DIES"):
            os._exit(3)
        content = parts[0].text
        body = {"model": self.endpoint.model, "messages": [{"role": "user", "content": content}]}
        headers = {"authorization": "Bearer " + self.endpoint.api_key, "content-type": "application/json"}
        url = self.endpoint.base_url + "/chat/completions"
        answer = urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers))
        return Reply(json.load(answer)["choices"][0]["message"]["content"])
    def transcript(self):
        return ""
    def close(self):
        pass
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN, "utf-8")

    def start(*arguments, **environment):
        given = [sys.executable, "-c", "from ellmer_conformance.cli import main; main()", *arguments]
        return subprocess.run(
            given, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False
        )

    return start


HALF = ("run", "--adapter=plain:Plain", "--against=server", "--case=half_a_character", "--report=out")


def test_half_a_character_passes_between_workers(run, tmp_path):
    done = run(*HALF, "-n", "2")

    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert {row["rule"] for row in report["results"] if row["verdict"] == "fail"} == {"UNI-002"}
    assert {play["provider"] for play in report["plays"]} == {"openai", "deepseek"}


def test_a_worker_that_dies_is_named_and_exits_with_2(run, tmp_path):
    done = run(*HALF, "--provider=openai", "-n", "2", DIES="1")

    assert done.returncode == 2
    named = "plain/openai-chat/openai/half_a_character[sync]"
    assert f"{named}: it was selected but has no verdict" in done.stdout
    assert json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["unjudged"] == [named]


def test_every_form_of_the_report_is_written_and_points_at_files_that_are_there(tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN, "utf-8")
    assert run_in(tmp_path, *HALF, "--provider=openai").exit_code == 1

    document = json.loads((tmp_path / "out" / "conformance.sarif").read_text("utf-8"))
    places = [
        location["physicalLocation"]["artifactLocation"]["uri"]
        for result in document["runs"][0]["results"]
        for location in result["locations"]
    ]
    assert set(places) == {"plain.py"}
    assert (tmp_path / "out" / "junit.xml").is_file()


def test_a_test_class_writes_junit_where_the_report_goes(tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN, "utf-8")
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['ellmer_conformance.pytest.plugin']\n", "utf-8")
    suite = "from ellmer_conformance.pytest.suite import ConformanceSuite\nclass TestIt(ConformanceSuite):\n"
    (tmp_path / "test_it.py").write_text(f"{suite}    adapter = 'plain:Plain'\n", "utf-8")

    given = [sys.executable, "-m", "pytest", "-q", "--case=plain_text", "--report=out", "-p", "syrupy"]
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(given, cwd=tmp_path, capture_output=True, check=False, env=alone)

    assert "plain_text" in (tmp_path / "out" / "junit.xml").read_text("utf-8")


def test_a_command_may_say_half_a_character(tmp_path):
    driver = f"{sys.executable} {ROOT / 'examples' / 'driver-python' / 'driver.py'}"
    done = run_in(
        tmp_path,
        "run",
        f"--command={driver}",
        "--wire=openai-chat",
        "--case=half_a_character",
        "--report=out",
    )

    assert done.exit_code == 0, done.output
    plays = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["plays"]
    assert [play["provider"] for play in plays] == ["openai", "openai"]


def test_other_tests_are_no_plays():
    selected = ["test_it.py::test_other", "a.py::TestIt::test_conformance[x/y[sync]]"]

    assert without_verdict(selected, ()) == ["x/y[sync]"]
    assert without_verdict(selected, {selected[1]}) == []


def test_a_report_that_lost_plays_is_never_green():
    assert Report(unjudged=["x"]).exit_code == 2
    assert Report.from_json(Report(unjudged=["x"]).as_json()).unjudged == ["x"]


@pytest.mark.parametrize(
    ("wanted", "providers"),
    [
        ({"wire": ["openai-chat"]}, {"openai"}),
        ({"wire": ["gemini"]}, {"google"}),
        ({"wire": ["gemini"], "provider": ["*"]}, {"google", "vertex"}),
        ({"wire": ["openai-chat"], "provider": ["deepseek"]}, {"deepseek"}),
    ],
)
def test_a_wire_format_is_played_at_its_own_provider_unless_more_are_asked_for(wanted, providers):
    found = {play.provider for play in select(["ellmer-core"], wanted | {"case": ["plain_text"]})}

    assert found == providers


def test_a_run_of_which_nothing_is_left_names_each_case_with_what_leaves_it_out(tmp_path):
    command = ("run", f"--command={sys.executable} -c pass", "--wire=openai-chat")
    done = run_in(tmp_path, *command, "--case=audio_from_user", "--case=uploaded_file")

    assert done.exit_code == 2
    assert (
        "- audio_from_user: the command does not declare audio_in_user in its `capabilities`" in done.output
    )
    assert "- uploaded_file: no message to a command says uploads" in done.output


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("NOPE", "there is no rule 'NOPE'"),
        ("PAIRR-001", "(did you mean 'PAIR-001' or "),
        ("STR-013", "plain_text[sync]: it was selected but has no verdict"),
    ],
)
def test_a_run_that_meets_no_rule_that_was_asked_for_is_not_green(run, tmp_path, rule, said):
    done = run("run", "--adapter=plain:Plain", "--against=server", "--case=plain_text", f"--rule={rule}")

    assert done.returncode == 2
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("wanted", "record", "reason"),
    [
        ({"wire": ["cohere"], "case": ["cited_answer"]}, False, "no URL of their own"),
        (
            {"case": ["cancelled_in_the_middle"], "mode": ["sync"]},
            False,
            "it tests nothing in the mode sync",
        ),
        ({"case": ["broken_anywhere"]}, True, "it uses the recordings of text_then_tool"),
    ],
)
def test_why_nothing_is_left_is_said(wanted, record, reason):
    with pytest.raises(UnknownChoice, match=f"nothing is left to run:\n- {wanted['case'][0]}: .*{reason}"):
        select(["ellmer-core"], wanted, record=record)


def test_without_a_file_a_result_has_a_name_and_no_place():
    row = Row("mine", "gemini", "google", "one_tool", "sync", "TXT-005", "MUST", "loss", "fail", 1)
    report = Report(rows=[row], named={"mine": "mine"}, tool={"name": "t", "version": "1"})

    (location,) = json.loads(sarif(report))["runs"][0]["results"][0]["locations"]
    assert list(location) == ["logicalLocations"]


def test_a_folder_with_other_cassettes_is_a_usage_error_with_a_way_to_go_on(tmp_path):
    (tmp_path / "cassettes" / "test_mine").mkdir(parents=True)
    done = run_in(tmp_path, "run", "--case=plain_text")

    assert done.exit_code == 2
    assert "cassettes has no cassettes of this suite" in done.output
    assert "--against server" in done.output


def test_a_collection_says_nothing_of_verdicts(run):
    chosen = ("--adapter", "plain:Plain", "--provider", "openai", "--case", "plain_text")
    found = run("run", *chosen, "--against", "server", "--", "--collect-only")
    assert (found.returncode, "no verdict" in found.stdout) == (0, False), found.stdout + found.stderr
    assert "plain_text[sync]" in found.stdout
