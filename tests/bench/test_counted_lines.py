"""What a turn costs is counted: the lines of ours that run for it, which do not depend on how busy the machine is.

The bounds are some lines above what was counted last, because an answer may arrive in more pieces. A change that needs more of them says why.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import fast_server, subjects

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="other versions of Python count other lines"
)
ROOT = Path(__file__).parents[2]
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


@pytest.fixture(scope="module")
def lines(url):
    code = "import counted_turns, json, sys; print(json.dumps(counted_turns.counts(sys.argv[1])))"
    paths = os.pathsep.join(map(str, (ROOT / "tests" / "support", ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", code, url],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(("what", "most"), [("turn", 1050), ("event", 132), ("tool", 3), ("earlier", 10)])
def test_a_turn_runs_few_lines(lines, what, most):
    """Of a turn, of each event of a stream, of each of twenty tools, and of 900 more turns before it."""
    assert lines[what] <= most


def test_the_first_turn_loads_and_compiles_little(url):
    code = FIRST.format(key=subjects.KEY, url=f"{url}/v1")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules, compiled = json.loads(done.stdout)
    assert sum(name.startswith("ellmer_core") for name in modules) <= 70
    assert "ellmer_core.transport.keys_in_errors" not in modules
    assert compiled.count("ellmer_core.models.profiles") <= 24
    others = [name for name in compiled if name != "ellmer_core.models.profiles"]
    assert len(others) <= 10, others
