"""A play that holds the interpreter in C code ends its process, and the run goes on in another one."""

import json
import subprocess
import sys

ADAPTER = """
from ellmer_conformance.adapters.ellmer_core import EllmerCore, Session

class Holding(EllmerCore):
    name = "holding"

    def session(self, endpoint, **given):
        session = super().session(endpoint, **given)
        return Held(session.chat, session.another)

class Held(Session):
    def send(self, parts, *, stream=False, options=None):
        if "weather" in str(parts).lower():
            sum(range(10**13))  # no signal is looked at, and no other thread runs
        return super().send(parts, stream=stream, options=options)
"""


def test_the_run_goes_on_after_a_call_that_holds_the_interpreter(tmp_path):
    (tmp_path / "holding.py").write_text(ADAPTER)
    chosen = ["--adapter", "holding:Holding", "--wire", "openai-chat", "--mode", "sync"]
    chosen += ["--case", "one_tool", "--case", "plain_text"]
    main = "from ellmer_conformance.cli import main; main()"
    command = [sys.executable, "-c", main, "run", "--against", "server", *chosen]

    done = subprocess.run(
        [*command, "--case-timeout", "10", "--report", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    results = json.loads((tmp_path / "out" / "report.json").read_text())["results"]
    verdicts = {(row["case"], row["rule"]): row["verdict"] for row in results}
    assert done.returncode == 1, done.stdout + done.stderr
    assert verdicts["one_tool", "RUN-002"] == "fail"
    assert verdicts["plain_text", "TXT-005"] == "pass"
    assert 'holding.py", line 14 in send' in done.stdout
