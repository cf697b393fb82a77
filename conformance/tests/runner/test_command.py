"""Programs in any language are judged by their requests. Rules that cannot be judged are listed."""

import json
import os
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from example_plays import PLAYS

import ellmer_conformance.runner.command
import ellmer_conformance.runner.command_process
from ellmer_conformance.runner.command import (
    DeclaredWrongly,
    Driver,
    NoReply,
    as_json,
    declared,
    error_of,
    read,
)
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.selection import find_adapter, inexpressible, left_out
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer

CASES = all_cases()
EXAMPLES = Path(__file__).parents[3] / "examples"
SCHEMAS = Path(ellmer_conformance.runner.command.__file__).parent

FIRST_ONLY = """
import json, os, urllib.request
def post(*messages):
    body = {"model": os.environ["CONFORMANCE_MODEL"], "messages": messages}
    headers = {"authorization": "Bearer " + os.environ["CONFORMANCE_API_KEY"], "content-type": "application/json"}
    url = os.environ["CONFORMANCE_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]
asked = {"role": "user", "content": "What's the weather in Paris and Oslo?"}
message = post(asked)
first = message["tool_calls"][0]
try:
    post(asked, message, {"role": "tool", "tool_call_id": first["id"], "content": "21C, sunny"})
except OSError:
    pass
"""


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


@pytest.fixture
def judged(server, tmp_path):
    """Returns the verdicts on a program, which is Python text or a command."""

    def play(program, case="two_parallel_tools", mode="sync", wire="openai-chat"):
        command = program
        if "\n" in program:
            Path(tmp_path, "program.py").write_text(program, "utf-8")
            command = f"{sys.executable} {tmp_path / 'program.py'}"
        run = Driver(command).play(wire, wire.partition("-")[0], CASES[case], mode, server=server)
        return run, {v.rule.id: v for v in judge(run)}

    return play


def broken(verdicts):
    return {id: v.violations[0].message for id, v in verdicts.items() if v.outcome == "fail"}


#: Cases that no command can be told, whatever it declares.
BEYOND = {
    *(
        "approved_and_denied",
        "approved_with_other_arguments",
        "cited_answer",
        "cited_tool_result",
        "paused_search",
        "uploaded_file",
    ),
    *("async_tools", "changed_prompt_after_thinking", "compacted_after_overflow"),
}


def test_every_conversation_and_reply_follows_its_published_schema():
    conversation = json.loads((SCHEMAS / "driver_conversation.schema.json").read_text("utf-8"))
    kind = jsonschema.validators.validator_for(conversation)
    kind.check_schema(conversation)

    for case in CASES.values():
        if case.name not in BEYOND:
            kind(conversation).validate(as_json(case.at("openai")))


@pytest.mark.parametrize(("case", "mode"), PLAYS)
def test_the_python_example_keeps_every_rule(judged, case, mode):
    run, verdicts = judged(f"{sys.executable} {EXAMPLES / 'driver-python' / 'driver.py'}", case, mode)

    assert not broken(verdicts)
    assert len(run.replies) == len(run.case.steps)


def test_a_tool_without_a_result_for_its_arguments_fails_in_the_words_of_the_command(judged):
    program = FIRST_ONLY.partition("first = ")[0].replace("Paris and Oslo?", "Oslo?") + (
        "id = message['tool_calls'][0]['id']\n"
        "sent = {'role': 'tool', 'tool_call_id': id, 'content': 'Error: no such city'}\n"
        "told = post(asked, message, sent)['content']\n"
        "ran = [{'name': 'get_weather', 'arguments': {'town': 'Oslo'}}]\n"
        "print(json.dumps({'text': told, 'stop': 'stop', 'ran': ran}))\n"
    )
    run, verdicts = judged(program, "length_inside_arguments")

    assert [str(each.error) for each in run.tool_runs] == [""]
    assert "PAIR-034" not in broken(verdicts)


def test_a_language_whose_numbers_end_at_2_to_the_53_is_told_so_and_breaks_nothing(judged):
    example = (EXAMPLES / "driver-python" / "driver.py").read_text("utf-8")
    reading = "functools.partial(json.loads, parse_int=float)"
    beside = f"import sys\nsys.path.insert(0, {str(EXAMPLES / 'driver-python')!r})\n"
    program = f"{beside}import functools, json\njson.loads = {reading}\njson.load = lambda f: json.loads(f.read())\n"

    _, verdicts = judged(program + example, "large_numbers")

    assert not broken(verdicts)
    assert verdicts["UNI-003"].outcome == "warn"


def test_a_program_that_answers_one_of_two_calls_is_caught(judged):
    run, verdicts = judged(FIRST_ONLY)

    assert {"PAIR-001", "PAR-001"} <= set(broken(verdicts))
    assert [e.response.status for e in run.exchanges] == [200, 400]


def test_what_a_silent_program_does_inside_is_not_judged_and_said(judged):
    run, verdicts = judged(FIRST_ONLY)

    assert verdicts["TXT-005"].outcome == verdicts["PAR-005"].outcome == "not-applicable"
    assert "no replies" in run.unseen["TXT-005"]
    assert "another process" in run.unseen["AUT-005"]


def test_of_a_program_that_ends_after_a_refusal_the_request_is_the_cause(judged):
    program = """import json, os, urllib.request
body = json.dumps({"model": os.environ["CONFORMANCE_MODEL"], "messages": [{"role": "user", "content": "Hi"}], "seeed": 1})
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["CONFORMANCE_API_KEY"]}
url = os.environ["CONFORMANCE_BASE_URL"] + "/chat/completions"
urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers))
"""
    _, verdicts = judged(program, "plain_text")

    assert "REQ-024" in broken(verdicts)
    assert "RUN-001" not in broken(verdicts)


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("import sys\nsys.exit('no such model')\n", "exited with 1:\nno such model"),
        ("print('loading…')\n\n", "not a reply"),
        ("pass\n\n", "no request reached"),
        ("no-such-program", "could not be run"),
    ],
)
def test_a_program_that_cannot_be_judged_says_why(judged, program, sentence):
    run, verdicts = judged(program)

    assert set(verdicts) == {"RUN-001"}
    assert sentence in run.trouble.text
    assert not run.trouble.ours


@pytest.mark.parametrize("line", ["{", "[]", '{"text": 1}', '{"ran": "all"}', '{"usage": []}'])
def test_a_line_that_is_no_reply_is_named(line):
    with pytest.raises(NoReply, match="line 2 "):
        read(f'{{"text": "fine"}}\n{line}\n')


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"capabilities": {"colours": "native"}}', "there is no colours"),
        ('{"features": ["flight"]}', "there is no flight"),
        ('{"capabilities": {"tools": "maybe"}}', "tools must be native, pointer or refused"),
        ('{"capabilities": []}', "`capabilities` must be an object"),
        ('{"differences": [{"rule": "PAIR-007"}]}', "each entry of `differences` needs a rule"),
    ],
)
def test_a_declaration_that_is_wrong_says_why(line, sentence):
    with pytest.raises(DeclaredWrongly, match=sentence):
        declared(line)


def test_a_command_declares_what_it_does_on_purpose():
    line = '{"differences": [{"rule": "PAIR-007", "shown": "other", "reason": "as given", "since": "2026-11-28"}]}'
    [found] = declared(line).differences

    assert found.allows("PAIR-007", "'a:0' has other characters", "anthropic")
    assert not found.allows("PAIR-006", "'a:0' has other characters", "anthropic")


@pytest.mark.parametrize("variable", ["CONFORMANCE_WIRE", "CONFORMANCE_PROVIDER"])
def test_a_command_that_declares_what_it_can_do_is_asked_about_no_provider(monkeypatch, tmp_path, variable):
    monkeypatch.setenv(variable, "of-another-run")
    program = tmp_path / "program.py"
    program.write_text(
        f"import json, os\nprint(json.dumps({{'name': '<' + os.environ['{variable}'] + '>'}}))\n", "utf-8"
    )

    assert Driver(f"{sys.executable} {program}").declared.name == "<>"


def test_a_command_that_never_ends_has_the_time_of_a_play_for_its_declaration(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("while True:\n    pass\n", "utf-8")
    began = time.monotonic()

    find_adapter(f"command:{sys.executable} {program}", seconds=0.5)

    assert time.monotonic() - began < 30


#: Programs that start another one and do not end. It has no environment, and a session of its own.
APART = "['env', '-i', sys.executable, '-c', OTHER], start_new_session=True"
START = f"import subprocess, sys; subprocess.Popen({APART})"
DAEMONS = {
    "in another session": f"subprocess.Popen({APART})",
    "whose parent has ended": f"subprocess.run([sys.executable, '-c', f'OTHER = {{OTHER!r}}; ' + {START!r}])",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, the group of the command is killed")
@pytest.mark.parametrize("start", DAEMONS.values(), ids=DAEMONS)
def test_what_a_killed_command_started_is_killed_with_it(tmp_path, start):
    note, program = tmp_path / "note", tmp_path / "program.py"
    other = f"import os, signal, pathlib; pathlib.Path({str(note)!r}).write_text(str(os.getpid())); signal.pause()"
    program.write_text(
        f"import signal, subprocess, sys\nOTHER = {other!r}\n{start}\nsignal.pause()\n", "utf-8"
    )

    find_adapter(f"command:{sys.executable} {program}", seconds=2)

    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


@pytest.mark.parametrize("number", [1, 2])
def test_a_command_that_writes_without_end_is_ended_with_a_verdict(judged, monkeypatch, number):
    """A Node program that floods standard error filled the memory until the time of the play was over."""
    monkeypatch.setattr(ellmer_conformance.runner.command_process, "_MOST_WRITTEN", 100_000)
    program = f"import os\nwhile True:\n    os.write({number}, b'x' * 10_000)\n"

    run, verdicts = judged(program)

    assert run.trouble.text.startswith("the command was ended: it wrote more than 100,000 bytes")
    assert verdicts["RUN-002"].outcome == "fail"


def test_what_a_command_cannot_be_told_is_listed_with_the_reason():
    silent = declared("")
    able = declared(
        '{"capabilities": {"structured": "native", "audio_in_user": "native"}, "features": ["conversations", "cancel"]}'
    )

    assert "structured in its `capabilities`" in silent.why_not(CASES["structured_answer"])
    assert "audio_in_user" in silent.why_not(CASES["audio_from_user"])
    assert "several conversations" in silent.why_not(CASES["several_conversations"])
    assert "requests that are cancelled" in silent.why_not(CASES["cancelled_in_the_middle"])
    assert "stop_sequences" in able.why_not(CASES["stop_sequences"])
    beyond = {name for name, case in CASES.items() if able.why_not(case) and case.area != "options"}
    assert beyond == BEYOND


def test_a_case_that_neither_the_format_nor_the_command_can_tell_is_listed_once():
    silent = f"command:{sys.executable} -c pass"
    places = {wire: [("driver", wire)] for wire in ("openai-chat", "anthropic")}

    left = {wire: {one["case"] for one in left_out(at, {"driver": silent})} for wire, at in places.items()}

    assert "cached_prompt" in left["anthropic"]
    assert (
        "cached_prompt" in {one["case"] for one in inexpressible(places["openai-chat"])} - left["openai-chat"]
    )


def test_errors_of_two_classes_are_told_apart():
    first, second = read(
        '{"error": "a", "error_class": "TooLong"}\n{"error": "b", "error_class": "pkg.RateLimited"}'
    )
    crash = read('{"error": "c", "error_class": "java.lang.NullPointerException"}')[0].reply.error

    assert type(first.reply.error) is not type(second.reply.error)
    assert type(second.reply.error).__name__ == "RateLimited"
    assert crash.nameless
    assert not first.reply.error.nameless


@pytest.mark.parametrize(
    "named", ["RangeError", "builtins.AttributeError", "IndexOutOfBoundsException", "NoMethodError", "panic"]
)
def test_an_error_of_any_language_says_nothing_about_the_api(named):
    assert error_of("it failed", None, named).nameless
