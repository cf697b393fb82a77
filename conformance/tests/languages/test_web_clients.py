"""The official JavaScript clients of Vercel's AI SDK and of AG-UI talk to the example's app, whose model is the strict
server. `nox -s node` runs it.
"""

import json
import shutil
import socket
import subprocess
import threading
from pathlib import Path
from runpy import run_path

import pytest

from ellmer_conformance.scenarios.script import Answer, Call, Failure, Say, Script, Think
from ellmer_conformance.server import StrictServer

uvicorn = pytest.importorskip("uvicorn")
EXAMPLE = Path(__file__).parents[3] / "examples" / "web-chat"
pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and (EXAMPLE / "node_modules").is_dir()),
    reason="Node.js, or the packages of examples/web-chat, are not installed",
)
CALLS = [Call("get_weather", {"city": "Köln"}), Call("delete_file", {"path": "notes.txt"})]


def steps(*more):
    first = Answer([Think("Two things."), Say("Let me look. "), *CALLS])
    return Script([first, Answer([Say("It is warm, and the file is gone.")]), *more, Failure("overloaded")])


SCRIPTS = {
    "vercel": steps(Answer([Say("A dot.")]), Answer([Say("A red dot.")])),
    "react": steps(Answer([Say("A dot.")]), Answer([Say("A red dot.")])),
    "ag_ui": steps(Answer([Say("A dot.")])),
}


@pytest.fixture
def served(request, monkeypatch):
    """Yields the URL of the app, whose model is a script."""
    with StrictServer({"talk": SCRIPTS[request.param]}) as model:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{model.url('talk', '1')}/v1")
        app = run_path(str(EXAMPLE / "app.py"))["app"]
        listening = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(30)
        assert not [found for entry in model.requests for found in entry.violations]


def told(program, *urls):
    run = subprocess.run(
        ["node", program, *urls], cwd=EXAMPLE, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("served", ["vercel"], indirect=True)
def test_vercels_client(served):
    found = told("vercel.mjs", f"{served}/api/chat")

    step, thought, text, weather, delete = found["asked"][1]["parts"]
    assert step == {"type": "step-start"}
    assert (thought["type"], thought["text"], thought["state"]) == ("reasoning", "Two things.", "done")
    assert (text["type"], text["text"], text["state"]) == ("text", "Let me look. ", "done")
    assert (weather["type"], weather["state"]) == ("tool-get_weather", "output-available")
    assert (weather["input"], weather["output"]) == ({"city": "Köln"}, {"celsius": 21.5})
    assert (delete["state"], delete["approval"]["id"]) == ("approval-requested", delete["toolCallId"])

    _, answer = found["approved"]
    assert [part["type"] for part in answer["parts"]] == [
        *("step-start", "reasoning", "text", "tool-get_weather", "tool-delete_file"),
        *("step-start", "text"),
    ]
    assert answer["parts"][4]["output"] == "notes.txt is gone"
    assert answer["parts"][-1]["text"] == "It is warm, and the file is gone."
    assert answer["metadata"]["usage"]["totalTokens"] > 0

    assert [found[name][-1]["parts"][-1]["text"] for name in ("file", "regenerated")] == [
        "A dot.",
        "A red dot.",
    ]
    assert len(found["regenerated"]) == 4
    assert {'tool-get_weather {"city":"Köln"}', 'tool-delete_file {"path":"notes.txt"}'} <= {*found["seen"]}
    assert found["errors"] == [
        "The provider is overloaded or has a problem. Nothing is lost: retry in a moment."
    ]


@pytest.mark.parametrize("served", ["ag_ui"], indirect=True)
def test_ag_uis_client(served):
    found = told("ag-ui.mjs", f"{served}/api/agent")

    _, thought, answer, weather = found["asked"]
    assert (thought["role"], thought["content"]) == ("reasoning", "Two things.")
    assert (answer["role"], answer["content"]) == ("assistant", "Let me look. ")
    calls = [call["function"] for call in answer["toolCalls"]]
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [
        ("get_weather", {"city": "Köln"}),
        ("delete_file", {"path": "notes.txt"}),
    ]
    assert (weather["role"], weather["content"]) == ("tool", '{"celsius":21.5}')
    [asked] = found["interrupts"]
    assert (asked["reason"], asked["message"]) == ("tool_call", "Delete file?")
    assert asked["toolCallId"] == answer["toolCalls"][1]["id"]

    *_, deleted, said = found["approved"]
    assert (deleted["content"], said["content"]) == (
        "other.txt is gone",
        "It is warm, and the file is gone.",
    )
    assert found["left"] == 0
    assert found["file"][-1]["content"] == "A dot."
    assert found["errors"][0] == (
        "The provider is overloaded or has a problem. Nothing is lost: retry in a moment."
    )
    assert found["events"].count("TOOL_CALL_ARGS") > 2

    stored = found["stored"]
    assert without_ids(stored["messages"]) == without_ids(found["asked"])
    assert stored["interrupts"] == found["interrupts"]
    assert without_ids(found["restored"]) == without_ids(found["file"])


def without_ids(messages):
    """Returns the messages without the ids that the client and the server give them, and what a client adds that is empty."""
    return [{name: value for name, value in message.items() if name != "id"} for message in messages]


@pytest.mark.parametrize("served", ["react"], indirect=True)
def test_vercels_hook_and_a_page_that_is_loaded_again(served):
    found = told("react.mjs", f"{served}/api/chat", f"{served}/api/messages")

    assert found["empty"] == []
    assert [message["role"] for message in found["loaded"]] == ["user", "assistant"]
    assert as_shown(found["loaded"]) == as_shown(found["asked"])
    assert found["loaded"][1]["parts"][-1]["state"] == "approval-requested"

    parts = found["approved"][1]["parts"]
    assert [part["type"] for part in parts] == [
        *("step-start", "reasoning", "text", "tool-get_weather", "tool-delete_file"),
        *("step-start", "text"),
    ]
    assert parts[4]["output"] == "notes.txt is gone"
    assert found["file"][-1]["parts"][-1]["text"] == "A dot."
    assert as_shown(found["again"]) == as_shown(found["file"])
    assert found["regenerated"][-1]["parts"][-1]["text"] == "A red dot."
    assert [message["role"] for message in found["regenerated"]] == ["user", "assistant"] * 2
    assert found["errors"] == []


def as_shown(messages):
    """Returns what a page shows of messages: their parts, without ids and an approval that was given."""
    hidden = {"id", "approval"}
    return [
        [{name: value for name, value in part.items() if name not in hidden} for part in message["parts"]]
        for message in messages
    ]
