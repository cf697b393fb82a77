"""What a turn costs is counted: the lines of ours that run for it, which do not depend on how busy the machine is.

The bounds are some lines above what was counted last, because an answer may arrive in more pieces. A change that needs more of them says why.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from counted_lines import lines_of

import ellmer_core
from bench import core, fast_server, subjects
from ellmer_core import chat_openai_completions, tool

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="other versions of Python count other lines"
)
OURS = str(Path(ellmer_core.__file__).parent)
FIRST = """
import re._compiler, sys
compiled, compile = [], re._compiler.compile
def counted(pattern, flags=0):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].partition(".")[0] in ("re", "functools"):
        frame = frame.f_back
    compiled.append(frame.f_globals["__name__"])
    return compile(pattern, flags)
re._compiler.compile = counted
import ellmer_core
chat = ellmer_core.chat_openai_completions(model="m", api_key={key!r}, base_url={url!r})
assert chat.chat("Hi") == "Hello."
import json
print(json.dumps([sorted(sys.modules), [name for name in compiled if name.startswith("ellmer_core")]]))
"""


@pytest.fixture(scope="module")
def url():
    with fast_server.serving() as found:
        yield found


def lines_of_ours(call):
    """Returns how many lines of the library a call runs, when it is made again."""
    for _ in range(3):
        call()
    return lines_of(call, below=OURS)


def test_a_turn(url):
    turn, _ = subjects.ellmer_core(url)
    assert lines_of_ours(turn) <= 1100


def test_an_event_of_a_stream(url):
    _, stream = subjects.ellmer_core(url)
    assert lines_of_ours(stream) / fast_server.EVENTS <= 145


def test_each_of_twenty_tools(url):
    turn, _ = subjects.ellmer_core(url)
    chat = chat_openai_completions(model="gpt-4.1", api_key=subjects.KEY, base_url=f"{url}/v1")
    for n in range(core.TOOLS):
        chat.register_tool(tool(core.weather, name=f"weather_{n}"))

    def with_tools():
        chat.set_turns([])
        return chat.chat("Say hello.")

    assert (lines_of_ours(with_tools) - lines_of_ours(turn)) / core.TOOLS <= 7


def test_turns_before_this_one_run_no_lines(url):
    chat = chat_openai_completions(model="gpt-4.1", api_key=subjects.KEY, base_url=f"{url}/v1")

    def after(turns):
        def turn():
            chat.set_turns(turns)
            return chat.chat("And now?")

        return lines_of_ours(turn)

    assert after(core.said(1000)) - after(core.said(100)) <= 20


def test_the_first_turn_loads_and_compiles_little(url):
    code = FIRST.format(key=subjects.KEY, url=f"{url}/v1")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules, compiled = json.loads(done.stdout)
    assert sum(name.startswith("ellmer_core") for name in modules) <= 66
    assert "ellmer_core.transport.key_traces" not in modules
    assert compiled.count("ellmer_core.models.profiles") <= 24
    others = [name for name in compiled if name != "ellmer_core.models.profiles"]
    assert len(others) <= 9, others
